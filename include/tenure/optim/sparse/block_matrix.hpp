// SPDX-License-Identifier: BSL-1.0
// A symmetric positive definite matrix of blocks, of which few are there, and the solution of its systems: by block_cholesky, or by Eigen's dense Cholesky
// factorization where the blocks fill most of the matrix anyway. The pattern is found once, the factors in each step.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <vector>

#include <tenure/optim/sparse/block_cholesky.hpp>

namespace TENURE_NAMESPACE::optim::detail {

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
      size += static_cast<std::size_t>(widths[block_row_of(p)]) * static_cast<std::size_t>(widths[block_column_of(p)]);
    }
    at_.push_back(size);
    const double n = static_cast<double>(rows());
    is_dense_ = n <= 64 || static_cast<double>(size) > 0.2 * n * n;
    if (!is_dense_) sparse_.emplace(widths, places_);
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
    if (!sparse_->factorize(elements, at_)) return false;
    sparse_->solve(x);
    return true;
  }

 private:
  /// Calls f(row, column, position) for all elements of the lower triangle.
  template <class F>
  void for_each(F f) const {
    for (std::size_t b = 0; b < places_.size(); ++b) {
      const std::size_t row = block_row_of(places_[b]), column = block_column_of(places_[b]);
      std::size_t from = at_[b];
      for (std::int64_t r = first_row_[row]; r < first_row_[row + 1]; ++r)
        for (std::int64_t c = first_row_[column]; c < first_row_[column + 1]; ++c, ++from)
          if (c <= r) f(r, c, from);
    }
  }
  std::vector<std::uint64_t> places_;
  std::vector<std::int64_t> first_row_;
  std::vector<std::size_t> at_;
  bool is_dense_ = false;
  Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic> dense_;
  std::optional<block_cholesky<T>> sparse_;
};

}  // namespace tenure::optim::detail
