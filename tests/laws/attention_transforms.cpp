// SPDX-License-Identifier: BSL-1.0
// attention: vmap, layers in a scan, backward().
#include "attention.hpp"

using namespace laws;

namespace {
constexpr auto loss = [](auto q, auto k, auto v) { return sum(sin(attends_causally(q, k, v))); };

// A traced function captures nothing, so F is a type. (Classes, because nvcc finds no names in a lambda within one that a variable template is.
// And F is deduced, see attention_derivatives.cpp.)
template <class F>
struct in_layers {
  template <class X, class W>
  constexpr auto operator()(const X& x, const W& w) const {
    const auto layer = [](auto h, auto m) { return std::tuple{h + matmul(F{}(h, matmul(h, m), h), m), tn::nothing}; };
    return mean(square(std::get<0>(tn::scan(layer, x, w))));
  }
};
template <class F>
constexpr in_layers<F> layers(F) { return {}; }
/// The gradient of a gradient: the loop backwards holds attention_gradient, and is run backwards itself.
template <class F>
struct derived_twice {
  template <class X, class W>
  constexpr auto operator()(const X& x, const W& w) const {
    return tn::grad<0>([](auto y, auto u) { return sum(square(tn::grad<0>(in_layers<F>{})(y, u))); })(x, w);
  }
};
template <class F>
constexpr derived_twice<F> twice(F) { return {}; }
}  // namespace

TEST_CASE("attention: vmap, also with shared keys") {
  const auto q = filled<double>(shape<3, 4, 2>{}, 1);
  const auto k = filled<double>(shape<5, 2>{}, 2);
  const auto v = filled<double>(shape<3, 5, 2>{}, 3);
  const auto mapped = tn::vmap<0, tn::unmapped, 0>(attends_causally);
  same(mapped, attends_causally, 1e-14, q, k, v);
  const auto gradients = tn::vmap<0, tn::unmapped, 0>(tn::grad<0>(loss));
  same(gradients, tn::grad<0>(loss), 1e-13, q, k, v);
}

TEST_CASE("attention: layers in a scan, and backward()") {
  const auto x = filled<double>(shape<2, 5, 4>{}, 1);
  const auto w = filled<double>(shape<3, 4, 4>{}, 2);
  same(tn::value_and_grad<0, 1>(layers(attends_causally)), tn::value_and_grad<0, 1>(layers(written_out<true>)), 1e-12, x, w);
  const auto small_x = filled<double>(shape<2, 5, 4>{}, 1, -0.5, 0.5);
  const auto small_w = filled<double>(shape<3, 4, 4>{}, 2, -0.5, 0.5);
  same(twice(attends_causally), twice(written_out<true>), 1e-12, small_x, small_w);

  auto leaf = filled<double>(shape<5, 4>{}, 3).requires_grad_();
  sum(sin(tn::attention(leaf, leaf, leaf, tn::causal))).backward();
  const auto plain = leaf.detach();
  const auto found = leaf.grad();
  const auto [a, b, c] = tn::grad<0, 1, 2>(loss)(plain, plain, plain);
  for (int i = 0; i < 20; ++i) CHECK(found.data()[i] == Approx(a.data()[i] + b.data()[i] + c.data()[i]).epsilon(1e-12));
}
