// SPDX-License-Identifier: BSL-1.0
// Convolutions and pools: a small network learns to tell horizontal from vertical and diagonal stripes. docs/13-images.md.
#include <cmath>
#include <cstdint>
#include <cstdio>

#include <boost/hana/define_struct.hpp>

#include <tenure/tenure.hpp>

namespace tn = tenure;

// Images [n, channels, rows, columns] and taps [results, channels, rows, columns], as PyTorch has them.
template <class Kind>
struct classifier {
  BOOST_HANA_DEFINE_STRUCT(classifier,
    (tn::param<Kind, float, tn::shape<8, 1, 3, 3>>, w1), (tn::param<Kind, float, tn::shape<8>>, b1),
    (tn::param<Kind, float, tn::shape<16, 8, 3, 3>>, w2), (tn::param<Kind, float, tn::shape<16>>, b2),
    (tn::param<Kind, float, tn::shape<3, 16>>, w), (tn::param<Kind, float, tn::shape<3>>, b));

  constexpr auto operator()(const auto& x) const {
    const auto first = tn::max_pool2d<2>(relu(tn::conv2d<tn::conv{.padding = 1}>(x, w1, b1)));
    const auto second = relu(tn::conv2d<tn::conv{.stride = 2, .padding = 1}>(first, w2, b2));
    return linear(mean(second, tn::axes<2, 3>), w, b);
  }
};
constexpr auto loss = [](auto model, auto x, auto labels) { return cross_entropy(model(x), labels); };

namespace {
constexpr std::int64_t count = 48, side = 16;

/// Stripes with noise: label 0 horizontal, 1 vertical, 2 diagonal.
void draw(tn::tensor<float, tn::shape<count, 1, side, side>>& images, tn::engine& random) {
  const auto noise = tn::normal(tn::shape<count, 1, side, side>{}, random, 0.0, 0.3);
  const auto phase = tn::uniform(tn::shape<count>{}, random, 0.0, 6.28);
  auto to = tn::as_span(images).begin();
  for (std::int64_t n = 0; n < count; ++n)
    for (std::int64_t i = 0; i < side; ++i)
      for (std::int64_t j = 0; j < side; ++j) {
        const std::int64_t at = n % 3 == 0 ? i : n % 3 == 1 ? j : i + j;
        *to++ = std::sin(1.3f * static_cast<float>(at) + phase(n)) + noise(n, 0, i, j);
      }
}
}  // namespace

int main() {
  tn::engine random(11);
  auto images = tn::zeros<float>(tn::shape<count, 1, side, side>{});
  auto labels = tn::zeros<std::int64_t>(tn::shape<count>{});
  for (std::int64_t n = 0; n < count; ++n) tn::as_span(labels)[static_cast<std::size_t>(n)] = n % 3;

  // The slope of an image to the right: one filter, whose result has the size of the image.
  draw(images, random);
  const tn::tensor<float, tn::shape<3, 3>> slope{{-1, 0, 1}, {-2, 0, 2}, {-1, 0, 1}};
  const tn::tensor edges = tn::conv2d<tn::conv{.padding = tn::same}>(images, tn::reshape<1, 1, 3, 3>(slope));
  std::printf("edges: %lld x %lld\n", static_cast<long long>(edges.extent(2)), static_cast<long long>(edges.extent(3)));

  // Statistics of the batch for each channel, and an image of twice the size, by the nearest element.
  const tn::tensor<float, tn::shape<1>> gain{2}, bias{1};
  const tn::tensor even = tn::batch_norm(images, gain, bias);
  const tn::tensor large = tn::interpolate<2>(even);
  const bool is_even = std::abs(tn::tensor(mean(large)).item() - 1) < 1e-4f && large(1, 0, 31, 1) == even(1, 0, 15, 0);

  // Training: one compiled step computes the loss, all gradients and the update.
  auto model = tn::init<classifier>(random);
  auto step = tn::train_step(loss, tn::optim::adam{.learning_rate = 1e-2f});
  auto state = step.rule.init(model);
  float last = 0;
  for (int i = 0; i < 60; ++i) {
    draw(images, random);
    last = step(model, state, images, labels).item();
  }

  draw(images, random);
  constexpr auto answer = tn::compile([](auto m, auto x) { return argmax(m(x), tn::axis<1>); });
  const auto answers = answer(model, images);
  int right = 0;
  for (std::int64_t n = 0; n < count; ++n) right += answers(n) == labels(n);
  std::printf("loss below 0.1: %s, more than 45 of 48 right: %s\n", last < 0.1f ? "yes" : "no", right > 45 ? "yes" : "no");
  return is_even && last < 0.1f && right > 45 ? 0 : 1;
}
