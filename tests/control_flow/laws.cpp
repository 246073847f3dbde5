// SPDX-License-Identifier: BSL-1.0
// Loops and branches against the unrolled program, to rounding (bits.cpp has the bits), and against the reference backend, which runs the graph
// as it was written.
#include "reference.hpp"

namespace tn = tenure;
using vector = tn::tensor<double, tn::shape<3>>;
using number = tn::tensor<double, tn::shape<>>;
using judged::agrees_with_reference;

namespace {

// ---- a recurrence with a capture, as a scan and unrolled ---------------------------------------------------------------

constexpr auto step = [](auto c, auto x, auto w) { return tn::tanh(c * w + x) * c + 1.0; };

constexpr auto looped = [](auto w, auto xs) {
  auto [c, ys] = tn::scan(
      [=](auto c, auto x) {
        auto n = step(c, x, w);
        return std::tuple{n, tn::sin(n) * w};
      },
      w * w, xs);
  return c * c + tn::sum(ys * ys);
};
constexpr auto unrolled = [](auto w, auto xs) {
  auto c = w * w;
  auto s = w * 0.0;
  for (int i = 0; i < 3; ++i) {
    c = step(c, xs(i), w);
    auto y = tn::sin(c) * w;
    s = s + y * y;
  }
  return c * c + s;
};
constexpr auto by_scan = [](auto x, auto layers) {
  return std::get<0>(tn::scan([](auto h, auto w) { return std::tuple{tn::matmul(h, w), tn::nothing}; }, x, layers));
};
constexpr auto looped_with_stack = [](auto w, auto xs) {
  return tn::scan([=](auto c, auto x) { return std::tuple{step(c, x, w), c * 2.0}; }, w * w, xs);
};

}  // namespace

TEST_CASE("Law: scan is the unrolled loop: value, gradients, tangent, second derivative") {
  const vector xs = {0.3, -0.2, 0.5};
  const double w = 0.7;
  CHECK(tn::compile(looped)(w, xs).item() == Approx(tn::compile(unrolled)(w, xs).item()).epsilon(1e-14));
  const auto [value, dw, dx] = tn::value_and_grad<0, 1>(looped)(w, xs);
  const auto [expected, ew, ex] = tn::value_and_grad<0, 1>(unrolled)(w, xs);
  CHECK(value.item() == Approx(expected.item()).epsilon(1e-14));
  CHECK(dw.item() == Approx(ew.item()).epsilon(1e-13));
  for (int i = 0; i < 3; ++i) CHECK(dx.data()[i] == Approx(ex.data()[i]).epsilon(1e-13));
  CHECK(std::get<1>(tn::jvp(looped)(w, xs, 1.0, xs)).item() == Approx(std::get<1>(tn::jvp(unrolled)(w, xs, 1.0, xs)).item()).epsilon(1e-13));
  CHECK(tn::grad(tn::grad(looped))(w, xs).item() == Approx(tn::grad(tn::grad(unrolled))(w, xs).item()).epsilon(1e-12));
}

TEST_CASE("loops and branches, and their derivatives, agree with the reference backend") {
  const vector xs = {0.3, -0.2, 0.5};
  agrees_with_reference("scan", looped_with_stack, 0.7, xs);
  agrees_with_reference("gradient of scan", tn::value_and_grad<0, 1>(looped).function, 0.7, xs);
  agrees_with_reference("second derivative of scan", tn::grad(tn::grad(looped)).function, 0.7, xs);
  agrees_with_reference("a fori_loop in a scan, with its gradient", tn::value_and_grad<0, 1>([](auto w, auto xs) {
    return std::get<0>(tn::scan(
        [=](auto c, auto x) {
          return std::tuple{tn::fori_loop(3, [=](auto i, auto k) { return tn::sin(k * w) + x * tn::cast<double>(i); }, c), tn::nothing};
        },
        w, xs));
  }).function, 0.7, xs);
  agrees_with_reference("a cond in a scan, with its gradient", tn::value_and_grad<0, 1>([](auto w, auto xs) {
    return std::get<0>(tn::scan(
        [=](auto c, auto x) {
          return std::tuple{tn::cond(x > 0.0, [=](auto a) { return a * w + x; }, [=](auto a) { return tn::exp(a * x); }, c), tn::nothing};
        },
        w * w, xs));
  }).function, 0.7, xs);
  agrees_with_reference("a matrix product in a scan, with its gradient", tn::value_and_grad<0, 1>([](auto a, auto xs) {
    auto [c, ys] = tn::scan(
        [=](auto c, auto x) {
          auto n = tn::tanh(tn::matmul(a, c) + x);
          return std::tuple{n, tn::sum(n)};
        },
        a, xs);
    return tn::sum(c) + tn::sum(ys * ys);
  }).function, tn::tensor<double, tn::shape<2, 2>>{{0.5, -0.3}, {0.2, 0.9}}, xs);
  agrees_with_reference("while_loop", [](auto x) {
    return tn::while_loop([](auto s) { return tn::sum(std::get<0>(s)) < 50.0; },
                          [=](auto s) { return std::tuple{std::get<0>(s) * 1.5 + x, std::get<1>(s) + 1}; }, std::tuple{x, std::int64_t{0}});
  }, vector{1, 2, 3});
  agrees_with_reference("tangent of while_loop", tn::jvp([](auto x) {
    return tn::while_loop([](auto c) { return tn::sum(c) < 50.0; }, [=](auto c) { return c * 1.5 + x * c; }, x);
  }).function, vector{1, 2, 3}, vector{1, -1, 0.5});
}

