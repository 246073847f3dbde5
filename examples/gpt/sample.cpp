// SPDX-License-Identifier: BSL-1.0
#include "sample.hpp"

#include <string_view>

#include "text.hpp"

constexpr auto next_character =
    tn::compile([](auto model, auto keys, auto values, auto character, auto position) { return model.next(keys, values, character, position); });
// Character number i of a text is drawn by key i.
constexpr auto draw = tn::compile([](auto logits, auto key, auto i, auto temperature, auto part) {
  return tn::categorical(tn::fold_in(key, i), tn::keep_top_p(logits / temperature, part));
});
constexpr auto likeliest = tn::compile([](auto logits) { return argmax(logits); });
constexpr auto whole_text = tn::compile([](auto model, auto text, auto last) { return model(text)[last]; });

template <int Bytes>
std::string continued(const writer<tn::values, Bytes>& model, std::string text, int count, const drawing& how, std::vector<float>& all_logits) {
  // keys and values are arguments and results: a step writes one position of each, in place.
  tn::tensor<float, tn::shape<layers, heads, context, width / heads>> keys, values;
  tn::tensor<float, tn::shape<vocabulary>> logits;
  tn::tensor<std::int64_t, tn::shape<>> drawn;
  const auto key = tn::random_key(how.seed);
  std::int64_t position = 0;
  const auto read = [&](std::string_view part) {
    for (const char c : part) {
      next_character.into(logits, keys, values)(model, keys, values, number_of(c), position++);
      if (all_logits.size() < context * vocabulary) all_logits.insert(all_logits.end(), logits.data(), logits.data() + vocabulary);
    }
  };
  read(text);
  for (int i = 0; i < count; ++i) {
    if (how.temperature > 0) draw.into(drawn)(logits, key, i, how.temperature, how.part);
    else likeliest.into(drawn)(logits);
    text += character_of(drawn.item());
    // The model has no positions after the last one: it reads the second half of its context again, from position 0.
    const bool is_full = position == context;
    if (is_full) position = 0;
    read(std::string_view(text).substr(text.size() - (is_full ? context / 2 : 1)));
  }
  return text;
}

template <int Bytes>
std::string continued_slowly(const writer<tn::values, Bytes>& model, std::string text) {
  tn::tensor<std::int32_t, tn::shape<context>> numbers = tn::zeros<std::int32_t>(tn::shape<context>{});
  while (static_cast<std::int64_t>(text.size()) < context) {
    for (std::size_t i = 0; i < text.size(); ++i) tn::as_span(numbers)[i] = number_of(text[i]);
    text += character_of(likeliest(whole_text(model, numbers, static_cast<std::int64_t>(text.size()) - 1)).item());
  }
  return text;
}

template std::string continued(const writer<tn::values, 4>&, std::string, int, const drawing&, std::vector<float>&);
template std::string continued(const writer<tn::values, 2>&, std::string, int, const drawing&, std::vector<float>&);
template std::string continued(const writer<tn::values, 1>&, std::string, int, const drawing&, std::vector<float>&);
template std::string continued_slowly(const writer<tn::values, 4>&, std::string);
template std::string continued_slowly(const writer<tn::values, 2>&, std::string);
template std::string continued_slowly(const writer<tn::values, 1>&, std::string);
