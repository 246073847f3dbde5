// SPDX-License-Identifier: BSL-1.0
// expect: tenure: TENURE_XLA_FFI, TENURE_TORCH: the function does not take one argument for each type: its name is followed by as many types as it has parameters, and these are auto
// lines: 20
#include <tenure/interop/exported.hpp>
#include <tenure/tenure.hpp>
namespace tn = tenure;

// What TENURE_XLA_FFI and TENURE_TORCH define, without the headers of jaxlib and PyTorch.
template <class Call>
struct door {
  static void run() {}
};
using array = tn::tensor<float, tn::shape<3>>;
constexpr auto scaled = [](auto x, auto factor) { return x * factor; };

#ifdef TENURE_MISUSE
const tn::detail::exports::exported<door, void(), decltype(scaled), array> of_library("scaled");
#else
const tn::detail::exports::exported<door, void(), decltype(scaled), array, float> of_library("scaled");
#endif
