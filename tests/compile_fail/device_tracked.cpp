// SPDX-License-Identifier: BSL-1.0
// expect: tenure: to: a tracked tensor stays on its device: detach
#include <tenure/tenure.hpp>
namespace tn = tenure;

#ifdef TENURE_MISUSE
using vector = tn::variable<float, tn::shape<3>>;
#else
using vector = tn::tensor<float, tn::shape<3>, tn::ownership::owning, tn::role::leaf, tn::access::read_write, tn::cuda_device>;
#endif

auto f(const vector& w) { return w.to(tn::cuda); }
