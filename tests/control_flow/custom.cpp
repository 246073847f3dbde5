// SPDX-License-Identifier: BSL-1.0
// Functions with derivative rules of their own: custom_jvp and custom_vjp.
#include "reference.hpp"

namespace tn = tenure;
using vector = tn::tensor<double, tn::shape<3>>;
using number = tn::tensor<double, tn::shape<>>;
using judged::agrees_with_reference;

namespace {

// ---- one function without a rule, with the derived rules, and with rules that differ -----------------------------------

constexpr auto plain = [](auto x, auto y) { return tn::tanh(x) * y + tn::sin(y); };
constexpr auto by_jvp = tn::custom_jvp(plain, [](auto x, auto y, auto tx, auto ty) {
  const auto t = tn::tanh(x);
  return std::tuple{t * y + tn::sin(y), (1.0 - t * t) * y * tx + (t + tn::cos(y)) * ty};
});
constexpr auto by_vjp = tn::custom_vjp(
    plain, [](auto x, auto y) { return std::tuple{plain(x, y), std::tuple{tn::tanh(x), y}}; },
    [](auto kept, auto g) {
      const auto t = std::get<0>(kept), y = std::get<1>(kept);
      return std::tuple{g * y * (1.0 - t * t), g * (t + tn::cos(y))};
    });
/// The rows of a pair's first part, and the second part, by a backward of the arguments. The cotangents are none that a derivative gives; the index has none.
constexpr auto row_and_number = tn::custom_vjp([](auto pair, auto i) { return std::tuple{tn::gather<0>(std::get<0>(pair), i), std::get<1>(pair)}; },
                                               [](auto pair, auto, auto g) { return std::tuple{std::tuple{std::get<0>(pair) * std::get<1>(g), 7.0}, tn::nothing}; });
/// The rule of by_vjp, of the arguments.
constexpr auto by_arguments = tn::custom_vjp(plain, [](auto x, auto y, auto g) {
  const auto t = tn::tanh(x);
  return std::tuple{g * y * (1.0 - t * t), g * (t + tn::cos(y))};
});
/// The value of x. Cotangents are cut to [-1, 1] on their way back.
constexpr auto clipped = tn::custom_vjp([](auto x) { return x; }, [](auto x) { return std::tuple{x, tn::nothing}; },
                                        [](auto, auto g) { return tn::minimum(tn::maximum(g, -1.0), 1.0); });
/// log(1 + exp(x)) without overflow in its derivatives.
constexpr auto log1pexp = tn::custom_jvp([](auto x) { return tn::log(1.0 + tn::exp(x)); },
                                         [](auto x, auto t) { return std::tuple{tn::log(1.0 + tn::exp(x)), t / (1.0 + tn::exp(-x))}; });

/// The values of round, the derivative of x: a straight-through estimator.
constexpr auto rounded = tn::custom_jvp([](auto x) { return tn::floor(x + 0.5); }, [](auto x, auto t) { return std::tuple{tn::floor(x + 0.5), t}; });
/// The rows of a pair's first part. Their derivative is twice the right one, that of the second part is the sum, and the indices have none.
constexpr auto rows = tn::custom_vjp([](auto pair, auto i) { return std::tuple{tn::gather<0>(std::get<0>(pair), i), i}; },
                                     [](auto pair, auto i) { return std::tuple{std::tuple{tn::gather<0>(std::get<0>(pair), i), i}, i}; },
                                     [](auto, auto g) {
                                       const auto first = std::get<0>(g);
                                       const auto of_source = 2.0 * tn::stack(first(1), 0.0 * first(0), first(0));
                                       return std::tuple{std::tuple{of_source, tn::sum(first)}, tn::nothing};
                                     });

// In a loss, in a scan with a capture, in a cond.
template <class F>
struct loss_of {
  constexpr auto operator()(auto x, auto y) const { return tn::sum(F{}(F{}(x, y), x) * y); }
};
template <class F>
struct scan_of {
  constexpr auto operator()(auto x, auto y) const {
    const auto iteration = [=](auto c, auto each) { return std::tuple{F{}(c, x) * each, tn::sum(F{}(x, c))}; };
    const auto both = tn::scan(iteration, x, tn::stack(y, x));
    return tn::sum(std::get<0>(both) * x) + tn::sum(tn::square(std::get<1>(both)));
  }
};
template <class F>
struct cond_of {
  constexpr auto operator()(auto x, auto y) const {
    return tn::sum(tn::cond(tn::sum(x) > 0.0, [=](auto a) { return F{}(a, y); }, [=](auto a) { return F{}(y, a * 2.0); }, x));
  }
};
/// The value, both gradients and a second derivative.
template <class F>
struct derivatives {
  constexpr auto operator()(auto x, auto y) const {
    const auto along = [](auto a, auto b) { return tn::sum(tn::grad<0>(F{})(a, b) * b); };
    return std::tuple{tn::value_and_grad<0, 1>(F{})(x, y), tn::grad<0, 1>(along)(x, y)};
  }
};
/// The tangent of a gradient.
template <class F>
struct tangent_of_gradient {
  constexpr auto operator()(auto x, auto y) const { return tn::jvp(tn::grad<0>(F{}))(x, y, y, x); }
};
/// The same, and a tangent.
template <class F>
struct tangents {
  constexpr auto operator()(auto x, auto y) const { return std::tuple{tn::jvp(F{})(x, y, y, x), tangent_of_gradient<F>{}(x, y)}; }
};
/// Over a batch: the second argument is shared, and a value of each sample is captured.
template <class F>
struct batch_of {
  constexpr auto operator()(auto x, auto y) const {
    const auto xs = tn::stack(x, y * 2.0, x - y);
    const auto rows = tn::vmap<0, tn::unmapped>([=](auto a, auto b) { return F{}(a * tn::sum(x), b) + F{}(b, a); })(xs, y);
    const auto total = [](auto u, auto v) { return tn::sum(F{}(u, v)); };
    const auto slopes = tn::vmap([=](auto a) { return tn::sum(tn::grad<0>(total)(a, a * a)); })(xs);
    return tn::sum(tn::sin(rows)) + tn::sum(slopes);
  }
};
using no_rule = std::remove_const_t<decltype(plain)>;
using jvp_rule = std::remove_const_t<decltype(by_jvp)>;
using vjp_rule = std::remove_const_t<decltype(by_vjp)>;
using rule_of_arguments = std::remove_const_t<decltype(by_arguments)>;

/// The results of both by the reference backend, also after the passes. Neither is compiled, which would take a minute.
template <class A, class B, class... X>
void same(const char* what, A f, B g, const X&... x) {
  INFO(what);
  const auto found = judged::interpreted(f, x...), expected = judged::interpreted(g, x...);
  REQUIRE(found.size() == expected.size());
  for (std::size_t r = 0; r < found.size(); ++r)
    for (std::int64_t i = 0; i < expected[r].size(); ++i) {
      INFO("result " << r << " element " << i);
      CHECK(found[r][i] == Approx(expected[r][i]).epsilon(1e-12).margin(1e-12));
    }
}

void are_numbers(const std::vector<tn::reference::array>& found, std::initializer_list<double> expected) {
  REQUIRE(found.size() == expected.size());
  std::size_t r = 0;
  for (const double e : expected) {
    INFO("result " << r);
    CHECK(found[r++][0] == Approx(e));
  }
}

}  // namespace

