// SPDX-License-Identifier: BSL-1.0
// expect: tenure: as_eigen: the elements lie in the memory of a device
#include <tenure/tenure.hpp>
#include <tenure/interop/eigen.hpp>
namespace tn = tenure;

using here = tn::tensor<float, tn::shape<3>>;
#ifdef TENURE_MISUSE
using there = tn::tensor<float, tn::shape<3>, tn::ownership::owning, tn::role::constant, tn::access::read_write, tn::cuda_device>;
#else
using there = here;
#endif

float f(const there& x) { return tn::as_eigen(x)(0); }
