// SPDX-License-Identifier: BSL-1.0
// Expressions of few numbers: views that are read as row-major arrays, temporaries that are moved.
#include <tenure/tenure.hpp>

#include "../catch.hpp"
#include "../difference.hpp"

namespace tn = tenure;

namespace {
using matrix = tn::tensor<double, tn::shape<3, 3>>;
matrix counted() { return matrix(tn::arange<double>(tn::shape<9>{}).reshape<3, 3>().clone()); }
difference same_bits(const matrix& got, const matrix& wanted) { return first_difference(got.data(), wanted.data(), 9); }
}  // namespace

TEST_CASE("an expression of a small view has the bits of one of an owning copy, whatever the strides are") {
  const matrix x = counted();
  double memory[18];
  for (int i = 0; i < 18; ++i) memory[i] = 0.25 * i;
  const auto borrowed = tn::from<tn::shape<3, 3>>(memory);
  const auto each = [&](const auto& view) {
    const auto copy = view.clone();
    CHECK(same_bits(tn::eval(exp(view) * 2 + x), tn::eval(exp(copy) * 2 + x)));
    CHECK(sum(view * x).item() == sum(copy * x).item());
    CHECK(same_bits(tn::eval(matmul(view, x)), tn::eval(matmul(copy, x))));
  };
  each(x.transpose());
  each(borrowed);
  each(borrowed.transpose());
  each(x.at(1, tn::all).expand<3, 3>());
}

TEST_CASE("a view that is read from a copy keeps the laws of assignment") {
  matrix x = counted();
  const matrix before = counted();
  x = x.transpose() * 2 + x;
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 3; ++j) CHECK(x(i, j) == before(j, i) * 2 + before(i, j));
  double memory[9];
  auto view = tn::from<tn::shape<3, 3>>(memory);
  view = before;
  view = view.transpose() - view;
  for (int i = 0; i < 9; ++i) CHECK(memory[i] == before(i % 3, i / 3) - before(i / 3, i % 3));
  const auto late = view + 1;
  view += 1;
  CHECK_THROWS_AS(tn::eval(late), tn::ownership_error);
}

TEST_CASE("gradients reach leaves through small views") {
  auto w = counted().requires_grad_();
  const matrix x = counted();
  sum(w.transpose() * x).backward();
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 3; ++j) CHECK(w.grad()(i, j) == x(j, i));
  w.zero_grad();
  const tn::tensor y = exp(w.at(tn::all, 0) * 0.1);
  sum(y * x.at(tn::all, 1)).backward();
  for (int i = 0; i < 3; ++i) CHECK(w.grad()(i, 0) == Approx(0.1 * std::exp(0.1 * x(i, 0)) * x(i, 1)));
}

TEST_CASE("a temporary expression is moved into a larger one, and an expression with a name is not") {
  const matrix a = counted();
  const matrix b = counted();
  auto named = a + b;
  const matrix twice = named * 2 + named;
  CHECK(twice(2, 2) == 48);
  const matrix moved = std::move(named) - 1;
  CHECK(moved(2, 2) == 15);
  CHECK_THROWS_WITH(tn::eval(named), "tenure: eval: the expression is empty: it was moved from");
  struct {
    unsigned bits : 3;
  } s{5};
  const matrix by_bits = (a + b) * s.bits;
  CHECK(by_bits(0, 1) == 10);
  const matrix from_left = 2 - (a + b) * (a - b) / a.at(0, 1);
  CHECK(from_left(1, 1) == 2);
}

TEST_CASE("an empty tensor takes memory with the value, and stays empty if the call throws") {
  tn::tensor<double, tn::shape<tn::dyn>> x, one(1), three(3);
  CHECK_THROWS_AS(x = one + three, tn::shape_error);
  CHECK_THROWS_AS(x.version(), tn::ownership_error);
  x = three + 1;
  CHECK(x.size() == 3);
  matrix gone = counted();
  const matrix taken = std::move(gone);
  gone = taken + 1;
  CHECK(gone(0, 0) == 1);
}
