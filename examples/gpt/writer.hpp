// SPDX-License-Identifier: BSL-1.0
// The model that writes: the GPT of model.hpp with matrices as PyTorch stores them, [outputs, inputs], of float32, bfloat16 or int8 with a scale for each row.
#pragma once

#include <cstdint>
#include <tuple>
#include <type_traits>

#include "model.hpp"

// The type of a weight of so many bytes.
template <int Bytes>
using weight = std::conditional_t<Bytes == 4, float, std::conditional_t<Bytes == 2, tn::bfloat16, std::int8_t>>;

template <class Kind, auto Bytes, auto Out, auto In>
struct matrix {
  using numbers = tn::param<Kind, weight<Bytes>, tn::shape<Out, In>>;
  BOOST_HANA_DEFINE_STRUCT(matrix, (numbers, w), (tn::param<Kind, float, tn::shape<Out>>, scale));

  // A product reads w as it is: the cast writes no array of floats. With int8 it multiplies bytes by bytes, for which it rounds x.
  constexpr auto operator()(const auto& x) const {
    if constexpr (Bytes == 1) return tn::quantized_linear(x, w, scale);
    else return matmul(x, transpose(tn::cast<float>(w))) * scale;
  }
  constexpr auto rows(const auto& i) const { return tn::cast<float>(tn::gather<0>(w, i)) * tn::unsqueeze<-1>(tn::gather<0>(scale, i)); }
};

template <class Kind, auto Bytes>
struct written_block {
  template <auto N>
  using vector = tn::param<Kind, float, tn::shape<N>>;
  using to_heads = matrix<Kind, Bytes, 3 * width, width>;
  using from_heads = matrix<Kind, Bytes, width, width>;
  using to_hidden = matrix<Kind, Bytes, 4 * width, width>;
  using from_hidden = matrix<Kind, Bytes, width, 4 * width>;
  BOOST_HANA_DEFINE_STRUCT(written_block,
    (vector<width>, g1), (vector<width>, c1), (to_heads, qkv), (vector<3 * width>, b_qkv), (from_heads, out), (vector<width>, b_out),
    (vector<width>, g2), (vector<width>, c2), (to_hidden, up), (vector<4 * width>, b_up), (from_hidden, down), (vector<width>, b_down));

  // Queries, keys and values [head, position, number] of x[position, width].
  template <std::int64_t Positions>
  constexpr auto project(const auto& x) const {
    const auto rows = qkv(layer_norm(x, g1, c1)) + b_qkv;
    const auto parts = tn::permute<1, 2, 0, 3>(tn::reshape<Positions, 3, heads, width / heads>(rows));
    return std::tuple{parts[0], parts[1], parts[2]};
  }
  // The rest of the layer, after the attention of the heads.
  constexpr auto after(const auto& x, const auto& found) const {
    const auto y = x + out(tn::reshape<-1, width>(tn::permute<1, 0, 2>(found))) + b_out;
    return y + down(gelu_tanh(up(layer_norm(y, g2, c2)) + b_up)) + b_down;
  }
};

template <class Kind, auto Bytes>
struct writer {
  using tokens = matrix<Kind, Bytes, vocabulary, width>;
  using positions = tn::param<Kind, float, tn::shape<context, width>>;
  using blocks = written_block<tn::stacked<Kind, layers>, Bytes>;
  using vector = tn::param<Kind, float, tn::shape<width>>;
  BOOST_HANA_DEFINE_STRUCT(writer, (tokens, wte), (positions, wpe), (blocks, all), (vector, g), (vector, c));

  // The logits of the next character after one character, whose position in the text is known at run time. keys and values
  // [layer, head, position, number] hold those of the characters before it, and in the result also its own.
  constexpr auto next(const auto& keys, const auto& values, const auto& character, const auto& position) const {
    const auto iteration = [=](auto x, auto each) {
      const auto [layer, old_keys, old_values] = each;
      const auto [q, k, v] = layer.template project<1>(x);
      const auto at = std::tuple{0, position, 0};
      const auto all_keys = tn::dynamic_update(old_keys, k, at), all_values = tn::dynamic_update(old_values, v, at);
      const auto found = tn::attention(q, all_keys, all_values, tn::causal.from(position));
      return std::tuple{layer.after(x, found), std::tuple{all_keys, all_values}};
    };
    const auto x = tn::unsqueeze<0>(wte.rows(character) + wpe[position]);
    const auto [last, caches] = tn::scan(iteration, x, std::tuple{all, keys, values});
    return std::tuple{logits(last)[0], std::get<0>(caches), std::get<1>(caches)};
  }

  // The same logits without a cache: after each character of text[context].
  constexpr auto operator()(const auto& text) const {
    const auto iteration = [](auto x, auto layer) {
      const auto [q, k, v] = layer.template project<context>(x);
      return std::tuple{layer.after(x, tn::attention(q, k, v, tn::causal)), tn::nothing};
    };
    return logits(std::get<0>(tn::scan(iteration, wte.rows(text) + wpe, all)));
  }

  constexpr auto logits(const auto& x) const { return wte(layer_norm(x, g, c)); }
};

// The weights of a trained model in another type.
template <int Bytes>
writer<tn::values, Bytes> narrowed(const gpt<tn::values>& from) {
  writer<tn::values, Bytes> to;
  const auto narrow = [](auto& matrix, const auto& w) {
    if constexpr (Bytes == 1) std::tie(matrix.w, matrix.scale) = tn::quantize(w);
    else matrix.w = tn::cast<weight<Bytes>>(w), matrix.scale = tn::ones_like(matrix.scale);
  };
  const auto turned = [](const auto& w) { return tn::eval(tn::transpose<-1, -2>(w)); };
  narrow(to.wte, from.wte);
  narrow(to.all.qkv, turned(from.all.w_qkv)), narrow(to.all.out, turned(from.all.w_out));
  narrow(to.all.up, turned(from.all.w_up)), narrow(to.all.down, turned(from.all.w_down));
  to.wpe = from.wpe.view(), to.g = from.g.view(), to.c = from.c.view();
  to.all.g1 = from.all.g1.view(), to.all.c1 = from.all.c1.view(), to.all.g2 = from.all.g2.view(), to.all.c2 = from.all.c2.view();
  to.all.b_qkv = from.all.b_qkv.view(), to.all.b_out = from.all.b_out.view(), to.all.b_up = from.all.b_up.view(), to.all.b_down = from.all.b_down.view();
  return to;
}
