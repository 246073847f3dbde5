// SPDX-License-Identifier: BSL-1.0
// conv1d, conv2d and their transposed forms: values against loops in long double, derivatives by differences and by the adjoint, batches, extreme extents.
#include "agree.hpp"

#include "../control_flow/reference.hpp"

#include <array>
#include <random>

#include <tenure/threads.hpp>

namespace {
namespace tn = tenure;

template <class T, std::int64_t... E>
using array = tn::tensor<T, tn::shape<E...>>;
template <class T, std::int64_t... E>
array<T, E...> numbers(tn::shape<E...>, unsigned seed) {
  array<T, E...> x = tn::zeros<T>(tn::shape<E...>{});
  std::mt19937 engine(seed);
  for (T& e : tn::as_span(x)) e = static_cast<T>(static_cast<int>(engine() % 2001) - 1000) / T(1000);
  return x;
}

/// The convolution as PyTorch defines it, in loops: the judge, which shares no code with the library.
template <class T>
std::vector<long double> by_loops(const T* x, const std::array<std::int64_t, 4>& of_x, const T* w, const std::array<std::int64_t, 4>& of_w, const tn::conv& o,
                                  const std::array<std::int64_t, 2>& before, std::int64_t rows, std::int64_t columns) {
  std::vector<long double> y;
  const std::int64_t results_of_group = of_w[0] / o.groups;
  for (std::int64_t n = 0; n < of_x[0]; ++n)
    for (std::int64_t r = 0; r < of_w[0]; ++r)
      for (std::int64_t i = 0; i < rows; ++i)
        for (std::int64_t j = 0; j < columns; ++j) {
          long double sum = 0;
          for (std::int64_t c = 0; c < of_w[1]; ++c)
            for (std::int64_t u = 0; u < of_w[2]; ++u)
              for (std::int64_t v = 0; v < of_w[3]; ++v) {
                const std::int64_t h = i * o.stride.at[0] + u * o.dilation.at[0] - before[0], k = j * o.stride.at[1] + v * o.dilation.at[1] - before[1];
                if (h < 0 || h >= of_x[2] || k < 0 || k >= of_x[3]) continue;
                const std::int64_t channel = r / results_of_group * of_w[1] + c;
                sum += static_cast<long double>(x[((n * of_x[1] + channel) * of_x[2] + h) * of_x[3] + k]) * static_cast<long double>(w[((r * of_w[1] + c) * of_w[2] + u) * of_w[3] + v]);
              }
          y.push_back(sum);
        }
  return y;
}

template <tn::conv Options>
struct convolved {
  constexpr auto operator()(auto x, auto w) const { return tn::conv2d<Options>(x, w); }
};
/// <g, conv(x, w)> as a function of x and w, whose gradients are the pulled cotangents.
template <tn::conv Options>
struct paired {
  constexpr auto operator()(auto x, auto w, auto g) const { return tn::sum(g * tn::conv2d<Options>(x, w)); }
};

/// Values by loops. The gradients are judged by bilinearity: <g, conv(x, w)> = <x, pulled by x> = <w, pulled by w>, for several g; and each element of them
/// by the loops with one element of x or w that is 1.
template <tn::conv Options, class T, std::int64_t N, std::int64_t C, std::int64_t H, std::int64_t W, std::int64_t O, std::int64_t E, std::int64_t U, std::int64_t V>
void check(tn::shape<N, C, H, W> of_x, tn::shape<O, E, U, V> of_w) {
  CAPTURE(N, C, H, W, O, E, U, V, sizeof(T));
  const auto x = numbers<T>(of_x, 1);
  const auto w = numbers<T>(of_w, 2);
  const auto y = tn::compile(convolved<Options>{})(x, w);
  const std::int64_t rows = y.extent(2), columns = y.extent(3);
  const std::array<std::int64_t, 2> before{Options.padding.zeros.at[0], Options.padding.zeros.at[1]};
  const auto wanted = by_loops(x.data(), {N, C, H, W}, w.data(), {O, E, U, V}, Options, before, rows, columns);
  REQUIRE(static_cast<std::size_t>(y.size()) == wanted.size());
  const double tolerance = (sizeof(T) == 4 ? 3e-7 : 1e-15) * std::sqrt(static_cast<double>(E * U * V + 1)) * 4;
  double worst = 0;
  for (std::size_t e = 0; e < wanted.size(); ++e) worst = std::max(worst, static_cast<double>(std::abs(wanted[e] - static_cast<long double>(y.data()[e]))));
  CHECK(worst < tolerance);

  auto g = tn::zeros_like(y);
  std::mt19937 engine(3);
  for (T& e : tn::as_span(g)) e = static_cast<T>(static_cast<int>(engine() % 2001) - 1000) / T(1000);
  const auto [of_image, of_taps] = tn::grad<0, 1>(paired<Options>{})(x, w, g);
  // The judge of a gradient: the loops give <g, conv(unit, w)>. All elements of small ones, and some of the others.
  const double slack = tolerance * std::sqrt(static_cast<double>(y.size()));
  const auto judge = [&](const auto& gradient, auto unit, bool is_image) {
    const std::int64_t size = gradient.size(), some = 60 / quick::share, step = size > some ? size / some : 1;
    double off = 0;
    for (std::int64_t e = 0; e < size; e += step) {
      for (T& other : tn::as_span(unit)) other = 0;
      tn::as_span(unit)[static_cast<std::size_t>(e)] = 1;
      const auto z = by_loops(is_image ? unit.data() : x.data(), {N, C, H, W}, is_image ? w.data() : unit.data(), {O, E, U, V}, Options, before, rows, columns);
      long double sum = 0;
      for (std::size_t i = 0; i < z.size(); ++i) sum += z[i] * static_cast<long double>(g.data()[i]);
      off = std::max(off, static_cast<double>(std::abs(sum - static_cast<long double>(gradient.data()[e]))));
    }
    CHECK(off < slack);
  };
  judge(of_image, tn::zeros_like(x), true);
  judge(of_taps, tn::zeros_like(w), false);
}
}  // namespace

