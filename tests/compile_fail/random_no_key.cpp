// SPDX-License-Identifier: BSL-1.0
// expect: tenure: uniform, normal, exponential, laplace, cauchy, log_normal, categorical, bernoulli, dropout, fold_in, split_key: this is no key
#include <tenure/tenure.hpp>
namespace tn = tenure;

#ifdef TENURE_MISUSE
using key = tn::tensor<float, tn::shape<2>>;
#else
using key = tn::tensor<std::int32_t, tn::shape<2>>;
#endif

auto f(const tn::tensor<float, tn::shape<8>>& x, const key& k) { return tn::eval(dropout(x, 0.5, k)); }
