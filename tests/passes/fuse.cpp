// SPDX-License-Identifier: BSL-1.0
// Which kernels a function becomes, as constants: the number of loops, passes over a row, bytes of workspace.
#include "../catch.hpp"

#include <tenure/tenure.hpp>

namespace tn = tenure;
using tn::shape;

namespace {

using rows = tn::tensor<float, shape<32, 100>>;
using row = tn::tensor<float, shape<100>>;

template <class F, class... X>
using program_of = tn::program<tn::detail::source_of<F, X...>>;

/// One kernel with so many passes over each row, which keeps so many values an element of it (100 of 4 bytes, in blocks of 64)
/// between them, and has no other workspace.
template <int Kept = 0, class F, class... X>
constexpr bool is_one_kernel(tn::compiled<F>, int passes, const X*...) {
  using program = program_of<F, X...>;
  return program::step_count == 1 && program::kernel_count == 1 && program::tables.kernels[0].passes == passes &&
         tn::plan<program, tn::cpu_device>::workspace_bytes() == Kept * 448;
}
constexpr rows* x = nullptr;
constexpr row* v = nullptr;

constexpr auto softmax_of_rows = tn::compile([](auto a) { return softmax(a); });
static_assert(is_one_kernel<1>(softmax_of_rows, 3, x));

constexpr auto softmax_gradient = tn::value_and_grad([](auto a) { return sum(square(softmax(a))); });
static_assert(is_one_kernel<1>(softmax_gradient, 4, x));

constexpr auto weighted_softmax_gradient = tn::value_and_grad<0>([](auto a, auto w) { return sum(softmax(a) * w); });
// 1 / sum(exp) leaves the sum of exp(a) / sum(exp) * w, so that it needs no pass of its own. It does not leave that of squares above.
static_assert(is_one_kernel<1>(weighted_softmax_gradient, 3, x, x));

constexpr auto layer_norm = tn::compile([](auto a, auto scale, auto shift) {
  const auto centred = a - mean(a, tn::axis<1>, tn::keepdim);
  return centred * rsqrt(mean(square(centred), tn::axis<1>, tn::keepdim) + 1e-5) * scale + shift;
});
static_assert(is_one_kernel(layer_norm, 3, x, v, v));

constexpr auto variance = tn::compile([](auto a) { return var(a, tn::axis<1>); });
static_assert(is_one_kernel(variance, 2, x));

constexpr auto totals = tn::compile([](auto a) { return std::tuple{sum(a), amax(a), sum(exp(a))}; });
static_assert(is_one_kernel(totals, 1, x));

constexpr auto rows_and_columns = tn::compile([](auto a) {
  return std::tuple{sum(exp(a), tn::axis<0>), sum(exp(a), tn::axis<1>), sum(exp(a)), exp(a)};
});
static_assert(is_one_kernel(rows_and_columns, 1, x));

constexpr auto bias_gradient = tn::value_and_grad<0>([](auto b, auto a) { return sum(tanh(a + b)); });
static_assert(is_one_kernel(bias_gradient, 1, v, x));

// The dimensions of a contiguous loop merge into one.
using totals_program = program_of<decltype(totals.function), rows>;
static_assert(totals_program::tables.kernels[0].outer == 0 && totals_program::tables.kernels[0].inner == 1);
static_assert(totals_program::tables.kernels[0].extent[0].factor == 3200);

}  // namespace

TEST_CASE("a loop of many iterations compiles its kernel once") {
  constexpr auto f = tn::compile([](auto h) {
    // Products between the iterations keep them apart.
    for (int i = 0; i < 8; ++i) h = tanh(matmul(h, h) + 1.0);
    return h;
  });
  using program = program_of<decltype(f.function), tn::tensor<float, shape<40, 40>>>;
  STATIC_REQUIRE(program::step_count == 16);
  STATIC_REQUIRE(program::kernel_count == 1);
}

