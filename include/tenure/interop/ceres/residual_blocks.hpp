// SPDX-License-Identifier: BSL-1.0
// residual_blocks(f, rows(cameras, camera_of), rows(points, point_of), seen): all residual blocks of one kind, for a ceres::Problem. When Ceres begins an evaluation,
// one compiled function computes the residuals and Jacobians of all blocks, with blocks in lanes and on the threads of a pool; Ceres' cost functions copy them.
// Law: residuals and Jacobians are those of vmap(f) and vmap(jacobian(f)). An evaluation allocates nothing.
// Cost: the memory of all Jacobians.
#pragma once

#include <tenure/core/letters/hide.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include <ceres/evaluation_callback.h>
#include <ceres/problem.h>
#include <ceres/sized_cost_function.h>

#include <tenure/interop/ceres/rules.hpp>
#include <tenure/optim/sparse/observations.hpp>
#include <tenure/optim/sparse/rows.hpp>

namespace TENURE_NAMESPACE {
namespace interop::detail {

/// Tensors that share the elements of x. A number becomes one of its own.
template <class X>
auto shared_elements(const X& x) {
  const auto share = []<class L, class Leaf>(element_tag<L>, const Leaf& leaf) -> L {
    if constexpr (any_tensor<Leaf>) {
      if (!leaf.is_contiguous()) throw ownership_error("tenure: residual_blocks: the elements of a table, an index or the data are not contiguous: clone() the tensor first");
      tensor_access::check_alive(leaf, "residual_blocks");
      return tensor_access::make<L>(tensor_access::storage(leaf), tensor_access::fresh(leaf), leaf.extents(), leaf.extents());
    } else {
      return L(leaf);
    }
  };
  return build_tree<rebind_kind_t<X, values>>(share, x);
}

template <class F, class Blocks, class Data, class Arguments>
class blocks_of_problem;
/// `Arguments` are the tables, the indices and the data of all blocks.
template <class F, class... Block, class Data, class Arguments>
class blocks_of_problem<F, std::tuple<Block...>, Data, Arguments> final : public ceres::EvaluationCallback {
  static constexpr std::size_t P = sizeof...(Block);
  static constexpr std::int64_t rows = one_block<F, std::tuple<Block...>, Data>::residuals();
  using function = function_of_ceres_t<F, std::tuple<Block...>, Data>;
  using residuals_alone = compiled<optim::detail::for_observations<optim::detail::residuals_of_one<F>, P>>;
  using with_jacobians = compiled<optim::detail::for_observations<optim::detail::one_observation<F, P>, P>>;

  /// The cost function of block i: it copies what its owner has computed.
  class one final : public function {
   public:
    one(const blocks_of_problem& owner, std::int64_t i) : owner_(owner), i_(i) {}
    bool Evaluate(double const* const*, double* residuals, double** jacobians) const override { return owner_.read(i_, residuals, jacobians); }

   private:
    const blocks_of_problem& owner_;
    std::int64_t i_;
  };

 public:
  /// Computes all blocks once, which checks the indices.
  explicit blocks_of_problem(const std::array<double*, P>& parameters, Arguments arguments)
      : parameters_(parameters), arguments_(std::move(arguments)), found_(std::apply(with_jacobians{}, checked(arguments_))) {}
  blocks_of_problem(const blocks_of_problem&) = delete;
  blocks_of_problem& operator=(const blocks_of_problem&) = delete;

  std::int64_t size() const { return std::get<0>(found_).extents()[0]; }

