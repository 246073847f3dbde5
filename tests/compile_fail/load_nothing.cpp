// SPDX-License-Identifier: BSL-1.0
// expect: tenure: load: it writes a tensor or a model that exists: load.path, model.
#include <tenure/tenure.hpp>

#include <boost/hana/define_struct.hpp>
#include <tenure/interop/save.hpp>
namespace tn = tenure;

template <class Kind>
struct layer {
  BOOST_HANA_DEFINE_STRUCT(layer, (tn::param<Kind, float, tn::shape<3, 3>>, w));
};

auto f([[maybe_unused]] tn::engine& random) {
#ifdef TENURE_MISUSE
  auto model = tn::load<layer>("model.npz");
#else
  auto model = tn::init<layer>(random);
  tn::load("model.npz", model);
#endif
  return model;
}
