// SPDX-License-Identifier: BSL-1.0
// expect: tenure: index_add: operands have different element types
#include <tenure/tenure.hpp>
namespace tn = tenure;

#ifdef TENURE_MISUSE
using element = double;
#else
using element = float;
#endif

auto f(const tn::tensor<float, tn::shape<5>>& x, const tn::tensor<int, tn::shape<2>>& i, const tn::tensor<element, tn::shape<2>>& u) { return tn::eval(tn::index_add<0>(x, i, u)); }
