// SPDX-License-Identifier: BSL-1.0
// expect: tenure: to_dlpack: the unversioned struct cannot say that the tensor is read-only
#include <tenure/tenure.hpp>
#include <tenure/interop/dlpack.hpp>
namespace tn = tenure;

#ifdef TENURE_MISUSE
using vector = const tn::tensor<float, tn::shape<3>>;
#else
using vector = tn::tensor<float, tn::shape<3>>;
#endif

auto f(vector& x) { return tn::to_dlpack<tn::dlpack::unversioned_tensor>(x); }
