// SPDX-License-Identifier: BSL-1.0
#include "../catch.hpp"
#include "data_attention.hpp"

#include <tenure/ops/attention.hpp>
#include <tenure/ops/normalization.hpp>

using namespace golden;

namespace {

template <class Q, class K, class V, class... Mask>
constexpr auto written_out(const Q& q, const K& k, const V& v, const Mask&... mask) {
  constexpr std::int64_t width = Q::shape_type::value[Q::shape_type::rank - 1];
  constexpr double root = width == 4 ? 2 : width == 3 ? 1.7320508075688772 : 1.4142135623730951;
  const auto scores = matmul(q, transpose(k)) / root;
  if constexpr (sizeof...(Mask) == 0)
    return matmul(softmax(scores), v);
  else
    return matmul(softmax(where(mask..., -golden::inf, scores)), v);
}

/// Multi-head attention with two heads over [batch, time, 4].
template <class X, class W, class O, class Mask>
constexpr auto two_heads(const X& x, const W& wqkv, const O& wo, const Mask& mask) {
  constexpr std::int64_t batch = X::shape_type::value[0], time = X::shape_type::value[1];
  const auto all = matmul(x, wqkv);
  const auto heads = [](const auto& part) { return permute<0, 2, 1, 3>(reshape<batch, time, 2, 2>(part)); };
  const auto mixed =
      written_out(heads(slice<-1, 0, 4>(all)), heads(slice<-1, 4, 4>(all)), heads(slice<-1, 8, 4>(all)), mask);
  return matmul(reshape<batch, time, 4>(permute<0, 2, 1, 3>(mixed)), wo);
}

}  // namespace

TEST_CASE("golden: attention") {
  check<p_attention, second_order::both>([](auto q, auto k, auto v) { return written_out(q, k, v); });
  check<p_attention, second_order::both>([](auto q, auto k, auto v) { return tenure::attention(q, k, v); });
  check<p_attn_block, second_order::both>([](auto x, auto wq, auto wk, auto wv, auto wo, auto mask) {
    return x + matmul(written_out(matmul(x, wq), matmul(x, wk), matmul(x, wv), mask), wo);
  });
  check<p_mha>([](auto x, auto wqkv, auto wo, auto mask) { return two_heads(x, wqkv, wo, mask); });
  check<p_transformer>([](auto x, auto g1, auto c1, auto wqkv, auto wo, auto g2, auto c2, auto w1, auto b1, auto w2,
                          auto b2, auto mask) {
    const auto y = x + two_heads(layer_norm(x, g1, c1), wqkv, wo, mask);
    return y + matmul(gelu(matmul(layer_norm(y, g2, c2), w1) + b1), w2) + b2;
  });
}
