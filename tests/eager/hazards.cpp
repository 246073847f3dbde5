// SPDX-License-Identifier: BSL-1.0
// Hazards of the rules together: calls that throw half way, nodes consumed through views of theirs, leaves that are assigned,
// gradients that are operands, and threads over one memory.
#include <thread>
#include <utility>

#include "values.hpp"

using node2 = on_device::tensor<double, shape<2>, tn::ownership::owning, tn::role::node>;

// Law: the arithmetic consumes the node; making the view does not.
TEST_CASE("a call that throws consumes nothing, a write through a view of a temporary node neither; one that succeeds consumes the node") {
  const auto w = leaf<2>(1, 2);
  auto dyn = there(tn::ones<double>(shape<tn::dyn>{}, 3));
  node2 y = w * 1;
  CHECK_THROWS_AS(std::move(y).add_(dyn), tn::shape_error);
  check_values(y, {1, 2});
  CHECK_THROWS_AS(std::move(y).copy_(dyn * 2), tn::shape_error);
  CHECK_THROWS_AS(y += dyn, tn::shape_error);
  CHECK_THROWS_AS(y = dyn, tn::shape_error);
  CHECK_THROWS_AS(y = dyn * 1, tn::shape_error);
  CHECK_THROWS_AS(std::move(y).at(2), tn::index_error);
  CHECK_THROWS_AS(std::move(y)[tn::range(1, 3)].mul_(2), tn::index_error);
  sum(y * y).backward();
  check_values(w.grad(), {2, 4});
  auto k = constant<2>(1, 2);
  CHECK_THROWS_AS(std::move(k).mul_(w * dyn), tn::shape_error);
  check_values(k, {1, 2});
  CHECK_THROWS_AS((std::move(y)[tn::range<0, 2>()].mul_(dyn)), tn::shape_error);
  check_values(y, {1, 2});
  auto z = std::move(y)[0].mul_(2);
  CHECK_THROWS_AS(y + 1, tn::ownership_error);
  CHECK_THROWS_AS(at(y, 0), tn::ownership_error);
  CHECK_THROWS_AS(y.detach(), tn::ownership_error);
  CHECK_THROWS_AS(std::move(y).detach(), tn::ownership_error);
  CHECK_THROWS_AS(y.backward(constant<2>(1, 1)), tn::ownership_error);
  CHECK_THROWS_AS(y.view(), tn::ownership_error);
  CHECK_THROWS_AS(y += 1, tn::ownership_error);
  CHECK_THROWS_AS(std::move(y).add_(1), tn::ownership_error);
  CHECK_THROWS_AS(std::move(y)[0].add_(1), tn::ownership_error);
  y = z * 1;
  sum(y).backward();
  check_values(w.grad(), {4, 5});
}

TEST_CASE("writes through any view of a node give the base back: transposed, reshaped, permuted, diagonal, nested") {
  const auto w = leaf<2, 3>({{1, 2, 3}, {4, 5, 6}});
  tn::tensor x = w * 1;
  x = std::move(x).transpose()[0].mul_(10);
  check_values(x, {10, 2, 3, 40, 5, 6});
  x = std::move(x).reshape<6>()[tn::range<1, 3>()].add_(w.at(1, tn::range<0, 2>()));
  check_values(x, {10, 6, 8, 40, 5, 6});
  x = std::move(x).at(tn::all, tn::range<1, 3>()).diagonal().fill_(0);
  check_values(x, {10, 0, 8, 40, 5, 0});
  x = std::move(x).permute<1, 0>().unsqueeze<0>()[0].at(1, 1).copy_(x[0][0] * 2);
  check_values(x, {10, 0, 8, 40, 20, 0});
  x = std::move(x)[1].copy_(x[0] * x[0]);
  check_values(x, {10, 0, 8, 100, 0, 64});
  sum(x).backward();  // x = [10 w00, 0, w02 + w11; (10 w00)^2, 0, (w02 + w11)^2]
  check_values(w.grad(), {10 + 2 * 100.0, 0, 1 + 16, 0, 1 + 16, 0});
}

TEST_CASE("rows of a node as operands of writes to it") {
  const auto w = leaf<2, 2>({{1, 2}, {3, 4}});
  tn::tensor x = w * 1;
  CHECK_THROWS_AS(x += x[0], tn::overlap_error);
  CHECK_THROWS_AS(x.copy_(x[1]), tn::overlap_error);
  CHECK_THROWS_AS(x *= x.transpose(), tn::overlap_error);
  x *= transpose(x) * 1;
  check_values(x, {1, 6, 6, 16});
  sum(x).backward();
  check_values(w.grad(), {2, 6, 4, 8});
  auto v = x[1];
  x = std::move(x)[0].mul_(v);
  check_values(x, {6, 96, 6, 16});
  auto v0 = x.at(0, tn::range<0, 1>());
  CHECK_THROWS_AS(std::move(x)[0].mul_(v0), tn::overlap_error);
}

TEST_CASE("an assigned leaf is another leaf: views, detached aliases and histories stay with the old one") {
  auto w = leaf<2>(1, 2);
  auto v = w.view();
  tn::tensor y = w * w;
  auto d = w.detach();
  w = leaf<2>(10, 20);
  CHECK(!w.has_grad());
  check_values(v, {1, 2});
  check_values(d, {1, 2});
  sum(y).backward();
  CHECK(!w.has_grad());
  sum(v).backward();
  CHECK(!w.has_grad());
  sum(w * w).backward();
  check_values(w.grad(), {20, 40});
  auto u = tn::deepcopy(w);
  w = std::move(u);
  check_values(w.grad(), {20, 40});
  CHECK_THROWS_AS(u.grad(), tn::ownership_error);
  w = constant<2>(5, 6).requires_grad_();
  CHECK(!w.has_grad());
}

