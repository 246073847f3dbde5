// SPDX-License-Identifier: BSL-1.0
// all_reduce, broadcast, all_gather and reduce_scatter of tensors and models. Every rank of the group makes the same call.
// Law: a call throws on all ranks, before anything is written, where shapes, element types or operations differ, or where a rank has
// failed.
// Law: reductions give the same bits on all ranks, and from run to run for a fixed number of ranks.
// Cost: a reduction sends the leaves of one element type as one array. If there are several leaves, it copies them into that array.
#pragma once

#include <algorithm>
#include <concepts>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>

#include <tenure/distributed/agreement.hpp>
#include <tenure/distributed/arena.hpp>
#include <tenure/distributed/exchange.hpp>
#include <tenure/eager/deepcopy.hpp>
#include <tenure/transform/call.hpp>

namespace TENURE_NAMESPACE::mpi {
namespace detail {

/// The device of the arrays that a group exchanges, and the functions that exchange them. A derived group uses the transport of its base.
template <class Group>
struct transport;

/// Whether ranks can exchange an X. If not, a static_assert gives the reason.
template <class X, class Device>
constexpr bool is_exchangeable() {
  constexpr bool is_of_host = std::is_same_v<Device, cpu_device>;
  constexpr bool has_memory = [] {
    using t = tree<X>;
    if constexpr (t::is_tree) return !t::has_numbers && !t::traces && t::contiguous && std::is_same_v<device_of_tree<X>, Device>;
    else return false;
  }();
  static_assert(has_memory || !is_of_host, "tenure: mpi: an argument is not a tensor that owns its memory on the host, nor a tuple, an array or a model of such tensors");
  static_assert(has_memory || is_of_host, "tenure: nccl: an argument is not a tensor that owns its memory on the GPU, nor a tuple, an array or a model of such tensors");
  return has_memory;
}

/// Whether ranks can write an X. If not, a static_assert gives the reason. A leaf may be written, because it is a parameter.
template <class X, class Device>
constexpr bool is_written() {
  using tenure::detail::target_fault;
  constexpr target_fault fault = [] {
    if constexpr (tree<X>::is_tree) return tenure::detail::fault_of_target<X&, target_fault::leaf, target_fault::view>();
    else return target_fault::none;  // is_exchangeable() has the message for such a type, and for views
  }();
  static_assert(fault != target_fault::read_only, "tenure: mpi: the argument is read-only");
  static_assert(fault != target_fault::node, "tenure: mpi: the argument is a node, and a call writes values without a history: give a tensor without a gradient");
  if constexpr (fault != target_fault::none) return false;
  else return is_exchangeable<X, Device>();
}

/// Returns when all ranks are about to make the same call. Otherwise throws on all ranks. `option` is the text of the arguments besides x. check()
/// allocates memory for the call, or throws if these arguments are wrong.
void agree_on(group& g, const char* call, const auto& x, const std::string& option, auto check) {
  const auto sign = [&] {
    signature own;
    own << call << option.c_str();
    for_each_leaf(x, [&]<class L>(const L& leaf) {
      tensor_access::check_alive(leaf, call);
      own << static_cast<std::uint64_t>(dtype_v<element_t<L>>) << leaf.extents();
    });
    check();
    return own;
  };
  agree(g, call, sign, [&] {
    std::string text = std::string(call) + '(';
    const char* before = "";
    for_each_leaf(x, [&]<class L>(const L& leaf) {
      text += std::string(std::exchange(before, ", ")) + name_of(dtype_v<element_t<L>>) + ' ' + spell(leaf.extents()).c_str();
    });
    return text + (option.empty() ? "" : ", ") + option + ')';
  });
}
/// Calls f(data, elements) with all leaves of x of element type T as one array. Data is 64-byte aligned. Afterwards the leaves have what f
/// wrote.
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

/// Calls f for the array of each element type.
void for_each_array(auto& x, auto f) {
  [&]<class... T>(type_list<T...>) { (as_one_array<T>(x, f), ...); }(element_types{});
}

constexpr const char* option_of(sum_of_ranks) { return ""; }
constexpr const char* option_of(mean_of_ranks) { return "mean"; }
constexpr const char* option_of(max_of_ranks) { return "max"; }
constexpr const char* option_of(min_of_ranks) { return "min"; }

template <class T, class Operation>
void divide_if_mean([[maybe_unused]] T* data, [[maybe_unused]] std::int64_t n, [[maybe_unused]] int ranks) {
  if constexpr (std::is_same_v<Operation, mean_of_ranks> && !std::is_same_v<T, bool>)
    for (std::int64_t i = 0; i < n; ++i) data[i] = static_cast<T>(data[i] / static_cast<T>(ranks));
}

/// Adds the ranks' blocks of n elements with `combine`. If `combine` is null, each rank gets the blocks of all ranks instead.
template <class T>
void exchange_blocks(group& g, T* data, std::int64_t n, combine_function combine) {
  if (n == 0) return;
  exchange e;
  e.prepare(g, 1, data, dtype_v<T>, {n * g.size(), 0, n, g.size()}, combine, combine != nullptr, combine == nullptr);
  e.start();
  e.wait();
}

/// Exchanges arrays of the host by messages of MPI. Each function is called after an agreement.
template <>
struct transport<group> {
  using device = cpu_device;

