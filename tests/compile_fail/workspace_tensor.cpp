// SPDX-License-Identifier: BSL-1.0
// expect: tenure: in: an argument or a target is a tensor, whose memory is elsewhere: take tn::fixed<float, tn::shape<3>>
// lines: 15
#include <tenure/freestanding.hpp>
namespace tn = tenure;

constexpr auto twice = tn::compile([](auto x) { return x * 2; });
tn::workspace<64> memory;

#ifdef TENURE_MISUSE
using array = tn::tensor<float, tn::shape<3>>;
#else
using array = tn::fixed<float, tn::shape<3>>;
#endif

void f(const array& x, array& y) { twice.in(memory).into(y)(x); }
