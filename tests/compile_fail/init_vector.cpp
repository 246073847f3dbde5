// SPDX-License-Identifier: BSL-1.0
// expect: tenure: init: a member is neither a parameter, a model nor an array of them
#include <tenure/tenure.hpp>

#include <array>
#include <vector>

#include <boost/hana/define_struct.hpp>
namespace tn = tenure;

template <class Kind>
struct layer {
  BOOST_HANA_DEFINE_STRUCT(layer, (tn::param<Kind, float, tn::shape<3, 3>>, w));
};
template <class Kind>
struct network {
#ifdef TENURE_MISUSE
  using layers = std::vector<layer<Kind>>;
#else
  using layers = std::array<layer<Kind>, 2>;
#endif
  BOOST_HANA_DEFINE_STRUCT(network, (layers, all));
};

void f(tn::engine& random) { auto model = tn::init<network>(random); }
