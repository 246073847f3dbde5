// SPDX-License-Identifier: BSL-1.0
#include "sample.hpp"

#include <string_view>

#include "text.hpp"

constexpr auto next_character =
    tn::compile([](auto model, auto keys, auto values, auto character, auto position) { return model.next(keys, values, character, position); });

std::string continued(const model_type& model, std::string text, int count, float temperature, tn::engine& random, std::vector<float>& all_logits) {
  // keys and values are arguments and results: a step writes one position of each.
  tn::tensor<float, tn::shape<layers, heads, context, width / heads>> keys, values;
  tn::tensor<float, tn::shape<vocabulary>> logits, chances;
  std::int64_t position = 0;
  const auto read = [&](std::string_view part) {
    for (const char c : part) {
      next_character.into(logits, keys, values)(model, keys, values, number_of(c), position++);
      if (all_logits.size() < context * vocabulary) all_logits.insert(all_logits.end(), logits.data(), logits.data() + vocabulary);
    }
  };
  read(text);
  for (; count > 0; --count) {
    chances = softmax(logits / temperature);
    auto rest = tn::uniform(tn::shape<>{}, random).item();
    std::int64_t drawn = 0;
    while (drawn < vocabulary - 1 && (rest -= chances(drawn)) >= 0) ++drawn;
    text += character_of(drawn);
    // The model has no positions after the last one: it reads the second half of its context again, from position 0.
    const bool is_full = position == context;
    if (is_full) position = 0;
    read(std::string_view(text).substr(text.size() - (is_full ? context / 2 : 1)));
  }
  return text;
}
