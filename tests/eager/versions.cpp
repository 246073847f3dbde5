// SPDX-License-Identifier: BSL-1.0
// One version counter a storage; exactly the values that a derivative reads are checked, before any gradient is written.
#include "values.hpp"

TEST_CASE("P11 unsafe_data aliases storage but has its own version counter") {
  auto x = leaf<3>(1, 2, 3);
  auto d = x.unsafe_data();
  auto e = x.detach();
  d.mul_(2);
  CHECK(std::vector{x.version(), d.version(), e.version()} == std::vector<std::uint64_t>{0, 1, 0});
  e.mul_(3);
  CHECK(std::vector{x.version(), d.version(), e.version()} == std::vector<std::uint64_t>{1, 1, 1});
  check_values(x, {6, 12, 18});
  static_assert(!tn::requires_grad_v<decltype(d)>);
}

namespace {
struct two_products {
  decltype(constant<1, 2>()) x = constant<1, 2>({{1, 2}});
  decltype(leaf<2, 1>()) w1 = leaf<2, 1>({{2}, {1}});
  decltype(leaf<1>()) w2 = leaf<1>(3);
};
}  // namespace

TEST_CASE("P12 modifying through unsafe_data after save gives a silently wrong gradient") {
  two_products t;
  tn::tensor d = matmul(t.x, t.w1);
  auto alias = d.unsafe_data();
  const tn::tensor f = matmul(d, t.w2);
  alias.fill_(1);
  f.backward();
  check_values(f, {12});
  check_values(t.w1.grad(), {3, 6});
  check_values(t.w2.grad(), {1});  // the true one is 4: what the name unsafe_data warns of
}

TEST_CASE("P13 modifying through detach() after save is caught") {
  two_products t;
  tn::tensor d = matmul(t.x, t.w1);
  auto alias = d.detach();
  const tn::tensor f = matmul(d, t.w2);
  alias.fill_(1);
  CHECK_THROWS_AS(f.backward(), tn::ownership_error);
  CHECK_FALSE(t.w1.has_grad());
  CHECK_FALSE(t.w2.has_grad());
}

// Law: if a saved value was overwritten, through any alias, backward() throws.
TEST_CASE("P14 two-level alias chain: detach of a slice writes into the base") {
  auto x = constant<4>(1, 2, 3, 4);
  auto v = x[tn::range<1, 3>()];
  auto w = v.detach();
  w[0] = 50.0;
  check_values(x, {1, 50, 3, 4});
  check_values(v, {50, 3});
  CHECK(std::vector{x.version(), v.version(), w.version()} == std::vector<std::uint64_t>{1, 1, 1});
}

TEST_CASE("P36 backward twice without retaining") {
  const auto x = leaf<2>(1, 2);
  const auto y = sum(x * x);
  y.backward();
  check_values(x.grad(), {2, 4});
  CHECK_THROWS_AS(y.backward(), tn::ownership_error);
  check_values(x.grad(), {2, 4});
  const tn::tensor z = sum(x * x);
  z.backward();
  CHECK_THROWS_AS(z.backward(), tn::ownership_error);
  check_values(x.grad(), {4, 8});
}

TEST_CASE("P37 retain_graph allows a second backward, which accumulates") {
  const auto x = leaf<2>(1, 2);
  const auto y = sum(x * x);
  y.backward(tn::retain_graph);
  y.backward();
  check_values(x.grad(), {4, 8});
  const tn::tensor z = sum(x * x);
  z.backward(tn::retain_graph);
  z.backward();
  check_values(x.grad(), {8, 16});
}

TEST_CASE("P38 backward twice is fine when the graph saved nothing") {
  const auto x = leaf<2>(1, 2);
  const auto y = sum(x + 3);
  y.backward();
  y.backward();
  check_values(x.grad(), {2, 2});
  const tn::tensor z = sum(x + 3);
  z.backward();
  z.backward();
  check_values(x.grad(), {4, 4});
}

TEST_CASE("P53 modifying an operand saved by mul") {
  const auto x = leaf<2>(1, 2);
  tn::tensor y = x * 1;
  const tn::tensor z = y * y;
  y.add_(1);
  const auto loss = sum(z);
  CHECK_THROWS_AS(loss.backward(), tn::ownership_error);
  CHECK_FALSE(x.has_grad());
}

