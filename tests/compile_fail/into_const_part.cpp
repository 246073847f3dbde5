// SPDX-License-Identifier: BSL-1.0
// expect: tenure: into: a target is read-only
#include <tenure/tenure.hpp>
namespace tn = tenure;

constexpr auto both = tn::compile([](auto x) { return std::tuple{x * 2, x + 1}; });

using vector = tn::tensor<double, tn::shape<3>>;
#ifdef TENURE_MISUSE
using target = std::tuple<vector, const vector>;
#else
using target = std::tuple<vector, vector>;
#endif

void f(target& y, const vector& x) { both.into(y)(x); }
