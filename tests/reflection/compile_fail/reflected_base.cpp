// SPDX-License-Identifier: BSL-1.0
// expect: tenure: model: plane is no model: it has a base class: make it the first member
// lines: 22
#include <tenure/tenure.hpp>
namespace tn = tenure;

struct line {
  tn::tensor<float, tn::shape<>> slope, start;
};
#ifdef TENURE_MISUSE
struct plane : line {
#else
struct plane {
  line first;
#endif
  tn::tensor<float, tn::shape<>> second;
};

constexpr auto f = tn::compile([](auto p, auto x) { return p.second * x; });
auto g(const plane& p, const tn::tensor<float, tn::shape<3>>& x) { return f(p, x); }
