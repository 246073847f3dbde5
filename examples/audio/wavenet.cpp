// SPDX-License-Identifier: BSL-1.0
// A small WaveNet: 16 channels, eight layers of three taps each, whose distances grow from 1 to 128 samples. It sees 511 samples, 12 ms. Channels are last, so
// the taps of a layer are one matrix, [48, 32].
#include "effect.hpp"

#include <tuple>
#include <type_traits>

#include <boost/hana/define_struct.hpp>

#include <tenure/tenure.hpp>

#include "parts.hpp"

namespace {

namespace tn = tenure;

constexpr std::int64_t channels = 16, taps = 3, layers = 8, batch = 8, part = 1536, seen = 511;
constexpr std::int64_t distance(std::int64_t layer) { return std::int64_t{1} << layer; }

// Each array of the layers has a first axis for the layer.
template <class Kind>
struct wavenet {
  template <auto... N>
  using weights = tn::param<Kind, float, tn::shape<N...>>;
  template <auto... N>
  using of_layers = tn::param<tn::stacked<Kind, layers>, float, tn::shape<N...>>;
  using first = weights<1, channels>;
  using gates = of_layers<taps, channels, 2 * channels>;
  using nexts = of_layers<channels, channels>;
  using last = tn::param<Kind, float, tn::shape<1, channels>, tn::init_linear>;
  BOOST_HANA_DEFINE_STRUCT(wavenet,
    (first, w_in), (weights<channels>, b_in), (gates, w), (of_layers<2 * channels>, b), (nexts, w_next), (of_layers<channels>, b_next),
    (last, w_out), (weights<1>, b_out));

  // The output for x [..., samples, 1], and what the layers read, side by side. sums(layer, rows) are the sums of its taps over these rows.
  constexpr auto operator()(const auto& x, const auto& sums) const {
    const auto [found, rows] = through<0>(matmul(x, w_in) + b_in, sums);
    return std::tuple{sum(found * w_out, tn::axis<-1>, tn::keepdim) + b_out, rows};
  }
  template <std::size_t L>
  constexpr auto through(const auto& rows, const auto& sums) const {
    const auto [value, gate] = tn::chunk<2, -1>(sums(std::integral_constant<std::int64_t, L>{}, rows));
    const auto found = tanh(value) * sigmoid(gate);
    if constexpr (L + 1 == layers) {
      return std::tuple{found, rows};
    } else {
      const auto [others, later] = through<L + 1>(rows + matmul(found, w_next[L]) + b_next[L], sums);
      return std::tuple{found + others, tn::concat<-1>(rows, later)};
    }
  }
};

// For the training: whole signals [batch, samples, 1], with zeros before the first sample.
constexpr auto loss = [](auto model, auto x, auto wanted) {
  const auto sums = [=]<std::int64_t L>(std::integral_constant<std::int64_t, L>, const auto& rows) {
    return tn::conv1d<tn::conv{.padding = tn::causal, .dilation = distance(L), .layout = tn::nhwc}>(rows, model.w[L], model.b[L]);
  };
  const auto [y, rows] = model(x, sums);
  return error_to_signal(y.at(tn::all, tn::range<seen, part>()), wanted.at(tn::all, tn::range<seen, part>()));
};

// What the layers remember: a row for each sample, with what they read. First the 256 samples before, then room for the next ones. When there is no more room, the
// last rows go to the begin.
constexpr std::int64_t before = (taps - 1) * distance(layers - 1), room = 1024;
using history = tn::tensor<float, tn::shape<before + room, layers * channels>>;

// N samples x [N, 1], of which the first has this position in the room: y, and the history with their rows.
template <std::int64_t N>
constexpr auto run = tn::compile([](auto model, auto position, auto past, auto x) {
  const auto sums = [=]<std::int64_t L>(std::integral_constant<std::int64_t, L>, const auto& rows) {
    const auto earlier = [&]<std::int64_t Back>(std::integral_constant<std::int64_t, Back>) {
      constexpr auto of_layer = tn::range<L * channels, (L + 1) * channels>();
      if constexpr (N <= Back) return past.at(tn::window<N>(position + (before - Back)), of_layer);
      else return tn::concat<0>(past.at(tn::window<Back>(position + (before - Back)), of_layer), rows[tn::range<0, N - Back>()]);
    };
    constexpr std::integral_constant<std::int64_t, distance(L)> once;
    constexpr std::integral_constant<std::int64_t, 2 * distance(L)> twice;
    return matmul(tn::concat<1>(earlier(twice), earlier(once), rows), tn::reshape<taps * channels, 2 * channels>(model.w[L])) + model.b[L];
  };
  const auto [y, rows] = model(x, sums);
  return std::tuple{y, tn::dynamic_update(past, rows, std::tuple{position + before, 0})};
});
constexpr auto rewind = tn::compile([](auto position, auto past) {
  return tn::dynamic_update(past, past.at(tn::window<before>(position), tn::all), std::tuple{0, 0});
});

class wavenet_effect final : public effect {
 public:
  explicit wavenet_effect(tn::engine random) : model_(tn::init<wavenet>(random)), random_(random) { reset(); }

  const char* name() const override { return "wavenet"; }
  void train(std::span<const float> clean, std::span<const float> wanted, std::int64_t steps, void (*after)(std::int64_t, double)) override {
    auto step = tn::train_step(loss, tn::optim::adam{});
    auto state = step.rule.init(model_);
    const tn::optim::warmup_cosine rate{.peak = 5e-3, .warmup = 20, .steps = steps, .end = 1e-4};
    tn::tensor<float, tn::shape<batch, part, 1>> x, y;
    for (std::int64_t i = 0; i < steps; ++i) {
      random_parts(clean, wanted, random_, [&](std::int64_t row, std::span<const float> from, std::span<const float> to) {
        for (std::int64_t t = 0; t < part; ++t) x.at(row, t, 0) = from[static_cast<std::size_t>(t)], y.at(row, t, 0) = to[static_cast<std::size_t>(t)];
      }, batch, part);
      step.rule.learning_rate = rate(i);
      after(i, static_cast<double>(step(model_, state, x, y).item()));
    }
  }
  // Blocks of 64, and single samples for the rest: both programs add in one order.
  void process(std::span<const float> in, std::span<float> out) override {
    constexpr std::int64_t block = 64;
    std::size_t i = 0;
    for (; i + block <= in.size(); i += block) next<block>(in.data() + i, out.data() + i);
    for (; i < in.size(); ++i) next<1>(in.data() + i, out.data() + i);
  }
  void reset() override {
    position_ = 0;
    past_ = tn::zeros<float>(history::shape_type{});
  }

 private:
  template <std::int64_t N>
  void next(const float* in, float* out) {
    if (position_ + N > room) {
      rewind.into(past_)(position_, past_);
      position_ = 0;
    }
    const auto x = tn::from<tn::shape<N, 1>>(in);
    auto y = tn::from<tn::shape<N, 1>>(out);
    run<N>.into(y, past_)(model_, position_, past_, x);
    position_ += N;
  }

  wavenet<tn::values> model_;
  tn::engine random_;
  history past_;
  std::int64_t position_ = 0;
};

}  // namespace

std::unique_ptr<effect> make_wavenet(std::uint64_t seed) { return std::make_unique<wavenet_effect>(tn::engine(seed)); }
