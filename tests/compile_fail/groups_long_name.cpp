// SPDX-License-Identifier: BSL-1.0
// expect: tenure: groups: a parameter has a name of more than 256 characters, with those of the models around it
#include <tenure/tenure.hpp>

#include <boost/hana/define_struct.hpp>
#include <tenure/optim/groups.hpp>
namespace tn = tenure;

template <class Kind, int Depth>
struct nested {
  using inner = nested<Kind, Depth - 1>;
  BOOST_HANA_DEFINE_STRUCT(nested, (inner, a_member_whose_name_has_sixty_characters_and_takes_them_all_up));
};
template <class Kind>
struct nested<Kind, 0> {
  BOOST_HANA_DEFINE_STRUCT(nested, (tn::param<Kind, float, tn::shape<3>>, w));
};

#ifdef TENURE_MISUSE
constexpr int depth = 5;
#else
constexpr int depth = 3;
#endif

void f(const nested<tn::values, depth>& model) {
  const tn::optim::sgd rule{.learning_rate = 0.1};
  auto state = tn::optim::groups{rule, tn::optim::group{tn::optim::vectors, rule}}.init(model);
}
