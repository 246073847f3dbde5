// SPDX-License-Identifier: BSL-1.0
// GPT-2's architecture for characters: learned positions, blocks of causal attention and a perceptron, each behind a layer norm, and the
// embedding as the last matrix. A loop over the layers has one body.
#pragma once

#include <cstdint>
#include <tuple>

#include <boost/hana/define_struct.hpp>

#include <tenure/tenure.hpp>

namespace tn = tenure;

constexpr std::int64_t vocabulary = 96, context = 64, width = 64, heads = 4, layers = 2, batch = 16;

struct small_normal {
  template <class T, class S>
  static auto make(S shape, tn::engine& random) { return tn::normal<T>(shape, random, 0.0, 0.02); }
};

template <class Kind>
struct block {
  template <auto... N>
  using gain = tn::param<Kind, float, tn::shape<N...>, tn::init_ones>;
  template <auto... N>
  using bias = tn::param<Kind, float, tn::shape<N...>>;
  template <auto... N>
  using matrix = tn::param<Kind, float, tn::shape<N...>, small_normal>;
  using to_heads = matrix<width, 3 * width>;
  using from_heads = matrix<width, width>;
  using to_hidden = matrix<width, 4 * width>;
  using from_hidden = matrix<4 * width, width>;
  BOOST_HANA_DEFINE_STRUCT(block,
    (gain<width>, g1), (bias<width>, c1), (to_heads, w_qkv), (bias<3 * width>, b_qkv), (from_heads, w_out), (bias<width>, b_out),
    (gain<width>, g2), (bias<width>, c2), (to_hidden, w_up), (bias<4 * width>, b_up), (from_hidden, w_down), (bias<width>, b_down));

  // Queries, keys and values [sequence, head, time, number] of x[sequence * time, width].
  template <std::int64_t Time>
  constexpr auto project(const auto& x) const {
    const auto rows = matmul(layer_norm(x, g1, c1), w_qkv) + b_qkv;
    const auto parts = tn::permute<2, 0, 3, 1, 4>(tn::reshape<-1, Time, 3, heads, width / heads>(rows));
    return std::tuple{parts[0], parts[1], parts[2]};
  }
  constexpr auto mixed(const auto& found) const { return matmul(tn::reshape<-1, width>(tn::permute<0, 2, 1, 3>(found)), w_out) + b_out; }
  constexpr auto perceptron(const auto& x) const { return matmul(gelu_tanh(matmul(layer_norm(x, g2, c2), w_up) + b_up), w_down) + b_down; }
};

template <class Kind>
struct gpt {
  using tokens = tn::param<Kind, float, tn::shape<vocabulary, width>, small_normal>;
  using positions = tn::param<Kind, float, tn::shape<context, width>, small_normal>;
  using blocks = block<tn::stacked<Kind, layers>>;
  using gain = tn::param<Kind, float, tn::shape<width>, tn::init_ones>;
  using bias = tn::param<Kind, float, tn::shape<width>>;
  BOOST_HANA_DEFINE_STRUCT(gpt, (tokens, wte), (positions, wpe), (blocks, all), (gain, g), (bias, c));

  // The logits of the next character after each one of text[batch, context]. In training dropout takes out a part of the numbers.
  constexpr auto operator()(const auto& text, const auto& part, const auto& key) const {
    const auto iteration = [=](auto x, auto each) {
      const auto [layer, of_layer] = each;
      const auto [q, k, v] = layer.template project<context>(x);
      const auto y = x + tn::dropout(layer.mixed(tn::attention(q, k, v, tn::causal)), part, tn::fold_in(of_layer, 0));
      return std::tuple{y + tn::dropout(layer.perceptron(y), part, tn::fold_in(of_layer, 1)), tn::nothing};
    };
    const auto x = tn::reshape<-1, width>(tn::gather<0>(wte, text) + wpe);
    const auto [last, none] = tn::scan(iteration, x, std::tuple{all, tn::split_key<layers>(key)});
    return logits(last);
  }

  constexpr auto logits(const auto& x) const { return matmul(layer_norm(x, g, c), transpose(wte)); }
};

using model_type = gpt<tn::values>;
