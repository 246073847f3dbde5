// SPDX-License-Identifier: BSL-1.0
// expect: tenure: sort, argsort, topk, argtopk: a scalar has no axis to sort along
#include <tenure/tenure.hpp>
namespace tn = tenure;

#ifdef TENURE_MISUSE
using numbers = tn::tensor<float, tn::shape<>>;
#else
using numbers = tn::tensor<float, tn::shape<1>>;
#endif

auto f(const numbers& x) { return tn::eval(sort(x)); }
