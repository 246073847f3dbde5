// SPDX-License-Identifier: BSL-1.0
// expect: tenure: to_dlpack: the elements lie in the memory of a device
#include <tenure/tenure.hpp>
#include <tenure/interop/dlpack.hpp>
namespace tn = tenure;

#ifdef TENURE_MISUSE
using device = tn::cuda_device;
#else
using device = tn::cpu_device;
#endif
using vector = tn::tensor<float, tn::shape<3>, tn::ownership::owning, tn::role::constant, tn::access::read_write, device>;

auto f(vector& x) { return tn::to_dlpack(x); }
