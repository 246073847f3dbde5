// SPDX-License-Identifier: BSL-1.0
// Trains a small GPT on the characters of this project's documentation, and writes text with it.
// usage: gpt [--steps N] [--stop N] [--resume] [--text FOLDER] [--temperature T] [--seed N]
// --stop ends a run of N steps early, as if it were interrupted; --resume goes on with it. Writes gpt.npz: the model and the optimizer's state.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <stdexcept>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include <tenure/interop/save.hpp>

#include "../support/progress.hpp"
#include "model.hpp"
#include "sample.hpp"
#include "text.hpp"

#ifndef TENURE_EXAMPLE_DATA
#define TENURE_EXAMPLE_DATA "examples/data"
#endif

struct options {
  std::int64_t steps = 1000, stop = -1, seed = 1;
  bool resume = false;
  std::string text = TENURE_EXAMPLE_DATA "/../../docs";
  float temperature = 0.7f;

  options(int argc, char** argv) {
    for (int i = 1; i < argc; ++i) {
      const std::string_view name = argv[i];
      if (name == "--resume") {
        resume = true;
        continue;
      }
      const char* const value = ++i < argc ? argv[i] : throw std::runtime_error(std::string(name) + ": a value is missing");
      if (name == "--steps") steps = std::atoll(value);
      else if (name == "--stop") stop = std::atoll(value);
      else if (name == "--seed") seed = std::atoll(value);
      else if (name == "--text") text = value;
      else if (name == "--temperature") temperature = std::strtof(value, nullptr);
      else throw std::runtime_error(std::string(name) + ": no such option");
    }
    if (stop < 0) stop = steps;
  }
};

constexpr auto loss = [](auto model, auto text, auto next, auto part, auto key) {
  return cross_entropy(model(text, part, key), tn::reshape<-1>(next));
};
// Without dropout. The logits are for the test of the sampling.
constexpr auto evaluate = tn::compile([](auto model, auto text, auto next, auto key) {
  const auto logits = model(text, 0.0f, key);
  return std::tuple{cross_entropy(logits, tn::reshape<-1>(next)), logits};
});

using characters = tn::tensor<std::int32_t, tn::shape<batch, context>>;

// Row b of `text` begins at start(b). `next` is one character ahead.
void fill_batch(const std::vector<std::int32_t>& from, const auto& start, characters& text, characters& next) {
  const auto to = tn::as_span(text), ahead = tn::as_span(next);
  for (std::int64_t b = 0; b < batch; ++b) {
    const auto first = from.begin() + static_cast<std::ptrdiff_t>(start(b));
    std::copy_n(first, context, to.begin() + b * context);
    std::copy_n(first + 1, context, ahead.begin() + b * context);
  }
}

// Writes the likeliest characters with a cache, prints the speed, and compares them with those written without a cache.
template <int Bytes>
bool write_greedily(const gpt<tn::values>& trained) {
  const auto model = narrowed<Bytes>(trained);
  std::int64_t bytes = 0;
  tn::for_each_leaf(model, [&](const auto& leaf) { bytes += leaf.size() * static_cast<std::int64_t>(sizeof(*leaf.data())); });
  const std::string start = "## ";
  const int count = static_cast<int>(context - static_cast<std::int64_t>(start.size()));
  std::vector<float> logits(context * vocabulary);  // full: no others are kept
  const auto begin = std::chrono::steady_clock::now();
  std::string written;
  constexpr int times = 20;
  for (int i = 0; i < times; ++i) written = continued(model, start, count, {.temperature = 0}, logits);
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count() / (times * context);
  const bool agrees = written == continued_slowly(model, start);
  std::printf("weights of %d byte%s: %.0f characters a second, %.1f GB of weights a second; the text without a cache is %s\n", Bytes, Bytes == 1 ? "" : "s", 1 / seconds,
              static_cast<double>(bytes) / seconds * 1e-9, agrees ? "the same" : "another one");
  return agrees;
}