TEST_CASE("Law: custom_jvp with the derived rule = no rule") {
  const vector x{0.3, -0.7, 1.1}, y{0.5, 0.2, -0.4};
  same("loss", derivatives<loss_of<jvp_rule>>{}, derivatives<loss_of<no_rule>>{}, x, y);
  same("scan", derivatives<scan_of<jvp_rule>>{}, derivatives<scan_of<no_rule>>{}, x, y);
  same("cond", derivatives<cond_of<jvp_rule>>{}, derivatives<cond_of<no_rule>>{}, x, y);
  same("vmap", derivatives<batch_of<jvp_rule>>{}, derivatives<batch_of<no_rule>>{}, x, y);
  same("tangents of vmap", tangents<batch_of<jvp_rule>>{}, tangents<batch_of<no_rule>>{}, x, y);
  same("tangents", tangents<loss_of<jvp_rule>>{}, tangents<loss_of<no_rule>>{}, x, y);
  same("tangents of a scan", tangents<scan_of<jvp_rule>>{}, tangents<scan_of<no_rule>>{}, x, y);
}

TEST_CASE("Law: custom_vjp with the derived rule = no rule") {
  const vector x{0.3, -0.7, 1.1}, y{0.5, 0.2, -0.4};
  same("loss", derivatives<loss_of<vjp_rule>>{}, derivatives<loss_of<no_rule>>{}, x, y);
  same("scan", derivatives<scan_of<vjp_rule>>{}, derivatives<scan_of<no_rule>>{}, x, y);
  same("cond", derivatives<cond_of<vjp_rule>>{}, derivatives<cond_of<no_rule>>{}, x, y);
  same("vmap", derivatives<batch_of<vjp_rule>>{}, derivatives<batch_of<no_rule>>{}, x, y);
  same("tangent of a gradient", tangent_of_gradient<loss_of<vjp_rule>>{}, tangent_of_gradient<loss_of<no_rule>>{}, x, y);
  same("tangent of the gradient of a scan", tangent_of_gradient<scan_of<vjp_rule>>{}, tangent_of_gradient<scan_of<no_rule>>{}, x, y);
}

