// SPDX-License-Identifier: BSL-1.0
// A training step of a GPT: forward, backward and Adam, float32. Sizes are layers x width x time x batch. With TENURE_BENCH_LARGE in the
// environment also GPT-2 124M, whose vocabulary is padded to a multiple of 16. It needs 5 GB.
#include "hand.hpp"
#include "model.hpp"

#include <harness.hpp>

namespace {

namespace tn = tenure;

/// The loss with products in bfloat16.
constexpr auto narrow_loss = tn::autocast<tn::bfloat16>(gpt::loss);

template <int Layers, int Width, int Time, int Batch, int Vocabulary, int Heads>
struct workload {
  using text = tn::tensor<std::int64_t, tn::shape<Batch, Time>>;

  tn::engine random{1};
  decltype(tn::init<gpt::model, Vocabulary, Time, Width, Heads, Layers>(random)) model =
      tn::init<gpt::model, Vocabulary, Time, Width, Heads, Layers>(random);
  decltype(tn::train_step(gpt::loss, tn::optim::adam{})) train = tn::train_step(gpt::loss, tn::optim::adam{.learning_rate = rate});
  decltype(train.rule.init(model)) state = train.rule.init(model);
  text now, next;
  hand::gpt<Vocabulary, Time, Width, Heads, Layers, Batch> hand;
  tn::flush_denormals scope;
  static constexpr float rate = 3e-4f;

  explicit workload(std::int64_t) {
    std::int64_t *const a = bench::data_of(now), *const b = bench::data_of(next);
    std::mt19937 letters(7);
    for (int i = 0; i < Batch * Time; ++i) a[i] = letters() % Vocabulary, b[i] = (a[i] * 5 + 3) % Vocabulary;
    std::size_t at = 0;
    tn::for_each_leaf(
        model, [&](const auto& p) { at = static_cast<std::size_t>(std::copy_n(p.data(), p.size(), &hand.parameters[at]) - hand.parameters.data()); });
    const auto [value, grads] = tn::value_and_grad(gpt::loss)(model, now, next);
    hand.forward(a, b), hand.backward(a, b);
    bench::require_agreement("gpt: loss", value.data(), &hand.loss, 1, 1e-5);
    at = 0;
    tn::for_each_leaf(grads, [&](const auto& g) {
      bench::require_agreement("gpt: gradients", g.data(), &hand.gradients[at], g.size(), 1e-3);
      at += static_cast<std::size_t>(g.size());
    });
    train(model, state, now, next);
    hand.step(a, b, rate);
    // The first step is the rate times the sign of each gradient. Where a gradient is mere rounding the steps differ, so the mean is compared.
    double off = 0;
    at = 0;
    tn::for_each_leaf(model, [&](const auto& p) {
      for (const float value : tn::as_span(p)) off += std::fabs(value - hand.parameters[at++]);
    });
    const double mean = off / static_cast<double>(at);
    if (!(mean <= 0.02 * rate)) {
      std::fprintf(stderr, "gpt: after one step the parameters are off by %g in the mean, with a learning rate of %g\n", mean, rate);
      std::exit(1);
    }
  }
  std::int64_t items() const { return Batch * Time; }
  using plan = decltype(tn::train_step(gpt::loss, tn::optim::adam{}).plan(model, state, now, next));
  // The workspace holds the gradients too. By hand they are memory of their own.
  static_assert(plan::workspace_bytes() <= decltype(hand)::activation_bytes() + (Vocabulary > 64 ? decltype(hand)::gradient_bytes() : 0));
  static constexpr double flops() { return static_cast<double>(plan::flops()); }
  void tenure() { benchmark::DoNotOptimize(train(model, state, now, next).item()); }
  void by_hand() { benchmark::DoNotOptimize(hand.step(bench::data_of(now), bench::data_of(next), rate)); }
};

/// The same model, trained with products in bfloat16.
template <int Layers, int Width, int Time, int Batch, int Vocabulary = 64, int Heads = 4>
struct narrow_workload {
  tn::engine random{1};
  decltype(tn::init<gpt::model, Vocabulary, Time, Width, Heads, Layers>(random)) model = tn::init<gpt::model, Vocabulary, Time, Width, Heads, Layers>(random);
  decltype(tn::train_step(narrow_loss, tn::optim::adam{})) train = tn::train_step(narrow_loss, tn::optim::adam{.learning_rate = 3e-4f});
  decltype(train.rule.init(model)) state = train.rule.init(model);
  tn::tensor<std::int64_t, tn::shape<Batch, Time>> now, next;
  tn::flush_denormals scope;

  explicit narrow_workload(std::int64_t) {
    std::int64_t *const a = bench::data_of(now), *const b = bench::data_of(next);
    std::mt19937 letters(7);
    for (int i = 0; i < Batch * Time; ++i) a[i] = letters() % Vocabulary, b[i] = (a[i] * 5 + 3) % Vocabulary;
    const float exact = tn::compile(gpt::loss)(model, now, next).item(), rounded = train(model, state, now, next).item();
    bench::require_agreement("gpt in bfloat16: loss", &rounded, &exact, 1, 1e-2);
  }
  std::int64_t items() const { return Batch * Time; }
  void tenure() { benchmark::DoNotOptimize(train(model, state, now, next).item()); }
};

template <int Layers, int Width, int Time, int Batch, int Vocabulary = 64, int Heads = 4>
void rows() {
  using w = workload<Layers, Width, Time, Batch, Vocabulary, Heads>;
  const std::string name = "gpt_" + std::to_string(Layers) + "x" + std::to_string(Width) + "x" + std::to_string(Time);
  bench::row<w>(name, "tenure", Batch, [](w& p) { p.tenure(); });
  bench::row<w>(name, "hand", Batch, [](w& p) { p.by_hand(); });
}

const bool registered = [] {
  bench::keep_heap_warm();
  rows<2, 64, 64, 4>();
  rows<4, 128, 64, 8>();
  rows<2, 128, 1024, 1>();
  bench::row<narrow_workload<4, 128, 64, 8>>("gpt_4x128x64_bf16", "tenure", 8, [](auto& p) { p.tenure(); });
  bench::row<workload<4, 128, 64, 8, 64, 4>>("gpt_4x128x64_bf16", "float32", 8, [](auto& p) { p.tenure(); });
  if (std::getenv("TENURE_BENCH_LARGE") != nullptr) rows<12, 768, 64, 4, 50304, 12>();
  return true;
}();

}  // namespace
