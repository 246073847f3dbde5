// SPDX-License-Identifier: BSL-1.0
// Names of NumPy, PyTorch and JAX that Tenure does not have. They do not compile, and each message says what to write in their place.
#pragma once

#include <tenure/expr/apply.hpp>

namespace TENURE_NAMESPACE {

/// Does not compile: there is no torch.linalg.eig. The message says what to write.
template <operand X, class... Rest>
constexpr auto eig(const X& x, const Rest&...) {
  static_assert(detail::never<X>, "tenure: eig: there is none, because there are no complex numbers: a symmetric matrix has eigh(a), and eigvalsh(a) for the values alone");
  return detail::stand_in(x);
}
/// Does not compile: there is no torch.fft.fft. The message says what to write.
template <operand X, class... Rest>
constexpr auto fft(const X& x, const Rest&...) {
  static_assert(detail::never<X>, "tenure: fft: there is none, because there are no complex numbers: extern_op calls the library of your choice with the real and the imaginary part as results");
  return detail::stand_in(x);
}
/// Does not compile: there is no torch.complex. The message says what to write.
template <operand X, class... Rest>
constexpr auto complex(const X& x, const Rest&...) {
  static_assert(detail::never<X>, "tenure: complex: there are no complex numbers: keep the real and the imaginary part in a last axis of 2, or as two tensors");
  return detail::stand_in(x);
}

}  // namespace tenure
