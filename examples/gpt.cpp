// SPDX-License-Identifier: BSL-1.0
// A language model of GPT-2's architecture over the characters of this project's own documentation.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include <boost/hana/define_struct.hpp>

#include <tenure/interop/save.hpp>
#include <tenure/tenure.hpp>

#include "support/progress.hpp"

namespace tn = tenure;

constexpr std::int64_t vocabulary = 96, context = 64, width = 64, heads = 4, layers = 2, batch = 16;

struct small_normal {
  template <class T, class S>
  static auto make(S shape, tn::engine& random) { return tn::normal<T>(shape, random, 0.0, 0.02); }
};

// Zeros for a part of the numbers, which changes from step to step. The others grow, so that the mean stays.
constexpr auto dropout = [](auto x, auto noise, auto keep) { return where(noise < keep, x / keep, 0.0f); };

// Each query sees the keys of which `seen` is true.
constexpr auto attention = [](auto q, auto k, auto v, auto seen) {
  const auto scores = matmul(q, transpose(k)) / tn::sqrt(float(width / heads));
  return matmul(softmax(where(seen(scores), scores, -1e30f)), v);
};

template <class Kind>
struct block {
  template <auto... N>
  using gain = tn::param<Kind, float, tn::shape<N...>, tn::init_ones>;
  template <auto... N>
  using bias = tn::param<Kind, float, tn::shape<N...>>;
  template <auto... N>
  using matrix = tn::param<Kind, float, tn::shape<N...>, small_normal>;
  using to_qkv = matrix<width, 3 * width>;
  using to_out = matrix<width, width>;
  using to_hidden = matrix<width, 4 * width>;
  using from_hidden = matrix<4 * width, width>;
  BOOST_HANA_DEFINE_STRUCT(block,
    (gain<width>, g1), (bias<width>, c1), (to_qkv, w_qkv), (bias<3 * width>, b_qkv), (to_out, w_out), (bias<width>, b_out),
    (gain<width>, g2), (bias<width>, c2), (to_hidden, w_up), (bias<4 * width>, b_up), (from_hidden, w_down), (bias<width>, b_down));

  // Queries, keys and values [sequence, head, time, number] of rows [sequence * time, width].
  template <std::int64_t Time>
  constexpr auto project(const auto& x) const {
    const auto all = tn::reshape<-1, Time, 3, heads, width / heads>(matmul(layer_norm(x, g1, c1), w_qkv) + b_qkv);
    const auto parts = tn::permute<2, 0, 3, 1, 4>(all);
    return std::tuple{parts[0], parts[1], parts[2]};
  }
  constexpr auto mixed(const auto& heads_of_rows) const {
    return matmul(tn::reshape<-1, width>(tn::permute<0, 2, 1, 3>(heads_of_rows)), w_out) + b_out;
  }
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

  // The logits of the next character after each one of text[batch, context].
  constexpr auto operator()(const auto& text, const auto& noise, const auto& keep) const {
    const auto turn = [=](auto x, auto each) {
      const auto [layer, random] = each;
      const auto [q, k, v] = layer.template project<context>(x);
      const auto y = x + dropout(layer.mixed(attention(q, k, v, [](auto scores) { return tn::index_along<-1>(scores) <= tn::index_along<-2>(scores); })), random[0], keep);
      return std::tuple{y + dropout(layer.perceptron(y), random[1], keep), tn::nothing};
    };
    const auto x = tn::reshape<-1, width>(tn::gather<0>(wte, text) + wpe);
    return logits(std::get<0>(tn::scan(turn, x, std::tuple{all, noise})));
  }
  // The same for one character at a position. keys and values are those of the characters before it, and afterwards also its own.
  constexpr auto next(const auto& keys, const auto& values, const auto& character, const auto& position) const {
    const auto turn = [=](auto state, auto layer) {
      const auto [x, old_keys, old_values, i] = state;
      const auto [q, k, v] = layer.template project<1>(x);
      const auto at = std::tuple{i, 0, position, 0};
      const auto all_keys = tn::dynamic_update(old_keys, k, at);
      const auto all_values = tn::dynamic_update(old_values, v, at);
      const auto found = attention(q, all_keys[i], all_values[i], [=](auto scores) { return tn::index_along<-1>(scores) <= position; });
      const auto y = x + layer.mixed(found);
      return std::tuple{std::tuple{y + layer.perceptron(y), all_keys, all_values, i + 1}, tn::nothing};
    };
    const auto x = tn::unsqueeze<0>(wte[character] + wpe[position]);
    const auto [last, none] = tn::scan(turn, std::tuple{x, keys, values, 0}, all);
    return std::tuple{logits(std::get<0>(last))[0], std::get<1>(last), std::get<2>(last)};
  }
  constexpr auto logits(const auto& x) const { return matmul(layer_norm(x, g, c), transpose(wte)); }
};

constexpr auto loss = [](auto model, auto text, auto next, auto noise, auto keep) {
  return cross_entropy(model(text, noise, keep), tn::reshape<-1>(next));
};

constexpr auto next_character = tn::compile([](auto model, auto keys, auto values, auto character, auto position) { return model.next(keys, values, character, position); });

int main() {
  tn::engine random(1);
  auto model = tn::init<gpt>(random);
  tn::tensor<std::int32_t, tn::shape<batch, context>> text, next;
  const auto noise = tn::uniform(tn::shape<layers, 2, batch * context, width>{}, random);
#ifdef TRAIN
  auto step = tn::train_step(loss, tn::optim::adam{.learning_rate = 1e-3});
  auto state = step.rule.init(model);
  const tn::flush_denormals scope;
  using clk = std::chrono::steady_clock;
  for (int i = 0; i < 30; ++i) {
    auto t0 = clk::now();
    float l = step(model, state, text, next, noise, 0.9f).item();
    std::printf("%f %f ms\n", l, std::chrono::duration<double>(clk::now() - t0).count() * 1e3);
  }
#elif defined SAMPLE
  tn::tensor<float, tn::shape<vocabulary>> logits;
  tn::tensor<float, tn::shape<layers, heads, context, width / heads>> keys, values;
  std::cout << tn::to_text(next_character.plan(model, keys, values, std::int64_t{}, std::int64_t{})) << '\n';
  using clk = std::chrono::steady_clock;
  for (std::int64_t i = 0; i < 30; ++i) {
    auto t0 = clk::now();
    next_character.into(logits, keys, values)(model, keys, values, std::int64_t{3}, i);
    std::printf("%f %f us\n", logits(3), std::chrono::duration<double>(clk::now() - t0).count() * 1e6);
  }
#else
  std::printf("%f\n", tn::compile(loss)(model, text, next, noise, 0.9f).item());
#endif
}
