// SPDX-License-Identifier: BSL-1.0
// expect: tenure: tensor: the freestanding profile has no heap: take tn::fixed<float, tn::shape<3>>, whose elements are in the object
// lines: 20
#include <tenure/freestanding.hpp>
namespace tn = tenure;

// In a trace a tensor is a constant.
constexpr auto shifted = tn::compile([](auto x) { return x + tn::tensor<float, tn::shape<3>>{1, 2, 3}; });
tn::fixed<float, tn::shape<3>> y;
tn::workspace<shifted.workspace_bytes(y)> memory;

void f() { shifted.in(memory).into(y)(y); }
#ifdef TENURE_MISUSE
float g(int i) { return tn::tensor<float, tn::shape<3>>{1, 2, 3}(i); }
#else
float g(int i) { return tn::fixed<float, tn::shape<3>>{1, 2, 3}(i); }
#endif
