// SPDX-License-Identifier: BSL-1.0
// f.into(r...)(x...): a call that computes into existing tensors and allocates nothing.
#pragma once

#include <cstddef>
#include <cstdint>
#include <tuple>
#include <type_traits>

#include <tenure/transform/call.hpp>
#include <tenure/transform/source.hpp>
#include <tenure/transform/targets.hpp>

namespace TENURE_NAMESPACE {
namespace detail {

/// The targets of an allocation-free call. A target may be one of the arguments. If the plan allows it, the result is written in place.
/// Otherwise it is computed in other memory and copied when the call is done.
template <class F, class Execution, class... R>
class into_call {
 public:
  explicit into_call(const Execution& on, R&... r) : on_(on), results_(r...) {}

  /// Computes into the targets given to into(). Throws shape_error if a target has another shape than its result.
  template <class... X>
  void operator()(const X&... x) const {
    at_once<device_of_call<X...>> now;
    through(now, x...);
  }
  /// The same, but `runner` runs the program.
  template <class Runner, class... X>
  void through(Runner& runner, const X&... x) const {
    if constexpr (!is_compilable<F, X...>()) return;
    else if constexpr (!are_targets<result_of<F, rebind_kind_t<X, tracing>...>, R...>()) return;
    else if constexpr (!is_callable<(0u | ... | tree<X>::devices) | (0u | ... | tree<R>::devices)>()) return;
    else if constexpr (is_traceable<source_of<F, X...>>()) run(runner, as_argument(x)...);
  }

 private:
  template <class... X>
  using device_of_call = typename device_of_bits<(0u | ... | tree<X>::devices) | (0u | ... | tree<R>::devices)>::type;

  template <class Runner, class... X>
  void run(Runner& runner, const X&... x) const {
    using program_type = program<source_of<F, X...>>;
    using device_type = device_of_call<X...>;
    constexpr int leaves = (0 + ... + tree<X>::leaves), outputs = program_type::value.output_count;
    const void* pointers[leaves + 1];
    memory_range ranges[leaves + 1];
    read_arguments(pointers, ranges, x...);
    [[maybe_unused]] const auto numbers = place_numbers<device_type>(runner.memory_of_numbers(sizeof(std::int64_t) * static_cast<std::size_t>(leaves + 1)), [&](int i, const void* there) { pointers[i] = there; }, x...);
    std::int64_t symbols[program_type::symbol_count + 1] = {};
    bind_extents<program_type>(symbols, x...);
    if constexpr (program_type::value.bound_count > 0) backend<device_type>::check_arguments(program_type::value.view(), pointers, symbols);

    // Targets with the results' own static types fit, so there is nothing to check at run time.
    constexpr bool fits = program_type::is_static && same_as_results<rebind_kind_t<typename source_of<F, X...>::result_type, results_on<device_type>>>;
    constexpr bool whole = program_type::is_static && (tree<X>::contiguous && ...) && !has_empty_result<program_type>;
    target_memory targets[outputs + 1];
    void* results[outputs + 1];
    read_targets<program_type, fits>(symbols, targets, results);
    const sharing found = find_sharing<program_type, leaves, whole>(pointers, ranges, targets);
    if (found.refused) [[unlikely]] refuse_targets();

    [[maybe_unused]] const auto scope = on_.scope();
    storage_handle beside;
    if (found.with_arguments) [[unlikely]]
      beside = keep_apart<device_type>(pointers, ranges, leaves, targets, outputs, overwrites<program_type, leaves>.safe, results);
    // Versions rise before the run: even if the run fails, its writes count.
    runner.template run<program_type>(pointers, results, symbols, [&] {
      std::apply([](auto&... target) { (for_each_leaf(target, [](auto& t) { tensor_access::write(t, "into"); }), ...); }, results_);
    });
    if (found.with_arguments) [[unlikely]]
      for (int j = 0; j < outputs; ++j)
        if (results[j] != targets[j].data) copy_bytes<device_type>(targets[j].data, results[j], targets[j].bytes);
  }

  template <class... X>
  static TENURE_INLINE void read_arguments(const void** pointers, memory_range* ranges, const X&... x) {
    int i = 0;
    const auto read = [&](const auto& leaf) {
      ranges[i] = range_of(leaf);
      if constexpr (any_tensor<std::remove_cvref_t<decltype(leaf)>>) pointers[i++] = tensor_access::read(leaf, "call");
      else pointers[i++] = &leaf;
    };
    (for_each_leaf(x, read), ...);
  }

  template <class Program, class... X>
  static TENURE_INLINE void bind_extents([[maybe_unused]] std::int64_t* symbols, [[maybe_unused]] const X&... x) {
    if constexpr (!Program::is_static) {
      leaf_argument arguments[(1 + ... + tree<X>::leaves)];
      leaf_argument* at = arguments;
      (collect(x, at), ...);
      bind_symbols(Program::value.view(), arguments, symbols);
    }
  }

  template <class Program, bool Fits>
  TENURE_INLINE void read_targets([[maybe_unused]] const std::int64_t* symbols, target_memory* targets, void** results) const {
    int i = 0;
    const auto read = [&](auto& target) {
      using L = std::remove_cvref_t<decltype(target)>;
      if constexpr (!Fits) {
        const extents wanted = output_extents<Program>(i, symbols);
        if (!(target.extents() == wanted))
          throw shape_error(detail::message("into") << "a target of shape " << target.extents() << " for a result of shape " << wanted);
      }
      results[i] = tensor_access::fresh(target);
      targets[i++] = {tensor_access::fresh(target), target.size() * static_cast<std::int64_t>(sizeof(element_t<L>))};
    };
    std::apply([&](auto&... target) { (for_each_leaf(target, read), ...); }, results_);
  }

  [[noreturn]] void refuse_targets() const {
    std::apply([](const auto&... target) { (for_each_leaf(target, [](const auto& t) { tensor_access::check_alive(t, "into"); }), ...); }, results_);
    throw overlap_error("tenure: into: two targets share memory");
  }

  template <class Results>
  static constexpr bool same_as_results = std::is_same_v<std::tuple<R...>, Results> || std::is_same_v<std::tuple<R...>, std::tuple<Results>>;

  [[no_unique_address]] Execution on_;
  std::tuple<R&...> results_;
};

}  // namespace detail
}  // namespace tenure
