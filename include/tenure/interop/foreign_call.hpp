// SPDX-License-Identifier: BSL-1.0
// Calls of traced functions on the buffers of another library, which may hold batches of calls. Law: a batch gives what its calls give one by one,
// whichever arguments are batched. An argument that all samples share is not copied for each of them, nothing is copied, and nothing is allocated.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <tuple>
#include <type_traits>

#include <tenure/core/message.hpp>
#include <tenure/tensor/from.hpp>
#include <tenure/transform/compile.hpp>
#include <tenure/transform/vmap.hpp>

namespace TENURE_NAMESPACE::detail::exports {

// ---- buffers: code that is the same for all functions --------------------------------------------------------------

/// An argument or a result of type X. A shared one has no axis of the batch: it is one for all samples.
template <class X, bool IsShared>
struct operand {
  using type = X;
  static constexpr bool is_shared = IsShared;
};

struct leaf {
  dtype type = dtype::float32;
  extents shape{};
  bool is_shared = false;
};
template <int N>
struct leaf_list {
  leaf at[N + 1];
};
/// The leaves of operands, in order.
template <class... Operand>
inline constexpr auto leaves_of = [] {
  constexpr int count = (0 + ... + tree<typename Operand::type>::leaves);
  leaf_list<count> list;
  leaf* to = list.at;
  const auto add = [&]<class O>(element_tag<O>) {
    leaf_description described[tree<typename O::type>::leaves + 1];
    leaf_description* end = described;
    tree<typename O::type>::describe(end);
    for (const leaf_description* d = described; d != end; ++d) *to++ = {d->type, d->shape, O::is_shared};
  };
  (add(element_tag<Operand>{}), ...);
  return list;
}();

/// Foreign memory: row-major samples of these extents. In a batch the axes of the samples come first; they have an extent of 1 where samples share memory.
struct buffer {
  char* data = nullptr;  // of the first sample of a run
  char* origin = nullptr;
  const std::int64_t* dims = nullptr;  // of the whole buffer
  tenure::extents extents{};
  std::int64_t step = 0, bytes = 0;  // between two samples of a run, in elements; of an element

  tenure::extents batched_extents(std::int64_t samples) const { return with_first(samples, extents); }
  tenure::extents batched_strides() const { return with_first(step, row_major(extents)); }
  /// The samples along axes first to last.
  std::int64_t samples(int first, int last) const {
    std::int64_t n = 1;
    for (int a = first; a < last; ++a) n *= dims[a];
    return n;
  }

 private:
  static tenure::extents with_first(std::int64_t n, const tenure::extents& rest) {
    tenure::extents all;
    all.push_back(n);
    for (int a = 0; a < rest.rank; ++a) all.push_back(rest[a]);
    return all;
  }
};

/// The buffers of a call, and the axes of its batch.
class buffer_list {
 public:
  buffer_list(buffer* buffers, const leaf* leaves, int arguments, int results) : buffers_(buffers), leaves_(leaves), arguments_(arguments), count_(arguments + results) {}

  /// Reads buffer i. Returns whether it fits its leaf; else refusal() says what does not.
  bool read(int i, dtype type, void* data, std::int64_t rank, const std::int64_t* dims) {
    const extents& s = leaves_[i].shape;
    if (type != leaves_[i].type) return fails(i, "another element type");
    if (i == 0) axes_ = static_cast<int>(rank) - s.rank;
    if (axes_ < 0 || axes_ > max_rank || rank - s.rank != axes_) return fails(i, "another rank");
    buffer& b = buffers_[i];
    b.origin = b.data = static_cast<char*>(data);
    b.dims = dims;
    b.bytes = size_of(type);
    for (int a = 0; a < s.rank; ++a) {
      const std::int64_t n = dims[axes_ + a];
      if (is_static(s[a]) && n != s[a]) return fails(i, "another extent");
      b.extents.push_back(n);
    }
    return true;
  }
  /// Finds the extents of the batch from the first buffers, those of the arguments or all. Returns whether their batches fit each other.
  bool find_batch(int count) {
    batch_.rank = 0;
    for (int a = 0; a < axes_; ++a) {
      std::int64_t samples = 1;
      for (int i = 0; i < count; ++i)
        if (buffers_[i].dims[a] != 1) samples = buffers_[i].dims[a];
      for (int i = 0; i < count; ++i)
        if (buffers_[i].dims[a] != samples && (buffers_[i].dims[a] != 1 || (i >= arguments_ && !leaves_[i].is_shared))) return fails(i, "another number of samples");
      batch_.push_back(samples);
    }
    return true;
  }
  /// The extents along the axes of the batch.
  const extents& batch() const { return batch_; }
  bool fails(int where, const char* what) {
    where_ = where, what_ = what;
    return false;
  }
  text refusal() const { return where_ < 0 ? message("call") << what_ : message("call") << "buffer " << where_ << " has " << what_ << " than the function's types say"; }

