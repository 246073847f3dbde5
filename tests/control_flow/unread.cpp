// SPDX-License-Identifier: BSL-1.0
// Law: the work and the memory of a gradient do not grow by what nothing reads, in loops and branches; and it has no part in the value.
// tests/fuzz/unread.cpp compares the values of random programs.
#include "reference.hpp"

#include <tenure/tenure.hpp>

namespace tn = tenure;
using number = tn::tensor<double, tn::shape<>>;
using mat = tn::tensor<double, tn::shape<32, 32>>;
using mats = tn::tensor<double, tn::shape<10, 32, 32>>;

namespace {

enum class loop { by_scan, by_count, by_while, bounded, in_branch };

/// A carry, a slice and a capture that the result depends on, and if `Unread` others that it does not depend on: matrices multiplied in each iteration,
/// with an infinite partial derivative.
template <loop How, bool Unread>
constexpr auto trip_count = [](auto x, auto xs, auto m) {
  const auto step = [=](auto a, auto row) { return tn::sin(a) * m + row; };
  const auto unread = [=](auto a, auto b, auto row) { return tn::sqrt(b * a - b * a) + tn::tanh(tn::matmul(b, m + row)); };
  const auto of_state = [=](auto s) {
    if constexpr (Unread) return std::tuple{step(std::get<0>(s), m), unread(std::get<0>(s), std::get<1>(s), m), std::get<2>(s) + 1};
    else return std::tuple{step(std::get<0>(s), m), std::get<1>(s), std::get<2>(s) + 1};
  };
  const auto goes_on = [](auto s) { return std::get<2>(s) < 5; };
  const auto init = std::tuple{x, x, 0};
  if constexpr (How == loop::by_scan) {
    const auto iteration = [=](auto s, auto row) {
      auto [a, b] = s;
      if constexpr (Unread) return std::tuple{std::tuple{step(a, row), unread(a, b, row)}, unread(b, a, row)};
      else return std::tuple{std::tuple{step(a, row), b}, tn::nothing};
    };
    return sum(std::get<0>(std::get<0>(tn::scan(iteration, std::tuple{x, x}, xs))));
  } else if constexpr (How == loop::by_count) {
    return sum(std::get<0>(tn::fori_loop(10, [=](auto, auto s) { return of_state(s); }, init)));
  } else if constexpr (How == loop::by_while) {
    return sum(std::get<0>(tn::while_loop(goes_on, of_state, init)));
  } else if constexpr (How == loop::bounded) {
    return sum(std::get<0>(tn::while_loop(goes_on, of_state, init, tn::at_most<6>)));
  } else {
    const auto y = tn::cond(x[0][0] > 0.0, [=] { return of_state(init); }, [=] { return init; });
    return sum(std::get<0>(y));
  }
};

template <loop How>
void require_no_cost(const mat& x, const mats& xs, const mat& m) {
  using without = decltype(tn::grad<0, 1, 2>(trip_count<How, false>).plan(x, xs, m));
  using with = decltype(tn::grad<0, 1, 2>(trip_count<How, true>).plan(x, xs, m));
  CHECK(with::flops() == without::flops());
  CHECK(with::bytes() == without::bytes());
  CHECK(with::workspace_bytes() == without::workspace_bytes());
}

}  // namespace

TEST_CASE("Law: the work and the memory of a gradient do not grow by what nothing reads") {
  const mat x, m;
  const mats xs;
  SECTION("scan") { require_no_cost<loop::by_scan>(x, xs, m); }
  SECTION("fori_loop") { require_no_cost<loop::by_count>(x, xs, m); }
  SECTION("while_loop") { require_no_cost<loop::by_while>(x, xs, m); }
  SECTION("while_loop with a bound") { require_no_cost<loop::bounded>(x, xs, m); }
  SECTION("cond") { require_no_cost<loop::in_branch>(x, xs, m); }
}

