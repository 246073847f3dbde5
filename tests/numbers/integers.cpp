// SPDX-License-Identifier: BSL-1.0
// Law: integers wrap around, and every floating number becomes an integer in one defined way, in compiled code, in the kernels of the
// GPU, in the reference backend, in eager code and in copies. The folder runs under UBSan, which stops at what C++ leaves undefined.
#include <cstdint>
#include <limits>
#include <vector>

#include <tenure/backend/reference/run.hpp>
#include <tenure/tenure.hpp>

#include "../catch.hpp"
#include "../kernels/host_device.hpp"

namespace tn = tenure;
using tn::shape;

namespace {

constexpr double inf = std::numeric_limits<double>::infinity();
constexpr double nan_of_double = std::numeric_limits<double>::quiet_NaN();
template <class T>
constexpr T least = std::numeric_limits<T>::min();
template <class T>
constexpr T greatest = std::numeric_limits<T>::max();

template <class T, class X>
std::vector<T> numbers(const X& x) {
  std::vector<T> all;
  for (std::int64_t i = 0; i < x.size(); ++i) all.push_back(x.data()[i]);
  return all;
}
template <class T>
std::vector<T> numbers(const tn::reference::array& x) {
  REQUIRE(x.type == tn::dtype_v<T>);
  return std::vector<T>(x.as<T>(), x.as<T>() + x.size());
}

/// The results of a function of tensors by three routes. One program for all of them: each is compiled three times.
template <class T, class F, class... X>
void check(const std::vector<const char*>& names, F f, const std::vector<std::vector<T>>& wanted, const X&... x) {
  const auto results = tn::compile(f)(x...);
  using program = tn::program<tn::detail::source_of<F, X...>>;
  const std::vector<tn::reference::array> arguments{tn::reference::array(x.extents(), x.data())...};
  std::vector<tn::reference::array> compiled;
  tn::detail::for_each_leaf(results, [&](const auto& y) { compiled.emplace_back(y.extents(), y.data()); });
  const auto judged = tn::reference::run(program::traced.view(), arguments);
  const auto on_kernels = host::run<program>(compiled, arguments, {});
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    INFO(names.at(i));
    const auto by_compiled = numbers<T>(compiled.at(i)), by_reference = numbers<T>(judged.at(i)), by_kernels = numbers<T>(on_kernels.at(i));
    CHECK(by_compiled == wanted[i]);
    CHECK(by_reference == wanted[i]);
    CHECK(by_kernels == wanted[i]);
  }
}

// What copies and eager code convert, too.
template <class To, class From, std::int64_t N>
void check_cast(const tn::tensor<From, shape<N>>& x, const std::vector<To>& wanted) {
  check<To>({"cast", "cast of a result"}, [](auto a) { return std::tuple{tn::cast<To>(a), tn::cast<To>(maximum(a, a))}; }, {wanted, wanted}, x);
  const tn::tensor<To, shape<N>> eager = tn::cast<To>(x);
  CHECK(numbers<To>(eager) == wanted);
  tn::tensor<To, shape<N>> copied = tn::zeros<To>(shape<N>{});
  copied.copy_(x);
  CHECK(numbers<To>(copied) == wanted);
  CHECK(numbers<To>(x.template to<To>()) == wanted);
  for (std::int64_t i = 0; i < N; ++i) {
    const From each = x.data()[i];
    CHECK(tn::full<To>(shape<1>{}, each)(0) == wanted[static_cast<std::size_t>(i)]);
    copied.fill_(each);
    CHECK(copied(0) == wanted[static_cast<std::size_t>(i)]);
  }
}

}  // namespace

// Law: integers wrap around (two's complement), as in PyTorch and JAX.
TEMPLATE_TEST_CASE("integers wrap around", "", std::int32_t, std::int64_t) {
  using T = TestType;
  const T lo = least<T>, hi = greatest<T>;
  const tn::tensor<T, shape<4>> x{lo, hi, lo, T(-1)}, y{T(-1), T(1), lo, hi};
  const tn::tensor<T, shape<4>> z{hi, hi, 1, lo};
  const tn::tensor<std::int64_t, shape<4>> first{0, 0, 0, 0};
  check<T>({"-x", "abs(x)", "x + y", "x - y", "x * y", "square(x)", "x + greatest + 1", "-(least) + x", "index_add", "x % y", "fmod", "floor_divide", "x % 0", "floor_divide by 0"},
           [](auto a, auto b, auto c, auto i) {
             return std::tuple{-a, abs(a), a + b, a - b, a * b, square(a), a + greatest<T> + 1, -(a * 0 + least<T>) + a, index_add(a, i, c), a % b, fmod(a, b), floor_divide(a, b), a % (b - b),
                               floor_divide(a, b - b)};
           },
           {{lo, -hi, lo, 1}, {lo, hi, lo, 1}, {hi, lo, 0, hi - 1}, {-hi, hi - 1, 0, lo}, {lo, hi, 0, -hi}, {0, 1, 0, 1}, {0, -1, 0, hi}, {0, -1, 0, hi}, {-1, hi, lo, -1},
            {0, 0, 0, hi - 1}, {0, 0, 0, -1}, {lo, hi, 1, -1}, {0, 0, 0, 0}, {0, 0, 0, 0}},
           x, y, z, first);
  const tn::tensor<T, shape<4>> eager_negative = -x, eager_size = abs(x);
  CHECK(numbers<T>(eager_negative) == std::vector<T>{lo, -hi, lo, 1});
  CHECK(numbers<T>(eager_size) == std::vector<T>{lo, hi, lo, 1});
}

