// SPDX-License-Identifier: BSL-1.0
// expect: tenure: into: a std::tie of tuples, arrays or models is no target: give these without it, as into\(x, model\)
#include <boost/hana/define_struct.hpp>

#include <tenure/tenure.hpp>
namespace tn = tenure;
template <class Kind>
struct dense {
  BOOST_HANA_DEFINE_STRUCT(dense, (tn::param<Kind, float, tn::shape<3>>, weight));
};
using vector = tn::tensor<float, tn::shape<3>>;

constexpr auto both = tn::compile([](auto m) { return std::tuple{m.weight * 2, m}; });

void f(vector& y, dense<tn::values>& to, const dense<tn::values>& model) {
#ifdef TENURE_MISUSE
  both.into(std::tie(y, to))(model);
#else
  both.into(y, to)(model);
#endif
}