TEST_CASE("Law: custom_vjp of the arguments with the derived rule = no rule") {
  const vector x{0.3, -0.7, 1.1}, y{0.5, 0.2, -0.4};
  same("loss", derivatives<loss_of<rule_of_arguments>>{}, derivatives<loss_of<no_rule>>{}, x, y);
  same("scan", derivatives<scan_of<rule_of_arguments>>{}, derivatives<scan_of<no_rule>>{}, x, y);
  same("vmap", derivatives<batch_of<rule_of_arguments>>{}, derivatives<batch_of<no_rule>>{}, x, y);
}

TEST_CASE("a backward of the arguments that is not the derivative is the derivative") {
  static constexpr auto cut = tn::custom_vjp([](auto x) { return 2.0 * x; }, [](auto, auto g) { return tn::minimum(tn::maximum(g, -1.0), 1.0); }, tn::sequential{});
  static constexpr auto loss = [](auto x) { return tn::sum(tn::square(cut(x))); };
  const vector x{0.1, -3, 4}, slope = tn::grad(loss)(x);
  CHECK(slope.data()[0] == 0.4);
  CHECK(slope.data()[1] == -1);
  CHECK(slope.data()[2] == 1);
  constexpr auto numbers = [](auto x, auto s, auto i) {
    const auto in_a_loop = [](auto c) { return tn::sum(tn::fori_loop(3, [](auto, auto a) { return cut(a); }, c)); };  // without the rule: 8
    const auto of_rows = [](auto a, auto b, auto at) {
      const auto both = row_and_number(std::tuple{a, b}, at);
      return tn::sum(std::get<0>(both)) + 3.0 * std::get<1>(both);
    };
    const auto batch = tn::vmap(tn::grad(loss))(tn::stack(x, x + 1.0));
    return std::tuple{tn::sum(tn::grad(in_a_loop)(x)), batch[1][0], batch[0][1], tn::grad<0, 1>(of_rows)(x, s, i)};
  };
  const auto found = judged::interpreted(numbers, x, number(5.0), tn::tensor<std::int64_t, tn::shape<2>>{2, 0});
  REQUIRE(found.size() == 5);
  CHECK(found[0][0] == 3);
  CHECK(found[1][0] == 1);
  CHECK(found[2][0] == -1);
  CHECK(found[3][1] == Approx(-9));
  CHECK(found[4][0] == 7);
}

TEST_CASE("a rule that is not the derivative is the derivative") {
  const vector x{0.2, -3, 4};
  const auto [value, g] = tn::value_and_grad([](auto x) { return tn::sum(tn::square(clipped(x))); })(x);
  CHECK(value.item() == Approx(25.04));
  CHECK(g.data()[0] == 0.4);
  CHECK(g.data()[1] == -1);
  CHECK(g.data()[2] == 1);
  constexpr auto numbers = [](auto x, auto y, auto z) {
    // In an iteration of a loop: each iteration cuts. Without the rule the gradient is 3 * 3 * 3.
    const auto power = [](auto x) { return tn::fori_loop(3, [](auto, auto c) { return clipped(c) * 3.0; }, x); };
    const auto square_of_rounded = [](auto x) { return tn::square(rounded(x)); };
    // The second derivative goes through the rule too: x * t has the derivative t.
    const auto squared = tn::custom_jvp([](auto x) { return x * x; }, [](auto x, auto t) { return std::tuple{x * x, x * t}; });
    return std::tuple{tn::grad(power)(x), power(x), tn::value_and_grad(square_of_rounded)(y), tn::grad(squared)(z), tn::grad(tn::grad(squared))(z)};
  };
  are_numbers(judged::interpreted(numbers, number(2.0), number(2.6), number(3.0)), {1, 54, 9, 6, 3, 1});
}

