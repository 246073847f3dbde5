// SPDX-License-Identifier: BSL-1.0
// Models are structs: template <class Kind> struct mlp { BOOST_HANA_DEFINE_STRUCT(mlp, (tn::param<Kind, ...>, w1), ...) };
// Boost.Hana enumerates the members; nested models, arrays of them and value template arguments after Kind are welcome.
// A model must be an aggregate (no constructors), so that it is built without first making empty members.
// Who defines a model includes <boost/hana/define_struct.hpp>, whose tuples and strings the others need not pay for (g++ 0.06 s,
// nvcc 0.2 s).
#pragma once

#include <tuple>

#include <boost/hana/accessors.hpp>
#include <boost/hana/fwd/pair.hpp>
#include <boost/hana/fwd/tuple.hpp>

#include <tenure/transform/tree.hpp>

namespace TENURE_NAMESPACE::detail {

template <class M>
struct model_rebind;
template <template <class, auto...> class M, class Kind, auto... V>
struct model_rebind<M<Kind, V...>> {
  template <class To>
  using type = M<To, V...>;
};

template <class X>
  requires boost::hana::Struct<X>::value
struct model_traits<X> {
  static constexpr bool is_model = true;

  template <class Kind>
  using rebind = typename model_rebind<X>::template type<Kind>;

  template <std::size_t I, class M>
  static constexpr auto& member(M& model) { return std::tuple_element_t<I, accessors>{}(model); }

 private:
  // Only the types of Hana's accessors are used, so that nothing of them is left to constant evaluation.
  template <class... Name, class... Accessor>
  static auto accessors_of(const boost::hana::tuple<boost::hana::pair<Name, Accessor>...>&) -> std::tuple<Accessor...>;
  using accessors = decltype(accessors_of(boost::hana::accessors<X>()));
  template <class... Accessor>
  static auto members_of(std::tuple<Accessor...>*) -> std::tuple<std::remove_cvref_t<decltype(Accessor{}(std::declval<X&>()))>...>;

 public:
  using members = decltype(members_of(static_cast<accessors*>(nullptr)));
};

}  // namespace tenure::detail
