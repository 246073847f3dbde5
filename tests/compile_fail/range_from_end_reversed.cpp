// SPDX-License-Identifier: BSL-1.0
// expect: tenure: range: the first index lies behind the last, or the last behind the end
#include <tenure/tenure.hpp>
namespace tn = tenure;

#ifdef TENURE_MISUSE
constexpr auto last_two = tn::range<tn::end, tn::end - 2>();
#else
constexpr auto last_two = tn::range<tn::end - 2, tn::end>();
#endif

auto f(const tn::tensor<double, tn::shape<4>>& x) { return tn::eval(x[last_two] * 2.0); }
