// SPDX-License-Identifier: BSL-1.0
// checkpoint: the backward pass computes a function again instead of keeping what it computed.
#include "reference.hpp"

namespace tn = tenure;
using vector = tn::tensor<double, tn::shape<3>>;
template <std::int64_t... E>
using array = tn::tensor<double, tn::shape<E...>>;

namespace {

/// The function without a checkpoint, with one, and with one that keeps products.
struct as_it_is {
  static constexpr auto of(auto f) { return f; }
};
struct checkpointed {
  static constexpr auto of(auto f) { return tn::checkpoint(f); }
};
struct with_products {
  static constexpr auto of(auto f) { return tn::checkpoint(f, tn::save_products); }
};

/// Layers in two halves.
template <class Kind>
struct layers {
  constexpr auto operator()(auto weights, auto x) const {
    for (std::size_t half = 0; half < 2; ++half) {
      const auto one = [=](auto y) {
        const std::size_t layers = weights.size() / 2;
        for (std::size_t i = 0; i < layers; ++i) y = tn::tanh(tn::matmul(y, weights[layers * half + i]));
        return y;
      };
      x = Kind::of(one)(x);
    }
    return tn::sum(tn::square(x));
  }
};
/// The same with a longer activation, of which a derivative reads several values.
template <class Kind>
struct long_layers {
  constexpr auto operator()(auto weights, auto x) const {
    const auto layer = [](auto y, auto w) {
      const auto z = tn::matmul(y, w);
      return tn::sin(tn::tanh(z) * z) + tn::exp(-tn::square(z));
    };
    for (const auto& w : weights) x = Kind::of(layer)(x, w);
    return tn::sum(tn::square(x));
  }
};
/// Iterations with products. The carry has 16 elements, the inside of an iteration hundreds.
template <class Kind>
struct in_scan {
  constexpr auto operator()(auto w, auto xs) const {
    const auto iteration = [=](auto c, auto x) {
      const auto wide = tn::tanh(tn::matmul(tn::stack(c, x), w));
      return tn::sum(tn::tanh(tn::matmul(wide, w.transpose())), tn::axis<0>) + tn::sin(c);
    };
    const auto both = tn::scan([=](auto c, auto x) { return std::tuple{Kind::of(iteration)(c, x), tn::nothing}; }, xs[0], xs);
    return tn::sum(std::get<0>(both));
  }
};
/// Iterations in blocks, of which a checkpoint keeps nothing.
constexpr auto recurrence = [](auto w, auto c, auto xs) {
  return std::get<0>(tn::scan([=](auto k, auto x) { return std::tuple{tn::tanh(tn::matmul(w, k) + x), tn::nothing}; }, c, xs));
};
struct in_blocks {
  constexpr auto operator()(auto w, auto blocks) const {
    const auto block = [=](auto c, auto xs) { return std::tuple{tn::checkpoint(recurrence)(w, c, xs), tn::nothing}; };
    return tn::sum(std::get<0>(tn::scan(block, blocks[0][0], blocks)));
  }
};
struct in_one {
  constexpr auto operator()(auto w, auto xs) const { return tn::sum(recurrence(w, xs[0], xs)); }
};
template <class Kind>
struct nested {
  constexpr auto operator()(auto x, auto y) const {
    const auto inner = Kind::of([=](auto a) { return tn::sin(a * y) * a; });
    const auto branch = [=](auto a) { return tn::cond(tn::sum(a) > 0.0, inner, [](auto b) { return b; }, a); };
    const auto outer = Kind::of([=](auto a) { return inner(tn::exp(inner(a) * 0.1)) + branch(a); });
    return tn::sum(outer(x) * y);
  }
};
template <class F>
struct second {
  constexpr auto operator()(auto x, auto y) const {
    const auto along = [](auto a, auto b) { return tn::sum(tn::grad<0>(F{})(a, b) * b); };
    const auto of_batch = [](auto xs, auto ys) { return tn::sum(tn::vmap(F{})(xs, ys)); };
    const auto xs = tn::stack(x, y), ys = tn::stack(y, x);
    return std::tuple{tn::value_and_grad<0, 1>(F{})(x, y), tn::grad<0, 1>(along)(x, y), tn::jvp(tn::grad<0>(F{}))(x, y, y, x),
                      tn::jvp(F{})(x, y, y, x), tn::vmap([](auto a, auto b) { return tn::grad<0>(F{})(a, b); })(xs, ys),
                      tn::grad<0, 1>(of_batch)(xs, ys)};
  }
};

template <class A, class B, class... X>
void same(const char* what, A f, B g, const X&... x) {
  INFO(what);
  const auto found = judged::interpreted(f, x...), expected = judged::interpreted(g, x...);
  REQUIRE(found.size() == expected.size());
  for (std::size_t r = 0; r < found.size(); ++r)
    for (std::int64_t i = 0; i < expected[r].size(); ++i) {
      INFO("result " << r << " element " << i);
      CHECK(found[r][i] == Approx(expected[r][i]).epsilon(1e-12).margin(1e-12));
    }
}

template <class F>
using gradients = std::remove_const_t<decltype(tn::value_and_grad<0>(F{}))>;

}  // namespace

