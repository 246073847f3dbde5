// SPDX-License-Identifier: BSL-1.0
// expect: tenure: optim: the parameters are neither a tensor, a tuple, an array nor a model: a vector is copied by tn::from.v..clone.., and a struct becomes a model by BOOST_HANA_DEFINE_STRUCT .chapter 5.
#include <tenure/tenure.hpp>
#include <boost/hana/define_struct.hpp>
namespace tn = tenure;

#ifdef TENURE_MISUSE
struct line { tn::tensor<double, tn::shape<>> slope, height; };
using model = line;
#else
template <class Kind>
struct line {
  BOOST_HANA_DEFINE_STRUCT(line, (tn::param<Kind, double, tn::shape<>>, slope), (tn::param<Kind, double, tn::shape<>>, height));
};
using model = line<tn::values>;
#endif
constexpr auto f = [](auto m, auto x, auto y) { return m.slope * x + m.height - y; };
auto g(model& m, const tn::tensor<double, tn::shape<9>>& x, const tn::tensor<double, tn::shape<9>>& y) { return tn::least_squares(f)(m, x, y); }
