// SPDX-License-Identifier: BSL-1.0
// What is said where something is printed and <tenure/print.hpp> is not included, which .cu files do by name.
#pragma once

#include <iosfwd>

#include "concepts.hpp"

namespace TENURE_NAMESPACE {
namespace detail {
template <class>
struct printing;  // is defined in transform/print.hpp; a file that includes both prints nothing before the second
template <class X>
concept lacks_printing = !requires { sizeof(printing<X>); };
}  // namespace detail

template <class X>
  requires((any_tensor<X> || expression<X>) && detail::lacks_printing<X>)
std::ostream& operator<<(std::ostream& out, const X&) {
  static_assert(detail::never<X>, "tenure: operator<<: printing needs its header in a .cu file: #include <tenure/print.hpp>");
  return out;
}

}  // namespace tenure