TEMPLATE_TEST_CASE("Law: conv2d and its gradients are those of loops, for each stride, padding, dilation and number of groups", "", TENURE_LAW_TYPES) {
  using T = TestType;
  using tn::shape;
  check<tn::conv{}, T>(shape<2, 3, 7, 9>{}, shape<5, 3, 3, 2>{});
  check<tn::conv{.padding = 1}, T>(shape<2, 16, 6, 33>{}, shape<20, 16, 3, 3>{});
  check<tn::conv{.stride = 2, .padding = {1, 2}}, T>(shape<1, 4, 9, 12>{}, shape<7, 4, 3, 4>{});
  check<tn::conv{.stride = 2, .padding = {1, 2}}, T>(shape<2, 3, 7, 30>{}, shape<11, 3, 3, 4>{});  // few channels, whose positions fill the lanes
  check<tn::conv{}, T>(shape<40, 8, 5, 4>{}, shape<50, 8, 3, 3>{});                 // more images than positions
  check<tn::conv{.stride = {3, 2}}, T>(shape<3, 2, 11, 10>{}, shape<4, 2, 2, 3>{});       // rows of x that no tap reads
  if constexpr (sizeof(T) == 8) {  // of float one of each kernel
    check<tn::conv{.padding = 2, .dilation = {2, 1}}, T>(shape<2, 5, 8, 7>{}, shape<3, 5, 3, 3>{});
    check<tn::conv{.stride = 2, .padding = 1, .dilation = 2}, T>(shape<2, 6, 12, 11>{}, shape<4, 6, 3, 3>{});
    check<tn::conv{.padding = 1, .groups = 2}, T>(shape<2, 6, 5, 6>{}, shape<8, 3, 3, 3>{});
    check<tn::conv{.stride = 2, .padding = 1, .groups = 6}, T>(shape<2, 6, 7, 6>{}, shape<6, 1, 3, 3>{});
    check<tn::conv{.groups = 3}, T>(shape<1, 3, 5, 6>{}, shape<6, 1, 2, 2>{});
    check<tn::conv{.padding = {2, 0}, .dilation = {1, 3}}, T>(shape<2, 1, 5, 40>{}, shape<9, 1, 5, 2>{});
    check<tn::conv{.stride = {3, 1}}, T>(shape<1, 4, 12, 14>{}, shape<2, 4, 1, 1>{});
    check<tn::conv{.padding = {0, 3}, .dilation = {1, 2}, .groups = 4}, T>(shape<3, 4, 5, 19>{}, shape<8, 1, 2, 4>{});
    check<tn::conv{.padding = 1, .dilation = 2048, .groups = 2}, T>(shape<1, 2, 1, 1>{}, shape<2, 1, 1, 1>{});  // beyond the options of depthwise
    check<tn::conv{}, T>(shape<1, 40, 3, 3>{}, shape<130, 40, 1, 1>{});
  }
}

