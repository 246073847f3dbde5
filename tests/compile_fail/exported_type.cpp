// SPDX-License-Identifier: BSL-1.0
// expect: tenure: TENURE_XLA_FFI, TENURE_TORCH: the type of an argument is no tensor, number, tuple, array or model: write tn::tensor<float, tn::shape<3>>
// lines: 20
#include <vector>

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
using argument = std::vector<float>;
#else
using argument = tn::tensor<float, tn::shape<3>>;
#endif

const tn::detail::exports::exported<door, void(), decltype(twice), argument> of_library("twice");
