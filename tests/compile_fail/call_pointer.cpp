// SPDX-License-Identifier: BSL-1.0
// expect: tenure: call: an argument is neither .*: tn::from.v. is a tensor over a vector or an Eigen matrix, tn::from<tn::shape<3>>.p. over a pointer
// lines: 10
#include <tenure/tenure.hpp>
namespace tn = tenure;

constexpr auto twice = tn::compile([](auto x) { return x * 2; });

auto f(const float* p) {
#ifdef TENURE_MISUSE
  return twice(p);
#else
  return twice(tn::from<tn::shape<3>>(p));
#endif
}
