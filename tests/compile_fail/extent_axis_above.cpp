// SPDX-License-Identifier: BSL-1.0
// expect: tenure: extent: the axis lies outside the tensor's rank
#include <tenure/tenure.hpp>
namespace tn = tenure;

#ifdef TENURE_MISUSE
constexpr int axis = 2;
#else
constexpr int axis = 1;
#endif

auto f(const tn::tensor<float, tn::shape<tn::dyn, 3>>& x) { return tn::extent<axis>(x); }
