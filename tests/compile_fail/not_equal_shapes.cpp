// SPDX-License-Identifier: BSL-1.0
// expect: tenure: not_equal: the extents differ and neither of them is 1
#include <tenure/tenure.hpp>
namespace tn = tenure;

#ifdef TENURE_MISUSE
using labels = tn::tensor<std::int64_t, tn::shape<4>>;
#else
using labels = tn::tensor<std::int64_t, tn::shape<8>>;
#endif

auto f(const tn::tensor<std::int64_t, tn::shape<8>>& x, const labels& y) { return tn::eval(x != y); }