  bool is_batch() const { return axes_ > 0; }
  static constexpr std::int64_t alone = -1;

  /// Calls f(samples) for each run of samples: they lie at equal distances in every buffer, and the buffers are at the first one. There is one run if each
  /// buffer has either all samples or one; else a run goes along the axes that have the most. If a shared buffer has a batch, f(alone) is called for each sample.
  template <class F>
  void for_each_run(F f) const {
    bool is_alone = false, is_sum = false;
    for (int i = 0; i < count_; ++i) {
      if (!leaves_[i].is_shared) continue;
      const bool has_one = buffers_[i].samples(0, axes_) == 1 && samples(0, axes_) != 1;
      if (!has_one) is_alone = true;
      else if (i >= arguments_) is_sum = true;
    }
    const axis_range along = is_alone ? axis_range{axes_, axes_} : longest_run();
    const std::int64_t run = samples(along.first, along.last), runs = samples(0, along.first) * samples(along.last, axes_);
    if (is_sum && runs != 1) throw shape_error("tenure: call: a cotangent is the sum over samples at different distances");
    for (int i = 0; i < count_; ++i) {
      const buffer& b = buffers_[i];
      buffers_[i].step = b.samples(along.first, along.last) == 1 ? 0 : count(b.extents) * b.samples(along.last, axes_);
    }
    for (std::int64_t r = 0; r < runs; ++r) {
      for (int i = 0; i < count_; ++i) buffers_[i].data = buffers_[i].origin + offset(buffers_[i], along, r);
      f(is_alone ? alone : run);
    }
  }

 private:
  struct axis_range {
    int first, last;
  };

  std::int64_t samples(int first, int last) const {
    std::int64_t n = 1;
    for (int a = first; a < last; ++a) n *= batch_[a];
    return n;
  }
  /// The neighbouring axes with the most samples that lie at equal distances in each buffer.
  axis_range longest_run() const {
    axis_range longest{axes_, axes_};
    for (int last = axes_; last > 0;) {
      int first = last;
      while (first > 0 && is_joined({first, last})) --first;
      if (samples(first, last) > samples(longest.first, longest.last) || longest.last == longest.first) longest = {first, last};
      last = first;
    }
    return longest;
  }
  /// Whether the axis before a range continues the run along it.
  bool is_joined(axis_range along) const {
    if (batch_[along.first - 1] == 1 || samples(along.first, along.last) == 1) return true;
    for (int i = 0; i < count_; ++i)
      if ((buffers_[i].dims[along.first - 1] == 1) != (buffers_[i].samples(along.first, along.last) == 1)) return false;
    return true;
  }
  /// The bytes before run r of a buffer.
  std::int64_t offset(const buffer& b, axis_range along, std::int64_t r) const {
    std::int64_t bytes = b.bytes * count(b.extents), sum = 0;
    for (int a = axes_ - 1; a >= 0; --a) {
      if (a < along.first || a >= along.last) {
        if (b.dims[a] != 1) sum += r % batch_[a] * bytes;
        r /= batch_[a];
      }
      bytes *= b.dims[a];
    }
    return sum;
  }

