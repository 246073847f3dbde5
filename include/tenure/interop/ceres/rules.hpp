// SPDX-License-Identifier: BSL-1.0
// What the functions of cost_function and residual_blocks have to be: a static_assert for each mistake.
#pragma once

#include <tuple>

#include <ceres/sized_cost_function.h>

#include <tenure/transform/call_rules.hpp>

namespace TENURE_NAMESPACE::interop::detail {

using namespace tenure::detail;

// Compilers print template arguments, so the numbers of a message are some.
template <int Blocks, int Data, bool Takes>
constexpr bool takes_blocks_and_data() {
  static_assert(Takes, "tenure: cost_function, residual_blocks: the function does not take one argument for each parameter block, and then one for each of the data");
  return Takes;
}
template <dtype Residuals>
constexpr bool are_float64() {
  static_assert(Residuals == dtype::float64, "tenure: cost_function, residual_blocks: residuals of Ceres are float64: tn::cast<double>(r)");
  return Residuals == dtype::float64;
}
template <int Rank>
constexpr bool are_vector() {
  static_assert(Rank <= 1, "tenure: cost_function, residual_blocks: the residuals of a block are one vector, whose length a loss of Ceres takes: tn::reshape<-1>(r)");
  return Rank <= 1;
}
/// Whether R is what a residual function may return.
template <class R>
constexpr bool are_residuals() {
  constexpr bool is_one = is_traced_v<R>;
  static_assert(is_one, "tenure: cost_function, residual_blocks: the function returns one vector of residuals: tn::stack(a, b) of numbers, tn::concat<0>(a, b) of vectors");
  if constexpr (!is_one) return false;
  else return are_float64<dtype_v<typename R::element_type>>() && are_vector<R::shape_type::rank>();
}

/// The residuals of one block: a function of parameter blocks with these shapes, and of traced data.
template <class F, class Blocks, class Data>
struct one_block;
template <class F, class... Block, class... Data>
struct one_block<F, std::tuple<Block...>, std::tuple<Data...>> {
  static constexpr bool is_possible() {
    if constexpr (!is_known_by_type<F>()) {
      return false;
    } else {
      constexpr bool takes = requires(const F& f, const traced<double, Block>&... block, const Data&... data) { f(block..., data...); };
      if constexpr (!takes_blocks_and_data<sizeof...(Block), sizeof...(Data), takes>()) return false;
      else if constexpr (!gives_traced<F, traced<double, Block>..., Data...>()) return false;
      else return are_residuals<result_of<F, traced<double, Block>..., Data...>>();
    }
  }
  static constexpr std::int64_t residuals() { return result_of<F, traced<double, Block>..., Data...>::shape_type::size; }
};

template <class F, class Blocks, class Data>
struct function_of_ceres;
template <class F, class... Block, class Data>
struct function_of_ceres<F, std::tuple<Block...>, Data> {
  using type = ceres::SizedCostFunction<static_cast<int>(one_block<F, std::tuple<Block...>, Data>::residuals()), static_cast<int>(Block::size)...>;
};
/// Ceres' type for cost functions with these numbers of residuals and parameters.
template <class F, class Blocks, class Data>
using function_of_ceres_t = typename function_of_ceres<F, Blocks, Data>::type;

}  // namespace tenure::interop::detail
