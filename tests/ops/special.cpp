// SPDX-License-Identifier: BSL-1.0
// logaddexp, hypot, logit and log1mexp: errors against long double, and special values with their derivatives.
#include "../catch.hpp"
#include "../math/ulp.hpp"

#include <cmath>
#include <vector>

#include <tenure/tenure.hpp>

namespace tn = tenure;

namespace {

using namespace math_test;

template <class P>
void check_errors(const char* kind) {
  using T = m::scalar_of<P>;
  using W = wider<T>;
  random_bits bits{11};
  std::vector<T> part, other, x, y;
  for (int i = 0; i < 60000; ++i) {
    part.push_back(static_cast<T>(i % 3 == 0 ? bits.unit() : i % 3 == 1 ? std::exp(-80 * bits.unit()) : 1 - std::exp(-15 * bits.unit())));
    other.push_back(static_cast<T>(std::exp(20 * bits.unit() - 14) * (i % 2 == 0 ? 1 : -1)));
    x.push_back(static_cast<T>((bits.unit() - 0.5) * std::exp(60 * bits.unit() - 30)));
    y.push_back(static_cast<T>((bits.unit() - 0.5) * std::exp(60 * bits.unit() - 30)));
  }
  const auto report = [&](const char* name, const worst& w) {
    INFO(name << ' ' << kind << " of " << w.x << ", " << w.y << " gives " << w.got << ", wanted " << w.want);
    CHECK(w.ulp <= 3);
  };
  report("logit", measure<P>([](P v) { return tn::ops::logit::evaluate(v); }, [](W v) { return std::fabs(v - W(0.5)) < W(0.25) ? 2 * std::atanh(2 * v - 1) : std::log(v / (1 - v)); }, part));
  report("log1mexp", measure<P>([](P v) { return tn::ops::log1mexp::evaluate(v); },
                                [](W v) { return std::fabs(v) < W(0.7) ? std::log(-std::expm1(-std::fabs(v))) : std::log1p(-std::exp(-std::fabs(v))); }, other));
  report("hypot", measure2<P>([](P a, P b) { return tn::ops::hypot::evaluate(a, b); }, [](W a, W b) { return std::hypot(a, b); }, x, y));
  // Of positive numbers: where the terms cancel, the error is that of the larger one.
  for (std::vector<T>* v : {&x, &y})
    for (T& e : *v) e = std::fabs(e);
  report("logaddexp", measure2<P>([](P a, P b) { return tn::ops::logaddexp::evaluate(a, b); }, [](W a, W b) { return std::fmax(a, b) + std::log1p(std::exp(-std::fabs(a - b))); }, x, y));
}

constexpr double inf = INFINITY, n = NAN;
using vector = tn::tensor<double, tn::shape<8>>;

void check(const char* name, const auto& got, std::initializer_list<double> wanted) {
  int i = 0;
  for (const double want : wanted) {
    const double is = got[i].item();
    INFO(name << ' ' << i << ": " << is << ", wanted " << want);
    CHECK((is == want || (is != is && want != want) || std::fabs(is - want) <= 1e-14 * std::fabs(want)));
    ++i;
  }
}

constexpr auto sum_logaddexp = [](auto a, auto b) { return sum(logaddexp(a, b)); };
constexpr auto sum_hypot = [](auto a, auto b) { return sum(hypot(a, b)); };
constexpr auto sum_logit = [](auto a) { return sum(logit(a)); };
constexpr auto sum_log1mexp = [](auto a) { return sum(log1mexp(a)); };

}  // namespace

TEST_CASE("logaddexp, hypot, logit and log1mexp are within 3 ulp") {
  check_errors<m::packet_of<double>>("f64");
  check_errors<m::packet_of<float>>("f32");
  check_errors<double>("f64 one");
  check_errors<float>("f32 one");
}

TEST_CASE("logaddexp and hypot at infinities, NaN and zeros, with their derivatives") {
  const vector x{inf, -inf, inf, 0, n, 0, 3e200, -inf}, y{inf, -inf, -inf, 0, 1, n, 4e200, 1};
  const auto r = tn::compile([](auto a, auto b) {
    return std::tuple{logaddexp(a, b), hypot(a, b), tn::grad(sum_logaddexp)(a, b), tn::grad(sum_hypot)(a, b), tn::grad([](auto u, auto v) { return sum(tn::grad(sum_logaddexp)(u, v)); })(a, b)};
  })(x, y);
  check("logaddexp", std::get<0>(r), {inf, -inf, inf, std::log(2.0), n, n, 4e200, 1});
  check("hypot", std::get<1>(r), {inf, inf, inf, 0, n, n, 5e200, inf});
  check("logaddexp'", std::get<2>(r), {0.5, 0.5, 1, 0.5, n, n, 0, 0});
  check("hypot'", std::get<3>(r), {n, n, n, n, n, n, 0.6, n});
  check("logaddexp''", std::get<4>(r), {0, 0, 0, 0.25, n, n, 0, 0});
  static_assert(tn::hypot(3.0, 4.0) == 5 && tn::logaddexp(1.0f, -INFINITY) == 1);
}

TEST_CASE("logit and log1mexp at the ends of their domains, with their derivatives") {
  const vector x{0, 1, 0.5, -1, 2, n, inf, -0.0};
  const auto r = tn::compile([](auto a) { return std::tuple{logit(a), log1mexp(a), tn::grad(sum_logit)(a), tn::grad(sum_log1mexp)(a)}; })(x);
  check("logit", std::get<0>(r), {-inf, inf, 0, n, n, n, n, -inf});
  check("log1mexp", std::get<1>(r), {-inf, -0.45867514538708193, -0.93275212956718857, -0.45867514538708193, -0.14541345786885906, n, 0, -inf});
  check("logit'", std::get<2>(r), {inf, inf, 4, -0.5, -0.5, n, 0, -inf});
  check("log1mexp'", std::get<3>(r), {inf, 0.58197670686932642, 1.5414940825367982, -0.58197670686932642, 0.15651764274966565, n, 0, inf});
  static_assert(tn::logit(0.5) == 0 && tn::log1mexp(0.0) == -INFINITY);
}
