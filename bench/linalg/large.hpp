// SPDX-License-Identifier: BSL-1.0
// Factorizations of one large matrix and of a batch of ten in a call, float64, run-time extents. large.cpp includes this with TENURE_EIGEN_DECOMPOSITIONS (rows
// `tenure_eigen`) and has the rows of Eigen alone; own.cpp without it (rows `tenure`). Eigen: SelfAdjointEigenSolver, BDCSVD with thin u and v, HouseholderQR
// with thin q, PartialPivLU, LLT. What they find is brought to row-major matrices, as ours is.
#include <harness.hpp>
#include <tenure/tenure.hpp>

#include <Eigen/Dense>

#include <string>
#include <vector>

namespace {

namespace tn = tenure;
using batch = tn::tensor<double, tn::shape<tn::dyn, tn::dyn, tn::dyn>>;
using values = tn::tensor<double, tn::shape<tn::dyn, tn::dyn>>;
using matrix = Eigen::MatrixXd;
using row_major = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

constexpr auto symmetric = tn::compile([](auto a) { return tn::eigh(a); });
constexpr auto singular = tn::compile([](auto a) { return tn::svd(a); });
constexpr auto orthonormal = tn::compile([](auto a) { return tn::qr(a); });
constexpr auto triangles = tn::compile([](auto a) { return tn::lu(a); });
constexpr auto root = tn::compile([](auto a) { return tn::cholesky(a); });
constexpr auto inverted = tn::compile([](auto a) { return tn::inverse(a); });
constexpr auto solved = tn::compile([](auto a, auto b) { return tn::solve(a, b); });

/// Samples matrices of n x n.
template <std::int64_t Samples>
struct large {
  std::int64_t n;
  batch general, definite, right, first, second, third, solution;
  values w;
  std::vector<row_major> to_first, to_second, to_third;
  std::vector<Eigen::VectorXd> to_w, to_solution;

  explicit large(std::int64_t size)
      : n(size), general(Samples, n, n), definite(Samples, n, n), right(Samples, n, 1), first(Samples, n, n), second(Samples, n, n), third(Samples, n, n), solution(Samples, n, 1),
        w(Samples, n), to_first(Samples, row_major(n, n)), to_second(to_first), to_third(to_first), to_w(Samples, Eigen::VectorXd(n)), to_solution(to_w) {
    bench::fill_uniform(bench::data_of(general), general.size(), -0.5, 0.5, 1);
    bench::fill_uniform(bench::data_of(right), right.size(), -0.5, 0.5, 2);
    double *const a = bench::data_of(general), *const d = bench::data_of(definite);
    for (std::int64_t e = 0; e < general.size(); ++e) {
      const std::int64_t s = e / (n * n), i = e / n % n, j = e % n;
      d[e] = a[e] + a[(s * n + j) * n + i] + static_cast<double>(i == j ? n : 0);
    }
    eigh(), eigh_by_eigen(), require("eigh", w, to_w);
    svd(), svd_by_eigen(), require("svd", w, to_w);
    lu(), lu_by_eigen(), require("lu", third, to_third);
    cholesky(), cholesky_by_eigen(), require("cholesky", first, to_first);
    inverse(), inverse_by_eigen(), require("inverse", first, to_first);
    solve(), solve_by_eigen(), require("solve", solution, to_solution);
  }
  std::int64_t items() const { return Samples; }

  template <class X, class M>
  void require(const char* who, const X& x, const std::vector<M>& wanted) {
    for (std::size_t k = 0; k < wanted.size(); ++k) bench::require_agreement(who, x.data() + static_cast<std::int64_t>(k) * wanted[k].size(), wanted[k].data(), wanted[k].size(), 1e-6);
  }
  auto of(const batch& x, std::size_t k) const { return Eigen::Map<const row_major>(x.data() + static_cast<std::int64_t>(k) * n * n, n, n); }

  [[gnu::noinline]] void eigh() { symmetric.into(w, first)(definite); }
  [[gnu::noinline]] void svd() { singular.into(first, w, second)(general); }
  [[gnu::noinline]] void qr() { orthonormal.into(first, second)(general); }
  [[gnu::noinline]] void lu() { triangles.into(first, second, third)(general); }
  [[gnu::noinline]] void cholesky() { root.into(first)(definite); }
  [[gnu::noinline]] void inverse() { inverted.into(first)(general); }
  [[gnu::noinline]] void solve() { solved.into(solution)(general, right); }

