// SPDX-License-Identifier: BSL-1.0
// How load() and map_model() find the parameters of a model in a file that was not written for it.
// A name is words with dots between them. "proj.weight" stands in "h.0.proj.weight", and not in "h.0.out_proj.weight".
#pragma once

#include <tenure/core/letters/hide.hpp>

#include <concepts>
#include <functional>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include <tenure/core/config.hpp>

namespace TENURE_NAMESPACE {
namespace detail {

/// Where `words` stand in a name between dots, from `at` on, or npos. Words may begin or end with a dot of their own.
inline std::size_t find_words(std::string_view name, std::string_view words, std::size_t at = 0) {
  if (words.empty()) return std::string_view::npos;
  for (; (at = name.find(words, at)) != std::string_view::npos; ++at) {
    const std::size_t end = at + words.size();
    const bool begins = at == 0 || name[at - 1] == '.' || words.front() == '.';
    const bool ends = end == name.size() || name[end] == '.' || words.back() == '.';
    if (begins && ends) return at;
  }
  return at;
}
inline bool has_words(std::string_view name, const std::vector<std::string>& any_of) {
  for (const std::string& words : any_of)
    if (find_words(name, words) != std::string_view::npos) return true;
  return false;
}

}  // namespace detail

/// From a name in a file to the name in the model, and from the model's to the file's when it is saved: pairs, {{"model.layers.", "layers."}, {"self_attn.q_proj.weight", "wq"}}, or a function of a std::string.
/// Pairs are applied one after the other, each wherever its first words stand in the name between dots. Dots that are left at the ends, or two in a row,
/// go.
class renaming {
 public:
  struct pair {
    std::string from, to;
  };

  renaming() = default;
  renaming(std::initializer_list<pair> pairs) : pairs_(pairs) {}
  template <class F>
    requires(std::is_invocable_r_v<std::string, const F&, std::string> && !std::same_as<F, renaming>)
  renaming(F f) : function_(std::move(f)) {}

  std::string operator()(std::string name) const {
    if (function_) return function_(std::move(name));
    for (const auto& [from, to] : pairs_) {
      std::size_t at = 0;
      while ((at = detail::find_words(name, from, at)) != std::string::npos) {
        name.replace(at, from.size(), to);
        at += to.size();
      }
    }
    if (!pairs_.empty()) tidy(name);
    return name;
  }

 private:
  static void tidy(std::string& name) {
    for (std::size_t at; (at = name.find("..")) != std::string::npos;) name.erase(at, 1);
    if (name.starts_with('.')) name.erase(0, 1);
    if (name.ends_with('.')) name.pop_back();
  }

  std::vector<pair> pairs_;
  std::function<std::string(std::string)> function_;
};

/// The last argument of load() and map_model(): load("model.safetensors", model, load_options{.rename = {{"model.", ""}}, .convert = true}).
struct load_options {
  /// From the names in the file to those in the model.
  renaming rename = {};
  /// Parameters of the model, by words of their names, whose last two axes are exchanged in the file: a Linear of PyTorch that the model multiplies as
  /// matmul(x, w).
  std::vector<std::string> transposed = {};
  /// Arrays of the file, by words of their new names, that the model does not need.
  std::vector<std::string> ignore = {};
  /// Converts element types: between floating types, with rounding to the nearest; integers and bool to integers that hold them, and to floating types.
  bool convert = false;
  /// Refuses a file with arrays that the model does not have. By default this holds for .safetensors and not for .npz, which may have the state of an
  /// optimizer besides.
  std::optional<bool> strict = std::nullopt;
};

/// The last argument of save(): save("model.safetensors", model, save_options{.rename = {{"q", "self_attn.q_proj.weight"}}}).
struct save_options {
  /// From the names in the model to those in the file.
  renaming rename = {};
};

}  // namespace tenure

#include <tenure/core/letters/restore.hpp>