TEST_CASE("Law: conv2d with channels last is conv2d with channels first, permuted, and a padding by name is its numbers") {
  const auto x = numbers<double>(tn::shape<2, 3, 8, 7>{}, 1);
  const auto w = numbers<double>(tn::shape<4, 3, 3, 2>{}, 2);
  const auto [first, last, padded, same, causal] = tn::compile([](auto x, auto w) {
    constexpr tn::conv options{.stride = {2, 1}, .padding = {1, 0}}, with_last{.stride = {2, 1}, .padding = {1, 0}, .layout = tn::nhwc};
    const auto last = tn::conv2d<with_last>(tn::permute<0, 2, 3, 1>(x), tn::permute<2, 3, 1, 0>(w));
    // TensorFlow's "same": 8 rows in steps of 2 are 4 results, which read 9 rows; 7 columns with two taps read 8. The more is at the end.
    return std::tuple{tn::conv2d<options>(x, w), tn::permute<0, 3, 1, 2>(last), tn::conv2d<tn::conv{.stride = {2, 1}}>(tn::pad<2, 0, 1>(tn::pad<3, 0, 1>(x)), w),
                      tn::conv2d<tn::conv{.stride = {2, 1}, .padding = tn::same}>(x, w), tn::conv2d<tn::conv{.padding = tn::causal}>(x, w)};
  })(x, w);
  const auto agree = [](const auto& a, const auto& b) {
    REQUIRE(a.size() == b.size());
    for (std::int64_t i = 0; i < a.size(); ++i) CHECK(a.data()[i] == Approx(b.data()[i]).margin(1e-14));
  };
  agree(last, first);
  agree(same, padded);
  const tn::tensor by_pad = tn::conv2d(tn::pad<2, 2, 0>(tn::pad<3, 1, 0>(x)), w);
  agree(causal, by_pad);
}

namespace {
/// Value and gradients of a convolution of each channel by itself, in both layouts.
template <tn::conv First, tn::conv Last, std::int64_t Channels, std::int64_t Multiple>
void check_layouts() {
  const auto x = numbers<double>(tn::shape<2, Channels, 9, 7>{}, 1);
  const auto w = numbers<double>(tn::shape<Channels * Multiple, 1, 3, 2>{}, 2);
  constexpr auto first = [](auto x, auto w) { return tn::sum(tn::sin(tn::conv2d<First>(x, w))); };
  constexpr auto last = [](auto x, auto w) { return tn::sum(tn::sin(tn::conv2d<Last>(tn::permute<0, 2, 3, 1>(x), tn::permute<2, 3, 1, 0>(w)))); };
  const tn::tensor value_first = tn::conv2d<First>(x, w), value_last = tn::permute<0, 3, 1, 2>(tn::conv2d<Last>(tn::permute<0, 2, 3, 1>(x), tn::permute<2, 3, 1, 0>(w)));
  const auto a = tn::value_and_grad<0, 1>(first)(x, w), b = tn::value_and_grad<0, 1>(last)(x, w);
  const auto agree = [](const auto& a, const auto& b) {
    REQUIRE(a.size() == b.size());
    for (std::int64_t i = 0; i < a.size(); ++i) CHECK(a.data()[i] == Approx(b.data()[i]).margin(1e-12));
  };
  agree(value_first, value_last), agree(std::get<1>(a), std::get<1>(b)), agree(std::get<2>(a), std::get<2>(b));
  CHECK(std::get<0>(a).item() == Approx(std::get<0>(b).item()));
}
}  // namespace
TEST_CASE("Law: the convolution of each channel by itself, with channels last, is the same with channels first, permuted: value and gradients, one result for each channel and more") {
  check_layouts<tn::conv{.stride = 2, .padding = 1, .groups = 18}, tn::conv{.stride = 2, .padding = 1, .groups = 18, .layout = tn::nhwc}, 18, 1>();
  check_layouts<tn::conv{.padding = tn::same, .dilation = {1, 2}, .groups = 3}, tn::conv{.padding = tn::same, .dilation = {1, 2}, .groups = 3, .layout = tn::nhwc}, 3, 4>();
}