  buffer* buffers_;
  const leaf* leaves_;
  int arguments_, count_;
  int axes_ = 0;  // of the batch
  extents batch_{};
  int where_ = 0;
  const char* what_ = "";
};

// ---- buffers as trees ----------------------------------------------------------------------------------------------

/// The kind of leaves over foreign memory, read-only or written.
template <bool IsWritten>
struct over_buffers : arithmetic_of_models {
  template <class T, class S>
  using type = borrowed<std::conditional_t<IsWritten, T, const T>, S>;
};
/// A tree over foreign memory. In a batch each leaf has the samples along a new axis 0.
template <bool IsWritten, bool IsBatch, class X>
using tree_over_buffers = rebind_kind_t<X, std::conditional_t<IsBatch, with_changes<over_buffers<IsWritten>, stacks<dyn>>, over_buffers<IsWritten>>>;

template <bool IsWritten, bool IsBatch, class X>
auto tree_over(const buffer*& at, std::int64_t samples) {
  const auto leaf = [&]<class L>(element_tag<L>) {
    using element = std::conditional_t<IsWritten, element_t<L>, const element_t<L>>;
    const buffer& b = *at++;
    if constexpr (IsBatch) return borrow<shape_of_t<L>>(reinterpret_cast<element*>(b.data), b.batched_extents(samples), b.batched_strides());
    else return borrow<shape_of_t<L>>(reinterpret_cast<element*>(b.data), b.extents);
  };
  return build_tree<tree_over_buffers<IsWritten, IsBatch, X>>(leaf);
}

/// A call: F on one sample, Batch::of<F> on a batch. Result and Arguments are operands.
template <class Single, class Batch, class Results, class... Argument>
struct call_of;
template <class Single, class Batch, class... Result, class... Argument>
struct call_of<Single, Batch, std::tuple<Result...>, Argument...> {
  static constexpr int arguments = (0 + ... + tree<typename Argument::type>::leaves), results = (0 + ... + tree<typename Result::type>::leaves);
  static constexpr auto leaves = leaves_of<Argument..., Result...>;

  /// Writes the extents of the results for one sample to `to`. The buffers of the arguments have been read.
  static void find_extents([[maybe_unused]] const buffer* buffers, extents* to) {
    using program_type = program<source_of_call<Single, tree_over_buffers<false, false, typename Argument::type>...>>;
    std::int64_t symbols[program_type::symbol_count + 1] = {};
    if constexpr (!program_type::is_static) {
      leaf_argument given[arguments + 1];
      for (int i = 0; i < arguments; ++i) given[i] = {buffers[i].data, buffers[i].extents, row_major(buffers[i].extents)};
      bind_symbols(program_type::value.view(), given, symbols);
    }
    for (int i = 0; i < results; ++i) to[i] = output_extents<program_type>(i, symbols);
  }

  static void run(const buffer_list& list, buffer* buffers) {
    if (!list.is_batch()) return run_over<false>(Single{}, buffers, 1);
    list.for_each_run([&](std::int64_t samples) {
      if (samples == buffer_list::alone) run_over<false>(Single{}, buffers, 1);
      else run_over<true>(Batch{}, buffers, samples);
    });
  }

 private:
  template <bool IsBatch, class F>
  static void run_over(F f, const buffer* buffers, std::int64_t samples) {
    const buffer* at = buffers;
    // Braces evaluate the trees in order.
    const std::tuple<tree_over_buffers<false, IsBatch && !Argument::is_shared, typename Argument::type>...> x{
        tree_over<false, IsBatch && !Argument::is_shared, typename Argument::type>(at, samples)...};
    std::tuple<tree_over_buffers<true, IsBatch && !Result::is_shared, typename Result::type>...> y{
        tree_over<true, IsBatch && !Result::is_shared, typename Result::type>(at, samples)...};
    std::apply([&](auto&... result) { std::apply([&](const auto&... argument) { compile(f).into(result...)(argument...); }, x); }, y);
  }
};

}  // namespace tenure::detail::exports
