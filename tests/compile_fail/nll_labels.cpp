// SPDX-License-Identifier: BSL-1.0
// expect: tenure: nll: the labels must be class numbers of type int32 or int64
#include <tenure/tenure.hpp>
namespace tn = tenure;

#ifdef TENURE_MISUSE
using label = bool;
#else
using label = int;
#endif

auto f(const tn::tensor<float, tn::shape<8, 10>>& log_p, const tn::tensor<label, tn::shape<8>>& labels) { return nll(log_p, labels); }
