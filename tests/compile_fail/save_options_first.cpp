// SPDX-License-Identifier: BSL-1.0
// expect: tenure: save: the options come last: save.path, model, save_options
#include <tenure/tenure.hpp>

#include <boost/hana/define_struct.hpp>

#include <tenure/interop/save.hpp>
namespace tn = tenure;

template <class Kind>
struct layer {
  BOOST_HANA_DEFINE_STRUCT(layer, (tn::param<Kind, float, tn::shape<3>>, w));
};

#ifdef TENURE_MISUSE
void f(const layer<tn::values>& model) { tn::save("model.safetensors", tn::save_options{.rename = {{"w", "weight"}}}, model); }
#else
void f(const layer<tn::values>& model) { tn::save("model.safetensors", model, tn::save_options{.rename = {{"w", "weight"}}}); }
#endif
