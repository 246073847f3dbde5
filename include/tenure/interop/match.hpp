// SPDX-License-Identifier: BSL-1.0
// Finds the array of a file for each parameter of a model: by its name after renaming, by its slices, with its type and shape.
// Law: every refusal comes before an element is written. A message about a missing array names the nearest ones that the file has.
#pragma once

#include <algorithm>
#include <array>
#include <charconv>
#include <deque>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include <tenure/interop/convert.hpp>
#include <tenure/interop/load_options.hpp>
#include <tenure/tensor/extents.hpp>

namespace TENURE_NAMESPACE::interop::detail {

/// The fewest characters to insert, remove or replace that make `a` of `b`. Only their ends are compared, where names differ most.
inline std::size_t edit_distance(std::string_view a, std::string_view b) {
  constexpr std::size_t most = 96;
  a.remove_prefix(a.size() - std::min(a.size(), most));
  b.remove_prefix(b.size() - std::min(b.size(), most));
  std::size_t row[most + 1];
  for (std::size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (std::size_t i = 0; i < a.size(); ++i) {
    std::size_t diagonal = std::exchange(row[0], i + 1);
    for (std::size_t j = 0; j < b.size(); ++j) {
      const std::size_t replaced = diagonal + (a[i] == b[j] ? 0 : 1);
      diagonal = row[j + 1];
      row[j + 1] = std::min({replaced, diagonal + 1, row[j] + 1});
    }
  }
  return row[b.size()];
}

inline constexpr std::size_t most_named = 5;
/// The first few names of a list of `count`, in quotes, and how many are left.
inline std::string few_names(std::span<const std::string_view> names, std::size_t count) {
  std::string text;
  for (std::size_t i = 0; i < std::min(names.size(), most_named); ++i) text.append(i ? ", " : "").append(in_quotes(names[i]));
  return count <= most_named ? text : text + " and " + std::to_string(count - most_named) + " more";
}

/// Where the elements of a parameter are: in one array, or in one for each index of axis 0.
struct match {
  std::vector<const array_view*> slices;
  bool is_sliced = false, is_transposed = false, is_converted = false;
};

/// The arrays of a file, and which of them parameters have taken.
class matcher {
 public:
  matcher(std::span<const array_view> arrays, const load_options& options, place where) : options_(options), where_(std::move(where)), is_used_(options.transposed.size()) {
    for (const array_view& a : arrays) {
      std::string name = options.rename(std::string(a.name));
      const auto [at, is_new] = by_name_.try_emplace(std::move(name), entry{&a});
      if (!is_new) where_.fail("arrays " + in_quotes(at->second.array->name) + " and " + in_quotes(a.name) + " have one name after renaming: " + in_quotes(at->first));
    }
  }

  /// The elements of the parameter `name`. Fails if the file has none of this name, type and shape, or if another parameter took them. A run-time extent in
  /// `shape` fits any.
  template <class T>
  match find(const std::string& name, const extents& shape) {
    where_.entry = name;
    match found;
    for (std::size_t i = 0; i < options_.transposed.size(); ++i)
      if (tenure::detail::find_words(name, options_.transposed[i]) != std::string_view::npos) found.is_transposed = is_used_[i] = true;
    if (const auto whole = by_name_.find(name); whole != by_name_.end()) {
      take<T>(whole->second, shape, found);
    } else if (const auto [before, after] = split_at_layers(name, shape); before != std::string::npos) {
      found.is_sliced = true;
      extents of_slice;
      for (int a = 1; a < shape.rank; ++a) of_slice.push_back(shape[a]);
      for (std::int64_t i = 0; i < shape[0]; ++i) {
        where_.entry = slice_name(name, before, after, i);
        const auto slice = by_name_.find(where_.entry);
        if (slice == by_name_.end()) fail_missing(where_.entry);
        take<T>(slice->second, of_slice, found);
      }
    } else if (const array_view* const slice = slice_of_stack(name); slice != nullptr) {
      take<T>(*slice, shape, found);
    } else {
      fail_missing(name);
    }
    where_.entry.clear();
    return found;
  }

  /// Fails if the file has arrays that no parameter took, and such a file is refused.
  void finish(bool is_strict_by_default) const {
    for (std::size_t i = 0; i < is_used_.size(); ++i)  // misspelled, a square matrix would be read as it is
      if (!is_used_[i]) where_.fail("no parameter of the model has the words " + in_quotes(options_.transposed[i]) + " of load_options{.transposed}");
    if (!options_.strict.value_or(is_strict_by_default)) return;
    std::vector<std::string_view> left;
    for (const auto& [name, held] : by_name_)
      if (!held.is_taken && (held.slices.empty() || held.slices_left > 0) && !tenure::detail::has_words(name, options_.ignore)) left.push_back(name);
    if (!left.empty())
      where_.fail("the model has no parameter for " + few_names(left, left.size()) + " of the file: load_options{.strict = false} loads the others, .ignore = {...} names arrays to leave out");
  }

  const place& where() const { return where_; }

 private:
  struct slice_entry {
    array_view array;
    bool is_taken = false;
  };
  struct entry {
    const array_view* array;
    bool is_taken = false;
    std::deque<slice_entry> slices = {};  // along axis 0, if parameters take them one by one
    std::size_t slices_left = 0;
  };

  template <class T>
  void take(entry& e, const extents& expected, match& found) {
    if (std::exchange(e.is_taken, true) || !e.slices.empty()) where_.fail("two arguments have an array of this name");
    take<T>(*e.array, expected, found);
  }
  template <class T>
  void take(const array_view& a, extents expected, match& found) {
    if (found.is_transposed) {
      if (expected.rank < 2) where_.fail("an array with less than two axes is not transposed");
      std::swap(expected[expected.rank - 2], expected[expected.rank - 1]);
    }
    check_type<T>(a, found);
    check_shape(a, expected);
    found.slices.push_back(&a);
  }

  static std::string slice_name(const std::string& name, std::size_t before, std::size_t after, std::int64_t i) {
    std::string text = name.substr(0, before);
    if (!text.empty()) text += '.';
    text += std::to_string(i);
    return after < name.size() ? text + '.' + name.substr(after) : text;
  }
  /// Where the number of a layer stands in the names of slices: behind name[0, before) and in front of name[after, end). npos if the file has no slices.
  std::pair<std::size_t, std::size_t> split_at_layers(const std::string& name, const extents& shape) const {
    constexpr std::pair none{std::string::npos, std::string::npos};
    if (shape.rank == 0 || !is_static(shape[0]) || shape[0] == 0) return none;
    std::size_t before = 0, after = 0;
    while (!by_name_.contains(slice_name(name, before, after, 0))) {
      if (after == name.size()) return none;
      before = std::min(name.find('.', after), name.size());
      after = std::min(before + 1, name.size());
    }
    return {before, after};
  }

  /// Slice i of the array "layers.w", for a parameter "layers.i.w". Null if the file has no such array with a slice i.
  const array_view* slice_of_stack(const std::string& name) {
    for (std::size_t at = 0; at < name.size();) {
      const std::size_t end = std::min(name.find('.', at), name.size());
      std::size_t index = 0;
      const auto [last, error] = std::from_chars(name.data() + at, name.data() + end, index);
      if (error == std::errc() && last == name.data() + end) {
        const auto stack = by_name_.find(end < name.size() ? name.substr(0, at) + name.substr(end + 1) : name.substr(0, at > 0 ? at - 1 : 0));
        if (stack != by_name_.end() && has_slice(stack->second, index)) {
          slice_entry& slice = stack->second.slices[index];
          if (stack->second.is_taken || std::exchange(slice.is_taken, true)) where_.fail("two arguments have an array of this name");
          --stack->second.slices_left;
          return &slice.array;
        }
      }
      at = end + 1;
    }
    return nullptr;
  }
  static bool has_slice(entry& e, std::size_t index) {
    const array_view& all = *e.array;
    if (all.shape.empty() || all.shape[0] <= 0 || index >= static_cast<std::size_t>(all.shape[0])) return false;
    const auto count = static_cast<std::size_t>(all.shape[0]);
    if (all.bytes.size() % count != 0) return false;  // elements of less than a byte
    if (e.slices.empty()) {
      const std::size_t size = all.bytes.size() / count;
      for (std::size_t i = 0; i < count; ++i) e.slices.push_back({{all.name, all.dtype, all.shape.subspan(1), all.bytes.subspan(i * size, size)}});
      e.slices_left = count;
    }
    return true;
  }

  [[noreturn]] void fail_missing(const std::string& name) const {
    if (by_name_.empty()) where_.fail("the file has no arrays");
    std::size_t compared = 4096;  // of a file with more names the first ones
    std::array<std::string_view, most_named + 1> nearest;
    std::array<std::size_t, most_named + 1> distance;
    std::size_t count = 0;
    for (const auto& [other, held] : by_name_) {
      if (compared-- == 0) break;
      std::size_t at = count < most_named ? count++ : most_named;  // the last place is for one name too many
      nearest[at] = other, distance[at] = edit_distance(name, other);
      for (; at > 0 && distance[at] < distance[at - 1]; --at) std::swap(nearest[at], nearest[at - 1]), std::swap(distance[at], distance[at - 1]);
    }
    where_.fail("the file has no such array; it has " + few_names(std::span(nearest).first(count), by_name_.size()));
  }

  template <class T>
  void check_type(const array_view& a, match& found) {
    const file_type* const type = type_of_dtype(a.dtype);
    if (type->dtype == descriptor_of(dtype_v<T>)) return;
    std::string difference = "has element type " + std::string(type->name) + ", the model has " + tenure::name_of(dtype_v<T>);
    if (!is_convertible<T>(type->dtype)) where_.fail(difference + ", to which it does not convert");
    if (!options_.convert) where_.fail(difference + ": load() with load_options{.convert = true} converts it");
    check_conversion<T>(a, where_);
    found.is_converted = true;
  }
  void check_shape(const array_view& a, const extents& expected) const {
    const std::string the_model = options_.transposed.empty() ? ", the model has " : ", the model has in the file ";
    const std::string expects = tenure::detail::spell(expected).c_str();
    if (a.shape.size() > max_rank) where_.fail("has " + std::to_string(a.shape.size()) + " axes" + the_model + "shape " + expects);
    extents s;
    for (const std::int64_t e : a.shape) s.push_back(e);
    if (!tenure::detail::fits(expected, s)) where_.fail(std::string("has shape ") + tenure::detail::spell(s).c_str() + the_model + expects + hint(s, expected));
  }
  /// What helps if the axes of a matrix stand in the other order.
  const char* hint(extents s, const extents& expected) const {
    if (s.rank < 2) return "";
    std::swap(s[s.rank - 2], s[s.rank - 1]);
    return tenure::detail::fits(expected, s) ? ": load_options{.transposed = {...}} names parameters whose axes are exchanged" : "";
  }

  const load_options& options_;
  place where_;
  std::vector<bool> is_used_;  // of the words in `transposed`
  std::map<std::string, entry, std::less<>> by_name_;
};

/// Writes the elements of one array to dense memory.
template <class T>
void write_slice(const array_view& from, bool is_converted, bool is_transposed, T* to) {
  const std::size_t count = from.bytes.empty() ? 0 : from.bytes.size() * 8 / type_of_dtype(from.dtype)->bits;
  if (!is_transposed) {
    if (is_converted) convert_elements(from, to);
    else if (count > 0) std::memcpy(to, from.bytes.data(), from.bytes.size());
    return;
  }
  const auto as_stored = std::make_unique<T[]>(count);
  write_slice(from, is_converted, false, as_stored.get());
  const auto rows = static_cast<std::size_t>(from.shape[from.shape.size() - 2]), columns = static_cast<std::size_t>(from.shape.back());
  for (std::size_t matrix = 0; matrix < count; matrix += rows * columns)
    for (std::size_t j = 0; j < columns; ++j)
      for (std::size_t i = 0; i < rows; ++i) to[matrix + j * rows + i] = as_stored[matrix + i * columns + j];
}
/// Writes all elements of a parameter to dense memory.
template <class T>
void write_match(const match& found, T* to) {
  for (const array_view* slice : found.slices) {
    write_slice(*slice, found.is_converted, found.is_transposed, to);
    to += slice->bytes.size() * 8 / type_of_dtype(slice->dtype)->bits;
  }
}

}  // namespace tenure::interop::detail
