// SPDX-License-Identifier: BSL-1.0
// Values and derivatives where a function has a kink or an infinite slope, or where its operand is infinite or NaN: eagerly, compiled and
// by the reference backend, pulled and pushed. What PyTorch says of every operation at such points is in tests/peers.
#include "agree.hpp"

using namespace laws;

namespace {

constexpr double inf = std::numeric_limits<double>::infinity();
constexpr double nan_of_double = std::numeric_limits<double>::quiet_NaN();

bool same(double a, double b) { return a == b || (a != a && b != b) || std::fabs(a - b) <= 1e-12 * std::fabs(b); }

template <class X>
void check(const char* what, const X& got, const std::vector<double>& wanted) {
  REQUIRE(static_cast<std::size_t>(got.size()) == wanted.size());
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    const double value = got[static_cast<std::int64_t>(i)];
    INFO(what << ", element " << i << ": " << value << " instead of " << wanted[i]);
    const bool agrees = same(value, wanted[i]);
    CHECK(agrees);
  }
}

/// A function of one vector to numbers or to a number: its value, its gradient by pull, and by push along each axis.
template <class F, std::int64_t N>
void check_slope(const char* what, F f, const tn::tensor<double, shape<N>>& x, const std::vector<double>& value, const std::vector<double>& slope) {
  INFO(what);
  const auto both = [](auto a) { return std::tuple{F{}(a), tn::grad([](auto b) { return sum(F{}(b)); })(a)}; };
  using program = tn::program<tn::detail::source_of<std::remove_const_t<decltype(both)>, tn::tensor<double, shape<N>>>>;
  const auto judged = tn::reference::run(program::traced.view(), std::vector{array_of(x)});
  check("value by the reference", judged.at(0), value);
  check("gradient by the reference", judged.at(1), slope);
  const auto [y, pulled] = tn::compile(both)(on_device::there(x));
  check("value, compiled", array_of(on_device::here(y)), value);
  check("gradient, compiled", array_of(on_device::here(pulled)), slope);
  const auto push = tn::compile([](auto a, auto v) { return std::get<1>(tn::jvp([](auto b) { return sum(F{}(b)); })(a, v)); });
  bool has_nan = false;  // 0 times NaN is NaN
  for (const double each : slope) has_nan = has_nan || each != each;
  for (std::int64_t i = 0; i < N; ++i) {
    tn::tensor<double, shape<N>> v = tn::zeros<double>(shape<N>{});
    v[i].fill_(1.0);
    INFO("axis " << i);
    check("pushed", array_of(on_device::here(push(on_device::there(x), on_device::there(v)))), {has_nan ? nan_of_double : slope[static_cast<std::size_t>(i)]});
  }
  auto leaf = on_device::there(x.clone().requires_grad_());
  sum(f(leaf.view())).backward();
  check("gradient, eager", array_of(on_device::here(leaf.grad())), slope);
}

}  // namespace

TEST_CASE("stddev of equal elements has gradient 0, that of one element is NaN") {
  check_slope("stddev", [](auto x) { return stddev(x); }, tn::tensor<double, shape<3>>{2, 2, 2}, {0}, {0, 0, 0});
  check_slope("stddev", [](auto x) { return stddev(x); }, tn::tensor<double, shape<3>>{1, 2, 3}, {1}, {-0.5, 0, 0.5});
  check_slope("stddev", [](auto x) { return stddev(x); }, tn::tensor<double, shape<1>>{2}, {nan_of_double}, {nan_of_double});
  check_slope("stddev<0>", [](auto x) { return tn::stddev<0>(x); }, tn::tensor<double, shape<1>>{2}, {0}, {0});
}

