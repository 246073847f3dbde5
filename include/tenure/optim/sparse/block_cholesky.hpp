// SPDX-License-Identifier: BSL-1.0
// The Cholesky factorization of a sparse symmetric positive definite matrix of blocks: multifrontal, in the order of approximate minimum degrees. Columns of
// the factor with the same rows are one supernode, whose front is a dense matrix for Eigen's kernels.
// Law: the solution is that of the dense factorization, but for rounding.
// Source: Liu 1992, The multifrontal method for sparse matrix solution. Cost: for a pose graph of 2,500 poses a tenth of the time of Eigen's SimplicialLLT.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include <tenure/core/config.hpp>

TENURE_WARNINGS_OFF  // of sums of 512 bits in Eigen's products
#include <Eigen/Cholesky>
#include <Eigen/OrderingMethods>
#include <Eigen/SparseCore>
TENURE_WARNINGS_ON

namespace TENURE_NAMESPACE::optim::detail {

/// The place of a block in the lower triangle, as one number.
constexpr std::uint64_t block_place(std::int64_t row, std::int64_t column) { return static_cast<std::uint64_t>(row) << 32 | static_cast<std::uint64_t>(column); }
constexpr std::size_t block_row_of(std::uint64_t place) { return static_cast<std::size_t>(place >> 32); }
constexpr std::size_t block_column_of(std::uint64_t place) { return static_cast<std::size_t>(place & 0xffffffffu); }

template <class T>
class block_cholesky {
  using vector = Eigen::Matrix<T, Eigen::Dynamic, 1>;
  using matrix = Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic>;
  using part = Eigen::Map<matrix, 0, Eigen::OuterStride<>>;
  using part_of_factor = Eigen::Map<const matrix, 0, Eigen::OuterStride<>>;

 public:
  /// Of the blocks in these places (row >= column, each once, those of the diagonal too), with this number of rows in each block row.
  block_cholesky(const std::vector<int>& widths, const std::vector<std::uint64_t>& places) : widths_(widths), position_(widths.size()), first_(widths.size() + 1, 0) {
    std::vector<columns> found = order(places);
    place_supernodes(found);
    place_blocks(places);
  }

  /// elements: those of the blocks, row-major, where block b begins at begin[b]. Of a block on the diagonal the lower triangle is read. False if the
  /// matrix is not positive definite.
  bool factorize(const std::vector<T>& elements, const std::vector<std::size_t>& begin) {
    factor_.assign(factor_size_, T(0));
    updates_.resize(updates_size_);
    std::size_t top = 0;  // of the updates
    for (const supernode& s : supernodes_) {
      T* const front = factor_.data() + s.factor;
      const std::size_t height = s.width + s.below;
      for (std::size_t b = s.first_block; b < s.last_block; ++b) add_block(blocks_[b], elements.data() + begin[blocks_[b].number], front, height);
      T* const update = updates_.data() + top;
      std::fill_n(update, s.below * s.below, T(0));
      std::size_t children = top;
      for (std::size_t c = s.children; c > 0; --c) {
        const supernode& child = supernodes_[child_[s.first_child + c - 1]];
        children -= child.below * child.below;
        add_update(child, updates_.data() + children, s, front, update);
      }
      if (!eliminate(s, front, update)) return false;
      std::copy(update, update + s.below * s.below, updates_.data() + children);
      top = children + s.below * s.below;
    }
    return true;
  }

  /// Solves for x, in place of the right-hand side.
  void solve(vector& x) {
    vector y(x.size()), beside;
    const auto move_blocks = [&](auto move) {
      Eigen::Index from = 0;
      for (std::size_t i = 0; i < widths_.size(); from += widths_[i++]) move(from, static_cast<Eigen::Index>(first_[position_[i]]), widths_[i]);
    };
    move_blocks([&](Eigen::Index here, Eigen::Index there, int n) { y.segment(there, n) = x.segment(here, n); });
    for (const supernode& s : supernodes_) {
      auto own = y.segment(static_cast<Eigen::Index>(s.first), static_cast<Eigen::Index>(s.width));
      corner(s).template triangularView<Eigen::Lower>().solveInPlace(own);
      if (s.below == 0) continue;
      beside.noalias() = below(s) * own;
      for_each_run(s.rows, [&](const run& r) { y.segment(r.to, r.count) -= beside.segment(r.from, r.count); });
    }
    for (std::size_t i = supernodes_.size(); i > 0; --i) {
      const supernode& s = supernodes_[i - 1];
      auto own = y.segment(static_cast<Eigen::Index>(s.first), static_cast<Eigen::Index>(s.width));
      if (s.below > 0) {
        beside.resize(static_cast<Eigen::Index>(s.below));
        for_each_run(s.rows, [&](const run& r) { beside.segment(r.from, r.count) = y.segment(r.to, r.count); });
        own.noalias() -= below(s).transpose() * beside;
      }
      corner(s).transpose().template triangularView<Eigen::Upper>().solveInPlace(own);
    }
    move_blocks([&](Eigen::Index here, Eigen::Index there, int n) { x.segment(here, n) = y.segment(there, n); });
  }

