// SPDX-License-Identifier: BSL-1.0
// expect: tenure: scan: the scanned values have different extents along axis 0: layers beside states are an array of tuples
#include <tenure/tenure.hpp>
namespace tn = tenure;

#ifdef TENURE_MISUSE
using other = tn::tensor<double, tn::shape<4>>;
#else
using other = tn::tensor<double, tn::shape<3>>;
#endif

constexpr auto f = tn::compile([](auto c, auto xs, auto ys) {
  return tn::scan([](auto c, auto x) { return std::tuple{c + std::get<0>(x) * std::get<1>(x), c}; }, c, std::tuple{xs, ys});
});

auto g(const tn::tensor<double, tn::shape<3>>& x, const other& y) { return f(0.0, x, y); }