TEST_CASE("Law: <g, conv(x, w)> = <conv_transpose(g, w), x>, with strides, padding and groups") {
  const auto check_adjoint = []<tn::conv Options>(auto x, auto w) {
    const tn::tensor y = tn::conv2d<Options>(x, w);
    auto g = tn::zeros_like(y);
    std::mt19937 engine(5);
    for (double& e : tn::as_span(g)) e = static_cast<int>(engine() % 2001) * 1e-3 - 1;
    const tn::tensor back = tn::conv_transpose2d<Options>(g, w);
    REQUIRE(back.size() == x.size());
    double left = 0, right = 0;
    for (std::int64_t i = 0; i < y.size(); ++i) left += y.data()[i] * g.data()[i];
    for (std::int64_t i = 0; i < x.size(); ++i) right += back.data()[i] * x.data()[i];
    CHECK(left == Approx(right).epsilon(1e-12));
  };
  check_adjoint.operator()<tn::conv{}>(numbers<double>(tn::shape<2, 3, 6, 5>{}, 1), numbers<double>(tn::shape<4, 3, 3, 2>{}, 2));
  check_adjoint.operator()<tn::conv{.stride = {2, 3}, .padding = {1, 0}}>(numbers<double>(tn::shape<2, 3, 5, 8>{}, 1), numbers<double>(tn::shape<4, 3, 3, 2>{}, 2));
  check_adjoint.operator()<tn::conv{.stride = 2, .padding = 1, .groups = 2}>(numbers<double>(tn::shape<1, 4, 7, 5>{}, 1), numbers<double>(tn::shape<6, 2, 3, 3>{}, 2));
  check_adjoint.operator()<tn::conv{.stride = 2, .padding = {0, 1}, .groups = 4}>(numbers<double>(tn::shape<2, 4, 7, 5>{}, 1), numbers<double>(tn::shape<4, 1, 3, 3>{}, 2));
  check_adjoint.operator()<tn::conv{.stride = 2, .padding = 1, .groups = 2}>(numbers<double>(tn::shape<1, 2, 7, 5>{}, 1), numbers<double>(tn::shape<6, 1, 3, 3>{}, 2));
  check_adjoint.operator()<tn::conv{.stride = 3}>(numbers<double>(tn::shape<1, 2, 7, 4>{}, 1), numbers<double>(tn::shape<3, 2, 1, 1>{}, 2));  // remainders without taps
}

namespace {
constexpr auto curved = [](auto x, auto w) { return tn::sum(tn::sin(tn::conv2d<tn::conv{.stride = {2, 1}, .padding = 1, .dilation = {1, 2}}>(x, w))); };
}
TEST_CASE("second derivatives of conv2d: forward over reverse by differences, and by the reference") {
  const auto x = numbers<double>(tn::shape<2, 2, 5, 7>{}, 1), v = numbers<double>(tn::shape<2, 2, 5, 7>{}, 3);
  const auto w = numbers<double>(tn::shape<3, 2, 3, 3>{}, 2);
  constexpr auto gradient = tn::grad<0, 1>(curved);
  const double h = 1e-6;
  const tn::tensor up = x + h * v, down = x - h * v;
  const auto [up_x, up_w] = gradient(up, w);
  const auto [down_x, down_w] = gradient(down, w);
  const auto pushed = tn::jvp<0>(gradient)(x, w, v);
  const auto& [of_x, of_w] = std::get<1>(pushed);
  for (std::int64_t i = 0; i < x.size(); ++i) CHECK(of_x.data()[i] == Approx((up_x.data()[i] - down_x.data()[i]) / (2 * h)).epsilon(1e-6).margin(1e-7));
  for (std::int64_t i = 0; i < w.size(); ++i) CHECK(of_w.data()[i] == Approx((up_w.data()[i] - down_w.data()[i]) / (2 * h)).epsilon(1e-6).margin(1e-7));
  judged::agree(gradient(x, w), judged::by_reference(gradient, x, w), 1e-12);
}