TEST_CASE("a plan has the cost that one counts by hand, and is printed") {
  using left = tn::tensor<float, shape<2, 3>>;
  using right = tn::tensor<float, shape<3, 4>>;
  constexpr auto layer = tn::compile([](auto a, auto b) { return std::tuple{tanh(matmul(a, b) * 2.f), sum(a)}; });
  using plan = decltype(layer.plan(left(), right()));
  CHECK(plan::kernels() == 3);
  CHECK(plan::flops() == 2 * 2 * 3 * 4 + 8 + 8 + 6);
  CHECK(plan::bytes() == 4 * ((6 + 12 + 8) + (8 + 8) + (6 + 1)));
  CHECK(plan::workspace_bytes() == 64);  // the product, in whole cache lines
  CHECK(tn::to_text(plan{}) == R"(%0 = input 0 : float32[2,3]
%1 = input 1 : float32[3,4]
%2 = matmul %0, %1 : float32[2,4]
%3 = constant 2 : float32[2,4]
%4 = mul %2, %3 : float32[2,4]
%5 = tanh %4 : float32[2,4]
%6 = sum %0 axes=(0,1) : float32[]
return %5, %6
step 0: matmul %2
step 1: mul %4 tanh %5
step 2: sum %6
workspace: 64 bytes
)");
}

#if !TENURE_BLAS  // a BLAS computes whole products
TEST_CASE("a printed plan shows the steps that run together, a few rows at a time") {
  const auto steps_of = [](const std::string& text) { return text.substr(text.find("step 0:"), text.find("\nworkspace") - text.find("step 0:")); };
  constexpr auto layer = tn::compile([](auto x, auto w, auto b) { return tn::relu(matmul(x, w) + b); });
  using matrix = tn::tensor<float, shape<1024, 512>>;
  using weights = tn::tensor<float, shape<512, 512>>;
  using bias = tn::tensor<float, shape<512>>;
  CHECK(steps_of(tn::to_text(decltype(layer.plan(matrix(), weights(), bias())){})) == "step 0: matmul %3\nstep 1: add %5 relu %6, on 128 rows of step 0 at a time");
  // The product, of two megabytes, is computed in the memory of the result; 128 rows have memory in case that this is not possible.
  CHECK(decltype(layer.plan(matrix(), weights(), bias()))::workspace_bytes() < 1 << 20);
  // Of half a megabyte: it stays in a cache anyway.
  CHECK(tn::to_text(decltype(layer.plan(tn::tensor<float, shape<256, 512>>(), weights(), bias())){}).find("at a time") == std::string::npos);

  constexpr auto slope = tn::compile([](auto x, auto w) { return matmul(transpose(x), tanh(matmul(x, w))); });
  const std::string text = tn::to_text(decltype(slope.plan(tn::tensor<float, shape<8192, 64>>(), tn::tensor<float, shape<64, 64>>())){});
  CHECK(text.find("rows of step 0 at a time\nstep 2: matmul %") != std::string::npos);
  CHECK(text.find(", adds up the rows of step 1\n") != std::string::npos);
  using any_rows = tn::tensor<float, shape<tn::dyn, 512>>;
  CHECK(tn::to_text(decltype(layer.plan(std::declval<any_rows>(), weights(), bias())){}).find(", on a few rows of step 0 at a time, if these are large\n") != std::string::npos);
}
#endif

TEST_CASE("a kernel that reads all elements of a product before it writes one does not run on blocks of rows") {
  constexpr auto shares = tn::compile([](auto a, auto b) {
    const auto y = matmul(a, b);
    return y / sum(y);
  });
  const std::string text = to_text(decltype(shares.plan(tn::tensor<double, shape<512, 16>>(), tn::tensor<double, shape<16, 512>>())){});
  CHECK(text.find("step 1: sum %3 div %5\n") != std::string::npos);
}

