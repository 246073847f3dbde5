// SPDX-License-Identifier: BSL-1.0
// expect: tenure: init: the template is named, not a type of it
#include <tenure/tenure.hpp>

#include <boost/hana/define_struct.hpp>
namespace tn = tenure;

#ifdef TENURE_MISUSE
struct layer {
  BOOST_HANA_DEFINE_STRUCT(layer, (tn::tensor<float, tn::shape<784, 10>>, weight));
};
#else
template <class Kind>
struct layer {
  BOOST_HANA_DEFINE_STRUCT(layer, (tn::param<Kind, float, tn::shape<784, 10>>, weight));
};
#endif

auto f(tn::engine& random) { return tn::init<layer>(random); }
