// SPDX-License-Identifier: BSL-1.0
// In-place operations on memory to which other code holds a span: of this memory the graph keeps a copy, which needs memory too.
#include "injected.hpp"

namespace {

using tn::shape;
using leaf = tn::variable<double, shape<2>>;
using vector = tn::tensor<double, shape<2>>;

auto exported_node_and_leaf() {
  leaf w{2, 4};
  tn::tensor y = w * 1.0;
  auto seen = y.detach();
  static_cast<void>(tn::as_span(seen));
  return std::tuple(std::move(w), std::move(y));
}
auto exported_constant_and_leaf() {
  vector c{10, 20};
  static_cast<void>(tn::as_span(c));
  return std::tuple(leaf{2, 4}, std::move(c));
}

}  // namespace

TEST_CASE("the copy of a result that a derivative reads has its memory before the result is written") {
  CHECK(check_failures(exported_node_and_leaf, [](auto& w) { std::get<1>(w).copy_(exp(std::get<0>(w))); }) >= 2);
  CHECK(check_failures(exported_constant_and_leaf, [](auto& w) { return std::move(std::get<1>(w)).copy_(exp(std::get<0>(w))); }) >= 2);
}

TEST_CASE("the copy keeps the value that was written") {
  auto world = exported_node_and_leaf();
  auto& [w, y] = world;
  y.copy_(exp(w));
  sum(y).backward();
  CHECK(w.grad()(0) == Approx(std::exp(2.0)));
}

TEST_CASE("inside no_grad a constant is consumed only if the call does not throw") {
  const auto constant_and_leaf = [] { return std::tuple(leaf{2, 4}, vector{10, 20}); };
  CHECK(check_failures(constant_and_leaf, [](auto& w) {
          tn::no_grad([&](auto) { static_cast<void>(std::move(std::get<1>(w)).copy_(exp(std::get<0>(w)))); }, std::get<0>(w));
        }) >= 1);
}
