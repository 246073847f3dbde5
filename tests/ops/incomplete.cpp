// SPDX-License-Identifier: BSL-1.0
// The incomplete gamma and beta functions with all their first partial derivatives and the second ones that are there. The numbers are mpmath's.
#include "../catch.hpp"

#include <cmath>

#include <tenure/tenure.hpp>

namespace tn = tenure;

namespace {

using vector = tn::tensor<double, tn::shape<4>>;

void check(const char* name, const auto& got, std::initializer_list<double> wanted, double tolerance = 1e-14) {
  int i = 0;
  for (const double want : wanted) {
    const double is = got[i].item();
    INFO(name << ' ' << i << ": " << is << ", wanted " << want);
    CHECK((is == want || (is != is && want != want) || std::fabs(is - want) <= tolerance * std::fabs(want)));
    ++i;
  }
}

constexpr auto sum_gammainc = [](auto a, auto x) { return sum(gammainc(a, x)); };
constexpr auto sum_gammaincc = [](auto a, auto x) { return sum(gammaincc(a, x)); };
constexpr auto slope_by_x = [](auto a, auto x) { return sum(tn::grad<1>(sum_gammainc)(a, x)); };

constexpr auto sum_betainc = [](auto a, auto b, auto x) { return sum(betainc(a, b, x)); };
constexpr auto slopes_of_betainc = [](auto a, auto b, auto x) { return sum(tn::grad<2>(sum_betainc)(a, b, x)); };

}  // namespace

TEST_CASE("betainc with its derivatives by a, b and x") {
  const vector a{0.5, 3, 40, 1}, b{2, 0.75, 30, 1}, x{0.25, 0.875, 0.5, 0.5};
  const auto r = tn::compile([](auto u, auto v, auto w) { return std::tuple{betainc(u, v, w), tn::grad<0, 1, 2>(sum_betainc)(u, v, w), tn::grad<0, 1, 2>(slopes_of_betainc)(u, v, w)}; })(a, b, x);
  check("betainc", std::get<0>(r), {0.6875, 0.546191033711343751, 0.114200112676648486, 0.5});
  const auto& [by_a, by_b, by_x] = std::get<1>(r);
  check("betainc by a", by_a, {-0.5780773732699248, -0.0939449291699814625, -0.0216524890432279956, -0.346573590279972655});
  check("betainc by b", by_b, {0.135253490587585503, 0.558532088797970611, 0.0250393686711318265, 0.346573590279972655});
  check("betainc by x", by_x, {1.125, 2.32375647564863157, 3.21472178642154482, 1.0});
  const auto& [of_a, of_b, of_x] = std::get<2>(r);
  check("betainc by x and a", of_a, {1.44041884374012305, 0.293308401857489635, -0.411931801244108284, 0.306852819440054691}, 1e-13);
  check("betainc by x and b", of_b, {-0.00822348776813048956, 0.439089417329326252, 0.526410902143601525, 0.306852819440054691}, 1e-13);
  check("betainc by x and x", of_x, {-3.75, 9.95895632420842102, 64.2944357284308963, 0.0}, 1e-13);
  CHECK(tn::betainc(1, 1, 0.25) == 0.25);
  static_assert(tn::betainc(2.0, 3.0, 0.0) == 0 && tn::betainc(2.0, 3.0, 1.0) == 1);
  auto shape = a.clone().requires_grad_();
  sum(betainc(shape.view(), b, x)).backward();
  check("betainc by a, eager", shape.grad(), {-0.5780773732699248, -0.0939449291699814625, -0.0216524890432279956, -0.346573590279972655});
}

TEST_CASE("gammainc and gammaincc with their derivatives by a and x") {
  const vector a{0.5, 3, 40, 1}, x{0.25, 5, 30, 0.5};
  const auto r = tn::compile([](auto u, auto v) {
    return std::tuple{gammainc(u, v), gammaincc(u, v), tn::grad<0, 1>(sum_gammainc)(u, v), tn::grad<0, 1>(sum_gammaincc)(u, v), tn::grad<0, 1>(slope_by_x)(u, v)};
  })(a, x);
  check("gammainc", std::get<0>(r), {0.520499877813046538, 0.875347980516918859, 0.0462530376458420364, 0.393469340287366576});
  check("gammaincc", std::get<1>(r), {0.479500122186953462, 0.124652019483081141, 0.953746962354157964, 0.606530659712633424});
  const auto& [by_a, by_x] = std::get<2>(r);
  check("gammainc by a", by_a, {-0.797947316783222941, -0.113692838687785911, -0.0161119476696945421, -0.489457576102378417});
  check("gammainc by x", by_x, {0.878782578935444794, 0.0842243374885683387, 0.0185912846399569831, 0.606530659712633424});
  const auto& [upper_by_a, upper_by_x] = std::get<3>(r);
  check("gammaincc by a", upper_by_a, {0.797947316783222941, 0.113692838687785911, 0.0161119476696945421, 0.489457576102378417});
  check("gammaincc by x", upper_by_x, {-0.878782578935444794, -0.0842243374885683387, -0.0185912846399569831, -0.606530659712633424});
  const auto& [of_a, of_x] = std::get<4>(r);
  check("gammainc by x and a", of_a, {0.507247070604106552, 0.0578329426352491333, -0.00511502000118983169, -0.0703160186737823944}, 1e-13);
  check("gammainc by x and x", of_x, {-2.63634773680633438, -0.0505346024931410032, 0.00557738539198709493, -0.606530659712633424}, 1e-13);
}

TEST_CASE("gammainc broadcasts, takes integers and numbers, and is a constant") {
  const tn::tensor<float, tn::shape<2, 1>> a{{1.0f}, {2.0f}};
  const tn::tensor<float, tn::shape<3>> x{0, 1, 2};
  const tn::tensor y = gammainc(a, x);
  static_assert(std::is_same_v<decltype(y)::shape_type, tn::shape<2, 3>>);
  CHECK(std::fabs(y[1][2].item() - 0.59399415f) < 1e-6f);
  CHECK(y[0][0].item() == 0);
  CHECK(std::fabs(tn::gammaincc(1, 2) - std::exp(-2.0)) < 1e-16);
  static_assert(tn::gammainc(1.0, 0.0) == 0 && tn::gammaincc(2.0, 0.0) == 1);
  auto shape = a.clone().requires_grad_();
  sum(gammainc(shape.view(), x)).backward();
  CHECK(std::fabs(shape.grad()[1][0].item() + 0.57020075f) < 1e-5f);
}
