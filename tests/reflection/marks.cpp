// SPDX-License-Identifier: BSL-1.0
// Annotations of members choose the groups of an optimizer.
#include "../catch.hpp"

#include <algorithm>
#include <vector>

#include <boost/hana/define_struct.hpp>

#include <tenure/optim/groups.hpp>
#include <tenure/tenure.hpp>

namespace tn = tenure;

namespace {

struct slow_mark : tn::mark {};
constexpr slow_mark slow{};

template <class Kind, auto In, auto Out>
struct layer {
  tn::param<Kind, double, tn::shape<In, Out>> w;
  [[=tn::no_decay]] tn::param<Kind, double, tn::shape<Out>> b;
  constexpr auto operator()(const auto& x) const { return matmul(x, w) + b; }
};
template <class Kind>
struct net {
  layer<Kind, 2, 3> first;
  [[=slow]] std::array<layer<Kind, 3, 3>, 2> between;
  [[=slow, =tn::no_decay]] tn::param<Kind, double, tn::shape<3, 1>> last;
  constexpr auto operator()(const auto& x) const { return matmul(tanh(between[1](tanh(between[0](tanh(first(x)))))), last); }
};
constexpr auto loss = [](auto m, auto x, auto y) { return mse(m(x), y); };

struct pair_of_numbers {
  tn::tensor<double, tn::shape<>> free;
  [[=tn::no_decay]] tn::tensor<double, tn::shape<>> kept;
};
template <class Kind>
struct of_hana {
  BOOST_HANA_DEFINE_STRUCT(of_hana, (tn::param<Kind, double, tn::shape<3>>, w));
};

template <class X, class Mark>
std::vector<int> marked() {
  std::vector<int> at;
  for (int i = 0; i < tn::detail::tree<X>::leaves; ++i)
    if (tn::detail::leaf_marks<X, Mark>[static_cast<std::size_t>(i)]) at.push_back(i);
  return at;
}

}  // namespace

// Law: leaf_marks has the order of for_each_leaf.
TEST_CASE("a mark is on its member and on all parameters in it") {
  for (const auto& [no_decay, slowly] : {std::pair{marked<net<tn::values>, tn::no_decay_mark>(), marked<net<tn::values>, slow_mark>()},
                                         std::pair{marked<net<tn::tracing>, tn::no_decay_mark>(), marked<net<tn::tracing>, slow_mark>()}}) {
    CHECK(no_decay == std::vector{1, 3, 5, 6});
    CHECK(slowly == std::vector{2, 3, 4, 5, 6});
  }
  CHECK(marked<pair_of_numbers, tn::no_decay_mark>() == std::vector{1});
  CHECK(marked<tn::detail::rebind_kind_t<pair_of_numbers, tn::tracing>, tn::no_decay_mark>() == std::vector{1});
  CHECK(marked<std::tuple<pair_of_numbers, pair_of_numbers>, tn::no_decay_mark>() == std::vector{1, 3});
  CHECK(marked<of_hana<tn::values>, tn::no_decay_mark>().empty());
}

TEST_CASE("a group by a mark steps as the group by the names of the same parameters") {
  using tn::optim::adam, tn::optim::group;
  const adam others{.learning_rate = 0.1, .weight_decay = 0.3}, undecayed{.learning_rate = 0.1}, at_rest{.learning_rate = 0};
  constexpr auto named = [](std::string_view name, const tn::extents&) { return name.ends_with(".b") || name == "last"; };
  constexpr auto between = [](std::string_view name, const tn::extents&) { return name.starts_with("between") || name == "last"; };
  const auto check = [&](const auto& by_mark, const auto& by_name) {
    tn::engine random(5);
    auto a = tn::init<net>(random);
    auto b = tn::deepcopy(a);
    const auto x = tn::normal<double>(tn::shape<6, 2>{}, random);
    const auto y = tn::normal<double>(tn::shape<6, 1>{}, random);
    auto of_a = by_mark.init(a);
    auto of_b = by_name.init(b);
    for (int i = 0; i < 3; ++i) {
      tn::train_step(loss, by_mark)(a, of_a, x, y);
      by_name.update(b, tn::grad(loss)(b, x, y), of_b);
    }
    int leaves = 0;
    tn::for_each_leaf(tn::map([](auto p, auto q) { return abs(p - q); }, a, b), [&](const auto& leaf) { CHECK(tn::amax(leaf).item() < 1e-13); ++leaves; });
    CHECK(leaves == 7);
    return std::pair{std::move(a), std::move(of_a)};
  };
  check(tn::optim::groups{others, group{tn::no_decay, undecayed}}, tn::optim::groups{others, group{named, undecayed}});
  // The first group wins.
  check(tn::optim::groups{others, group{slow, at_rest}, group{tn::no_decay, undecayed}}, tn::optim::groups{others, group{between, at_rest}, group{named, undecayed}});
}
