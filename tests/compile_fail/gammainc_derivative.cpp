// SPDX-License-Identifier: BSL-1.0
// expect: tenure: gammainc, betainc: there is no second derivative by two of the shapes a and b; by x, and by x and a shape, there are all: differences of the first derivative have ten digits
#include <tenure/tenure.hpp>
namespace tn = tenure;

constexpr auto slope = tn::grad([](auto a) { return sum(tn::gammainc(a, 2.0)); });
#ifdef TENURE_MISUSE
constexpr auto f = tn::grad([](auto a) { return sum(slope(a)); });
#else
constexpr auto f = slope;
#endif

auto g(const tn::tensor<double, tn::shape<3>>& a) { return f(a); }
