// SPDX-License-Identifier: BSL-1.0
// Laws of kernels that run on pieces of a convolution, directly after these were computed.
#include <cstring>
#include <string>

#include <tenure/print.hpp>
#include <tenure/threads.hpp>

#include "../difference.hpp"
#include "agree.hpp"

using namespace laws;

namespace {

constexpr tn::conv last{.padding = 1, .layout = tn::nhwc}, strided{.stride = 2, .padding = 1, .layout = tn::nhwc}, first{.padding = 1};
constexpr tn::conv by_channel{.padding = 1, .groups = 24, .layout = tn::nhwc}, by_channel_first{.padding = 1, .groups = 24};

/// relu(convolution + bias), and the same in two programs.
template <tn::conv Options>
struct biased {
  template <class W, class B>
  static constexpr auto with(const auto& x, const W& w, const B& b) {
    if constexpr (Options.layout == tn::nchw) return relu(tn::conv2d<Options>(x, w, b));
    else return relu(tn::conv2d<Options>(x, w) + b);
  }
  constexpr auto operator()(auto x, auto w, auto b) const { return with(x, w, b); }
};
/// A normalization by given moments and a residual: scale and shift of each channel, and a sum.
template <tn::conv Options>
struct normalized {
  constexpr auto operator()(auto x, auto w, auto b, auto s, auto r) const { return relu((tn::conv2d<Options>(x, w) - b) * (s / sqrt(s * s + 1e-5f)) + r); }
};

template <class F, class... X>
int groups_of(const F&, const X&...) {
#if defined(__CUDACC__)
  return 1;
#else
  using program = tn::program<tn::detail::source_of<F, X...>>;
  int n = 0;
  for (int s = 0; s < program::step_count; ++s) n += program::groups.at[s].is_of_product() && program::tables.steps[s].op != tn::ir::opcode::matmul;
  return n;
#endif
}
template <class X>
difference same_bits(const X& a, const X& b) { return first_difference(a.data(), b.data(), a.size()); }

template <tn::conv Options, class X, class W, std::int64_t C>
void has_the_bits_of_steps(const X& x, const W& w, const tn::tensor<float, shape<C>>& b) {
  REQUIRE(groups_of(biased<Options>{}, x, w, b) == 1);
  const auto z = tn::compile([](auto x, auto w) { return tn::conv2d<Options>(x, w); })(x, w);
  const auto add = tn::compile([](auto z, auto b) { return relu(z + b); });
  const auto wanted = [&] {
    if constexpr (Options.layout == tn::nchw) return add(z, tn::eval(tn::reshape<C, 1, 1>(b)));
    else return add(z, b);
  }();
  CHECK(same_bits(tn::compile(biased<Options>{})(x, w, b), wanted));
  for (int threads : {1, 2, 3, 8}) {
    const tn::thread_pool pool(threads, 0);
    CHECK(same_bits(tn::compile(biased<Options>{}, pool)(x, w, b), wanted));
  }
  agrees(tn::compile(biased<Options>{}), 64.0, x, w, b);
}

}  // namespace

// Law: an epilogue has the bits of one step after the other, on any number of threads.
TEST_CASE("a kernel on pieces of a convolution has the bits of one step after the other") {
  const auto b = filled<float>(shape<40>{}, 3);
  SECTION("channels last") { has_the_bits_of_steps<last>(filled<float>(shape<3, 31, 30, 12>{}, 1), filled<float>(shape<3, 3, 12, 40>{}, 2), b); }
  SECTION("in steps of 2, images beyond a block") { has_the_bits_of_steps<strided>(filled<float>(shape<2, 99, 90, 3>{}, 1), filled<float>(shape<3, 3, 3, 40>{}, 2), b); }
  SECTION("each channel by itself, channels last") {
    has_the_bits_of_steps<by_channel>(filled<float>(shape<2, 47, 70, 24>{}, 1), filled<float>(shape<3, 3, 1, 24>{}, 2), filled<float>(shape<24>{}, 3));
  }
  SECTION("each channel by itself, channels first") {
    has_the_bits_of_steps<by_channel_first>(filled<float>(shape<2, 24, 47, 70>{}, 1), filled<float>(shape<24, 1, 3, 3>{}, 2), filled<float>(shape<24>{}, 3));
  }
  SECTION("channels first: the kernel reads images permuted") {
    has_the_bits_of_steps<first>(filled<float>(shape<6, 12, 31, 30>{}, 1), filled<float>(shape<40, 12, 3, 3>{}, 2), b);
  }
  SECTION("few channels first") { has_the_bits_of_steps<first>(filled<float>(shape<11, 3, 29, 31>{}, 1), filled<float>(shape<8, 3, 3, 3>{}, 2), filled<float>(shape<8>{}, 3)); }
}

