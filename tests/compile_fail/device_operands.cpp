// SPDX-License-Identifier: BSL-1.0
// expect: tenure: expression: the operands are on different devices
#include <tenure/tenure.hpp>
namespace tn = tenure;

using here = tn::tensor<float, tn::shape<3>>;
#ifdef TENURE_MISUSE
using there = tn::tensor<float, tn::shape<3>, tn::ownership::owning, tn::role::constant, tn::access::read_write, tn::cuda_device>;
#else
using there = here;
#endif

auto f(const here& x, const there& y) { return x + exp(y) * 2; }
