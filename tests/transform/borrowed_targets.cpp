// SPDX-License-Identifier: BSL-1.0
// into() with memory that Tenure did not allocate: spans, vectors, arrays, Eigen's matrices; not aligned to packets, and without room behind it.
#include <array>
#include <cstdint>
#include <cstring>
#include <memory>
#include <span>
#include <vector>

#include <tenure/interop/eigen.hpp>
#include <tenure/tenure.hpp>

#include "../catch.hpp"
#include "../difference.hpp"

namespace tn = tenure;
using tn::shape;

namespace {

constexpr auto doubled = tn::compile([](auto x) { return x * 2.0; });

/// Memory for `count` elements that begins `shift` elements behind a boundary of 64 bytes, between elements that nobody may write. With ASan the
/// last one ends the allocation.
template <class T>
class guarded {
 public:
  guarded(std::int64_t count, int shift) : count_(count), before_(64 / sizeof(T) + static_cast<std::size_t>(shift)), bytes_((before_ + static_cast<std::size_t>(count) + 1) * sizeof(T)) {
    memory_.reset(static_cast<unsigned char*>(::operator new(bytes_, std::align_val_t(64))));
    std::memset(memory_.get(), 0xA5, bytes_);
  }
  T* data() const { return reinterpret_cast<T*>(memory_.get()) + before_; }
  difference outside() const {
    for (std::size_t i = 0; i < bytes_; ++i) {
      const bool is_inside = i >= before_ * sizeof(T) && i < (before_ + static_cast<std::size_t>(count_)) * sizeof(T);
      if (!is_inside && memory_.get()[i] != 0xA5) return difference_of("byte ", static_cast<std::int64_t>(i) - static_cast<std::int64_t>(before_ * sizeof(T)), " was written");
    }
    return {};
  }

 private:
  struct release {
    void operator()(unsigned char* p) const { ::operator delete(p, std::align_val_t(64)); }
  };
  std::int64_t count_;
  std::size_t before_, bytes_;
  std::unique_ptr<unsigned char, release> memory_;
};

/// The call gives the same bits in borrowed memory, wherever it begins, and writes nothing beside it.
template <class F, class... X>
void check_borrowed(const F& f, const X&... x) {
  const auto wanted = f(x...);
  using T = tn::element_t<decltype(wanted)>;
  for (const int shift : {0, 1, 3, 4, 7}) {
    const guarded<T> memory(wanted.size(), shift);
    const auto call = [&] {
      using S = tn::shape_of_t<decltype(wanted)>;
      if constexpr (S::is_static) return f.into(tn::from<S>(memory.data()));
      else return f.into(tn::from<S>(memory.data(), wanted.extent(0)));
    }();
    CHECK(call.copied_bytes(x...) == 0);
    call(x...);
    INFO("shifted by " << shift);
    CHECK(first_difference(static_cast<const T*>(memory.data()), wanted.data(), wanted.size()));
    CHECK(memory.outside());
  }
}

/// Different numbers in a tensor of run-time extents.
template <class X>
X ramp(X x) {
  const auto elements = tn::as_span(x);
  for (std::size_t i = 0; i < elements.size(); ++i) elements[i] = static_cast<tn::element_t<X>>(static_cast<double>(i % 101) * 0.25 - 3);
  return x;
}
using numbers = tn::tensor<float, shape<tn::dyn>>;
using rows = tn::tensor<float, shape<tn::dyn, 37>>;

}  // namespace

