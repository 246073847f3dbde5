// SPDX-License-Identifier: BSL-1.0
// Compiled functions called with variables: their results join the eager history. Law: the gradients are those of the same function
// written with expressions, whatever C++ runs between the calls; ownership rules hold for arguments and results as for operands.
#include <boost/hana/define_struct.hpp>

#include "values.hpp"

namespace {

constexpr auto layer = [](const auto& w, const auto& x) { return tanh(w * x) + 0.5 * w; };

template <class X>
constexpr bool is_constant = tn::ownership_of_v<X> == tn::ownership::owning && !tn::requires_grad_v<X>;
template <class X>
constexpr bool is_owning_node = tn::ownership_of_v<X> == tn::ownership::owning && tn::is_node_v<X>;

/// The function itself, with expressions.
constexpr auto eagerly = [](const auto& f, const auto&... x) { return tn::tensor(f(x...)); };

template <class Call>
std::vector<double> gradients_of(Call call) {
  auto w = leaf<3>(0.1, 0.2, -0.3), v = leaf<3>(1.0, -2.0, 3.0);
  const auto x = constant<3>(1.0, 2.0, 3.0);
  tn::tensor h = call(layer, w, x);
  for (int i = 0; i < 3; ++i) {  // control flow of C++, with calls and expressions in turn
    if (sum(h).item() > 0.5) h = call(layer, h * 1.0 + 0.0 * v, v.view());
    else h = h * w + i;
  }
  (sum(h * h) + sum(call(layer, w, w))).backward();
  std::vector<double> all = values(w.grad());
  const std::vector<double> more = values(v.grad());
  all.insert(all.end(), more.begin(), more.end());
  all.push_back(sum(h).item());
  return all;
}

}  // namespace

TEST_CASE("compiled functions and C++ control flow mix: values and gradients are those of expressions") {
  const auto call = [](const auto& f, const auto& a, const auto& b) {
    if constexpr (tn::expression<std::remove_cvref_t<decltype(a)>>) return tn::compile(f)(tn::eval(a), b);
    else return tn::compile(f)(a, b);
  };
  const std::vector<double> expected = gradients_of(eagerly), found = gradients_of(call);
  for (std::size_t i = 0; i < expected.size(); ++i) CHECK(std::abs(found[i] - expected[i]) <= 1e-12 * (1 + std::abs(expected[i])));
}

TEST_CASE("a result is a node if a gradient flows to it from a tracked argument, and else a constant") {
  auto w = leaf<2>(1.0, 2.0);
  const auto x = constant<2>(3.0, 4.0);
  constexpr auto f = [](auto a, auto b) {
    return std::tuple{a * b, b * 2.0, a > 1.5, tn::stop_gradient(a), std::array{sum(b), sum(a)}, std::tuple{a, argmax(a, tn::axis<0>)}};
  };
  const auto [product, other, larger, stopped, sums, rest] = tn::compile(f)(w, x);
  STATIC_REQUIRE(is_owning_node<decltype(product)>);
  STATIC_REQUIRE(is_constant<decltype(other)>);
  STATIC_REQUIRE(is_constant<decltype(larger)>);
  STATIC_REQUIRE(is_constant<decltype(stopped)>);
  STATIC_REQUIRE(is_owning_node<std::remove_cvref_t<decltype(sums[0])>>);  // the elements of an array have one type
  STATIC_REQUIRE(is_owning_node<std::tuple_element_t<0, std::remove_cvref_t<decltype(rest)>>>);
  STATIC_REQUIRE(is_constant<std::tuple_element_t<1, std::remove_cvref_t<decltype(rest)>>>);
  STATIC_REQUIRE(is_constant<decltype(tn::compile(layer)(x, x))>);
  STATIC_REQUIRE(is_constant<decltype(tn::compile(layer)(w.detach(), x))>);
  // Gradients are values: grad and its like record nothing.
  STATIC_REQUIRE(is_constant<decltype(tn::grad([](auto a) { return sum(a * a); })(w))>);

  sums[0].backward();  // sum(b), without a tracked argument
  CHECK_FALSE(w.has_grad());
  sums[1].backward(tn::retain_graph);
  check_values(w.grad(), {1, 1});
  // Results in any order, and some not at all. They share one history.
  const auto& [same, largest] = rest;
  (sum(product) + sum(same * same)).backward(tn::retain_graph);
  check_values(w.grad(), {1 + 3 + 2, 1 + 4 + 4});
  sum(same).backward();
  check_values(w.grad(), {7, 10});
}

