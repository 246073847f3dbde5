// SPDX-License-Identifier: BSL-1.0
// Printed graphs, as traced and as scheduled: what passes do to a function is reviewed here as a diff.
#include "../catch.hpp"

#include <string>

#include <tenure/passes/print.hpp>
#include <tenure/passes/verify.hpp>
#include <tenure/tenure.hpp>

namespace tn = tenure;
using tn::shape;
using tn::passes::text_of;

namespace {

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
%17 = broadcast %16 axes=() : float32[1000]
%18 = mul %17, %13 : float32[1000]
%19 = mul %17, %10 : float32[1000]
%20 = constant 1 : float32[1000]
%21 = add %12, %20 : float32[1000]
%22 = div %19, %21 : float32[1000]
%23 = mul %22, %12 : float32[1000]
%24 = mul %23, %7 : float32[1000]
%25 = sigmoid_slope %9 : float32[1000]
%26 = mul %18, %25 : float32[1000]
%27 = mul %26, %7 : float32[1000]
return %15, %27, %26, %24
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
%17 = sigmoid_slope %5 : float32[1000]
%18 = mul %9, %17 : float32[1000]
%19 = mul %18, %3 : float32[1000]
return %11, %19, %18, %16
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
%18 = amax_of_numbers %17 axes=(1) : float32[32]
%19 = reshape %18 : float32[32,1]
%20 = stop_gradient %19 : float32[32,1]
%21 = broadcast %20 axes=(0,1) : float32[32,10]
%22 = sub %17, %21 : float32[32,10]
%23 = exp %22 : float32[32,10]
%24 = sum %23 axes=(1) : float32[32]
%25 = reshape %24 : float32[32,1]
%26 = log %25 : float32[32,1]
%27 = broadcast %26 axes=(0,1) : float32[32,10]
%28 = sub %22, %27 : float32[32,10]
%29 = iota axis=1 : float32[32,10]
%30 = cast %5 : float32[32]
%31 = broadcast %30 axes=(0) : float32[32,10]
%32 = equal %29, %31 : bool[32,10]
%33 = constant 0 : float32[32,10]
%34 = where %32, %28, %33 : float32[32,10]
%35 = sum %34 axes=(1) : float32[32]
%36 = neg %35 : float32[32]
%37 = sum %36 axes=(0) : float32[]
%38 = constant 32 : float32[]
%39 = div %37, %38 : float32[]
%40 = constant 1 : float32[]
%41 = div %40, %38 : float32[]
%42 = broadcast %41 axes=() : float32[32]
%43 = neg %42 : float32[32]
%44 = broadcast %43 axes=(0) : float32[32,10]
%45 = constant 0 : float32[32,10]
%46 = where %32, %44, %45 : float32[32,10]
%47 = neg %46 : float32[32,10]
%48 = sum %47 axes=(1) : float32[32]
%49 = reshape %48 : float32[32,1]
%50 = div %49, %25 : float32[32,1]
%51 = reshape %50 : float32[32]
%52 = broadcast %51 axes=(0) : float32[32,10]
%53 = mul %52, %23 : float32[32,10]
%54 = add %46, %53 : float32[32,10]
%55 = sum %54 axes=(0) : float32[10]
%56 = permute %8 axes=(1,0) : float32[10,16]
%57 = matmul %54, %56 : float32[32,16]
%58 = permute %14 axes=(1,0) : float32[16,32]
%59 = matmul %58, %54 : float32[16,10]
%60 = constant 0 : float32[32,16]
%61 = less_equal %14, %60 : bool[32,16]
%62 = constant 0 : float32[32,16]
%63 = where %61, %62, %57 : float32[32,16]
%64 = sum %63 axes=(0) : float32[16]
%65 = permute %10 axes=(1,0) : float32[64,32]
%66 = matmul %65, %63 : float32[64,16]
return %39, %66, %64, %59, %55
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
%13 = amax_of_numbers %12 axes=(1) : float32[32]
%14 = reshape %13 : float32[32,1]
%15 = broadcast %14 axes=(0,1) : float32[32,10]
%16 = sub %12, %15 : float32[32,10]
%17 = exp %16 : float32[32,10]
%18 = sum %17 axes=(1) : float32[32]
%19 = reshape %18 : float32[32,1]
%20 = log %19 : float32[32,1]
%21 = iota axis=1 : float32[32,10]
%22 = cast %5 : float32[32]
%23 = broadcast %22 axes=(0) : float32[32,10]
%24 = equal %21, %23 : bool[32,10]
%25 = constant 0 : float32[32,10]
%26 = where %24, %12, %25 : float32[32,10]
%27 = sum %26 axes=(1) : float32[32]
%28 = sub %27, %13 : float32[32]
%29 = reshape %20 : float32[32]
%30 = sub %28, %29 : float32[32]
%31 = sum %30 axes=(0) : float32[]
%32 = neg %31 : float32[]
%33 = constant 0.03125 : float32[]
%34 = mul %32, %33 : float32[]
%35 = constant -0.03125 : float32[32,10]
%36 = where %24, %35, %25 : float32[32,10]
%37 = constant 0.03125 : float32[32,1]
%38 = div %37, %19 : float32[32,1]
%39 = reshape %38 : float32[32]
%40 = broadcast %39 axes=(0) : float32[32,10]
%41 = mul %40, %17 : float32[32,10]
%42 = add %36, %41 : float32[32,10]
%43 = sum %42 axes=(0) : float32[10]
%44 = permute %2 axes=(1,0) : float32[10,16]
%45 = matmul %42, %44 : float32[32,16]
%46 = permute %9 axes=(1,0) : float32[16,32]
%47 = matmul %46, %42 : float32[16,10]
%48 = constant 0 : float32[32,16]
%49 = less_equal %9, %48 : bool[32,16]
%50 = where %49, %48, %45 : float32[32,16]
%51 = sum %50 axes=(0) : float32[16]
%52 = permute %4 axes=(1,0) : float32[64,32]
%53 = matmul %52, %50 : float32[64,16]
return %34, %53, %51, %47, %43
)";

// ---- movement ----

constexpr auto shuffle = tn::compile([](auto x) { return tn::reshape<6, 4>(tn::permute<2, 0, 1>(tn::reshape<2, 3, 4>(x)) * 2.0); });
using shuffle_program = program_of<decltype(shuffle.function), floats<shape<24>>>;

constexpr const char* shuffle_traced = R"(%0 = input 0 : float32[24]
%1 = reshape %0 : float32[2,3,4]
%2 = permute %1 axes=(2,0,1) : float32[4,2,3]
%3 = constant 2 : float32[]
%4 = broadcast %3 axes=() : float32[4,2,3]
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
%2 = permute %1 axes=(1,0) : float32[3,4]
%3 = reshape %0 : float32[12]
%4 = reshape %3 : float32[4,3]
%5 = permute %0 axes=(1,0) : float32[4,3]
%6 = reshape %5 : float32[12]
return %2, %4, %6, %0
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
