// SPDX-License-Identifier: BSL-1.0
// expect: tenure: range: the first index lies before 0, or the last behind the end
#include <tenure/tenure.hpp>
namespace tn = tenure;

#ifdef TENURE_MISUSE
constexpr auto most = tn::range<-1, tn::end>();
#else
constexpr auto most = tn::range<1, tn::end>();
#endif

auto f(const tn::tensor<double, tn::shape<4>>& x) { return tn::eval(x[most] * 2.0); }