namespace {
/// Calls with one to four tracked results, of which each is read in another way, or not at all.
template <int N>
constexpr auto several = [](const auto& w, const auto& v) {
  const auto all = std::tuple{w * v, tanh(w), v * v + w, sum(w * w * v)};
  return [&]<std::size_t... I>(std::index_sequence<I...>) { return std::tuple{std::get<I>(all)...}; }(std::make_index_sequence<N>{});
};
template <int N>
void check_results() {
  CAPTURE(N);
  const auto gradients = [](const auto& call) {
    auto w = leaf<3>(0.1, 0.2, -0.3), v = leaf<3>(1.0, -2.0, 3.0);
    const auto results = call(w, v);
    tn::tensor loss = sum(std::get<0>(results) * std::get<0>(results));
    if constexpr (N == 2 || N == 4) loss = loss + sum(std::get<1>(results));
    if constexpr (N > 2) loss = loss + sum(std::get<2>(results) * std::get<0>(results));
    if constexpr (N > 3) loss = loss + std::get<3>(results) * 2.0;
    loss.backward();
    std::vector<double> all = values(w.grad());
    const std::vector<double> more = values(v.grad());
    all.insert(all.end(), more.begin(), more.end());
    return all;
  };
  const std::vector<double> expected = gradients([](const auto& w, const auto& v) { return several<N>(w, v); });
  const std::vector<double> found = gradients([](const auto& w, const auto& v) { return tn::compile(several<N>)(w, v); });
  for (std::size_t i = 0; i < expected.size(); ++i) CHECK(std::abs(found[i] - expected[i]) <= 1e-12 * (1 + std::abs(expected[i])));
}
}  // namespace

TEST_CASE("a call may have any number of results") {
  check_results<1>();
  check_results<2>();
  check_results<3>();
  check_results<4>();
}

TEST_CASE("arguments are trees, numbers and integers, and the same variable may come twice") {
  auto w = leaf<2, 2>({{1, 2}, {3, 4}});
  auto b = leaf<2>(0.5, -0.5);
  const auto labels = there(tn::tensor<std::int64_t, shape<2>>{1, 0});
  constexpr auto loss = [](auto model, auto scale, auto count, auto k, auto again) {
    const auto& [weights, bias] = model;
    return scale * sum(gather(matmul(weights, again) + bias, k)) / tn::cast<double>(count);
  };
  const auto run = [&](const auto& k) { return tn::compile(loss)(std::tuple{w.view(), b.view()}, 3.f, 2, k, w.transpose()); };
  run(labels).backward();
  const auto once = values(w.grad());
  check_values(b.grad(), {3, 3});
  w.zero_grad();
  sum(gather(matmul(w, w.transpose()) + b, labels) * 1.5).backward();
  check_values(w.grad(), once);
  // Called twice, both add up.
  w.zero_grad();
  (run(labels) + run(labels)).backward();
  check_values(w.grad(), {2 * once[0], 2 * once[1], 2 * once[2], 2 * once[3]});
  const auto bad = there(tn::tensor<std::int64_t, shape<2>>{1, 2});
  CHECK_THROWS_AS(run(bad), tn::index_error);
}

TEST_CASE("indices that no gradient reads are not kept") {
  auto w = leaf<3>(1, 2, 3);
  const auto table = constant<4>(1, 2, 3, 4);
  auto i = there(tn::tensor<std::int64_t, shape<3>>{0, 1, 3});
  const tn::tensor y = w + gather(table, i);
  const auto z = tn::compile([](auto a, auto t, auto k) { return a + gather(t, k); })(w, table, i);
  i.fill_(9);
  sum(y + z).backward();
  check_values(w.grad(), {2, 2, 2});
}

