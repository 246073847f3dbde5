// SPDX-License-Identifier: BSL-1.0
// save("model.npz", model) and load("model.npz", model): the parameters of a model, or one tensor, in NumPy's format. An array
// has the name of its member, such as w1 or layers.0.w; a single tensor has the name "array". The state of an optimizer has the arrays
// moments.0.w1, ..., and steps. save("run.npz", model, state) writes one file, of which load("run.npz", model) reads a part. load() checks
// the names, types and shapes of all arrays before it writes any. Cost: it includes <filesystem> and <fstream>, so <tenure/tenure.hpp> does
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
#include <tenure/interop/npz.hpp>
#include <tenure/optim/rule.hpp>
#include <tenure/transform/member_names.hpp>

namespace TENURE_NAMESPACE {
namespace detail {

template <class X>
inline constexpr bool is_rule_state = false;
template <class Model, int N>
inline constexpr bool is_rule_state<optim::state<Model, N>> = true;

template <class X>
inline constexpr bool is_path = std::is_convertible_v<const X&, std::string> || std::is_same_v<X, std::string_view>;

/// Whether a temporary X only refers to what load() writes: what std::tie(x, y) returns.
template <class X>
inline constexpr bool is_tie = false;
template <class... X>
inline constexpr bool is_tie<std::tuple<X&...>> = true;

/// Tensors, numbers, models, states of rules, and tuples and arrays of these or of references to them.
template <class X>
constexpr bool has_names() {
  if constexpr (has_tuple_parts<X>) {
    return []<std::size_t... I>(std::index_sequence<I...>) {
      return (has_names<std::remove_cvref_t<std::tuple_element_t<I, X>>>() && ...);
    }(std::make_index_sequence<std::tuple_size_v<X>>{});
  } else {
    return is_rule_state<X> || tree<X>::is_tree;
  }
}

/// Calls f(name, x) for each parameter, and for the numbers of an optimizer's state.
template <class X, class F>
void for_each_named(X& x, const std::string& name, F& f) {
  using tree = std::remove_cv_t<X>;
  const auto inside = [&](const std::string& member) { return name.empty() ? member : name + "." + member; };
  if constexpr (any_tensor<tree> || element<tree>) {
    f(name, x);
  } else if constexpr (is_rule_state<tree>) {
    for_each_named(x.moments, inside("moments"), f);
    for_each_named(x.steps, inside("steps"), f);
  } else if constexpr (model_traits<tree>::is_model) {
    for_each_named_member<tree>([&](const char* of_member, auto member) { for_each_named(member(x), inside(of_member), f); });
  } else {
    std::size_t i = 0;
    std::apply([&](auto&... part) { (for_each_named(part, inside(std::to_string(i++)), f), ...); }, x);
  }
}
template <class F, class... X>
void for_each_saved(F&& f, X&... x) {
  constexpr bool are_named = (!element<std::remove_cv_t<X>> && ...);
  static_assert(are_named, "tenure: save: a number has no name: put numbers into a std::tuple or a std::array");
  constexpr bool are_trees = (has_names<std::remove_cv_t<X>>() && ...);
  static_assert(are_trees, "tenure: save: neither a tensor nor a model, a tuple, an array or the state of a rule");
  if constexpr (are_named && are_trees) (for_each_named(x, any_tensor<std::remove_cv_t<X>> ? "array" : "", f), ...);
}

/// Throws if the file has a moment that a state in x lacks: the file holds the state of another rule. `before` is the beginning of the names in x.
template <class X>
void check_moments(const std::string& path, const std::vector<interop::array>& arrays, const std::string& before, const X& x) {
  if constexpr (is_rule_state<X>) {
    const std::size_t count = x.moments.size();
    const std::string more = before + "moments." + std::to_string(count);
    for (const interop::array& a : arrays)
      if (a.name == more || a.name.starts_with(more + "."))  // the moment of a single tensor has no further name
        throw io_error("tenure: load: " + path + ": array '" + a.name + "': the state has only " + std::to_string(count) + " of these");
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

/// Writes every parameter of models, every moment of optimizers' states, or one tensor. The names must differ: two models with equal members are
/// saved as one std::tuple or std::tie, whose names begin with 0 and 1. Each must be an owning tensor on the host. Throws io_error; then an
/// existing file is unchanged.
template <class... X>
void save(const std::string& path, const X&... x) {
  struct entry {
    std::string name;
    std::vector<std::int64_t> shape;
  };
  std::vector<entry> entries;
  std::vector<interop::array_view> views;
  const auto count_all = [&](const std::string& name, const auto& leaf) {
    const extents s = detail::saved_as<std::remove_cvref_t<decltype(leaf)>>::shape(leaf);
    entry e{name, {}};
    for (int a = 0; a < s.rank; ++a) e.shape.push_back(s[a]);
    entries.push_back(std::move(e));
  };
  detail::for_each_saved(count_all, x...);
  std::size_t i = 0;
  const auto view_all = [&](const std::string&, const auto& leaf) {
    using saved = detail::saved_as<std::remove_cvref_t<decltype(leaf)>>;
    using T = typename saved::type;
    const entry& e = entries[i++];
    std::size_t size = sizeof(T);
    for (const std::int64_t extent : e.shape) size *= static_cast<std::size_t>(extent);
    views.push_back({e.name, interop::detail::descriptor_of(dtype_v<T>), e.shape, std::span(static_cast<const std::byte*>(saved::read(leaf)), size)});
  };
  detail::for_each_saved(view_all, x...);
  interop::write_npz(path, views);
}

/// Reads every parameter into existing models and states of optimizers, or into one tensor, on the host or on a device. std::tie(x, y) is a target
/// too. Throws io_error if the file lacks an array, if the type or shape of one differs, if two arguments have an array of one name, or if a state
/// has fewer moments than the file, and ownership_error if a target was moved from; then nothing has been written. Other arrays in the file are
/// ignored.
template <class... X>
  requires(sizeof...(X) > 0)
void load(const std::string& path, X&&... x) {
  constexpr bool are_kept = ((std::is_lvalue_reference_v<X> || detail::is_tie<X>) && ...);
  static_assert(are_kept, "tenure: load: a target is a temporary: give it a name, and load into that");
  const std::vector<interop::array> arrays = interop::read_npz(path);
  std::vector<const interop::array*> found;
  const auto check = [&](const std::string& name, auto& leaf) {
    constexpr bool is_writable = !std::is_const_v<std::remove_reference_t<decltype(leaf)>>;
    static_assert(is_writable, "tenure: load: a target is read-only");
    if constexpr (any_tensor<std::remove_cvref_t<decltype(leaf)>>) {
      constexpr bool is_owner = ownership_of_v<std::remove_cvref_t<decltype(leaf)>> == ownership::owning;
      static_assert(is_owner, "tenure: load: a view is not loaded: load a tensor, then copy_ it into the view");
      constexpr bool is_node = is_owner && is_node_v<std::remove_cvref_t<decltype(leaf)>>;
      static_assert(!is_node, "tenure: load: a target is a node, and a call writes values without a history: give a tensor without a gradient");
    }
    using saved = detail::saved_as<std::remove_cvref_t<decltype(leaf)>>;
    constexpr std::string_view descriptor = interop::detail::descriptor_of(dtype_v<typename saved::type>);
    const interop::array* match = nullptr;
    for (const interop::array& a : arrays)
      if (a.name == name) match = &a;
    const std::string where = "tenure: load: " + path + ": array '" + name + "': ";
    if (match == nullptr) throw io_error(where + "the file has no such array");
    for (const interop::array* before : found)
      if (before == match) throw io_error(where + "two arguments have an array of this name");
    if (match->dtype != descriptor) throw io_error(where + "has element type " + match->dtype + ", the model has " + std::string(descriptor));
    const extents expected = saved::shape(leaf);
    if (match->shape.size() > max_rank)
      throw io_error(where + "has " + std::to_string(match->shape.size()) + " axes, the model has shape " + detail::spell(expected).c_str());
    extents s;
    for (const std::int64_t e : match->shape) s.push_back(e);
    if (s != expected) throw io_error(where + "has shape " + detail::spell(s).c_str() + ", the model has " + detail::spell(expected).c_str());
    if constexpr (any_tensor<std::remove_cvref_t<decltype(leaf)>>) detail::tensor_access::check_alive(leaf, "load");
    found.push_back(match);
  };
  detail::for_each_saved(check, x...);
  (detail::check_moments(path, arrays, "", x), ...);
  std::size_t i = 0;
  const auto write = [&](const std::string&, auto& leaf) {
    const interop::array& a = *found[i++];
    using L = std::remove_cvref_t<decltype(leaf)>;
    if constexpr (std::is_const_v<std::remove_reference_t<decltype(leaf)>>) return;
    else if constexpr (!any_tensor<L>) std::memcpy(&leaf, a.bytes.data(), sizeof leaf);
    else if constexpr (is_on_host_v<L>) std::memcpy(detail::tensor_access::write(leaf, "load"), a.bytes.data(), a.bytes.size());
    else detail::device_memory<device_of_t<L>>::upload(detail::tensor_access::write(leaf, "load"), a.bytes.data(), a.bytes.size());
  };
  detail::for_each_saved(write, x...);
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
  requires(!detail::is_path<X>)
void load(const X&, const Rest&...) { static_assert(detail::never<X>, "tenure: load: the path comes first: load(path, x)"); }
template <class X, class... Rest>
  requires(!detail::is_path<X>)
void save(const X&, const Rest&...) { static_assert(detail::never<X>, "tenure: save: the path comes first: save(path, x)"); }

}  // namespace tenure

#include <tenure/core/letters/restore.hpp>