TEST_CASE("spans, vectors, arrays and Eigen's matrices are targets") {
  const tn::tensor<double, shape<4>> x{1, 2, 3, 4};
  std::vector<double> v(4);
  doubled.into(tn::from(v))(x);
  CHECK(v == std::vector<double>{2, 4, 6, 8});
  doubled.into(tn::from(std::span(v).subspan(1, 2)))(x.at(tn::range<2, 4>()));
  CHECK(v == std::vector<double>{2, 6, 8, 8});
  std::array<double, 4> a{};
  doubled.into(tn::from(a))(x);
  CHECK(a == std::array<double, 4>{2, 4, 6, 8});
  double c[2][4] = {};
  doubled.into(tn::from(c[1]))(x);
  CHECK(c[1][3] == 8);
  CHECK(c[0][3] == 0);
  CHECK_THROWS_AS(doubled.into(tn::from(v))(x.at(tn::range(0, 3))), tn::shape_error);

  const tn::tensor<double, shape<2, 3>> m{{1, 2, 3}, {4, 5, 6}};
  Eigen::Matrix<double, 2, 3, Eigen::RowMajor> by_rows;
  auto to_rows = tn::from(by_rows);
  CHECK(doubled.into(to_rows).copied_bytes(m) == 0);
  doubled.into(to_rows)(m);
  CHECK(by_rows(1, 0) == 8);
  Eigen::MatrixXd by_columns(2, 3);
  auto to_columns = tn::from(by_columns);
  CHECK(doubled.into(to_columns).copied_bytes(m) == 6 * sizeof(double));
  doubled.into(to_columns)(m);
  CHECK(by_columns(0, 2) == 6);
  CHECK(by_columns(1, 0) == 8);
  // The transpose of a result that Eigen would keep by columns is written in place.
  constexpr auto turned = tn::compile([](auto y) { return transpose(y) * 2.0; });
  CHECK(turned.into(to_columns.transpose()).copied_bytes(m) == 0);
  turned.into(to_columns.transpose())(m);
  CHECK(by_columns(0, 2) == 6);
  CHECK(by_columns(1, 0) == 8);
}

TEST_CASE("borrowed memory need not be aligned to packets, and has no room behind it") {
  for (const std::int64_t n : {1, 3, 8, 29, 64, 1000}) {
    const auto x = ramp(numbers(n));
    check_borrowed(tn::compile([](auto y) { return exp(y) * y + 1.0f; }), x);
    check_borrowed(tn::compile([](auto y) { return y > 0.5f; }), x);
    check_borrowed(tn::compile([](auto y) { return argsort(y, tn::axis<0>); }), x);
    const auto m = ramp(rows(n));
    check_borrowed(tn::compile([](auto y) { return softmax(y, tn::axis<1>); }), m);
    check_borrowed(tn::compile([](auto y) { return sum(y, tn::axis<1>); }), m);
    check_borrowed(tn::compile([](auto y) { return cumsum(y, tn::axis<1>); }), m);
    check_borrowed(tn::compile([](auto y) { return tn::concat<0>(sum(y, tn::axis<0>), y[0]); }), m);
    check_borrowed(tn::compile([](auto y, auto w) { return tanh(matmul(y, w)); }), m, tn::eye<float>(shape<37, 37>{}));
    tn::tensor<std::int64_t, shape<tn::dyn>> i(n);
    check_borrowed(tn::compile([](auto y, auto k) { return gather(y, k); }), m, i);
    check_borrowed(tn::compile([](auto y, auto k) { return tn::index_add(y, k, y); }), m, i);
  }
  const tn::tensor<double, shape<5, 5>> s = tn::eye<double>(shape<5, 5>{}) * 2.0;
  check_borrowed(tn::compile([](auto a, auto b) { return matmul(a, b); }), s, s);
  check_borrowed(tn::compile([](auto a, auto b) { return tn::solve(a, b); }), s, s);
  check_borrowed(tn::compile([](auto a) { return tn::pad<0, 1>(sum(a, tn::axis<0>)); }), s);
}

TEST_CASE("results larger than the caches are stored past them where the memory allows it, and are right elsewhere") {
  const auto x = ramp(numbers(10'000'000));
  constexpr auto f = tn::compile([](auto y) { return y * 0.5f + 1.0f; });
  const auto wanted = f(x);
  for (const int shift : {0, 1, 8}) {
    const guarded<float> memory(x.size(), shift);
    f.into(tn::from<shape<tn::dyn>>(memory.data(), x.size()))(x);
    CHECK(first_difference(static_cast<const float*>(memory.data()), wanted.data(), wanted.size()));
    CHECK(memory.outside());
  }
}

TEST_CASE("a number from the memory of a target is read before the target is written") {
  std::vector<double> v{1, 2, 3, 4};
  constexpr auto scaled = tn::compile([](auto x, auto k) { return x * k; });
  auto x = tn::from(v);
  CHECK(scaled.into(x).copied_bytes(x, v[0]) == 0);
  scaled.into(x)(x, v[1]);
  CHECK(v == std::vector<double>{2, 4, 6, 8});
  // Whichever kernel runs first overwrites the number of the other one.
  constexpr auto crossed = tn::compile([](auto y, auto z, auto of_z, auto of_y) { return std::tuple{y * of_y, z * of_z}; });
  std::vector<double> u{1, 3, 5};
  auto z = tn::from(u);
  crossed.into(x, z)(x, z, v[0], u[1]);
  CHECK(v == std::vector<double>{6, 12, 18, 24});
  CHECK(u == std::vector<double>{2, 6, 10});
  tn::tensor<double, shape<3>> owner{1, 2, 3};
  const auto span = tn::as_span(owner);
  scaled.into(owner)(owner, span[1]);
  CHECK(owner(0) == 2);
  CHECK(owner(1) == 4);
  CHECK(owner(2) == 6);
}

