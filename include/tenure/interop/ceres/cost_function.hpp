// SPDX-License-Identifier: BSL-1.0
// cost_function<shape<9>, shape<3>>(f, data...): a traced function as the cost function of one residual block.
// Law: residuals and Jacobians are those of compile(f) and jacobian(f). Evaluate() copies no parameter and allocates nothing: the program reads and writes Ceres'
// memory. Without Jacobians it is a program of the residuals alone.
// Cost: a cost function holds its data, so it is as large as a functor of AutoDiffCostFunction.
#pragma once

#include <tenure/core/letters/hide.hpp>

#include <array>
#include <cstddef>
#include <memory>
#include <tuple>

#include <tenure/interop/ceres/rules.hpp>
#include <tenure/optim/sparse/observations.hpp>
#include <tenure/transform/compile.hpp>

namespace TENURE_NAMESPACE {
namespace interop::detail {

template <class X>
constexpr bool has_static_extents() {
  leaf_description leaves[tree<X>::leaves + 1];
  leaf_description* end = leaves;
  tree<X>::describe(end);
  for (int i = 0; i < tree<X>::leaves; ++i)
    if (!all_static(leaves[i].shape)) return false;
  return true;
}
template <class X>
constexpr bool is_kept() {
  if constexpr (!is_argument<false, X>()) {
    return false;
  } else {
    constexpr bool is_static = has_static_extents<X>(), is_on_host = is_for_cpu<X>;
    static_assert(is_static, "tenure: cost_function: the data have a run-time extent: a cost function holds a copy of them, so their shapes are static: tn::from<tn::shape<2>>(p)");
    static_assert(is_on_host, "tenure: cost_function: the data lie in the memory of a device: call to(tn::cpu) first");
    return is_static && is_on_host;
  }
}
template <class... Block>
constexpr bool are_blocks() {
  constexpr bool any = sizeof...(Block) > 0, are_static = ((Block::is_static && Block::size != 0) && ...);
  static_assert(any, "tenure: cost_function: the shapes of the parameter blocks are missing: cost_function<tn::shape<9>, tn::shape<3>>(f, data...)");
  static_assert(are_static, "tenure: cost_function: a parameter block has a run-time extent or no element: Ceres' SizedCostFunction has its sizes as numbers");
  return any && are_static;
}

/// A copy of the elements of all leaves of some data, in one place.
template <class... Data>
class kept_elements {
 public:
  static constexpr std::size_t leaves = (std::size_t{0} + ... + static_cast<std::size_t>(tree<Data>::leaves));
 private:
  static constexpr std::array<std::size_t, leaves + 1> begin_of = [] {
    leaf_description all[leaves + 1];
    [[maybe_unused]] leaf_description* end = all;
    (tree<Data>::describe(end), ...);
    std::array<std::size_t, leaves + 1> begin{};
    for (std::size_t i = 0; i < leaves; ++i) begin[i + 1] = begin[i] + static_cast<std::size_t>(count(all[i].shape) * size_of(all[i].type) + 7) / 8 * 8;
    return begin;
  }();

 public:
  explicit kept_elements(const Data&... data) {
    std::size_t i = 0;
    [[maybe_unused]] const auto keep = [&]<class L>(const L& leaf) {
      using T = typename leaf_type<L>::element_type;
      T* const to = reinterpret_cast<T*>(elements_ + begin_of[i++]);
      if constexpr (any_tensor<L>) device_memory<cpu_device>::copy(to, row_major(leaf.extents()), tensor_access::read(leaf, "cost_function"), leaf.strides(), leaf.extents());
      else *to = static_cast<T>(leaf);
    };
    (for_each_leaf(data, keep), ...);
  }
  TENURE_INLINE void write_addresses(const void** to) const {
    for (std::size_t i = 0; i < leaves; ++i) to[i] = elements_ + begin_of[i];
  }

 private:
  alignas(8) std::byte elements_[begin_of[leaves] + 1];
};

template <class F, class Blocks, class... Data>
class cost_of_block;
template <class F, class... Block, class... Data>
class cost_of_block<F, std::tuple<Block...>, Data...> final : public function_of_ceres_t<F, std::tuple<Block...>, std::tuple<rebind_kind_t<Data, tracing>...>> {
  template <class G>
  using source_for = source_of_call<G, tensor<double, Block>..., rebind_kind_t<Data, values>...>;
  using residuals_alone = program<source_for<optim::detail::residuals_of_one<F>>>;
  using with_jacobians = program<source_for<optim::detail::one_observation<F, sizeof...(Block)>>>;
  using kept = kept_elements<Data...>;

