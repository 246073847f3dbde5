// SPDX-License-Identifier: BSL-1.0
// expect: tenure: diagonal: the tensor has fewer than two axes
#include <tenure/tenure.hpp>
namespace tn = tenure;

#ifdef TENURE_MISUSE
using base = tn::tensor<float, tn::shape<3>>;
#else
using base = tn::tensor<float, tn::shape<3, 3>>;
#endif

auto f(base& x) { return x.diagonal().clone(); }