TEST_CASE("clamp is minimum(maximum(x, lo), hi); its gradient is 1 from bound to bound, 0 outside and at NaN") {
  const tn::tensor<double, shape<3>> x{0, 2, 4};
  check_slope("clamp(x, 3, 1)", [](auto a) { return clamp(a, 3, 1); }, x, {1, 1, 1}, {0, 0, 0});
  const tn::tensor<double, shape<7>> y{nan_of_double, 0, 1, 0.5, 2, inf, -inf};
  check_slope("clamp(x, 0, 1)", [](auto a) { return clamp(a, 0, 1); }, y, {nan_of_double, 0, 1, 0.5, 1, 1, 0}, {0, 1, 1, 1, 0, 0, 0});
  check_slope("clamp_min(x, 0)", [](auto a) { return clamp_min(a, 0); }, y, {nan_of_double, 0, 1, 0.5, 2, inf, 0}, {0, 1, 1, 1, 1, 1, 0});
  check_slope("clamp_max(x, 1)", [](auto a) { return clamp_max(a, 1); }, y, {nan_of_double, 0, 1, 0.5, 1, 1, -inf}, {0, 1, 1, 1, 0, 0, 1});
  check_slope("hardtanh(x)", [](auto a) { return hardtanh(a); }, y, {nan_of_double, 0, 1, 0.5, 1, 1, -1}, {0, 1, 0, 1, 0, 0, 0});
  check_slope("clamp(x, NaN, 1)", [](auto a) { return clamp(a, nan_of_double, 1); }, x, {nan_of_double, nan_of_double, nan_of_double}, {0, 0, 0});
  // To the bounds, too: the one that the result is.
  const auto bounds = tn::grad<1, 2>([](auto a, auto lo, auto hi) { return sum(clamp(a, lo, hi)); })(on_device::there(x), on_device::there(tn::tensor<double, shape<3>>{1, 1, 1}),
                                                                                                  on_device::there(tn::tensor<double, shape<3>>{3, 3, 3}));
  check("lo", array_of(on_device::here(std::get<0>(bounds))), {1, 0, 0});
  check("hi", array_of(on_device::here(std::get<1>(bounds))), {0, 0, 1});
  agrees(tn::compile([](auto a) { return std::tuple{clamp(a, -1, 2), clamp(a, 3, 1), clamp_min(a, 0), clamp_max(a, 0)}; }), filled<std::int32_t>(shape<9>{}, 1, -4.0, 4.0));
}

TEST_CASE("the gradient of maximum and minimum flows on where an operand is NaN, as PyTorch's; half of it to each at a tie") {
  const tn::tensor<double, shape<4>> x{nan_of_double, -1, 0, 1};
  check_slope("maximum(x, 0)", [](auto a) { return maximum(a, 0); }, x, {nan_of_double, 0, 0, 1}, {1, 0, 0.5, 1});
  check_slope("maximum(0, x)", [](auto a) { return maximum(0, a); }, x, {nan_of_double, 0, 0, 1}, {1, 0, 0.5, 1});
  check_slope("minimum(x, 0)", [](auto a) { return minimum(a, 0); }, x, {nan_of_double, -1, 0, 0}, {1, 1, 0.5, 0});
  check_slope("relu(x)", [](auto a) { return relu(a); }, x, {nan_of_double, 0, 0, 1}, {1, 0, 0, 1});
  check_slope("abs(x)", [](auto a) { return abs(a); }, x, {nan_of_double, 1, 0, 1}, {nan_of_double, -1, 0, 1});
}

namespace {
// PyTorch's numbers, but the quotients of integers by 0.
constexpr auto of_two = [](auto x, auto y) { return std::tuple{fmod(x, y), remainder(x, y), floor_divide(x, y), xlogy(x, y), fmax(x, y), fmin(x, y)}; };
template <std::size_t K>
constexpr auto sum_of = [](auto x, auto y) { return sum(std::get<K>(of_two(x, y))); };
}  // namespace

