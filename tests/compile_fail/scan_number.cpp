// SPDX-License-Identifier: BSL-1.0
// expect: tenure: scan: a number has no axis to scan
#include <tenure/tenure.hpp>
namespace tn = tenure;

#ifdef TENURE_MISUSE
using scanned = tn::tensor<double, tn::shape<>>;
#else
using scanned = tn::tensor<double, tn::shape<3>>;
#endif

constexpr auto step = [](auto c, auto x) { return std::tuple{c + x, c}; };

auto f(const tn::tensor<double, tn::shape<>>& c, const scanned& xs) { return tn::scan(step, c, xs); }
