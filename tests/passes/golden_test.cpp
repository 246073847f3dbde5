// SPDX-License-Identifier: BSL-1.0
// Printed graphs, as traced and as scheduled: what passes do to a function is reviewed here as a diff.
#include "../catch.hpp"

#include <sstream>

#include <tenure/passes/print.hpp>
#include <tenure/passes/verify.hpp>
#include <tenure/tenure.hpp>

namespace tn = tenure;
using tn::shape;

namespace {

std::string text_of(const tn::ir::graph_view& g) {
  std::ostringstream out;
  tn::passes::print_graph(out, g);
  return out.str();
}

template <class S>
using floats = tn::tensor<float, S>;

/// The program of a compiled function for arguments of types X.
template <class F, class... X>
using program_of = tn::program<tn::detail::source_of<F, X...>>;

template <class Program>
void check(const char* traced, const char* scheduled) {
  static_assert(tn::passes::verify(Program::traced.view()).ok());
  static_assert(tn::passes::verify(Program::value.view()).ok());
  CHECK(text_of(Program::traced.view()) == traced);
  CHECK(text_of(Program::value.view()) == scheduled);
}

// ---- the gradient of the README ----

constexpr auto readme = tn::value_and_grad<0, 1, 2>([](auto a, auto b, auto c, auto x) { return sum(sigmoid(a * x + b) * log1p(exp(c * x))); });
using readme_program = program_of<decltype(readme.function), floats<shape<1000>>, floats<shape<1000>>, floats<shape<1000>>, floats<shape<1000>>>;
static_assert(readme_program::step_count == 1 && readme_program::kernel_count == 1, "value and three gradients in one loop");

constexpr const char* readme_traced = R"(%0 = input 0 : float32[1000]
%1 = input 1 : float32[1000]
%2 = input 2 : float32[1000]
%3 = input 3 : float32[1000]
%4 = cast %0 : float32[1000]
%5 = cast %1 : float32[1000]
%6 = cast %2 : float32[1000]
%7 = cast %3 : float32[1000]
%8 = mul %4, %7 : float32[1000]
%9 = add %8, %5 : float32[1000]
%10 = sigmoid %9 : float32[1000]
%11 = mul %6, %7 : float32[1000]
%12 = exp %11 : float32[1000]
%13 = log1p %12 : float32[1000]
%14 = mul %10, %13 : float32[1000]
%15 = sum %14 axes=(0) : float32[]
%16 = constant 1 : float32[]
%17 = constant 1 : float32[1000]
%18 = constant 1 : float32[1000]
%19 = add %12, %18 : float32[1000]
%20 = div %10, %19 : float32[1000]
%21 = mul %20, %12 : float32[1000]
%22 = mul %21, %7 : float32[1000]
%23 = constant 1 : float32[1000]
%24 = sub %23, %10 : float32[1000]
%25 = mul %10, %24 : float32[1000]
%26 = mul %13, %25 : float32[1000]
%27 = mul %26, %7 : float32[1000]
return %15, %27, %26, %22
)";

constexpr const char* readme_scheduled = R"(%0 = input 0 : float32[1000]
%1 = input 1 : float32[1000]
%2 = input 2 : float32[1000]
%3 = input 3 : float32[1000]
%4 = mul %0, %3 : float32[1000]
%5 = add %4, %1 : float32[1000]
%6 = sigmoid %5 : float32[1000]
%7 = mul %2, %3 : float32[1000]
%8 = exp %7 : float32[1000]
%9 = log1p %8 : float32[1000]
%10 = mul %6, %9 : float32[1000]
%11 = sum %10 axes=(0) : float32[]
%12 = constant 1 : float32[1000]
%13 = add %8, %12 : float32[1000]
%14 = div %6, %13 : float32[1000]
%15 = mul %14, %8 : float32[1000]
%16 = mul %15, %3 : float32[1000]
%17 = sub %12, %6 : float32[1000]
%18 = mul %6, %17 : float32[1000]
%19 = mul %9, %18 : float32[1000]
%20 = mul %19, %3 : float32[1000]
return %11, %20, %19, %16
)";

// ---- a training step of a multilayer perceptron ----

constexpr auto mlp = tn::value_and_grad<0, 1, 2, 3>([](auto w, auto b, auto u, auto c, auto x, auto y) {
  return cross_entropy(matmul(relu(matmul(x, w) + b), u) + c, y);
});
using mlp_program = program_of<decltype(mlp.function), floats<shape<64, 16>>, floats<shape<16>>, floats<shape<16, 10>>, floats<shape<10>>,
                               floats<shape<32, 64>>, tn::tensor<std::int64_t, shape<32>>>;