TEST_CASE("fmax and fmin take the number beside a NaN, and give the gradient of a tie to x; remainders and xlogy have PyTorch's derivatives") {
  const tn::tensor<double, shape<4>> a{nan_of_double, -1, 0, 1};
  check_slope("fmax(x, 0)", [](auto v) { return fmax(v, 0); }, a, {0, 0, 0, 1}, {0, 0, 1, 1});
  check_slope("fmin(0, x)", [](auto v) { return fmin(0, v); }, a, {0, -1, 0, 0}, {0, 1, 0, 0});
  const tn::tensor<double, shape<9>> x{5.5, -5.5, 5.5, 5.5, 0, 0, 0, -5.5, 1}, y{-2, 2, 0, -inf, 0, -2, inf, 2, 0.1};
  const auto [quotients, by_x, by_y, mixed] = tn::compile([](auto p, auto q) {
    return std::tuple{of_two(p, q), std::tuple{tn::grad<0>(sum_of<1>)(p, q), tn::grad<0>(sum_of<3>)(p, q)}, std::tuple{tn::grad<1>(sum_of<0>)(p, q), tn::grad<1>(sum_of<1>)(p, q), tn::grad<1>(sum_of<3>)(p, q)},
                      tn::grad<1>([](auto s, auto t) { return sum(tn::grad<0>(sum_of<3>)(s, t)); })(p, q)};
  })(on_device::there(x), on_device::there(y));
  const auto at = [](const auto& t) { return array_of(on_device::here(t)); };
  const double n = nan_of_double, log_2 = std::log(2.0), rest = std::fmod(1, 0.1);
  check("fmod", at(std::get<0>(quotients)), {1.5, -1.5, n, 5.5, n, 0, 0, -1.5, rest});
  check("remainder", at(std::get<1>(quotients)), {-0.5, 0.5, n, -inf, n, 0, 0, 0.5, rest});
  check("floor_divide", at(std::get<2>(quotients)), {-3, -3, inf, -1, n, 0, 0, -3, 9});
  check("xlogy", at(std::get<3>(quotients)), {n, -5.5 * log_2, -inf, n, 0, 0, 0, -5.5 * log_2, std::log(0.1)});
  check("remainder by x", at(std::get<0>(by_x)), {1, 1, 1, 1, 1, 1, 1, 1, 1});
  check("xlogy by x", at(std::get<1>(by_x)), {n, log_2, -inf, n, 0, 0, inf, log_2, std::log(0.1)});
  check("fmod by y", at(std::get<0>(by_y)), {2, 2, -inf, 0, n, 0, 0, 2, -10});
  check("remainder by y", at(std::get<1>(by_y)), {3, 3, -inf, 1, n, 0, 0, 3, -9});
  check("xlogy by y", at(std::get<2>(by_y)), {-2.75, -2.75, inf, 0, n, 0, 0, -2.75, 10});
  check("xlogy by x and y", at(mixed), {-0.5, 0.5, inf, 0, n, 0, 0, 0.5, 10});
}

namespace {
constexpr auto power = [](auto x, auto y) { return sum(pow(x, y)); };
// The four second derivatives of x^y, an array each.
constexpr auto hessian_of_power = [](auto x, auto y) {
  return std::tuple{tn::grad<0>([](auto a, auto b) { return sum(tn::grad<0>(power)(a, b)); })(x, y), tn::grad<1>([](auto a, auto b) { return sum(tn::grad<0>(power)(a, b)); })(x, y),
                    tn::grad<0>([](auto a, auto b) { return sum(tn::grad<1>(power)(a, b)); })(x, y), tn::grad<1>([](auto a, auto b) { return sum(tn::grad<1>(power)(a, b)); })(x, y)};
};
// The two mixed ones by push over pull.
constexpr auto pushed_mixed = [](auto x, auto y) {
  return std::tuple{std::get<1>(tn::jvp([x](auto b) { return tn::grad<0>(power)(x, b); })(y, y * 0 + 1)), std::get<1>(tn::jvp([y](auto a) { return tn::grad<1>(power)(a, y); })(x, x * 0 + 1))};
};
}  // namespace

TEST_CASE("second derivatives of pow are the same in either order, also where the exponent or the base is 0") {
  //                                     smooth      exponent 0                     base 0
  const tn::tensor<double, shape<8>> x{2, 3,         2, 0.5, 1e-300,                0, 0, 0}, y{3, -1, 0, 0, 0, 0, 1, 2};
  const auto logarithm = [](double v) { return std::log(v); };
  const auto slopes = tn::grad<0, 1>(power)(on_device::there(x), on_device::there(y));
  check("d/dx", array_of(on_device::here(std::get<0>(slopes))), {12, -1.0 / 9, 0, 0, 0, 0, 1, 0});
  check("d/dy", array_of(on_device::here(std::get<1>(slopes))), {8 * logarithm(2), logarithm(3) / 3, logarithm(2), logarithm(0.5), logarithm(1e-300), 0, 0, 0});
  const auto h = tn::compile(hessian_of_power)(on_device::there(x), on_device::there(y));
  const std::vector<double> mixed{4 + 12 * logarithm(2), (1 - logarithm(3)) / 9, 0.5, 2, 1e300, 0, 0, 0};
  check("d2/dxdx", array_of(on_device::here(std::get<0>(h))), {12, 2.0 / 27, 0, 0, 0, 0, 0, 2});
  check("d2/dydx", array_of(on_device::here(std::get<1>(h))), mixed);
  check("d2/dxdy", array_of(on_device::here(std::get<2>(h))), mixed);
  const auto square_of = [&](double v) { return logarithm(v) * logarithm(v); };
  check("d2/dydy", array_of(on_device::here(std::get<3>(h))), {8 * square_of(2), square_of(3) / 3, square_of(2), square_of(0.5), square_of(1e-300), 0, 0, 0});
  const auto p = tn::compile(pushed_mixed)(on_device::there(x), on_device::there(y));
  check("d2/dydx, pushed", array_of(on_device::here(std::get<0>(p))), mixed);
  check("d2/dxdy, pushed", array_of(on_device::here(std::get<1>(p))), mixed);
}

