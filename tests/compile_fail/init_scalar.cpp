// SPDX-License-Identifier: BSL-1.0
// expect: tenure: init: a scalar has no fan in: use init_zeros or init_ones
// lines: 16
#include <tenure/tenure.hpp>

#include <boost/hana/define_struct.hpp>
namespace tn = tenure;

#ifdef TENURE_MISUSE
using start = tn::init_linear;
#else
using start = tn::init_ones;
#endif

template <class Kind>
struct layer {
  BOOST_HANA_DEFINE_STRUCT(layer, (tn::param<Kind, float, tn::shape<>, start>, w));
};
auto f(tn::engine& random) { return tn::init<layer>(random); }
