// SPDX-License-Identifier: BSL-1.0
// The message for code that prints a tensor without <tenure/print.hpp>. <tenure/cuda.hpp> does not include that header.
#pragma once

#include <iosfwd>

#include "concepts.hpp"

namespace TENURE_NAMESPACE {
namespace detail {
template <class>
struct printing;  // defined in inspect/print.hpp; a file must include that header before the first use, because compilers remember the answer
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
