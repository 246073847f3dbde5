// SPDX-License-Identifier: BSL-1.0
// A GRU cell of 24 numbers and a linear layer: the effect is what they add to the sample. The weights have PyTorch's names and layout, reset, update, new.
#include "effect.hpp"

#include <tuple>

#include <boost/hana/define_struct.hpp>

#include <tenure/tenure.hpp>

#include "parts.hpp"

namespace {

namespace tn = tenure;

constexpr std::int64_t units = 24, batch = 32, part = 256, warm_up = 64;

template <class Kind>
struct gru {
  template <auto... N>
  using weights = tn::param<Kind, float, tn::shape<N...>, tn::init_linear>;
  template <auto... N>
  using bias = tn::param<Kind, float, tn::shape<N...>>;
  using of_sample = weights<3 * units, 1>;
  using of_state = weights<3 * units, units>;
  using to_sample = weights<1, units>;
  BOOST_HANA_DEFINE_STRUCT(gru,
    (of_sample, weight_ih), (of_state, weight_hh), (bias<3 * units>, bias_ih), (bias<3 * units>, bias_hh), (to_sample, weight_out), (bias<1>, bias_out));

  // The state and the output after one sample x [1], or after one of each row, x [rows, 1].
  constexpr auto operator()(const auto& x, const auto& h) const {
    const auto [xr, xz, xn] = tn::chunk<3, -1>(linear(x, weight_ih, bias_ih));
    const auto [hr, hz, hn] = tn::chunk<3, -1>(linear(h, weight_hh, bias_hh));
    const auto z = sigmoid(xz + hz), n = tanh(xn + sigmoid(xr + hr) * hn);
    const auto next = n + z * (h - n);
    return std::tuple{next, x + linear(next, weight_out, bias_out)};
  }
};

// x and wanted are [samples, batch, 1]. The first samples only warm the state up.
constexpr auto loss = [](auto model, auto x, auto wanted) {
  const auto [last, y] = tn::scan([=](auto h, auto sample) { return model(sample, h); }, tn::zeros<float>(tn::shape<batch, units>{}), x);
  return error_to_signal(y[tn::range<warm_up, part>()], wanted[tn::range<warm_up, part>()]);
};

// The samples x [N, 1]: one body computes each of them. With static shapes nothing allocates, and one sample is a few steps without a loop.
constexpr auto run = tn::compile([](auto model, auto h, auto x) { return tn::scan([=](auto before, auto sample) { return model(sample, before); }, h, x); });

class gru_effect final : public effect {
 public:
  explicit gru_effect(tn::engine random) : model_(tn::init<gru>(random)), random_(random) { reset(); }

  const char* name() const override { return "gru"; }
  void train(std::span<const float> clean, std::span<const float> wanted, std::int64_t steps, void (*after)(std::int64_t, double)) override {
    auto step = tn::train_step(loss, tn::optim::clipped{tn::optim::adam{}, 1.0});
    auto state = step.rule.init(model_);
    const tn::optim::warmup_cosine rate{.peak = 5e-3, .warmup = 20, .steps = steps, .end = 1e-4};
    tn::tensor<float, tn::shape<part, batch, 1>> x, y;
    for (std::int64_t i = 0; i < steps; ++i) {
      random_parts(clean, wanted, random_, [&](std::int64_t row, std::span<const float> from, std::span<const float> to) {
        for (std::int64_t t = 0; t < part; ++t) x.at(t, row, 0) = from[static_cast<std::size_t>(t)], y.at(t, row, 0) = to[static_cast<std::size_t>(t)];
      }, batch, part);
      step.rule.learning_rate = rate(i);
      after(i, static_cast<double>(step(model_, state, x, y).item()));
    }
  }
  void process(std::span<const float> in, std::span<float> out) override {
    constexpr std::int64_t block = 32;
    std::size_t i = 0;
    for (; i + block <= in.size(); i += block) next<block>(in.data() + i, out.data() + i);
    for (; i < in.size(); ++i) next<1>(in.data() + i, out.data() + i);
  }
  void reset() override { state_ = tn::zeros<float>(tn::shape<units>{}); }

 private:
  template <std::int64_t N>
  void next(const float* in, float* out) {
    const auto x = tn::from<tn::shape<N, 1>>(in);
    auto y = tn::from<tn::shape<N, 1>>(out);
    run.into(state_, y)(model_, state_, x);
  }

  gru<tn::values> model_;
  tn::engine random_;
  tn::tensor<float, tn::shape<units>> state_;
};

}  // namespace

std::unique_ptr<effect> make_gru(std::uint64_t seed) { return std::make_unique<gru_effect>(tn::engine(seed)); }
