// SPDX-License-Identifier: BSL-1.0
// expect: tenure: nll: needs one label for each row of log_probabilities, whose last axis is the classes
#include <tenure/tenure.hpp>
namespace tn = tenure;

#ifdef TENURE_MISUSE
using matrix = tn::tensor<float, tn::shape<8>>;
#else
using matrix = tn::tensor<float, tn::shape<8, 10>>;
#endif

auto f(const matrix& log_p, const tn::tensor<int, tn::shape<8>>& labels) { return nll(log_p, labels); }