TEST_CASE("the gradient of pow is not NaN by the order of its factors") {
  // g * y is 0 in float64, and pow(x, y - 1) infinite; y * pow is a number.
  const tn::tensor<double, shape<1>> g{1e-200}, x{1e-300}, y{1e-200};
  const auto slope = tn::grad<1>([](auto a, auto b, auto c) { return sum(a * pow(b, c)); })(on_device::there(g), on_device::there(x), on_device::there(y));
  check("g * (y * x^(y-1))", array_of(on_device::here(slope)), {1e-100});
  const tn::tensor<double, shape<2>> bases{0, 0}, exponents{0, 0.0};
  check("d/dy of 0^0", array_of(on_device::here(tn::grad<1>(power)(on_device::there(bases), on_device::there(exponents)))), {0, 0});
}

TEST_CASE("huber and smooth_l1 of an infinite difference have a finite gradient") {
  const tn::tensor<double, shape<4>> x{inf, -inf, 1, 3};
  check_slope("huber", [](auto a) { return huber(a, 0.0, 2.0); }, tn::tensor<double, shape<2>>{1, 3}, {(0.5 + 4) / 2}, {0.5, 1});
  check_slope("huber", [](auto a) { return huber(a, 0.0); }, x, {inf}, {0.25, -0.25, 0.25, 0.25});
  check_slope("smooth_l1", [](auto a) { return smooth_l1(a, 0.0, 2.0); }, x, {inf}, {0.25, -0.25, 0.125, 0.25});
  check_slope("huber", [](auto a) { return huber(a, 0.0); }, tn::tensor<double, shape<2>>{nan_of_double, 3}, {nan_of_double}, {nan_of_double, 0.5});
}

TEST_CASE("bce_with_logits of infinite logits is 0 where the target agrees, else infinite") {
  const auto loss = [](double logit, double target) {
    return on_device::here(tn::compile([](auto x, auto t) { return bce_with_logits(x, t); })(on_device::there(tn::tensor<double, shape<1>>{logit}), on_device::there(tn::tensor<double, shape<1>>{target}))).item();
  };
  CHECK(loss(inf, 0) == inf);
  CHECK(loss(inf, 1) == 0);
  CHECK(loss(-inf, 0) == 0);
  CHECK(loss(-inf, 1) == inf);
  CHECK(loss(inf, 0.5) == inf);
  CHECK(loss(100, 1) == Approx(std::exp(-100.0)));
  CHECK(loss(-100, 0) == Approx(std::exp(-100.0)));
  const tn::tensor<double, shape<4>> x{0, inf, -inf, 2};
  const double sigmoid_2 = 1 / (1 + std::exp(-2.0));
  check_slope("target 0", [](auto a) { return bce_with_logits(a, 0.0) * 4; }, x, {inf}, {0.5, 1, 0, sigmoid_2});
  check_slope("target 1", [](auto a) { return bce_with_logits(a, 1.0) * 4; }, x, {inf}, {-0.5, 0, -1, sigmoid_2 - 1});
  const tn::tensor<double, shape<4>> t{0, 1, 0.25, 0};
  const auto slopes = tn::grad<0, 1>([](auto a, auto b) { return bce_with_logits(a, b) * 4; })(on_device::there(tn::tensor<double, shape<4>>{0, 2, -3, 100}), on_device::there(t));
  check("d/dx", array_of(on_device::here(std::get<0>(slopes))), {0.5, sigmoid_2 - 1, 1 / (1 + std::exp(3.0)) - 0.25, 1});
  check("d/dt", array_of(on_device::here(std::get<1>(slopes))), {0, -2, 3, -100});
}