TEST_CASE("sums and products of integers wrap around") {
  constexpr std::int64_t lo = least<std::int64_t>, hi = greatest<std::int64_t>;
  const tn::tensor<std::int64_t, shape<2, 3>> x{{hi, 1, 0}, {lo, -1, -1}};
  const tn::tensor<std::int64_t, shape<4>> y{lo, hi, lo, -1};
  // Of the product: (hi, 1, 0) (lo, -1, -1) = hi lo - 1 = -lo - 1 = hi.
  check<std::int64_t>({"sum", "sum of rows", "sum of columns", "matmul", "prod", "cumsum"},
                      [](auto a, auto b) {
                        return std::tuple{sum(a), sum(a, tn::axis<1>), sum(a, tn::axis<0>), matmul(a, transpose(a)), prod(b, tn::axis<0>), cumsum(b, tn::axis<0>)};
                      },
                      {{-2}, {lo, hi - 1}, {-1, 0, -1}, {2, hi, hi, 2}, {0}, {lo, -1, hi, hi - 1}}, x, y);
}

TEMPLATE_TEST_CASE("a floating number becomes the integer in its range, the nearest of them, or 0 from NaN", "", float, double) {
  using From = TestType;
  const From big = static_cast<From>(1e20), beyond = static_cast<From>(inf), none = static_cast<From>(nan_of_double);
  const From past_int = 0x1p31f, below_past = std::nextafter(past_int, From(0)), past_long = 0x1p63f, below_long = std::nextafter(past_long, From(0));
  const tn::tensor<From, shape<19>> x{big, -big, beyond, -beyond, none, past_int, -past_int, below_past, -below_past, past_long, -past_long, below_long, -below_long,
                                      From(-0.0), From(2.9), From(-2.9), From(0.5), std::numeric_limits<From>::denorm_min(), std::numeric_limits<From>::max()};
  const auto below_int = static_cast<std::int32_t>(below_past);
  const auto lo = least<std::int32_t>, hi = greatest<std::int32_t>;
  check_cast<std::int32_t>(x, {hi, lo, hi, lo, 0, hi, lo, below_int, -below_int, hi, lo, hi, lo, 0, 2, -2, 0, 0, hi});
  const auto first = least<std::int64_t>, last = greatest<std::int64_t>, below_all = static_cast<std::int64_t>(below_long), two_31 = std::int64_t{1} << 31;
  check_cast<std::int64_t>(x, {last, first, last, first, 0, two_31, -two_31, below_int, -below_int, last, first, below_all, -below_all, 0, 2, -2, 0, 0, last});
  const tn::tensor<From, shape<3>> few{none, From(-0.0), std::numeric_limits<From>::denorm_min()};
  check_cast<bool>(few, {true, false, true});
}

TEST_CASE("a constant becomes an integer as a number that is read does") {
  const tn::tensor<float, shape<2>> x{1, 2};
  const auto lo = least<std::int32_t>, hi = greatest<std::int32_t>;
  check<std::int32_t>({"1e20", "-inf", "2^40 + 5 of int64", "2^62 + 5 of int64"},
                      [](auto a) {
                        const auto none = tn::cast<std::int64_t>(a) * 0;
                        return std::tuple{tn::cast<std::int32_t>(a * 0.0f + 1e20f), where(a > 1.5f, 0, tn::cast<std::int32_t>(a * 0.0f - std::numeric_limits<float>::infinity())),
                                          tn::cast<std::int32_t>(none + ((std::int64_t{1} << 40) + 5)), tn::cast<std::int32_t>(none + ((std::int64_t{1} << 62) + 5))};
                      },
                      {{hi, hi}, {lo, 0}, {5, 5}, {5, 5}}, x);
}