TEST_CASE("a saved argument or result that is overwritten makes backward() throw, others may be") {
  auto w = leaf<2>(1, 2);
  const auto call = [](const auto& a, const auto& b) { return tn::compile([](auto p, auto q) { return std::tuple{exp(p) + q, p * q}; })(a, b); };
  const auto message = Catch::Matchers::Contains("a value that the gradient reads was overwritten after it was used");
  {
    auto x = constant<2>(3, 4);
    const auto [sums, products] = call(w, x);
    x += 1;  // the product reads it
    CHECK_THROWS_WITH(sum(products).backward(), message);
    CHECK_FALSE(w.has_grad());
  }
  {
    auto x = constant<2>(3, 4);
    const auto y = tn::compile([](auto p, auto q) { return exp(p) + q; })(w, x);
    x += 1;
    sum(y).backward();
    check_values(w.grad(), {std::exp(1.0), std::exp(2.0)});
  }
  {
    auto y = tn::compile([](auto p) { return exp(p); })(w);  // its gradient reads the result, as in an expression
    auto alias = y.detach();
    alias += 1;
    CHECK_THROWS_WITH(sum(y).backward(), message);
  }
  tn::tensor h = tn::compile([](auto p) { return p * 2.0; })(w);  // this one reads nothing
  h *= 3;
  sum(h).backward();
  sum(h).backward();
  check_values(w.grad(), {std::exp(1.0) + 12, std::exp(2.0) + 12});
}

TEST_CASE("a second backward() of a call needs retain_graph") {
  auto w = leaf<2>(1, 2);
  const auto loss = tn::compile([](auto p) { return sum(p * p); })(w);
  loss.backward(tn::retain_graph);
  loss.backward();
  check_values(w.grad(), {4, 8});
  CHECK_THROWS_WITH(loss.backward(), Catch::Matchers::Contains("freed"));
  check_values(w.grad(), {4, 8});
}

TEST_CASE("a view of a node that was updated in place is refused before the call computes") {
  auto w = leaf<2>(1, 2);
  tn::tensor y = w * 2.0;
  const auto old = y.view();
  y += 1.0;
  CHECK_THROWS_WITH(tn::compile([](auto p) { return p * p; })(old), Catch::Matchers::Contains("tenure: call: the tensor is a view of a node that was updated in place"));
}

TEST_CASE("inside no_grad a call records nothing") {
  auto w = leaf<2>(1, 2);
  const auto f = tn::compile([](auto p) { return sum(p * p); });
  tn::no_grad([&] {
    const auto y = f(w);
    STATIC_REQUIRE(tn::is_node_v<decltype(y)>);  // by its type, as an expression
    CHECK_THROWS_WITH(y.backward(), Catch::Matchers::Contains("no_grad"));
  });
  const auto z = tn::no_grad([&](auto v) { return f(v); }, w);
  STATIC_REQUIRE(is_constant<decltype(z)>);
  CHECK_FALSE(w.has_grad());
}

TEST_CASE("retain_grad keeps the gradient of a result, and backward() through a throwing graph changes nothing") {
  auto w = leaf<2>(1, 2);
  const auto f = tn::compile([](auto p) { return std::tuple{p * p, p * 3.0}; });
  auto [squares, triples] = f(w);
  auto kept = std::move(squares).retain_grad();
  tn::tensor late = exp(kept);
  const tn::tensor loss = tn::eval(sum(late * kept) + sum(triples));
  auto alias = late.detach();
  alias += 1;
  CHECK_THROWS_AS(loss.backward(), tn::ownership_error);
  CHECK_FALSE(w.has_grad());
  sum(kept * triples).backward();
  check_values(kept.grad(), {3, 6});
  check_values(w.grad(), {9, 36});
}

TEST_CASE("calls on tracked run-time extents") {
  on_device::tensor<double, shape<tn::dyn>, tn::ownership::owning, tn::role::leaf> w(3);
  tn::no_grad([](auto v) { v.fill_(2); }, w);
  const auto f = tn::compile([](auto p, auto q) { return std::tuple{sum(p * q), p * p}; });
  const auto [total, squares] = f(w, w);
  total.backward(tn::retain_graph);
  check_values(w.grad(), {4, 4, 4});
  sum(squares * constant<3>(1, 2, 3)).backward();
  check_values(w.grad(), {8, 12, 16});
  on_device::tensor<double, shape<tn::dyn>> other(4);
  CHECK_THROWS_AS(f(w, other), tn::shape_error);
}

