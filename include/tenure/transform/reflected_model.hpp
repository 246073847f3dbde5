// SPDX-License-Identifier: BSL-1.0
// Models without macros. Where the compiler has reflection (C++26), a plain struct is a model. It is an aggregate without base classes, and its members are
// tensors, numbers, or trees of these. Law: a plain struct and a Hana struct with the
// same members give the same plan, the same numbers and the same files.
// A template of Kind is bound to another kind as a Hana struct is. Any other struct gets a copy of its members in a struct of their names, which has
// no functions: a traced function reads m.w, and a gradient whose members have the types of the struct's is the struct again.
// A base class is refused: aggregate initialization would take it for a member without a name.
#pragma once

#include <tenure/transform/marks.hpp>
#include <tenure/transform/model_kind.hpp>
#include <tenure/transform/tree.hpp>

#if defined(__cpp_impl_reflection)
#include <cstddef>
#include <meta>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <vector>

#include <boost/hana/concept/struct.hpp>

namespace TENURE_NAMESPACE::detail {

/// The members of X with leaves of another kind, under the same names, as the struct `type`.
template <class X, class Kind>
struct members_of_kind;
template <class X>
inline constexpr bool is_of_kind = false;

consteval std::vector<std::meta::info> data_members(std::meta::info of) { return nonstatic_data_members_of(of, std::meta::access_context::unchecked()); }

/// The structs of the library itself are no models: states of optimizers, options, extents.
consteval bool is_in(std::meta::info space, std::meta::info entity) {
  for (; entity != ^^::; entity = parent_of(entity))
    if (entity == space) return true;
  return false;
}

/// X is a struct of the user's that could be a model.
template <class X>
consteval bool is_aggregate_of_user() {
  if constexpr (!std::is_class_v<X> || !std::is_same_v<X, std::remove_cvref_t<X>>) return false;
  else if constexpr (!requires { sizeof(X); }) return false;
  else if constexpr (!std::is_aggregate_v<X> || is_tree_leaf<X> || expression<X> || is_after_error<X> || has_tuple_parts<X>) return false;
  else if constexpr (boost::hana::Struct<X>::value) return false;
  else return is_of_kind<X> || !is_in(parent_of(^^values), dealias(^^X));
}
/// The reason why a struct cannot be a model whatever the types of its members are, or "".
consteval std::string_view fault_of_members(std::meta::info of) {
  if (!bases_of(of, std::meta::access_context::unchecked()).empty()) return "has a base class: make it the first member";
  const std::vector<std::meta::info> members = data_members(of);
  if (members.empty()) return "has no members";
  for (const std::meta::info m : members) {
    if (!has_identifier(m)) return "has a member without a name";
    if (is_bit_field(m)) return "has a bit field";
    if (is_reference_type(type_of(m))) return "has a member that is a reference: a model owns its members, and std::tie(a, b) is a tuple of references";
  }
  return "";
}
template <class X>
concept reflected_model = is_aggregate_of_user<X>() && fault_of_members(dealias(^^X)).empty();

template <reflected_model X>
struct model_traits<X> {
  static constexpr bool is_model = true;

  template <class Kind>
  using rebind = typename model_rebind<X>::template type<Kind>;

  static constexpr auto reflected = std::define_static_array(data_members(^^X));

  template <std::size_t I, class M>
  static constexpr auto& member(M& model) { return model.[:reflected[I]:]; }
  template <std::size_t I>
  static constexpr const char* name = std::define_static_string(identifier_of(reflected[I]));

 private:
  static consteval std::meta::info tuple_of_members() {
    std::vector<std::meta::info> types;
    for (const std::meta::info m : reflected) types.push_back(remove_cv(type_of(m)));
    return substitute(^^std::tuple, types);
  }

