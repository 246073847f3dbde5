// SPDX-License-Identifier: BSL-1.0
// expect: tenure: polygamma: the order is 0, 1 or 2: polygamma<1> is the derivative of digamma
#include <tenure/tenure.hpp>
namespace tn = tenure;

#ifdef TENURE_MISUSE
auto g(const tn::tensor<double, tn::shape<3>>& x) { return tn::eval(tn::polygamma<3>(x)); }
#else
auto g(const tn::tensor<double, tn::shape<3>>& x) { return tn::eval(tn::polygamma<2>(x)); }
#endif
