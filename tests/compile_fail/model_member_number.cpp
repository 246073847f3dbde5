// SPDX-License-Identifier: BSL-1.0
// expect: tenure: call: a member of a model is a plain number: declare it as tn::param<Kind, float, tn::shape<>>; a number that never changes is a static constexpr member, not listed in BOOST_HANA_DEFINE_STRUCT
#include <tenure/tenure.hpp>

#include <boost/hana/define_struct.hpp>
namespace tn = tenure;

template <class Kind>
struct norm {
#ifdef TENURE_MISUSE
  BOOST_HANA_DEFINE_STRUCT(norm, (tn::param<Kind, float, tn::shape<3>>, gain), (float, epsilon));
#else
  BOOST_HANA_DEFINE_STRUCT(norm, (tn::param<Kind, float, tn::shape<3>>, gain));
  static constexpr float epsilon = 1e-5f;
#endif

  constexpr auto operator()(const auto& x) const { return rms_norm(x, gain, epsilon); }
};

constexpr auto f = tn::compile([](auto m, auto x) { return m(x); });
auto g(const norm<tn::values>& m, const tn::tensor<float, tn::shape<3>>& x) { return f(m, x); }
