// SPDX-License-Identifier: BSL-1.0
// expect: tenure: windows: the axis needs a static extent
#include <tenure/tenure.hpp>
namespace tn = tenure;

#ifdef TENURE_MISUSE
using signal = tn::tensor<float, tn::shape<tn::dyn>>;
#else
using signal = tn::tensor<float, tn::shape<100>>;
#endif

auto f(const signal& x) { return tn::eval(tn::windows<0, 5>(x)); }
