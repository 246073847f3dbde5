// SPDX-License-Identifier: BSL-1.0
// least_squares over rows of tables: least_squares(residual, levenberg_marquardt{...})(rows(cameras, camera_of), rows(points, point_of), observed), where
// residual(camera, point, observed) is a function of one observation. Residuals and Jacobians of all observations are one compiled function, with
// observations in lanes. The normal equations have a block for each pair of rows that meet in an observation. If the table of the last rows() is in no other
// one, its rows are eliminated first, each by itself (Schur's complement), so let it be the longest table.
// Law: the steps are those of the dense least_squares, but for rounding. If a call throws, the tables are unchanged.
// Source: Triggs et al. 2000, Bundle adjustment, for the complement.
#pragma once

#include <optional>

#include <tenure/optim/sparse/block_matrix.hpp>
#include <tenure/optim/sparse/observations.hpp>
#include <tenure/optim/sparse/rows.hpp>

namespace TENURE_NAMESPACE {
namespace optim::detail {

/// Products of blocks are Eigen's lazyProduct: from sizes of 20 on in all, `*` would call the product of large matrices, in three times the time.
template <class T, int Rows, int Columns>
using block = Eigen::Matrix<T, Rows, Columns, Columns == 1 && Rows != 1 ? Eigen::ColMajor : Eigen::RowMajor>;
template <class T, int Rows, int Columns>
auto block_at(T* p) { return Eigen::Map<block<std::remove_const_t<T>, Rows, Columns>>(p); }
template <class T, int Rows, int Columns>
auto block_at(const T* p) { return Eigen::Map<const block<T, Rows, Columns>>(p); }

template <class Function, class Tables, class Indices, class Data>
auto call_on_rows(const Function& f, double scale, const Tables& tables, const Indices& indices, const Data& data) {
  return std::apply([&](const auto&... t) {
    return std::apply([&](const auto*... i) { return std::apply([&](const auto&... d) { return f(scale, t..., *i..., d...); }, data); }, indices);
  }, tables);
}

/// One fit: what damped_steps() asks for. `Tables` and `Indices` are tuples with one type for each rows().
template <class F, class Loss, class Execution, class Tables, class Indices, class... Data>
class rows_problem {
  static constexpr std::size_t P = std::tuple_size_v<Tables>, last = P - 1;
  static constexpr auto parameters = std::make_index_sequence<P>{};
  template <std::size_t A>
  using table = std::tuple_element_t<A, Tables>;
  using T = element_t<table<0>>;
  template <std::size_t A>
  static constexpr int width = [] {
    std::int64_t n = 1;
    for (int a = 1; a < shape_of_t<table<A>>::rank; ++a) n *= shape_of_t<table<A>>::value[a];
    return static_cast<int>(n);
  }();
  using vector = Eigen::Matrix<T, Eigen::Dynamic, 1>;

 public:
  rows_problem(Tables tables, const Indices& indices, const std::array<const void*, P>& identity, double scale, const Execution& on, const Data&... data)
      : linearize_{{}, on}, cost_{{}, on}, at_(std::move(tables)), indices_(indices), scale_(scale), data_(data...) {
    next_.emplace(copies(parameters));
    linearize_again();  // gather checks the indices before they are used here
    observations_ = std::get<1>(*found_).extents()[0];
    for_each_parameter([&](auto a) {
      rows_[a] = std::get<a>(at_).extents()[0];
      first_of_[a] = a;
      for (std::size_t b = 0; b < a; ++b)
        if (identity[b] == identity[a] && first_of_[a] == a) first_of_[a] = b;
      read_index<a>();
    });
    eliminates_ = P > 1 && first_of_[last] == last;
    std::vector<int> widths;
    for_each_parameter([&](auto a) {
      if (!stays(a)) return;
      if (first_of_[a] != a) {
        base_[a] = base_[first_of_[a]];
        return;
      }
      base_[a] = static_cast<std::int64_t>(widths.size());
      widths.insert(widths.end(), static_cast<std::size_t>(rows_[a]), width<a>);
    });
    if (eliminates_) sort_by_last_row();
    make_blocks(widths);
  }

