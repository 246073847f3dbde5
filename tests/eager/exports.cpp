// SPDX-License-Identifier: BSL-1.0
// Writes through a span, map or DLPack handle that was taken before a graph saved the memory: no counter sees them. Law: the gradient is
// that of the values that the forward pass read; what is counted is checked as everywhere.
#include <tenure/interop/dlpack.hpp>
#include <tenure/interop/eigen.hpp>
#include <tenure/tenure.hpp>

#include "catch.hpp"

namespace tn = tenure;

namespace {

using leaf = tn::variable<double, tn::shape<3>>;
using vector = tn::tensor<double, tn::shape<3>>;

void requires_equal(const vector& found, double a, double b, double c) {
  CAPTURE(found(0), found(1), found(2));
  REQUIRE(found(0) == a);
  REQUIRE(found(1) == b);
  REQUIRE(found(2) == c);
}

}  // namespace

TEST_CASE("a span that was taken before the save: the gradient is that of the saved values") {
  leaf x{1, 2, 3};
  auto d = x.detach();
  const auto s = tn::as_span(d);
  const tn::tensor y = sum(x * x * x);
  s[0] = 10;
  y.backward();
  requires_equal(x.grad().clone(), 3, 12, 27);
}

TEST_CASE("Eigen's maps and DLPack handles too") {
  leaf x{1, 2, 3}, w{1, 1, 1};
  auto d = x.detach(), e = w.detach();
  auto map = tn::as_eigen(d);
  const auto handle = tn::to_dlpack(e);
  const tn::tensor y = sum(exp(x) * w);
  map.setZero();
  static_cast<double*>(handle->view.data)[1] = 50;
  y.backward();
  requires_equal(x.grad().clone(), std::exp(1.0), std::exp(2.0), std::exp(3.0));
  requires_equal(w.grad().clone(), std::exp(1.0), std::exp(2.0), std::exp(3.0));
}

TEST_CASE("constants, views and stretched operands in exported memory") {
  leaf w{1, 2, 3};
  tn::tensor<double, tn::shape<3, 3>> m{{1, 2, 3}, {4, 5, 6}, {7, 8, 9}};
  const auto s = tn::as_span(m);
  const tn::tensor by_row = sum(w * m[1]), by_column = sum(w * m.transpose()[0]), by_diagonal = sum(w * m.diagonal());
  const tn::tensor stretched = sum(w * w * m.at(0, tn::range<1, 2>()).expand<3>());
  const tn::tensor product = sum(matmul(m, w));
  for (double& v : s) v = -1;
  by_row.backward();
  requires_equal(w.grad().clone(), 4, 5, 6);
  w.zero_grad(), by_column.backward();
  requires_equal(w.grad().clone(), 1, 4, 7);
  w.zero_grad(), by_diagonal.backward();
  requires_equal(w.grad().clone(), 1, 5, 9);
  w.zero_grad(), stretched.backward();
  requires_equal(w.grad().clone(), 4, 8, 12);
  w.zero_grad(), product.backward();
  requires_equal(w.grad().clone(), 12, 15, 18);
}

TEST_CASE("a result that the derivative reads, in exported memory") {
  leaf w{0, 1, 2};
  vector c{1, 1, 1};
  const auto s = tn::as_span(c);
  const tn::tensor y = std::move(c).copy_(exp(w));
  s[1] = 100;
  sum(y).backward();
  requires_equal(w.grad().clone(), 1, std::exp(1.0), std::exp(2.0));
}

TEST_CASE("an update in place of exported memory") {
  leaf w{1, 2, 3};
  vector c{4, 5, 6};
  const auto s = tn::as_span(c);
  const tn::tensor y = std::move(c).mul_(w);  // reads the old c
  s[0] = 100;
  sum(y).backward();
  requires_equal(w.grad().clone(), 4, 5, 6);
}

TEST_CASE("counted writes are checked, and later exports refused, whatever was exported before") {
  leaf x{1, 2, 3};
  auto d = x.detach();
  static_cast<void>(tn::as_span(d));
  const tn::tensor y = sum(x * x);
  REQUIRE_THROWS_AS(tn::as_span(d), tn::ownership_error);
  d += 1;
  REQUIRE_THROWS_AS(y.backward(), tn::ownership_error);
}

TEST_CASE("a span of a gradient: what is written into zeros counts") {
  leaf x{1, 2, 3};
  sum(x).backward();
  std::span<double> s;
  {
    auto g = x.grad();
    s = tn::as_span(g);
  }
  x.zero_grad();
  s[0] = 5;
  sum(x).backward();
  requires_equal(x.grad().clone(), 6, 1, 1);
}