  /// Adds all blocks to a problem with one loss, and returns their ids. The problem's options name this object: options.evaluation_callback = &blocks. The problem
  /// takes the loss over, as AddResidualBlock() does. Throws error, and adds nothing, if the problem calls no callback that prepares this object.
  std::vector<ceres::ResidualBlockId> add_to(ceres::Problem& problem, ceres::LossFunction* loss = nullptr) const {
    if (!is_prepared_by(problem))
      throw error("tenure: residual_blocks: the problem does not prepare the blocks: ceres::Problem::Options options; options.evaluation_callback = &blocks; ceres::Problem problem(options)");
    std::vector<ceres::ResidualBlockId> ids;
    ids.reserve(static_cast<std::size_t>(size()));
    for (std::int64_t i = 0; i < size(); ++i)
      [&]<std::size_t... I>(std::index_sequence<I...>) {
        ids.push_back(problem.AddResidualBlock(new one(*this, i), loss, (parameters_[I] + static_cast<std::int64_t>(std::get<P + I>(arguments_)(i)) * Block::size)...));
      }(std::make_index_sequence<P>{});
    return ids;
  }

  /// Ceres calls it before each evaluation, when the parameters are where the tables are.
  void PrepareForEvaluation(bool jacobians, bool new_evaluation_point) override {
    if (std::exchange(is_waiting_, false)) return;
    if (new_evaluation_point) has_residuals_ = has_jacobians_ = false;
    try {
      if (jacobians && !has_jacobians_) {
        std::apply([&](auto&... to) { std::apply(with_jacobians{}.into(to...), arguments_); }, found_);
        has_residuals_ = has_jacobians_ = true;
      } else if (!has_residuals_) {
        std::apply(residuals_alone{}.into(std::get<0>(found_)), arguments_);
        has_residuals_ = true;
      }
    } catch (const error&) {  // the cost functions return false
    }
  }

 private:
  /// The arguments, whose indices and data all have one number of blocks. Else the message would be that of a vmap which the caller did not write.
  static const Arguments& checked(const Arguments& all) {
    const std::int64_t blocks = std::get<P>(all).extents()[0];
    [&]<std::size_t... A>(std::index_sequence<A...>) { (check_count(std::get<P + A>(all), A, blocks), ...); }(std::make_index_sequence<std::tuple_size_v<Arguments> - P>{});
    return all;
  }
  static void check_count(const auto& argument, std::size_t a, std::int64_t blocks) {
    for_each_leaf(argument, [&](const auto& leaf) {
      if (const std::int64_t n = leaf.extents()[0]; n != blocks)
        throw shape_error("tenure: residual_blocks: " + (a < P ? "index " + std::to_string(a) : "argument " + std::to_string(a - P) + " of the data") + " has " + std::to_string(n) +
                          " blocks, and index 0 has " + std::to_string(blocks));
    });
  }

  /// Ceres does not tell which callback a problem has: a block of a number that nobody else knows is evaluated.
  bool is_prepared_by(ceres::Problem& problem) const {
    struct nothing final : ceres::SizedCostFunction<1, 1> {
      bool Evaluate(double const* const*, double* residuals, double**) const override {
        *residuals = 0;
        return true;
      }
    };
    double number = 0, cost = 0;
    const ceres::ResidualBlockId id = problem.AddResidualBlock(new nothing, nullptr, &number);
    is_waiting_ = true;
    problem.EvaluateResidualBlockAssumingParametersUnchanged(id, false, &cost, nullptr, nullptr);
    problem.RemoveParameterBlock(&number);  // and its block
    return !std::exchange(is_waiting_, false);
  }

  bool read(std::int64_t i, double* residuals, double** jacobians) const {
    if (!has_residuals_ || (jacobians != nullptr && !has_jacobians_)) return false;
    copy<rows>(std::get<0>(found_), i, residuals);
    [&]<std::size_t... I>(std::index_sequence<I...>) {
      if (jacobians != nullptr) (copy<rows * Block::size>(std::get<1 + I>(found_), i, jacobians[I]), ...);
    }(std::make_index_sequence<P>{});
    return true;
  }
  template <std::int64_t N>
  static void copy(const auto& all, std::int64_t i, double* to) {
    if (to != nullptr) std::memcpy(to, all.data() + i * N, sizeof(double) * N);
  }

