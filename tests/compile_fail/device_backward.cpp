// SPDX-License-Identifier: BSL-1.0
// expect: tenure: eval: expressions on a device need its header
#include <tenure/tenure.hpp>
namespace tn = tenure;

#ifdef TENURE_MISUSE
using device = tn::cuda_device;
#else
using device = tn::cpu_device;
#endif
using leaf = tn::tensor<float, tn::shape<3>, tn::ownership::owning, tn::role::leaf, tn::access::read_write, device>;

void f(const leaf& w) { sum(w * w).backward(); }