  std::pair<double, double> linearize() {
    if (is_fresh_) is_fresh_ = false;  // the constructor did it
    else linearize_again();
    add_observations();
    double largest = 0;
    const auto look = [&](T g) { largest = g == g ? std::max(largest, static_cast<double>(std::fabs(g))) : std::numeric_limits<double>::quiet_NaN(); };
    for (Eigen::Index i = 0; i < gradient_.size() && largest == largest; ++i) look(gradient_[i]);
    for (std::size_t i = 0; i < gradient_of_last_.size() && largest == largest; ++i) look(gradient_of_last_[i]);
    return {std::get<0>(*found_).item(), largest};
  }

  tried_step try_step(double damping) {
    constexpr double nan = std::numeric_limits<double>::quiet_NaN();
    const T by = static_cast<T>(damping);
    elements_ = of_observations_;
    for_each_diagonal([&](std::size_t at, Eigen::Index i) { elements_[at] += by * clamped(diagonal_[i]); });
    step_ = -gradient_;
    if (eliminates_ && !eliminate(by)) return {nan, nan, nan, nan};
    if (!matrix_->solve(elements_, step_)) return {nan, nan, nan, nan};
    double along = 0, damped = 0, square = 0;
    for (Eigen::Index i = 0; i < step_.size(); ++i) add_to(along, damped, square, step_[i], gradient_[i], diagonal_[i]);
    if (eliminates_) {
      constexpr int d = width<last>;
      for (std::int64_t p = 0; p < rows_[last]; ++p) {
        block<T, d, 1> left = -block_at<T, d, 1>(gradient_of_last_.data() + p * d);
        for (std::size_t x = start_[static_cast<std::size_t>(p)]; x < start_[static_cast<std::size_t>(p) + 1]; ++x) {
          const std::size_t n = order_[x];
          for_each_parameter([&](auto a) {
            if constexpr (a != last)
              left -= block_at<T, width<a>, d>(beside_last_[a].data() + n * width<a> * d).transpose().lazyProduct(block_at<T, width<a>, 1>(step_.data() + place_of(a, n)));
          });
        }
        const block<T, d, 1> moved = block_at<T, d, d>(inverse_.data() + p * d * d) * left;
        for (int i = 0; i < d; ++i) {
          const std::size_t at = static_cast<std::size_t>(p * d + i);
          step_of_last_[at] = moved[i];
          add_to(along, damped, square, moved[i], gradient_of_last_[at], of_last_[static_cast<std::size_t>(p * d * d + i * d + i)]);
        }
      }
    }
    const double size = move();
    const double there = call_on_rows(cost_, scale_, *next_, indices_, data_).item();
    return {0.5 * (damping * damped - along), std::sqrt(square), size, there};
  }
  void accept() { std::swap(at_, *next_); }
  template <std::size_t A>
  const table<A>& point() const { return std::get<A>(at_); }

 private:
  template <class G>
  static void for_each_parameter(G f) {
    [&]<std::size_t... A>(std::index_sequence<A...>) { (f(std::integral_constant<std::size_t, A>{}), ...); }(parameters);
  }
  template <std::size_t... A>
  Tables copies(std::index_sequence<A...>) const { return Tables{deepcopy(std::get<A>(at_))...}; }
  void linearize_again() { found_.emplace(call_on_rows(linearize_, scale_, at_, indices_, data_)); }
  bool stays(std::size_t a) const { return !(eliminates_ && a == last); }
  T clamped(T d) const { return std::max(d, least_diagonal_); }
  void add_to(double& along, double& damped, double& square, T step, T gradient, T diagonal) const {
    along += static_cast<double>(step) * static_cast<double>(gradient);
    damped += static_cast<double>(step) * static_cast<double>(step) * static_cast<double>(clamped(diagonal));
    square += static_cast<double>(step) * static_cast<double>(step);
  }

  template <std::size_t A>
  void read_index() {
    const auto& given = *std::get<A>(indices_);
    auto& to = index_[A];
    to.resize(static_cast<std::size_t>(observations_));
    for (std::int64_t i = 0; i < observations_; ++i) {
      const std::int64_t row = static_cast<std::int64_t>(given(i));
      to[static_cast<std::size_t>(i)] = static_cast<std::int32_t>(row);
    }
  }
  /// The number of the block row of parameter a in observation n, and its first row in the matrix.
  std::int64_t block_row(std::size_t a, std::size_t n) const { return base_[a] + index_[a][n]; }
  std::int64_t place_of(std::size_t a, std::size_t n) const { return matrix_->first_row(block_row(a, n)); }

