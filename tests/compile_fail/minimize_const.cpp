// SPDX-License-Identifier: BSL-1.0
// expect: tenure: optim: the model is read-only
#include <tenure/tenure.hpp>
namespace tn = tenure;

constexpr auto f = [](auto x) { return sum(square(x)); };
#ifdef TENURE_MISUSE
using vector = const tn::tensor<double, tn::shape<3>>;
#else
using vector = tn::tensor<double, tn::shape<3>>;
#endif

auto g(vector& x) { return tn::minimize(f, tn::optim::lbfgs{})(x); }