  /// Throws if the group cannot exchange anything any more.
  static void check(group&) {}
  /// Runs f, which calls the functions below.
  static void together(auto f) { f(); }
  /// Each element of x becomes the sum, mean, max or min of the elements at its place on all ranks.
  template <class X, class Operation>
  static void reduce(group& g, X& x, Operation operation) {
    for_each_array(x, [&]<class T>(T* data, std::int64_t n) {
      exchange e;
      e.prepare(g, 1, data, dtype_v<T>, {n, 0, block_unit, g.size()}, combine_of(dtype_v<T>, operation), true, true);
      e.start();
      e.wait();
      divide_if_mean<T, Operation>(data, n, g.size());
    });
  }
  static void broadcast(group& g, auto& x, int root) {
    for_each_array(x, [&]<class T>(T* data, std::int64_t n) {
      constexpr std::int64_t size = sizeof(T), most = INT_MAX / size;
      for (std::int64_t i = 0; i < n; i += most)
        detail::check(MPI_Bcast(data + i, static_cast<int>(std::min(most, n - i) * size), MPI_BYTE, root, g.communicator()), "MPI_Bcast");
    });
  }
  /// Block r of `all` becomes the `own` of rank r. A block has n elements.
  template <class T>
  static void gather(group& g, const T* own, std::int64_t n, T* all) {
    std::copy_n(own, n, all + g.rank() * n);
    exchange_blocks(g, all, n, nullptr);
  }
  /// `own` becomes this rank's block of the sum, mean, ... of `all` over the ranks. A block has n elements.
  template <class T, class Operation>
  static void scatter(group& g, const T* all, std::int64_t n, T* own, Operation operation) {
    const storage_handle memory = allocate_storage(static_cast<std::size_t>(n * g.size()) * sizeof(T));
    T* const data = static_cast<T*>(memory.data());
    std::copy_n(all, n * g.size(), data);
    exchange_blocks(g, data, n, combine_of(dtype_v<T>, operation));
    std::copy_n(data + g.rank() * n, n, own);
    divide_if_mean<T, Operation>(own, n, g.size());
  }
};
template <class Group>
struct transport : transport<group> {};

/// Runs f after an agreement. Other ranks rely on f.
template <class Group, class F>
void exchanged(Group& g, const char* call, F f) {
  relied_on(g, call, [&] { transport<Group>::together(f); });
}

/// Calls f(leaf of x, elements of the leaf of `to` at the same place). Both leaves have one element type. `to` is allocated in the agreement,
/// before the exchange. So a lack of memory throws on all ranks, and no exception frees memory that a stream still uses.
template <class X, class To, class F>
void for_each_result(const X& x, To& to, F f) {
  void* results[tree<X>::leaves + 1] = {};
  int i = 0;
  for_each_leaf(to, [&](auto& leaf) { results[i++] = tensor_access::fresh(leaf); });
  i = 0;
  for_each_leaf(x, [&]<class L>(const L& leaf) { f(leaf, static_cast<element_t<L>*>(results[i++])); });
}

/// The shape of some of the rows of a tensor of shape S. Their number is known at run time.
template <class S>
struct some_rows { using type = shape<dyn>; };
template <std::int64_t First, std::int64_t... Rest>
struct some_rows<shape<First, Rest...>> { using type = shape<dyn, Rest...>; };
struct rows_of_rank : shape_change {
  template <class S>
  using shape = typename some_rows<S>::type;
};

}  // namespace detail

/// Each element of x becomes the sum of the elements at its place on all ranks, or their mean, max or min.
template <class X, std::derived_from<group> Group, class Operation = sum_of_ranks>
void all_reduce_(X& x, Group& g, Operation operation = {}) {
  using transport = detail::transport<Group>;
  if constexpr (detail::is_written<X, typename transport::device>()) {
    detail::agree_on(g, "all_reduce", x, detail::option_of(operation), [&] { transport::check(g); });
    tenure::detail::for_each_leaf(x, [](auto& leaf) { tenure::detail::tensor_access::write(leaf, "all_reduce"); });
    detail::exchanged(g, "all_reduce", [&] { transport::reduce(g, x, operation); });
  }
}
/// As all_reduce_, but returns a new tensor or model; x keeps its values.
template <class X, std::derived_from<group> Group, class Operation = sum_of_ranks>
auto all_reduce(const X& x, Group& g, Operation operation = {}) {
  using transport = detail::transport<Group>;
  if constexpr (detail::is_exchangeable<X, typename transport::device>()) {
    std::optional<decltype(deepcopy(x))> result;
    detail::agree_on(g, "all_reduce", x, detail::option_of(operation), [&] {
      transport::check(g);
      result.emplace(deepcopy(x));
    });
    detail::exchanged(g, "all_reduce", [&] { transport::reduce(g, *result, operation); });
    return std::move(*result);
  } else {
    return 0;
  }
}

/// x becomes the x of rank `root`: for the start of a training where each rank has made a model from its own seed. Throws index_error if there is
/// no such rank.
template <class X, std::derived_from<group> Group>
void broadcast_(X& x, Group& g, int root = 0) {
  using transport = detail::transport<Group>;
  if constexpr (detail::is_written<X, typename transport::device>()) {
    detail::agree_on(g, "broadcast", x, root == 0 ? "" : "root " + std::to_string(root), [&] {
      transport::check(g);
      if (root < 0 || root >= g.size()) tenure::detail::throw_outside("broadcast", root, g.size());
    });
    tenure::detail::for_each_leaf(x, [](auto& leaf) { tenure::detail::tensor_access::write(leaf, "broadcast"); });
    detail::exchanged(g, "broadcast", [&] { transport::broadcast(g, x, root); });
  }
}

/// The arrays of all ranks, stacked along a new axis 0: `all_gather(x, g)[3]` is x of rank 3. A model gives a model of stacked parameters.
template <class X, std::derived_from<group> Group>
auto all_gather(const X& x, Group& g) {
  using transport = detail::transport<Group>;
  if constexpr (detail::is_exchangeable<X, typename transport::device>()) {
    const auto make = [&]<class To, class L>(element_tag<To>, const L& leaf) {
      extents all{1, {g.size()}};
      for (int a = 0; a < leaf.extents().rank; ++a) all.push_back(leaf.extents()[a]);
      return tenure::detail::tensor_access::allocate<To>(all);
    };
    using all = tenure::detail::rebind_kind_t<X, stacked<tenure::detail::results_on<typename transport::device>, dyn>>;
    std::optional<all> result;
    detail::agree_on(g, "all_gather", x, "", [&] {
      transport::check(g);
      result.emplace(tenure::detail::build_tree<all>(make, x));
    });
    detail::exchanged(g, "all_gather", [&] {
      detail::for_each_result(x, *result, [&](const auto& leaf, auto* to) { transport::gather(g, tenure::detail::tensor_access::read(leaf, "all_gather"), leaf.size(), to); });
    });
    return std::move(*result);
  } else {
    return 0;
  }
}

/// The rows of this rank of the sum of x over all ranks, or of the mean, max or min. Each of p ranks gets a p-th of the rows, in the order of the
/// ranks. Rows are along axis 0; a scalar is one row. Throws shape_error on all ranks if the number of rows is not a multiple of the number of ranks.
template <class X, std::derived_from<group> Group, class Operation = sum_of_ranks>
auto reduce_scatter(const X& x, Group& g, Operation operation = {}) {
  using transport = detail::transport<Group>;
  if constexpr (detail::is_exchangeable<X, typename transport::device>()) {
    const auto rows_of = [](const auto& leaf) { return leaf.extents().rank == 0 ? std::int64_t{1} : leaf.extents()[0]; };
    const auto make = [&]<class To, class L>(element_tag<To>, const L& leaf) {
      extents own{1, {rows_of(leaf) / g.size()}};
      for (int a = 1; a < leaf.extents().rank; ++a) own.push_back(leaf.extents()[a]);
      return tenure::detail::tensor_access::allocate<To>(own);
    };
    using rows_of_rank = tenure::detail::with_changes<tenure::detail::results_on<typename transport::device>, detail::rows_of_rank>;
    using own = tenure::detail::rebind_kind_t<X, rows_of_rank>;
    std::optional<own> result;
    detail::agree_on(g, "reduce_scatter", x, detail::option_of(operation), [&] {
      transport::check(g);
      tenure::detail::for_each_leaf(x, [&](const auto& leaf) {
        const std::int64_t rows = rows_of(leaf);
        if (rows % g.size() == 0) return;
        throw shape_error(tenure::detail::message("reduce_scatter")
                          << "shape " << leaf.extents() << ": " << rows << " rows for " << g.size() << " ranks");
      });
      result.emplace(tenure::detail::build_tree<own>(make, x));
    });
    detail::exchanged(g, "reduce_scatter", [&] {
      detail::for_each_result(x, *result, [&](const auto& leaf, auto* to) {
        transport::scatter(g, tenure::detail::tensor_access::read(leaf, "reduce_scatter"), leaf.size() / g.size(), to, operation);
      });
    });
    return std::move(*result);
  } else {
    return 0;
  }
}

}  // namespace tenure::mpi