 private:
  /// Consecutive rows: where they begin, and where they go.
  struct run {
    Eigen::Index from, to, count;
  };
  struct runs {
    std::size_t begin = 0, end = 0;
  };
  struct supernode {
    std::size_t first = 0, width = 0, below = 0;   // its columns, and the number of rows below them
    std::size_t factor = 0;                        // where its columns of the factor begin: a matrix of width + below rows, column-major
    std::size_t first_block = 0, last_block = 0;   // of the matrix
    std::size_t first_child = 0, children = 0;
    runs rows, in_parent;                          // the rows below: in the vector, and in the front of the parent
  };
  struct block {
    std::size_t number = 0, to = 0;  // to: in the front
    int rows = 0, columns = 0;
    bool is_transposed = false, is_diagonal = false;
  };
  /// Block columns with the same rows below, in the order of minimum degrees.
  struct columns {
    std::vector<int> own, below;
    std::size_t parent = 0;
  };

  template <class F>
  void for_each_run(const runs& of, F f) const {
    for (std::size_t i = of.begin; i < of.end; ++i) f(runs_[i]);
  }
  part_of_factor corner(const supernode& s) const { return part_of_factor(factor_.data() + s.factor, index(s.width), index(s.width), stride(s)); }
  part_of_factor below(const supernode& s) const { return part_of_factor(factor_.data() + s.factor + s.width, index(s.below), index(s.width), stride(s)); }
  static Eigen::Index index(std::size_t i) { return static_cast<Eigen::Index>(i); }
  static Eigen::OuterStride<> stride(const supernode& s) { return Eigen::OuterStride<>(index(s.width + s.below)); }

  // ---- once: the order, the supernodes, the places ----

  /// The supernodes, children before parents. Afterwards position_ has the place of each block row.
  std::vector<columns> order(const std::vector<std::uint64_t>& places) {
    const std::size_t n = widths_.size();
    Eigen::SparseMatrix<double> pattern(index(n), index(n));
    std::vector<Eigen::Triplet<double>> all;
    for (const std::uint64_t p : places) all.emplace_back(static_cast<int>(block_row_of(p)), static_cast<int>(block_column_of(p)), 1.0);
    pattern.setFromTriplets(all.begin(), all.end());
    Eigen::PermutationMatrix<Eigen::Dynamic, Eigen::Dynamic, int> old_of;
    Eigen::AMDOrdering<int>()(pattern.template selfadjointView<Eigen::Lower>(), old_of);
    std::vector<int> place(n);
    for (std::size_t i = 0; i < n; ++i) place[static_cast<std::size_t>(old_of.indices()[index(i)])] = static_cast<int>(i);

    // The rows of each column of the factor: those of the matrix and of its children in the elimination tree.
    std::vector<std::vector<int>> rows(n), children(n);
    for (const std::uint64_t p : places) {
      const int i = place[block_row_of(p)], j = place[block_column_of(p)];
      if (i != j) rows[static_cast<std::size_t>(std::min(i, j))].push_back(std::max(i, j));
    }
    std::vector<std::size_t> supernode_of(n);
    std::vector<columns> found;
    for (std::size_t j = 0; j < n; ++j) {
      std::vector<int>& own = rows[j];
      for (const int c : children[j]) {
        const std::vector<int>& of_child = rows[static_cast<std::size_t>(c)];
        own.insert(own.end(), of_child.begin() + 1, of_child.end());  // the first one is j
      }
      std::sort(own.begin(), own.end());
      own.erase(std::unique(own.begin(), own.end()), own.end());
      // A child whose other rows are these is of the same supernode, with some zeros more if it is small.
      std::size_t at = found.size();
      for (const int c : children[j])
        if (rows[static_cast<std::size_t>(c)].size() == own.size() + 1) at = supernode_of[static_cast<std::size_t>(c)];
      if (at == found.size()) found.emplace_back();
      supernode_of[j] = at;
      found[at].own.push_back(static_cast<int>(j));
      found[at].below = own;
      if (!own.empty()) children[static_cast<std::size_t>(own[0])].push_back(static_cast<int>(j));
    }
    for (columns& s : found) s.parent = s.below.empty() ? found.size() : supernode_of[static_cast<std::size_t>(s.below[0])];
    found = children_first(std::move(found));

    std::vector<int> final_of(n);
    int next = 0;
    for (const columns& s : found)
      for (const int j : s.own) final_of[static_cast<std::size_t>(j)] = next++;
    for (std::size_t i = 0; i < n; ++i) position_[i] = static_cast<std::size_t>(final_of[static_cast<std::size_t>(place[i])]);
    for (columns& s : found) {
      for (int& j : s.own) j = final_of[static_cast<std::size_t>(j)];
      for (int& i : s.below) i = final_of[static_cast<std::size_t>(i)];
      std::sort(s.below.begin(), s.below.end());
    }
    return found;
  }
  /// The same supernodes with all descendants of one directly before it.
  static std::vector<columns> children_first(std::vector<columns> given) {
    const std::size_t none = given.size();
    std::vector<std::vector<std::size_t>> children(none + 1);
    for (std::size_t s = 0; s < none; ++s) children[given[s].parent].push_back(s);
    std::vector<std::size_t> wanted, open{none};
    while (!open.empty()) {  // parents first, which is then turned around
      const std::size_t s = open.back();
      open.pop_back();
      if (s != none) wanted.push_back(s);
      open.insert(open.end(), children[s].begin(), children[s].end());
    }
    std::vector<std::size_t> place(none + 1, none);
    std::vector<columns> to;
    for (std::size_t i = none; i > 0; --i) {
      place[wanted[i - 1]] = to.size();
      to.push_back(std::move(given[wanted[i - 1]]));
    }
    for (columns& s : to) s.parent = place[s.parent];
    return to;
  }

