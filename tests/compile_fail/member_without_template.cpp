// SPDX-License-Identifier: BSL-1.0
// expect: expected primary-expression before|missing .template. keyword prior to dependent template name
// lines: 24
#include <tenure/tenure.hpp>
namespace tn = tenure;

#ifdef TENURE_MISUSE
constexpr auto flat = tn::compile([](auto x) { return x.reshape<9>(); });
#else
constexpr auto flat = tn::compile([](auto x) { return tn::reshape<9>(x); });
#endif

auto f(const tn::tensor<double, tn::shape<3, 3>>& x) { return flat(x); }
