// SPDX-License-Identifier: BSL-1.0
// extern_op in loops, branches and batches: the laws of what the callable computes, and one call for each sample.
#include "external.hpp"

using namespace external_tests;
using vector = tn::tensor<double, tn::shape<3>>;
using judged::agrees_with_reference;

TEST_CASE("external functions in loops, branches and batches") {
  constexpr auto looped = [](auto c, auto xs) {
    const auto turn = [](auto carry, auto x) { return std::tuple{cubed(0.5 * carry + x), sum(cubed(x))}; };
    const auto [last, sums] = tn::scan(turn, c, xs);
    return sum(last) + sum(tn::square(sums));
  };
  constexpr auto unrolled = [](auto c, auto xs) {
    auto total = sum(0.0 * c);
    for (int i = 0; i < 2; ++i) {
      total = total + square(sum(plain(xs[i])));
      c = plain(0.5 * c + xs[i]);
    }
    return sum(c) + total;
  };
  const vector c{0.5, 0.25, 1};
  const tn::tensor<double, tn::shape<2, 3>> xs{{0.5, 0.75, 0.25}, {1, 0.125, 0.5}};
  const auto [gc, gx] = tn::grad<0, 1>(looped)(c, xs);
  const auto [ec, ex] = tn::grad<0, 1>(unrolled)(c, xs);
  for (int i = 0; i < 3; ++i) {
    CHECK(gc(i) == Approx(ec(i)));
    CHECK(gx(1, i) == Approx(ex(1, i)));
  }
  agrees_with_reference("scan", tn::grad<0, 1>(looped), c, xs);
  constexpr auto branched = [](auto x) { return sum(tn::cond(sum(x) > 1.0, [](auto a) { return cubed(a); }, [](auto a) { return a; }, x)); };
  CHECK(tn::grad(branched)(c)(2) == Approx(3));
  // A call for each sample.
  cube::calls = 0;
  const auto batch = tn::vmap(cubed)(xs);
  CHECK(cube::calls == 2);
  CHECK(batch(1, 2) == 0.125);
  const auto each = tn::vmap(tn::grad([](auto x) { return sum(cubed(x) * x); }))(xs);
  CHECK(each(1, 0) == Approx(4));
  CHECK(each(1, 2) == Approx(4 * 0.125));
  agrees_with_reference("vmap of grad", tn::vmap(tn::grad([](auto x) { return sum(cubed(x) * x); })), xs);
  constexpr auto shared = tn::vmap<0, tn::unmapped>([](auto x, auto y) { return std::get<0>(dot_and_bin(x, y, 1)); });
  CHECK(shared(xs, c)(0) == Approx(0.5 * 0.5 + 0.75 * 0.25 + 0.25));
  const auto of_shared = tn::grad<1>([](auto a, auto b) { return sum(tn::vmap<0, tn::unmapped>([](auto x, auto y) { return std::get<0>(dot_and_bin(x, y, 1)); })(a, b)); })(xs, c);
  CHECK(of_shared(0) == 1.5);
}

TEST_CASE("root with an external function in its equation has a value, and derivatives where the function is outside") {
  constexpr auto inside = tn::root([](auto z, auto a) { return z * z - sum(cubed(a)); }, [](auto a) { return sqrt(sum(cubed(a))); });
  static constexpr auto by_value = tn::root([](auto z, auto b) { return z * z - b; }, [](auto b) { return sqrt(b); });
  const vector a{0.5, 0.25, 1};
  const double total = 0.125 + 0.015625 + 1;
  CHECK(tn::compile(inside)(a).item() == Approx(std::sqrt(total)));
  const auto g = tn::grad([](auto x) { return by_value(sum(cubed(x))); })(a);
  for (int i = 0; i < 3; ++i) CHECK(g(i) == Approx(3 * a(i) * a(i) / (2 * std::sqrt(total))));
}
