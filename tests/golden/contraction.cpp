// SPDX-License-Identifier: BSL-1.0
#include "../catch.hpp"
#include "data_contraction.hpp"

#include <tenure/ops/rearrangement.hpp>

using namespace golden;

TEST_CASE("golden: matrix products") {
  check<p_matmul_11>([](auto x, auto y) { return matmul(x, y); });
  check<p_matmul_21>([](auto x, auto y) { return matmul(x, y); });
  check<p_matmul_12>([](auto x, auto y) { return matmul(x, y); });
  check<p_matmul_22, second_order::both>([](auto x, auto y) { return matmul(x, y); });
  check<p_matmul_33>([](auto x, auto y) { return matmul(x, y); });
  check<p_matmul_bc, second_order::both>([](auto x, auto y) { return matmul(x, y); });
  check<p_matmul_31>([](auto x, auto y) { return matmul(x, y); });
  check<p_matmul_t>([](auto x, auto y) { return matmul(transpose(x), y); });
  check<p_gram, second_order::both>([](auto x) { return matmul(x, transpose(x)); });
  check<p_linear>([](auto x, auto w, auto b) { return linear(x, w, b); });
  check<p_bilinear, second_order::both>([](auto x, auto a, auto y) { return sum(matmul(x, a) * y, axis<-1>); });
  check<p_outer>([](auto x, auto y) { return outer(x, y); });
  check<p_einsum>([](auto x, auto y) { return matmul(x, y); });
}
