// SPDX-License-Identifier: BSL-1.0
// f.into(r...)(x...): a call that computes into existing tensors and allocates nothing.
#pragma once

#include <cstddef>
#include <cstdint>
#include <new>
#include <tuple>
#include <type_traits>

#include <tenure/transform/call.hpp>
#include <tenure/transform/source.hpp>
#include <tenure/transform/targets.hpp>

namespace TENURE_NAMESPACE {
namespace detail {

/// The targets of an allocation-free call: tensors that own their memory, views, tensors over foreign memory. A target may be one of the arguments
/// or overlap one. The result is written in place if the plan allows it and the target is contiguous. Otherwise it is computed in memory from the
/// pool and copied at the end of the call. Targets with a common element are refused before anything is written.
template <class F, class Execution, class... R>
class into_call {
 public:
  explicit into_call(const Execution& on, R&&... r) : on_(on), results_(static_cast<R&&>(r)...) {}

  /// Computes into the targets given to into(). Throws shape_error if a target has another shape than its result, overlap_error if two targets have
  /// an element in common, ownership_error if a target is empty.
  template <class... X>
  void operator()(const X&... x) const {
    at_once<device_of_call<X...>> now;
    through(now, x...);
  }
  /// As operator(), but `runner` runs the program.
  template <class Runner, class... X>
  void through(Runner& runner, const X&... x) const {
    if constexpr (is_possible<X...>()) std::apply([&](const R&... target) { run<Runner>(on_, runner, target..., as_argument(x)...); }, results_);
  }
  /// The bytes of the results that this call computes in other memory and then copies into their targets. 0 if each target is contiguous and
  /// overlaps no argument that is still read when the result is written. Throws what a call throws before its first write.
  template <class... X>
  std::int64_t copied_bytes(const X&... x) const {
    if constexpr (is_possible<X...>()) return count_copied(as_argument(x)...);
    else return 0;
  }

 private:
  template <class... X>
  using device_of_call = typename device_of_bits<(0u | ... | tree<X>::devices) | (0u | ... | tree<R>::devices)>::type;

  template <class... X>
  static constexpr bool is_possible() {
    if constexpr ((is_after_error<X> || ...) || (is_after_error<R> || ...)) return false;
    else if constexpr (!is_compilable<F, X...>()) return false;
    else if constexpr (!have_memory_elsewhere()) return false;
    else if constexpr (!are_targets<result_of<F, rebind_kind_t<X, tracing>...>, R...>()) return false;
    else if constexpr (!is_callable<(0u | ... | tree<X>::devices) | (0u | ... | tree<R>::devices)>()) return false;
    else return is_traceable<source_of_call<F, X...>>();
  }

  static constexpr bool have_memory_elsewhere() {
    constexpr bool is_any_fixed = (is_fixed<std::remove_cvref_t<R>> || ...);
    static_assert(!is_any_fixed, "tenure: into: a target is a fixed array, which goes with memory of the caller: write f.in(workspace).into(y)(x)");
    return !is_any_fixed;
  }

  template <class Program, class... X>
  using overwrites_by = overwrites_of_call<Program, (0 + ... + tree<X>::leaves), !(tree<X>::row_major && ...)>;

  /// Whether any two tensors of the call share all of their memory or none: each owns its memory, and none is empty.
  template <class Program, class... X>
  static constexpr bool is_whole = Program::is_static && (tree<X>::contiguous && ...) && (tree<R>::contiguous && ...) && !has_empty_result<Program>;

  /// How a runner is an argument. One without members has no address, for which a caller would need memory and could not end with the call.
  template <class Runner>
  using passed = std::conditional_t<std::is_empty_v<Runner>, Runner, Runner&>;

