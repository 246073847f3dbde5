// SPDX-License-Identifier: BSL-1.0
// expect: tenure: shape: a tensor has at most 8 axes
#include <tenure/tenure.hpp>
namespace tn = tenure;

#ifdef TENURE_MISUSE
using cube = tn::tensor<float, tn::shape<1, 1, 1, 1, 1, 1, 1, 1, 1>>;
#else
using cube = tn::tensor<float, tn::shape<1, 1, 1, 1, 1, 1, 1, 1>>;
#endif

auto f(const cube& x) { return x.size(); }
