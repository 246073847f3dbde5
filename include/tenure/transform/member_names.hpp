// SPDX-License-Identifier: BSL-1.0
// The names of the members of a model, which Boost.Hana knows. Not part of <tenure/tenure.hpp>: Hana's strings cost compile time.
#pragma once

#include <type_traits>
#include <utility>

#include <boost/hana/core/to.hpp>
#include <boost/hana/first.hpp>
#include <boost/hana/second.hpp>
#include <boost/hana/string.hpp>
#include <boost/hana/unpack.hpp>

#include <tenure/transform/model.hpp>

namespace TENURE_NAMESPACE::detail {

/// Calls f(name, member) for each member of a model of type X, in order. member(x) is the member of the model x.
template <class X, class F>
constexpr void for_each_named_member(F&& f) {
  boost::hana::unpack(boost::hana::accessors<X>(), [&](auto... pair) {
    (f(boost::hana::to<const char*>(boost::hana::first(pair)), boost::hana::second(pair)), ...);
  });
}
/// The type of a member.
template <class X, class Member>
using type_of_member = std::remove_cvref_t<decltype(std::declval<const Member&>()(std::declval<X&>()))>;

}  // namespace tenure::detail
