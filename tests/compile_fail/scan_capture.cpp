// SPDX-License-Identifier: BSL-1.0
// expect: tenure: loop: no argument is traced, so the call runs at once, and its functions capture nothing: in a trace begin with tn::full_like
#include <tenure/tenure.hpp>
namespace tn = tenure;

#ifdef TENURE_MISUSE
constexpr auto make = [](auto& w) { return [&w](auto c, auto x) { return std::tuple{c * w + x, c}; }; };
#else
constexpr auto make = [](auto&) { return [](auto c, auto x) { return std::tuple{c * 2.0 + x, c}; }; };
#endif

auto f(const tn::tensor<double, tn::shape<>>& w, const tn::tensor<double, tn::shape<3>>& x) { return tn::scan(make(w), w, x); }
