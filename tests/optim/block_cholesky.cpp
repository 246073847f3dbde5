// SPDX-License-Identifier: BSL-1.0
// The factorization of sparse matrices of blocks: the residual of its solutions, by loops over all elements.
#include "../catch.hpp"

#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <set>
#include <utility>
#include <vector>

#include <tenure/optim/sparse/block_cholesky.hpp>

namespace {

namespace of = tenure::optim::detail;
using pairs = std::set<std::pair<int, int>>;  // of block rows that meet, row > column

/// A sum of products of two random rows of blocks for each pair, so that it is positive definite, and a part of the identity.
template <class T>
struct matrix {
  std::vector<int> widths;
  std::vector<std::uint64_t> places;
  std::vector<std::size_t> begin;
  std::vector<T> elements;
  std::vector<std::vector<T>> whole;

  matrix(std::vector<int> rows, const pairs& meet, unsigned seed, T on_diagonal = T(0.1)) : widths(std::move(rows)) {
    std::mt19937 engine(seed);
    std::uniform_real_distribution<T> uniform(-1, 1);
    std::vector<int> first{0};
    for (const int w : widths) first.push_back(first.back() + w);
    const auto n = static_cast<std::size_t>(first.back());
    whole.assign(n, std::vector<T>(n, T(0)));
    for (std::size_t i = 0; i < n; ++i) whole[i][i] = on_diagonal;
    const auto add = [&](const std::vector<int>& blocks) {
      std::vector<std::pair<std::size_t, T>> row;
      for (const int b : blocks)
        for (int k = first[static_cast<std::size_t>(b)]; k < first[static_cast<std::size_t>(b) + 1]; ++k) row.push_back({static_cast<std::size_t>(k), uniform(engine)});
      for (const auto& [i, x] : row)
        for (const auto& [j, y] : row) whole[i][j] += x * y;
    };
    pairs all = meet;
    for (int i = 0; i < static_cast<int>(widths.size()); ++i) all.insert({i, i});
    for (const auto& [i, j] : all) i == j ? add({i}) : add({i, j});
    for (const auto& [i, j] : all) {
      places.push_back(of::block_place(i, j));
      begin.push_back(elements.size());
      const auto row = static_cast<std::size_t>(i), column = static_cast<std::size_t>(j);
      for (int r = first[row]; r < first[row + 1]; ++r)
        for (int c = first[column]; c < first[column + 1]; ++c) elements.push_back(i == j && c > r ? T(99) : whole[static_cast<std::size_t>(r)][static_cast<std::size_t>(c)]);
    }
  }

  /// The largest residual of a solution, divided by the largest element of the right-hand side and of the matrix times the solution.
  double residual() const {
    const std::size_t n = whole.size();
    of::block_cholesky<T> factor(widths, places);
    Eigen::Matrix<T, Eigen::Dynamic, 1> b(static_cast<Eigen::Index>(n)), x;
    for (std::size_t i = 0; i < n; ++i) b[static_cast<Eigen::Index>(i)] = std::sin(T(i + 1));
    for (int again = 0; again < 2; ++again) {
      x = b;
      if (!factor.factorize(elements, begin)) return std::numeric_limits<double>::infinity();
      factor.solve(x);
    }
    double worst = 0;
    for (std::size_t i = 0; i < n; ++i) {
      double sum = -static_cast<double>(b[static_cast<Eigen::Index>(i)]), size = std::fabs(sum);
      for (std::size_t j = 0; j < n; ++j) {
        const double term = static_cast<double>(whole[i][j]) * static_cast<double>(x[static_cast<Eigen::Index>(j)]);
        sum += term, size += std::fabs(term);
      }
      if (!(std::fabs(sum) <= worst * size)) worst = std::fabs(sum) / size;
    }
    return worst;
  }
};

TEST_CASE("the solution is that of the dense factorization, but for rounding", "[block_cholesky]") {
  std::mt19937 engine(1);
  for (unsigned round = 0; round < 60; ++round) {
    const int blocks = 1 + static_cast<int>(engine() % 40);
    std::vector<int> widths;
    for (int i = 0; i < blocks; ++i) widths.push_back(1 + static_cast<int>(engine() % (round % 2 == 0 ? 1 : 7)));
    pairs meet;
    for (int k = 0; k < blocks * static_cast<int>(round % 4); ++k) {
      const int i = static_cast<int>(engine() % static_cast<unsigned>(blocks)), j = static_cast<int>(engine() % static_cast<unsigned>(blocks));
      if (i != j) meet.insert({std::max(i, j), std::min(i, j)});
    }
    INFO("round " << round << ", " << blocks << " blocks");
    CHECK(matrix<double>(widths, meet, round).residual() < 1e-13);
    CHECK(matrix<float>(widths, meet, round).residual() < 1e-5);
  }
}
TEST_CASE("chains, stars, grids and full matrices are factorized", "[block_cholesky]") {
  pairs chain, star, grid, full;
  for (int i = 1; i < 36; ++i) {
    chain.insert({i, i - 1}), star.insert({i, 0});
    if (i % 6 != 0) grid.insert({i, i - 1});
    if (i >= 6) grid.insert({i, i - 6});
    for (int j = 0; j < i; ++j) full.insert({i, j});
  }
  for (const pairs& meet : {chain, star, grid, full})
    for (const int width : {1, 3, 6, 9}) CHECK(matrix<double>(std::vector<int>(36, width), meet, 7).residual() < 1e-13);
}
TEST_CASE("a matrix that is not positive definite is refused", "[block_cholesky]") {
  for (const std::size_t wrong : {0, 5, 11}) {
    pairs chain;
    for (int i = 1; i < 12; ++i) chain.insert({i, i - 1});
    matrix<double> m(std::vector<int>(12, 2), chain, 3);
    of::block_cholesky<double> factor(m.widths, m.places);
    CHECK(factor.factorize(m.elements, m.begin));
    for (std::size_t b = 0; b < m.places.size(); ++b)
      if (m.places[b] == of::block_place(static_cast<std::int64_t>(wrong), static_cast<std::int64_t>(wrong))) m.elements[m.begin[b] + 3] = -1;
    CHECK(!factor.factorize(m.elements, m.begin));
  }
}

}  // namespace
