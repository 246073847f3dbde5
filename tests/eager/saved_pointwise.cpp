// SPDX-License-Identifier: BSL-1.0
// What the derivative of each pointwise operation reads. The table is by hand; every operation of the registry is in it.
#include <map>

#include "../quick.hpp"
#include "saved.hpp"

namespace {

const std::map<std::string, std::vector<std::string>> table = {
    {"neg", {""}},
    {"add", {"", ""}},
    {"sub", {"", ""}},
    {"mul", {"1", "0"}},
    {"div", {"1", "01"}},
    {"sign", {""}},
    {"abs", {"0"}},
    {"maximum", {"01", "01"}},
    {"minimum", {"01", "01"}},
    {"floor", {""}},
    {"round", {""}},
    {"ceil", {""}},
    {"trunc", {""}},
    {"fmod", {"", "01"}},
    {"remainder", {"", "01"}},
    {"floor_divide", {"", ""}},
    {"fmax", {"01", "01"}},
    {"fmin", {"01", "01"}},
    {"where", {"", "0", "0"}},
    {"exp", {"y"}},
    {"expm1", {"0"}},
    {"log", {"0"}},
    {"log1p", {"0"}},
    {"log2", {"0"}},
    {"sqrt", {"y"}},
    {"rsqrt", {"y"}},
    {"pow", {"01", "01y"}},
    {"xlogy", {"01", "01"}},
    {"exp2", {"y"}},
    {"log10", {"0"}},
    {"sin", {"0"}},
    {"cos", {"0"}},
    {"atan", {"0"}},
    {"atan2", {"01", "01"}},
    {"sinh", {"0"}},
    {"cosh", {"0"}},
    {"tan", {"y"}},
    {"asin", {"0"}},
    {"acos", {"0"}},
    {"asinh", {"0"}},
    {"acosh", {"0"}},
    {"atanh", {"0"}},
    {"tanh", {"0"}},
    {"sigmoid", {"0"}},
    {"softplus", {"0"}},
    {"erf", {"0"}},
    {"relu", {"y"}},
    {"erfc", {"0"}},
    {"sigmoid_slope", {"0y"}},
    {"tanh_slope", {"0y"}},
    {"exp_of_product", {"1y", "0y"}},
    {"normal_cdf", {"0"}},
    {"lgamma", {"0"}},
    {"digamma", {"0"}},
    {"trigamma", {"0"}},
    {"logaddexp", {"01", "01"}},
    {"hypot", {"0y", "1y"}},
    {"logit", {"0"}},
    {"log1mexp", {"0"}},
    {"normal_ratio", {"0y"}},
    {"normal_excess", {"0y"}},
    {"log_normal_cdf", {"0"}},
    {"erfinv", {"y"}},
    {"normal_icdf", {"y"}},
    {"erfcx", {"0y"}},
    {"sinc", {"0"}},
    {"sinc_slope_1", {"0"}},
    {"sinc_slope_2", {"0"}},
    {"i0e", {"0y"}},
    {"i1e", {"0y"}},
    {"gammainc", {"01", "01"}},
    {"gammaincc", {"01", "01"}},
    {"gamma_density", {"01y", "01y"}},
    {"betainc", {"012", "012", "012"}},
    {"beta_density", {"012y", "012y", "012y"}},
    {"cos_of_root", {"0"}},
    {"sinc_of_root", {"0"}},
    {"versine_series_2", {"0"}},
    {"versine_series_3", {"0"}},
    {"versine_series_4", {"0"}},
    {"versine_series_5", {"0"}},
    {"atan_of_root", {"0"}},
    {"atan_series_1", {"0"}},
    {"atan_series_2", {"0"}},
    {"multiply_add", {"1", "0", ""}},
};

template <class Op>
void check_operation() {
  using vector = tn::tensor<double, shape<3>>;
  const auto call = [](const auto&... x) { return tn::apply<Op>(x...); };
  constexpr bool is_differentiable = Op::types != tn::ops::typing::comparison && !std::is_same_v<Op, tn::ops::logical_and> &&
                                     !std::is_same_v<Op, tn::ops::logical_or> && !std::is_same_v<Op, tn::ops::logical_not> && !tn::ops::is_any_of<Op, tn::ops::tetragamma, tn::ops::gammainc_slope, tn::ops::betainc_slope<0>, tn::ops::betainc_slope<1>> &&
                                     !tn::ops::is_any_of<Op, tn::ops::random_word, tn::ops::random_bits, tn::ops::random_unit, tn::ops::random_normal>;
  if constexpr (is_differentiable) {
    const auto entry = table.find(Op::name);
    INFO(Op::name);
    REQUIRE(entry != table.end());
    const vector a{0.5, 0.25, 0.75}, b{0.375, 0.625, 0.875};
    if constexpr (Op::arity == 1) saved::check(Op::name, entry->second, call, a);
    else if constexpr (Op::arity == 2) saved::check(Op::name, entry->second, call, a, b);
    else if constexpr (Op::types != tn::ops::typing::selection) saved::check(Op::name, entry->second, call, a, b, a);
    else saved::check(Op::name, entry->second, call, tn::tensor<bool, shape<3>>{true, false, true}, a, b);
  }
}

template <int Number, class Op>
void check_if_taken() {
  if constexpr (quick::takes(Number)) check_operation<Op>();
}
template <class... Op>
void check_all(tn::ops::operation_list<Op...>) {
  [&]<int... I>(std::integer_sequence<int, I...>) { (check_if_taken<I, Op>(), ...); }(std::make_integer_sequence<int, sizeof...(Op)>{});
}

}  // namespace

TEST_CASE("each pointwise operation saves what its derivative reads, and nothing else") { check_all(tn::ops::registry{}); }

TEST_CASE("broadcasting saves no more, scaling by a number nothing") {
  const tn::tensor<double, shape<3>> a{0.5, 0.25, 0.75};
  const tn::tensor<double, shape<2, 1>> column{{0.375}, {0.625}};
  saved::check("mul", {"1", "0"}, [](const auto& x, const auto& y) { return x * y; }, a, column);
  saved::check("add", {"", ""}, [](const auto& x, const auto& y) { return x + y; }, a, column);
  saved::check("scale", {""}, [](const auto& x) { return 3 * (x / 4) - 1; }, a);
  saved::check("rsub", {""}, [](const auto& x) { return 1 - x; }, a);
  saved::check("rdiv", {"0"}, [](const auto& x) { return 1 / x; }, a);
  saved::check("square", {"0"}, [](const auto& x) { return square(x); }, a);
  saved::check("x * x", {"0"}, [](const auto& x) { return x * x; }, a);
  saved::check("pow 2", {"0"}, [](const auto& x) { return pow(x, 2); }, a);
}
