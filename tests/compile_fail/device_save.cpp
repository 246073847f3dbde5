// SPDX-License-Identifier: BSL-1.0
// expect: tenure: save: the elements lie in the memory of a device
#include <tenure/tenure.hpp>

#include <tenure/interop/save.hpp>
namespace tn = tenure;

using here = tn::tensor<float, tn::shape<3>>;
#ifdef TENURE_MISUSE
using there = tn::tensor<float, tn::shape<3>, tn::ownership::owning, tn::role::constant, tn::access::read_write, tn::cuda_device>;
#else
using there = here;
#endif

void f(const there& x) { tn::save("x.npz", x); }
