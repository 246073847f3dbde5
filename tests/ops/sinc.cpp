// SPDX-License-Identifier: BSL-1.0
// sinc and erfcx with their derivatives, eagerly and compiled, at 0, at integers, in tails and at infinities. The numbers are mpmath's.
#include "../catch.hpp"

#include <cmath>

#include <tenure/tenure.hpp>

namespace tn = tenure;

namespace {

constexpr double inf = INFINITY, n = NAN, pi = 3.14159265358979323846;

void check(const char* name, const auto& got, std::initializer_list<double> wanted, double tolerance = 2e-15) {
  int i = 0;
  for (const double want : wanted) {
    const double is = got[i].item();
    INFO(name << ' ' << i << ": " << is << ", wanted " << want);
    CHECK((is == want || (is != is && want != want) || std::fabs(is - want) <= tolerance * std::fabs(want)));
    ++i;
  }
}

constexpr auto sum_sinc = [](auto a) { return sum(sinc(a)); };
constexpr auto slopes_of_sinc = [](auto a) { return sum(tn::grad(sum_sinc)(a)); };
constexpr auto bends_of_sinc = [](auto a) { return sum(tn::grad(slopes_of_sinc)(a)); };
constexpr auto thirds_of_sinc = [](auto a) { return sum(tn::grad(bends_of_sinc)(a)); };
constexpr auto sum_erfcx = [](auto a) { return sum(erfcx(a)); };
constexpr auto slopes_of_erfcx = [](auto a) { return sum(tn::grad(sum_erfcx)(a)); };

}  // namespace

TEST_CASE("sinc is 1 at 0 and 0 at the other integers, with derivatives of any order") {
  const tn::tensor<double, tn::shape<6>> x{0, 1, -2, 0.5, 0.25, 2.75};
  const auto r = tn::compile([](auto a) { return std::tuple{sinc(a), tn::grad(sum_sinc)(a), tn::grad(slopes_of_sinc)(a), tn::grad(bends_of_sinc)(a), tn::grad(thirds_of_sinc)(a)}; })(x);
  check("sinc", std::get<0>(r), {1, 0, 0, 2 / pi, 0.90031631615710606956, 0.081846937832464188141});
  check("sinc'", std::get<1>(r), {0, -1, -0.5, -4 / pi, -0.77283813988223418062, -0.28689226146145880456});
  check("sinc''", std::get<2>(r), {-pi * pi / 3, 2, -0.5, -1.1902271282389357323, -2.7030607572588590491, -0.59914798042046018705}, 4e-15);
  check("sinc'''", std::get<3>(r), {0, pi * pi - 6, pi * pi / 2 - 0.75, 7.1413627694336143939, 4.5212722885507904525, 3.1913847785091854892}, 2e-14);
  CHECK(std::fabs(std::get<4>(r)[0].item() - pi * pi * pi * pi / 5) < 1e-12);
  const tn::tensor<double, tn::shape<3>> far{inf, -inf, n};
  check("sinc", tn::tensor{sinc(far)}, {n, n, n});
  static_assert(tn::sinc(0.0) == 1 && tn::sinc(2) == 0 && tn::sinc(0.5f) == 0.63661977236758134f);
  auto leaf = x.clone().requires_grad_();
  sum(sinc(leaf.view())).backward();
  check("sinc', eager", leaf.grad(), {0, -1, -0.5, -4 / pi, -0.77283813988223418062, -0.28689226146145880456});
}

TEST_CASE("erfcx keeps the digits of its slope in the tail") {
  const tn::tensor<double, tn::shape<6>> x{0, 1, -2, 30, 1e8, 0.125};
  const auto r = tn::compile([](auto a) { return std::tuple{erfcx(a), tn::grad(sum_erfcx)(a), tn::grad(slopes_of_erfcx)(a)}; })(x);
  check("erfcx", std::get<0>(r), {1, 0.42758357615580700442, 108.94090438997797241, 0.018795888861416751, 5.6418958354775626e-9, 0.8732218450821508096});
  check("erfcx'", std::get<1>(r), {-2 / std::sqrt(pi), -0.27321201478389856507, -436.89199672700740222, -0.00062583541050748406864, -5.6418958354775628695e-17, -0.9100737058249748715});
  check("erfcx''", std::get<2>(r), {2, 0.30874312274381687867, 1965.4497956879855537, 0.000041653092384458875901}, 1e-12);
  const tn::tensor<double, tn::shape<4>> ends{inf, -inf, n, -30};
  check("erfcx", tn::tensor{erfcx(ends)}, {0, inf, n, inf});
  static_assert(tn::erfcx(0.0) == 1 && tn::erfcx(1.0) == 0.42758357615580700442);
}