  static constexpr std::size_t blocks = sizeof...(Block);
  static constexpr std::int64_t rows = one_block<F, std::tuple<Block...>, std::tuple<rebind_kind_t<Data, tracing>...>>::residuals();
  static constexpr std::array<std::size_t, blocks + 1> begin_of_jacobian = [] {
    constexpr std::int64_t size[] = {Block::size...};
    std::array<std::size_t, blocks + 1> begin{};
    for (std::size_t i = 0; i < blocks; ++i) begin[i + 1] = begin[i] + static_cast<std::size_t>(rows * size[i]);
    return begin;
  }();

 public:
  explicit cost_of_block(const Data&... data) : data_(data...) {
    if constexpr (residuals_alone::value.bound_count > 0) {
      const void* arguments[blocks + kept::leaves] = {};
      data_.write_addresses(arguments + blocks);
      backend<cpu_device>::check_arguments(program_detail::index_arguments<residuals_alone>, arguments, nullptr);
    }
  }

  /// Whether both programs can be compiled. If not, a static_assert gives the reason.
  static constexpr bool is_compiled() {
    if constexpr (!is_traceable<source_for<optim::detail::residuals_of_one<F>>>()) return false;
    else return is_traceable<source_for<optim::detail::one_observation<F, sizeof...(Block)>>>();
  }

  bool Evaluate(double const* const* parameters, double* residuals, double** jacobians) const override {
    const void* arguments[blocks + kept::leaves];
    for (std::size_t i = 0; i < blocks; ++i) arguments[i] = parameters[i];
    data_.write_addresses(arguments + blocks);
    void* results[1 + blocks] = {residuals};
    bool any = false, all = true;
    for (std::size_t i = 0; jacobians != nullptr && i < blocks; ++i) {
      any |= jacobians[i] != nullptr, all &= jacobians[i] != nullptr;
      results[1 + i] = jacobians[i];
    }
    if (!any) return runs<residuals_alone>(arguments, results);
    storage_handle unused;
    if (!all) {  // a block that Ceres holds constant
      unused = allocate_storage(sizeof(double) * begin_of_jacobian[blocks]);
      for (std::size_t i = 0; i < blocks; ++i)
        if (jacobians[i] == nullptr) results[1 + i] = static_cast<double*>(unused.data()) + begin_of_jacobian[i];
    }
    return runs<with_jacobians>(arguments, results);
  }

 private:
  /// False where the function throws, as for an index out of range: Ceres then tries a smaller step.
  template <class Program>
  static TENURE_INLINE bool runs(const void* const* arguments, void* const* results) {
    try {
      at_once<cpu_device>::template run<Program>(arguments, results, nullptr, [] {});
      return true;
    } catch (const error&) {
      return false;
    }
  }

  kept data_;
};

}  // namespace interop::detail

/// cost_function<shape<9>, shape<3>>(f, data...) makes the ceres::CostFunction of one residual block from a function to trace, f(camera, point, data...), with one
/// argument for each parameter block. f returns a float64 vector, or one number. Data are numbers and tensors of static shape, also in tuples and models; the cost
/// function holds a copy. It is a std::unique_ptr, and release() hands it to a problem: problem.AddResidualBlock(cost.release(), loss, camera, point). Throws
/// index_error if an index among the data is outside its axis.
template <any_shape... Block, class F, class... Data>
auto cost_function(F, const Data&... data) {
  using blocks = std::tuple<Block...>;
  if constexpr (interop::detail::are_blocks<Block...>() && (interop::detail::is_kept<Data>() && ...)) {
    using traced_data = std::tuple<detail::rebind_kind_t<Data, tracing>...>;
    if constexpr (interop::detail::one_block<F, blocks, traced_data>::is_possible()) {
      using cost = interop::detail::cost_of_block<F, blocks, Data...>;
      if constexpr (cost::is_compiled()) return std::unique_ptr<interop::detail::function_of_ceres_t<F, blocks, traced_data>>(std::make_unique<cost>(data...));
      else return std::unique_ptr<ceres::CostFunction>();
    } else {
      return std::unique_ptr<ceres::CostFunction>();
    }
  } else {
    return std::unique_ptr<ceres::CostFunction>();
  }
}

// Sizes as AutoDiffCostFunction takes them. It does not compile and gives a message.
template <int... Size, class F, class... Data>
  requires(sizeof...(Size) > 0)
auto cost_function(F, const Data&...) {
  static_assert(detail::never<F>, "tenure: cost_function: the parameter blocks are shapes, and the number of residuals is that of the function: cost_function<tn::shape<9>, tn::shape<3>>(f, data...)");
  return std::unique_ptr<ceres::CostFunction>();
}

}  // namespace tenure

#include <tenure/core/letters/restore.hpp>