TEST_CASE("a plan counts the bytes of the elements that a step reads") {
  using vector = tn::tensor<double, shape<8>>;
  using matrix = tn::tensor<double, shape<3, 8>>;
  constexpr auto parts = tn::compile([](auto v) { return tn::slice<0, 0, 2>(v) + tn::slice<0, 4, 2>(v); });
  CHECK(decltype(parts.plan(vector()))::bytes() == 8 * (2 + 2 + 2));
  constexpr auto overlapping = tn::compile([](auto v) { return tn::slice<0, 0, 6>(v) + tn::slice<0, 2, 6>(v); });
  CHECK(decltype(overlapping.plan(vector()))::bytes() == 8 * (8 + 6));
  constexpr auto stretched = tn::compile([](auto m, auto v) { return m + v; });
  CHECK(decltype(stretched.plan(matrix(), vector()))::bytes() == 8 * (24 + 8 + 24));
}

TEST_CASE("a gradient keeps products and functions, and computes again what is cheap") {
  using tn::to_text;
  const auto kept_line = [](const std::string& text) {
    const std::size_t at = text.find("kept for the gradient:");
    return at == std::string::npos ? std::string("no line") : text.substr(at, text.find('\n', at) - at);
  };
  // gelu_tanh(z): hand-written code keeps z and the sigmoid. The product of the second layer reads gelu_tanh(z) itself.
  constexpr auto two_layers = tn::value_and_grad<1, 2, 3>([](auto a, auto w1, auto bias, auto w2) { return sum(square(matmul(gelu_tanh(matmul(a, w1) + bias), w2))); });
  using layers = decltype(two_layers.plan(tn::tensor<float, shape<16, 8>>(), tn::tensor<float, shape<8, 32>>(), tn::tensor<float, shape<32>>(), tn::tensor<float, shape<32, 8>>()));
  CHECK(kept_line(to_text(layers{})) == "kept for the gradient: add %6 (2048 bytes) sigmoid %16 (2048 bytes) mul %17 (2048 bytes) matmul %18 (512 bytes)");
  STATIC_REQUIRE(layers::kept_bytes() == 3 * 2048 + 512);

  // layer_norm: the mean and the factor of each row. The centred rows are computed again from the argument.
  constexpr auto norm = tn::value_and_grad<0, 1, 2>([](auto a, auto gain, auto w) { return sum(square(matmul(layer_norm(a, gain, gain), w))); });
  using normed = decltype(norm.plan(tn::tensor<float, shape<16, 32>>(), tn::tensor<float, shape<32>>(), tn::tensor<float, shape<32, 8>>()));
  STATIC_REQUIRE(normed::kept_bytes() == 2 * 16 * 4 + 2048 + 512);

  // Where a bool decides, the bool is kept: with the product and its values for each column it is all that the later kernels read.
  constexpr auto least = tn::grad<0>([](auto a, auto b) {
    const auto c = matmul(a, b) * 2.0f;
    return sum(square(amin(c, tn::axis<0>)));
  });
  using choice = decltype(least.plan(tn::tensor<float, shape<64, 8>>(), tn::tensor<float, shape<8, 512>>()));
  CHECK(to_text(choice{}).find("where") != std::string::npos);
  STATIC_REQUIRE(choice::workspace_bytes() < 2 * 64 * 512 * 4);

  // A loop keeps h of each iteration: 10 iterations of 4 x 8 floats.
  constexpr auto recurrence = tn::grad<1>([](auto h, auto u) {
    return sum(std::get<0>(tn::scan([=](auto state, auto row) { return std::tuple{tanh(matmul(state, u) + row), tn::nothing}; }, h, tn::expand<10, 4, 8>(h))));
  });
  using loop = decltype(recurrence.plan(tn::tensor<float, shape<4, 8>>(), tn::tensor<float, shape<8, 8>>()));
  STATIC_REQUIRE(loop::kept_bytes() >= 10 * 4 * 8 * 4);
  STATIC_REQUIRE(loop::kept_bytes() <= 2 * 10 * 4 * 8 * 4 + 128);

  // What is not elementwise, or not cheap, is kept. Without reverse mode there is no line.
  constexpr auto dear = tn::grad<0>([](auto a, auto w) { return sum(matmul(exp(a) / (1.0f + exp(a)), w)); });
  STATIC_REQUIRE(decltype(dear.plan(rows(), tn::tensor<float, shape<100, 3>>()))::kept_bytes() <= 2 * 32 * 100 * 4);
  CHECK(kept_line(to_text(decltype(layer_norm.plan(rows(), row(), row())){})) == "no line");
  CHECK(kept_line(to_text(decltype(softmax_gradient.plan(rows())){})) == "kept for the gradient: nothing");
}