  /// Whether a call with one target, which shares memory with an argument, calls itself with another tensor of the target's type as its target. This keeps
  /// the memory beside a target out of the code of a small program: a dot product of three numbers took 3.6 ns with it and takes 2.6.
  template <class Program, class... X>
  static constexpr bool is_computed_in_another = is_whole<Program, X...> && sizeof...(R) == 1 && (any_tensor<std::remove_cvref_t<R>> && ...) &&
                                                 (std::is_default_constructible_v<std::remove_cvref_t<R>> && ...) && std::is_same_v<device_of_call<X...>, cpu_device>;
  template <class Runner, class Target, class... X>
  [[gnu::cold, gnu::noinline]] static void compute_in_another(Execution on, passed<Runner> runner, Target& target, const X&... x) {
    tensor_access::check_alive(target, "into");
    std::remove_cvref_t<Target> result;
    into_call<F, Execution, decltype(result)&>(on, result).through(runner, x...);
    device_memory<cpu_device>::copy(tensor_access::fresh(target), target.strides(), tensor_access::fresh(result), result.strides(), target.extents());
    tensor_access::storage(target).bump();
  }

  /// The targets are arguments: g++ passes them in registers, and would pass this object in memory.
  template <class Runner, class... X>
  static void run(Execution on, passed<Runner> runner, const R&... target, const X&... x) {
    const std::tuple<const R&...> to(target...);
    using program_type = program<source_of_call<F, X...>>;
    using device_type = device_of_call<X...>;
    constexpr int leaves = (0 + ... + tree<X>::leaves), outputs = program_type::value.output_count;
    const void* pointers[leaves + 1];
    memory_range ranges[leaves + 1];
    number_copy numbers_of_trees[numbers_in_trees<X...> + 1];
    row_major_copies<X...> copies;
    read_arguments(pointers, ranges, numbers_of_trees, copies, x...);
    [[maybe_unused]] const auto numbers = place_numbers<device_type>(runner.memory_of_numbers(sizeof(std::int64_t) * static_cast<std::size_t>(leaves + 1)), [&](int i, const void* there) { pointers[i] = there; }, x...);
    std::int64_t symbols[program_type::symbol_count + 1] = {};
    bind_extents<program_type>(symbols, x...);
    if constexpr (program_type::value.bound_count > 0) backend<device_type>::check_arguments(program_detail::index_arguments<program_type>, pointers, symbols);

    target_memory targets[outputs + 1];
    void* results[outputs + 1];
    read_targets<program_type>(to, symbols, targets, results);
    const sharing found = find_sharing<program_type, leaves, is_whole<program_type, X...>>(pointers, ranges, targets);
    if constexpr (is_computed_in_another<program_type, X...>) {
      if (found.doubtful | found.apart) [[unlikely]] return compute_in_another<Runner>(on, runner, target..., x...);
    } else if (found.doubtful) [[unlikely]] std::apply([](const auto&... each) {
      if constexpr (is_whole<program_type, X...>) refuse_targets(each...);
      else check_targets(each...);
    }, to);

    [[maybe_unused]] const auto scope = on.scope();
    storage_handle beside;
    const bool apart = !is_computed_in_another<program_type, X...> && found.apart;
    if (apart) [[unlikely]]
      beside = keep_apart<device_type>(pointers, ranges, leaves, targets, outputs, overwrites_by<program_type, X...>{symbols}, results);
    // Versions rise before the run: even if the run fails, its writes count. No target is empty, because find_sharing() has checked this.
    runner.template run<program_type>(pointers, results, symbols, [&] {
      std::apply([](auto&... each) { (for_each_leaf(each, [](auto& t) { tensor_access::storage(t).bump(); }), ...); }, to);
    });
    if (apart) [[unlikely]] std::apply([&](const auto&... each) { copy_from<device_type>(results, each...); }, to);
  }

  template <class... X>
  std::int64_t count_copied(const X&... x) const {
    using program_type = program<source_of_call<F, X...>>;
    constexpr int leaves = (0 + ... + tree<X>::leaves), outputs = program_type::value.output_count;
    const void* pointers[leaves + 1];
    memory_range ranges[leaves + 1];
    number_copy numbers_of_trees[numbers_in_trees<X...> + 1];
    row_major_copies<X...> copies;
    read_arguments(pointers, ranges, numbers_of_trees, copies, x...);
    std::int64_t symbols[program_type::symbol_count + 1] = {};
    bind_extents<program_type>(symbols, x...);
    target_memory targets[outputs + 1];
    void* results[outputs + 1];
    read_targets<program_type>(results_, symbols, targets, results);
    std::apply([](const auto&... target) { check_targets(target...); }, results_);
    std::int64_t bytes = 0;
    for (int j = 0; j < outputs; ++j)
      if (is_computed_apart(j, pointers, ranges, leaves, targets[j], overwrites_by<program_type, X...>{symbols})) bytes += targets[j].bytes;
    return bytes;
  }

