// SPDX-License-Identifier: BSL-1.0
// expect: tenure: trace: a result is a struct that is no model: return a std::tuple of its members, or write it with BOOST_HANA_DEFINE_STRUCT as chapter 5 does
#include <tenure/tenure.hpp>
namespace tn = tenure;

#ifdef TENURE_MISUSE
template <class T>
struct two {
  T a, b;
};
#else
template <class T>
using two = std::tuple<T, T>;
#endif

constexpr auto f = tn::compile([](auto x) { return two<decltype(x)>{x, x}; });
auto g(const tn::tensor<double, tn::shape<3>>& x) { return f(x); }
