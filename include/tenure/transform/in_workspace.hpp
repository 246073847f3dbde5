// SPDX-License-Identifier: BSL-1.0
// f.in(workspace).into(y...)(x...): a call whose memory the caller gives. It takes fixed arrays, models of them and numbers, and writes into fixed arrays and
// numbers. Law: it allocates nothing, keeps no state, and takes no memory but the workspace and the stack. It runs on the calling thread.
// Cost: the program itself. Which result may be written over which argument is known from the types, and each other pair is one comparison.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <tuple>

#include <tenure/backend/backend.hpp>
#include <tenure/program/overwrites.hpp>
#include <tenure/transform/arguments.hpp>
#include <tenure/transform/compile.hpp>
#include <tenure/transform/fixed.hpp>

namespace TENURE_NAMESPACE {

/// Memory for calls: workspace<f.workspace_bytes(x...)>, as a static object or on the stack. One workspace serves several functions, one after the other.
template <std::int64_t Bytes>
struct alignas(64) workspace {
  std::byte bytes[Bytes > 0 ? static_cast<std::size_t>(Bytes) : 1];
};

namespace detail {

/// The workspace of a call: that of the program, and a place for each result that may have the memory of an argument which a later step reads. Such an
/// argument has as many bytes as the result, and the program does not write the result over it.
template <class Program, int Arguments>
struct memory_of_call {
  static constexpr int outputs = Program::value.output_count;
  std::int64_t place[outputs] = {}, bytes = 0;  // in the workspace; 0 bytes of a result need no place
  std::int64_t size[outputs] = {};

  constexpr memory_of_call() {
    bytes = backend<cpu_device>::template bytes_in_memory<Program>();
    for (int r = 0; r < outputs; ++r) {
      bool waits = false;
      for (int a = 0; a < Arguments; ++a)
        waits = waits || (bytes_of_argument(a) == bytes_of_result(r) && !program_detail::overwrites_of<Program, Arguments>.may(a, r));
      size[r] = bytes_of_result(r);
      place[r] = waits ? bytes : -1;
      if (waits) bytes += (size[r] + 63) / 64 * 64;
    }
  }
  static constexpr std::int64_t bytes_of_result(int r) { return program_detail::bytes_of_output<Program>(r, nullptr); }
  static constexpr std::int64_t bytes_of_argument(int a) { return program_detail::bytes_of_input<Program>(a, nullptr); }
};

/// The program of a call, and the bytes of its workspace.
template <class F, class... X>
struct call_in_memory {
  using program_type = program<source_of_call<F, X...>>;
  static constexpr bool is_static = program_type::is_static;
  static constexpr std::int64_t bytes = [] {
    if constexpr (is_static) return memory_of_call<program_type, (0 + ... + tree<X>::leaves)>().bytes;
    else return std::int64_t{0};
  }();
};

/// A static_assert with the numbers of bytes in its template arguments.
template <std::int64_t Given, std::int64_t Needed>
constexpr bool is_large_enough() {
  static_assert(Given >= Needed, "tenure: in: the workspace is smaller than the Needed bytes of this call: workspace<f.workspace_bytes(x...)> has them");
  return Given >= Needed;
}

/// Whether X holds its elements in the object: a fixed array, a number, or a tree of these.
template <class X>
constexpr bool holds_elements() {
  using branch = std::remove_cvref_t<X>;
  if constexpr (is_fixed<branch> || scalar<branch>) return true;
  else if constexpr (is_tree_leaf<branch>) return false;
  else if constexpr (has_tuple_parts<typename parts<branch>::type>)
    return []<std::size_t... I>(std::index_sequence<I...>) {
      return (holds_elements<std::tuple_element_t<I, typename parts<branch>::type>>() && ...);
    }(part_indices<branch>{});
  else return false;
}

/// A target that is a number is judged as an array of rank 0.
template <class R, class Number = std::remove_reference_t<R>>
struct target_of_number { using type = R; };
template <class R, element Number>
struct target_of_number<R, Number> { using type = fixed<Number, shape<>>&; };
template <class R, element Number>
struct target_of_number<R, const Number> { using type = const fixed<Number, shape<>>&; };
template <class R>
using as_target = typename target_of_number<R>::type;

template <class F, std::int64_t Bytes, class... R>
class call_into_memory {
 public:
  constexpr call_into_memory(std::byte* there, std::remove_reference_t<R>&... targets) : memory_(there), results_(targets...) {}

