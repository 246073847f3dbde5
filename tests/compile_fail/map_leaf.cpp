// SPDX-License-Identifier: BSL-1.0
// expect: tenure: map: no argument is a tuple, an array or a model
// lines: 20
#include <tenure/tenure.hpp>
namespace tn = tenure;

#ifdef TENURE_MISUSE
using tree = tn::tensor<float, tn::shape<3>>;
#else
using tree = std::array<tn::tensor<float, tn::shape<3>>, 1>;
#endif

auto f(const tree& x) { return tn::map([](auto a) { return exp(a); }, x); }
