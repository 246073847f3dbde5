// SPDX-License-Identifier: BSL-1.0
// expect: tenure: TENURE_XLA_FFI, TENURE_TORCH: a plain C.. function cannot be traced: give a lambda, ...auto x. { ... }
// lines: 20
#include <tenure/interop/exported.hpp>
#include <tenure/tenure.hpp>
namespace tn = tenure;

// What TENURE_XLA_FFI and TENURE_TORCH define, without the headers of jaxlib and PyTorch.
template <class Call>
struct door {
  static void run() {}
};

#ifdef TENURE_MISUSE
float twice(float x) { return x + x; }
#else
constexpr auto twice = [](auto x) { return x + x; };
#endif

struct of_this_file;
const tn::detail::exports::exported<door, void(), tn::detail::exports::of_library<decltype(twice), of_this_file>, float> of_library("twice");
