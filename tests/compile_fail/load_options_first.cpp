// SPDX-License-Identifier: BSL-1.0
// expect: tenure: load: the options come last: load.path, model, load_options
#include <tenure/tenure.hpp>

#include <boost/hana/define_struct.hpp>

#include <tenure/interop/safetensors.hpp>
namespace tn = tenure;

template <class Kind>
struct layer {
  BOOST_HANA_DEFINE_STRUCT(layer, (tn::param<Kind, float, tn::shape<3>>, w));
};

#ifdef TENURE_MISUSE
void f(layer<tn::values>& model) { tn::load("model.safetensors", tn::load_options{.convert = true}, model); }
#else
void f(layer<tn::values>& model) { tn::load("model.safetensors", model, tn::load_options{.convert = true}); }
#endif
