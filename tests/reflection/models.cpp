// SPDX-License-Identifier: BSL-1.0
// Models without macros, beside the same models of Boost.Hana.
#include "../catch.hpp"

#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>

#include <boost/hana/define_struct.hpp>

#include <tenure/interop/npz.hpp>
#include <tenure/interop/safetensors.hpp>
#include <tenure/optim/groups.hpp>
#include <tenure/print.hpp>

namespace tn = tenure;

namespace {

// The functions of both, so that they are traced with one text.
struct layer_functions {
  static constexpr auto call(const auto& m, const auto& x) { return matmul(x, m.w) + m.b; }
};
namespace hana {
template <class Kind, auto In, auto Out>
struct dense {
  BOOST_HANA_DEFINE_STRUCT(dense, (tn::param<Kind, float, tn::shape<In, Out>>, w), (tn::param<Kind, float, tn::shape<Out>, tn::init_ones>, b));
  constexpr auto operator()(const auto& x) const { return layer_functions::call(*this, x); }
};
template <class Kind, auto Width>
struct net {
  using input = dense<Kind, 2, Width>;
  using middle = std::array<dense<Kind, Width, Width>, 2>;
  using layers = dense<tn::stacked<Kind, 3>, Width, Width>;
  using ends = std::pair<dense<Kind, Width, 1>, tn::param<Kind, double, tn::shape<>>>;
  BOOST_HANA_DEFINE_STRUCT(net, (input, first), (middle, between), (layers, all), (ends, last));
};
}  // namespace hana
namespace plain {
template <class Kind, auto In, auto Out>
struct dense {
  tn::param<Kind, float, tn::shape<In, Out>> w;
  tn::param<Kind, float, tn::shape<Out>, tn::init_ones> b;
  constexpr auto operator()(const auto& x) const { return layer_functions::call(*this, x); }
};
template <class Kind, auto Width>
struct net {
  static constexpr int version = 3;  // is no parameter
  dense<Kind, 2, Width> first;
  std::array<dense<Kind, Width, Width>, 2> between;
  dense<tn::stacked<Kind, 3>, Width, Width> all;
  std::pair<dense<Kind, Width, 1>, tn::param<Kind, double, tn::shape<>>> last;
};
}  // namespace plain

constexpr auto predict = [](auto m, auto x) {
  auto h = tanh(m.first(x));
  for (const auto& layer : m.between) h = tanh(layer(h));
  h = std::get<0>(tn::scan([](auto c, auto layer) { return std::tuple{c + tanh(layer(c)), tn::nothing}; }, h, m.all));
  return m.last.first(h) * tn::cast<float>(m.last.second);
};
constexpr auto loss = [](auto m, auto x, auto y) { return mse(predict(m, x), y); };

using bytes = std::string;
bytes bits_of(const auto& tree) {
  bytes all;
  tn::for_each_leaf(tree, [&](const auto& leaf) { all.append(reinterpret_cast<const char*>(leaf.data()), static_cast<std::size_t>(leaf.size()) * sizeof(*leaf.data())); });
  return all;
}
bytes text_of(const auto& x) {
  std::ostringstream to;
  to << x;
  return to.str();
}
bytes content_of(const std::filesystem::path& file) {
  std::ifstream in(file, std::ios::binary);
  bytes all{std::istreambuf_iterator<char>(in), {}};
  std::filesystem::remove(file);
  return all;
}

/// What a model of a kind of struct gives.
struct outcome {
  std::vector<bytes> plans, numbers, files;
  std::vector<std::string> names;
};
template <template <class, auto...> class Net>
outcome outcome_of(const std::string& file) {
  tn::engine random(3);
  auto m = tn::init<Net, 4>(random);
  m.last.second.copy_(tn::full<double>(tn::shape<>{}, 1.5));
  const auto x = tn::normal<float>(tn::shape<5, 2>{}, random);
  const auto y = tn::normal<float>(tn::shape<5, 1>{}, random);
  outcome all;
  all.numbers.push_back(bits_of(m));
  const auto [value, gradient] = tn::value_and_grad(loss)(m, x, y);
  static_assert(std::is_same_v<std::remove_cvref_t<decltype(gradient)>, Net<tn::values, 4>>);
  all.numbers.push_back(bits_of(std::tie(value, gradient)));
  all.plans.push_back(text_of(tn::value_and_grad(loss).plan(m, x, y)));

  const auto biases = [](std::string_view name, const tn::extents&) { return name.ends_with(".b"); };
  using tn::optim::adam;
  const tn::optim::groups rule{adam{.learning_rate = 0.1, .weight_decay = 0.1}, tn::optim::group{biases, adam{.learning_rate = 0.01}}};
  auto step = tn::train_step(loss, rule);
  auto state = rule.init(m);
  for (int i = 0; i < 3; ++i) all.numbers.push_back(bits_of(step(m, state, x, y)));
  all.plans.push_back(text_of(step.plan(m, state, x, y)));
  all.numbers.push_back(bits_of(m));
  all.numbers.push_back(bits_of(m - 0.5f * tn::clip_by_global_norm(gradient, 0.1f)));
  all.numbers.push_back(bits_of(tn::vmap<0, tn::unmapped>([](auto v, auto n) { return predict(n, tn::unsqueeze<0>(v)); })(x, m)));

  tn::for_each_named_leaf(m, [&](const std::string& name, const auto&) { all.names.push_back(name); });
  const auto path = std::filesystem::temp_directory_path() / file;
  for (const char* ending : {".npz", ".safetensors"}) {
    tn::save(path.string() + ending, m, state);
    auto again = tn::init<Net, 4>(random);
    auto state_again = rule.init(again);
    tn::load(path.string() + ending, again, state_again);
    CHECK(bits_of(again) == bits_of(m));
    CHECK(bits_of(state_again.moments) == bits_of(state.moments));
    all.files.push_back(content_of(path.string() + ending));
  }
  return all;
}

struct line {
  tn::tensor<double, tn::shape<>> slope, start;
};
struct two_lines {
  line inner;
  std::array<line, 2> rest;
  double scale;
};
/// Each kind of struct within the other, and a struct of the types of its members.
template <class Kind>
struct inner_of_hana {
  hana::dense<Kind, 2, 2> first;
  plain::dense<Kind, 2, 2> second;
};
template <class Kind>
struct mixed {
  using inner = inner_of_hana<Kind>;
  using end = plain::dense<Kind, 2, 1>;
  BOOST_HANA_DEFINE_STRUCT(mixed, (inner, body), (end, last));
};
template <class T, class U>
struct state {
  T position;
  U speed;
};
struct with_private_member {
  explicit with_private_member(int a) : hidden_(a) {}
  int hidden() const { return hidden_; }

