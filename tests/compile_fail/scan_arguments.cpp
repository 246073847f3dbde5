// SPDX-License-Identifier: BSL-1.0
// expect: tenure: scan: it takes f, init and xs: several states, or several arrays, are one tuple: scan.f, std::tuple.a, b., xs.
#include <tenure/tenure.hpp>
namespace tn = tenure;

using number = tn::tensor<double, tn::shape<>>;
using vector = tn::tensor<double, tn::shape<3>>;
#ifdef TENURE_MISUSE
constexpr auto f = [](auto a, auto b, auto xs) {
  return std::get<0>(tn::scan([](auto p, auto q, auto x) { return std::tuple{std::tuple{p + x, q * x}, tn::nothing}; }, a, b, xs));
};
#else
constexpr auto f = [](auto a, auto b, auto xs) {
  return std::get<0>(tn::scan([](auto s, auto x) { return std::tuple{std::tuple{std::get<0>(s) + x, std::get<1>(s) * x}, tn::nothing}; }, std::tuple{a, b}, xs));
};
#endif
auto g(const number& a, const number& b, const vector& xs) { return tn::compile(f)(a, b, xs); }
