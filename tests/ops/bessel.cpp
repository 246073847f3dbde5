// SPDX-License-Identifier: BSL-1.0
// i0e and i1e with their derivatives, at 0 and in the tail. The numbers are mpmath's.
#include "../catch.hpp"

#include <cmath>

#include <tenure/tenure.hpp>

namespace tn = tenure;

namespace {

constexpr double inf = INFINITY, n = NAN;

void check(const char* name, const auto& got, std::initializer_list<double> wanted, double tolerance) {
  int i = 0;
  for (const double want : wanted) {
    const double is = got[i].item();
    INFO(name << ' ' << i << ": " << is << ", wanted " << want);
    CHECK((is == want || (is != is && want != want) || std::fabs(is - want) <= tolerance));
    ++i;
  }
}

constexpr auto sum_i0e = [](auto a) { return sum(i0e(a)); };
constexpr auto sum_i1e = [](auto a) { return sum(i1e(a)); };
constexpr auto slopes_of_i0e = [](auto a) { return sum(tn::grad(sum_i0e)(a)); };
constexpr auto slopes_of_i1e = [](auto a) { return sum(tn::grad(sum_i1e)(a)); };

}  // namespace

TEST_CASE("i0e and i1e and their first two derivatives") {
  const tn::tensor<double, tn::shape<5>> x{0, 0.5, -3, 20, inf};
  const auto r = tn::compile([](auto a) { return std::tuple{i0e(a), i1e(a), tn::grad(sum_i0e)(a), tn::grad(sum_i1e)(a), tn::grad(slopes_of_i0e)(a), tn::grad(slopes_of_i1e)(a)}; })(x);
  check("i0e", std::get<0>(r), {1, 0.64503527044915006811, 0.24300035416182539847, 0.089780311884826021596, 0}, 3e-16);
  check("i1e", std::get<1>(r), {0, 0.15642080318487169714, -0.19682671329730085363, 0.087506222183288665356, 0}, 3e-16);
  check("i0e'", std::get<2>(r), {0, -0.48861446726427837097, 0.046173640864524544842, -0.0022740897015373562396, 0}, 3e-16);
  check("i1e'", std::get<3>(r), {0.5, 0.17577286089453497668, -0.019435263567909073035, -0.0021012214076270770282, 0}, 3e-16);
  check("i0e''", std::get<4>(r), {0.5, 0.66438732815881334765, 0.026738377296615471807, 0.00017286829391027921141, 0}, 1e-15);
  check("i1e''", std::get<5>(r), {0, -0.39024983720839651243, -0.0016096787034987584972, 0.00015095833192929630339, 0}, 1e-15);
  auto leaf = x.clone().requires_grad_();
  sum(i1e(leaf.view())).backward();
  check("i1e', eager", leaf.grad(), {0.5, 0.17577286089453497668, -0.019435263567909073035, -0.0021012214076270770282, 0}, 3e-16);
  check("NaN", tn::tensor{i0e(tn::tensor<double, tn::shape<2>>{n, -inf})}, {n, 0}, 0);
  static_assert(tn::i0e(0.0) == 1 && tn::i1e(0) == 0);
}