  /// The observations of each row of the last table.
  void sort_by_last_row() {
    start_.assign(static_cast<std::size_t>(rows_[last]) + 1, 0);
    for (const std::int32_t p : index_[last]) ++start_[static_cast<std::size_t>(p) + 1];
    for (std::size_t p = 0; p < static_cast<std::size_t>(rows_[last]); ++p) start_[p + 1] += start_[p];
    order_.resize(index_[last].size());
    std::vector<std::size_t> next(start_.begin(), start_.end() - 1);
    for (std::size_t n = 0; n < order_.size(); ++n) order_[next[static_cast<std::size_t>(index_[last][n])]++] = n;
  }
  /// Calls f(a, b) for all pairs of parameters of observation n that stay and whose block lies in the lower triangle.
  template <class G>
  void for_each_pair(std::size_t n, G f) const {
    for_each_parameter([&](auto a) {
      for_each_parameter([&](auto b) {
        if (stays(a) && stays(b) && block_row(a, n) >= block_row(b, n)) f(a, b);
      });
    });
  }
  /// Calls f(a, b, n, m) for those of two observations n and m that share row p of the last table, in the order of eliminate().
  template <class G>
  void for_each_shared_pair(std::size_t p, G f) const {
    for (std::size_t x = start_[p]; x < start_[p + 1]; ++x)
      for_each_parameter([&](auto a) {
        for (std::size_t y = start_[p]; y < start_[p + 1]; ++y)
          for_each_parameter([&](auto b) {
            if (a != last && b != last && block_row(a, order_[x]) >= block_row(b, order_[y])) f(a, b, order_[x], order_[y]);
          });
      });
  }
  void make_blocks(const std::vector<int>& widths) {
    std::vector<std::uint64_t> places;
    const auto place = [&](std::size_t a, std::size_t b, std::size_t n, std::size_t m) { return block_place(block_row(a, n), block_row(b, m)); };
    for (std::size_t i = 0; i < widths.size(); ++i) places.push_back(block_place(static_cast<std::int64_t>(i), static_cast<std::int64_t>(i)));
    const auto each = [&](auto f) {
      for (std::size_t n = 0; n < static_cast<std::size_t>(observations_); ++n) for_each_pair(n, [&](auto a, auto b) { f(place(a, b, n, n)); });
      for (std::size_t p = 0; eliminates_ && p < static_cast<std::size_t>(rows_[last]); ++p)
        for_each_shared_pair(p, [&](auto a, auto b, std::size_t n, std::size_t m) { f(place(a, b, n, m)); });
    };
    each([&](std::uint64_t at) { places.push_back(at); });
    matrix_.emplace(widths, places);
    each([&](std::uint64_t at) { begins_.push_back(static_cast<std::uint32_t>(matrix_->begin_of(at))); });
    for (std::size_t i = 0; i < widths.size(); ++i) diagonals_.push_back(matrix_->begin_of(block_place(static_cast<std::int64_t>(i), static_cast<std::int64_t>(i))));
    widths_ = widths;
    gradient_.resize(matrix_->rows()), diagonal_.resize(matrix_->rows());
    for_each_parameter([&](auto a) { beside_last_[a].resize(eliminates_ && a != last ? static_cast<std::size_t>(observations_) * width<a> * width<last> : 0); });
    const std::size_t rows = eliminates_ ? static_cast<std::size_t>(rows_[last]) : 0;
    gradient_of_last_.resize(rows * width<last>), step_of_last_.resize(rows * width<last>);
    of_last_.resize(rows * width<last> * width<last>), inverse_.resize(of_last_.size());
  }
  template <class G>
  void for_each_diagonal(G f) const {
    for (std::size_t i = 0; i < diagonals_.size(); ++i)
      for (int k = 0; k < widths_[i]; ++k)
        f(diagonals_[i] + static_cast<std::size_t>(k * widths_[i] + k), static_cast<Eigen::Index>(matrix_->first_row(static_cast<std::int64_t>(i)) + k));
  }

