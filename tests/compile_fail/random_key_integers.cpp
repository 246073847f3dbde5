// SPDX-License-Identifier: BSL-1.0
// expect: tenure: uniform, normal, exponential, laplace, cauchy, log_normal, categorical, dropout: only floating-point elements have random numbers of these kinds
#include <tenure/tenure.hpp>
namespace tn = tenure;

#ifdef TENURE_MISUSE
using number = int;
#else
using number = float;
#endif

auto f(const tn::tensor<std::int32_t, tn::shape<2>>& key) { return tn::eval(tn::uniform<number>(tn::shape<8>{}, key)); }