TEST_CASE("vmap of a gradient keeps what the gradient keeps, for each sample") {
  constexpr auto loss = [](auto w, auto a) { return sum(square(matmul(w, tanh(matmul(w, a))))); };
  using matrix = tn::tensor<float, shape<40, 40>>;
  using one = decltype(tn::grad(loss).plan(matrix(), tn::tensor<float, shape<40>>()));
  using each = decltype(tn::vmap<tn::unmapped, 0>(tn::grad(loss)).plan(matrix(), tn::tensor<float, shape<10, 40>>()));
  STATIC_REQUIRE(one::kept_bytes() == 3 * 40 * 4);  // the products, and tanh for the gradient of the second one
  STATIC_REQUIRE(each::kept_bytes() == 10 * one::kept_bytes());
  using twice = decltype(tn::vmap<tn::unmapped, 0>(tn::vmap<tn::unmapped, 0>(tn::grad(loss))).plan(matrix(), tn::tensor<float, shape<3, 10, 40>>()));
  STATIC_REQUIRE(twice::kept_bytes() == 30 * one::kept_bytes());
}

TEST_CASE("what is computed again: all of a chain, and nothing that takes longer than a read") {
  using square_matrix = tn::tensor<float, shape<16, 16>>;
  constexpr int n = 16 * 16;
  // The products need a and b in memory. The last kernel reads the products and x, and computes a and b again.
  constexpr auto chain = tn::compile([](auto x, auto w) {
    const auto a = x + 1.0f, b = a * 2.0f;
    return matmul(a, w) * matmul(b, w) + a * b * x;
  });
  using short_chain = decltype(chain.plan(square_matrix(), square_matrix()));
  CHECK(short_chain::bytes() == 4 * n * (3 + 2 * 3 + 4));
  CHECK(short_chain::flops() == n * (2 + 2 + 4) + 2 * 2 * 16 * n);
  // 40 operations take longer than a read.
  constexpr auto work = tn::compile([](auto x, auto w) {
    auto a = x;
    for (int i = 0; i < 20; ++i) a = a * x + 1.0f;
    return matmul(a, w) + a + x;
  });
  CHECK(decltype(work.plan(square_matrix(), square_matrix()))::flops() == n * (40 + 2) + 2 * 16 * n);
}

TEST_CASE("the memory of a kernel with blocks: columns of sums, and rows that are kept") {
  using tn::cpu_backend::kernel_memory;
  constexpr kernel_memory three(3, 100, 2, 1, false, 4), one(1, 100, 2, 1, false, 4);
  CHECK(three.alone == 2 * 100 * 4);
  CHECK(three.on_threads == 2 * three.alone);
  CHECK(three.of_helper == 100 * 4);
  CHECK(one.alone == 0);
  CHECK(one.on_threads == 0);
  CHECK(one.of_helper == 0);
  // The columns of a part of the rows, for each worker.
  constexpr kernel_memory three_in_parts(3, 100, 2, 1, true, 4), one_in_parts(1, 100, 2, 1, true, 4);
  CHECK(three_in_parts.alone == three.alone + 2 * 100 * 4);
  CHECK(three_in_parts.on_threads == three.on_threads + 2 * 100 * 4);
  CHECK(three_in_parts.of_helper == three.of_helper + 2 * 100 * 4);
  CHECK(one_in_parts.alone == 2 * 100 * 4);
  CHECK(one_in_parts.on_threads == 0);
}
