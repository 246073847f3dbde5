// SPDX-License-Identifier: BSL-1.0
#include "../catch.hpp"
#include "data_movement.hpp"

#include <tenure/ops/position.hpp>
#include <tenure/ops/rearrangement.hpp>

using namespace golden;

TEST_CASE("golden: movement") {
  check<p_transpose>([](auto x, auto y) { return transpose<0, 2>(x) * y; });
  check<p_permute>([](auto x, auto y) { return permute<2, 0, 1>(x) * y; });
  check<p_reshape>([](auto x, auto y) { return matmul(reshape<6, 4>(x), y); });
  check<p_reshape_t>([](auto x) { return reshape<2, 6>(transpose(x)); });
  check<p_slice>([](auto x) { return select<2, -1>(slice<1, 0, 2, 2>(slice<0, 1, 1>(x))); });
  check<p_slice_overlap, second_order::both>([](auto x) { return slice<0, 0, 4>(x) * slice<0, 1, 4>(x); });
  check<p_cat>([](auto x, auto y) { return concat(x, y, x); });
  check<p_stack>([](auto x, auto y) { return stack(x, y); });
  check<p_split>([](auto x) { return slice<0, 2, 2>(x) * 2.0; });
  check<p_chunk_prod, second_order::both>([](auto x) { return slice<-1, 0, 2>(x) * sigmoid(slice<-1, 2, 2>(x)); });
  check<p_flip>([](auto x, auto y) { return flip(x) * y; });
  check<p_roll>([](auto x, auto y) { return roll<1>(x) * y; });
  check<p_pad>([](auto x) { return pad<-1, 1, 2>(x); });
  check<p_unsqueeze>([](auto x, auto y) { return squeeze<1>(unsqueeze<1>(x) * y); });
  check<p_tril>([](auto x) { return tril(x); });
  check<p_diagonal>([](auto x) { return diagonal(x); });
  check<p_diag_embed>([](auto x, auto y) { return matmul(diag(x), y); });
  check<p_unfold>([](auto x, auto w) { return matmul(windows<0, 3>(x), w); });
  check<p_repeat>([](auto x) { return repeat<2, 1>(x); });
  check<p_meshgrid>([](auto x, auto y) { return square(unsqueeze<1>(x) - unsqueeze<0>(y)); });
}
