// SPDX-License-Identifier: BSL-1.0
// expect: tenure: debug_nans: only calls on the CPU are watched: move the arguments by to\(tn::cpu\)
#include <tenure/debug_nans.hpp>
namespace tn = tenure;

#ifdef TENURE_MISUSE
using vector = tn::tensor<float, tn::shape<3>, tn::ownership::owning, tn::role::constant, tn::access::read_write, tn::cuda_device>;
#else
using vector = tn::tensor<float, tn::shape<3>>;
#endif

auto f(const vector& x) {
  return tn::debug_nans([](auto a) { return exp(a); })(x);
}
