// SPDX-License-Identifier: BSL-1.0
// vmap of arguments whose numbers of samples are known when the program runs, and differ.
#include "../catch.hpp"
#include "../difference.hpp"

#include <tenure/tenure.hpp>

namespace tn = tenure;
using rows = tn::tensor<double, tn::shape<tn::dyn, 3>>;
using columns = tn::tensor<double, tn::shape<3, tn::dyn>>;

namespace {

template <class X, class... Extent>
X ones(Extent... extent) { return tn::ones<double>(typename X::shape_type{}, extent...); }

constexpr auto dot = tn::vmap([](auto a, auto b) { return tn::sum(a * b); });
constexpr auto dot_of_columns = tn::vmap<0, 1>([](auto a, auto b) { return tn::sum(a * b); });
constexpr auto loss = tn::grad<0, 1>([](auto a, auto b) { return tn::sum(dot(a, b)); });
constexpr auto in_scan = tn::compile([](auto a, auto b) {
  return std::get<0>(tn::scan([=](auto c, auto row) { return std::tuple{c + tn::sum(dot(a, b * row)), tn::nothing}; }, 0.0, b));
});

template <class F, class... X>
std::string message_of(const F& f, const X&... x) {
  try {
    f(x...);
  } catch (const tn::shape_error& e) {
    return e.what();
  }
  return "no shape_error";
}

}  // namespace

TEST_CASE("vmap of arguments with different numbers of samples, known at the call, throws, and writes nothing") {
  using Catch::Matchers::Contains;
  const rows four = ones<rows>(4), five = ones<rows>(5), one = ones<rows>(1), none = ones<rows>(0);
  const tn::tensor y = dot(four, four);
  REQUIRE(y.size() == 4);
  CHECK(y(3) == 3);
  CHECK(dot(none, none).size() == 0);
  CHECK_THAT(message_of(dot, four, five), Contains("tenure: vmap: ") && Contains("4") && Contains("5"));
  // One sample is not repeated, and no samples are not a batch of any size.
  CHECK_THAT(message_of(dot, four, one), Contains("tenure: vmap: "));
  CHECK_THAT(message_of(dot, one, four), Contains("tenure: vmap: "));
  CHECK_THAT(message_of(dot, none, four), Contains("tenure: vmap: "));
  CHECK_THAT(message_of(dot_of_columns, four, ones<columns>(5)), Contains("tenure: vmap: "));
  CHECK(dot_of_columns(four, ones<columns>(4)).size() == 4);
  CHECK_THAT(message_of(loss, four, five), Contains("tenure: vmap: "));
  CHECK_THAT(message_of(in_scan, four, five), Contains("tenure: vmap: "));
  CHECK(in_scan(four, four).item() == 48);
  tn::tensor<double, tn::shape<tn::dyn>> target = tn::zeros<double>(tn::shape<tn::dyn>{}, 4);
  CHECK_THROWS_AS(dot.into(target)(four, five), tn::shape_error);
  CHECK_THROWS_AS(dot.into(target)(five, five), tn::shape_error);
  const double zeros[4] = {};
  CHECK(first_difference(target.data(), zeros, 4));
}