constexpr const char* mlp_traced = R"(%0 = input 0 : float32[64,16]
%1 = input 1 : float32[16]
%2 = input 2 : float32[16,10]
%3 = input 3 : float32[10]
%4 = input 4 : float32[32,64]
%5 = input 5 : int64[32]
%6 = cast %0 : float32[64,16]
%7 = cast %1 : float32[16]
%8 = cast %2 : float32[16,10]
%9 = cast %3 : float32[10]
%10 = cast %4 : float32[32,64]
%11 = matmul %10, %6 : float32[32,16]
%12 = broadcast %7 axes=(1) : float32[32,16]
%13 = add %11, %12 : float32[32,16]
%14 = relu %13 : float32[32,16]
%15 = matmul %14, %8 : float32[32,10]
%16 = broadcast %9 axes=(1) : float32[32,10]
%17 = add %15, %16 : float32[32,10]
%18 = amax %17 axes=(1) : float32[32]
%19 = reshape %18 : float32[32,1]
%20 = stop_gradient %19 : float32[32,1]
%21 = abs %20 : float32[32,1]
%22 = constant inf : float32[32,1]
%23 = equal %21, %22 : bool[32,1]
%24 = constant 0 : float32[32,1]
%25 = where %23, %24, %20 : float32[32,1]
%26 = broadcast %25 axes=(0,1) : float32[32,10]
%27 = sub %17, %26 : float32[32,10]
%28 = exp %27 : float32[32,10]
%29 = sum %28 axes=(1) : float32[32]
%30 = reshape %29 : float32[32,1]
%31 = log %30 : float32[32,1]
%32 = broadcast %31 axes=(0,1) : float32[32,10]
%33 = sub %27, %32 : float32[32,10]
%34 = iota axis=1 : float32[32,10]
%35 = cast %5 : float32[32]
%36 = broadcast %35 axes=(0) : float32[32,10]
%37 = equal %34, %36 : bool[32,10]
%38 = constant 0 : float32[32,10]
%39 = where %37, %17, %38 : float32[32,10]
%40 = sum %39 axes=(1) : float32[32]
%41 = reshape %25 : float32[32]
%42 = sub %40, %41 : float32[32]
%43 = reshape %31 : float32[32]
%44 = sub %42, %43 : float32[32]
%45 = neg %44 : float32[32]
%46 = sum %45 axes=(0) : float32[]
%47 = constant 32 : float32[]
%48 = div %46, %47 : float32[]
%49 = constant 1 : float32[]
%50 = constant 0.03125 : float32[]
%51 = constant 0.03125 : float32[32]
%52 = constant -0.03125 : float32[32]
%53 = constant 0.03125 : float32[32]
%54 = constant 0.03125 : float32[32,1]
%55 = constant -0.03125 : float32[32,10]
%56 = constant 0 : float32[32,10]
%57 = where %37, %55, %56 : float32[32,10]
%58 = div %54, %30 : float32[32,1]
%59 = reshape %58 : float32[32]
%60 = broadcast %59 axes=(0) : float32[32,10]
%61 = mul %60, %28 : float32[32,10]
%62 = add %57, %61 : float32[32,10]
%63 = sum %62 axes=(0) : float32[10]
%64 = permute %8 axes=(1,0) : float32[10,16]
%65 = matmul %62, %64 : float32[32,16]
%66 = permute %14 axes=(1,0) : float32[16,32]
%67 = matmul %66, %62 : float32[16,10]
%68 = constant 0 : float32[32,16]
%69 = greater %14, %68 : bool[32,16]
%70 = constant 0 : float32[32,16]
%71 = where %69, %65, %70 : float32[32,16]
%72 = sum %71 axes=(0) : float32[16]
%73 = permute %10 axes=(1,0) : float32[64,32]
%74 = matmul %73, %71 : float32[64,16]
return %48, %74, %72, %67, %63
)";