TEST_CASE("argmax, argmin, max and min along an axis choose the first NaN, which takes the gradient") {
  const tn::tensor<double, shape<4, 3>> x{{1, nan_of_double, 3}, {nan_of_double, 5, nan_of_double}, {2, 7, 7}, {-inf, -inf, -inf}};
  const auto results = tn::compile([](auto a) {
    return std::tuple{max(a, tn::axis<1>), min(a, tn::axis<1>), tn::grad([](auto b) { return sum(max(b, tn::axis<1>)); })(a), tn::grad([](auto b) { return sum(min(b, tn::axis<1>)); })(a)};
  })(on_device::there(x));
  check("max", array_of(on_device::here(std::get<0>(results))), {nan_of_double, nan_of_double, 7, -inf});
  check("min", array_of(on_device::here(std::get<1>(results))), {nan_of_double, nan_of_double, 2, -inf});
  check("gradient of max", array_of(on_device::here(std::get<2>(results))), {0, 1, 0, 1, 0, 0, 0, 1, 0, 1, 0, 0});
  check("gradient of min", array_of(on_device::here(std::get<3>(results))), {0, 1, 0, 1, 0, 0, 1, 0, 0, 1, 0, 0});
  const auto positions = tn::compile([](auto a) { return std::tuple{argmax(a, tn::axis<1>), argmin(a, tn::axis<1>), argmax(a, tn::axis<0>), argmin(a, tn::axis<0>)}; })(on_device::there(x));
  check("argmax of rows", array_of(on_device::here(std::get<0>(positions))), {1, 0, 1, 0});
  check("argmin of rows", array_of(on_device::here(std::get<1>(positions))), {1, 0, 0, 0});
  check("argmax of columns", array_of(on_device::here(std::get<2>(positions))), {1, 0, 1});
  check("argmin of columns", array_of(on_device::here(std::get<3>(positions))), {1, 0, 1});
}

namespace {
// Row k of x goes through function k.
constexpr auto inverse_functions = [](auto x) {
  return tn::stack<0>(exp2(tn::select<0, 0>(x)), log10(tn::select<0, 1>(x)), tan(tn::select<0, 2>(x)), asin(tn::select<0, 3>(x)), acos(tn::select<0, 4>(x)), asinh(tn::select<0, 5>(x)),
                         acosh(tn::select<0, 6>(x)), atanh(tn::select<0, 7>(x)), erfc(tn::select<0, 8>(x)));
};
constexpr auto slopes_of_inverse_functions = [](auto x) { return tn::grad([](auto v) { return sum(inverse_functions(v)); })(x); };
}  // namespace