namespace {
constexpr auto curved_by_channels = [](auto x, auto w) { return tn::sum(tn::sin(tn::conv2d<tn::conv{.stride = {2, 1}, .padding = 1, .dilation = {1, 2}, .groups = 2}>(x, w))); };
}
TEST_CASE("second derivatives of conv2d of few channels: by the reference; a batch of models; and the same bits for an image alone, and on threads") {
  const auto x = numbers<double>(tn::shape<3, 2, 5, 31>{}, 1), v = numbers<double>(tn::shape<3, 2, 5, 31>{}, 3);
  const auto w = numbers<double>(tn::shape<3, 2, 3, 3>{}, 2);
  constexpr auto gradient = tn::grad<0, 1>([](auto x, auto w) { return tn::sum(tn::sin(tn::conv2d<tn::conv{.stride = {1, 2}, .padding = 1}>(x, w))); });
  constexpr auto pushed = [](auto x, auto w, auto v) { return tn::jvp<0>(tn::grad<0, 1>([](auto x, auto w) { return tn::sum(tn::sin(tn::conv2d<tn::conv{.stride = {1, 2}, .padding = 1}>(x, w))); }))(x, w, v); };
  judged::agree(gradient(x, w), judged::by_reference(gradient, x, w), 1e-12);
  const auto [value, tangent] = tn::compile(pushed)(x, w, v);
  const double h = 1e-6;
  const tn::tensor up = x + h * v, down = x - h * v;
  const auto [up_x, up_w] = gradient(up, w);
  const auto [down_x, down_w] = gradient(down, w);
  for (std::int64_t i = 0; i < x.size(); ++i) CHECK(std::get<0>(tangent).data()[i] == Approx((up_x.data()[i] - down_x.data()[i]) / (2 * h)).epsilon(1e-6).margin(1e-7));
  for (std::int64_t i = 0; i < w.size(); ++i) CHECK(std::get<1>(tangent).data()[i] == Approx((up_w.data()[i] - down_w.data()[i]) / (2 * h)).epsilon(1e-6).margin(1e-7));

  constexpr auto f = [](const auto& x, const auto& w) { return tn::conv2d<tn::conv{.padding = 1}>(x, w); };
  const auto models = numbers<double>(tn::shape<2, 3, 2, 3, 3>{}, 4);
  const auto many = tn::vmap<tn::unmapped, 0>(f)(x, models);
  const auto of_models = tn::grad<1>([](const auto& x, const auto& w) { return tn::sum(tn::square(tn::vmap<tn::unmapped, 0>([](const auto& x, const auto& w) { return tn::conv2d<tn::conv{.padding = 1}>(x, w); })(x, w))); })(x, models);
  const tn::thread_pool threads(3);
  for (int m = 0; m < 2; ++m) {
    const tn::tensor own = f(x, models[m]);
    CHECK(std::equal(own.data(), own.data() + own.size(), many.data() + m * own.size()));
    const auto of_model = tn::grad<1>([](const auto& x, const auto& w) { return tn::sum(tn::square(tn::conv2d<tn::conv{.padding = 1}>(x, w))); })(x, models[m]);
    for (std::int64_t i = 0; i < of_model.size(); ++i) CHECK(of_models.data()[m * of_model.size() + i] == Approx(of_model.data()[i]).margin(1e-12));
    const auto divided = tn::compile(f, threads)(x, models[m]);
    CHECK(std::equal(own.data(), own.data() + own.size(), divided.data()));
    const tn::tensor alone = f(x[tn::window<1>(2)], models[m]);
    CHECK(std::equal(alone.data(), alone.data() + alone.size(), own.data() + 2 * alone.size()));
  }
}

