// SPDX-License-Identifier: BSL-1.0
// Models in loops and batches: their parameters have one axis more, or one less, than their type states.
#include "law.hpp"

#include <boost/hana/define_struct.hpp>

namespace tn = tenure;

namespace {

template <class Kind, auto N>
struct layer {
  BOOST_HANA_DEFINE_STRUCT(layer, (tn::param<Kind, double, tn::shape<N, N>>, w), (tn::param<Kind, double, tn::shape<N>>, b));
  constexpr auto operator()(const auto& x) const { return tn::tanh(tn::matmul(x, w) + b); }
};
template <class Kind>
struct deep {
  using layers = std::array<layer<Kind, 3>, 4>;
  BOOST_HANA_DEFINE_STRUCT(deep, (layers, middle), (tn::param<Kind, double, tn::shape<3>>, out));
};
constexpr auto by_scan = [](auto m, auto x) {
  return tn::sum(m.out * std::get<0>(tn::scan([](auto h, auto l) { return std::tuple{l(h), tn::nothing}; }, x, m.middle)));
};
constexpr auto unrolled = [](auto m, auto x) {
  auto h = x;
  for (const auto& l : m.middle) h = l(h);
  return tn::sum(m.out * h);
};

}  // namespace

TEST_CASE("layers of a model by scan, their gradients, and the gradient of each sample") {
  tn::engine random(3);
  const auto m = tn::init<deep>(random);
  const tn::tensor<double, tn::shape<2, 3>> x = {{0.3, -0.5, 0.8}, {1.1, 0.2, -0.4}};
  const auto each = tn::vmap<tn::unmapped, 0>(tn::grad(by_scan))(m, x);
  static_assert(std::is_same_v<std::remove_cvref_t<decltype(each.middle[0].w)>, tn::tensor<double, tn::shape<2, 3, 3>>>);
  for (int s = 0; s < 2; ++s) {
    const tn::tensor<double, tn::shape<3>> one = x.at(s).clone();
    const auto g = tn::grad(unrolled)(m, one), looped = tn::grad(by_scan)(m, one);
    for (std::size_t l = 0; l < 4; ++l) {
      for (int i = 0; i < 9; ++i) {
        CHECK(looped.middle[l].w.data()[i] == Approx(g.middle[l].w.data()[i]).epsilon(1e-12));
        CHECK(each.middle[l].w.data()[9 * s + i] == Approx(g.middle[l].w.data()[i]).epsilon(1e-12));
      }
      for (int i = 0; i < 3; ++i) CHECK(each.middle[l].b(s, i) == Approx(g.middle[l].b(i)).epsilon(1e-12));
    }
    for (int i = 0; i < 3; ++i) CHECK(each.out(s, i) == Approx(g.out(i)).epsilon(1e-12));
  }
  // A model of the batch goes back into a function: mapped, it has the shapes of its type again.
  const auto total = tn::compile([](auto m, auto x) {
    auto g = tn::vmap<tn::unmapped, 0>(tn::grad(by_scan))(m, x);
    return tn::vmap([](auto one) { return tn::sum(one.out * one.out); })(g);
  })(m, x);
  for (int s = 0; s < 2; ++s) CHECK(total(s) == Approx(each.out(s, 0) * each.out(s, 0) + each.out(s, 1) * each.out(s, 1) + each.out(s, 2) * each.out(s, 2)));
}
