// SPDX-License-Identifier: BSL-1.0
// Decompositions of small matrices, float64: one matrix in a call, and a batch in a call beside a loop of Eigen's with fixed sizes. Of svd and eigh the values
// and the vectors are computed, of qr both factors. Eigen: SelfAdjointEigenSolver (compute), JacobiSVD, PartialPivLU, LLT, HouseholderQR.
#include "../small/small.hpp"

#include <vector>

namespace {

using namespace bench::small;

constexpr auto symmetric = tn::compile([](auto a) { return tn::eigh(a); });
constexpr auto singular = tn::compile([](auto a) { return tn::svd(a); });
constexpr auto triangles = tn::compile([](auto a) { return tn::lu(a); });
constexpr auto root = tn::compile([](auto a) { return tn::cholesky(a); });
constexpr auto orthonormal = tn::compile([](auto a) { return tn::qr(a); });

/// Matrices of N x N: `Samples` in a batch, or one without an axis for the batch where Samples is 1.
template <int N, std::int64_t Samples>
struct decompositions {
  template <std::int64_t... E>
  using batch = std::conditional_t<Samples == 1, array<E...>, array<Samples, E...>>;

  batch<N, N> general, definite, u, s, v;
  batch<N> w;
  std::vector<matrix<N, N>> of_general, of_definite, to_u, to_s, to_v;
  std::vector<vector<N>> to_w;

  explicit decompositions(std::int64_t) : of_general(Samples), of_definite(Samples), to_u(Samples), to_s(Samples), to_v(Samples), to_w(Samples) {
    fill(1, general);
    double *const a = bench::data_of(general), *const d = bench::data_of(definite);
    for (std::int64_t k = 0; k < Samples; ++k)
      for (int i = 0; i < N; ++i)
        for (int j = 0; j < N; ++j) {
          const std::int64_t at = (k * N + i) * N + j, mirrored = (k * N + j) * N + i;
          d[at] = a[at] + a[mirrored] + (i == j ? N : 0);
          of_general[static_cast<std::size_t>(k)](i, j) = a[at];
          of_definite[static_cast<std::size_t>(k)](i, j) = d[at];
        }
    eigh(), eigh_by_eigen(), require("eigh", w, to_w);
    svd(), svd_by_eigen(), require("svd", w, to_w);
    lu(), lu_by_eigen(), require("lu", u, to_u);
    cholesky(), cholesky_by_eigen(), require("cholesky", u, to_u);
    qr(), qr_by_eigen(), require_sizes("qr", u, to_u);
  }
  std::int64_t items() const { return Samples; }

  template <class X, class M>
  void require(const char* who, const X& x, const std::vector<M>& wanted) {
    for (std::size_t k = 0; k < wanted.size(); ++k) bench::require_agreement(who, x.data() + static_cast<std::int64_t>(k) * wanted[k].size(), wanted[k].data(), wanted[k].size(), 1e-9);
  }
  /// The same without signs.
  template <class X, class M>
  void require_sizes(const char* who, const X& x, const std::vector<M>& wanted) {
    for (std::size_t k = 0; k < wanted.size(); ++k)
      for (int e = 0; e < N * N; ++e) {
        const double found = std::abs(x.data()[static_cast<int>(k) * N * N + e]), size = std::abs(wanted[k].data()[e]);
        bench::require_agreement(who, &found, &size, 1, 1e-7);
      }
  }

  [[gnu::noinline]] void eigh() { symmetric.into(w, v)(definite); }
  [[gnu::noinline]] void svd() { singular.into(u, w, v)(general); }
  [[gnu::noinline]] void lu() { triangles.into(v, s, u)(general); }
  [[gnu::noinline]] void cholesky() { root.into(u)(definite); }
  [[gnu::noinline]] void qr() { orthonormal.into(v, u)(general); }

  [[gnu::noinline]] void eigh_by_eigen() {
    Eigen::SelfAdjointEigenSolver<matrix<N, N>> of;
    for (std::size_t k = 0; k < of_definite.size(); ++k) of.compute(of_definite[k]), to_w[k] = of.eigenvalues(), to_v[k] = of.eigenvectors();
  }
  [[gnu::noinline]] void svd_by_eigen() {
    Eigen::JacobiSVD<matrix<N, N>> of;
    for (std::size_t k = 0; k < of_general.size(); ++k) {
      of.compute(of_general[k], Eigen::ComputeFullU | Eigen::ComputeFullV);
      to_u[k] = of.matrixU(), to_w[k] = of.singularValues(), to_v[k] = of.matrixV();
    }
  }
  [[gnu::noinline]] void lu_by_eigen() {
    for (std::size_t k = 0; k < of_general.size(); ++k) {
      const Eigen::PartialPivLU<matrix<N, N>> of(of_general[k]);
      to_u[k] = of.matrixLU().template triangularView<Eigen::Upper>();
      to_s[k] = of.matrixLU().template triangularView<Eigen::UnitLower>();
      to_v[k] = of.permutationP().transpose();
    }
  }
  [[gnu::noinline]] void cholesky_by_eigen() {
    for (std::size_t k = 0; k < of_definite.size(); ++k) to_u[k] = Eigen::LLT<matrix<N, N>>(of_definite[k]).matrixL();
  }
  [[gnu::noinline]] void qr_by_eigen() {
    for (std::size_t k = 0; k < of_general.size(); ++k) {
      const Eigen::HouseholderQR<matrix<N, N>> of(of_general[k]);
      to_u[k] = of.matrixQR().template triangularView<Eigen::Upper>();
      to_v[k] = of.householderQ();
    }
  }
};

template <int N, std::int64_t Samples>
void rows() {
  using all = decompositions<N, Samples>;
  const auto both = [](const char* one, const char* many, auto ours, auto theirs) {
    bench::row<all>(Samples == 1 ? one : many, "tenure", N, ours);
    bench::row<all>(Samples == 1 ? one : many, "eigen", N, theirs);
  };
  both("one_eigh", "batch_eigh", [](all& p) { p.eigh(); }, [](all& p) { p.eigh_by_eigen(); });
  both("one_svd", "batch_svd", [](all& p) { p.svd(); }, [](all& p) { p.svd_by_eigen(); });
  both("one_lu", "batch_lu", [](all& p) { p.lu(); }, [](all& p) { p.lu_by_eigen(); });
  both("one_cholesky", "batch_cholesky", [](all& p) { p.cholesky(); }, [](all& p) { p.cholesky_by_eigen(); });
  both("one_qr", "batch_qr", [](all& p) { p.qr(); }, [](all& p) { p.qr_by_eigen(); });
}

const bool registered = [] {
  rows<3, 1>(), rows<4, 1>(), rows<6, 1>(), rows<64, 1>();
  rows<3, 10000>(), rows<8, 10000>(), rows<32, 1000>();
  return true;
}();

}  // namespace
