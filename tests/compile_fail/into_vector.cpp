// SPDX-License-Identifier: BSL-1.0
// expect: tenure: into: a target is neither a tensor nor a tuple, an array or a model of tensors
#include <tenure/tenure.hpp>
#include <vector>
namespace tn = tenure;

constexpr auto twice = tn::compile([](auto x) { return x * 2; });

#ifdef TENURE_MISUSE
using vector = std::vector<double>;
#else
using vector = tn::tensor<double, tn::shape<3>>;
#endif

void f(vector& y, const tn::tensor<double, tn::shape<3>>& x) { twice.into(y)(x); }
