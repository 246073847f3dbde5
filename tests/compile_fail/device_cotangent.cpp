// SPDX-License-Identifier: BSL-1.0
// expect: tenure: backward: the cotangent is on another device
#include <tenure/tenure.hpp>
namespace tn = tenure;

using here = tn::tensor<float, tn::shape<3>>;
#ifdef TENURE_MISUSE
using there = tn::tensor<float, tn::shape<3>, tn::ownership::owning, tn::role::constant, tn::access::read_write, tn::cuda_device>;
#else
using there = here;
#endif

void f(const tn::variable<float, tn::shape<3>>& w, const there& c) { (w * 2).backward(c); }
