// SPDX-License-Identifier: BSL-1.0
// Text from a model, one character at a time, with the keys and values of the characters before it in memory.
#pragma once

#include <string>
#include <vector>

#include "model.hpp"

// `start` and `count` more characters. A low temperature prefers likely characters. Appends the logits after each character of the first
// context to `logits`.
std::string continued(const model_type& model, std::string start, int count, float temperature, tn::engine& random, std::vector<float>& logits);
