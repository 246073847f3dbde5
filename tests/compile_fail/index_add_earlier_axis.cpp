// SPDX-License-Identifier: BSL-1.0
// expect: tenure: index_add: the updates have another shape
#include <tenure/tenure.hpp>
namespace tn = tenure;

#ifdef TENURE_MISUSE
using updates = tn::tensor<float, tn::shape<3, 4>>;
#else
using updates = tn::tensor<float, tn::shape<2, 4>>;
#endif

auto f(const tn::tensor<float, tn::shape<2, 3>>& x, const tn::tensor<std::int64_t, tn::shape<4>>& i, const updates& u) { return tn::eval(tn::index_add<1>(x, i, u)); }
