// SPDX-License-Identifier: BSL-1.0
// expect: deleted
// lines: 19
#include <tenure/tenure.hpp>

#include <boost/hana/define_struct.hpp>
namespace tn = tenure;

template <class Kind>
struct layer {
  BOOST_HANA_DEFINE_STRUCT(layer, (tn::param<Kind, float, tn::shape<3, 3>>, w));
};

void f(const layer<tn::values>& model) {
#ifdef TENURE_MISUSE
  auto copy = model;
#else
  auto copy = tn::deepcopy(model);
#endif
}
