// SPDX-License-Identifier: BSL-1.0
// expect: tenure: into: a target is a fixed array, which goes with memory of the caller: write f.in.workspace..into.y..x.
// lines: 15
#include <tenure/freestanding.hpp>
namespace tn = tenure;

constexpr auto twice = tn::compile([](auto x) { return x * 2; });
tn::fixed<float, tn::shape<3>> x, y;
tn::workspace<twice.workspace_bytes(x)> memory;

#ifdef TENURE_MISUSE
void f() { twice.into(y)(x); }
#else
void f() { twice.in(memory).into(y)(x); }
#endif