// A loop reads the rows of its arrays one behind the other, and the columns of a part of a concat lie between those of others.
TEST_CASE("a loop reads an array that is also a part of a concat") {
  agrees_with_reference("a part", [](auto x) {
    const auto a = exp(x);
    const auto s = tn::scan([](auto c, auto row) { return std::tuple{c + row, tn::nothing}; }, tn::zeros_like(x[0]), a);
    return std::tuple{tn::concat<1>(a, sin(x)), std::get<0>(s)};
  }, tn::tensor<double, tn::shape<3, 4>>{{1, -2, 3, 0.5}, {0.1, 0.2, -0.3, 0.4}, {-1, 2, 0.25, -0.75}});
  agrees_with_reference("the gradient of columns", tn::grad([](auto x) {
    const auto ys = std::get<1>(tn::scan([](auto c, auto e) {
      const auto n = sin(c) + e;
      return std::tuple{n, n};
    }, 0.0, x.at(tn::all, 0)));
    return sum(cos(ys + x.at(tn::all, 1)) * x.at(tn::all, 2));
  }).function, tn::tensor<double, tn::shape<4, 3>>{{1, -2, 3}, {0.1, 0.2, -0.3}, {-1, 2, 0.25}, {0.7, 0.6, 0.5}});
}

TEST_CASE("0 iterations give init and empty ys; 1 iteration is the function") {
  tn::tensor<double, tn::shape<tn::dyn>> none = tn::zeros<double>(tn::shape<tn::dyn>{}, 0);
  const auto sum = [](auto c, auto x) { return std::tuple{c + x, c * x}; };
  const auto [c, ys] = tn::scan(sum, number(2.0), none);
  CHECK(c.item() == 2);
  CHECK(ys.size() == 0);
  tn::tensor<double, tn::shape<tn::dyn>> one = tn::ones<double>(tn::shape<tn::dyn>{}, 1);
  const auto [d, zs] = tn::scan(sum, number(2.0), one);
  CHECK(d.item() == 3);
  REQUIRE(zs.size() == 1);
  CHECK(zs.data()[0] == 2);
  CHECK(tn::compile([](auto x) { return tn::fori_loop(0, [](auto, auto c) { return c * 2.0; }, x); })(1.5).item() == 1.5);
}

TEST_CASE("a reversed scan starts at the last slice, and ys keep the order of xs") {
  const vector xs = {1, 2, 3};
  const auto [c, ys] = tn::scan([](auto c, auto x) { return std::tuple{c * 10.0 + x, c}; }, number(0.0), xs, {.reverse = true});
  CHECK(c.item() == 321);
  CHECK(ys.data()[0] == 32);
  CHECK(ys.data()[1] == 3);
  CHECK(ys.data()[2] == 0);
}

TEST_CASE("carries that swap places, and carries that the body reads after it wrote others") {
  const vector xs = {1, 1, 1};
  const auto [last, ys] = tn::scan(
      [](auto s, auto x) {
        auto [a, b] = s;
        return std::tuple{std::tuple{b + x, tn::flip<0>(a)}, a};
      },
      std::tuple{vector{1, 2, 3}, vector{10, 20, 30}}, xs);
  const auto& [a, b] = last;
  // iteration 1: (11, 21, 31), (3, 2, 1); iteration 2: (4, 3, 2), (31, 21, 11); iteration 3: (32, 22, 12), (2, 3, 4)
  CHECK(a.data()[0] == 32);
  CHECK(a.data()[2] == 12);
  CHECK(b.data()[0] == 2);
  CHECK(b.data()[2] == 4);
  CHECK(ys.data()[6] == 4);
}

TEST_CASE("layers in an array: one body for all of them") {
  std::array<tn::tensor<double, tn::shape<2, 2>>, 3> layers = {tn::tensor<double, tn::shape<2, 2>>{{1, 2}, {0, 1}}, tn::tensor<double, tn::shape<2, 2>>{{0, 1}, {1, 0}},
                                                               tn::tensor<double, tn::shape<2, 2>>{{2, 0}, {0, 3}}};
  const auto y = tn::compile(by_scan)(tn::tensor<double, tn::shape<1, 2>>{{1, 1}}, layers);  // (1, 3), (3, 1), (6, 3)
  CHECK(y.data()[0] == 6);
  CHECK(y.data()[1] == 3);
  const auto g = tn::grad<1>([](auto x, auto layers) { return tn::sum(by_scan(x, layers)); })(tn::tensor<double, tn::shape<1, 2>>{{1, 1}}, layers);
  CHECK(g[2].data()[0] == 3);  // the second layer's output
  CHECK(g[2].data()[3] == 1);
}