TEST_CASE("a pool reads pieces of a convolution") {
  const auto x = filled<float>(shape<3, 32, 30, 12>{}, 1);
  const auto w = filled<float>(shape<3, 3, 12, 40>{}, 2);
  const auto pool = [](auto z) { return tn::max_pool2d<tn::pool{.size = 2, .layout = tn::nhwc}>(z); };
  const auto both = [](auto x, auto w) { return tn::max_pool2d<tn::pool{.size = 2, .layout = tn::nhwc}>(tn::conv2d<last>(x, w)); };
  REQUIRE(groups_of(both, x, w) == 1);
  const auto wanted = tn::compile(pool)(tn::compile([](auto x, auto w) { return tn::conv2d<last>(x, w); })(x, w));
  for (int threads : {1, 3}) {
    const tn::thread_pool on(threads, 0);
    CHECK(same_bits(tn::compile(both, on)(x, w), wanted));
  }
  agrees(tn::compile(both), 64.0, x, w);
}

TEST_CASE("a normalization and a residual run on pieces of a convolution, whose factors are computed before") {
  const auto x = filled<float>(shape<1, 37, 41, 16>{}, 1);
  const auto w = filled<float>(shape<3, 3, 16, 64>{}, 2);
  const auto b = filled<float>(shape<64>{}, 3), s = filled<float>(shape<64>{}, 4, 1.0, 2.0);
  auto r = filled<float>(shape<1, 37, 41, 64>{}, 5);
  REQUIRE(groups_of(normalized<last>{}, x, w, b, s, r) == 1);
  agrees(tn::compile(normalized<last>{}), 64.0, x, w, b, s, r);
  const auto wanted = tn::compile(normalized<last>{})(x, w, b, s, r);
  tn::compile(normalized<last>{}).into(r)(x, w, b, s, r);  // over the residual
  CHECK(same_bits(r, wanted));
  const auto text = to_text(tn::compile(normalized<last>{}).plan(x, w, b, s, r));
  CHECK(text.find("rows of step") != std::string::npos);
}

TEST_CASE("a kernel on pieces writes over what the convolution reads only where that is safe") {
  const auto w = filled<float>(shape<1, 1, 64, 64>{}, 2);
  const auto b = filled<float>(shape<64>{}, 3);
  auto x = filled<float>(shape<2, 40, 41, 64>{}, 1);
  constexpr tn::conv plain{.layout = tn::nhwc};
  REQUIRE(groups_of(biased<plain>{}, x, w, b) == 1);
  const auto wanted = tn::compile(biased<plain>{})(x, w, b);
  tn::compile(biased<plain>{}).into(x)(x, w, b);
  CHECK(same_bits(x, wanted));
}

TEST_CASE("a convolution that is read again, sums over its channels, and its gradients agree with the reference") {
  const auto x = filled<float>(shape<2, 37, 41, 8>{}, 1);
  const auto w = filled<float>(shape<3, 3, 8, 32>{}, 2);
  const auto b = filled<float>(shape<32>{}, 3);
  const auto kept = [](auto x, auto w, auto b) {
    const auto z = tn::conv2d<last>(x, w);
    return std::tuple{z, relu(z + b), sum(z + b, tn::axes<0, 1, 2>)};
  };
  agrees(tn::compile(kept), 4096.0, x, w, b);
  agrees(tn::grad<0, 1, 2>([](auto x, auto w, auto b) { return sum(square(relu(tn::conv2d<last>(x, w) + b))); }), 4096.0, x, w, b);
  const auto y = tn::compile(biased<last>{})(x, w, b);
  const auto each = tn::vmap<0, tn::unmapped, tn::unmapped>(biased<last>{})(x, w, b);
  CHECK(same_bits(y, each));
}

TEST_CASE("the number of images of a convolution with a kernel on its pieces may be known at run time only") {
  const auto w = filled<float>(shape<3, 3, 8, 32>{}, 2);
  const auto b = filled<float>(shape<32>{}, 3);
  for (const std::int64_t n : {1, 2, 9}) {
    INFO(n << " images");
    const auto x = filled<float>(shape<dyn, 37, 41, 8>{}, 1, n);
    agrees(tn::compile(biased<last>{}), 64.0, x, w, b);
  }
}
