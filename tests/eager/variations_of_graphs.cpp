// SPDX-License-Identifier: BSL-1.0
// Variations of the rules of gradients: repeated backward, leaves used twice, nodes in place, what a graph keeps alive, and
// expressions that outlive what they were made from. What they expect follows from PyTorch's documented semantics.
#include <limits>
#include <optional>
#include <utility>

#include "values.hpp"

// ---- backward, again and again -------------------------------------------------------------------------------------

TEST_CASE("two losses share a part of the graph: freeing it for one is an error of the other, which writes nothing") {
  const auto w = leaf<2>(1, 2), b = leaf<2>(3, 4);
  const tn::tensor shared = exp(w);
  const tn::tensor first = sum(shared * 2), second = sum(shared * b);
  first.backward();
  const auto once = values(w.grad());
  CHECK_THROWS_AS(second.backward(), tn::ownership_error);
  CHECK_FALSE(b.has_grad());
  check_values(w.grad(), once);
}

TEST_CASE("retaining is per call, and accumulates each time") {
  const auto w = leaf<2>(1, 2);
  const tn::tensor y = w * w;
  const tn::tensor z = sum(y * y);
  z.backward(tn::retain_graph);
  z.backward(true);
  z.backward(false);
  check_values(w.grad(), {12, 96});
  CHECK_THROWS_AS(z.backward(), tn::ownership_error);
  CHECK_THROWS_AS(z.backward(tn::retain_graph), tn::ownership_error);
  check_values(w.grad(), {12, 96});
}

TEST_CASE("a failed backward() may be made again once nothing stands in its way") {
  auto w = leaf<2>(1, 2);
  const auto e = sum(w * w);
  CHECK_THROWS_AS((w * w).backward(constant<2>(1, 2).at(tn::range(0, 1))), tn::shape_error);
  CHECK_FALSE(w.has_grad());
  e.backward();
  check_values(w.grad(), {2, 4});
  const tn::tensor y = w * w;
  CHECK_THROWS_AS(y.backward(there(tn::ones<double>(shape<tn::dyn>{}, 3))), tn::shape_error);
  y.backward(there(tn::ones<double>(shape<tn::dyn>{}, 2)));
  check_values(w.grad(), {4, 8});
}

TEST_CASE("a leaf over a detached alias copies deeply, and is a constant again when asked") {
  auto base = constant<2, 2>({{1, 2}, {3, 4}});
  auto w = base.at(tn::all, 1).detach().requires_grad_();
  sum(w * w).backward();
  const auto copy = tn::deepcopy(w);
  static_assert(tn::ownership_of_v<decltype(copy)> == tn::ownership::owning && tn::is_leaf_v<decltype(copy)>);
  check_values(copy.grad(), {4, 8});
  const tn::tensor y = w * w;
  auto c = std::move(w).requires_grad_<false>();
  c.fill_(0);
  check_values(base, {1, 0, 3, 0});
  check_values(copy, {2, 4});
  CHECK_THROWS_AS(sum(y).backward(), tn::ownership_error);
}

TEST_CASE("a gradient that a graph has saved may be accumulated into by that graph's own backward()") {
  const auto w = leaf<2>(2, 3);
  sum(w * w).backward();  // grad = 2w
  const auto g = w.grad();
  const tn::tensor y = w * g;                  // d/dw = g = {4, 6}
  const tn::tensor z = w * 10;
  const tn::tensor loss = sum(z) + sum(y);
  loss.backward();
  check_values(w.grad(), {4 + 4 + 10, 6 + 6 + 10});
  check_values(g, {18, 22});  // an alias of it
}

TEST_CASE("gradients seen through an alias: accumulated into, zeroed, written") {
  auto w = leaf<2>(1, 2);
  sum(w * w).backward();
  auto g = w.grad();
  sum(w).backward();
  check_values(g, {3, 5});
  w.zero_grad();
  check_values(g, {0, 0});
  sum(w * 4).backward();
  check_values(g, {4, 4});
  g.fill_(7);
  sum(w).backward();
  check_values(w.grad(), {8, 8});
  w.zero_grad();
  g.add_(1);
  sum(w).backward();
  check_values(g, {2, 2});
  static_assert(tn::ownership_of_v<decltype(g)> == tn::ownership::detached);
}

TEST_CASE("a leaf used twice, thrice, through views and clones of itself") {
  const auto w = leaf<2, 2>({{1, 2}, {3, 4}});
  sum(matmul(w, transpose(w))).backward();
  check_values(w.grad(), {8, 12, 8, 12});
  const auto v = w.view();
  sum(w * v + w.clone() * v.transpose()).backward();
  // 2w from the first; from the second w^T twice
  check_values(w.grad(), {8 + 2 + 2, 12 + 4 + 6, 8 + 6 + 4, 12 + 8 + 8});
}

