// SPDX-License-Identifier: BSL-1.0
// expect: tenure: for_each_named_leaf: neither a tensor nor a model, a tuple, an array or the state of a rule
#include <tenure/tenure.hpp>

#include <boost/hana/define_struct.hpp>

#include <tenure/interop/safetensors.hpp>
namespace tn = tenure;

template <class Kind>
struct layer {
  BOOST_HANA_DEFINE_STRUCT(layer, (tn::param<Kind, float, tn::shape<3>>, w));
};

template <class X>
void list(const X& x) { tn::for_each_named_leaf(x, [](const std::string&, const auto&) {}); }

#ifdef TENURE_MISUSE
void f(const std::vector<layer<tn::values>>& layers) { list(layers); }
#else
void f(const std::array<layer<tn::values>, 2>& layers) { list(layers); }
#endif
