// SPDX-License-Identifier: BSL-1.0
// expect: tenure: fold_in: the data are integers
#include <tenure/tenure.hpp>
namespace tn = tenure;

#ifdef TENURE_MISUSE
using step = float;
#else
using step = int;
#endif

auto f(const tn::tensor<std::int32_t, tn::shape<2>>& key, step i) { return tn::eval(tn::fold_in(key, i)); }
