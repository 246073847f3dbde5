// SPDX-License-Identifier: BSL-1.0
// expect: tenure: TENURE_XLA_FFI, TENURE_TORCH: the types of the arguments are missing: TENURE_XLA_FFI.f, tn::tensor<float, tn::shape<3>>.
// lines: 20
#include <tenure/interop/exported.hpp>
#include <tenure/tenure.hpp>
namespace tn = tenure;

// What TENURE_XLA_FFI and TENURE_TORCH define, without the headers of jaxlib and PyTorch.
template <class Call>
struct door {
  static void run() {}
};
constexpr auto twice = [](auto x) { return x + x; };

#ifdef TENURE_MISUSE
const tn::detail::exports::exported<door, void(), decltype(twice)> of_library("twice");
#else
const tn::detail::exports::exported<door, void(), decltype(twice), float> of_library("twice");
#endif
