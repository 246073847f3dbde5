// SPDX-License-Identifier: BSL-1.0
// expect: tenure: log_density::categorical_logit: needs one class for each row of logits
#include <tenure/tenure.hpp>
namespace tn = tenure;

#ifdef TENURE_MISUSE
using rows = tn::shape<4>;
#else
using rows = tn::shape<3>;
#endif

auto f(const tn::tensor<int, rows>& k, const tn::tensor<double, tn::shape<3, 4>>& logits) { return tn::eval(tn::log_density::categorical_logit(k, logits)); }
