// SPDX-License-Identifier: BSL-1.0
// expect: tenure: call: an argument is a struct that is no model: pass a std::tuple of its members, or write it as chapter 5 does: template <class Kind> struct model . BOOST_HANA_DEFINE_STRUCT.model, .tn::param<Kind, float, tn::shape<3>>, w..; .
#include <tenure/tenure.hpp>

#include <boost/hana/define_struct.hpp>
namespace tn = tenure;

#ifdef TENURE_MISUSE
struct model {
  tn::tensor<float, tn::shape<3>> w;
  tn::tensor<float, tn::shape<>> b;
};
using parameters = model;
#else
template <class Kind>
struct model {
  BOOST_HANA_DEFINE_STRUCT(model, (tn::param<Kind, float, tn::shape<3>>, w), (tn::param<Kind, float, tn::shape<>>, b));
};
using parameters = model<tn::values>;
#endif

constexpr auto f = tn::compile([](auto m, auto x) { return sum(m.w * x) + m.b; });
auto g(const parameters& m, const tn::tensor<float, tn::shape<3>>& x) { return f(m, x); }