  void place_supernodes(const std::vector<columns>& found) {
    for (std::size_t i = 0; i < widths_.size(); ++i) first_[position_[i] + 1] = static_cast<std::size_t>(widths_[i]);
    for (std::size_t i = 0; i < widths_.size(); ++i) first_[i + 1] += first_[i];
    const auto width_of = [&](int i) { return first_[static_cast<std::size_t>(i) + 1] - first_[static_cast<std::size_t>(i)]; };
    supernodes_.resize(found.size());
    rows_.resize(found.size());
    std::vector<std::vector<std::size_t>> children(found.size() + 1);
    for (std::size_t i = 0; i < found.size(); ++i) {
      supernode& s = supernodes_[i];
      s.first = first_[static_cast<std::size_t>(found[i].own[0])];
      for (const int j : found[i].own) s.width += width_of(j);
      for (const int r : found[i].below) s.below += width_of(r);
      s.factor = factor_size_;
      factor_size_ += s.width * (s.width + s.below);
      rows_[i] = found[i].below;
      children[found[i].parent].push_back(i);
    }
    std::size_t top = 0;
    for (std::size_t i = 0; i < found.size(); ++i) {
      supernode& s = supernodes_[i];
      const std::size_t parent = found[i].parent;
      s.first_child = child_.size(), s.children = children[i].size();
      child_.insert(child_.end(), children[i].begin(), children[i].end());
      s.rows = add_runs(rows_[i], [&](int r) { return first_[static_cast<std::size_t>(r)]; });
      if (parent < found.size()) s.in_parent = add_runs(rows_[i], [&](int r) { return row_in_front(parent, r); });
      updates_size_ = std::max(updates_size_, top + s.below * s.below);
      for (const std::size_t c : children[i]) top -= supernodes_[c].below * supernodes_[c].below;
      top += s.below * s.below;
    }
  }
  /// The row in the front of supernode s with which block row r begins.
  std::size_t row_in_front(std::size_t s, int r) const {
    const supernode& of = supernodes_[s];
    const std::size_t begin = first_[static_cast<std::size_t>(r)];
    if (begin < of.first + of.width) return begin - of.first;
    std::size_t at = of.width;
    for (const int other : rows_[s]) {
      if (other == r) break;
      at += first_[static_cast<std::size_t>(other) + 1] - first_[static_cast<std::size_t>(other)];
    }
    return at;
  }
  template <class Place>
  runs add_runs(const std::vector<int>& rows, Place place) {
    runs added{runs_.size(), runs_.size()};
    Eigen::Index from = 0;
    for (const int r : rows) {
      const Eigen::Index count = index(first_[static_cast<std::size_t>(r) + 1] - first_[static_cast<std::size_t>(r)]), to = index(place(r));
      if (runs_.size() > added.begin && runs_.back().to + runs_.back().count == to) runs_.back().count += count;
      else runs_.push_back({from, to, count});
      from += count;
    }
    added.end = runs_.size();
    return added;
  }
  void place_blocks(const std::vector<std::uint64_t>& places) {
    std::vector<std::size_t> supernode_of(widths_.size());
    for (std::size_t s = 0, i = 0; s < supernodes_.size(); ++s)
      for (; i < widths_.size() && first_[i] < supernodes_[s].first + supernodes_[s].width; ++i) supernode_of[i] = s;
    std::vector<std::pair<std::size_t, block>> all;
    for (std::size_t b = 0; b < places.size(); ++b) {
      const std::size_t row = block_row_of(places[b]), column = block_column_of(places[b]);
      const std::size_t i = std::max(position_[row], position_[column]), j = std::min(position_[row], position_[column]), s = supernode_of[j];
      const supernode& of = supernodes_[s];
      const std::size_t to = (first_[j] - of.first) * (of.width + of.below) + row_in_front(s, static_cast<int>(i));
      all.push_back({s, {b, to, widths_[row], widths_[column], position_[row] < position_[column], row == column}});
    }
    std::stable_sort(all.begin(), all.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
    std::size_t at = 0;
    for (std::size_t s = 0; s < supernodes_.size(); ++s) {
      supernodes_[s].first_block = at;
      for (; at < all.size() && all[at].first == s; ++at) blocks_.push_back(all[at].second);
      supernodes_[s].last_block = at;
    }
  }

  // ---- in each factorization ----

  static void add_block(const block& b, const T* from, T* front, std::size_t height) {
    T* const to = front + b.to;
    for (int r = 0; r < b.rows; ++r)
      for (int c = 0; c < b.columns; ++c, ++from)
        if (!b.is_diagonal || c <= r) to[b.is_transposed ? static_cast<std::size_t>(r) * height + static_cast<std::size_t>(c) : static_cast<std::size_t>(c) * height + static_cast<std::size_t>(r)] += *from;
  }
  /// Adds the lower triangle of a child's update to the front of s: to its columns, and to what it hands on.
  void add_update(const supernode& child, const T* from, const supernode& s, T* front, T* update) const {
    const auto add = [&](Eigen::Index column, Eigen::Index to, const run& first, const run* end) {
      const bool is_own = to < index(s.width);
      T* const column_of = is_own ? front + to * index(s.width + s.below) : update + (to - index(s.width)) * index(s.below) - index(s.width);
      const T* const column_from = from + column * index(child.below);
      for (const run* r = &first; r != end; ++r) {
        const Eigen::Index skipped = r == &first ? column - r->from : 0;
        for (Eigen::Index i = skipped; i < r->count; ++i) column_of[r->to + i] += column_from[r->from + i];
      }
    };
    const run* const end = runs_.data() + child.in_parent.end;
    for (const run* r = runs_.data() + child.in_parent.begin; r != end; ++r)
      for (Eigen::Index i = 0; i < r->count; ++i) add(r->from + i, r->to + i, *r, end);
  }
  static bool eliminate(const supernode& s, T* front, T* update) {
    part own(front, index(s.width), index(s.width), stride(s));
    const Eigen::LLT<Eigen::Ref<matrix>> found(own);
    if (found.info() != Eigen::Success) return false;
    if (s.below == 0) return true;
    part rest(front + s.width, index(s.below), index(s.width), stride(s));
    own.transpose().template triangularView<Eigen::Upper>().template solveInPlace<Eigen::OnTheRight>(rest);
    Eigen::Map<matrix>(update, index(s.below), index(s.below)).template selfadjointView<Eigen::Lower>().rankUpdate(rest, T(-1));
    return true;
  }

  std::vector<int> widths_;
  std::vector<std::size_t> position_, first_;  // the place of each block row, and the first row in each place
  std::vector<supernode> supernodes_;
  std::vector<std::vector<int>> rows_;
  std::vector<std::size_t> child_;
  std::vector<run> runs_;
  std::vector<block> blocks_;
  std::size_t factor_size_ = 0, updates_size_ = 0;
  std::vector<T> factor_, updates_;
};

}  // namespace tenure::optim::detail
