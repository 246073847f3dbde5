// SPDX-License-Identifier: BSL-1.0
// expect: tenure: profile: only calls on the CPU are profiled: move the arguments by to\(tn::cpu\)
#include <tenure/profile.hpp>
namespace tn = tenure;

#ifdef TENURE_MISUSE
using vector = tn::tensor<float, tn::shape<3>, tn::ownership::owning, tn::role::constant, tn::access::read_write, tn::cuda_device>;
#else
using vector = tn::tensor<float, tn::shape<3>>;
#endif

auto f(const vector& x) {
  return tn::profile([](auto a) { return exp(a); })(x);
}