TEST_CASE("a number of an array or a tuple from the memory of a target is read before the target is written") {
  // Whichever kernel runs first: the other one reads numbers too.
  constexpr auto turned = tn::compile([](auto k, auto y) { return std::tuple{tn::stack<0>(k[3], k[2], k[1], k[0]), y * k[0]}; });
  std::array<double, 4> s{1, 2, 3, 4};
  tn::tensor<double, shape<3>> z{1, 1, 1};
  auto on_s = tn::from(s);
  CHECK(turned.into(on_s, z).copied_bytes(s, z) == 0);
  turned.into(on_s, z)(s, z);
  CHECK(s == std::array<double, 4>{4, 3, 2, 1});
  CHECK(z(0) == 1);
  CHECK(z(2) == 1);
  // Views, run-time extents, and the targets in the other order.
  constexpr auto other_first = tn::compile([](auto k, auto y) { return std::tuple{y * k[0], tn::stack<0>(k[3], k[2], k[1], k[0])}; });
  std::vector<double> v{1, 1, 1};
  auto on_v = tn::from(v);
  other_first.into(on_v, on_s.view())(s, on_v);
  CHECK(s == std::array<double, 4>{1, 2, 3, 4});
  CHECK(v == std::vector<double>{4, 4, 4});
  // Numbers of several types beside a tensor.
  std::tuple<float, std::int64_t> numbers{3.0f, 5};
  constexpr auto scaled = tn::compile([](auto k, auto y) { return std::tuple{y * std::get<0>(k), y + tn::cast<float>(std::get<1>(k))}; });
  auto on_float = tn::from<shape<1>>(&std::get<0>(numbers));
  tn::tensor<float, shape<1>> added, one{1.0f};
  scaled.into(on_float, added)(numbers, one);
  CHECK(std::get<0>(numbers) == 3);
  CHECK(added(0) == 6);
  scaled.into(added, on_float)(numbers, one);
  CHECK(std::get<0>(numbers) == 6);
  CHECK(added(0) == 3);
}

TEST_CASE("tensors that were made apart over one piece of memory overlap by address") {
  std::vector<double> v{1, 2, 3, 4, 5, 6};
  const std::span all(v);
  doubled.into(tn::from(all.subspan(1, 5)))(tn::from(all.subspan(0, 5)));
  CHECK(v == std::vector<double>{1, 2, 4, 6, 8, 10});
  doubled.into(tn::from(all.subspan(0, 5)))(tn::from(all.subspan(1, 5)));
  CHECK(v == std::vector<double>{4, 8, 12, 16, 20, 10});
  constexpr auto two = tn::compile([](auto x) { return std::tuple{x * 2.0, x * 3.0}; });
  const tn::tensor<double, shape<3>> x{1, 1, 1};
  CHECK_THROWS_WITH(two.into(tn::from(all.subspan(0, 3)), tn::from(all.subspan(2, 3)))(x), "tenure: into: targets 0 and 1 share memory");
  CHECK(v[2] == 12);
  two.into(tn::from(all.subspan(0, 3)), tn::from(all.subspan(3, 3)))(x);
  CHECK(v == std::vector<double>{2, 2, 2, 3, 3, 3});
  // Of other element types.
  constexpr auto mixed = tn::compile([](auto y, auto z) { return std::tuple{y * 2.0, z + 1.0f}; });
  auto* const floats = reinterpret_cast<float*>(v.data() + 2);
  CHECK_THROWS_AS(mixed.into(tn::from(all.subspan(0, 3)), tn::from<shape<2>>(floats))(x, tn::tensor<float, shape<2>>{1, 2}), tn::overlap_error);
  // No memory at all.
  doubled.into(tn::from(std::span<double>{}))(tn::from(all.subspan(0, 0)));
}