TEST_CASE("a rule within a while_loop, in forward mode, and rules within rules") {
  constexpr auto numbers = [](auto x, auto y) {
    const auto doubled = [](auto x) { return tn::while_loop([](auto c) { return tn::sum(c) < 20.0; }, [](auto c) { return log1pexp(c) + c; }, x); };
    // The rule calls a function with a rule: in its second derivative the cotangent is cut.
    const auto cube = tn::custom_vjp([](auto x) { return x * x * x; }, [](auto x) { return std::tuple{x * x * x, x}; },
                                     [](auto x, auto g) { return g * 3.0 * clipped(x) * x; });
    return std::tuple{tn::jvp(doubled)(x, x), tn::grad(cube)(y), tn::grad(tn::grad(cube))(y)};
  };
  double v = 1, t = 1;
  while (v < 20) t += t / (1 + std::exp(-v)), v += std::log(1 + std::exp(v));
  are_numbers(judged::interpreted(numbers, number(1.0), number(2.0)), {v, t, 12, 7});  // 7: 3 * 2 by x, and 1 by clipped(x)
}

TEST_CASE("log(1 + exp(x)) has a derivative where exp(x) overflows") {
  constexpr auto numbers = tn::compile([](auto x, auto y) {
    return std::tuple{tn::grad(log1pexp)(x), tn::grad(tn::grad(log1pexp))(x), tn::grad(log1pexp)(y), tn::jvp(log1pexp)(y, y + y)};
  });
  const auto [slope, second, small, both] = numbers(1000.0, 0.5);
  CHECK(slope.item() == 1);
  CHECK(second.item() == 0);
  CHECK(small.item() == Approx(1 / (1 + std::exp(-0.5))));
  CHECK(std::get<0>(both).item() == Approx(std::log(1 + std::exp(0.5))));
  CHECK(std::get<1>(both).item() == Approx(1 / (1 + std::exp(-0.5))));
}

TEST_CASE("rules with extents that are known when the program runs") {
  const tn::tensor<double, tn::shape<tn::dyn>> x = tn::zeros<double>(tn::shape<tn::dyn>{}, 4);
  const auto slopes = tn::grad([](auto x) { return tn::sum(log1pexp(x) * by_vjp(clipped(x), x + 1.0)); })(x);
  REQUIRE(slopes.size() == 4);
  // log(2) times the sum of the cotangents of by_vjp, cut, and sigmoid(0) times its value
  const double by_first = std::log(2.0), by_second = std::log(2.0) * std::cos(1.0), by_product = 0.5 * std::sin(1.0);
  for (int i = 0; i < 4; ++i) CHECK(slopes.data()[i] == Approx(by_first + by_second + by_product));
}

