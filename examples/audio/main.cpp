// SPDX-License-Identifier: BSL-1.0
// Two models learn a distortion of a guitar, and then run on a WAV file, block by block: a GRU, and a WaveNet.
// usage: audio [--steps N] [--seed N] [--input FILE.wav]
// Writes clean.wav (16 bits), the input if none is given, and gru.wav and wavenet.wav (float32). docs/11-small-programs.md
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "../support/wav.hpp"
#include "effect.hpp"
#include "heap.hpp"
#include "signal.hpp"

namespace {

struct options {
  std::int64_t steps = 1000;
  std::uint64_t seed = 1;
  std::string input;

  options(int argc, char** argv) {
    for (int i = 1; i < argc; i += 2) {
      const std::string_view name = argv[i];
      const char* const value = i + 1 < argc ? argv[i + 1] : throw std::runtime_error(std::string(name) + ": a value is missing");
      if (name == "--steps") steps = std::atoll(value);
      else if (name == "--seed") seed = static_cast<std::uint64_t>(std::atoll(value));
      else if (name == "--input") input = value;
      else throw std::runtime_error(std::string(name) + ": no such option");
    }
  }
};

/// The energy of the error by the energy of the signal: 0 is perfect, and silence has 1.
double error_to_signal(const std::vector<float>& y, const std::vector<float>& wanted) {
  double error = 0, signal = 0;
  for (std::size_t i = 0; i < y.size(); ++i) {
    const double e = static_cast<double>(y[i]) - static_cast<double>(wanted[i]), w = static_cast<double>(wanted[i]);
    error += e * e, signal += w * w;
  }
  return error / signal;
}

struct run_result {
  std::vector<float> out;
  double nanoseconds = 0;  // of a sample
  long allocations = 0;
};

/// As an audio program runs an effect: a callback for each block, which must not allocate.
run_result in_blocks(effect& f, const std::vector<float>& in, std::size_t block) {
  run_result r{std::vector<float>(in.size())};
  f.reset();
  const long counted = heap_calls();
  const auto start = std::chrono::steady_clock::now();
  for (std::size_t i = 0; i < in.size(); i += block) {
    const std::size_t n = std::min(block, in.size() - i);
    f.process({in.data() + i, n}, {r.out.data() + i, n});
  }
  const std::chrono::duration<double, std::nano> took = std::chrono::steady_clock::now() - start;
  r.nanoseconds = took.count() / static_cast<double>(in.size());
  r.allocations = heap_calls() - counted;
  return r;
}

/// Whether what was asked of the effect holds.
bool learn_and_run(effect& f, const options& o, const std::vector<float>& clean, const std::vector<float>& wanted, const std::vector<float>& held_out,
                   const std::vector<float>& held_out_wanted, const examples::sound& input) {
  const double before = error_to_signal(in_blocks(f, held_out, 64).out, held_out_wanted);
  f.train(clean, wanted, o.steps, [](std::int64_t step, double loss) {
    if (step % 100 == 99) std::fprintf(stderr, "step %lld  loss %.4f\n", static_cast<long long>(step + 1), loss);
  });
  const double after = error_to_signal(in_blocks(f, held_out, 64).out, held_out_wanted);
  std::printf("%s: error to signal %.4f before %lld steps, %.4f after\n", f.name(), before, static_cast<long long>(o.steps), after);

  run_result whole = in_blocks(f, input.samples, input.samples.size());
  bool is_right = after < before;
  for (const std::size_t block : {1u, 7u, 64u, 480u}) {
    const run_result r = in_blocks(f, input.samples, block);
    const bool is_same = r.out == whole.out;
    std::printf("  blocks of %3zu: %4.0f ns a sample, %ld allocations, %s bits\n", block, r.nanoseconds, r.allocations, is_same ? "the same" : "OTHER");
    is_right &= is_same && r.allocations == 0;
  }
  examples::write_wav(std::string(f.name()) + ".wav", {std::move(whole.out), input.rate, 1});
  return is_right;
}

}  // namespace

int main(int argc, char** argv) try {
  const options o(argc, argv);
  constexpr double rate = 44100;
  const auto clean = plucked_strings(8, rate, o.seed), held_out = plucked_strings(1, rate, o.seed + 1);
  const auto wanted = distorted(clean, rate), held_out_wanted = distorted(held_out, rate);
  if (o.input.empty()) examples::write_wav("clean.wav", {held_out, 44100, 1}, examples::wav_format::pcm16);
  const examples::sound input = examples::read_wav(o.input.empty() ? "clean.wav" : o.input);
  if (input.channels != 1) throw std::runtime_error(o.input + ": " + std::to_string(input.channels) + " channels; the models are for one");

  bool is_right = true;
  for (const auto& f : {make_gru(o.seed), make_wavenet(o.seed)}) is_right &= learn_and_run(*f, o, clean, wanted, held_out, held_out_wanted, input);
  return is_right ? 0 : 1;
} catch (const std::exception& e) {
  std::fprintf(stderr, "audio: %s\n", e.what());
  return 1;
}
