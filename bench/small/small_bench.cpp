// SPDX-License-Identifier: BSL-1.0
// Small static shapes in float64, where calls and memory traffic would show: tiny_step is the gradient and SGD update of a
// 2-8-1 tanh perceptron on four samples, chain4 the value of sum(A B C D), 4x4, with its four gradients.
#include "small.hpp"

#include <workloads.hpp>

namespace {

namespace tn = tenure;

using bench::small::fill;
using bench::small::require_equal;

template <std::int64_t... E>
using matrix = bench::small::array<E...>;
template <int R, int C>
using fixed = Eigen::Matrix<double, R, C, (R == 1 ? Eigen::RowMajor : Eigen::ColMajor)>;

/// Row-major elements into an Eigen matrix of any layout.
template <class X, class M>
void copy_to(const X& x, M& to) {
  for (Eigen::Index i = 0; i < to.rows(); ++i)
    for (Eigen::Index j = 0; j < to.cols(); ++j) to(i, j) = x.data()[i * to.cols() + j];
}

// ---- tiny_step -------------------------------------------------------------------------------------------------------

constexpr double rate = workloads::tiny_rate;

struct tiny_step {
  matrix<2, 8> w1;
  matrix<8> b1;
  matrix<8, 1> w2;
  matrix<1> b2;
  matrix<4, 2> x;
  matrix<4, 1> y;
  matrix<> value;
  matrix<2, 8> to_w1;
  matrix<8> to_b1;
  matrix<8, 1> to_w2;
  matrix<1> to_b2;

  struct by_hand {
    fixed<8, 2> w1, d1;
    fixed<8, 1> b1, db1;
    fixed<1, 8> w2, d2;
    fixed<2, 4> x;
    fixed<1, 4> y;
    double b2, db2, value;

    [[gnu::noinline]] void run() {
      const fixed<8, 4> z = w1.lazyProduct(x).colwise() + b1;
      const fixed<8, 4> h = (1 - 2 / ((2 * z.array()).exp() + 1)).matrix();
      fixed<1, 4> d = (w2.lazyProduct(h).array() + b2 - y.array()).matrix();
      value = d.squaredNorm() / 4;
      d *= 0.5;
      db2 = d.sum();
      d2 = d.lazyProduct(h.transpose());
      const fixed<8, 4> dz = (w2.transpose().lazyProduct(d)).cwiseProduct((1 - h.array().square()).matrix());
      db1 = dz.rowwise().sum();
      d1 = dz.lazyProduct(x.transpose());
      w1 -= rate * d1;
      b1 -= rate * db1;
      w2 -= rate * d2;
      b2 -= rate * db2;
    }
  } hand;

  explicit tiny_step(std::int64_t) {
    fill(1, w1, b1, w2, b2, x, y);
    start_hand();
    tenure_once();
    hand.run();
    require_agreement();
    start_hand();
  }
  std::int64_t items() const { return 1; }

  [[gnu::noinline]] void tenure_once() { workloads::tiny_step.into(value, to_w1, to_b1, to_w2, to_b2)(w1, b1, w2, b2, x, y); }

 private:
  void start_hand() {
    copy_to(w1.transpose().clone(), hand.w1), copy_to(b1, hand.b1), copy_to(w2, hand.w2);
    copy_to(x.transpose().clone(), hand.x), copy_to(y, hand.y), hand.b2 = b2.data()[0];
  }
  void require_agreement() {
    bench::require_agreement("tiny_step", value.data(), &hand.value, 1, 1e-9);
    require_equal("tiny_step w1", to_w1, hand.w1.transpose());
    require_equal("tiny_step b1", to_b1, hand.b1);
    require_equal("tiny_step w2", to_w2, hand.w2);
    bench::require_agreement("tiny_step b2", to_b2.data(), &hand.b2, 1, 1e-9);
  }
};

// ---- chain4 ----------------------------------------------------------------------------------------------------------

struct chain4 {
  using m4 = fixed<4, 4>;
  matrix<4, 4> a, b, c, d, da, db, dc, dd;
  matrix<> value;

  struct by_hand {
    m4 a, b, c, d, da, db, dc, dd;
    double value;

    [[gnu::noinline]] void run() {
      const m4 ab = a.lazyProduct(b), abc = ab.lazyProduct(c), all = abc.lazyProduct(d), one = m4::Ones();
      value = all.sum();
      dd = abc.transpose().lazyProduct(one);
      const m4 left = one.lazyProduct(d.transpose());
      dc = ab.transpose().lazyProduct(left);
      const m4 next = left.lazyProduct(c.transpose());
      db = a.transpose().lazyProduct(next);
      da = next.lazyProduct(b.transpose());
    }
    /// The cotangent of a sum has rank 1: vectors in place of matrices.
    [[gnu::noinline]] void run_reassociated() {
      using v4 = fixed<4, 1>;
      const v4 one = v4::Ones();
      const v4 d1 = d.lazyProduct(one), cd1 = c.lazyProduct(d1), bcd1 = b.lazyProduct(cd1);
      const v4 a1 = a.transpose().lazyProduct(one), ab1 = b.transpose().lazyProduct(a1), abc1 = c.transpose().lazyProduct(ab1);
      da = one * bcd1.transpose();
      db = a1 * cd1.transpose();
      dc = ab1 * d1.transpose();
      dd = abc1 * one.transpose();
      value = abc1.dot(d1);
    }
  } hand;

  explicit chain4(std::int64_t) {
    fill(1, a, b, c, d);
    copy_to(a, hand.a), copy_to(b, hand.b), copy_to(c, hand.c), copy_to(d, hand.d);
    tenure_once();
    hand.run(), require_agreement();
    hand.run_reassociated(), require_agreement();
  }
  std::int64_t items() const { return 1; }

  [[gnu::noinline]] void tenure_once() { workloads::chain4.into(value, da, db, dc, dd)(a, b, c, d); }

 private:
  void require_agreement() {
    bench::require_agreement("chain4", value.data(), &hand.value, 1, 1e-9);
    require_equal("chain4 da", da, hand.da), require_equal("chain4 db", db, hand.db);
    require_equal("chain4 dc", dc, hand.dc), require_equal("chain4 dd", dd, hand.dd);
  }
};

const bool registered = [] {
  bench::keep_heap_warm();
  bench::row<tiny_step>("tiny_step", "tenure", 4, [](tiny_step& p) { p.tenure_once(); });
  bench::row<tiny_step>("tiny_step", "hand", 4, [](tiny_step& p) { p.hand.run(); });
  bench::row<chain4>("chain4", "tenure", 4, [](chain4& p) { p.tenure_once(); });
  bench::row<chain4>("chain4", "hand", 4, [](chain4& p) { p.hand.run(); });
  bench::row<chain4>("chain4", "hand_rank1", 4, [](chain4& p) { p.hand.run_reassociated(); });
  return true;
}();

}  // namespace
