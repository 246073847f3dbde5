// SPDX-License-Identifier: BSL-1.0
// Models are structs: template <class Kind> struct mlp { BOOST_HANA_DEFINE_STRUCT(mlp, (tn::param<Kind, ...>, w1), ...) };
// Boost.Hana lists the members, or the compiler where it has reflection (reflected_model.hpp). Nested models, arrays of models, and value template
// arguments after Kind are possible.
// A model must be an aggregate (no constructors), so that it can be built without making empty members first.
// Code that defines a model includes <boost/hana/define_struct.hpp> itself. This header does not include it, because its tuples and strings
// cost compile time (g++ 0.06 s, nvcc 0.2 s).
#pragma once

#include <tuple>

#include <boost/hana/accessors.hpp>
#include <boost/hana/fwd/pair.hpp>
#include <boost/hana/fwd/tuple.hpp>

#include <tenure/transform/model_kind.hpp>
#include <tenure/transform/reflected_model.hpp>
#include <tenure/transform/tree.hpp>

namespace TENURE_NAMESPACE::detail {

template <class X>
  requires(!std::is_reference_v<X> && boost::hana::Struct<X>::value)  // std::tie(model) is no tree, and its call gets a message
struct model_traits<X> {
  static constexpr bool is_model = true;

  template <class Kind>
  using rebind = typename model_rebind<X>::template type<Kind>;

  template <std::size_t I, class M>
  static constexpr auto& member(M& model) { return std::tuple_element_t<I, accessors>{}(model); }

 private:
  // Only the types of Hana's accessors are used, so that the compiler does not evaluate them as constants.
  template <class... Name, class... Accessor>
  static auto accessors_of(const boost::hana::tuple<boost::hana::pair<Name, Accessor>...>&) -> std::tuple<Accessor...>;
  using accessors = decltype(accessors_of(boost::hana::accessors<X>()));
  template <class... Accessor>
  static auto members_of(std::tuple<Accessor...>*) -> std::tuple<std::remove_cvref_t<decltype(Accessor{}(std::declval<X&>()))>...>;

 public:
  using members = decltype(members_of(static_cast<accessors*>(nullptr)));
};

}  // namespace tenure::detail
