// SPDX-License-Identifier: BSL-1.0
// expect: tenure: index_add: the updates have another shape
#include <tenure/tenure.hpp>
namespace tn = tenure;

#ifdef TENURE_MISUSE
using rows = tn::tensor<double, tn::shape<3>>;
#else
using rows = tn::tensor<double, tn::shape<2>>;
#endif

auto f(const tn::tensor<double, tn::shape<4>>& x, const tn::tensor<std::int64_t, tn::shape<2>>& i, const rows& u) { return index_add(x, i, u); }
