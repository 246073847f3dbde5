// SPDX-License-Identifier: BSL-1.0
// The names of the members of a model, which Boost.Hana knows, or the compiler. Not part of <tenure/tenure.hpp>: Hana's strings cost compile time.
#pragma once

#include <cstddef>
#include <type_traits>
#include <utility>

#include <boost/hana/core/to.hpp>
#include <boost/hana/first.hpp>
#include <boost/hana/second.hpp>
#include <boost/hana/string.hpp>
#include <boost/hana/unpack.hpp>

#include <tenure/transform/model.hpp>

namespace TENURE_NAMESPACE::detail {

/// A member of a model whose members are numbered.
template <class X, std::size_t I>
struct member_at {
  constexpr auto& operator()(auto& x) const { return model_traits<X>::template member<I>(x); }
};

/// Calls f(name, member) for each member of a model of type X, in order. member(x) is the member of the model x.
template <class X, class F>
constexpr void for_each_named_member(F&& f) {
  if constexpr (requires { model_traits<X>::template name<0>; })
    return [&]<std::size_t... I>(std::index_sequence<I...>) { (f(model_traits<X>::template name<I>, member_at<X, I>{}), ...); }(part_indices<X>{});
  else boost::hana::unpack(boost::hana::accessors<X>(), [&](auto... pair) {
    (f(boost::hana::to<const char*>(boost::hana::first(pair)), boost::hana::second(pair)), ...);
  });
}
/// The type of a member.
template <class X, class Member>
using type_of_member = std::remove_cvref_t<decltype(std::declval<const Member&>()(std::declval<X&>()))>;

}  // namespace tenure::detail