  /// Reads the addresses of tensors and numbers. as_argument() has copied the numbers that are arguments. Numbers in trees are copied to `numbers`.
  template <class... X>
  static TENURE_INLINE void read_arguments(const void** pointers, memory_range* ranges, [[maybe_unused]] number_copy* numbers, [[maybe_unused]] row_major_copies<X...>& copies, const X&... x) {
    int i = 0;
    const auto read = [&]<class Argument>(const Argument& argument) {
      for_each_leaf(argument, [&]<class L>(const L& leaf) {
        if constexpr (any_tensor<L>) {
          pointers[i] = copies.template read<Argument>(leaf);
          ranges[i] = range_of<(tree<R>::contiguous && ...), tree<Argument>::row_major>(leaf, pointers[i]);
        } else if constexpr (scalar<Argument>) pointers[i] = &leaf;
        else pointers[i] = ::new (static_cast<void*>(numbers++)) L(leaf);
        ++i;
      });
    };
    (read(x), ...);
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

  template <class Program>
  static TENURE_INLINE void read_targets(const auto& to, [[maybe_unused]] const std::int64_t* symbols, target_memory* targets, void** results) {
    int i = 0;
    const auto read = [&](auto& target) {
      // are_targets() has already compared static extents.
      if constexpr (!Program::is_static || !shape_of_t<decltype(target)>::is_static) {
        const extents wanted = output_extents<Program>(i, symbols);
        if (!(target.extents() == wanted))
          TENURE_THROW(shape_error(detail::message("into") << "a target of shape " << target.extents() << " for a result of shape " << wanted));
      }
      targets[i] = memory_of_target(target);
      results[i] = targets[i].data;
      ++i;
    };
    std::apply([&](auto&... target) { (for_each_leaf(target, read), ...); }, to);
  }

  /// Throws ownership_error if a target is empty, and overlap_error if two targets have an element in common.
  template <class... T>
  [[gnu::cold, gnu::noinline]] static void check_targets(const T&... target) {
    target_place places[(1 + ... + tree<T>::leaves)];
    int n = 0;
    const auto look = [&](const auto& t) {
      tensor_access::check_alive(t, "into");
      places[n++] = {reinterpret_cast<const char*>(tensor_access::fresh(t)), tensor_access::layout_of(t), sizeof(element_t<decltype(t)>)};
    };
    (for_each_leaf(target, look), ...);
    check_apart(places, n);
  }

  /// Throws, because two targets overlap. It is called if all tensors own their memory, so that two of them are the same or separate. It never
  /// returns: so the compiler can keep the values of a small program in registers.
  template <class... T>
  [[noreturn, gnu::cold, gnu::noinline]] static void refuse_targets(const T&... target) {
    check_targets(target...);
    TENURE_THROW(overlap_error("tenure: into: two targets share memory"));
  }

  /// Copies the results that are not in the memory of their targets.
  template <class Device, class... T>
  [[gnu::noinline]] static void copy_from(void* const* results, const T&... target) {
    int i = 0;
    const auto copy = [&](const auto& t) {
      auto* const to = tensor_access::fresh(t);
      const auto* const from = static_cast<const element_t<decltype(t)>*>(results[i++]);
      if (from != to) device_memory<Device>::copy(to, t.strides(), from, row_major(t.extents()), t.extents());
    };
    (for_each_leaf(target, copy), ...);
  }

  [[no_unique_address]] Execution on_;
  std::tuple<R...> results_;
};

}  // namespace detail
}  // namespace tenure
