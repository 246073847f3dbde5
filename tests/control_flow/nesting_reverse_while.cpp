// SPDX-License-Identifier: BSL-1.0
// The gradient of a while_loop without a bound, in and around other loops, branches, rules and batches: it is that of the loop with a bound.
// So are second derivatives in forward over reverse mode.
#include "nested.hpp"

namespace tn = tenure;
using nested::matrix, nested::vector;

namespace {

// A vector, a number, and iterations that depend on x: 0 to 5 for the rows below.
template <class... Bound>
struct loop {
  constexpr auto operator()(auto w, auto x) const {
    const auto goes_on = [=](auto s) { return std::get<2>(s) < 5 && tn::sum(std::get<0>(s) * w) < 4.0; };
    const auto iteration = [=](auto s) {
      const auto c = std::get<0>(s);
      return std::tuple{c * 1.2 + 0.3 * tn::sin(w * c), 0.9 * std::get<1>(s) + tn::sum(c * w), std::get<2>(s) + 1};
    };
    const auto last = tn::while_loop(goes_on, iteration, std::tuple{x, 0.1 * tn::sum(x), 0}, Bound{}...);
    return std::get<0>(last) * std::get<1>(last);
  }
};
using open = loop<>;
using bounded = loop<tn::iteration_bound<6>>;

template <class L>
constexpr auto plain = [](auto w, auto xs) { return tn::sum(L{}(w, xs[0])); };
template <class L>
constexpr auto in_scan = [](auto w, auto xs) {
  const auto [last, ys] = tn::scan([=](auto c, auto x) { return std::tuple{0.2 * L{}(w, x) + 0.1 * c, tn::sum(c)}; }, w * w, xs);
  return tn::sum(last * w) + tn::sum(ys);
};
template <class L>
constexpr auto in_cond = [](auto w, auto xs) {
  return tn::sum(w * tn::cond(tn::sum(xs) > 0.0, [=](auto c) { return L{}(c, xs[1]); }, [=](auto c) { return L{}(c * w, xs[2]) * 2.0; }, w * w));
};
template <class L>
constexpr auto in_vmap = [](auto w, auto xs) { return tn::sum(tn::vmap<tn::unmapped, 0>(L{})(w, xs)); };
template <class L>
constexpr auto in_while = [](auto w, auto xs) {
  const auto goes_on = [](auto s) { return std::get<1>(s) < 3; };
  const auto iteration = [=](auto s) { return std::tuple{0.1 * L{}(w, std::get<0>(s)) + 0.5 * xs[1], std::get<1>(s) + 1}; };
  if constexpr (std::is_same_v<L, open>) return tn::sum(std::get<0>(tn::while_loop(goes_on, iteration, std::tuple{xs[0], 0})));
  else return tn::sum(std::get<0>(tn::while_loop(goes_on, iteration, std::tuple{xs[0], 0}, tn::at_most<4>)));
};
template <class L>
constexpr auto of_row = [](auto w, auto x) { return tn::sum(L{}(w, x)); };
template <class L>
constexpr auto vmap_of_hvp = [](auto w, auto xs) { return tn::vmap<tn::unmapped, 0, 0>(tn::hvp<1>(of_row<L>))(w, xs, xs); };
template <class L>
constexpr auto jacobian = [](auto w, auto xs) { return tn::jacrev<0>([](auto v, auto x) { return L{}(v, x[1]); })(w, xs); };

vector<double> w() { return {0.4, 0.55, 0.7}; }
matrix<double> rows() {  // the sums of w * row are above 4, and below
  return {{3, 2, 3}, {0.5, 0.3, 0.4}, {1.5, 1.2, 0.8}, {0.1, -0.2, 0.3}};
}

template <class Open, class Bounded>
void same(const char* what, Open f, Bounded g) {
  INFO(what);
  const auto found = judged::interpreted(f, w(), rows()), expected = judged::interpreted(g, w(), rows());
  REQUIRE(found.size() == expected.size());
  for (std::size_t r = 0; r < found.size(); ++r)
    for (std::int64_t i = 0; i < found[r].size(); ++i) CHECK(found[r][i] == Approx(expected[r][i]).epsilon(1e-10).margin(1e-12));
}
template <class Open, class Bounded>
void same_gradients(const char* what, Open f, Bounded g) {
  same(what, tn::value_and_grad<0, 1>(f).function, tn::value_and_grad<0, 1>(g).function);
}
template <class F>
struct along_w {
  [[no_unique_address]] F f;
  constexpr auto operator()(auto v, auto xs) const { return tn::hvp<0>(f)(v, xs, 0.5 * v + 0.1); }
};
template <class Open, class Bounded>
void same_second_derivatives(const char* what, Open, Bounded) {
  same(what, along_w<Open>{}, along_w<Bounded>{});
}

}  // namespace

TEST_CASE("gradients of a while_loop in other functions are those of the bounded loop") {
  same_gradients("alone", plain<open>, plain<bounded>);
  same_gradients("in a scan", in_scan<open>, in_scan<bounded>);
  same_gradients("in a cond", in_cond<open>, in_cond<bounded>);
  same_gradients("in a while_loop", in_while<open>, in_while<bounded>);
  same_gradients("in vmap", in_vmap<open>, in_vmap<bounded>);
}

TEST_CASE("batches of gradients of a while_loop, with other numbers of iterations for each sample") {
  same("vmap of a gradient", tn::vmap<tn::unmapped, 0>(tn::grad<0, 1>(of_row<open>)).function,
       tn::vmap<tn::unmapped, 0>(tn::grad<0, 1>(of_row<bounded>)).function);
  same("vmap of a second derivative", vmap_of_hvp<open>, vmap_of_hvp<bounded>);
  same("a Jacobian by reverse mode", jacobian<open>, jacobian<bounded>);
}

TEST_CASE("second derivatives of a while_loop in forward over reverse mode") {
  same_second_derivatives("alone", plain<open>, plain<bounded>);
  same_second_derivatives("in a scan", in_scan<open>, in_scan<bounded>);
}

TEST_CASE("a batch of gradients, compiled") {
  judged::agrees_with_reference("vmap of a gradient", tn::vmap<tn::unmapped, 0>(tn::grad<0, 1>(of_row<open>)).function, w(), rows());
}
