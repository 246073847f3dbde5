// SPDX-License-Identifier: BSL-1.0
// expect: tenure: load: a target is read-only
#include <tenure/tenure.hpp>

#include <boost/hana/define_struct.hpp>

#include <tenure/interop/safetensors.hpp>
namespace tn = tenure;

template <class Kind>
struct layer {
  BOOST_HANA_DEFINE_STRUCT(layer, (tn::param<Kind, float, tn::shape<3>>, w));
};

#ifdef TENURE_MISUSE
using kind = tn::borrowed_values;
#else
using kind = tn::values;
#endif

void f(layer<kind>& model) { tn::load("model.safetensors", model); }