TEST_CASE("a vmap of a function joins the history, a Jacobian does not") {
  auto w = leaf<3>(1, 2, 3);
  constexpr auto f = [](auto a) { return a * a; };
  const auto y = tn::vmap(f)(w);
  STATIC_REQUIRE(is_owning_node<decltype(y)>);
  STATIC_REQUIRE(is_constant<decltype(tn::jacobian(f)(w))>);
  sum(y).backward();
  check_values(w.grad(), {2, 4, 6});
}

TEST_CASE("a derivative in compile, vmap or checkpoint joins the history as the same call in a lambda does") {
  constexpr auto cube = [](const auto& a) { return a * a * a; };
  constexpr auto cubes = [](const auto& a) { return sum(a * a * a); };
  auto w = leaf<2>(1, 2);
  const auto check = [&](const auto& call, const std::vector<double>& expected) {
    w.zero_grad();
    const auto slopes = call(w);
    STATIC_REQUIRE(is_owning_node<std::remove_cvref_t<decltype(slopes)>>);
    (sum(slopes * slopes) + sum(w)).backward();
    check_values(w.grad(), expected);
  };
  check(tn::compile([](auto a) { return tn::grad([](const auto& b) { return sum(b * b * b); })(a); }), {37, 289});
  check(tn::compile(tn::grad(cubes)), {37, 289});
  check(tn::compile(tn::grad(cubes), tn::sequential{}), {37, 289});
  check(tn::compile(tn::compile(tn::grad(cubes))), {37, 289});
  check(tn::checkpoint(tn::grad(cubes)), {37, 289});
  check(tn::vmap(tn::grad(cube)), {37, 289});
  check(tn::compile(tn::vmap(tn::grad(cube))), {37, 289});
  check(tn::compile(tn::jacobian(cube)), {37, 289});

  // With the value beside the gradient, both are nodes: 3 w^2 of the sum of cubes, and 36 w^3 + 1 as above.
  w.zero_grad();
  const auto [value, slopes] = tn::compile(tn::value_and_grad(cubes))(w);
  (value + sum(slopes * slopes) + sum(w)).backward();
  check_values(w.grad(), {40, 301});

  // Without such a wrapper a derivative is a value, and so is what another derivative contains.
  STATIC_REQUIRE(is_constant<decltype(tn::grad(cubes)(w))>);
  STATIC_REQUIRE(is_constant<decltype(tn::grad(tn::compile(cubes))(w))>);
  STATIC_REQUIRE(is_constant<decltype(tn::jacobian(tn::compile(tn::grad(cubes)))(w))>);
  STATIC_REQUIRE(is_constant<std::remove_cvref_t<decltype(std::get<1>(tn::linearize(cubes)(w))(w.detach()))>>);
}

namespace {

struct variables {
  template <class T, class S>
  using type = on_device::tensor<T, S, tn::ownership::owning, tn::role::leaf>;
};
template <class Kind>
struct line {
  BOOST_HANA_DEFINE_STRUCT(line, (tn::param<Kind, double, shape<2>>, slope), (tn::param<Kind, double, shape<>>, start));
};

}  // namespace

TEST_CASE("a model of variables is an argument, and a model that depends on it is a result of nodes") {
  const line<variables> m{leaf<2>(1, 2), leaf<>(3.0)};
  const auto [y, moved] = tn::compile([](auto model, auto x) {
    return std::tuple{sum(model.slope * x) + model.start, std::remove_cvref_t<decltype(model)>{model.slope * 2.0, sum(x)}};
  })(m, constant<2>(5, 7));
  STATIC_REQUIRE(is_owning_node<std::remove_cvref_t<decltype(moved.slope)>>);
  STATIC_REQUIRE(is_owning_node<std::remove_cvref_t<decltype(moved.start)>>);  // by its type: the members have one role
  y.backward(tn::retain_graph);
  check_values(m.slope.grad(), {5, 7});
  check_values(m.start.grad(), {1});
  sum(moved.slope * moved.start).backward();
  check_values(m.slope.grad(), {5 + 2 * 12, 7 + 2 * 12});
  check_values(m.start.grad(), {1});
}