TEST_CASE("exp2, log10, tan, the inverse functions and erfc have PyTorch's values and derivatives at the ends of their domains") {
  const double n = nan_of_double, points[] = {0, 0.5, 1, -1, 2, -2, 1e200, inf, -inf, n};
  tn::tensor<double, shape<9, 10>> x = tn::zeros<double>(shape<9, 10>{});
  for (int i = 0; i < 9; ++i)
    for (int j = 0; j < 10; ++j) x[i][j].fill_(points[j]);
  const auto [value, first, second] = tn::compile([](auto v) {
    return std::tuple{inverse_functions(v), slopes_of_inverse_functions(v), tn::grad([](auto w) { return sum(slopes_of_inverse_functions(w)); })(v)};
  })(on_device::there(x));
  // Rows as above.
  check("value", array_of(on_device::here(value)),
        {1, 1.4142135623730951, 2, 0.5, 4, 0.25, inf, inf, 0, n,
         -inf, -0.3010299956639812, 0, n, 0.3010299956639812, n, 200, inf, n, n,
         0, 0.5463024898437905, 1.5574077246549023, -1.5574077246549023, -2.185039863261519, 2.185039863261519, -0.8417321552123704, n, n, n,
         0, 0.5235987755982989, 1.5707963267948966, -1.5707963267948966, n, n, n, n, n, n,
         1.5707963267948966, 1.0471975511965976, 0, 3.141592653589793, n, n, n, n, n, n,
         0, 0.48121182505960347, 0.881373587019543, -0.881373587019543, 1.4436354751788103, -1.4436354751788103, 461.2101657793691, inf, -inf, n,
         n, n, 0, n, 1.3169578969248166, n, 461.2101657793691, inf, n, n,
         0, 0.5493061443340548, inf, -inf, n, n, n, n, n, n,
         1, 0.4795001221869535, 0.15729920705028513, 1.8427007929497148, 0.004677734981047266, 1.9953222650189528, 0, 0, 2, n});
  check("first derivative", array_of(on_device::here(first)),
        {0.6931471805599453, 0.9802581434685472, 1.3862943611198906, 0.34657359027997264, 2.772588722239781, 0.17328679513998632, inf, inf, 0, n,
         inf, 0.8685889638065037, 0.43429448190325187, -0.43429448190325187, 0.21714724095162594, -0.21714724095162594, 4.342944819032519e-201, 0, 0, n,
         1, 1.2984464104095248, 3.42551882081476, 3.42551882081476, 5.774399204041917, 5.774399204041917, 1.708513021118462, n, n, n,
         1, 1.1547005383792517, inf, inf, n, n, n, n, n, n,
         -1, -1.1547005383792517, -inf, -inf, n, n, n, n, n, n,
         1, 0.8944271909999159, 0.7071067811865475, 0.7071067811865475, 0.4472135954999579, 0.4472135954999579, 1e-200, 0, 0, n,
         n, n, inf, inf, 0.5773502691896258, 0.5773502691896258, 1e-200, 0, 0, n,
         1, 1.3333333333333333, inf, inf, -0.3333333333333333, -0.3333333333333333, 0, 0, 0, n,
         -1.1283791670955126, -0.8787825789354448, -0.4151074974205947, -0.4151074974205947, -0.020666985354092053, -0.020666985354092053, 0, 0, 0, n});
  check("second derivative", array_of(on_device::here(second)),
        {0.4804530139182014, 0.6794631683661498, 0.9609060278364028, 0.2402265069591007, 1.9218120556728056, 0.12011325347955035, inf, inf, 0, n,
         -inf, -1.7371779276130073, -0.4342944819032518, -0.4342944819032518, -0.10857362047581295, -0.10857362047581295, 0, 0, 0, n,
         0, 1.4186890138709112, 10.669858944975319, -10.669858944975319, -25.23458489443435, 25.23458489443435, -2.8762206949488824, n, n, n,
         0, 0.7698003589195014, inf, -inf, n, n, n, n, n, n,
         0, -0.7698003589195014, -inf, inf, n, n, n, n, n, n,
         0, -0.3577708763999663, -0.3535533905932737, 0.3535533905932737, -0.17888543819998315, 0.17888543819998315, 0, 0, 0, n,
         n, n, -inf, inf, -0.3849001794597507, 0.3849001794597507, 0, 0, 0, n,
         0, 1.7777777777777777, inf, -inf, 0.4444444444444444, -0.4444444444444444, 0, n, n, n,
         0, 0.8787825789354448, 0.8302149948411894, -0.8302149948411894, 0.08266794141636821, -0.08266794141636821, 0, n, n, n});
}

TEST_CASE("bce has logarithms of at least -100, where its gradient is 0, and keeps NaN") {
  const tn::tensor<double, shape<5>> x{0, 1, 1e-50, 0.25, nan_of_double};
  check_slope("bce, target 1", [](auto p) { return bce(p, ones_like(p), tn::reduction::none); }, x, {100, 0, 100, std::log(4.0), nan_of_double}, {0, -1, 0, -4, nan_of_double});
  check_slope("bce, target 0", [](auto p) { return bce(p, zeros_like(p), tn::reduction::none); }, x, {0, 100, 1e-50, -std::log(0.75), nan_of_double}, {1, 0, 1, 1 / 0.75, nan_of_double});
}

TEST_CASE("bce of float is finite at 0 and 1 also where denormal numbers are flushed") {
  const tn::tensor<float, shape<4>> p{0, 0, 1, 1}, t{0, 1, 0, 1};
  const auto check_losses = [&] {
    const auto [losses, slope] = tn::compile([](auto x, auto y) { return std::tuple{bce(x, y, tn::reduction::none), tn::grad([=](auto a) { return bce(a, y, tn::reduction::sum); })(x)}; })(on_device::there(p), on_device::there(t));
    check("losses", array_of(on_device::here(losses)), {0, 100, 100, 0});
    check("gradient", array_of(on_device::here(slope)), {1, 0, 0, -1});
  };
  check_losses();
  const tn::flush_denormals scope;
  check_losses();
}

