// SPDX-License-Identifier: BSL-1.0
// GPT-2's architecture: learned positions, blocks of causal attention and a perceptron, each behind a layer norm, and the embedding as
// the last matrix. A loop over the layers has one body.
#pragma once

#include <cstdint>

#include <boost/hana/define_struct.hpp>

#include <tenure/cpu.hpp>
#include <tenure/tenure.hpp>

namespace gpt {

namespace tn = tenure;

struct small_normal {
  template <class T, class S>
  static auto make(S shape, tn::engine& random) {
    return tn::normal<T>(shape, random, 0.0, 0.02);
  }
};

/// Multi-head attention of a causal model: a position sees itself and those before it.
template <auto Heads>
constexpr auto causal_attention(const auto& x, const auto& qkv) {
  using X = std::remove_cvref_t<decltype(x)>;
  constexpr std::int64_t batch = X::shape_type::value[0], time = X::shape_type::value[1], width = X::shape_type::value[2], head = width / Heads;
  const auto heads = permute<2, 0, 3, 1, 4>(tn::reshape<batch, time, 3, Heads, head>(qkv));
  const auto part = [&](auto i) { return tn::reshape<batch, Heads, time, head>(slice<0, decltype(i)::value, 1>(heads)); };
  const auto q = part(std::integral_constant<int, 0>{}), k = part(std::integral_constant<int, 1>{}), v = part(std::integral_constant<int, 2>{});
  const auto mixed = attention(q, k, v, tn::causal);
  return tn::reshape<batch, time, width>(permute<0, 2, 1, 3>(mixed));
}

template <class Kind, auto Width, auto Heads>
struct block {
  template <auto... N>
  using gain = tn::param<Kind, float, tn::shape<N...>, tn::init_ones>;
  template <auto... N>
  using bias = tn::param<Kind, float, tn::shape<N...>>;
  template <auto... N>
  using matrix = tn::param<Kind, float, tn::shape<N...>, small_normal>;
  using wide = matrix<Width, 3 * Width>;
  using square = matrix<Width, Width>;
  using up = matrix<Width, 4 * Width>;
  using down = matrix<4 * Width, Width>;
  BOOST_HANA_DEFINE_STRUCT(block,
    (gain<Width>, g1), (bias<Width>, c1), (wide, w_qkv), (bias<3 * Width>, b_qkv), (square, w_out), (bias<Width>, b_out),
    (gain<Width>, g2), (bias<Width>, c2), (up, w_up), (bias<4 * Width>, b_up), (down, w_down), (bias<Width>, b_down));

  constexpr auto operator()(const auto& x) const {
    const auto y = x + matmul(causal_attention<Heads>(x, matmul(layer_norm(x, g1, c1), w_qkv) + b_qkv), w_out) + b_out;
    return y + matmul(gelu_tanh(matmul(layer_norm(y, g2, c2), w_up) + b_up), w_down) + b_down;
  }
};

template <class Kind, auto Vocabulary, auto Time, auto Width, auto Heads, auto Layers>
struct model {
  using tokens = tn::param<Kind, float, tn::shape<Vocabulary, Width>, small_normal>;
  using positions = tn::param<Kind, float, tn::shape<Time, Width>, small_normal>;
  using blocks = block<tn::stacked<Kind, Layers>, Width, Heads>;
  using gain = tn::param<Kind, float, tn::shape<Width>, tn::init_ones>;
  using bias = tn::param<Kind, float, tn::shape<Width>>;
  BOOST_HANA_DEFINE_STRUCT(model, (tokens, wte), (positions, wpe), (blocks, layers), (gain, g), (bias, c));

  /// The logits of the next token at each position of text[batch, time].
  constexpr auto operator()(const auto& text) const {
    const auto x = gather<0>(wte, text) + wpe;
    const auto [y, none] = tn::scan([](auto h, auto layer) { return std::tuple{layer(h), tn::nothing}; }, x, layers);
    return matmul(layer_norm(y, g, c), transpose(wte));
  }
};

constexpr auto loss = [](auto m, auto text, auto next) {
  const auto logits = m(text);
  using S = std::remove_cvref_t<decltype(logits)>;
  constexpr std::int64_t rows = S::shape_type::value[0] * S::shape_type::value[1], vocabulary = S::shape_type::value[2];
  return cross_entropy(tn::reshape<rows, vocabulary>(logits), tn::reshape<rows>(next));
};

}  // namespace gpt
