// SPDX-License-Identifier: BSL-1.0
// expect: tenure: map_model: the template is named, not a type of it: map_model<mlp>.path.
#include <tenure/tenure.hpp>

#include <boost/hana/define_struct.hpp>

#include <tenure/interop/safetensors.hpp>
namespace tn = tenure;

template <class Kind>
struct layer {
  BOOST_HANA_DEFINE_STRUCT(layer, (tn::param<Kind, float, tn::shape<3>>, w));
};

#ifdef TENURE_MISUSE
auto f() { return tn::map_model<layer<tn::values>>("model.safetensors"); }
#else
auto f() { return tn::map_model<layer>("model.safetensors"); }
#endif
