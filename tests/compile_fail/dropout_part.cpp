// SPDX-License-Identifier: BSL-1.0
// expect: tenure: dropout: p is the part of the elements that become zero: 0 <= p <= 1
#include <tenure/tenure.hpp>
namespace tn = tenure;

#ifdef TENURE_MISUSE
constexpr double part = 10;  // per cent
#else
constexpr double part = 0.1;
#endif

constexpr auto f = tn::compile([](auto x, auto key) { return tn::dropout(x, part, key); });
auto g(const tn::tensor<float, tn::shape<8>>& x) { return f(x, tn::random_key(1)); }
