// SPDX-License-Identifier: BSL-1.0
// A symmetric positive definite matrix of blocks, of which few are there, and the solution of its systems by Eigen's Cholesky factorizations: the sparse one
// with approximate minimum degrees, or the dense one where the blocks fill most of the matrix anyway. The pattern is found once, the factors in each step.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include <tenure/core/config.hpp>

TENURE_WARNINGS_OFF  // of sums of 512 bits in Eigen's products
#include <Eigen/Cholesky>
#include <Eigen/SparseCholesky>
TENURE_WARNINGS_ON

namespace TENURE_NAMESPACE::optim::detail {

/// The place of a block in the lower triangle, as one number.
constexpr std::uint64_t block_place(std::int64_t row, std::int64_t column) { return static_cast<std::uint64_t>(row) << 32 | static_cast<std::uint64_t>(column); }

template <class T>
class block_matrix {
 public:
  /// widths: the number of rows of each block row. places: those of all blocks, in any order and as often as they come; row >= column.
  block_matrix(const std::vector<int>& widths, std::vector<std::uint64_t> places) : places_(std::move(places)), first_row_(widths.size() + 1, 0) {
    std::sort(places_.begin(), places_.end());
    places_.erase(std::unique(places_.begin(), places_.end()), places_.end());
    for (std::size_t i = 0; i < widths.size(); ++i) first_row_[i + 1] = first_row_[i] + widths[i];
    at_.reserve(places_.size() + 1);
    std::size_t size = 0;
    for (const std::uint64_t p : places_) {
      at_.push_back(size);
      size += static_cast<std::size_t>(widths[row_of(p)]) * static_cast<std::size_t>(widths[column_of(p)]);
    }
    at_.push_back(size);
    const double n = static_cast<double>(rows());
    is_dense_ = n <= 64 || static_cast<double>(size) > 0.2 * n * n;
    if (!is_dense_) make_pattern();
  }

  std::int64_t rows() const { return first_row_.back(); }
  std::int64_t first_row(std::int64_t block_row) const { return first_row_[static_cast<std::size_t>(block_row)]; }
  /// Where the elements of a block begin, row-major. The block is there.
  std::size_t begin_of(std::uint64_t place) const {
    return at_[static_cast<std::size_t>(std::lower_bound(places_.begin(), places_.end(), place) - places_.begin())];
  }
  std::size_t size() const { return at_.back(); }

  /// Solves for x, in place of the right-hand side. `elements` are those of all blocks; of a block on the diagonal the lower triangle is read. False if the
  /// matrix is not positive definite.
  bool solve(const std::vector<T>& elements, Eigen::Matrix<T, Eigen::Dynamic, 1>& x) {
    if (is_dense_) {
      dense_.setZero(rows(), rows());
      for_each([&](std::int64_t row, std::int64_t column, std::size_t from) { dense_(row, column) = elements[from]; });
      const Eigen::LLT<Eigen::Ref<Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic>>> factor(dense_);
      if (factor.info() != Eigen::Success) return false;
      factor.solveInPlace(x);
      return true;
    }
    for (std::size_t k = 0; k < source_.size(); ++k) sparse_.valuePtr()[k] = elements[source_[k]];
    factor_.factorize(sparse_);
    if (factor_.info() != Eigen::Success) return false;
    x = factor_.solve(x).eval();
    return true;
  }

 private:
  static std::size_t row_of(std::uint64_t place) { return static_cast<std::size_t>(place >> 32); }
  static std::size_t column_of(std::uint64_t place) { return static_cast<std::size_t>(place & 0xffffffffu); }

  /// Calls f(row, column, position) for all elements of the lower triangle.
  template <class F>
  void for_each(F f) const {
    for (std::size_t b = 0; b < places_.size(); ++b) {
      const std::size_t row = row_of(places_[b]), column = column_of(places_[b]);
      std::size_t from = at_[b];
      for (std::int64_t r = first_row_[row]; r < first_row_[row + 1]; ++r)
        for (std::int64_t c = first_row_[column]; c < first_row_[column + 1]; ++c, ++from)
          if (c <= r) f(r, c, from);
    }
  }
  /// Which element stands at each place of the sparse matrix. Eigen sorts the elements, so each begins with its position as its value.
  void make_pattern() {
    std::vector<Eigen::Triplet<double>> all;
    for_each([&](std::int64_t r, std::int64_t c, std::size_t from) { all.emplace_back(static_cast<int>(r), static_cast<int>(c), static_cast<double>(from)); });
    Eigen::SparseMatrix<double> positions(rows(), rows());
    positions.setFromTriplets(all.begin(), all.end());
    source_.resize(static_cast<std::size_t>(positions.nonZeros()));
    for (std::size_t k = 0; k < source_.size(); ++k) source_[k] = static_cast<std::size_t>(positions.valuePtr()[k]);
    sparse_ = positions.cast<T>();
    factor_.analyzePattern(sparse_);
  }

  std::vector<std::uint64_t> places_;
  std::vector<std::int64_t> first_row_;
  std::vector<std::size_t> at_, source_;
  bool is_dense_ = false;
  Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic> dense_;
  Eigen::SparseMatrix<T> sparse_;
  Eigen::SimplicialLLT<Eigen::SparseMatrix<T>, Eigen::Lower> factor_;
};

}  // namespace tenure::optim::detail