  /// Computes into the targets. A target may be an argument: the program writes the result over it where it can, and else computes it in the workspace.
  /// Throws overlap_error before anything is written if two targets are the same.
  template <class... X>
  void operator()(const X&... x) const {
    if constexpr (is_possible<X...>()) run<program<source_of_call<F, X...>>>(as_argument(x)...);
  }

 private:
  template <class... X>
  static constexpr bool is_possible() {
    if constexpr ((is_after_error<X> || ...)) return false;
    else if constexpr (!is_compilable<F, X...>()) return false;
    else if constexpr (!is_traceable<source_of_call<F, X...>>()) return false;
    else {
      constexpr bool holds = (holds_elements<X>() && ...) && (holds_elements<R>() && ...);
      static_assert(holds, "tenure: in: an argument or a target is a tensor, whose memory is elsewhere: take tn::fixed<float, tn::shape<3>>");
      if constexpr (!holds || !are_targets<result_of<F, rebind_kind_t<X, tracing>...>, as_target<R>...>()) return false;
      else return is_large_enough<Bytes, call_in_memory<F, X...>::bytes>();
    }
  }

  template <class Leaf>
  static TENURE_INLINE auto* address(Leaf& leaf) {
    if constexpr (is_fixed<std::remove_const_t<Leaf>>) return leaf.data();
    else return &leaf;
  }

  template <class Program, class... X>
  TENURE_INLINE void run(const X&... x) const {
    constexpr int leaves = (0 + ... + tree<X>::leaves), outputs = Program::value.output_count;
    const void* arguments[leaves + 1];
    void* results[outputs + 1];
    int i = 0, j = 0;
    (for_each_leaf(x, [&](const auto& leaf) { arguments[i++] = address(leaf); }), ...);
    std::apply([&](auto&... target) { (for_each_leaf(target, [&](auto& leaf) { results[j++] = address(leaf); }), ...); }, results_);
    static constexpr memory_of_call<Program, leaves> needed;
    void* written[outputs + 1];
    bool waits = false;
    for (int r = 0; r < outputs; ++r) {
      bool destroys = false;
      for (int a = 0; a < leaves; ++a) destroys = destroys || (arguments[a] == results[r] && !program_detail::overwrites_of<Program, leaves>.may(a, r));
      if (destroys && needed.place[r] < 0) [[unlikely]] refuse(r);
      written[r] = destroys ? memory_ + needed.place[r] : results[r];
      waits = waits || destroys;
      for (int other = 0; other < r; ++other)
        if (results[other] == results[r]) [[unlikely]] refuse_same(other, r);
    }
    backend<cpu_device>::template run_in_memory<Program>(memory_, arguments, written);
    if (waits)
      for (int r = 0; r < outputs; ++r)
        if (written[r] != results[r]) std::memcpy(results[r], written[r], static_cast<std::size_t>(needed.size[r]));
  }

  [[noreturn, gnu::cold, gnu::noinline]] static void refuse(int target) {
    TENURE_THROW(overlap_error(message("into") << "target " << target << " begins where an argument of another size begins: compute into another array"));
  }
  [[noreturn, gnu::cold, gnu::noinline]] static void refuse_same(int first, int second) {
    TENURE_THROW(overlap_error(message("into") << "targets " << first << " and " << second << " share memory"));
  }

  std::byte* memory_;
  std::tuple<std::remove_reference_t<R>&...> results_;
};

template <class F, std::int64_t Bytes>
class function_in_memory {
 public:
  constexpr explicit function_in_memory(std::byte* there) : memory_(there) {}
  /// The targets of the call: fixed arrays, numbers, tuples and models of them.
  template <class... R>
  constexpr auto into(R&&... results) const { return call_into_memory<F, Bytes, R...>(memory_, results...); }

 private:
  std::byte* memory_;
};

}  // namespace detail
}  // namespace tenure
