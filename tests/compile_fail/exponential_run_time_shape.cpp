// SPDX-License-Identifier: BSL-1.0
// expect: tenure: exponential, laplace, cauchy: the shape has a run-time extent: call exponential_like
#include <tenure/tenure.hpp>
namespace tn = tenure;

#ifdef TENURE_MISUSE
using rows = tn::shape<tn::dyn, 4>;
#else
using rows = tn::shape<8, 4>;
#endif

auto f(const tn::tensor<std::int32_t, tn::shape<2>>& key) { return tn::eval(tn::exponential(rows{}, key, 2.0)); }