  /// Adds J^T J and J^T r of all observations.
  void add_observations() {
    using residuals = std::remove_cvref_t<decltype(std::get<1>(*found_))>;
    constexpr int k = static_cast<int>(shape_of_t<residuals>::value[1]);
    of_observations_.assign(matrix_->size(), T(0));
    gradient_.setZero();
    std::fill(gradient_of_last_.begin(), gradient_of_last_.end(), T(0));
    std::fill(of_last_.begin(), of_last_.end(), T(0));
    const T* const r = std::get<1>(*found_).data();
    const auto jacobian = [&](auto a, std::size_t n) { return block_at<T, k, width<a>>(std::get<2 + a>(*found_).data() + n * k * width<a>); };
    const std::uint32_t* begin = begins_.data();
    for (std::size_t n = 0; n < static_cast<std::size_t>(observations_); ++n) {
      const auto of_n = block_at<T, k, 1>(r + n * k);
      for_each_parameter([&](auto a) {
        if (stays(a)) {
          block_at<T, width<a>, 1>(gradient_.data() + place_of(a, n)).noalias() += jacobian(a, n).transpose().lazyProduct(of_n);
        } else {
          constexpr int d = width<a>;
          const std::size_t p = static_cast<std::size_t>(index_[a][n]);
          block_at<T, d, 1>(gradient_of_last_.data() + p * d).noalias() += jacobian(a, n).transpose().lazyProduct(of_n);
          block_at<T, d, d>(of_last_.data() + p * d * d).noalias() += jacobian(a, n).transpose().lazyProduct(jacobian(a, n));
          for_each_parameter([&](auto b) {
            if constexpr (b != last) block_at<T, width<b>, d>(beside_last_[b].data() + n * width<b> * d).noalias() = jacobian(b, n).transpose().lazyProduct(jacobian(a, n));
          });
        }
      });
      for_each_pair(n, [&](auto a, auto b) {
        block_at<T, width<a>, width<b>>(of_observations_.data() + *begin++).noalias() += jacobian(a, n).transpose().lazyProduct(jacobian(b, n));
      });
    }
    first_shared_ = begin;
    T largest = 0;
    for_each_diagonal([&](std::size_t at, Eigen::Index i) { largest = std::max(largest, diagonal_[i] = of_observations_[at]); });
    for (const T x : of_last_) largest = std::max(largest, x);  // the largest element of a block is on its diagonal
    least_diagonal_ = largest * static_cast<T>(noise_of_diagonal<T>);
  }
  /// Takes the rows of the last table out of the system. False if the block of one is not positive definite.
  bool eliminate(T damping) {
    constexpr int d = width<last>;
    const std::uint32_t* begin = first_shared_;
    for (std::size_t p = 0; p < static_cast<std::size_t>(rows_[last]); ++p) {
      block<T, d, d> v = block_at<T, d, d>(of_last_.data() + p * d * d);
      for (int i = 0; i < d; ++i) v(i, i) += damping * clamped(v(i, i));
      const Eigen::LLT<block<T, d, d>> factor(v);
      if (factor.info() != Eigen::Success) return false;
      auto inverse = block_at<T, d, d>(inverse_.data() + p * d * d);
      inverse = factor.solve(block<T, d, d>::Identity());
      const block<T, d, 1> moved = inverse * block_at<T, d, 1>(gradient_of_last_.data() + p * d);
      for (std::size_t x = start_[p]; x < start_[p + 1]; ++x) {
        const std::size_t n = order_[x];
        for_each_parameter([&](auto a) {
          if constexpr (a != last) {
            constexpr int w = width<a>;
            const auto beside = block_at<T, w, d>(std::as_const(beside_last_[a]).data() + n * w * d);
            block_at<T, w, 1>(step_.data() + place_of(a, n)).noalias() += beside.lazyProduct(moved);
          }
        });
        for_each_parameter([&](auto a) {
          if constexpr (a != last) {
            const block<T, width<a>, d> times = block_at<T, width<a>, d>(std::as_const(beside_last_[a]).data() + n * width<a> * d).lazyProduct(inverse);
            for (std::size_t y = start_[p]; y < start_[p + 1]; ++y)
              for_each_parameter([&](auto b) {
                if constexpr (b != last) {
                  const std::size_t m = order_[y];
                  if (block_row(a, n) >= block_row(b, m))
                    block_at<T, width<a>, width<b>>(elements_.data() + *begin++).noalias() -=
                        times.lazyProduct(block_at<T, width<b>, d>(std::as_const(beside_last_[b]).data() + m * width<b> * d).transpose());
                }
              });
          }
        });
      }
    }
    return true;
  }
  /// Writes the tables after the step, and returns the length of all parameters before it.
  double move() {
    double square = 0;
    for_each_parameter([&](auto a) {
      const T* const from = std::get<a>(at_).data();
      T* const to = as_span(std::get<a>(*next_)).data();
      const std::size_t count = static_cast<std::size_t>(rows_[a]) * width<a>;
      const T* const step = stays(a) ? step_.data() + (rows_[a] > 0 ? matrix_->first_row(base_[a]) : 0) : step_of_last_.data();
      for (std::size_t i = 0; i < count; ++i) {
        to[i] = from[i] + step[i];
        if (first_of_[a] == a) square += static_cast<double>(from[i]) * static_cast<double>(from[i]);
      }
    });
    return std::sqrt(square);
  }

