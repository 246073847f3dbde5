// SPDX-License-Identifier: BSL-1.0
// Inside no_grad nothing is recorded, whatever a function captures. Law: what is computed there from tracked tensors keeps no value and
// no history alive, and a backward() that meets it throws; a write there changes elements and keeps the history that its target had.
#include <tenure/tenure.hpp>

#include "catch.hpp"

namespace tn = tenure;

namespace {

using leaf = tn::variable<double, tn::shape<3>>;
using node = tn::tensor<double, tn::shape<3>, tn::ownership::owning, tn::role::node>;
const auto inside = Catch::Matchers::Contains("no_grad");

template <class Y>
void requires_nothing_recorded(const Y& y) {
  REQUIRE_THROWS_WITH(sum(y * 2).backward(), inside);
  const tn::tensor later = sum(y * y);
  REQUIRE_THROWS_WITH(later.backward(), inside);
}

}  // namespace

TEST_CASE("a tensor that a function inside no_grad makes of captured ones has no history, and keeps none alive") {
  leaf w{1, 2, 3};
  tn::no_grad([&] {
    node y = exp(w);
    const tn::tensor z = w * y;
    REQUIRE(z(1) == 2 * std::exp(2.0));
    tn::no_grad([](auto v) { v += 1; }, w);  // exp and the product would have saved it, and backward() thrown for that
    requires_nothing_recorded(y);
    requires_nothing_recorded(z);
    y = w * 3;
    requires_nothing_recorded(y);
    y = tanh(y * w);
    requires_nothing_recorded(tn::eval(y + w));
    requires_nothing_recorded(w.clone());
    requires_nothing_recorded(w.at(tn::range<0, 2>()));
    requires_nothing_recorded(w.to<float>());
    REQUIRE_THROWS_WITH(sum(w * 2).backward(), inside);
    REQUIRE_THROWS_WITH((w * 2).backward(w.detach()), inside);
    REQUIRE(sum(w).item() == 9);
  });
  REQUIRE_FALSE(w.has_grad());
  sum(w * w).backward();  // and outside it goes on
  REQUIRE(w.grad()(2) == 8);
}

TEST_CASE("what no_grad computed throws outside, until detach() says that it is a constant") {
  leaf w{1, 2, 3};
  node y = w * 1;
  tn::no_grad([&] { y = w * 5; });
  REQUIRE_THROWS_WITH(sum(y * w).backward(), inside);
  REQUIRE_FALSE(w.has_grad());
  sum(y.detach() * w).backward();
  REQUIRE(w.grad()(2) == 15);
  auto constant = tn::no_grad([&] { return w * 7; });
  STATIC_REQUIRE_FALSE(tn::requires_grad_v<decltype(constant)>);
  sum(constant * w).backward();
  REQUIRE(w.grad()(2) == 36);
}

TEST_CASE("a write inside no_grad keeps the history of a captured node, and raises its version") {
  leaf w{1, 2, 3};
  node y = w * 2;
  const tn::tensor uses = sum(y * w);  // saves both
  const auto before = y.version();
  tn::no_grad([&] { y += 1; });
  REQUIRE(y(0) == 3);
  REQUIRE(y.version() != before);
  REQUIRE_THROWS_WITH(uses.backward(), Catch::Matchers::Contains("overwritten"));
  sum(y).backward();  // PyTorch's rule: the gradient of w * 2
  REQUIRE(w.grad()(0) == 2);
  tn::no_grad([&] {
    y = std::move(y).mul_(w);
    y = std::move(y).copy_(w);
    y = std::move(y).at(0).add_(w[1]);
  });
  REQUIRE(y(0) == 3);
  REQUIRE(y(2) == 3);
}

TEST_CASE("a constant that takes a tracked operand inside no_grad is a node without a history") {
  leaf w{1, 2, 3};
  tn::no_grad([&] {
    tn::tensor<double, tn::shape<3>> c{1, 1, 1};
    const auto y = std::move(c).add_(w);
    REQUIRE(y(2) == 4);
    requires_nothing_recorded(y);
    requires_nothing_recorded(tn::zeros<double>(tn::shape<3>{}).copy_(w));
  });
}

TEST_CASE("a graph that was recorded outside can be walked inside") {
  leaf w{1, 2, 3};
  const tn::tensor y = sum(w * w);
  tn::no_grad([&] { y.backward(); });
  REQUIRE(w.grad()(1) == 4);
}

TEST_CASE("no_grad nests, ends by an exception too, and is one thread's") {
  leaf w{1, 2, 3};
  tn::no_grad([&] {
    tn::no_grad([&] { static_cast<void>(0); });
    requires_nothing_recorded(tn::eval(w * 2));
  });
  REQUIRE_THROWS_AS(tn::no_grad([&] { throw 1; }), int);
  const tn::tensor y = sum(w * 2);
  y.backward();
  REQUIRE(w.grad()(0) == 2);
  const auto gradient = tn::no_grad([&] { return tn::grad([](auto x) { return sum(x * x); })(w.detach()); });  // stores nothing, so it may
  REQUIRE(gradient(2) == 6);
}
