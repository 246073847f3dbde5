// SPDX-License-Identifier: BSL-1.0
// What the models learn from: plucked strings, and a distortion that they shall imitate.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <numbers>
#include <random>
#include <vector>

/// Notes of a pentatonic scale, one to three at a time. A string is a sum of ten harmonics, of which the high ones decay first.
inline std::vector<float> plucked_strings(double seconds, double rate, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  const auto uniform = [&](double low, double high) { return low + (high - low) * static_cast<double>(random() >> 11) * 0x1p-53; };
  std::vector<float> out(static_cast<std::size_t>(seconds * rate));
  constexpr int scale[] = {0, 3, 5, 7, 10};
  for (double start = 0; start < seconds; start += uniform(0.1, 0.5)) {
    const int strings = 1 + static_cast<int>(random() % 3);
    const double loudness = uniform(0.05, 0.6);
    for (int s = 0; s < strings; ++s) {
      const int note = scale[random() % 5] + 12 * static_cast<int>(random() % 3);
      const double frequency = 82.4 * std::exp2(note / 12.0), pick = uniform(0.1, 0.4);
      for (int harmonic = 1; harmonic <= 10; ++harmonic) {
        const double turn = 2 * std::numbers::pi * frequency * harmonic / rate, decay = (1.5 + 0.8 * harmonic) / rate;
        const double amplitude = loudness * std::sin(std::numbers::pi * harmonic * pick) / harmonic;
        const auto first = static_cast<std::size_t>(start * rate);
        for (std::size_t i = first; i < out.size() && i < first + static_cast<std::size_t>(2 * rate); ++i) {
          const double t = static_cast<double>(i - first), attack = std::fmin(1.0, t / (0.002 * rate));
          out[i] += static_cast<float>(amplitude * attack * std::exp(-decay * t) * std::sin(turn * t));
        }
      }
    }
  }
  for (float& x : out) x = std::fmin(std::fmax(x, -0.99f), 0.99f);
  return out;
}

/// Less bass, a clipper that is softer on one side, and less treble.
inline std::vector<float> distorted(const std::vector<float>& clean, double rate) {
  const double bass = 1 - std::exp(-2 * std::numbers::pi * 150 / rate), treble = 1 - std::exp(-2 * std::numbers::pi * 4000 / rate);
  std::vector<float> out;
  out.reserve(clean.size());
  double low = 0, smooth = 0;
  for (const float x : clean) {
    low += bass * (static_cast<double>(x) - low);
    const double driven = 8 * (static_cast<double>(x) - 0.8 * low);
    const double clipped = driven > 0 ? std::tanh(driven) : 0.7 * std::tanh(driven / 0.7 * 0.8);
    smooth += treble * (clipped - smooth);
    out.push_back(static_cast<float>(0.6 * smooth));
  }
  return out;
}