  compiled<linearized_rows<F, Loss, P, false>, Execution> linearize_;
  compiled<linearized_rows<F, Loss, P, true>, Execution> cost_;
  Tables at_;
  std::optional<Tables> next_;
  Indices indices_;
  double scale_;
  std::tuple<const Data&...> data_;
  std::optional<decltype(call_on_rows(linearize_, scale_, at_, indices_, data_))> found_;
  bool is_fresh_ = true, eliminates_ = false;
  std::int64_t observations_ = 0;
  std::array<std::int64_t, P> rows_{}, base_{};
  std::array<std::size_t, P> first_of_{};
  std::array<std::vector<std::int32_t>, P> index_;
  std::vector<std::size_t> start_, order_, diagonals_;
  std::vector<int> widths_;
  std::vector<std::uint32_t> begins_;  // where the block of each pair begins, in the order of for_each_pair and for_each_shared_pair
  const std::uint32_t* first_shared_ = nullptr;
  std::optional<block_matrix<T>> matrix_;
  std::vector<T> of_observations_, elements_;
  vector gradient_, diagonal_, step_;
  std::array<std::vector<T>, P> beside_last_;  // J^T J of each other parameter and the last one, of each observation
  T least_diagonal_ = 0;  // of D
  std::vector<T> gradient_of_last_, of_last_, inverse_, step_of_last_;
};

template <class F, class Loss, class Execution, class... X>
minimum fit_rows(const levenberg_marquardt& options, double scale, const Execution& on, const X&... x) {
  constexpr std::size_t P = (0 + ... + std::size_t{is_rows<X>});
  constexpr bool captures_nothing = std::is_empty_v<F>, first = rows_come_first<X...>();
  static_assert(captures_nothing, "tenure: least_squares: the function captures nothing: pass run-time values as arguments");
  static_assert(first, "tenure: least_squares: tn::rows(table, index) come before the data of the observations");
  if constexpr (captures_nothing && first) {
    const auto all = std::tie(x...);
    return [&]<std::size_t... I, std::size_t... D>(std::index_sequence<I...>, std::index_sequence<D...>) -> minimum {
      if constexpr ((has_parameters<std::remove_pointer_t<decltype(std::get<I>(all).table)>>() && ...)) {
        using tables = std::tuple<decltype(values_of(*std::get<I>(all).table))...>;
        using indices = std::tuple<decltype(std::get<I>(all).index)...>;
        auto values = tables{values_of(*std::get<I>(all).table)...};
        const std::array<const void*, P> identity{static_cast<const void*>(std::get<I>(all).table->data())...};
        rows_problem<F, Loss, Execution, tables, indices, std::remove_cvref_t<decltype(std::get<P + D>(all))>...> problem(
            tables{deepcopy(std::get<I>(values))...}, indices{std::get<I>(all).index...}, identity, scale, on, std::get<P + D>(all)...);
        const minimum reached = damped_steps(options, problem);
        (compiled<same_tree>{}.into(std::get<I>(values))(problem.template point<I>()), ...);
        return reached;
      } else {
        return {};
      }
    }(std::make_index_sequence<P>{}, std::make_index_sequence<sizeof...(X) - P>{});
  } else {
    return {};
  }
}

}  // namespace optim::detail

}  // namespace tenure
