// SPDX-License-Identifier: BSL-1.0
// expect: tenure: grad: the function must return one value, its loss: for std::tuple{loss, aux} write value_and_grad\(f, tn::has_aux\)
// lines: 17
#include <tenure/tenure.hpp>
#include <tuple>
namespace tn = tenure;

#ifdef TENURE_MISUSE
constexpr auto f = tn::grad([](auto x) { return std::tuple{sum(x), x}; });
#else
constexpr auto f = tn::grad([](auto x) { return sum(x); });
#endif

auto g(const tn::tensor<double, tn::shape<3>>& x) { return f(x); }
