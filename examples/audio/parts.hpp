// SPDX-License-Identifier: BSL-1.0
// What the training of both models shares: random parts of two signals, and the error.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include <tenure/tenure.hpp>

/// fill(row, part of clean, part of wanted) for each of `rows` random parts.
template <class Fill>
void random_parts(std::span<const float> clean, std::span<const float> wanted, tenure::engine& random, Fill fill, std::int64_t rows, std::int64_t length) {
  const auto size = static_cast<std::size_t>(length);
  for (std::int64_t row = 0; row < rows; ++row) {
    const auto start = static_cast<std::size_t>(random() % (clean.size() - size + 1));
    fill(row, clean.subspan(start, size), wanted.subspan(start, size));
  }
}

/// The energy of the error by that of the signal.
inline constexpr auto error_to_signal = [](auto y, auto wanted) { return sum(square(y - wanted)) / (sum(square(wanted)) + 1e-3f); };
