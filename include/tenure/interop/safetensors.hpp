// SPDX-License-Identifier: BSL-1.0
// Weights in .safetensors files. save() and load() of save.hpp copy them. map_model<net>("model.safetensors") is a model over the file itself: nothing is copied,
// and processes share the memory. Law: a mapped parameter has the bits of the file, and it is read-only. The mapping lives as long as a tensor over it.
// Errors: tenure::io_error. Cost: the header is parsed; a page of the file is read when it is first used.
#pragma once

#include <tenure/core/letters/hide.hpp>

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <tenure/interop/mapping.hpp>
#include <tenure/interop/save.hpp>
#include <tenure/storage/foreign.hpp>
#include <tenure/tensor/from.hpp>

namespace TENURE_NAMESPACE {

/// The kind of a model over memory that it does not own and does not write: its parameters are read-only aliases, as of from(const pointer).
struct borrowed_values : detail::arithmetic_of_models {
  template <class T, class S>
  using type = detail::borrowed<const T, S>;
};

namespace detail {

/// .safetensors files in memory, and tensors over their arrays.
class arrays_in_place {
 public:
  arrays_in_place(const char* call, const std::string& path, load_options options)
      : arrays_in_place(interop::detail::place_of(call, path), interop::detail::open_parts(path, interop::detail::place_of(call, path), map_file), std::move(options)) {}
  arrays_in_place(const char* call, std::span<const std::byte> file, load_options options) : arrays_in_place({call, "memory"}, parts_in_memory(call, file), std::move(options)) {}

  std::span<const interop::array_view> views() const { return views_; }
  interop::detail::text_map metadata() const {
    interop::detail::text_map all;
    for (const auto& each : parts_) all.insert(all.end(), each.header.metadata.begin(), each.header.metadata.end());
    return all;
  }
  interop::detail::matcher match() const { return {views_, options_, where_}; }

  /// A tensor of type X over the array that the matcher finds. A number is copied.
  template <class X>
  X borrow(interop::detail::matcher& matcher, const std::string& name) const {
    using T = typename leaf_type<X>::element_type;
    const interop::detail::match found = matcher.find<T>(name, leaf_type<X>::shape_type::value);
    const interop::array_view& a = *found.slices.front();
    if constexpr (any_tensor<X>) {
      const storage_handle& storage = check_place(found, name, alignof(T));
      extents s;
      for (const std::int64_t e : a.shape) s.push_back(e);
      auto* const first = reinterpret_cast<T*>(const_cast<std::byte*>(a.bytes.data()));
      return tensor_access::make<X>(storage, first, s, row_major(s));
    } else {
      X x{};
      interop::detail::write_match(found, &x);
      return x;
    }
  }

 private:
  using part = interop::detail::safetensors_part<storage_handle>;

  arrays_in_place(const interop::detail::place& where, std::vector<part> parts, load_options options)
      : where_(where), options_(std::move(options)), parts_(std::move(parts)), views_(interop::detail::views_of(parts_)) {
    if (options_.convert) where_.fail("a mapping copies nothing, so it does not convert: load() the model with these options");
    if (!options_.transposed.empty()) where_.fail("a mapping copies nothing, so it does not transpose: load() the model with these options");
  }

  static std::pair<storage_handle, std::span<const std::byte>> held(storage_handle storage) {
    const std::span bytes(static_cast<const std::byte*>(storage.data()), storage.bytes());
    return {std::move(storage), bytes};
  }
  static std::pair<storage_handle, std::span<const std::byte>> map_file(const std::string& path, const interop::detail::place& where) {
    interop::detail::mapping file(path, where);
    const std::size_t size = file.size();
    return held(keep_storage(std::move(file), size, [](const auto& kept) { return kept.data(); }));
  }
  static std::vector<part> parts_in_memory(const char* call, std::span<const std::byte> file) {
    auto [storage, bytes] = held(borrow_storage(const_cast<std::byte*>(file.data()), file.size()));
    return {{std::move(storage), bytes, interop::detail::read_header(bytes, {call, "memory"})}};
  }