TEST_CASE("P54 add saves nothing, so later modification is fine") {
  const auto x = leaf<2>(1, 2);
  tn::tensor y = x * 1;
  const tn::tensor z = y + y;
  y.mul_(10);
  sum(z).backward();
  check_values(x.grad(), {2, 2});
  check_values(z, {2, 4});
  check_values(y, {10, 20});
}

TEST_CASE("P55 evaluated results are snapshots") {
  auto x = constant<3>(1, 2, 3);
  const tn::tensor y = x * 2 + 1;
  const auto unevaluated = x * 2 + 1;
  x.add_(100);
  check_values(y, {3, 5, 7});
  check_values(x, {101, 102, 103});
  CHECK_THROWS_AS(tn::eval(unevaluated), tn::ownership_error);
}

TEST_CASE("item() and backward() keep the value that they computed") {
  auto x = leaf<2>(1, 2);
  const auto loss = sum(x * x);
  loss.backward();
  tn::no_grad([](auto v) { v.fill_(0); }, x);
  CHECK(loss.item() == 5);
}

// Law: a backward() that throws changes nothing.
TEST_CASE("no gradient is written when a value deep in the graph was overwritten") {
  auto x = leaf<2>(1, 2);
  const auto w = leaf<2>(3, 4);
  const tn::tensor y = exp(x);
  const tn::tensor z = y + w;
  auto alias = y.detach().clone();  // not an alias: writing it changes nothing
  alias.fill_(0);
  sum(z).backward(tn::retain_graph);
  check_values(w.grad(), {1, 1});
  tn::tensor s = exp(x);
  const auto loss = sum(s + w);
  auto into = s.detach();
  const tn::tensor kept = loss;
  into.fill_(0);
  CHECK_THROWS_AS(kept.backward(), tn::ownership_error);
  check_values(w.grad(), {1, 1});
}

TEST_CASE("each operation saves what its derivative reads, and nothing else") {
  const auto x = leaf<2>(0.5, 0.25);
  const auto survives_input_write = [&](auto make) {
    tn::tensor y = x * 1;
    const tn::tensor z = make(y);
    y.add_(1);
    try {
      sum(z).backward();
      return true;
    } catch (const tn::ownership_error&) {
      return false;
    }
  };
  CHECK(survives_input_write([](const auto& y) { return exp(y); }));
  CHECK(survives_input_write([](const auto& y) { return y * 3.0; }));
  CHECK(survives_input_write([](const auto& y) { return y - 1; }));
  CHECK(survives_input_write([](const auto& y) { return sqrt(y); }));
  CHECK(survives_input_write([](const auto& y) { return transpose(reshape<2, 1>(y)); }));
  CHECK_FALSE(survives_input_write([](const auto& y) { return sin(y); }));
  CHECK_FALSE(survives_input_write([](const auto& y) { return square(y); }));
  CHECK_FALSE(survives_input_write([](const auto& y) { return tanh(y); }));  // its slope is lost in a result that is rounded to 1
  CHECK_FALSE(survives_input_write([](const auto& y) { return log(y); }));
}

TEST_CASE("a result that its derivative reads must not be overwritten") {
  const auto x = leaf<2>(0.5, 0.25);
  tn::tensor y = exp(x);
  y.mul_(2);
  CHECK_THROWS_AS(sum(y).backward(), tn::ownership_error);
  tn::tensor z = sin(x);
  z.mul_(2);
  sum(z).backward();
  check_values(x.grad(), {2 * std::cos(0.5), 2 * std::cos(0.25)});
}

TEST_CASE("a moved-from tensor throws") {
  auto x = constant<2>(1, 2);
  const auto taken = std::move(x);
  CHECK_THROWS_AS(x.clone(), tn::ownership_error);
  CHECK_THROWS_AS(x + taken, tn::ownership_error);
  CHECK_THROWS_AS(x.add_(1), tn::ownership_error);
  on_device::tensor<double, shape<tn::dyn>> any = constant<2>(1, 2);
  const auto held = std::move(any);
  CHECK_THROWS_AS(any.add_(taken), tn::ownership_error);  // before the shapes are compared
}
