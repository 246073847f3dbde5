// SPDX-License-Identifier: BSL-1.0
// Text from a model, one character at a time, with the keys and values of the characters before it in memory.
#pragma once

#include <string>
#include <vector>

#include "writer.hpp"

// How characters are drawn: from the likely ones, which have this part of all probability. At temperature 0 it is the likeliest one.
struct drawing {
  float temperature = 0.7f, part = 0.95f;
  std::uint64_t seed = 1;
};

// `start` and `count` more characters. Appends the logits after each character of the first context to `logits`.
template <int Bytes>
std::string continued(const writer<tn::values, Bytes>& model, std::string start, int count, const drawing& how, std::vector<float>& logits);

// The likeliest characters up to the end of the context, without a cache: the whole text goes through the model for each of them.
template <int Bytes>
std::string continued_slowly(const writer<tn::values, Bytes>& model, std::string start);