 private:
  int hidden_;
};
template <class X>
constexpr bool is_model = tn::detail::model_traits<X>::is_model;

}  // namespace

// Law: a plain struct and a Hana struct with the same members give the same plan, the same numbers and the same files.
TEST_CASE("a plain struct gives the plan, the numbers and the files of the Hana struct with the same members") {
  const outcome of_hana = outcome_of<hana::net>("tenure-hana"), of_plain = outcome_of<plain::net>("tenure-plain");
  CHECK(of_plain.plans == of_hana.plans);
  CHECK(of_plain.numbers == of_hana.numbers);
  CHECK(of_plain.names == of_hana.names);
  CHECK(of_plain.files == of_hana.files);
  CHECK(of_plain.names.front() == "first.w");
}

TEST_CASE("a struct that is no template of a kind has its members in other kinds, and the struct again for values") {
  constexpr auto misfit = [](auto l, auto x, auto y) { return mean(square(l.slope * x + l.start - y)); };
  const auto x = tn::arange<double>(tn::shape<4>{});
  const auto y = tn::eval(2.0 * x + 1.0);
  line l{1.0, 0.5};
  const auto gradient = tn::grad(misfit)(l, x, y);
  static_assert(std::is_same_v<std::remove_cvref_t<decltype(gradient)>, line>);
  const auto [of_slope, of_start] = tn::grad<0, 1>([](auto slope, auto start, auto at, auto wanted) { return mean(square(slope * at + start - wanted)); })(l.slope, l.start, x, y);
  CHECK(bits_of(gradient) == bits_of(std::tie(of_slope, of_start)));

  tn::optim::sgd rule{.learning_rate = 0.1};
  auto step = tn::train_step(misfit, rule);
  auto state = rule.init(l);
  for (int i = 0; i < 500; ++i) step(l, state, x, y);
  CHECK(l.slope.item() == Approx(2.0));
  CHECK(l.start.item() == Approx(1.0));
  const line doubled = tn::map([](auto v) { return 2.0 * v; }, l);
  CHECK(doubled.slope.item() == 2.0 * l.slope.item());
}