TEST_CASE("Law: checkpoint changes no value and no gradient but for rounding") {
  const vector x{0.3, -0.7, 1.1}, y{0.5, 0.2, -0.4};
  same("nested", second<nested<checkpointed>>{}, second<nested<as_it_is>>{}, x, y);
  same("nested, products", second<nested<with_products>>{}, second<nested<as_it_is>>{}, x, y);
  const array<2, 3> w{{0.2, -0.5, 0.7}, {0.3, 0.1, -0.6}};
  const array<4, 2> xs{{0.1, 0.5}, {-0.3, 0.2}, {0.9, -0.7}, {0.4, 0.6}};
  same("scan", gradients<in_scan<checkpointed>>{}.function, gradients<in_scan<as_it_is>>{}.function, w, xs);
  same("scan, products", gradients<in_scan<with_products>>{}.function, gradients<in_scan<as_it_is>>{}.function, w, xs);
  same("at once", tn::checkpoint(second<nested<as_it_is>>{}).function, second<nested<as_it_is>>{}, x, y);
}

TEST_CASE("a checkpoint with extents that are known when the program runs, and with an index that it computes") {
  const tn::tensor<double, tn::shape<tn::dyn>> x = tn::ones<double>(tn::shape<tn::dyn>{}, 4);
  const auto loss = [](auto x, auto i) { return tn::checkpoint([=](auto a) { return tn::sum(tn::sin(a) * a) + tn::gather<0>(a, i + 1); })(x); };
  const auto slope = tn::grad(loss);
  const auto g = slope(x, std::int64_t{2});
  for (int i = 0; i < 4; ++i) CHECK(g.data()[i] == Approx(std::sin(1.0) + std::cos(1.0) + (i == 3)));
  CHECK_THROWS_AS(slope(x, std::int64_t{3}), tn::index_error);
  CHECK_THROWS_AS(tn::compile(loss)(x, std::int64_t{3}), tn::index_error);
}

TEST_CASE("gradients of layers have the same bits") {
  std::array<array<8, 8>, 4> weights;
  tn::engine random(1);
  for (auto& w : weights) w = tn::uniform<double>(tn::shape<8, 8>{}, random, -0.7, 0.7);
  const auto x = tn::uniform<double>(tn::shape<4, 8>{}, random, -1.0, 1.0);
  const auto [value, g] = gradients<layers<as_it_is>>{}(weights, x);
  const auto [again, h] = gradients<layers<checkpointed>>{}(weights, x);
  CHECK(again.item() == value.item());
  for (std::size_t i = 0; i < 4; ++i)
    for (int k = 0; k < 64; ++k) CHECK(h[i].data()[k] == g[i].data()[k]);
}

