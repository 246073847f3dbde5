// SPDX-License-Identifier: BSL-1.0
// The names of the arguments and results of a program, for pictures and messages: "model.w1", "gradient of argument 0". Members of models
// have the names that Boost.Hana knows, or the compiler. The names of the parameters of a function are known where there is reflection (C++26): elsewhere a
// caller can give them.
// Not part of <tenure/tenure.hpp>: Hana's strings cost compile time.
#pragma once

#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include <tenure/inspect/parameter_names.hpp>
#include <tenure/program/program.hpp>
#include <tenure/transform/gradient.hpp>
#include <tenure/transform/member_names.hpp>

namespace TENURE_NAMESPACE {
namespace detail {

using name_list = std::vector<std::string>;

/// Appends the name of each leaf of a tree of type X, in order. A member of a model adds ".w1", a part of a tuple or an array adds "[0]".
template <class X>
void add_leaf_names(const std::string& name, name_list& names) {
  if constexpr (is_tree_leaf<X>) {
    names.push_back(name);
  } else if constexpr (model_traits<X>::is_model) {
    for_each_named_member<X>([&]<class Member>(const char* of_member, Member) {
      add_leaf_names<type_of_member<X, Member>>(name + '.' + of_member, names);
    });
  } else {
    [&]<std::size_t... I>(std::index_sequence<I...>) {
      (add_leaf_names<std::tuple_element_t<I, X>>(name + '[' + std::to_string(I) + ']', names), ...);
    }(std::make_index_sequence<std::tuple_size_v<X>>{});
  }
}

/// The names that a transform gives to the `count` arguments, and to the results, of its function. A new transform defines its own.
template <class F>
struct call_names {
  static std::string argument(int i, int count) { return count == 1 ? "argument" : "argument " + std::to_string(i); }
  static std::string result(int i, int count, const name_list&) { return count == 1 ? "result" : "result " + std::to_string(i); }
  /// The names of the arguments as the function has them, where they are known. X are the types of the arguments in the trace.
  template <class... X>
  static name_list parameters() { return names_of_parameters<F, X...>(); }
  /// Whether only the update of a training step reads the argument.
  static constexpr bool is_for_update(int) { return false; }
};
template <class F, int... I>
struct call_names<grad_of<F, I...>> : call_names<F> {
  static std::string result(int i, int, const name_list& arguments) {
    constexpr int at[] = {I...};
    return "gradient of " + arguments[static_cast<std::size_t>(at[i])];
  }
};
template <class F, int... I>
struct call_names<value_and_grad_of<F, I...>> : call_names<F> {
  static std::string result(int i, int, const name_list& arguments) {
    return i == 0 ? "value" : call_names<grad_of<F, I...>>::result(i - 1, 0, arguments);
  }
};
template <class F, int... I>
struct call_names<vjp_of<F, I...>> : call_names<F> {
  static std::string argument(int i, int count) { return i == count - 1 ? "cotangent" : call_names<F>::argument(i, count - 1); }
  template <class... X>
  static name_list parameters() { return first_parameters<std::tuple<X...>>(std::make_index_sequence<sizeof...(X) - 1>{}); }
  template <class X, std::size_t... K>
  static name_list first_parameters(std::index_sequence<K...>) { return call_names<F>::template parameters<std::tuple_element_t<K, X>...>(); }
  static std::string result(int i, int, const name_list& arguments) {
    constexpr int at[] = {I..., -1};
    const int which = sizeof...(I) == 0 ? i - 1 : at[i > 0 ? i - 1 : 0];
    return i == 0 ? "value" : "cotangent of " + arguments[static_cast<std::size_t>(which)];
  }
};
template <class F, int... I>
struct call_names<jvp_of<F, I...>> : call_names<F> {
  static std::string result(int i, int, const name_list&) { return i == 0 ? "value" : "tangent"; }
};

/// The names of the leaves of a call.
struct leaf_names {
  name_list arguments, results;
  std::vector<char> for_update;  // of each argument: whether only the update of a training step reads it
};

template <class Program>
struct names_of_program {
  static leaf_names get(const name_list&) { return {}; }
};
template <class F, std::uint64_t Strided, bool InTurn, class... Traced>
struct names_of_program<program<source<F, Strided, InTurn, Traced...>>> {
  /// `given` are names of the first arguments. The other arguments have those of the function's parameters, or the names of call_names.
  static leaf_names get(const name_list& given) {
    leaf_names names;
    name_list arguments = given;
    constexpr int count = static_cast<int>(sizeof...(Traced));
    const name_list known = call_names<F>::template parameters<Traced...>();
    for (auto i = given.size(); i < sizeof...(Traced); ++i) arguments.push_back(i < known.size() ? known[i] : call_names<F>::argument(static_cast<int>(i), count));
    int i = 0;
    const auto add = [&]<class X>(element_tag<X>) {
      add_leaf_names<X>(arguments[static_cast<std::size_t>(i)], names.arguments);
      names.for_update.resize(names.arguments.size(), call_names<F>::is_for_update(i++));
    };
    (add(element_tag<Traced>{}), ...);
    using results = typename source<F, Strided, InTurn, Traced...>::result_type;
    if constexpr (has_tuple_parts<results>) {
      [&]<std::size_t... I>(std::index_sequence<I...>) {
        (add_leaf_names<std::tuple_element_t<I, results>>(call_names<F>::result(I, sizeof...(I), arguments), names.results), ...);
      }(std::make_index_sequence<std::tuple_size_v<results>>{});
    } else {
      add_leaf_names<results>(call_names<F>::result(0, 1, arguments), names.results);
    }
    return names;
  }
};

}  // namespace detail
}  // namespace tenure