TEST_CASE("several results, trees, integers and captures") {
  const vector x{0.3, -0.7, 1.1};
  const tn::tensor<std::int64_t, tn::shape<2>> at{2, 0};
  constexpr auto loss = [](auto x, auto s, auto i) {
    const auto both = rows(std::tuple{x, s}, i);
    return tn::sum(tn::square(std::get<0>(both))) + tn::sum(tn::cast<double>(std::get<1>(both)));
  };
  const auto [value, dx, ds] = tn::value_and_grad<0, 1>(loss)(x, 5.0, at);
  CHECK(value.item() == Approx(1.21 + 0.09 + 2));
  CHECK(dx.data()[0] == Approx(4 * 0.3));
  CHECK(dx.data()[1] == 0);
  CHECK(dx.data()[2] == Approx(4 * 1.1));
  CHECK(ds.item() == Approx(2 * 1.4));
  const tn::tensor<std::int64_t, tn::shape<2>> outside{2, 3};
  CHECK_THROWS_AS(tn::compile(loss)(x, 5.0, outside), tn::index_error);
  // backward looks up with an index that the function does not use: the index is checked all the same, in the gradient only.
  constexpr auto ahead = [](auto x, auto table, auto i) { return std::tuple{tn::sum(x), std::tuple{table, i}}; };
  constexpr auto back = [](auto kept, auto g) {
    const auto table = std::get<0>(kept);
    const auto one = tn::gather<0>(table, std::get<1>(kept)) * g + table * 0.0;
    return std::tuple{one, tn::zeros_like(table), tn::nothing};
  };
  constexpr auto looked_up = tn::custom_vjp([](auto x, auto, auto) { return tn::sum(x); }, ahead, back);
  CHECK(tn::eval(tn::sum(tn::grad(looked_up)(x, x, std::int64_t{2}))).item() == Approx(3.3));
  CHECK_THROWS_AS(tn::grad(looked_up)(x, x, std::int64_t{3}), tn::index_error);
  CHECK(looked_up(x, x, std::int64_t{3}).item() == Approx(0.7));
  // With a variable the call joins the history, and backward() takes the rule.
  tn::variable<double, tn::shape<3>> w{0.2, -3, 4};
  tn::sum(tn::square(clipped(w))).backward();
  const vector of_w = w.grad().clone();
  CHECK(of_w.data()[0] == 0.4);
  CHECK(of_w.data()[1] == -1);
  // A value that the function captures has its ordinary derivative, here x * y; the rule gives the derivative in x as 10.
  constexpr auto captures = [](auto x, auto y) {
    return tn::custom_jvp([=](auto a) { return a * y * y; }, [=](auto a, auto t) { return std::tuple{a * y * y, 10.0 * t}; })(x);
  };
  const auto [dxc, dyc] = tn::grad<0, 1>(captures)(3.0, 2.0);
  CHECK(dxc.item() == 10);
  CHECK(dyc.item() == 12);
  const auto [yc, tc] = tn::jvp(captures)(3.0, 2.0, 1.0, 1.0);
  CHECK(yc.item() == 12);
  CHECK(tc.item() == 22);
}

/// A loop in whose iterations the rule looks something up that no derivative reads.
template <bool HasRule>
constexpr auto lookups = [](auto x, auto y) {
  const auto value = [](auto a) { return tn::sum(a); };
  const auto with_rule = tn::custom_jvp(value, [=](auto a, auto t) {
    const auto unread = tn::gather<0>(a, tn::cast<std::int64_t>(tn::tanh(tn::sin(a[0]))));
    return std::tuple{value(a) + 0.0 * unread, tn::sum(t)};
  });
  const auto iteration = [=](auto c, auto b) {
    if constexpr (HasRule) return std::tuple{0.5 * c + tn::sin(b) * with_rule(c), tn::nothing};
    else return std::tuple{0.5 * c + tn::sin(b) * value(c), tn::nothing};
  };
  return tn::sum(std::get<0>(tn::scan(iteration, x, y)));
};

TEST_CASE("in a loop the rule of a custom_jvp may look up what no derivative reads") {
  const vector x{0.3, -0.7, 1.1}, y{0.5, 0.2, -0.4};
  same("scan", tn::grad<0, 1>(lookups<true>).function, tn::grad<0, 1>(lookups<false>).function, x, y);
}

TEST_CASE("a rule that stops a tangent keeps it, also where another argument has no tangent") {
  const auto product = tn::custom_jvp([](auto x, auto y) { return x * y; }, [](auto x, auto y, auto tx, auto ty) { return std::tuple{x * y, tn::stop_gradient(tx) * y + x * ty}; });
  const number x = 3, y = 5, t = 7;
  CHECK(std::get<1>(tn::jvp<0>(product)(x, y, t)).item() == 35);
  CHECK(std::get<1>(tn::jvp<1>(product)(x, y, t)).item() == 21);
}

TEST_CASE("without derivatives nothing of a rule is left, and the values are those of the function") {
  using program = tn::program<tn::detail::source_of<scan_of<vjp_rule>, vector, vector>>;
  using written = tn::program<tn::detail::source_of<scan_of<no_rule>, vector, vector>>;
  CHECK(program::value.count == written::value.count);
  CHECK(program::step_count == written::step_count);
  const vector x{0.3, -0.7, 1.1}, y{0.5, 0.2, -0.4};
  agrees_with_reference("custom_vjp at once", by_vjp, x, y);
  agrees_with_reference("gradient of custom_vjp in a scan", tn::grad<0, 1>(scan_of<vjp_rule>{}).function, x, y);
  const auto by_rule = by_jvp(x, y), without = tn::compile(plain)(x, y);
  CHECK(by_rule.data()[1] == without.data()[1]);
}