constexpr const char* mlp_scheduled = R"(%0 = input 0 : float32[64,16]
%1 = input 1 : float32[16]
%2 = input 2 : float32[16,10]
%3 = input 3 : float32[10]
%4 = input 4 : float32[32,64]
%5 = input 5 : int64[32]
%6 = matmul %4, %0 : float32[32,16]
%7 = broadcast %1 axes=(1) : float32[32,16]
%8 = add %6, %7 : float32[32,16]
%9 = relu %8 : float32[32,16]
%10 = matmul %9, %2 : float32[32,10]
%11 = broadcast %3 axes=(1) : float32[32,10]
%12 = add %10, %11 : float32[32,10]
%13 = amax %12 axes=(1) : float32[32]
%14 = reshape %13 : float32[32,1]
%15 = abs %14 : float32[32,1]
%16 = constant inf : float32[32,1]
%17 = equal %15, %16 : bool[32,1]
%18 = constant 0 : float32[32,1]
%19 = where %17, %18, %14 : float32[32,1]
%20 = broadcast %19 axes=(0,1) : float32[32,10]
%21 = sub %12, %20 : float32[32,10]
%22 = exp %21 : float32[32,10]
%23 = sum %22 axes=(1) : float32[32]
%24 = reshape %23 : float32[32,1]
%25 = log %24 : float32[32,1]
%26 = iota axis=1 : float32[32,10]
%27 = cast %5 : float32[32]
%28 = broadcast %27 axes=(0) : float32[32,10]
%29 = equal %26, %28 : bool[32,10]
%30 = constant 0 : float32[32,10]
%31 = where %29, %12, %30 : float32[32,10]
%32 = sum %31 axes=(1) : float32[32]
%33 = reshape %19 : float32[32]
%34 = sub %32, %33 : float32[32]
%35 = reshape %25 : float32[32]
%36 = sub %34, %35 : float32[32]
%37 = neg %36 : float32[32]
%38 = sum %37 axes=(0) : float32[]
%39 = constant 32 : float32[]
%40 = div %38, %39 : float32[]
%41 = constant 0.03125 : float32[32,1]
%42 = constant -0.03125 : float32[32,10]
%43 = where %29, %42, %30 : float32[32,10]
%44 = div %41, %24 : float32[32,1]
%45 = reshape %44 : float32[32]
%46 = broadcast %45 axes=(0) : float32[32,10]
%47 = mul %46, %22 : float32[32,10]
%48 = add %43, %47 : float32[32,10]
%49 = sum %48 axes=(0) : float32[10]
%50 = permute %2 axes=(1,0) : float32[10,16]
%51 = matmul %48, %50 : float32[32,16]
%52 = permute %9 axes=(1,0) : float32[16,32]
%53 = matmul %52, %48 : float32[16,10]
%54 = constant 0 : float32[32,16]
%55 = greater %9, %54 : bool[32,16]
%56 = where %55, %51, %54 : float32[32,16]
%57 = sum %56 axes=(0) : float32[16]
%58 = permute %4 axes=(1,0) : float32[64,32]
%59 = matmul %58, %56 : float32[64,16]
return %40, %59, %57, %53, %49
)";

// ---- movement ----

constexpr auto shuffle = tn::compile([](auto x) { return tn::reshape<6, 4>(tn::permute<2, 0, 1>(tn::reshape<2, 3, 4>(x)) * 2.0); });
using shuffle_program = program_of<decltype(shuffle.function), floats<shape<24>>>;

constexpr const char* shuffle_traced = R"(%0 = input 0 : float32[24]
%1 = reshape %0 : float32[2,3,4]
%2 = permute %1 axes=(2,0,1) : float32[4,2,3]
%3 = constant 2 : float32[]
%4 = constant 2 : float32[4,2,3]
%5 = mul %2, %4 : float32[4,2,3]
%6 = reshape %5 : float32[6,4]
return %6
)";

constexpr const char* shuffle_scheduled = R"(%0 = input 0 : float32[24]
%1 = reshape %0 : float32[2,3,4]
%2 = permute %1 axes=(2,0,1) : float32[4,2,3]
%3 = constant 2 : float32[4,2,3]
%4 = mul %2, %3 : float32[4,2,3]
%5 = reshape %4 : float32[6,4]
return %5
)";

constexpr auto views = tn::compile([](auto x) {
  return std::tuple{tn::permute<1, 0>(tn::permute<1, 0>(x)), tn::reshape<4, 3>(tn::reshape<12>(x)), tn::reshape<12>(transpose(x)), x};
});
using views_program = program_of<decltype(views.function), floats<shape<3, 4>>>;

constexpr const char* views_traced = R"(%0 = input 0 : float32[3,4]
%1 = permute %0 axes=(1,0) : float32[4,3]
%2 = reshape %0 : float32[12]
%3 = reshape %0 : float32[4,3]
%4 = permute %0 axes=(1,0) : float32[4,3]
%5 = reshape %4 : float32[12]
return %0, %3, %5, %0
)";

constexpr const char* views_scheduled = R"(%0 = input 0 : float32[3,4]
%1 = reshape %0 : float32[4,3]
%2 = permute %0 axes=(1,0) : float32[4,3]
%3 = copy %2 : float32[4,3]
%4 = reshape %3 : float32[12]
%5 = copy %0 : float32[3,4]
%6 = copy %1 : float32[4,3]
%7 = copy %0 : float32[3,4]
return %5, %6, %4, %7
)";

}  // namespace

TEST_CASE("golden: the gradient of the README is one kernel") { check<readme_program>(readme_traced, readme_scheduled); }
TEST_CASE("golden: a training step") { check<mlp_program>(mlp_traced, mlp_scheduled); }
TEST_CASE("golden: a permuted tensor in arithmetic") { check<shuffle_program>(shuffle_traced, shuffle_scheduled); }
TEST_CASE("golden: outputs that are views of an argument") { check<views_program>(views_traced, views_scheduled); }