TEST_CASE("derivatives of atan2, pow and norm where a square or a power between them is out of range") {
  // In float64 x^2 + y^2 is infinite or 0 for all but the last.
  const tn::tensor<double, shape<6>> y{1e200, 3e-200, 1e-310, -4e307, 1e200, 3}, x{1e200, 4e-200, 0, 3e307, 1, -4};
  const auto [by_y, by_x] = tn::grad<0, 1>([](auto a, auto b) { return sum(atan2(a, b)); })(on_device::there(y), on_device::there(x));
  check("atan2 by y", array_of(on_device::here(by_y)), {0.5e-200, 0.16e200, 0, 1.2e-308, 0, -0.16});
  check("atan2 by x", array_of(on_device::here(by_x)), {-0.5e-200, -0.12e200, -inf, 1.6e-308, -1e-200, -0.12});
  // y - 1 is rounded here, and 700 times its error is in the power.
  const tn::tensor<double, shape<4>> bases{1e-300, 1e300, 1e-300, 0x1p-1000}, exponents{0.001, 0.001, -0.003, 0.4};
  const auto slope = tn::grad<0>(power)(on_device::there(bases), on_device::there(exponents));
  const std::vector<double> wanted{0.001 * std::pow(1e-300, 0.001) / 1e-300, 0.001 * std::pow(1e300, 0.001) / 1e300, -0.003 * std::pow(1e-300, -0.003) / 1e-300, 0.4 * std::pow(0x1p-1000, 0.4) / 0x1p-1000};
  const auto slopes = array_of(on_device::here(slope));
  for (std::int64_t i = 0; i < 4; ++i) {
    INFO("pow, element " << i << ": " << slopes[i] << " instead of " << wanted[static_cast<std::size_t>(i)]);
    CHECK(std::fabs(slopes[i] / wanted[static_cast<std::size_t>(i)] - 1) < 8 * std::numeric_limits<double>::epsilon());
  }
  for (const double unit : {1.0, 1e200, 1e-200, 1e306, 0x1p-1060}) {
    INFO("norm in units of " << unit);
    const tn::tensor<double, shape<2, 3>> v{{3 * unit, 0, -4 * unit}, {12 * unit, 0, 84 * unit}};
    const auto [all, rows, cubes, by_all, by_cubes] = tn::compile([](auto a) {
      return std::tuple{norm(a), norm(a, tn::axis<1>), tn::norm<3>(a), tn::grad([](auto b) { return norm(b); })(a), tn::grad([](auto b) { return tn::norm<3>(b); })(a)};
    })(on_device::there(v));
    const double root = std::cbrt(27.0 + 64 + 1728 + 592704);
    check("norm", array_of(on_device::here(all)), {85 * unit});
    check("norms of rows", array_of(on_device::here(rows)), {5 * unit, std::sqrt(7200.0) * unit});
    check("gradient", array_of(on_device::here(by_all)), {3.0 / 85, 0, -4.0 / 85, 12.0 / 85, 0, 84.0 / 85});
    check("norm<3>", array_of(on_device::here(cubes)), {root * unit});
    check("gradient of norm<3>", array_of(on_device::here(by_cubes)), {9 / (root * root), 0, -16 / (root * root), 144 / (root * root), 0, 7056 / (root * root)});
    const auto clipped = tn::clip_by_global_norm(std::tuple{v.clone(), tn::tensor<double, shape<1>>{0.0}}, 85 * unit / 16);
    check("clipped", array_of(std::get<0>(clipped)), {3 * unit / 16, 0, -unit / 4, 0.75 * unit, 0, 5.25 * unit});
  }
}

