// SPDX-License-Identifier: BSL-1.0
// expect: tenure: scan: the carry or y that the function returns is neither a value, a tuple, an array nor a model: y is tn::nothing if there is none, and an expression of constants begins with tn::ones_like.x.
#include <tenure/tenure.hpp>
namespace tn = tenure;

#ifdef TENURE_MISUSE
constexpr auto step = [](auto c, auto x) { return std::tuple{c + x, nullptr}; };
#else
constexpr auto step = [](auto c, auto x) { return std::tuple{c + x, tn::nothing}; };
#endif
constexpr auto f = tn::compile([](auto xs) { return std::get<0>(tn::scan(step, tn::sum(xs), xs)); });
auto g(const tn::tensor<double, tn::shape<3>>& xs) { return f(xs); }
