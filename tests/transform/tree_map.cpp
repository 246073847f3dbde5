// SPDX-License-Identifier: BSL-1.0
// Laws: map(f, x...) has the structure of x and f(leaves...) at each place; a + b, c * g and norm(g) of models are those of their leaves. In a
// trace as with tensors.
#include "../catch.hpp"

#include <cmath>

#include <boost/hana/define_struct.hpp>

#include <tenure/tenure.hpp>

namespace tn = tenure;

namespace user {

template <class Kind, auto N>
struct layer {
  BOOST_HANA_DEFINE_STRUCT(layer, (tn::param<Kind, float, tn::shape<N, 2>>, w), (tn::param<Kind, double, tn::shape<2>>, b));
};
template <class Kind, auto N>
struct model {
  using layers = std::array<layer<Kind, N>, 2>;
  BOOST_HANA_DEFINE_STRUCT(model, (layers, parts), (tn::param<Kind, float, tn::shape<>>, scale));
};

}  // namespace user

namespace {

auto numbered(float start) {
  auto m = user::model<tn::values, 3>{};
  tn::for_each_leaf(m, [&](auto& leaf) { leaf.fill_(start), start += 1; });
  return m;
}

}  // namespace

// Law: map(f, x...) has the structure of x, and each leaf is f of the leaves at its place, converted to the element type of the leaf of the first
// tree.
TEST_CASE("map, for_each_leaf and arithmetic of models with tensors") {
  const auto a = numbered(1), b = numbered(10);
  int leaves = 0;
  tn::for_each_leaf(a, [&](const auto&) { ++leaves; });
  CHECK(leaves == 5);
  const auto sum = a + b;
  static_assert(std::is_same_v<decltype(sum), const user::model<tn::values, 3>>);
  CHECK(sum.parts[1].b(1) == 4 + 13);
  CHECK((0.5f * a).parts[1].w(2, 1) == 1.5f);
  CHECK((a * 2.0).scale.item() == 10);
  CHECK((b / 2 - a).parts[0].w(0, 0) == 4);
  CHECK((-a).parts[0].b(0) == -2);
  // The number may also be a tensor.
  const tn::tensor<double, tn::shape<>> half(0.5);
  CHECK((half * a).parts[1].w(2, 1) == 1.5f);
  CHECK((a / half - a.scale).parts[0].b(1) == 4 - 5);
  CHECK((tn::eval(half + half) * a).scale.item() == 5);
  static_assert(std::is_same_v<decltype(half * a), user::model<tn::values, 3>>);
  const auto stepped = tn::map([](auto p, auto g, auto rate) { return p - rate * g; }, a, b, 0.5);
  CHECK(stepped.parts[1].w(0, 0) == 3 - 0.5f * 12);
  const auto pair = tn::map([](auto x) { return tn::exp(x); }, std::tuple{tn::tensor<float, tn::shape<>>(1.0f), a.parts[0].b.clone()});
  CHECK(std::get<1>(pair)(0) == std::exp(2.0));
}

TEST_CASE("the norm of a model and clipping by it") {
  const auto a = numbered(1);
  const double wanted = std::sqrt(6 * 1.0 + 2 * 4.0 + 6 * 9.0 + 2 * 16.0 + 25.0);
  CHECK(std::fabs(tn::norm(a).item() - wanted) < 1e-6);
  CHECK(std::fabs(norm(tn::clip_by_global_norm(a, 2.0f)).item() - 2) < 1e-6);
  CHECK(tn::clip_by_global_norm(a, 100.0f).parts[1].w(0, 0) == 3);
  const user::model<tn::values, 3> zeros{};
  CHECK(tn::clip_by_global_norm(zeros, 1.0f).scale.item() == 0);
  const tn::tensor<double, tn::shape<2>> one{3, 4};
  CHECK(tn::clip_by_global_norm(one, 1.0)(1) == Approx(0.8));
  CHECK(tn::compile([](auto x) { return tn::clip_by_global_norm(x * 1.0, 1.0); })(one)(0) == Approx(0.6));
  CHECK(tn::clip_by_global_norm(zeros, 0.0f).scale.item() == 0);
  CHECK(tn::clip_by_global_norm(a, INFINITY).parts[1].w(0, 0) == 3);
  CHECK_THROWS_WITH(tn::clip_by_global_norm(one, -1.0), "tenure: clip_by_global_norm: the norm to clip to is at least 0");
  CHECK_THROWS_AS(tn::clip_by_global_norm(one, NAN), tn::error);
  const auto g = tn::grad([](auto m) { return sum(tn::clip_by_global_norm(m, 2.0f).parts[0].b) * 3.0; })(zeros);
  CHECK(g.parts[0].b(1) == 3);
  CHECK(g.scale.item() == 0);
}

TEST_CASE("trees of one structure have leaves at the same places") {
  using leaf = tn::tensor<float, tn::shape<3>>;
  using pair = std::tuple<leaf, leaf>;
  using tn::detail::have_one_structure;
  static_assert(have_one_structure<std::array<leaf, 2>, pair>());
  static_assert(have_one_structure<std::tuple<pair, leaf>, std::tuple<std::array<leaf, 2>, leaf>>());
  static_assert(!have_one_structure<std::array<leaf, 4>, std::tuple<pair, pair>>());
  static_assert(!have_one_structure<std::tuple<pair, leaf>, std::tuple<leaf, pair>>());
  static_assert(have_one_structure<user::model<tn::values, 3>, user::model<tn::values, 3>>());
}

TEST_CASE("the same in a trace, and their gradients") {
  const auto a = numbered(1), b = numbered(10);
  constexpr auto f = [](auto m, auto n) {
    const auto mixed = 0.5f * m + n / 2 - tn::map([](auto x) { return square(x); }, m);
    return tn::clip_by_global_norm(mixed, 1e6);
  };
  const auto traced = tn::compile(f)(a, b);
  CHECK(traced.parts[0].b(1) == 1 + 5.5 - 4);
  const auto scaled = tn::compile([](auto m, auto x) { return std::tuple{m * sum(x), sum(x) / m, m - m.scale}; })(a, tn::tensor<float, tn::shape<2>>{1, 3});
  CHECK(std::get<0>(scaled).parts[0].b(1) == 8);
  CHECK(std::get<1>(scaled).scale.item() == 4.0f / 5);
  CHECK(std::get<2>(scaled).parts[1].w(0, 0) == 3 - 5);
  const auto g = tn::grad([](auto m) { return square(norm(m)); })(a);
  CHECK(std::fabs(g.parts[1].b(0) - 8) < 1e-6);
  constexpr auto gradients = tn::compile([](auto m, auto n) {
    const auto [value, grads] = tn::value_and_grad([](auto x, auto y) { return norm(x - y); })(m, n);
    return std::tuple{value, tn::clip_by_global_norm(grads, 0.25f), norm(grads)};
  });
  const auto [value, clipped, one] = gradients(a, b);
  CHECK(std::fabs(one.item() - 1) < 1e-6);
  CHECK(std::fabs(tn::norm(clipped).item() - 0.25) < 1e-6);
}
