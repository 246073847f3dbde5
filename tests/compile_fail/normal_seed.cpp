// SPDX-License-Identifier: BSL-1.0
// expect: tenure: normal, uniform: the numbers come from a key, normal.shape, tn::random_key.42.., or from an engine, which a variable holds: tn::engine g.42.
#include <tenure/tenure.hpp>
namespace tn = tenure;

#ifdef TENURE_MISUSE
constexpr auto noisy = tn::compile([](auto x) { return x + tn::normal(tn::shape<3>{}, 42); });
#else
constexpr auto noisy = tn::compile([](auto x) { return x + tn::normal(tn::shape<3>{}, tn::random_key(42)); });
#endif

auto f(const tn::tensor<float, tn::shape<3>>& x) { return noisy(x); }
