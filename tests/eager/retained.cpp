// SPDX-License-Identifier: BSL-1.0
// retain_grad() and every kind of history. Law: a node that retains keeps the whole gradient that arrived at it, and no other; its operands
// get what they would have got without; an in-place operation hands retaining on to the node that goes on.
#include <tenure/tenure.hpp>

#include "catch.hpp"

namespace tn = tenure;

namespace {

using vector = tn::tensor<double, tn::shape<3>>;
using leaf = tn::variable<double, tn::shape<3>>;
const vector slope{1, 10, 100};

template <class X>
void requires_grad_of(const char* which, const X& x, double a, double b, double c) {
  CAPTURE(which, x.has_grad());
  REQUIRE(x.has_grad());
  const auto g = x.grad();
  CAPTURE(g(0), g(1), g(2));
  REQUIRE(g(0) == a);
  REQUIRE(g(1) == b);
  REQUIRE(g(2) == c);
}

}  // namespace

TEST_CASE("a clone that retains, of a leaf and of a node that retains too") {
  leaf w{1, 2, 3};
  const auto c = w.clone().retain_grad();
  sum(c * slope).backward();
  requires_grad_of("clone of a leaf", c, 1, 10, 100);
  requires_grad_of("leaf", w, 1, 10, 100);

  w.zero_grad();
  const auto y = tn::tensor(w * 2).retain_grad();
  const auto d = y.clone().retain_grad();
  // y gets more after the clone has passed its gradient on: that of the clone stays what it was.
  sum(d * slope + y * 5).backward();
  requires_grad_of("clone of a node", d, 1, 10, 100);
  requires_grad_of("node", y, 6, 15, 105);
  requires_grad_of("leaf", w, 12, 30, 210);
}

TEST_CASE("a clone that does not retain, of a node that does") {
  leaf w{1, 2, 3};
  const auto y = tn::tensor(w * 2).retain_grad();
  const auto c = y.clone(), d = y.clone();
  sum(c * slope).backward(tn::retain_graph);
  requires_grad_of("node", y, 1, 10, 100);
  sum(c * slope + d).backward();
  requires_grad_of("node, the second time", y, 3, 21, 201);
  requires_grad_of("leaf", w, 6, 42, 402);
}

TEST_CASE("a node that retains and is updated in place") {
  leaf w{1, 2, 3};
  auto y = tn::tensor(w * 2).retain_grad();
  y *= slope;
  y += w;
  STATIC_REQUIRE(tn::role_of_v<decltype(y)> == tn::role::retained_node);
  sum(y * 3).backward();
  requires_grad_of("node", y, 3, 3, 3);
  requires_grad_of("leaf", w, 9, 63, 603);
}

TEST_CASE("a node that retains and is updated through a view: by a constant, a tracked operand, a copy, a view of a view") {
  leaf w{1, 2, 3};
  const auto retained = [&] { return tn::tensor(w * 2).retain_grad(); };
  const auto check = [&](const char* which, const auto& y, double a, double b, double c) {
    CAPTURE(which);
    STATIC_REQUIRE(tn::role_of_v<std::remove_cvref_t<decltype(y)>> == tn::role::retained_node);
    w.zero_grad();
    sum(y * slope).backward();
    requires_grad_of("node", y, 1, 10, 100);
    requires_grad_of("leaf", w, a, b, c);
  };
  check("mul_ by a number", retained().at(tn::range(0, 1)).mul_(3), 6, 20, 200);
  check("add_ of a tracked tensor", retained().at(tn::range<1, 3>()).add_(w.at(tn::range<0, 2>())), 12, 120, 200);
  check("copy_ of a number", retained().at(2).copy_(7.0), 2, 20, 0);
  check("sub_ through a view of a view", retained().at(tn::range(1, 3)).at(0).sub_(w[0]), -8, 20, 200);
}

TEST_CASE("a node that retains and is assigned to retains the gradient of what it now is") {
  leaf w{1, 2, 3};
  auto y = tn::tensor(w * 2).retain_grad();
  y = w * 3;
  sum(y * slope).backward();
  requires_grad_of("assigned from an expression", y, 1, 10, 100);
  y = w.clone();
  sum(y * slope).backward();
  requires_grad_of("assigned from a node", y, 1, 10, 100);
  requires_grad_of("leaf", w, 4, 40, 400);
}

TEST_CASE("a view that retains, and its base") {
  leaf w{1, 2, 3};
  const auto y = tn::tensor(w * 2).retain_grad();
  const auto first = tn::tensor(y.at(tn::range<0, 2>()) * 1).retain_grad();
  sum(first * 4).backward();
  REQUIRE(first.grad()(1) == 4);
  requires_grad_of("base", y, 4, 4, 0);
  requires_grad_of("leaf", w, 8, 8, 0);
}

TEST_CASE("a node that does not retain keeps no gradient, whatever stands behind and before it") {
  leaf w{1, 2, 3};
  auto y = tn::tensor(w * 2);
  y *= 2;
  auto z = std::move(y).at(0).mul_(3);
  const auto c = z.clone().retain_grad();
  sum(c).backward();
  requires_grad_of("clone", c, 1, 1, 1);
  requires_grad_of("leaf", w, 12, 4, 4);
  const auto late = std::move(z).retain_grad();
  REQUIRE_FALSE(late.has_grad());
}
