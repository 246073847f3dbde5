// SPDX-License-Identifier: BSL-1.0
// expect: tenure: item: a traced value is no number yet: compute with the value itself
#include <tenure/tenure.hpp>
namespace tn = tenure;

#ifdef TENURE_MISUSE
constexpr auto f = tn::compile([](auto x) { return x * sum(x).item(); });
#else
constexpr auto f = tn::compile([](auto x) { return x * sum(x); });
#endif

auto g(const tn::tensor<double, tn::shape<3>>& x) { return f(x); }
