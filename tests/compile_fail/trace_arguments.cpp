// SPDX-License-Identifier: BSL-1.0
// expect: tenure: trace: a function has at most 64 arguments
#include <tenure/tenure.hpp>
namespace tn = tenure;

using number = tn::tensor<float, tn::shape<>>;

template <std::size_t... I>
float total(const number& x, std::index_sequence<I...>) {
  constexpr auto f = tn::compile([](auto... each) { return (each + ...); });
  return f((static_cast<void>(I), x)...).item();
}

#ifdef TENURE_MISUSE
float f(const number& x) { return total(x, std::make_index_sequence<65>{}); }
#else
float f(const number& x) { return total(x, std::make_index_sequence<64>{}); }
#endif
