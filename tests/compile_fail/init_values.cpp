// SPDX-License-Identifier: BSL-1.0
// expect: tenure: init: the template arguments after Kind are missing or do not fit: init<dense, 784, 10>\(engine\) of template <class Kind, auto Inputs, auto Outputs> struct dense
#include <boost/hana/define_struct.hpp>

#include <tenure/tenure.hpp>
#include <tenure/transform/init.hpp>
namespace tn = tenure;
template <class Kind, auto Inputs, auto Outputs>
struct dense {
  BOOST_HANA_DEFINE_STRUCT(dense, (tn::param<Kind, float, tn::shape<Inputs, Outputs>>, weight));
};

auto f(tn::engine& random) {
#ifdef TENURE_MISUSE
  return tn::init<dense>(random);
#else
  return tn::init<dense, 784, 10>(random);
#endif
}
