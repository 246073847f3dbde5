// SPDX-License-Identifier: BSL-1.0
// save("model.npz", model) and load("model.npz", model): the parameters of a model, or one tensor, in NumPy's format, or as PyTorch's users exchange
// weights, "model.safetensors". An array has the name of its member, such as w1 or layers.0.w; a single tensor has the name "array". The state of an
// optimizer has the arrays moments.0.w1, ..., and steps. save("run.npz", model, state) writes one file, of which load("run.npz", model) reads a part.
// load() checks the names, types and shapes of all arrays before it writes any. Cost: it includes <filesystem> and <fstream>, so <tenure/tenure.hpp> does
// not include this header.
#pragma once

#include <tenure/core/letters/hide.hpp>

#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include <tenure/core/error.hpp>
#include <tenure/interop/arrays_of_file.hpp>
#include <tenure/interop/match.hpp>
#include <tenure/interop/named_leaves.hpp>

namespace TENURE_NAMESPACE {
namespace detail {

template <class X>
inline constexpr bool is_path = std::is_convertible_v<const X&, std::string> || std::is_same_v<X, std::string_view>;

/// Whether a temporary X only refers to what load() writes: what std::tie(x, y) returns.
template <class X>
inline constexpr bool is_tie = false;
template <class... X>
inline constexpr bool is_tie<std::tuple<X&...>> = true;

template <class X>
constexpr bool is_byte_span() {
  if constexpr (any_tensor<X> || expression<X>) return false;  // whose conversions to std::span are errors with a message
  else return std::is_convertible_v<const X&, std::span<const std::byte>>;
}
template <class X>
inline constexpr bool is_bytes = is_byte_span<X>();
template <class X>
inline constexpr bool is_options = std::is_same_v<std::remove_cvref_t<X>, load_options>;

template <class F, class... X>
void for_each_saved(F&& f, X&... x) {
  constexpr bool are_named = (!element<std::remove_cv_t<X>> && ...);
  static_assert(are_named, "tenure: save: a number has no name: put numbers into a std::tuple or a std::array");
  constexpr bool are_trees = (has_names<std::remove_cv_t<X>>() && ...);
  static_assert(are_trees, "tenure: save: neither a tensor nor a model, a tuple, an array or the state of a rule");
  if constexpr (are_named && are_trees) (for_each_named_leaf(x, f), ...);
}

/// Throws if the file has a moment that a state in x lacks: the file holds the state of another rule. `before` is the beginning of the names in x.
template <class X>
void check_moments(const std::string& path, std::span<const interop::array_view> arrays, const std::string& before, const X& x) {
  if constexpr (is_rule_state<X>) {
    const std::size_t count = x.moments.size();
    const std::string more = before + "moments." + std::to_string(count);
    for (const interop::array_view& a : arrays)
      if (a.name == more || a.name.starts_with(more + "."))  // the moment of a single tensor has no further name
        throw io_error("tenure: load: " + path + ": array '" + std::string(a.name) + "': the state has only " + std::to_string(count) + " of these");
  } else if constexpr (has_tuple_parts<X>) {
    std::size_t i = 0;
    std::apply([&](const auto&... part) { (check_moments(path, arrays, before + std::to_string(i++) + ".", part), ...); }, x);
  }
}

/// The element type, the extents and the memory of a tensor, or of a number, which has no axes.
template <class X>
struct saved_as {
  using type = X;
  static extents shape(const X&) { return {}; }
  static const void* read(const X& x) { return &x; }
};
template <any_tensor X>
struct saved_as<X> {
  using type = element_t<X>;
  static extents shape(const X& x) { return x.extents(); }
  static const void* read(const X& x) {
    static_assert(ownership_of_v<X> == ownership::owning, "tenure: save: a view is not saved: clone() it first");
    static_assert(is_on_host_v<X>, "tenure: save: the elements lie in the memory of a device: call to(model, tn::cpu) first");
    return tensor_access::read(x, "save");
  }
};

}  // namespace detail

namespace detail {

template <class... X>
void save_arrays(const std::string& path, const renaming& rename, const X&... x) {
  struct entry {
    std::string name;
    std::vector<std::int64_t> shape;
  };
  std::vector<entry> entries;
  std::vector<interop::array_view> views;
  const auto count_all = [&](const std::string& name, const auto& leaf) {
    const extents s = saved_as<std::remove_cvref_t<decltype(leaf)>>::shape(leaf);
    entry e{rename(name), {}};
    for (int a = 0; a < s.rank; ++a) e.shape.push_back(s[a]);
    entries.push_back(std::move(e));
  };
  for_each_saved(count_all, x...);
  std::size_t i = 0;
  const auto view_all = [&](const std::string&, const auto& leaf) {
    using saved = saved_as<std::remove_cvref_t<decltype(leaf)>>;
    using T = typename saved::type;
    const entry& e = entries[i++];
    std::size_t size = sizeof(T);
    for (const std::int64_t extent : e.shape) size *= static_cast<std::size_t>(extent);
    views.push_back({e.name, interop::detail::descriptor_of(dtype_v<T>), e.shape, std::span(static_cast<const std::byte*>(saved::read(leaf)), size)});
  };
  for_each_saved(view_all, x...);
  if (interop::detail::has_safetensors_name(path)) interop::write_safetensors(path, views);
  else interop::write_npz(path, views);
}

}  // namespace detail

/// Writes every parameter of models, every moment of optimizers' states, or one tensor. The names must differ: two models with equal members are
/// saved as one std::tuple or std::tie, whose names begin with 0 and 1. Each must be an owning tensor on the host. A path that ends in .safetensors gets that
/// format, any other one is a .npz file. The last argument may be save_options: other names in the file. Throws io_error; then an existing file is unchanged.
template <class... X>
void save(const std::string& path, const X&... x) {
  constexpr std::size_t count = sizeof...(X);
  constexpr std::size_t options = (0 + ... + (std::is_same_v<X, save_options> ? 1 : 0));
  constexpr bool are_last = options == 0 || (options == 1 && std::is_same_v<std::tuple_element_t<(count > 0 ? count - 1 : 0), std::tuple<X..., int>>, save_options>);
  static_assert(are_last, "tenure: save: the options come last: save(path, model, save_options{...})");
  if constexpr (are_last && options == 1) {
    const auto every = std::tie(x...);
    [&]<std::size_t... I>(std::index_sequence<I...>) {
      detail::save_arrays(path, std::get<count - 1>(every).rename, std::get<I>(every)...);
    }(std::make_index_sequence<count - 1>{});
  } else if constexpr (are_last) {
    detail::save_arrays(path, renaming(), x...);
  }
}

namespace detail {

enum class load_fault { none, read_only, view, node };
/// Why load() may not write an lvalue of type X.
template <class X>
constexpr load_fault load_fault_of() {
  using L = std::remove_const_t<X>;
  if constexpr (any_tensor<L>) {
    if (!is_writable<X>) return load_fault::read_only;
    if (ownership_of_v<L> != ownership::owning) return load_fault::view;
    return is_node_v<L> ? load_fault::node : load_fault::none;
  } else if constexpr (is_rule_state<L>) {
    return load_fault_of<std::remove_reference_t<decltype((std::declval<X&>().moments))>>();
  } else if constexpr (has_tuple_parts<typename parts<L>::type>) {
    return []<std::size_t... I>(std::index_sequence<I...>) {
      load_fault found = load_fault::none;
      ((found = found == load_fault::none ? load_fault_of<std::remove_reference_t<decltype(part<I>(std::declval<X&>()))>>() : found), ...);
      return found;
    }(part_indices<L>{});
  } else {
    return std::is_const_v<X> ? load_fault::read_only : load_fault::none;
  }
}

template <class... X>
void load_arrays(const std::string& file, const interop::detail::arrays_of_file& read, const load_options& options, X&... x) {
  interop::detail::matcher matcher(read.views(), options, {"load", file});
  std::vector<interop::detail::match> found;
  const auto check = [&]<class Leaf>(const std::string& name, Leaf& leaf) {
    using saved = saved_as<std::remove_cv_t<Leaf>>;
    found.push_back(matcher.find<typename saved::type>(name, saved::shape(leaf)));
    if constexpr (any_tensor<std::remove_cv_t<Leaf>>) tensor_access::check_alive(leaf, "load");
  };
  for_each_saved(check, x...);
  (check_moments(file, read.views(), "", x), ...);
  matcher.finish(read.is_strict());
  std::size_t i = 0;
  const auto write = [&]<class Leaf>(const std::string&, Leaf& leaf) {
    using L = std::remove_cv_t<Leaf>;
    const interop::detail::match& from = found[i++];
    if constexpr (std::is_const_v<Leaf>) {
      return;
    } else if constexpr (!any_tensor<L>) {
      interop::detail::write_match(from, &leaf);
    } else if constexpr (is_on_host_v<L>) {
      interop::detail::write_match(from, tensor_access::write(leaf, "load"));
    } else {
      std::vector<std::byte> on_host(static_cast<std::size_t>(leaf.size()) * sizeof(element_t<L>));
      interop::detail::write_match(from, reinterpret_cast<element_t<L>*>(on_host.data()));
      device_memory<device_of_t<L>>::upload(tensor_access::write(leaf, "load"), on_host.data(), on_host.size());
    }
  };
  for_each_saved(write, x...);
}

/// Calls f(options, targets...) with the options at the end of the arguments of load(), or with those that are assumed.
template <class F, class... X>
void with_options(F f, X&... x) {
  constexpr std::size_t count = sizeof...(X);
  constexpr bool has_options = is_options<std::tuple_element_t<count - 1, std::tuple<X...>>>;
  constexpr bool only_there = (0 + ... + is_options<X>) == (has_options ? 1 : 0);
  static_assert(only_there, "tenure: load: the options come last: load(path, model, load_options{...})");
  constexpr bool has_targets = count > (has_options ? 1 : 0);
  static_assert(has_targets, "tenure: load: it writes a tensor or a model that exists: load(path, model)");
  if constexpr (only_there && has_targets) {
    const auto all = std::tie(x...);
    [&]<std::size_t... I>(std::index_sequence<I...>) {
      if constexpr (has_options) f(std::get<count - 1>(all), std::get<I>(all)...);
      else f(load_options{}, std::get<I>(all)...);
    }(std::make_index_sequence<count - (has_options ? 1 : 0)>{});
  }
}

template <class X>
constexpr load_fault load_fault_of_argument() {
  if constexpr (is_options<X>) return load_fault::none;
  else return load_fault_of<std::remove_reference_t<X>>();
}
/// Whether load() may write all arguments. If not, a static_assert gives the reason.
template <class... X>
constexpr bool are_load_targets() {
  constexpr bool are_kept = ((std::is_lvalue_reference_v<X> || is_tie<X> || is_options<X>) && ...);
  static_assert(are_kept, "tenure: load: a target is a temporary: give it a name, and load into that");
  constexpr load_fault fault = [] {
    load_fault found = load_fault::none;
    if constexpr (are_kept) ((found = found == load_fault::none ? load_fault_of_argument<X>() : found), ...);
    return found;
  }();
  static_assert(fault != load_fault::read_only, "tenure: load: a target is read-only");
  static_assert(fault != load_fault::view, "tenure: load: a view is not loaded: load a tensor, then copy_ it into the view");
  static_assert(fault != load_fault::node, "tenure: load: a target is a node, and a call writes values without a history: give a tensor without a gradient");
  return are_kept && fault == load_fault::none;
}

}  // namespace detail

/// Reads every parameter into existing models and states of optimizers, or into one tensor, on the host or on a device. std::tie(x, y) is a target
/// too. The file is a .npz or a .safetensors; its first bytes tell. The last argument may be load_options: names, transposed weights, conversions. If the file
/// has no array "layers.w", "layers.0.w", "layers.1.w", ... are its slices along axis 0. Throws io_error if the file lacks an array, if the type or shape of one
/// differs, if two arguments have an array of one name, if a state has fewer moments than the file, or if a .safetensors file has arrays that nothing takes, and
/// ownership_error if a target was moved from; then nothing has been written. Other arrays of a .npz file are ignored.
template <class... X>
  requires(sizeof...(X) > 0)
void load(const std::string& path, X&&... x) {
  if constexpr (detail::are_load_targets<X...>()) {
    const interop::detail::arrays_of_file read(path);
    detail::with_options([&](const load_options& options, auto&... target) { detail::load_arrays(path, read, options, target...); }, x...);
  }
}
/// The same from a file in memory, such as weights that are part of the program: std::as_bytes(std::span(array)). Messages call it "memory".
template <class Bytes, class... X>
  requires(sizeof...(X) > 0 && detail::is_bytes<Bytes>)
void load(const Bytes& file, X&&... x) {
  if constexpr (detail::are_load_targets<X...>()) {
    const interop::detail::arrays_of_file read{std::span<const std::byte>(file)};
    detail::with_options([&](const load_options& options, auto&... target) { detail::load_arrays("memory", read, options, target...); }, x...);
  }
}

// The path may be a std::string_view, which does not become a std::string by itself.
template <class Path, class... X>
  requires std::is_same_v<Path, std::string_view>
void save(Path path, const X&... x) { save(std::string(path), x...); }
template <class Path, class... X>
  requires std::is_same_v<Path, std::string_view>
void load(Path path, X&&... x) { load(std::string(path), std::forward<X>(x)...); }

// Other spellings. They do not compile and give a message.
template <class... X>
  requires(sizeof...(X) == 0)
void load(const std::string&, X&&...) {
  static_assert(sizeof...(X) > 0, "tenure: load: it writes a tensor or a model that exists: load(path, model)");
}
template <template <class, auto...> class Model, auto... Values>
after_error load(const std::string&) {
  static_assert(detail::never<Model<values, Values...>>, "tenure: load: it writes a tensor or a model that exists: load(path, model)");
  return {};
}
template <class X, class... Rest>
  requires(!detail::is_path<X> && !detail::is_bytes<X>)
void load(const X&, const Rest&...) { static_assert(detail::never<X>, "tenure: load: the path comes first: load(path, x)"); }
template <class X, class... Rest>
  requires(!detail::is_path<X>)
void save(const X&, const Rest&...) { static_assert(detail::never<X>, "tenure: save: the path comes first: save(path, x)"); }

}  // namespace tenure

#include <tenure/core/letters/restore.hpp>
