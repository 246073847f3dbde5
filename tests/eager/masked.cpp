// SPDX-License-Identifier: BSL-1.0
// Masked writes follow the rules of the other in-place functions: versions, roles, overlap, views of nodes.
#include "values.hpp"

namespace {
using mask3 = tn::tensor<bool, tn::shape<3>>;
}

TEST_CASE("masked writes to a constant count as one write") {
  auto x = constant<2, 3>({{1, 2, 3}, {4, 5, 6}});
  const auto mask = there(mask3{true, false, true});
  x.masked_fill_(mask, -1);
  check_values(x, {-1, 2, -1, -1, 5, -1});
  CHECK(x.version() == 1);
  x.where_(x > 0, constant<2, 1>({{7}, {8}}));  // the mask reads the old elements
  check_values(x, {7, 2, 7, 8, 5, 8});
  CHECK(x.version() == 2);
  x.transpose().masked_fill_(there(tn::tensor<bool, tn::shape<3, 2>>{{false, true}, {true, false}, {false, false}}), 0.5);
  check_values(x, {7, 0.5, 7, 0.5, 5, 8});
  x[1].zero_();
  check_values(x, {7, 0.5, 7, 0, 0, 0});
  CHECK(x.version() == 4);
  auto counts = there(tn::tensor<int, tn::shape<3>>{1, 2, 3});
  counts.masked_fill_(mask, 9).where_(counts > 2, 0);
  CHECK(at(counts, 0) == 9);
  CHECK(at(counts, 1) == 0);
  auto flags = there(mask3{true, false, false});
  flags.where_(mask, true).masked_fill_(mask, false);
  CHECK(at(flags, 0) == false);
  CHECK(at(flags, 1) == true);
  CHECK(at(flags, 2) == false);
}

TEST_CASE("a masked write to a node gives it a new history") {
  const auto w = leaf<3>(1, 2, 3);
  const auto mask = there(mask3{true, false, false});
  tn::tensor y = w * 2.0;
  y.masked_fill_(mask, 10.0);
  check_values(y, {10, 4, 6});
  sum(y * y).backward();
  check_values(w.grad(), {0, 2 * 4 * 2, 2 * 6 * 2});
  auto v = leaf<3>(1, 2, 3);
  auto s = leaf<>(5);
  tn::tensor z = v * 3.0;
  auto filled = std::move(z).masked_fill_(z > 5.0, s);
  check_values(filled, {3, 5, 5});
  sum(filled).backward();
  check_values(v.grad(), {3, 0, 0});
  check_values(s.grad(), {2});
  // A constant that takes a tracked value becomes a node, so it is consumed.
  auto u = leaf<3>(1, 1, 1);
  auto node = constant<3>(1, 2, 3).where_(mask, u * 4.0);
  check_values(node, {1, 4, 4});
  sum(node).backward();
  check_values(u.grad(), {0, 4, 4});
  tn::tensor zeroed = v * 3.0;
  zeroed.zero_();
  v.zero_grad();
  (sum(zeroed) + sum(v)).backward();
  check_values(v.grad(), {1, 1, 1});
}

TEST_CASE("a masked write through a view of a node gives the whole node back") {
  const auto w = leaf<2, 2>({{1, 2}, {3, 4}});
  tn::tensor y = w * 1.0;
  auto z = std::move(y)[0].masked_fill_(there(tn::tensor<bool, tn::shape<2>>{false, true}), 0);
  check_values(z, {1, 0, 3, 4});
  sum(z * z).backward();
  check_values(w.grad(), {2, 0, 6, 8});
  tn::tensor a = w * 1.0;
  auto b = std::move(a)[1].zero_();
  check_values(b, {1, 2, 0, 0});
}

TEST_CASE("a masked write is refused where a gradient reads the old value, and where memory overlaps") {
  auto w = leaf<3>(1, 2, 3);
  auto c = constant<3>(1, 2, 3);
  const tn::tensor product = w * c;
  c.masked_fill_(there(mask3{true, false, false}), 0);
  CHECK_THROWS_AS(sum(product).backward(), tn::ownership_error);
  CHECK_FALSE(w.has_grad());
  auto x = constant<4>(1, 2, 3, 4);
  const auto front = x[tn::range<0, 3>()];
  const auto mask = there(mask3{true, true, false});
  CHECK_THROWS_AS((x[tn::range<1, 4>()].where_(mask, front)), tn::overlap_error);
  check_values(x, {1, 2, 3, 4});
  tn::no_grad([](auto v) { v.masked_fill_(v > 2.0, 0).where_(v > 1.0, -1); }, w);
  check_values(w, {-1, 2, -1});
  auto d = there(tn::tensor<double, tn::shape<tn::dyn>>(3));
  CHECK_THROWS_AS(d.masked_fill_(there(tn::zeros<bool>(tn::shape<tn::dyn>{}, 4)), 1), tn::shape_error);
}