  std::array<double*, P> parameters_;
  Arguments arguments_;
  decltype(std::apply(with_jacobians{}, std::declval<const Arguments&>())) found_;
  bool has_residuals_ = false, has_jacobians_ = false;
  mutable bool is_waiting_ = false;  // for a call of the problem, which then computes nothing
};

/// What residual_blocks returns after a message.
struct refused_blocks final : ceres::EvaluationCallback {
  std::int64_t size() const { return 0; }
  std::vector<ceres::ResidualBlockId> add_to(ceres::Problem&, ceres::LossFunction* = nullptr) const { return {}; }
  void PrepareForEvaluation(bool, bool) override {}
};

template <class Table>
using row_of = typename without_first<shape_of_t<Table>>::type;
/// Whether the rows of Table may be Ceres' parameter blocks.
template <class Table>
constexpr bool is_table() {
  constexpr bool is_float64 = std::is_same_v<element_t<Table>, double>, is_writable = are_leaves_writable<Table>(), is_static = row_of<Table>::is_static && row_of<Table>::size != 0;
  static_assert(is_float64, "tenure: residual_blocks: Ceres' parameters are float64, and a table has another element type");
  static_assert(is_writable, "tenure: residual_blocks: a table is read-only, and Ceres writes its rows while it solves");
  static_assert(is_static, "tenure: residual_blocks: a table has rows of a run-time extent or without elements: tn::shape<tn::dyn, 9>");
  return is_float64 && is_writable && is_static;
}

template <class F, class... Table, class... Index, class... Data>
auto blocks_of_rows(const std::tuple<optim::detail::rows_of<Table, Index>...>& rows, const Data&... data) {
  constexpr bool are_first = sizeof...(Table) > 0 && !(optim::detail::is_rows<Data> || ...);
  static_assert(are_first, "tenure: residual_blocks: the parameters are tn::rows(table, index), and come before the data of the blocks");
  if constexpr (!are_first) {
    return refused_blocks();
  } else if constexpr (!(is_table<Table>() && ...) || !(is_argument<false, Data>() && ...)) {
    return refused_blocks();
  } else {
    using blocks = std::tuple<row_of<Table>...>;
    using of_one = std::tuple<sample_t<0, rebind_kind_t<Data, tracing>>...>;
    if constexpr (!one_block<F, blocks, of_one>::is_possible()) {
      return refused_blocks();
    } else {
      return std::apply([&](const auto&... r) {
        std::tuple all{shared_elements(*r.table)..., shared_elements(*r.index)..., shared_elements(data)...};
        return blocks_of_problem<F, blocks, of_one, decltype(all)>({tensor_access::hand_out(*r.table, "residual_blocks")...}, std::move(all));
      }, rows);
    }
  }
}
template <class F, class Rows, class... Data>
auto with_rows(const Rows& rows, const Data&... data) { return blocks_of_rows<F>(rows, data...); }
template <class F, class Rows, class Table, class Index, class... Rest>
auto with_rows(const Rows& rows, const optim::detail::rows_of<Table, Index>& next, const Rest&... rest) {
  return with_rows<F>(std::tuple_cat(rows, std::tuple{next}), rest...);
}

}  // namespace interop::detail

/// residual_blocks(f, rows(cameras, camera_of), rows(points, point_of), data...) are all residual blocks of one kind: block i is f of row camera_of(i), row point_of(i)
/// and data i. The rows of the tables, which are contiguous, are Ceres' parameter blocks. f is as for cost_function; data have an axis of blocks in front.
/// `auto blocks = residual_blocks(...)`, options.evaluation_callback = &blocks for the options of the problem, and blocks.add_to(problem, loss). It shares the memory of
/// the tables, the indices and the data, and has to live as long as the problem evaluates. With a pool.scope() around Solve() the threads of the pool compute.
/// Throws index_error if an index is outside its table, shape_error if indices and data have different numbers of blocks, and ownership_error if a tensor is not contiguous.
template <class F, class... X>
auto residual_blocks(F, const X&... x) { return interop::detail::with_rows<F>(std::tuple<>(), x...); }

}  // namespace tenure

#include <tenure/core/letters/restore.hpp>
