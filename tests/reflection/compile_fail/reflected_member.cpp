// SPDX-License-Identifier: BSL-1.0
// expect: tenure: model: the member net::layers is neither a parameter, a model nor an array of them: a fixed number of layers is a std::array or tn::stacked, and this is a std::vector<
#include <vector>

#include <tenure/tenure.hpp>
namespace tn = tenure;

template <class Kind>
struct dense {
  tn::param<Kind, float, tn::shape<3, 3>> w;
};
#ifdef TENURE_MISUSE
template <class Kind>
using several = std::vector<dense<Kind>>;
#else
template <class Kind>
using several = std::array<dense<Kind>, 2>;
#endif
template <class Kind>
struct net {
  dense<Kind> first;
  several<Kind> layers;
};

auto f(tn::engine& random) { return tn::init<net>(random); }
