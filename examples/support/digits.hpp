// SPDX-License-Identifier: BSL-1.0
// The common part of digits and digits_cuda: the network, its loss, batches of the table, and the accuracy. It works on tensors of any
// device; include Tenure before this header.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <vector>

#include <boost/hana/define_struct.hpp>

#include "csv.hpp"

namespace tn = tenure;

constexpr std::int64_t batch = 32, pixels = 64, hidden = 96, classes = 10;

template <class Kind>
struct mlp {
  BOOST_HANA_DEFINE_STRUCT(mlp,
    (tn::param<Kind, float, tn::shape<pixels, hidden>>, w1),  (tn::param<Kind, float, tn::shape<hidden>>, b1),
    (tn::param<Kind, float, tn::shape<hidden, classes>>, w2), (tn::param<Kind, float, tn::shape<classes>>, b2));

  constexpr auto operator()(const auto& x) const { return matmul(relu(matmul(x, w1) + b1), w2) + b2; }
};

constexpr auto loss = [](auto model, auto x, auto y) { return cross_entropy(model(x), y); };
constexpr auto predict = tn::compile([](auto model, auto x) { return model(x); });

/// The shuffled rows of the table in two parts, for training and for the test.
struct split {
  std::vector<std::size_t> train, test;

  split(std::size_t rows, tn::engine& random) {
    std::vector<std::size_t> order(rows);
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::shuffle(order.begin(), order.end(), random);
    const auto held_out = static_cast<std::ptrdiff_t>(rows / 5);
    test.assign(order.begin(), order.begin() + held_out);
    train.assign(order.begin() + held_out, order.end());
  }
};

template <class X, class Y>
void fill_batch(const examples::digits& all, const std::size_t* rows, X& x, Y& y) {
  const auto to = tn::as_span(x);
  const auto labels = tn::as_span(y);
  for (std::size_t i = 0; i < labels.size(); ++i) {
    for (std::size_t p = 0; p < pixels; ++p) to[i * pixels + p] = all.pixels[rows[i] * pixels + p] / 16.0f;
    labels[i] = all.labels[rows[i]];
  }
}

template <class Model, class X, class Y>
double accuracy(const Model& model, const X& x, const Y& y) {
  const auto logits = predict(model, x).to(tn::cpu);
  std::int64_t right = 0;
  for (std::int64_t i = 0; i < y.size(); ++i) {
    std::int64_t best = 0;
    for (std::int64_t c = 1; c < classes; ++c)
      if (logits(i, c) > logits(i, best)) best = c;
    right += best == y(i);
  }
  return static_cast<double>(right) / static_cast<double>(y.size());
}