TEST_CASE("a leaf that ends before backward(), and one that moves") {
  std::optional<on_device::tensor<double, shape<>, tn::ownership::owning, tn::role::node>> loss;
  {
    const auto gone = leaf<2>(1, 2);
    loss.emplace(sum(gone * gone));
  }
  loss->backward();
  auto w = leaf<2>(1, 2);
  const tn::tensor y = sum(w * w);
  const auto moved = std::move(w);
  y.backward();
  check_values(moved.grad(), {2, 4});
  CHECK_THROWS_AS(w.has_grad(), tn::ownership_error);
}

TEST_CASE("tensors in containers, swapped and sorted by move") {
  std::vector<decltype(leaf<1>())> layers;
  for (double i : {1.0, 2.0, 3.0}) layers.push_back(leaf<1>(i));
  const tn::tensor product = layers[0] * layers[1] * layers[2];
  sum(product).backward();
  std::swap(layers[0], layers[2]);
  check_values(layers[0], {3});
  check_values(layers[0].grad(), {2});
  check_values(layers[2].grad(), {6});
  std::vector<decltype(layers[0].view())> views;
  for (const auto& l : layers) static_cast<void>(l);
  for (auto& l : layers) views.push_back(l.view());
  auto total = tn::tensor(views[0] + views[1]);
  for (auto& v : views) total = total * v;
  sum(total).backward();
  CHECK(at(layers[1].grad(), 0) == 3 + (3 * 1 * 2 + (3 + 2) * 3 * 1));
}

// ---- in-place on nodes ---------------------------------------------------------------------------------------------

TEST_CASE("chains of in-place arithmetic on a node, with itself and with what was made from it") {
  const auto w = leaf<2>(2, 3);
  tn::tensor y = w * 1;
  y.add_(y).mul_(y).sub_(w);  // 4 w^2 - w
  check_values(y, {14, 33});
  sum(y).backward();
  check_values(w.grad(), {15, 23});
  tn::tensor z = w * 2;
  const tn::tensor before = z + 1;
  z.mul_(before);  // 2w (2w + 1)
  (sum(z) + sum(before)).backward();
  check_values(w.grad(), {15 + 8 * 2 + 2 + 2, 23 + 8 * 3 + 2 + 2});
  tn::tensor q = w * w;
  q /= w;
  q -= q * 0.5;
  sum(q).backward();
  check_values(q, {1, 1.5});
  check_values(w.grad(), {36 - 1 + 0.5, 51 + 0.5});
}

TEST_CASE("overwriting what another node has saved is caught, whoever does it") {
  const auto w = leaf<2>(1, 2);
  {
    tn::tensor y = exp(w);
    const tn::tensor z = y * 2;  // scaling saves nothing, but exp saved its result
    y += 1;
    CHECK_THROWS_AS(sum(z).backward(), tn::ownership_error);
  }
  {
    tn::tensor y = w * 1;
    const tn::tensor z = sin(y);
    auto other = std::move(y).at(0).fill_(0);
    CHECK_THROWS_AS(sum(z).backward(), tn::ownership_error);
    sum(other).backward();
    check_values(w.grad(), {0, 1});
  }
  {
    tn::tensor y = w * 1;
    const auto e = y * 2;
    y.mul_(3);
    CHECK_THROWS_AS(tn::eval(e), tn::ownership_error);
    CHECK_THROWS_AS(sum(e).backward(), tn::ownership_error);
    sum(y).backward();
    check_values(w.grad(), {3, 4});
  }
}

TEST_CASE("a view of a node that went on in place is refused as the start of backward() too") {
  const auto w = leaf<2>(1, 2);
  tn::tensor y = w * 1;
  const auto v = y.view();
  const auto first = v[0];
  y.mul_(3);
  CHECK_THROWS_AS(v.backward(constant<2>(1, 1)), tn::ownership_error);
  CHECK_THROWS_AS(first.backward(), tn::ownership_error);
  CHECK_THROWS_AS(v.clone(), tn::ownership_error);
  CHECK_FALSE(w.has_grad());
  y[0].backward();
  check_values(w.grad(), {3, 0});
}

TEST_CASE("retained gradients of nodes that go on in place") {
  const auto w = leaf<2>(1, 2);
  auto y = tn::tensor(w * 2).retain_grad();
  y.mul_(3);  // the gradient that is kept is that of the tensor as it now is
  sum(y * y).backward();
  check_values(y.grad(), {12, 24});
  check_values(w.grad(), {72, 144});
  auto z = tn::tensor(w * 2).retain_grad().add_(1);
  sum(z * 5).backward();
  check_values(z.grad(), {5, 5});
}

TEST_CASE("assigning to a node moves it to new memory and leaves its aliases") {
  const auto w = leaf<2>(1, 2);
  tn::tensor y = w * 2;
  const auto old = y.detach();
  const tn::tensor z = y * y;
  y = y + w;
  check_values(y, {3, 6});
  check_values(old, {2, 4});
  (sum(z) + sum(y)).backward();
  check_values(w.grad(), {8 + 3, 16 + 3});
}