TEST_CASE("second derivatives of the convolution of each channel by itself: by the reference, and forward over reverse by differences") {
  const auto x = numbers<double>(tn::shape<2, 2, 5, 7>{}, 1), v = numbers<double>(tn::shape<2, 2, 5, 7>{}, 3);
  const auto w = numbers<double>(tn::shape<2, 1, 3, 3>{}, 2), u = numbers<double>(tn::shape<2, 1, 3, 3>{}, 4);
  constexpr auto gradient = tn::grad<0, 1>(curved_by_channels);
  const double h = 1e-6;
  const tn::tensor up = x + h * v, down = x - h * v;
  const tn::tensor more = w + h * u, less = w - h * u;
  const auto [up_x, up_w] = gradient(up, more);
  const auto [down_x, down_w] = gradient(down, less);
  const auto pushed = tn::jvp<0, 1>(gradient)(x, w, v, u);
  const auto& [of_x, of_w] = std::get<1>(pushed);
  for (std::int64_t i = 0; i < x.size(); ++i) CHECK(of_x.data()[i] == Approx((up_x.data()[i] - down_x.data()[i]) / (2 * h)).epsilon(1e-6).margin(1e-7));
  for (std::int64_t i = 0; i < w.size(); ++i) CHECK(of_w.data()[i] == Approx((up_w.data()[i] - down_w.data()[i]) / (2 * h)).epsilon(1e-6).margin(1e-7));
  judged::agree(gradient(x, w), judged::by_reference(gradient, x, w), 1e-12);
}
TEST_CASE("Law: the bits of each image do not depend on the number of threads, nor on the other images: each channel by itself, with none, one and six images, and a batch of models") {
  const auto w = numbers<float>(tn::shape<20, 1, 3, 3>{}, 2);
  const auto all = numbers<float>(tn::shape<6, 20, 28, 26>{}, 1);
  constexpr auto f = [](const auto& x, const auto& w) { return tn::conv2d<tn::conv{.padding = 1, .groups = 20}>(x, w); };
  constexpr auto gradients = [](const auto& x, const auto& w) { return tn::sum(tn::square(tn::conv2d<tn::conv{.padding = 1, .groups = 20}>(x, w))); };
  const tn::tensor wanted = f(all, w);
  const tn::thread_pool threads(3);
  for (const std::int64_t n : {0, 1, 6}) {
    CAPTURE(n);
    auto x = tn::zeros<float>(tn::shape<tn::dyn, 20, 28, 26>{}, n);
    std::copy_n(all.data(), x.size(), tn::as_span(x).begin());
    const auto y = tn::compile(f, threads)(x, w);
    REQUIRE(y.extent(0) == n);
    CHECK(std::equal(y.data(), y.data() + y.size(), wanted.data()));
    const auto [dx, dw] = tn::grad<0, 1>(gradients)(x, w);
    const auto [same_x, same_w] = tn::grad<0, 1>(gradients, threads)(x, w);
    CHECK(std::equal(dx.data(), dx.data() + dx.size(), same_x.data()));
    CHECK(std::equal(dw.data(), dw.data() + dw.size(), same_w.data()));
  }
  const auto models = numbers<float>(tn::shape<2, 20, 1, 3, 3>{}, 4);
  const auto many = tn::vmap<tn::unmapped, 0>(f)(all, models);
  for (int m = 0; m < 2; ++m) {
    const tn::tensor own = f(all, models[m]);
    CHECK(std::equal(own.data(), own.data() + own.size(), many.data() + m * own.size()));
  }
}

namespace {
constexpr auto layer = [](const auto& x, const auto& w, const auto& b) { return tn::max_pool2d<2>(tn::relu(tn::conv2d<tn::conv{.padding = tn::same}>(x, w, b))); };
}
TEST_CASE("conv2d: a number of images that is known at run time, none, one; a batch of models; bfloat16; a NaN stays in its image") {
  const auto w = numbers<float>(tn::shape<5, 3, 3, 3>{}, 2);
  const auto b = numbers<float>(tn::shape<5>{}, 3);
  const auto all = numbers<float>(tn::shape<6, 3, 8, 6>{}, 1);
  constexpr auto compiled = tn::compile(layer);
  const tn::tensor wanted = layer(all, w, b);
  for (const std::int64_t n : {0, 1, 5, 6}) {
    CAPTURE(n);
    auto x = tn::zeros<float>(tn::shape<tn::dyn, 3, 8, 6>{}, n);
    std::copy_n(all.data(), x.size(), tn::as_span(x).begin());
    const auto y = compiled(x, w, b);
    REQUIRE(y.extent(0) == n);
    CHECK(std::equal(y.data(), y.data() + y.size(), wanted.data()));
  }
  const auto models = numbers<float>(tn::shape<4, 5, 3, 3, 3>{}, 4);
  const auto many = tn::vmap<tn::unmapped, 0, tn::unmapped>(layer)(all, models, b);
  for (int m = 0; m < 4; ++m) {
    const tn::tensor own = layer(all, models[m], b);
    for (std::int64_t i = 0; i < own.size(); ++i) CHECK(many.data()[m * own.size() + i] == Approx(own.data()[i]).margin(1e-5));
  }
  const tn::tensor narrow = tn::conv2d(tn::cast<tn::bfloat16>(all), tn::cast<tn::bfloat16>(w));
  const tn::tensor wide = tn::cast<tn::bfloat16>(tn::conv2d(tn::cast<float>(tn::cast<tn::bfloat16>(all)), tn::cast<float>(tn::cast<tn::bfloat16>(w))));
  CHECK(std::equal(narrow.data(), narrow.data() + narrow.size(), wide.data()));
  auto broken = tn::tensor(all + 0.0f);
  tn::as_span(broken)[3 * 8 * 6 + 7] = std::numeric_limits<float>::quiet_NaN();
  const auto y = compiled(broken, w, b);
  const std::int64_t size = y.size() / 6;
  for (std::int64_t i = 0; i < y.size(); ++i)
    if (i / size != 1) CHECK(y.data()[i] == wanted.data()[i]);
  CHECK(std::any_of(y.data() + size, y.data() + 2 * size, [](float e) { return e != e; }));
}