 public:
  using members = [:tuple_of_members():];
};

// ---- other kinds of leaves -----------------------------------------------------------------------------------------

template <class X, class Kind>
struct members_of_kind {
  using original = X;
  using kind = Kind;
  struct type;
  consteval {
    std::vector<std::meta::info> specs;
    for (const std::meta::info m : data_members(^^X))
      specs.push_back(data_member_spec(substitute(^^rebind_kind_t, {remove_cv(type_of(m)), ^^Kind}), {.name = identifier_of(m)}));
    define_aggregate(^^type, specs);
  }
};
template <class X>
  requires(has_parent(^^X) && is_type(parent_of(^^X)) && has_template_arguments(parent_of(^^X)) && template_of(parent_of(^^X)) == ^^members_of_kind)
inline constexpr bool is_of_kind<X> = true;

/// The struct X, or its members with leaves of another kind.
template <class X>
struct struct_and_kind {
  using original = X;
  using kind = values;
};
template <class X>
  requires is_of_kind<X>
struct struct_and_kind<X> : [:parent_of(^^X):] {};

template <class X, class Kind>
struct original_or_members { using type = typename members_of_kind<X, Kind>::type; };
template <class X, class Kind>
  requires std::is_same_v<typename model_traits<X>::members, typename rebind_kind<typename model_traits<X>::members, Kind>::type>
struct original_or_members<X, Kind> { using type = X; };

/// For structs that are no template of a kind: those are more special, see model_kind.hpp.
template <class M>
  requires reflected_model<M>
struct model_rebind<M> {
  template <class To>
  using type = typename original_or_members<typename struct_and_kind<M>::original, typename rebound<To, typename struct_and_kind<M>::kind>::type>::type;
};

// ---- marks ---------------------------------------------------------------------------------------------------------

consteval bool has_mark(std::meta::info member, std::meta::info mark_type) {
  for (const std::meta::info a : annotations_of(member))
    if (remove_cv(type_of(a)) == mark_type) return true;
  return false;
}
template <reflected_model X, std::size_t I, class Mark>
inline constexpr bool is_member_marked<X, I, Mark> = has_mark(data_members(^^typename struct_and_kind<X>::original)[I], dealias(^^Mark));

// ---- messages ------------------------------------------------------------------------------------------------------

/// The member of X that keeps it from being a tree of parameters, as a message, or "". Here a message can name the member.
template <class X>
consteval std::string_view fault_of_struct();

consteval std::string name_of_struct(std::meta::info of) { return std::string(identifier_of(has_template_arguments(of) ? template_of(of) : of)); }
template <class X, std::size_t I>
consteval std::string place_of_member() {
  return "tenure: model: the member " + name_of_struct(dealias(^^X)) + "::" + std::string(identifier_of(model_traits<X>::reflected[I]));
}
/// The same for one member of a model.
template <class X, std::size_t I>
consteval std::string_view fault_of_member() {
  using member = std::tuple_element_t<I, typename model_traits<X>::members>;
  constexpr std::string_view inside = fault_of_struct<member>();
  if constexpr (!inside.empty()) return inside;
  if constexpr (!tree<member>::is_tree) {
    return std::define_static_string(place_of_member<X, I>() + " is neither a parameter, a model nor an array of them: a fixed number of layers is a std::array or tn::stacked, and this is a " +
                                     std::string(display_string_of(dealias(^^member))));
  } else {
    return "";
  }
}
template <class X>
consteval std::string_view fault_of_struct() {
  if constexpr (has_tuple_parts<X>) {
    return []<std::size_t... I>(std::index_sequence<I...>) {
      std::string_view first = "";
      ((first = first.empty() ? fault_of_struct<std::remove_cvref_t<std::tuple_element_t<I, X>>>() : first), ...);
      return first;
    }(std::make_index_sequence<std::tuple_size_v<X>>{});
  } else if constexpr (!is_aggregate_of_user<X>()) {
    return "";
  } else if constexpr (constexpr std::string_view fault = fault_of_members(dealias(^^X)); !fault.empty()) {
    return std::define_static_string("tenure: model: " + name_of_struct(dealias(^^X)) + " is no model: it " + std::string(fault));
  } else {
    return []<std::size_t... I>(std::index_sequence<I...>) {
      std::string_view first = "";
      ((first = first.empty() ? fault_of_member<X, I>() : first), ...);
      return first;
    }(part_indices<X>{});
  }
}
/// The member of the template X of a kind that is a number whatever its kind, as a message, or "".
template <class X>
consteval std::string_view plain_member_of_struct() {
  if constexpr (has_tuple_parts<X>) {
    return "";
  } else if constexpr (!is_tree_leaf<X> && tree<X>::is_tree && reflected_model<X>) {
    using traced_members = typename model_traits<rebind_kind_t<X, tracing>>::members;
    return []<std::size_t... I>(std::index_sequence<I...>) {
      std::string_view first = "";
      const auto look = [&]<std::size_t K>(std::integral_constant<std::size_t, K>) {
        using member = std::tuple_element_t<K, typename model_traits<X>::members>;
        if constexpr (tree<std::tuple_element_t<K, traced_members>>::has_numbers) {
          if (!first.empty()) return;
          first = plain_member_of_struct<member>();
          if (first.empty())
            first = std::define_static_string(place_of_member<X, K>() + " is a plain number, " + std::string(display_string_of(dealias(^^member))) +
                                              ": declare it as tn::param<Kind, float, tn::shape<>>; a number that never changes is a static constexpr member");
        }
      };
      (look(std::integral_constant<std::size_t, I>{}), ...);
      return first;
    }(part_indices<X>{});
  } else {
    return "";
  }
}

/// Whether a static_assert has told why the struct X is no tree.
template <class X>
constexpr bool names_fault() {
  constexpr std::string_view fault = fault_of_struct<X>();
  static_assert(fault.empty(), fault);
  return !fault.empty();
}
/// Whether a static_assert has named a member of the model X that is a number whatever its kind.
template <class X>
constexpr bool names_plain_member() {
  constexpr std::string_view fault = plain_member_of_struct<X>();
  static_assert(fault.empty(), fault);
  return !fault.empty();
}

}  // namespace tenure::detail
#else
namespace TENURE_NAMESPACE::detail {

/// Whether a static_assert has told why the struct X is no tree, and which member has no kind: it takes reflection to know.
template <class>
constexpr bool names_fault() { return false; }
template <class>
constexpr bool names_plain_member() { return false; }

}  // namespace tenure::detail
#endif
