// SPDX-License-Identifier: BSL-1.0
// expect: tenure: quantile: q is one number
#include <tenure/tenure.hpp>
namespace tn = tenure;

#ifdef TENURE_MISUSE
using place = tn::tensor<float, tn::shape<2>>;
#else
using place = tn::tensor<float, tn::shape<>>;
#endif

auto f(const tn::tensor<float, tn::shape<4, 3>>& x, const place& q) { return tn::eval(quantile(x, q, tn::axis<0>)); }