int main(int argc, char** argv) try {
  const options o(argc, argv);
  const corpus all(o.text);
  tn::engine first(static_cast<std::uint64_t>(o.seed));
  auto model = tn::init<gpt>(first);
  auto step = tn::train_step(loss, tn::optim::clipped{tn::optim::adam{.beta2 = 0.99, .weight_decay = 0.1}, 1.0});
  auto state = step.rule.init(model);
  if (o.resume) tn::load("gpt.npz", model, state);
  const tn::optim::warmup_cosine rate{.peak = 3e-3, .warmup = 20, .steps = o.steps, .end = 3e-4};
  const tn::flush_denormals scope;

  characters text, next;
  const auto key = tn::random_key(static_cast<std::uint64_t>(o.seed));
  const auto held_out_loss = [&] {
    constexpr std::int64_t batches = 4;
    double sum = 0;
    for (std::int64_t i = 0; i < batches; ++i) {
      const auto last = static_cast<std::int64_t>(all.held_out.size()) - context - 1;
      fill_batch(all.held_out, [&](std::int64_t b) { return last * (i * batch + b) / (batches * batch); }, text, next);
      sum += std::get<0>(evaluate(model, text, next, key)).item();
    }
    return sum / batches;
  };

  const double before = held_out_loss();
  std::printf("%zu characters to learn from, %zu held out: loss %.3f after %lld steps\n", all.train.size(), all.held_out.size(), before,
              static_cast<long long>(state.steps));
  double after = before;
  examples::progress bar("gpt", static_cast<std::size_t>(std::max<std::int64_t>(o.stop - state.steps, 0)));
  while (state.steps < o.stop) {
    // What is random in a step depends on its number alone. So a run that was interrupted goes on as if it were not.
    tn::engine random(static_cast<std::uint64_t>(o.seed + 1000003 * (state.steps + 1)));
    fill_batch(all.train, [&](std::int64_t) { return random() % (all.train.size() - context); }, text, next);
    const tn::tensor of_step = tn::fold_in(key, state.steps);
    step.rule.learning_rate = rate(state.steps);
    const double now = step(model, state, text, next, 0.1f, of_step).item();
    if (state.steps * 10 / o.steps > (state.steps - 1) * 10 / o.steps) {
      after = held_out_loss();
      tn::save("gpt.npz", model, state);  // a run that is killed goes on from here
    }
    char numbers[64];
    std::snprintf(numbers, sizeof numbers, "held out %.3f  rate %.1e", after, rate(state.steps - 1));
    bar.step(now, std::string_view(numbers));
  }
  tn::save("gpt.npz", model, state);

  // The same model with weights of 4, 2 and 1 bytes.
  bool right = write_greedily<4>(model) && write_greedily<2>(model) && write_greedily<1>(model);
  std::vector<float> logits;
  const std::string written = continued(narrowed<4>(model), "## ", 400, {.temperature = o.temperature, .seed = static_cast<std::uint64_t>(o.seed)}, logits);
  std::printf("----\n%s\n----\n", written.c_str());

  // The logits of the sampling, with keys and values kept, and those of the whole text at once.
  fill_batch(all.held_out, [](std::int64_t) { return 0; }, text, next);
  for (std::int64_t i = 0; i < context; ++i) text.at(0, i) = number_of(written[static_cast<std::size_t>(i)]);
  const auto whole = std::get<1>(evaluate(model, text, next, key));
  float most = 0;
  for (std::size_t i = 0; i < logits.size(); ++i) most = std::max(most, std::abs(logits[i] - whole.data()[i]));
  after = held_out_loss();
  std::printf("held out loss %.6f; one character at a time differs by %.0e from the whole text at once\n", after, static_cast<double>(most));
  right = right && std::isfinite(after) && most < 1e-4f;
  return right ? 0 : 1;
} catch (const std::exception& e) {
  std::fprintf(stderr, "gpt: %s\n", e.what());
  return 1;
}