TEST_CASE("in-place arithmetic of mixed element types sends each gradient back in its own") {
  const auto f = there(tn::variable<float, shape<2>>{1, 2});
  const auto d = leaf<2>(0.5, 3);
  tn::tensor y = f * 1.f;
  y += d;
  y *= d;
  static_assert(std::is_same_v<tn::element_t<decltype(y)>, float>);
  sum(y).backward();  // (f+d)*d
  check_values(f.grad(), {.5, 3});
  check_values(d.grad(), {2, 8});
  tn::tensor z = d * 1.0;
  z -= f;
  z /= f;
  sum(z).backward();
  check_values(d.grad(), {3, 8.5});
  check_values(f.grad(), {.5 - .5, 3 - .75});
  auto n = there(tn::tensor<std::int64_t, shape<2>>{2, 3});
  y = f * 1.f;
  y *= n;
  y += true;
  sum(y).backward();
  check_values(f.grad(), {2, 5.25});
  auto c = there(tn::zeros<double>(shape<2>{})).add_(f).mul_(n);
  sum(c).backward();
  check_values(f.grad(), {4, 8.25});
  auto g = there(tn::tensor<float, shape<2>>{1, 1}).mul_(d * f);
  sum(g).backward();
  CHECK(at(d.grad(), 0) == 4);
}

TEST_CASE("a leaf over a slice of a constant: writes to the rest of it count") {
  auto k = constant<4>(1, 2, 3, 4);
  auto s = k[tn::range<1, 3>()].requires_grad_();
  static_assert(tn::is_leaf_v<decltype(s)>);
  sum(s * s).backward();
  check_values(s.grad(), {4, 6});
  tn::tensor y = s * s;
  k.at(0) = 100.0;
  CHECK_THROWS_AS(sum(y).backward(), tn::ownership_error);
  sum(s).backward();
  check_values(s.grad(), {5, 7});
  auto t = k.transpose<0, 0>().requires_grad_();
  (void)t;
  const auto kc = k.clone();
  auto ro = kc.view().requires_grad_();
  static_assert(tn::access_of_v<decltype(ro)> == tn::access::read_only);
  sum(ro * ro).backward();
  check_values(ro.grad(), {200, 4, 6, 8});
  auto e = constant<1>(2).expand<3>().requires_grad_();
  sum(e * e).backward();
  check_values(e.grad(), {4, 4, 4});
  auto ed = tn::deepcopy(e);
  tn::no_grad([](auto v) { v[0] = 1.0; }, ed);
  check_values(ed, {1, 2, 2});
  check_values(e, {2, 2, 2});
}

TEST_CASE("gradients as operands, kept, zeroed and written between calls of backward()") {
  auto w = leaf<2>(1, 2);
  sum(w * w).backward();
  auto g = w.grad();
  tn::tensor held = g * 1;
  w.zero_grad();
  check_values(held, {2, 4});
  sum(w * g).backward();
  check_values(w.grad(), {0, 0});
  sum(w * 3).backward();
  tn::tensor y = w * g;
  w.zero_grad();
  CHECK_THROWS_AS(sum(y).backward(), tn::ownership_error);
  check_values(w.grad(), {0, 0});
  sum(w + g).backward();
  check_values(w.grad(), {1, 1});
  auto gl = w.grad().requires_grad_();
  sum(gl * gl * w).backward();
  check_values(gl.grad(), {2, 4});
  check_values(gl, {2, 2});
  static_assert(tn::access_of_v<decltype(std::as_const(w).grad())> == tn::access::read_only);
}

TEST_CASE("threads share memory, not a leaf: each has its own over a detached alias") {
  auto w = leaf<4>(1, 2, 3, 4);
  std::vector<std::thread> ts;
  std::vector<on_device::tensor<double, shape<4>>> gs(4);
  for (std::size_t t = 0; t < 4; ++t)
    ts.emplace_back([&, t] {
      auto mine = w.detach().requires_grad_();
      for (int i = 0; i < 100; ++i) sum(mine * mine * double(t)).backward();
      gs[t] = mine.grad() * 1.0;
    });
  for (auto& t : ts) t.join();
  for (std::size_t t = 0; t < 4; ++t) check_values(gs[t], {200.0 * double(t), 400.0 * double(t), 600.0 * double(t), 800.0 * double(t)});
}

TEST_CASE("a concat of parts of its own target reads all before it writes") {
  const auto y = constant<4>(10, 20, 30, 40);
  auto x = constant<4>(1, 2, 3, 4);
  x = tn::concat<0>(tn::slice<0, 0, 2>(y) * 2, tn::slice<0, 0, 2>(x) * 3);
  check_values(x, {20, 40, 3, 6});
  x = tn::concat<0>(y[tn::range<2, 4>()] * 2, x[tn::range<0, 2>()] * 3);
  check_values(x, {60, 80, 60, 120});
  x = tn::concat<0>(tn::slice<0, 2, 2>(x) + 1, tn::slice<0, 0, 2>(x) + 1);
  check_values(x, {61, 121, 61, 81});
  x.copy_(tn::concat<0>(tn::slice<0, 1, 3>(x), tn::slice<0, 0, 1>(x)));
  check_values(x, {121, 61, 81, 61});
}
