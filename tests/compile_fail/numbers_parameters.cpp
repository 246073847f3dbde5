// SPDX-License-Identifier: BSL-1.0
// expect: tenure: as_numbers: the function does not take these numbers: a scalar is a T, a vector a std::array<T, N>, and T is deduced
#include <tenure/tenure.hpp>
namespace tn = tenure;

template <class T, std::size_t N>
constexpr T first(const std::array<T, N>& p) { return p[0] * 2.0; }

#ifdef TENURE_MISUSE
constexpr auto f = tn::as_numbers([](const std::array<double, 2>& p) { return first(p); });
#else
constexpr auto f = tn::as_numbers([]<class T>(const std::array<T, 2>& p) { return first(p); });
#endif

auto g(const tn::tensor<double, tn::shape<2>>& x) { return f(x); }