TEST_CASE("Law: the result of an image does not depend on what other images hold, nor on the number of threads: taps as wide as the image, one of many, few") {
  const auto check_alone = [](const auto& x, const auto& w) {
    const tn::tensor all = tn::conv2d(x, w);
    for (const int n : {0, 3, 32}) {
      auto others = (x * -3.0f).clone();
      const std::int64_t size = x.size() / 33;
      std::copy_n(x.data() + n * size, size, tn::as_span(others).data() + n * size);
      const tn::tensor one = tn::conv2d(x[tn::window<1>(n)], w);
      const tn::tensor beside = tn::conv2d(others, w);
      CHECK(std::equal(beside.data() + n * one.size(), beside.data() + (n + 1) * one.size(), all.data() + n * one.size()));
      // One image alone has few positions, whose sums may have another order.
      for (std::int64_t i = 0; i < one.size(); ++i) CHECK(std::fabs(one.data()[i] - all.data()[n * one.size() + i]) < 1e-5f);
    }
  };
  check_alone(numbers<float>(tn::shape<33, 5, 4, 4>{}, 1), numbers<float>(tn::shape<20, 5, 3, 3>{}, 2));
  check_alone(numbers<float>(tn::shape<33, 5, 4, 4>{}, 1), numbers<float>(tn::shape<20, 5, 4, 4>{}, 2));
  check_alone(numbers<float>(tn::shape<33, 1, 6, 5>{}, 1), numbers<float>(tn::shape<20, 1, 3, 3>{}, 2));
}

TEST_CASE("Law: the result of an image does not depend on what other images hold, nor on the number of threads") {
  const auto x = numbers<float>(tn::shape<4, 24, 30, 30>{}, 1);
  const auto w = numbers<float>(tn::shape<40, 24, 3, 3>{}, 2);
  constexpr auto f = [](auto x, auto w) { return tn::sum(tn::square(tn::conv2d<tn::conv{.padding = 1}>(x, w))); };
  const tn::thread_pool threads(3);
  const auto alone = tn::value_and_grad<0, 1>(f)(x, w);
  const auto divided = tn::value_and_grad<0, 1>(f, threads)(x, w);
  CHECK(std::get<0>(alone).item() == std::get<0>(divided).item());
  const auto same = [](const auto& a, const auto& b) { return std::equal(a.data(), a.data() + a.size(), b.data()); };
  CHECK(same(std::get<1>(alone), std::get<1>(divided)));
  CHECK(same(std::get<2>(alone), std::get<2>(divided)));
}

TEST_CASE("max_pool2d: a NaN is the largest element, and an image of -inf stays") {
  auto x = numbers<double>(tn::shape<1, 1, 4, 6>{}, 1);
  const double nan = std::numeric_limits<double>::quiet_NaN(), infinity = std::numeric_limits<double>::infinity();
  tn::as_span(x)[1] = nan, tn::as_span(x)[8] = nan;
  for (const int at : {16, 17, 22, 23}) tn::as_span(x)[static_cast<std::size_t>(at)] = -infinity;
  const tn::tensor y = tn::max_pool2d<2>(x);
  CHECK(std::isnan(y(0, 0, 0, 0)));
  CHECK(std::isnan(y(0, 0, 0, 1)));
  CHECK(y(0, 0, 0, 2) == std::max({x(0, 0, 0, 4), x(0, 0, 0, 5), x(0, 0, 1, 4), x(0, 0, 1, 5)}));
  CHECK(y(0, 0, 1, 2) == -infinity);
}
