// SPDX-License-Identifier: BSL-1.0
// expect: tenure: model: its template arguments are Kind, and values after it: template <class Kind, auto N> struct model, with members
// lines: 21
#include <tenure/tenure.hpp>
#include <boost/hana/define_struct.hpp>
namespace tn = tenure;

#ifdef TENURE_MISUSE
template <class Kind, class T, auto N>
struct scale {
  BOOST_HANA_DEFINE_STRUCT(scale, (tn::param<Kind, T, tn::shape<N>>, by));
};
using model = scale<tn::values, float, 3>;
#else
template <class Kind, auto N>
struct scale {
  BOOST_HANA_DEFINE_STRUCT(scale, (tn::param<Kind, float, tn::shape<N>>, by));
};
using model = scale<tn::values, 3>;
#endif

auto f(const model& m) { return tn::compile([](auto k) { return sum(k.by); })(m); }
