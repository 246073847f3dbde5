// SPDX-License-Identifier: BSL-1.0
// One operation on small static matrices in a call, float64, and Eigen's with fixed sizes: products, 2 A + B, a dot product, a system of equations, the
// inverse and the determinant.
#include "small.hpp"

namespace {

using namespace bench::small;

constexpr auto product = tn::compile([](auto a, auto b) { return matmul(a, b); });
constexpr auto sum_of_two = tn::compile([](auto a, auto b) { return 2.0 * a + b; });
constexpr auto dot_of = tn::compile([](auto x, auto y) { return sum(x * y); });
constexpr auto solution = tn::compile([](auto a, auto b) { return tn::solve(a, b); });
constexpr auto inverse_of = tn::compile([](auto a) { return tn::inverse(a); });
constexpr auto det_of = tn::compile([](auto a) { return tn::det(a); });

template <int N>
struct matrices {
  array<N, N> a, b, c;
  array<N> x, y, z;
  array<> number;
  struct {
    matrix<N, N> a, b, c;
    vector<N> x, y, z;
    double number = 0;
  } hand;

  explicit matrices(std::int64_t) {
    fill(1, a, b, x, y);
    for (int i = 0; i < N; ++i) a.at(i, i) += 2;
    hand.a = as<matrix<N, N>>(a), hand.b = as<matrix<N, N>>(b), hand.x = as<vector<N>>(x), hand.y = as<vector<N>>(y);
    multiply(), multiply_by_hand(), require_equal("A B", c, hand.c);
    add(), add_by_hand(), require_equal("2 A + B", c, hand.c);
    apply(), apply_by_hand(), require_equal("A x", z, hand.z);
    solve(), solve_by_hand(), require_equal("solve", z, hand.z);
    invert(), invert_by_hand(), require_equal("inverse", c, hand.c);
    det(), det_by_hand(), bench::require_agreement("det", number.data(), &hand.number, 1, 1e-9);
    dot(), dot_by_hand(), bench::require_agreement("dot", number.data(), &hand.number, 1, 1e-9);
  }
  std::int64_t items() const { return 1; }

  [[gnu::noinline]] void multiply() { product.into(c)(a, b); }
  [[gnu::noinline]] void multiply_by_hand() { hand.c.noalias() = hand.a * hand.b; }
  [[gnu::noinline]] void apply() { product.into(z)(a, x); }
  [[gnu::noinline]] void apply_by_hand() { hand.z.noalias() = hand.a * hand.x; }
  [[gnu::noinline]] void add() { sum_of_two.into(c)(a, b); }
  [[gnu::noinline]] void add_by_hand() { hand.c = 2 * hand.a + hand.b; }
  [[gnu::noinline]] void dot() { dot_of.into(number)(x, y); }
  [[gnu::noinline]] void dot_by_hand() { hand.number = hand.x.dot(hand.y); }
  [[gnu::noinline]] void solve() { solution.into(z)(a, x); }
  [[gnu::noinline]] void invert() { inverse_of.into(c)(a); }
  [[gnu::noinline]] void invert_by_hand() { hand.c = hand.a.inverse(); }
  [[gnu::noinline]] void det() { det_of.into(number)(a); }
  [[gnu::noinline]] void det_by_hand() { hand.number = hand.a.determinant(); }
  [[gnu::noinline]] void solve_by_hand() { hand.z = hand.a.partialPivLu().solve(hand.x); }
};

template <int N>
void rows() {
  using all = matrices<N>;
  const auto both = [](const char* name, auto ours, auto theirs) {
    bench::row<all>(name, "tenure", N, ours);
    bench::row<all>(name, "eigen", N, theirs);
  };
  both("small_product", [](all& p) { p.multiply(); }, [](all& p) { p.multiply_by_hand(); });
  both("small_apply", [](all& p) { p.apply(); }, [](all& p) { p.apply_by_hand(); });
  both("small_add", [](all& p) { p.add(); }, [](all& p) { p.add_by_hand(); });
  both("small_dot", [](all& p) { p.dot(); }, [](all& p) { p.dot_by_hand(); });
  both("small_inverse", [](all& p) { p.invert(); }, [](all& p) { p.invert_by_hand(); });
  both("small_det", [](all& p) { p.det(); }, [](all& p) { p.det_by_hand(); });
  both("small_solve", [](all& p) { p.solve(); }, [](all& p) { p.solve_by_hand(); });
}

// A vector times a matrix, whose rows or columns are contiguous.
constexpr auto by_rows = tn::compile([](auto x, auto w) { return matmul(x, w); });
constexpr auto by_columns = tn::compile([](auto x, auto w) { return matmul(x, transpose(w)); });

template <int K, int N>
struct layer {
  array<K> x;
  array<K, N> w;
  array<N, K> transposed;
  array<N> y;
  struct {
    Eigen::Matrix<double, 1, K> x;
    matrix<K, N> w;
    matrix<N, K> transposed;
    Eigen::Matrix<double, 1, N> y;
  } hand;

  explicit layer(std::int64_t) {
    fill(1, x, w);
    transposed = w.transpose();
    hand.x = as<vector<K>>(x).transpose(), hand.w = as<matrix<K, N>>(w), hand.transposed = hand.w.transpose();
    rows(), rows_by_hand(), require_equal("vector times matrix", y, hand.y.transpose().eval());
    columns(), columns_by_hand(), require_equal("vector times transposed matrix", y, hand.y.transpose().eval());
  }
  std::int64_t items() const { return 1; }
  double flops() const { return 2.0 * K * N; }

  [[gnu::noinline]] void rows() { by_rows.into(y)(x, w); }
  [[gnu::noinline]] void rows_by_hand() { hand.y.noalias() = hand.x * hand.w; }
  [[gnu::noinline]] void columns() { by_columns.into(y)(x, transposed); }
  [[gnu::noinline]] void columns_by_hand() { hand.y.noalias() = hand.x * hand.transposed.transpose(); }
};

template <int K, int N>
void rows_of_layer() {
  using all = layer<K, N>;
  bench::row<all>("small_layer", "tenure", K, [](all& p) { p.rows(); });
  bench::row<all>("small_layer", "eigen", K, [](all& p) { p.rows_by_hand(); });
  bench::row<all>("small_layer_transposed", "tenure", K, [](all& p) { p.columns(); });
  bench::row<all>("small_layer_transposed", "eigen", K, [](all& p) { p.columns_by_hand(); });
}

const bool registered = [] {
  rows<3>(), rows<4>(), rows<6>();
  rows_of_layer<20, 80>(), rows_of_layer<32, 96>(), rows_of_layer<40, 160>();
  return true;
}();

}  // namespace
