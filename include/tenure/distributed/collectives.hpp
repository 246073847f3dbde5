// SPDX-License-Identifier: BSL-1.0
// all_reduce, broadcast, all_gather and reduce_scatter of tensors and models. Every rank of the group makes the same call.
// Law: a call throws on all ranks, before anything is written, where shapes, element types or operations differ, or where a rank has failed.
// Law: reductions give the same bits on all ranks, and from run to run for a fixed number of ranks.
// Cost: a reduction copies the leaves of one element type into one array, unless there is only one, and sends this array as one.
#pragma once

#include <tuple>
#include <type_traits>

#include <tenure/distributed/agreement.hpp>
#include <tenure/distributed/arena.hpp>
#include <tenure/distributed/exchange.hpp>
#include <tenure/eager/deepcopy.hpp>
#include <tenure/transform/call.hpp>

namespace TENURE_NAMESPACE::mpi {
namespace detail {

/// Whether ranks can exchange an X. If not, a static_assert gives the reason.
template <class X>
constexpr bool is_exchangeable() {
  constexpr bool has_memory = [] {
    if constexpr (tree<X>::is_tree) return !tree<X>::has_numbers && !tree<X>::traces && tree<X>::contiguous && std::is_same_v<device_of_tree<X>, cpu_device>;
    else return false;
  }();
  static_assert(has_memory, "tenure: mpi: an argument is not a tensor that owns its memory on the host, nor a tuple, an array or a model of such tensors");
  return has_memory;
}

/// The call of a rank, as a hash and as a text.
template <class X>
signature signature_of(const char* call, const X& x) {
  signature s;
  s << call;
  for_each_leaf(x, [&]<class L>(const L& leaf) { s << static_cast<std::uint64_t>(dtype_v<element_t<L>>) << leaf.extents(); });
  return s;
}
template <class X>
std::string text_of(const char* call, const X& x) {
  std::string s = std::string(call) + '(';
  const char* before = "";
  for_each_leaf(x, [&]<class L>(const L& leaf) { s += std::string(std::exchange(before, ", ")) + name_of(dtype_v<element_t<L>>) + ' ' + spell(leaf.extents()).c_str(); });
  return s + ')';
}
template <class X>
void agree_on(group& g, const char* call, const X& x, int also = 0) {
  agree(g, call, signature_of(call, x) << static_cast<std::uint64_t>(also),
        [&] { return text_of(call, x) + (also == 0 ? "" : ", with " + std::to_string(also)); });
}

/// All leaves of x with element type T as one array: f(data, elements). Law: data is 64-byte aligned. What f writes is in the leaves after it.
template <class T, class X, class F>
void as_one_array(X& x, F f) {
  std::int64_t elements = 0;
  int leaves = 0;
  T* single = nullptr;
  const auto each = [&](auto visit) {
    for_each_leaf(x, [&]<class L>(L& leaf) {
      if constexpr (std::is_same_v<element_t<L>, T>) visit(tensor_access::fresh(leaf), leaf.size());
    });
  };
  each([&](T* data, std::int64_t n) { ++leaves, elements += n, single = data; });
  if (leaves == 1) return f(single, elements);
  if (elements == 0) return;
  const storage_handle memory = allocate_storage(static_cast<std::size_t>(elements) * sizeof(T));
  T* at = static_cast<T*>(memory.data());
  each([&](const T* data, std::int64_t n) { at = std::copy_n(data, n, at); });
  f(static_cast<T*>(memory.data()), elements);
  at = static_cast<T*>(memory.data());
  each([&](T* data, std::int64_t n) { std::copy_n(at, n, data), at += n; });
}

template <class F>
void for_each_element_type(F f) {
  f(element_tag<float>{}), f(element_tag<double>{}), f(element_tag<std::int32_t>{}), f(element_tag<std::int64_t>{}), f(element_tag<bool>{});
}

template <class Operation>
constexpr int code_of = std::is_same_v<Operation, mean_of_ranks> ? 1 : std::is_same_v<Operation, max_of_ranks> ? 2 : std::is_same_v<Operation, min_of_ranks> ? 3 : 0;

template <class T, class Operation>
void divide_if_mean([[maybe_unused]] T* data, [[maybe_unused]] std::int64_t n, [[maybe_unused]] int ranks) {
  if constexpr (std::is_same_v<Operation, mean_of_ranks> && !std::is_same_v<T, bool>)
    for (std::int64_t i = 0; i < n; ++i) data[i] = static_cast<T>(data[i] / static_cast<T>(ranks));
}

/// Adds the ranks' blocks of n elements, if there is a function for that; otherwise each rank gets the blocks of all.
template <class T>
void exchange_blocks(group& g, T* data, std::int64_t n, combine_function combine) {
  if (n == 0) return;
  exchange e;
  e.prepare(g, 1, data, dtype_v<T>, {n * g.size(), 0, n, g.size()}, combine, combine != nullptr, combine == nullptr);
  e.start();
  e.wait();
}

/// The kind of some of the rows of a tensor.
template <class S>
struct some_rows { using type = shape<dyn>; };
template <std::int64_t First, std::int64_t... Rest>
struct some_rows<shape<First, Rest...>> { using type = shape<dyn, Rest...>; };
struct rows_of_rank : shape_change {
  template <class S>
  using shape = typename some_rows<S>::type;
};

}  // namespace detail

/// Each element of x becomes the sum of those of all ranks, or their mean, max or min.
template <class X, class Operation = sum_of_ranks>
void all_reduce_(X& x, group& g, Operation operation = {}) {
  if constexpr (detail::is_exchangeable<X>()) {
    detail::agree_on(g, "all_reduce", x, detail::code_of<Operation>);
    tenure::detail::for_each_leaf(x, [](auto& leaf) { tenure::detail::tensor_access::write(leaf, "all_reduce"); });
    detail::for_each_element_type([&]<class T>(element_tag<T>) {
      detail::as_one_array<T>(x, [&](T* data, std::int64_t n) {
        detail::exchange e;
        e.prepare(g, 1, data, dtype_v<T>, {n, 0, detail::block_unit, g.size()}, detail::combine_of(dtype_v<T>, operation), true, true);
        e.start();
        e.wait();
        detail::divide_if_mean<T, Operation>(data, n, g.size());
      });
    });
  }
}
/// The same as a new tensor or model; x keeps its values.
template <class X, class Operation = sum_of_ranks>
auto all_reduce(const X& x, group& g, Operation operation = {}) {
  if constexpr (detail::is_exchangeable<X>()) {
    auto result = deepcopy(x);
    all_reduce_(result, g, operation);
    return result;
  } else {
    return 0;
  }
}

/// x becomes that of rank `root`, as at the beginning of a training: a model that each rank has made from a seed of its own. Throws index_error
/// if there is no such rank.
template <class X>
void broadcast_(X& x, group& g, int root = 0) {
  if constexpr (detail::is_exchangeable<X>()) {
    if (root < 0 || root >= g.size()) tenure::detail::throw_outside("broadcast", root, g.size());
    detail::agree_on(g, "broadcast", x, root);
    tenure::detail::for_each_leaf(x, [](auto& leaf) { tenure::detail::tensor_access::write(leaf, "broadcast"); });
    detail::for_each_element_type([&]<class T>(element_tag<T>) {
      detail::as_one_array<T>(x, [&](T* data, std::int64_t n) {
        constexpr std::int64_t most = INT_MAX / sizeof(T);
        for (std::int64_t i = 0; i < n; i += most)
          detail::check(MPI_Bcast(data + i, static_cast<int>(std::min(most, n - i) * static_cast<std::int64_t>(sizeof(T))), MPI_BYTE, root, g.communicator()), "MPI_Bcast");
      });
    });
  }
}

/// The arrays of all ranks, along a new axis 0: `all_gather(x, g)[3]` is x of rank 3. A model gives the model of stacked parameters.
template <class X>
auto all_gather(const X& x, group& g) {
  if constexpr (detail::is_exchangeable<X>()) {
    detail::agree_on(g, "all_gather", x);
    const auto gather = [&]<class To, class L>(element_tag<To>, const L& leaf) {
      extents all{1, {g.size()}};
      for (int a = 0; a < leaf.extents().rank; ++a) all.push_back(leaf.extents()[a]);
      To result = tenure::detail::tensor_access::allocate<To>(all);
      element_t<L>* const data = tenure::detail::tensor_access::fresh(result);
      const std::int64_t n = leaf.size();
      std::copy_n(tenure::detail::tensor_access::read(leaf, "all_gather"), n, data + g.rank() * n);
      detail::exchange_blocks(g, data, n, nullptr);
      return result;
    };
    return tenure::detail::build_tree<tenure::detail::rebind_kind_t<X, stacked<values, dyn>>>(gather, x);
  } else {
    return 0;
  }
}

/// The rows of this rank, a p-th of them, of the sum of x over all ranks, or of its mean, max or min. Rows are along axis 0; a scalar is one
/// row. Throws shape_error on all ranks if the number of rows is not a multiple of the number of ranks.
template <class X, class Operation = sum_of_ranks>
auto reduce_scatter(const X& x, group& g, Operation operation = {}) {
  if constexpr (detail::is_exchangeable<X>()) {
    detail::agree_on(g, "reduce_scatter", x, detail::code_of<Operation>);
    const auto rows_of = [](const auto& leaf) { return leaf.extents().rank == 0 ? std::int64_t{1} : leaf.extents()[0]; };
    tenure::detail::for_each_leaf(x, [&](const auto& leaf) {
      if (rows_of(leaf) % g.size() != 0)
        throw shape_error(tenure::detail::message("reduce_scatter") << "shape " << leaf.extents() << ": " << rows_of(leaf) << " rows for " << g.size() << " ranks");
    });
    const auto reduce = [&]<class To, class L>(element_tag<To>, const L& leaf) {
      using T = element_t<L>;
      const std::int64_t n = leaf.size() / g.size();
      const tenure::detail::storage_handle memory = tenure::detail::allocate_storage(static_cast<std::size_t>(leaf.size()) * sizeof(T));
      T* const data = static_cast<T*>(memory.data());
      std::copy_n(tenure::detail::tensor_access::read(leaf, "reduce_scatter"), leaf.size(), data);
      detail::exchange_blocks(g, data, n, detail::combine_of(dtype_v<T>, operation));
      extents own{1, {rows_of(leaf) / g.size()}};
      for (int a = 1; a < leaf.extents().rank; ++a) own.push_back(leaf.extents()[a]);
      To result = tenure::detail::tensor_access::allocate<To>(own);
      std::copy_n(data + g.rank() * n, n, tenure::detail::tensor_access::fresh(result));
      detail::divide_if_mean<T, Operation>(tenure::detail::tensor_access::fresh(result), n, g.size());
      return result;
    };
    return tenure::detail::build_tree<tenure::detail::rebind_kind_t<X, tenure::detail::with_changes<values, detail::rows_of_rank>>>(reduce, x);
  } else {
    return 0;
  }
}

}  // namespace tenure::mpi
