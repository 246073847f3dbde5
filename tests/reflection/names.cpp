// SPDX-License-Identifier: BSL-1.0
// The names of the arguments of traced functions in messages and pictures.
#include "../catch.hpp"

#include <tenure/debug_nans.hpp>
#include <tenure/picture.hpp>
#include <tenure/tenure.hpp>

namespace tn = tenure;
using Catch::Matchers::Contains;

namespace {

template <class Kind>
struct net {
  tn::param<Kind, float, tn::shape<4, 3>> w;
  tn::param<Kind, float, tn::shape<3>> b;
};
constexpr auto entropy = [](auto model, const auto& images, auto&& labels) { return mean(square(log(matmul(images, model.w) + model.b) - labels)); };
struct scaled {
  constexpr auto operator()(const auto& x, const auto& factor) const { return log(x * factor); }
};

std::string message_of(auto f) {
  try {
    f();
  } catch (const tn::nan_error& e) {
    return e.what();
  }
  return "";
}
using names = std::vector<std::string>;
using number = tn::traced<float, tn::shape<>>;

}  // namespace

TEST_CASE("arguments have the names of the parameters, members their own") {
  const net<tn::values> m{tn::full<float>(tn::shape<4, 3>{}, -1.0f), tn::zeros<float>(tn::shape<3>{})};
  const auto x = tn::ones<float>(tn::shape<5, 4>{});
  const auto y = tn::zeros<float>(tn::shape<5, 3>{});
  CHECK_THAT(message_of([&] { tn::debug_nans(tn::compile(entropy))(m, x, y); }), Contains("log(matmul(images, model.w) + model.b)"));
  const std::string of_gradient = message_of([&] { tn::debug_nans(tn::value_and_grad(entropy))(m, x, y); });
  CHECK_THAT(of_gradient, Contains("not finite: value, gradient of model.w, gradient of model.b"));
  CHECK_THAT(message_of([&] { tn::debug_nans(scaled{})(x, tn::full<float>(tn::shape<>{}, -1.0f)); }), Contains("log(x * factor)"));
  // A caller's names come first.
  CHECK_THAT(message_of([&] { tn::debug_nans(tn::compile(entropy), {"net"})(m, x, y); }), Contains("log(matmul(images, net.w) + net.b)"));

  auto trained = tn::deepcopy(m);
  const tn::optim::sgd rule;
  auto state = rule.init(trained);
  const auto step = tn::train_step(entropy, rule);
  CHECK_THAT(message_of([&] { tn::debug_nans(step)(trained, state, x, y); }), Contains("not finite: loss, model.w, model.b, state[0].w, state[0].b"));
  const std::string page = tn::to_html(step.plan(trained, state, x, y));
  CHECK_THAT(page, Contains("images"));
  CHECK_THAT(page, Contains("labels"));
  CHECK(page.find("data 0") == std::string::npos);
}

TEST_CASE("where parameters have no names of their own, arguments have numbers") {
  using tn::detail::names_of_parameters;
  constexpr auto plain = [](auto x, auto y) { return x + y; };
  constexpr auto pack = [](auto... x) { return (x + ...); };
  constexpr auto unnamed = [](auto x, auto) { return x; };
  constexpr auto typed = [](number left, number right) { return left + right; };
  CHECK(names_of_parameters<std::remove_cvref_t<decltype(plain)>, number, number>() == names{"x", "y"});
  CHECK(names_of_parameters<std::remove_cvref_t<decltype(typed)>, number, number>() == names{"left", "right"});
  CHECK(names_of_parameters<std::remove_cvref_t<decltype(pack)>, number, number>().empty());
  CHECK(names_of_parameters<std::remove_cvref_t<decltype(unnamed)>, number, number>().empty());
  CHECK(names_of_parameters<std::remove_cvref_t<decltype(plain)>, number>().empty());
  const auto x = tn::full<float>(tn::shape<>{}, -1.0f);
  CHECK_THAT(message_of([&] { tn::debug_nans([](auto... each) { return log((each + ...)); })(x, x); }), Contains("argument 0 + argument 1"));
  // A vjp has one argument more, and a batch is no argument of the function.
  CHECK_THAT(message_of([&] { tn::debug_nans(tn::vjp([](auto of, auto by) { return log(of * by); }))(x, tn::ones<float>(tn::shape<>{}), x); }),
             Contains("log(of * by)"));
}
