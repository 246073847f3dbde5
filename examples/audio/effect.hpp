// SPDX-License-Identifier: BSL-1.0
// A learned effect, as the part of an audio program sees it that knows no tensors. Each model stands in a file of its own, the only one that includes Tenure.
// Law: the bits of the output do not depend on how the input is divided into blocks.
#pragma once

#include <cstdint>
#include <memory>
#include <span>

struct effect {
  virtual ~effect() = default;
  virtual const char* name() const = 0;
  /// `steps` steps of Adam on random parts of the two signals, which have one length. `after` gets the number of a step, and its loss.
  virtual void train(std::span<const float> clean, std::span<const float> wanted, std::int64_t steps, void (*after)(std::int64_t, double)) = 0;
  /// The next samples of the effect. Allocates nothing. Both spans have one length, and may be the same.
  virtual void process(std::span<const float> in, std::span<float> out) = 0;
  /// Forgets the samples before.
  virtual void reset() = 0;
};

std::unique_ptr<effect> make_gru(std::uint64_t seed);
std::unique_ptr<effect> make_wavenet(std::uint64_t seed);
