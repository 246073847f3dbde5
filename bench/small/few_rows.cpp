// SPDX-License-Identifier: BSL-1.0
// A layer over few rows, 256 x 256, whose weights stand as PyTorch stores them, (out, in). Beside it are the product with a transposed copy that is kept, and
// Eigen's product.
#include "small.hpp"

namespace {

using namespace bench::small;

constexpr auto layer = tn::compile([](auto x, auto w) { return linear(x, w); });
constexpr auto product = tn::compile([](auto x, auto w) { return matmul(x, w); });
constexpr std::int64_t width = 256;

template <class T, std::int64_t Rows>
struct few_rows {
  using eigen = Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
  tn::tensor<T, tn::shape<Rows, width>> x, y;
  tn::tensor<T, tn::shape<width, width>> w, kept;
  eigen hand_x, hand_w, hand_y;

  explicit few_rows(std::int64_t) : hand_x(Rows, width), hand_w(width, width), hand_y(Rows, width) {
    fill(1, x, w);
    kept = w.transpose();
    std::copy_n(x.data(), x.size(), hand_x.data()), std::copy_n(w.data(), w.size(), hand_w.data());
    eigen_once();
    by_linear(), bench::require_agreement("linear", y.data(), hand_y.data(), y.size(), 1e-5);
    by_kept(), bench::require_agreement("kept", y.data(), hand_y.data(), y.size(), 1e-5);
  }
  std::int64_t items() const { return Rows; }
  double flops() const { return 2.0 * Rows * width * width; }

  [[gnu::noinline]] void by_linear() { layer.into(y)(x, w); }
  [[gnu::noinline]] void by_kept() { product.into(y)(x, kept); }
  [[gnu::noinline]] void eigen_once() { hand_y.noalias() = hand_x * hand_w.transpose(); }
};

template <class T, std::int64_t... Rows>
void rows(const char* name) {
  const auto of = [&]<std::int64_t N>(std::integral_constant<std::int64_t, N>) {
    using all = few_rows<T, N>;
    bench::row<all>(name, "tenure", N, [](all& p) { p.by_linear(); });
    bench::row<all>(name, "kept", N, [](all& p) { p.by_kept(); });
    bench::row<all>(name, "eigen", N, [](all& p) { p.eigen_once(); });
  };
  (of(std::integral_constant<std::int64_t, Rows>{}), ...);
}

const bool registered = [] {
  rows<double, 1, 2, 4, 8, 16>("few_rows"), rows<float, 1, 2, 4, 8, 16>("few_rows_f32");
  return true;
}();

}  // namespace
