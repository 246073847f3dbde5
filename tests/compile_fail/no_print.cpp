// SPDX-License-Identifier: BSL-1.0
// expect: tenure: operator<<: printing needs its header in a .cu file: #include <tenure/print.hpp>
#include <iostream>

#include <tenure/tensor/no_print.hpp>  // as in a .cu file
#include <tenure/tensor/tensor.hpp>
#if !defined(TENURE_MISUSE)
#include <tenure/print.hpp>
#endif
namespace tn = tenure;

void f(const tn::tensor<float, tn::shape<3>>& x) { std::cout << x; }