// A sum of squares that is in range is not computed again, row by row or for all columns.
TEST_CASE("norms of rows and columns of which some are out of range") {
  constexpr auto norms = [](auto a, auto b) { return std::tuple{norm(a, tn::axis<1>), norm(b, tn::axis<0>), tn::vmap([](auto r) { return norm(r); })(a)}; };
  constexpr auto slopes = tn::grad<0, 1>([](auto a, auto b) { return sum(norm(a, tn::axis<1>)) + sum(norm(b, tn::axis<0>)); });
  const tn::tensor<double, shape<5, 3>> rows{{3, 0, -4}, {3e200, 0, -4e200}, {0, 0, 0}, {3e-200, 4e-200, 0}, {0, 12, 5}};
  const auto columns = tn::eval(transpose(rows));
  agrees(tn::compile(norms), rows, columns);
  agrees(slopes, rows, columns);
  const auto [of_rows, of_columns, of_each] = tn::compile(norms)(on_device::there(rows), on_device::there(columns));
  for (const auto& got : {array_of(on_device::here(of_rows)), array_of(on_device::here(of_columns)), array_of(on_device::here(of_each))}) check("norms", got, {5, 5e200, 0, 5e-200, 13});
  const auto [by_rows, by_columns] = slopes(on_device::there(rows), on_device::there(columns));
  check("slopes of rows", array_of(on_device::here(by_rows)), {0.6, 0, -0.8, 0.6, 0, -0.8, 0, 0, 0, 0.6, 0.8, 0, 0, 12.0 / 13, 5.0 / 13});
  check("slopes of columns", array_of(on_device::here(by_columns)), {0.6, 0.6, 0, 0.6, 0, 0, 0, 0, 0.8, 12.0 / 13, -0.8, -0.8, 0, 0, 5.0 / 13});
  // All in range, beside a NaN and an infinity that the second sum does not meet.
  const auto plain = tn::compile([](auto a) { return std::tuple{norm(a, tn::axis<1>), norm(a, tn::axis<0>)}; })(on_device::there(tn::tensor<float, shape<2, 2>>{{3, 4}, {NAN, INFINITY}}));
  check("beside NaN", array_of(on_device::here(std::get<0>(plain))), {5, nan_of_double});
  check("above NaN", array_of(on_device::here(std::get<1>(plain))), {nan_of_double, inf});
}

TEST_CASE("atan2(0, 0) has gradient NaN, l1 and abs at NaN too, and sign of NaN is NaN") {
  check_slope("atan2(0, 0)", [](auto x) { return atan2(x, zeros_like(x)); }, tn::tensor<double, shape<1>>{0}, {0}, {nan_of_double});
  check_slope("atan2(x, 0)", [](auto x) { return atan2(zeros_like(x), x); }, tn::tensor<double, shape<1>>{0}, {0}, {nan_of_double});
  check_slope("l1", [](auto x) { return l1(x, zeros_like(x), tn::reduction::none); }, tn::tensor<double, shape<3>>{-2, 0, nan_of_double}, {2, 0, nan_of_double}, {-1, 0, nan_of_double});
  check_slope("abs", [](auto x) { return abs(x); }, tn::tensor<double, shape<3>>{-2, 0, nan_of_double}, {2, 0, nan_of_double}, {-1, 0, nan_of_double});
  check_slope("sign", [](auto x) { return sign(x); }, tn::tensor<double, shape<3>>{-2, 0, nan_of_double}, {-1, 0, nan_of_double}, {0, 0, 0});
}

namespace {
constexpr auto beside_choices = [](auto x, auto y) {
  const auto safe = where(y == 0.0, 1.0, y);
  const auto chosen = where(y > 0.0, 2.0, 3.0);
  return std::tuple{x / safe, 3.0 / safe, exp(x) / safe, sum(x) / safe, safe / sum(x), -x / chosen, 0.5 / chosen, exp(x) * chosen, 4.0 - chosen, sum(x) + chosen, chosen / sum(x), chosen / 2.0};
};
constexpr auto total_beside_choices = [](auto x, auto y) { return std::apply([](const auto&... r) { return (sum(r) + ...); }, beside_choices(x, y)); };
}  // namespace

TEST_CASE("whatever stands beside a choice in a sum, a difference, a product or a quotient") {
  const tn::tensor<double, shape<4>> x{1, -2, 0, 3}, y{0, 2, -1, 5};
  agrees(tn::compile(beside_choices), x, y);
  agrees(tn::grad<0, 1>(total_beside_choices), x, y);
  CHECK(tn::eval(3.0 / where(y == 0.0, 1.0, y))(1) == 1.5);
  CHECK((0.5 / norm(x)).item() == Approx(0.5 / std::sqrt(14.0)));
  CHECK((1.0 / stddev(x)).item() == Approx(1 / std::sqrt(13.0 / 3)));
}