namespace {

/// The first carry only, unrolled.
constexpr auto by_hand = [](auto x) { return tn::sin(tn::sin(tn::sin(x * 0.5) * 0.5) * 0.5); };
constexpr auto two_carries = [](auto c) {
  auto [a, b] = c;
  return std::tuple{tn::sin(a * 0.5), tn::sqrt(b * a - b * a)};
};
constexpr auto counted = [](auto x) { return std::get<0>(tn::fori_loop(3, [](auto, auto c) { return two_carries(c); }, std::tuple{x, x})); };
/// The number that the last iteration makes is not read, and its derivative is infinite. Those of the iterations before are read.
constexpr auto late = [](auto x) {
  return std::get<0>(tn::fori_loop(3, [=](auto i, auto c) { return std::tuple{std::get<0>(c) + std::get<1>(c), tn::sqrt(2.0 * x - tn::cast<double>(i) * x)}; }, std::tuple{x, x}));
};
constexpr auto late_by_hand = [](auto x) { return 2.0 * x + tn::sqrt(2.0 * x) + tn::sqrt(x); };
/// Only the other branch reads the root.
constexpr auto beside_a_branch = [](auto x) {
  const auto r = tn::sqrt(x);
  return tn::cond(x > 0.0, [=] { return r; }, [=] { return 3.0 * x; });
};

/// The first iteration takes the root of a constant.
constexpr auto of_constant = [](auto x) {
  return std::get<1>(tn::fori_loop(2, [](auto, auto c) { return std::tuple{std::get<0>(c), tn::sqrt(std::get<1>(c)) + std::get<0>(c)}; }, std::tuple{x, 0.0}));
};
/// At x = 1 the cotangent of the logarithm is 0, but its derivative is not.
constexpr auto at_zero = [](auto x) {
  const auto r = tn::log(x);
  return tn::cond(x > 0.0, [=] { return r * r; }, [=] { return x; });
};

}  // namespace

TEST_CASE("a cotangent or a tangent that is not there meets no infinite partial derivative") {
  const number x{0.9};
  const double wanted = tn::grad(by_hand)(x).item();
  CHECK(tn::grad(counted)(x).item() == Approx(wanted));
  CHECK(tn::grad(tn::checkpoint(counted))(x).item() == Approx(wanted));
  const tn::tensor<double, tn::shape<2>> two{0.9, 0.9};
  CHECK(tn::grad([](auto v) { return sum(tn::vmap(counted)(v)); })(two)[1].item() == Approx(wanted));
  CHECK(tn::grad(late)(x).item() == Approx(tn::grad(late_by_hand)(x).item()));
  CHECK(tn::grad(beside_a_branch)(number{0.0}).item() == 3);
  CHECK(tn::grad(of_constant)(x).item() == Approx(1 + 0.5 / std::sqrt(0.9)));
  CHECK(std::get<1>(tn::jvp(of_constant)(x, number{1.0})).item() == Approx(1 + 0.5 / std::sqrt(0.9)));
  CHECK(tn::grad(tn::grad(at_zero))(number{1.0}).item() == 2);
  judged::agrees_with_reference("counted", [](auto v) { return tn::grad(counted)(v); }, x);
  judged::agrees_with_reference("late", [](auto v) { return tn::grad(late)(v); }, x);
}

namespace {

/// Two results, one of which is not read. A rule of one's own sees zeros for it.
constexpr auto both = [](auto x) { return std::tuple{tn::sin(x), tn::sqrt(x - x)}; };
/// Its backward shows what it gets for the second result.
constexpr auto by_vjp = tn::custom_vjp(both, [](auto x, auto g) { return tn::cos(x) * std::get<0>(g) + tn::where(std::get<1>(g) == 0.0, 0.0 * x, x / (x - x)); });
constexpr auto by_jvp = tn::custom_jvp(both, [](auto x, auto t) { return std::tuple{both(x), std::tuple{tn::cos(x) * t, t / (x - x)}}; });

}  // namespace

TEST_CASE("a rule of a function of several results gets zeros for those without a cotangent, and its other parts meet nothing") {
  const number x{0.9};
  const double wanted = std::cos(0.9);
  CHECK(tn::grad([](auto v) { return std::get<0>(by_vjp(v)); })(x).item() == Approx(wanted));
  CHECK(tn::grad([](auto v) { return std::get<0>(by_jvp(v)); })(x).item() == Approx(wanted));
  CHECK(tn::grad([](auto v) { return std::get<0>(tn::fori_loop(1, [=](auto, auto) { return by_jvp(v); }, std::tuple{v, v})); })(x).item() == Approx(wanted));
}

namespace {

/// A function of C++ with two results. Its backward shows what it gets for the second one.
constexpr auto outside = tn::extern_op(
    [](double& y, double& z, double x) noexcept {
      y = std::sin(x);
      z = std::sqrt(x - x);
    },
    std::tuple{tn::like<0>, tn::like<0>}, [](auto x, auto, auto g) { return tn::cos(x) * std::get<0>(g) + tn::where(std::get<1>(g) == 0.0, 0.0 * x, x / (x - x)); });
/// The derivative in b is infinite at b = 0.
constexpr auto moved = tn::root([](auto z, auto a, auto b) { return z - a - tn::sqrt(b); }, [](auto a, auto b) { return a + tn::sqrt(b); });
/// At 0 its equation has the derivative 0, so that the root has an infinite one.
constexpr auto singular = tn::root([](auto z, auto a) { return z * z - a; }, [](auto a) { return tn::sqrt(a); });
constexpr auto beside_a_root = [](auto x) { return std::tuple{tn::sin(x), singular(x - x)}; };

/// The first result of f, alone, as the carry of a loop whose other carry nothing reads, and of a branch.
template <class F>
void require_first_slope(F, double wanted) {
  const number x{0.9};
  const tn::tensor<double, tn::shape<2>> two{0.9, 0.9};
  CHECK(tn::grad([](auto v) { return std::get<0>(F{}(v)); })(x).item() == Approx(wanted));
  CHECK(tn::grad([](auto v) { return std::get<0>(tn::fori_loop(1, [](auto, auto c) { return F{}(std::get<0>(c)); }, std::tuple{v, v})); })(x).item() == Approx(wanted));
  CHECK(tn::grad([](auto v) { return std::get<0>(tn::cond(v > 0.0, F{}, [](auto w) { return std::tuple{w, w}; }, v)); })(x).item() == Approx(wanted));
  CHECK(tn::grad([](auto v) { return sum(std::get<0>(tn::vmap(F{})(v))); })(two)[1].item() == Approx(wanted));
}

}  // namespace