TEST_CASE("a consumed tensor is empty") {
  const auto w = leaf<2>(1, 2);
  tn::tensor y = w * 2;
  const auto z = std::move(y).add_(1);
  CHECK_THROWS_AS(y + 1, tn::ownership_error);
  CHECK_THROWS_AS(y.backward(constant<2>(1, 1)), tn::ownership_error);
  CHECK_THROWS_AS(y.detach(), tn::ownership_error);
  auto c = constant<2>(1, 2);
  const auto node = std::move(c).mul_(w);
  CHECK_THROWS_AS(at(c, 0), tn::ownership_error);
  CHECK_THROWS_AS(std::move(c).add_(1), tn::ownership_error);
  constexpr auto doubled = tn::compile([](auto x) { return x * 2; });
  CHECK_THROWS_AS(doubled(c), tn::ownership_error);
  CHECK_THROWS_AS(doubled.into(c)(w.detach()), tn::ownership_error);
  c = constant<2>(5, 6);  // and may be given new memory
  check_values(c, {5, 6});
}

// ---- expressions are values -----------------------------------------------------------------------------------------

namespace {

auto outlives_its_operands() {
  const auto local = constant<2>(3, 4);
  auto kept = leaf<2>(1, 2);
  return kept * local + constant<2>(10, 20) * 2;
}
const auto scaled = [](const auto& x) { return x * 2; };
auto of_an_argument(on_device::tensor<double, shape<2, 2>> x) { return transpose(x) + x[0]; }
auto of_a_view_of_a_temporary() { return there(tn::arange<double>(shape<6>{})).reshape<2, 3>().transpose()[1] * 10; }
auto of_a_number(double n) { return constant<2>(1, 2) * n + n; }
template <class X>
auto twice_nested(const X& x) {
  const auto inner = x + 1;
  const auto outer = [inner] { return inner * inner; };
  return outer();
}

}  // namespace

TEST_CASE("expressions hold what they need: temporaries, locals, arguments, views of temporaries, numbers, lambdas") {
  const auto e = outlives_its_operands();
  check_values(e, {23, 48});
  sum(e).backward();
  check_values(of_an_argument(constant<2, 2>({{1, 2}, {3, 4}})), {2, 5, 3, 6});
  check_values(of_a_view_of_a_temporary(), {10, 40});
  check_values(of_a_number(3), {6, 9});
  check_values(twice_nested(constant<2>(1, 2)), {4, 9});
  const auto chain = scaled(scaled(scaled(constant<2>(1, 2))));
  check_values(chain, {8, 16});
  check_values(chain, {8, 16});  // a reused auto is computed again
  std::vector<std::remove_const_t<decltype(chain)>> many(3, chain);
  check_values(many[2] + many[0], {16, 32});
  auto copy = chain;
  auto moved = std::move(copy);
  check_values(moved, {8, 16});
}

TEST_CASE("views, slices and exports of what a function returns") {
  const auto make = [] { return there(tn::arange<double>(shape<4>{})); };
  auto head = make()[tn::range<0, 2>()];
  auto d = make().detach();
  auto column = make().reshape<2, 2>().at(tn::all, 1);
  check_values(head, {0, 1});
  check_values(d, {0, 1, 2, 3});
  check_values(column, {1, 3});
  const auto grad_of_temporary = [] {
    auto w = leaf<2>(1, 2);
    sum(w * w).backward();
    return w.grad();
  }();
  check_values(grad_of_temporary, {2, 4});
}

TEST_CASE("what a ternary, a structured binding and a returned tuple hold") {
  const auto a = constant<2>(1, 2), b = constant<2>(3, 4);
  const auto pick = [&](bool first) { return first ? a * 2 : b * 2; };
  check_values(pick(false), {6, 8});
  const auto both = [] {
    auto x = constant<2>(1, 2);
    return std::tuple(x + 1, x[0], std::move(x));
  };
  const auto [e, v, x] = both();
  check_values(e, {2, 3});
  CHECK(v.item() == 1);
  check_values(x, {1, 2});
}

TEST_CASE("assigning to a tensor that an expression holds is a write") {
  auto x = constant<2>(1, 2);
  const auto e = x * 2;
  x = constant<2>(10, 20);
  check_values(x, {10, 20});
  CHECK_THROWS_AS(tn::eval(e), tn::ownership_error);
}

TEST_CASE("the sum over a broadcast, an infinite and a NaN element of a saved value") {
  const auto w = leaf<2, 1>({{0}, {std::numeric_limits<double>::infinity()}});
  const tn::tensor y = w * constant<2>(1, 2);
  sum(y).backward();
  check_values(w.grad(), {3, 3});
}
