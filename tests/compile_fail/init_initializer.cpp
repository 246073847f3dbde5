// SPDX-License-Identifier: BSL-1.0
// expect: tenure: init: the initializer of a parameter has no static make<T>.shape, engine. that gives a tensor<T, shape>
#include <tenure/tenure.hpp>

#include <boost/hana/define_struct.hpp>
namespace tn = tenure;

struct start {
  template <class T, class S>
#ifdef TENURE_MISUSE
  static auto make(S shape, tn::engine&) { return tn::full<double>(shape, 0.5); }
#else
  static auto make(S shape, tn::engine&) { return tn::full<T>(shape, T(0.5)); }
#endif
};

template <class Kind>
struct layer {
  BOOST_HANA_DEFINE_STRUCT(layer, (tn::param<Kind, float, tn::shape<3>, start>, w));
};
auto f(tn::engine& random) { return tn::init<layer>(random); }