TEST_CASE("of an extern_op and a root, what has no cotangent meets no infinite partial derivative") {
  require_first_slope(outside, std::cos(0.9));
  require_first_slope(beside_a_root, std::cos(0.9));
  const number a{2.0}, b{0.0};
  CHECK(tn::grad<0>(moved)(a, b).item() == 1);
  CHECK(std::isinf(tn::grad<1>(moved)(a, b).item()));
  CHECK(tn::grad([](auto v, auto w) { return std::get<0>(tn::fori_loop(2, [=](auto, auto c) { return std::tuple{moved(std::get<0>(c), w), std::get<1>(c)}; }, std::tuple{v, v})); })(a, b).item() == 1);
}

namespace {

/// A rule whose partial in b is infinite at b = 0.
constexpr auto plus_root = tn::custom_jvp([](auto a, auto b) { return a + tn::sqrt(b); },
                                          [](auto a, auto b, auto da, auto db) { return std::tuple{a + tn::sqrt(b), da + db * 0.5 / tn::sqrt(b)}; });
/// The same with a loop and a branch over the tangents, and another rule.
constexpr auto by_loop = tn::custom_jvp([](auto a, auto b) { return a + tn::sqrt(b); }, [](auto a, auto b, auto da, auto db) {
  const auto t = tn::fori_loop(2, [=](auto, auto c) { return std::tuple{std::get<0>(c) + 0.5 * da, std::get<1>(c) + db * 0.25 / tn::sqrt(b)}; }, std::tuple{0.0 * da, 0.0 * db});
  return std::tuple{a + tn::sqrt(b), std::get<0>(t) + std::get<1>(t)};
});
constexpr auto by_branch = tn::custom_jvp([](auto a, auto b) { return a + tn::sqrt(b); }, [](auto a, auto b, auto da, auto db) {
  return std::tuple{a + tn::sqrt(b), tn::cond(a > 0.0, [=] { return da + db * 0.5 / tn::sqrt(b); }, [=] { return db; })};
});
constexpr auto by_rule = tn::custom_jvp([](auto a, auto b) { return a + tn::sqrt(b); }, [](auto a, auto b, auto da, auto db) {
  const auto [y, t] = tn::jvp(moved)(a, b, da, db);
  return std::tuple{y, t};
});
/// A result for each argument. Nothing links one with the other.
constexpr auto side_by_side = tn::custom_jvp([](auto a, auto b) { return std::tuple{1.0 * a, tn::sqrt(b)}; }, [](auto a, auto b, auto da, auto db) {
  return std::tuple{std::tuple{1.0 * a, tn::sqrt(b)}, std::tuple{1.0 * da, db * 0.5 / tn::sqrt(b)}};
});
constexpr auto both_carries = [](auto a, auto b) {
  const auto c = tn::fori_loop(1, [](auto, auto s) { return side_by_side(std::get<0>(s), std::get<1>(s)); }, std::tuple{a, b});
  return std::get<0>(c) + tn::sqrt(std::get<1>(c));
};
/// Rules that have no derivative along the tangents.
constexpr auto twice_outside = tn::extern_op([](double& y, double x) noexcept { y = 2 * x; }, tn::like<0>, [](auto, auto, auto g) { return 2.0 * g; });
constexpr auto by_extern = tn::custom_jvp([](auto a, auto b) { return 2.0 * a + b; }, [](auto a, auto b, auto da, auto db) { return std::tuple{2.0 * a + b, twice_outside(da) + db}; });
constexpr auto twice_by_vjp = tn::custom_vjp([](auto x) { return 2.0 * x; }, [](auto, auto g) { return 2.0 * g; });
constexpr auto by_backward = tn::custom_jvp([](auto a, auto b) { return 2.0 * a + b; }, [](auto a, auto b, auto da, auto db) {
  return std::tuple{2.0 * a + b, tn::fori_loop(1, [=](auto, auto t) { return t + twice_by_vjp(da); }, db)};
});
constexpr auto by_stop = tn::custom_jvp([](auto a, auto b) { return 2.0 * a + b; }, [](auto a, auto b, auto da, auto db) { return std::tuple{2.0 * a + b, da + tn::stop_gradient(da) + db}; });

/// The slope of f in a at (2, 0), where b does not move: alone, and in loops, branches, checkpoints, batches and derivatives.
template <class F>
void require_slope(F f, double wanted) {
  const number a{2.0}, b{0.0}, one{1.0};
  const tn::tensor<double, tn::shape<2>> two{2.0, 2.0}, none{0.0, 0.0}, ones{1.0, 1.0};
  CHECK(std::get<1>(tn::jvp<0>(f)(a, b, one)).item() == wanted);
  CHECK(std::get<1>(tn::jvp<0>([](auto x, auto y) { return tn::fori_loop(1, [=](auto, auto c) { return F{}(c, y); }, x); })(a, b, one)).item() == wanted);
  CHECK(std::get<1>(tn::jvp<0>([](auto x, auto y) { return tn::cond(x > 0.0, [=] { return F{}(x, y); }, [=] { return x; }); })(a, b, one)).item() == wanted);
  CHECK(std::get<1>(tn::jvp<0>(tn::checkpoint(f))(a, b, one)).item() == wanted);
  CHECK(std::get<1>(tn::jvp<0>(tn::vmap(f))(two, none, ones))[1].item() == wanted);
}
template <class F>
void require_slope_of_slope(F) {
  const number a{2.0}, b{0.0}, one{1.0};
  CHECK(std::get<1>(tn::jvp<0>([](auto x, auto y) { return std::get<1>(tn::jvp<0>(F{})(x, y, x)); })(a, b, one)).item() == 1);
  CHECK(tn::grad<0>([](auto x, auto y) { return std::get<1>(tn::jvp<0>(F{})(x, y, x)); })(a, b).item() == 1);
  CHECK(tn::hessian<0>([](auto x, auto y) { return x * F{}(x, y); })(a, b).item() == 2);
}

}  // namespace

