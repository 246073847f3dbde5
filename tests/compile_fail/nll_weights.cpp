// SPDX-License-Identifier: BSL-1.0
// expect: tenure: nll: class_weights is not a vector with one floating number for each class
#include <tenure/tenure.hpp>
namespace tn = tenure;

#ifdef TENURE_MISUSE
using numbers = tn::tensor<float, tn::shape<8>>;
#else
using numbers = tn::tensor<float, tn::shape<10>>;
#endif

auto f(const tn::tensor<float, tn::shape<8, 10>>& x, const tn::tensor<std::int64_t, tn::shape<8>>& labels, const numbers& w) { return nll(x, labels, tn::class_weights(w)); }