  [[gnu::noinline]] void eigh_by_eigen() {
    for (std::size_t k = 0; k < to_w.size(); ++k) {
      const Eigen::SelfAdjointEigenSolver<matrix> found(of(definite, k));
      to_w[k] = found.eigenvalues(), to_first[k] = found.eigenvectors();
    }
  }
  [[gnu::noinline]] void svd_by_eigen() {
    for (std::size_t k = 0; k < to_w.size(); ++k) {
      const Eigen::BDCSVD<matrix> found(of(general, k), Eigen::ComputeThinU | Eigen::ComputeThinV);
      to_w[k] = found.singularValues(), to_first[k] = found.matrixU(), to_second[k] = found.matrixV().transpose();
    }
  }
  [[gnu::noinline]] void qr_by_eigen() {
    for (std::size_t k = 0; k < to_w.size(); ++k) {
      const Eigen::HouseholderQR<matrix> found(of(general, k));
      to_first[k] = found.householderQ() * matrix::Identity(n, n);
      to_second[k] = found.matrixQR().triangularView<Eigen::Upper>();
    }
  }
  [[gnu::noinline]] void lu_by_eigen() {
    for (std::size_t k = 0; k < to_w.size(); ++k) {
      const Eigen::PartialPivLU<matrix> found(of(general, k));
      to_first[k] = found.permutationP().transpose();
      to_second[k] = found.matrixLU().triangularView<Eigen::UnitLower>();
      to_third[k] = found.matrixLU().triangularView<Eigen::Upper>();
    }
  }
  [[gnu::noinline]] void cholesky_by_eigen() {
    for (std::size_t k = 0; k < to_w.size(); ++k) to_first[k] = Eigen::LLT<matrix>(of(definite, k)).matrixL();
  }
  [[gnu::noinline]] void inverse_by_eigen() {
    for (std::size_t k = 0; k < to_w.size(); ++k) to_first[k] = Eigen::PartialPivLU<matrix>(of(general, k)).inverse();
  }
  [[gnu::noinline]] void solve_by_eigen() {
    for (std::size_t k = 0; k < to_w.size(); ++k)
      to_solution[k] = Eigen::PartialPivLU<matrix>(of(general, k)).solve(Eigen::Map<const Eigen::VectorXd>(right.data() + static_cast<std::int64_t>(k) * n, n));
  }
};

template <std::int64_t Samples>
void rows() {
  using all = large<Samples>;
  const std::string prefix = Samples == 1 ? "large_" : "ten_large_";
  const auto both = [&](const char* name, auto ours, [[maybe_unused]] auto theirs) {
    for (const std::int64_t n : {32, 64, 128, 256}) {
      if (Samples > 1 && n > 64) continue;
      bench::row<all>(prefix + name, TENURE_EIGEN_DECOMPOSITIONS ? "tenure_eigen" : "tenure", n, ours);
      if (TENURE_EIGEN_DECOMPOSITIONS) bench::row<all>(prefix + name, "eigen", n, theirs);
    }
  };
  both("eigh", [](all& p) { p.eigh(); }, [](all& p) { p.eigh_by_eigen(); });
  both("svd", [](all& p) { p.svd(); }, [](all& p) { p.svd_by_eigen(); });
  both("qr", [](all& p) { p.qr(); }, [](all& p) { p.qr_by_eigen(); });
  both("lu", [](all& p) { p.lu(); }, [](all& p) { p.lu_by_eigen(); });
  both("cholesky", [](all& p) { p.cholesky(); }, [](all& p) { p.cholesky_by_eigen(); });
  both("inverse", [](all& p) { p.inverse(); }, [](all& p) { p.inverse_by_eigen(); });
  both("solve", [](all& p) { p.solve(); }, [](all& p) { p.solve_by_eigen(); });
}

const bool registered = [] {
  rows<1>(), rows<10>();
  return true;
}();

}  // namespace