TEST_CASE("structs in structs and arrays, numbers, and results of a trace") {
  const two_lines both{{1.0, 2.0}, {line{3.0, 4.0}, line{5.0, 6.0}}, 10.0};
  const auto f = tn::compile([](auto b) {
    b.inner.slope = b.rest[1].start * b.scale;
    return b;
  });
  const auto r = f(both);
  CHECK(r.inner.slope.item() == 60.0);
  CHECK(r.rest[0].start.item() == 4.0);
  CHECK(r.scale.item() == 10.0);  // a number comes back as a tensor, as from a tuple
  static_assert(std::is_same_v<decltype(r.inner), line>);

  // As the carry of a loop, and stacked.
  const auto sums = tn::compile([](auto l, auto xs) {
    return tn::scan([](auto c, auto x) { c.start = c.start + c.slope * x; return std::tuple{c, c.start}; }, l, xs);
  })(line{2.0, 0.0}, tn::arange<double>(tn::shape<4>{}));
  CHECK(std::get<0>(sums).start.item() == 12.0);
  static_assert(std::is_same_v<std::remove_cvref_t<decltype(std::get<0>(sums))>, line>);
}

TEST_CASE("structs of both kinds stand in one another, and a trace makes structs of the types of their members") {
  tn::engine random(3);
  const auto m = tn::init<mixed>(random);
  const auto x = tn::normal<float>(tn::shape<3, 2>{}, random);
  const auto f = [](auto n, auto at) { return sum(n.last(n.body.second(n.body.first(at)))); };
  const auto gradient = tn::grad(f)(m, x);
  static_assert(std::is_same_v<std::remove_cvref_t<decltype(gradient)>, mixed<tn::values>>);
  const auto by_hand = tn::grad<0>([](auto w, auto second, auto last, auto at) { return sum(matmul(matmul(matmul(at, w) + 1.0f, second) + 1.0f, last) + 1.0f); })(
      m.body.first.w, m.body.second.w, m.last.w, x);
  CHECK(bits_of(gradient.body.first.w) == bits_of(by_hand));
  std::vector<std::string> names;
  tn::for_each_named_leaf(m, [&](const std::string& name, const auto&) { names.push_back(name); });
  CHECK(names == std::vector<std::string>{"body.first.w", "body.first.b", "body.second.w", "body.second.b", "last.w", "last.b"});

  const auto moved = tn::compile([](auto start, auto by) {
    return tn::fori_loop(3, [](auto, auto s) { return state<decltype(s.position), decltype(s.speed)>{s.position + s.speed, s.speed}; },
                         state<decltype(start), decltype(by)>{start, by});
  })(tn::full<double>(tn::shape<>{}, 1.0), tn::full<double>(tn::shape<>{}, 2.0));
  static_assert(std::is_same_v<std::remove_cvref_t<decltype(moved)>, state<tn::tensor<double, tn::shape<>>, tn::tensor<double, tn::shape<>>>>);
  CHECK(moved.position.item() == 7.0);
}

TEST_CASE("what is no model stays none") {
  static_assert(is_model<line> && is_model<two_lines> && is_model<plain::net<tn::values, 4>> && is_model<hana::net<tn::values, 4>>);
  static_assert(!is_model<with_private_member> && !is_model<std::array<line, 2>> && !is_model<std::tuple<line>>);
  static_assert(!is_model<tn::tensor<float, tn::shape<3>>> && !is_model<tn::extents> && !is_model<tn::optim::adam>);
  static_assert(!is_model<tn::optim::state<line, 1>> && !is_model<std::vector<float>> && !is_model<int>);
  struct derived : line {
    tn::tensor<double, tn::shape<>> third;
  };
  struct with_reference {
    tn::tensor<double, tn::shape<>>& to;
  };
  static_assert(!is_model<derived> && !is_model<with_reference>);
  const auto expression = tn::ones<float>(tn::shape<3>{}) + 1;
  static_assert(!is_model<std::remove_cvref_t<decltype(expression)>>);
}
