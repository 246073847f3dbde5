// SPDX-License-Identifier: BSL-1.0
// expect: tenure: init: a member of the model is a plain number: declare it as tn::param<Kind, float, tn::shape<>>; a number that never changes is a static constexpr member, not listed in BOOST_HANA_DEFINE_STRUCT
#include <tenure/tenure.hpp>

#include <boost/hana/define_struct.hpp>
namespace tn = tenure;

#ifdef TENURE_MISUSE
template <class>
using number = float;
#else
template <class Kind>
using number = tn::param<Kind, float, tn::shape<>>;
#endif

template <class Kind>
struct layer {
  BOOST_HANA_DEFINE_STRUCT(layer, (tn::param<Kind, float, tn::shape<3>>, w), (number<Kind>, rate));
};

auto f(tn::engine& random) { return tn::init<layer>(random); }
