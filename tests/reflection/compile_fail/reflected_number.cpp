// SPDX-License-Identifier: BSL-1.0
// expect: tenure: model: the member norm::epsilon is a plain number, float: declare it as tn::param<Kind, float, tn::shape<>>; a number that never changes is a static constexpr member
// lines: 22
#include <tenure/tenure.hpp>
namespace tn = tenure;

template <class Kind>
struct norm {
  tn::param<Kind, float, tn::shape<3>> gain;
#ifdef TENURE_MISUSE
  float epsilon;
#else
  static constexpr float epsilon = 1e-5f;
#endif
  constexpr auto operator()(const auto& x) const { return rms_norm(x, gain, epsilon); }
};

constexpr auto f = tn::compile([](auto m, auto x) { return m(x); });
auto g(const norm<tn::values>& m, const tn::tensor<float, tn::shape<2, 3>>& x) { return f(m, x); }