TEST_CASE("indices: scanned labels are checked before the call writes, a carried index in its iteration") {
  const vector table = {10, 20, 30};
  tn::tensor<std::int64_t, tn::shape<4>> labels = {0, 2, 1, 2};
  constexpr auto look_up = tn::compile([](auto table, auto labels) {
    return tn::scan([=](auto c, auto i) { return std::tuple{c + tn::gather<0>(table, i), c}; }, tn::sum(table) * 0.0, labels);
  });
  CHECK(std::get<0>(look_up(table, labels)).item() == 90);
  labels[3] = std::int64_t{3};
  CHECK_THROWS_AS(look_up(table, labels), tn::index_error);

  constexpr auto chase = tn::compile([](auto next, auto start) {
    return tn::fori_loop(3, [=](auto, auto i) { return tn::gather<0>(next, i); }, start);
  });
  tn::tensor<std::int64_t, tn::shape<3>> next = {1, 2, 0};
  CHECK(chase(next, std::int64_t{1}).item() == 1);
  next[2] = std::int64_t{7};
  tn::tensor<std::int64_t, tn::shape<>> target = std::int64_t{-5};
  CHECK_THROWS_AS(chase.into(target)(next, std::int64_t{1}), tn::index_error);
  CHECK(target.item() == -5);
}

TEST_CASE("cond runs one branch, and its gradient takes the same branch") {
  constexpr auto f = [](auto x, auto y) { return tn::cond(x < y, [=] { return x * y; }, [=] { return tn::log(x) * 3.0; }); };
  CHECK(tn::compile(f)(2.0, 5.0).item() == 10);
  const auto [a, b] = tn::grad<0, 1>(f)(2.0, 5.0);
  CHECK(a.item() == 5);
  CHECK(b.item() == 2);
  const auto [c, d] = tn::grad<0, 1>(f)(6.0, 5.0);
  CHECK(c.item() == Approx(0.5));
  CHECK(d.item() == 0);
}

TEST_CASE("with tensors, or with numbers, a fori_loop runs at once") {
  const auto twice = [](auto i, auto c) { return c * 2.0 + tn::cast<double>(i); };
  const vector y = tn::fori_loop(3, twice, vector{1, 2, 3});
  CHECK(y.data()[0] == 12);  // 2, 5, 12
  CHECK(y.data()[2] == 28);
  CHECK(tn::fori_loop(3, twice, 1.0).item() == 12);
  CHECK(tn::fori_loop(-1, twice, 1.0).item() == 1);
}

TEST_CASE("with tensors, or with numbers, a branch, a while_loop and a scan run at once") {
  const auto half = [](auto c) { return c * 0.5; };
  const auto negated = [](auto c) { return -c; };
  const vector x{1, 2, 3};
  const vector halves = tn::cond(true, half, negated, x), signs = tn::cond(false, half, negated, x);
  CHECK(halves.data()[2] == 1.5);
  CHECK(signs.data()[2] == -3);
  CHECK(tn::while_loop([](auto c) { return c > 1.0; }, half, 12.0).item() == 0.75);  // 6, 3, 1.5, 0.75
  const auto [total, partial] = tn::scan([](auto c, auto each) { return std::tuple{c + each, c}; }, 10.0, x);
  CHECK(total.item() == 16);
  CHECK(partial.data()[0] == 10);
  CHECK(partial.data()[2] == 13);
  const auto [all, suffixes] = tn::scan([](auto c, auto each) { return std::tuple{c + each, c}; }, 10.0, x, {.reverse = true});
  CHECK(all.item() == 16);
  CHECK(suffixes.data()[0] == 15);
}

TEST_CASE("switch_case runs the function of the index; an index outside is the nearest inside; its gradient takes the same function") {
  constexpr auto f = [](auto i, auto x) {
    return tn::switch_case(i, [](auto x) { return x * 2.0; }, [](auto x) { return x * x; }, [](auto x) { return tn::exp(x); }, [](auto x) { return -x; }, x);
  };
  const auto call = tn::compile(f);
  const auto slope = tn::grad<1>(f);
  const double values[] = {6, 6, 9, std::exp(3.0), -3, -3}, slopes[] = {2, 2, 6, std::exp(3.0), -1, -1};
  for (std::int64_t i = -1; i < 5; ++i) {
    INFO("index " << i);
    CHECK(call(i, 3.0).item() == Approx(values[i + 1]));
    CHECK(slope(i, 3.0).item() == Approx(slopes[i + 1]));
  }
  CHECK(tn::switch_case(std::int64_t{1}, [](auto x) { return x + 1.0; }, [](auto x) { return x * 5.0; }, number(2.0)).item() == 10);
}