TEST_CASE("of a rule, an argument that does not move has no tangent, and that is not a tangent of zeros") {
  require_slope(moved, 1);
  require_slope(plus_root, 1);
  require_slope(by_loop, 1);
  require_slope(by_branch, 1);
  require_slope(by_rule, 1);
  require_slope(both_carries, 1);
  require_slope_of_slope(moved);
  require_slope_of_slope(plus_root);
  const number a{2.0}, b{0.0}, one{1.0};
  CHECK(std::isinf(std::get<1>(tn::jvp<1>(moved)(a, b, one)).item()));
  const auto [value, slope] = tn::jvp<0>(side_by_side)(a, b, one);
  CHECK(std::get<0>(slope).item() == 1);
  CHECK(std::get<1>(slope).item() == 0);
}

TEST_CASE("a rule without a derivative along its tangents gets zeros for those that are not there") {
  require_slope(by_backward, 2);
  require_slope(by_stop, 2);
  const number a{2.0}, b{0.0}, one{1.0};
  CHECK(std::get<1>(tn::jvp<0>(by_extern)(a, b, one)).item() == 2);
  CHECK(std::get<1>(tn::jvp<1>(by_extern)(a, b, one)).item() == 1);
  CHECK(tn::grad<0>([](auto x, auto y) { return std::get<1>(tn::jvp<0>(by_extern)(x, y, x)); })(a, b).item() == 2);
}

namespace {

/// The first iteration takes the rule at a constant.
constexpr auto rule_of_constant = [](auto x) {
  return std::get<0>(tn::fori_loop(2, [=](auto, auto c) { return std::tuple{plus_root(std::get<0>(c), std::get<1>(c)), x}; }, std::tuple{x, 0.0}));
};
/// The number that the last iteration makes by the rule is not read, and its derivative is infinite. That of the first is read.
constexpr auto late_rule = [](auto x) {
  return std::get<0>(tn::fori_loop(2, [=](auto i, auto c) { return std::tuple{std::get<0>(c) + std::get<1>(c), plus_root(std::get<0>(c), x - tn::cast<double>(i) * x)}; }, std::tuple{x, x}));
};

}  // namespace

TEST_CASE("a rule in iterations that have no tangent or cotangent gives zeros there") {
  const number x{0.9};
  const double of_root = 0.5 / std::sqrt(0.9);
  CHECK(std::get<1>(tn::jvp(rule_of_constant)(x, number{1.0})).item() == Approx(1 + of_root));
  CHECK(tn::grad(rule_of_constant)(x).item() == Approx(1 + of_root));
  CHECK(tn::grad(late_rule)(x).item() == Approx(3 + of_root));
}
