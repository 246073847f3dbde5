// SPDX-License-Identifier: BSL-1.0
// expect: tenure: in: the workspace is smaller than the Needed bytes of this call: workspace<f.workspace_bytes.x....> has them
// lines: 15
#include <tenure/freestanding.hpp>
namespace tn = tenure;

constexpr auto chain = tn::compile([](auto a) { return matmul(matmul(a, a), a); });
tn::fixed<float, tn::shape<8, 8>> a, y;
#ifdef TENURE_MISUSE
tn::workspace<64> memory;
#else
tn::workspace<chain.workspace_bytes(a)> memory;
#endif

void f() { chain.in(memory).into(y)(a); }
