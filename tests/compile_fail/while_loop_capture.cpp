// SPDX-License-Identifier: BSL-1.0
// expect: tenure: loop: no argument is traced, so the call runs at once, and its functions capture nothing: in a trace begin with tn::full_like
#include <tenure/tenure.hpp>
namespace tn = tenure;

#ifdef TENURE_MISUSE
constexpr auto make = [](double w) { return [w](auto c) { return c * w; }; };
#else
constexpr auto make = [](double) { return [](auto c) { return c * 2.0; }; };
#endif

auto f(double w, const tn::tensor<double, tn::shape<3>>& x) { return tn::while_loop([](auto c) { return tn::sum(c) < 9.0; }, make(w), x); }
