// SPDX-License-Identifier: BSL-1.0
// expect: tenure: init: a parameter needs static extents
#include <boost/hana/define_struct.hpp>

#include <tenure/tenure.hpp>
#include <tenure/transform/init.hpp>
namespace tn = tenure;

#ifdef TENURE_MISUSE
constexpr std::int64_t rows = tn::dyn;
#else
constexpr std::int64_t rows = 784;
#endif
template <class Kind>
struct layer {
  BOOST_HANA_DEFINE_STRUCT(layer, (tn::param<Kind, float, tn::shape<rows, 10>>, weight));
};

auto f(tn::engine& random) { return tn::init<layer>(random); }