  /// The storage of an array. Fails if a tensor cannot be there.
  const storage_handle& check_place(const interop::detail::match& found, const std::string& name, std::size_t alignment) const {
    const std::byte* const first = found.slices.front()->bytes.data();
    interop::detail::place where = where_;
    where.entry = name;
    const char* const cure = "; a mapping copies nothing: load() the model, or save() it once more and map that file";
    if (found.is_sliced) where.fail("has its slices in arrays of their own" + std::string(cure));
    const auto of = std::find_if(parts_.begin(), parts_.end(), [&](const part& p) { return !std::less<>()(first, p.bytes.data()) && !std::less<>()(p.bytes.data() + p.bytes.size(), first); });
    if (reinterpret_cast<std::uintptr_t>(first) % alignment != 0)
      where.fail("begins at byte " + std::to_string(first - of->bytes.data()) + ", its elements need a multiple of " + std::to_string(alignment) + cure);
    return of->memory;
  }

  interop::detail::place where_;
  load_options options_;
  std::vector<part> parts_;
  std::vector<interop::array_view> views_;
};

template <class Model>
Model model_in_place(const arrays_in_place& file) {
  std::vector<std::string> names;
  const auto add = [&](const leaf_name& name, const auto&, const auto&) { names.push_back(name.text); };
  for_each_leaf_name<Model>(leaf_name{}, add);
  interop::detail::matcher matcher = file.match();
  std::size_t i = 0;
  auto make = [&]<class L>(element_tag<L>) -> L { return file.borrow<L>(matcher, names[i++]); };
  Model made = build_tree<Model>(make);
  matcher.finish(true);
  return made;
}

}  // namespace detail

/// A .safetensors file whose arrays are tensors where they are: in a mapping of the file, or in memory of the caller, such as weights that are part of the
/// program. Throws io_error if the file is not what its header says. Tensors over a mapping keep it alive; memory of the caller must outlive them.
class mapped_file {
 public:
  explicit mapped_file(const std::string& path, load_options options = {}) : arrays_("mapped_file", path, std::move(options)) {}
  explicit mapped_file(std::span<const std::byte> file, load_options options = {}) : arrays_("mapped_file", file, std::move(options)) {}

  /// The array of this name, after renaming, as a read-only tensor: file.tensor<float, shape<10, 20>>("fc1.weight"). A run-time extent of the shape is
  /// that of the array. Throws io_error if the file has no such array, if its type or shape differs, or if it does not begin at a multiple of its elements.
  template <class T, any_shape S>
  auto tensor(const std::string& name) const {
    interop::detail::matcher matcher = arrays_.match();
    return arrays_.borrow<detail::borrowed<const T, S>>(matcher, name);
  }

  /// The arrays, with the names that they have in the file, as views of its bytes.
  std::span<const interop::array_view> arrays() const { return arrays_.views(); }
  std::vector<std::pair<std::string, std::string>> metadata() const { return arrays_.metadata(); }

 private:
  detail::arrays_in_place arrays_;
};

/// A model whose parameters are the arrays of a .safetensors file, mapped into memory: read-only tensors that keep the mapping alive. V are the value template
/// arguments after Kind. The options rename and ignore as those of load() do. Throws io_error as load() does, and if an array would have to be copied: to
/// convert or transpose it, to put slices together, or because it does not begin at a multiple of its elements.
template <template <class, auto...> class Model, auto... V>
auto map_model(const std::string& path, load_options options = {}) {
  return detail::model_in_place<Model<borrowed_values, V...>>({"map_model", path, std::move(options)});
}
/// The same over a file in memory, which must outlive the model: std::as_bytes(std::span(array)) of an array that is part of the program, with alignas(64).
template <template <class, auto...> class Model, auto... V>
auto map_model(std::span<const std::byte> file, load_options options = {}) {
  return detail::model_in_place<Model<borrowed_values, V...>>({"map_model", file, std::move(options)});
}
template <class Model, class File>
Model map_model(const File&, const load_options& = {}) {
  static_assert(detail::never<Model>, "tenure: map_model: the template is named, not a type of it: map_model<mlp>(path), where template <class Kind> struct mlp");
  __builtin_unreachable();
}

}  // namespace tenure

#include <tenure/core/letters/restore.hpp>
