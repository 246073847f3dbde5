// SPDX-License-Identifier: BSL-1.0
// Models are structs: template <class Kind> struct mlp { BOOST_HANA_DEFINE_STRUCT(mlp, (tn::param<Kind, ...>, w1), ...) };
// Boost.Hana enumerates the members; nested models, arrays of them and value template arguments after Kind are welcome.
// A model must be an aggregate (no constructors), so that it is built without first making empty members.
#pragma once

#include <boost/hana/accessors.hpp>
#include <boost/hana/core/to.hpp>
#include <boost/hana/define_struct.hpp>
#include <boost/hana/first.hpp>
#include <boost/hana/second.hpp>
#include <boost/hana/unpack.hpp>

#include <tenure/transform/tree.hpp>

namespace tenure::detail {

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

  template <class M, class F>
  static constexpr void for_each_member(M& model, F f) {
    [&]<class... Accessor>(std::tuple<Accessor...>*) { (f(Accessor{}(model)), ...); }(static_cast<accessors*>(nullptr));
  }

  template <class F>
  static constexpr X build(F f) {
    return [&]<class... Member>(std::tuple<Member...>*) { return X{f(element_tag<Member>{})...}; }(static_cast<members*>(nullptr));
  }

 private:
  // Only the types of Hana's accessors are used, so that nothing of them is left to constant evaluation.
  template <class... Pair>
  static auto accessors_of(const Pair&...) -> std::tuple<std::remove_cvref_t<decltype(boost::hana::second(std::declval<const Pair&>()))>...>;
  struct collect {
    template <class... Pair>
    constexpr auto operator()(const Pair&... pair) const { return element_tag<decltype(accessors_of(pair...))>{}; }
  };
  using accessors = typename decltype(boost::hana::unpack(boost::hana::accessors<X>(), collect{}))::type;
  template <class... Accessor>
  static auto members_of(std::tuple<Accessor...>*) -> std::tuple<std::remove_cvref_t<decltype(Accessor{}(std::declval<X&>()))>...>;

 public:
  using members = decltype(members_of(static_cast<accessors*>(nullptr)));
};

}  // namespace tenure::detail