TEST_CASE("a gradient through a checkpoint needs less memory") {
  using weights_type = std::array<array<64, 64>, 8>;
  using all = decltype(gradients<layers<as_it_is>>{}.plan(weights_type{}, array<32, 64>()));
  using halves = decltype(gradients<layers<checkpointed>>{}.plan(weights_type{}, array<32, 64>()));
  CAPTURE(all::workspace_bytes(), halves::workspace_bytes());
  CHECK(halves::workspace_bytes() < all::workspace_bytes());
  // Most of the products of the forward half are computed again: they are a third of the work.
  CHECK(halves::flops() > all::flops() + all::flops() / 4);

  using four = std::array<array<64, 64>, 4>;
  using every = decltype(gradients<long_layers<as_it_is>>{}.plan(four{}, array<32, 64>()));
  using inputs = decltype(gradients<long_layers<checkpointed>>{}.plan(four{}, array<32, 64>()));
  using products = decltype(gradients<long_layers<with_products>>{}.plan(four{}, array<32, 64>()));
  CAPTURE(every::workspace_bytes(), inputs::workspace_bytes(), products::workspace_bytes());
  CHECK(inputs::workspace_bytes() < every::workspace_bytes() / 2);
  CHECK(products::workspace_bytes() < every::workspace_bytes() * 2 / 3);
  CHECK(products::flops() < every::flops() + every::flops() / 50);  // no product is computed again
}

namespace {
template <class Kind, std::int64_t TripCount>
constexpr std::int64_t bytes_of_scan = decltype(gradients<in_scan<Kind>>{}.plan(array<16, 64>(), array<TripCount, 16>()))::workspace_bytes();
template <std::int64_t TripCount>
constexpr std::int64_t bytes_of_iterations = decltype(gradients<in_one>{}.plan(array<16, 16>(), array<TripCount, 16>()))::workspace_bytes();
template <std::int64_t Blocks>  // of as many iterations
constexpr std::int64_t bytes_of_blocks = decltype(gradients<in_blocks>{}.plan(array<16, 16>(), array<Blocks, Blocks, 16>()))::workspace_bytes();
template <class Kind>
constexpr std::int64_t bytes_per_iteration = (bytes_of_scan<Kind, 1024> - bytes_of_scan<Kind, 512>) / 512;  // so many that products need equal scratch memory, with packets of any width
}  // namespace

TEST_CASE("a scan over checkpointed blocks keeps the carry of each block, and the iterations of one block") {
  constexpr std::int64_t trip_count = bytes_of_iterations<1024>, blocks = bytes_of_blocks<32>;
  CAPTURE(trip_count, blocks);
  CHECK(trip_count > 1024 * 3 * 128);                  // the carry, tanh and the factor of the gradient of w, of each iteration
  CHECK(blocks < 32 * 128 + 32 * 3 * 128 + 8192);  // the carries of the blocks, then the same for 32 iterations, and what does not grow
}

TEST_CASE("Law: the peak of a checkpointed scan of n iterations is O(sqrt n)") {
  constexpr std::int64_t of_256 = bytes_of_blocks<16>, of_1024 = bytes_of_blocks<32>, of_4096 = bytes_of_blocks<64>;
  CAPTURE(of_256, of_1024, of_4096);
  CHECK(of_4096 <= 4 * of_256);  // 16 times the iterations
  CHECK(of_4096 > 2 * of_256);
  CHECK(of_4096 - of_1024 == 2 * (of_1024 - of_256));  // what grows: 64, 32 and 16 times the same. O(n) gives 4
  CHECK(bytes_of_iterations<1024> - bytes_of_iterations<256> > 30 * (of_1024 - of_256));
}

TEST_CASE("the gradient of a scan keeps the carry of a checkpointed iteration, and nothing from within") {
  CHECK(bytes_per_iteration<checkpointed> == 16 * 8);
  constexpr std::int64_t kept = 16 + 2 * 2 * 64 + 2 * 16, factors = 2 * 64 + 2 * 16 + 2 * 16;  // the third factor of two products is kept; the wide tanh, and what its slope reads
  CHECK(bytes_per_iteration<as_it_is> == (kept + factors) * 8);
}
