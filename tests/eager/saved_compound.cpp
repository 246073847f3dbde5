// SPDX-License-Identifier: BSL-1.0
// What the derivatives of operations made of several nodes read: reductions, products, movement, indexing, normalisation.
// What such an operation has in between is computed again, from its operands; softmax reads those where PyTorch's reads its
// result.
#include "saved.hpp"

namespace {
const tn::tensor<double, shape<2, 3>> a{{0.5, 0.25, 0.75}, {0.125, 0.875, 0.625}}, b{{0.375, 0.5625, 0.875}, {0.25, 0.5, 0.0625}};
const tn::tensor<double, shape<3, 2>> c{{0.5, 0.25}, {0.75, 0.125}, {0.875, 0.625}};
const tn::tensor<double, shape<3>> v{0.5, 0.25, 0.75};
const tn::tensor<std::int64_t, shape<2>> rows{0, 1};
}  // namespace

TEST_CASE("activations and powers") {
  saved::check("reciprocal", {"0"}, [](const auto& x) { return reciprocal(x); }, a);
  saved::check("gelu", {"0"}, [](const auto& x) { return gelu(x); }, a);
  saved::check("leaky_relu", {"0"}, [](const auto& x) { return leaky_relu(x, 0.1); }, a);
  saved::check("clamp", {"0"}, [](const auto& x) { return clamp(x, 0.25, 0.75); }, a);
  saved::check("lerp", {"", "", ""}, [](const auto& x, const auto& y) { return lerp(x, y, 0.25); }, a, b);
  saved::check("exp exp", {"0y"}, [](const auto& x) { return exp(exp(x)); }, a);
}

TEST_CASE("reductions") {
  saved::check("sum", {""}, [](const auto& x) { return sum(x); }, a);
  saved::check("mean", {""}, [](const auto& x) { return mean(x, tn::axis<0>); }, a);
  saved::check("amax", {"0y"}, [](const auto& x) { return amax(x, tn::axis<1>); }, a);
  saved::check("max", {"0"}, [](const auto& x) { return max(x, tn::axis<1>); }, a);
  saved::check("var", {"0"}, [](const auto& x) { return var(x); }, a);
  saved::check("norm", {"0"}, [](const auto& x) { return norm(x); }, a);
  saved::check("prod", {"0"}, [](const auto& x) { return prod(x, tn::axis<1>); }, a);
  saved::check("logsumexp", {"0"}, [](const auto& x) { return logsumexp(x, tn::axis<1>); }, a);
  saved::check("cumsum", {""}, [](const auto& x) { return cumsum(x, tn::axis<1>); }, a);
}

TEST_CASE("normalisation") {
  saved::check("softmax", {"0"}, [](const auto& x) { return softmax(x, tn::axis<1>); }, a);
  saved::check("log_softmax", {"0"}, [](const auto& x) { return log_softmax(x, tn::axis<1>); }, a);
  saved::check("cross_entropy", {"01", ""}, [](const auto& x, const auto& i) { return cross_entropy(x, i); }, a, rows);
  saved::check("mse", {"01", "01"}, [](const auto& x, const auto& y) { return mse(x, y); }, a, b);
}

TEST_CASE("products") {
  saved::check("matmul", {"1", "0"}, [](const auto& x, const auto& y) { return matmul(x, y); }, a, c);
  saved::check("linear", {"1", "0", ""}, [](const auto& x, const auto& w, const auto& bias) { return linear(x, w, bias); }, a, b, tn::tensor<double, shape<2>>{1, 2});
}

TEST_CASE("movement") {
  saved::check("transpose", {""}, [](const auto& x) { return transpose(x); }, a);
  saved::check("reshape", {""}, [](const auto& x) { return tn::reshape<3, 2>(x); }, a);
  saved::check("expand", {""}, [](const auto& x) { return tn::expand<4, 2, 3>(x); }, a);
  saved::check("concat", {"", ""}, [](const auto& x, const auto& y) { return tn::concat<0>(x, y); }, a, b);
  saved::check("slice", {""}, [](const auto& x) { return tn::slice<1, 1, 2, 1>(x); }, a);
  saved::check("pad", {""}, [](const auto& x) { return tn::pad<1, 1>(x); }, a);
  saved::check("diagonal", {""}, [](const auto& x) { return diagonal(x); }, a);
  saved::check("cast", {""}, [](const auto& x) { return tn::cast<float>(x); }, a);
}

TEST_CASE("indexing reads its indices, and no values") {
  const tn::tensor<std::int64_t, shape<2, 1>> along{{0}, {2}};
  saved::check("gather", {"1", ""}, [](const auto& x, const auto& i) { return tn::gather<0>(x, i); }, a, rows);
  saved::check("take_along", {"1", ""}, [](const auto& x, const auto& i) { return tn::take_along<1>(x, i); }, a, along);
  saved::check("pick", {"1", ""}, [](const auto& x, const auto& i) { return pick(x, i); }, a, rows);
  saved::check("index_add", {"", "", "1"}, [](const auto& x, const auto& i, const auto& u) { return tn::index_add<0>(x, i, u); }, a, rows, b);
  saved::check("where", {"", "0", "0"}, [](const auto& m, const auto& x, const auto& y) { return where(m, x, y); },
               tn::tensor<bool, shape<2, 3>>{{true, false, true}, {false, false, true}}, a, b);
}
