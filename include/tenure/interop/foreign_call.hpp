// SPDX-License-Identifier: BSL-1.0
// Calls of traced functions on the buffers of another library, which may hold batches of calls. Law: a batch gives what its calls give one by one,
// whichever arguments are batched. An argument that all samples share is not copied for each of them, nothing is copied, and nothing is allocated.
// Tangents and cotangents may have axes of their own, the directions of a Jacobian. What does not depend on the direction is computed once for all of them.
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

/// An argument or a result of type X. A shared one has no axis of the batch: it is one for all samples. A linear one, such as a tangent, differs by the direction.
template <class X, bool IsShared, bool IsLinear = false>
struct operand {
  using type = X;
  static constexpr bool is_shared = IsShared, is_linear = IsLinear;
};

struct leaf {
  dtype type = dtype::float32;
  extents shape{};
  bool is_shared = false, is_linear = false;
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
    for (const leaf_description* d = described; d != end; ++d) *to++ = {d->type, d->shape, O::is_shared, O::is_linear};
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
  std::int64_t step = 0, direction_step = 0, bytes = 0;  // between two samples and two directions of a run, in elements; of an element

  /// The number of samples along axes first to last.
  std::int64_t samples(int first, int last) const {
    std::int64_t n = 1;
    for (int a = first; a < last; ++a) n *= dims[a];
    return n;
  }
};

/// The samples that a program computes at once, in as many directions.
struct run_of_samples {
  std::int64_t samples = 1, directions = 1;
};

/// The buffers of a call, and the axes of its batch.
class buffer_list {
 public:
  buffer_list(buffer* buffers, const leaf* leaves, int arguments, int results, bool has_directions)
      : buffers_(buffers), leaves_(leaves), arguments_(arguments), count_(arguments + results), has_directions_(has_directions) {}

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
    if (count == count_) find_kinds();
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

  /// Calls f for each run of samples: they lie at equal distances in every buffer, and the buffers are at the first one. There is one run if each
  /// buffer has either all samples or one; else a run goes along the axes that have the most. Directions are the axes of linear buffers alone, and a
  /// run has those with the most. If a shared argument has a batch, the samples are alone: one in each run. A sample without directions is alone too.
  template <class F>
  void for_each_run(F f) const {
    bool is_alone = false, is_sum = false;
    const std::int64_t all = all_samples();
    for (int i = 0; i < count_; ++i) {
      if (!leaves_[i].is_shared) continue;
      const bool has_one = has_one_sample(buffers_[i]) && all != 1;
      if (!has_one) is_alone = true;
      else if (i >= arguments_) is_sum = true;
    }
    const axis_range none{axes_, axes_};
    const axis_range of_samples = is_alone ? none : longest_run(axis_kind::samples), of_directions = longest_run(axis_kind::directions);
    const run_of_samples run{samples(of_samples), samples(of_directions)};
    if (is_sum && run.samples != all) throw shape_error("tenure: call: a cotangent is the sum over samples at different distances");
    for (int i = 0; i < count_; ++i) {
      buffers_[i].step = distance(buffers_[i], of_samples);
      buffers_[i].direction_step = distance(buffers_[i], of_directions);
    }
    std::int64_t runs = 1;
    for (int a = 0; a < axes_; ++a)
      if (!of_samples.has(a) && !of_directions.has(a)) runs *= batch_[a];
    for (std::int64_t r = 0; r < runs; ++r) {
      for (int i = 0; i < count_; ++i) buffers_[i].data = buffers_[i].origin + offset(buffers_[i], of_samples, of_directions, r);
      f(is_alone && run.directions == 1 ? run_of_samples{alone} : run);
    }
  }

 private:
  /// The samples along an axis that lies apart are computed one after the other.
  enum class axis_kind : std::uint8_t { samples, directions, apart };
  struct axis_range {
    int first, last;
    bool has(int a) const { return a >= first && a < last; }
  };

  /// Finds the kinds of the axes. Where a program knows no directions they are samples; of a cotangent that is a sum over the samples, they lie apart.
  void find_kinds() {
    bool is_sum = false;
    for (int i = arguments_; i < count_; ++i)
      for (int a = 0; a < axes_; ++a) is_sum = is_sum || (buffers_[i].dims[a] == 1 && batch_[a] != 1);
    const axis_kind kind = has_directions_ ? axis_kind::directions : is_sum ? axis_kind::apart : axis_kind::samples;
    for (int a = 0; a < axes_; ++a) kinds_[a] = is_along_directions(a) ? kind : axis_kind::samples;
  }
  /// Along an axis of directions all arguments have one sample, except the linear ones, and each result has all of them.
  bool is_along_directions(int axis) const {
    bool is_direction = batch_[axis] > 1;
    for (int i = 0; i < count_; ++i)
      if (i >= arguments_ || !leaves_[i].is_linear) is_direction = is_direction && buffers_[i].dims[axis] == (i < arguments_ ? 1 : batch_[axis]);
    return is_direction;
  }
  /// The number of samples in the batch, each in all its directions.
  std::int64_t all_samples() const {
    std::int64_t n = 1;
    for (int a = 0; a < axes_; ++a)
      if (kinds_[a] == axis_kind::samples) n *= batch_[a];
    return n;
  }
  bool has_one_sample(const buffer& b) const {
    for (int a = 0; a < axes_; ++a)
      if (kinds_[a] == axis_kind::samples && b.dims[a] != 1) return false;
    return true;
  }
  std::int64_t samples(axis_range along) const {
    std::int64_t n = 1;
    for (int a = along.first; a < along.last; ++a) n *= batch_[a];
    return n;
  }
  /// The neighbouring axes with the most samples, or directions, that lie at equal distances in each buffer.
  axis_range longest_run(axis_kind kind) const {
    axis_range longest{axes_, axes_};
    for (int last = axes_; last > 0;) {
      int first = last;
      while (first > 0 && is_joined({first, last}, kind)) --first;
      if (first == last) {
        --last;
        continue;
      }
      if (samples({first, last}) > samples(longest) || longest.last == longest.first) longest = {first, last};
      last = first;
    }
    return longest;
  }
  /// Whether the axis before a range continues the run along it.
  bool is_joined(axis_range along, axis_kind kind) const {
    const int a = along.first - 1;
    if (kinds_[a] != kind && batch_[a] != 1) return false;
    if (batch_[a] == 1 || samples(along) == 1) return true;
    for (int i = 0; i < count_; ++i)
      if ((buffers_[i].dims[a] == 1) != (buffers_[i].samples(along.first, along.last) == 1)) return false;
    return true;
  }
  /// The elements between two neighbours along axes. 0: all of them are one.
  std::int64_t distance(const buffer& b, axis_range along) const {
    return b.samples(along.first, along.last) == 1 ? 0 : count(b.extents) * b.samples(along.last, axes_);
  }
  /// The bytes before run r of a buffer.
  std::int64_t offset(const buffer& b, axis_range of_samples, axis_range of_directions, std::int64_t r) const {
    std::int64_t bytes = b.bytes * count(b.extents), sum = 0;
    for (int a = axes_ - 1; a >= 0; --a) {
      if (!of_samples.has(a) && !of_directions.has(a)) {
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
  bool has_directions_;
  int axes_ = 0;  // of the batch
  extents batch_{};
  axis_kind kinds_[max_rank] = {};
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
/// The new axes of an operand in a run: a batch has axes for samples and for directions where they differ.
template <class Operand, bool IsBatch, bool HasDirections>
struct axes_in_run {
  static constexpr bool samples = IsBatch && !Operand::is_shared, directions = HasDirections && Operand::is_linear;
  template <class Kind>
  using kind = std::conditional_t<samples && directions, with_changes<Kind, stacks<dyn>, stacks<dyn>>, std::conditional_t<samples || directions, with_changes<Kind, stacks<dyn>>, Kind>>;

  /// The extents and strides of a buffer: of the directions, of the samples, of one sample.
  static std::pair<extents, extents> of(const buffer& b, run_of_samples run) {
    std::pair<extents, extents> found;
    auto& [shape, strides] = found;
    if constexpr (directions) shape.push_back(run.directions), strides.push_back(b.direction_step);
    if constexpr (samples) shape.push_back(run.samples), strides.push_back(b.step);
    const extents within = row_major(b.extents);
    for (int a = 0; a < b.extents.rank; ++a) shape.push_back(b.extents[a]), strides.push_back(within[a]);
    return found;
  }
};
/// An operand over foreign memory.
template <bool IsWritten, class Operand, class Axes>
using tree_over_buffers = rebind_kind_t<typename Operand::type, typename Axes::template kind<over_buffers<IsWritten>>>;

template <class Operand>
using read_alone = tree_over_buffers<false, Operand, axes_in_run<Operand, false, false>>;

template <bool IsWritten, class Operand, class Axes>
auto tree_over(const buffer*& at, run_of_samples run) {
  const auto leaf = [&]<class L>(element_tag<L>) {
    using element = std::conditional_t<IsWritten, element_t<L>, const element_t<L>>;
    const buffer& b = *at++;
    if constexpr (Axes::samples || Axes::directions) {
      const auto layout = Axes::of(b, run);
      return borrow<shape_of_t<L>>(reinterpret_cast<element*>(b.data), layout.first, layout.second);
    } else {
      return borrow<shape_of_t<L>>(reinterpret_cast<element*>(b.data), b.extents);
    }
  };
  return build_tree<tree_over_buffers<IsWritten, Operand, Axes>>(leaf);
}

/// A call: Single on one sample, Batch on a batch, and Directions on a batch whose linear operands differ by the direction, along their first axis; void: there are
/// no linear ones, or a batch computes each direction as a sample. Result and Arguments are operands.
template <class Single, class Batch, class Directions, class Results, class... Argument>
struct call_of;
template <class Single, class Batch, class Directions, class... Result, class... Argument>
struct call_of<Single, Batch, Directions, std::tuple<Result...>, Argument...> {
  static constexpr int arguments = (0 + ... + tree<typename Argument::type>::leaves), results = (0 + ... + tree<typename Result::type>::leaves);
  static constexpr auto leaves = leaves_of<Argument..., Result...>;
  static constexpr bool has_directions = !std::is_void_v<Directions>;

  /// Writes the extents of the results for one sample to `to`. The buffers of the arguments have been read.
  static void find_extents([[maybe_unused]] const buffer* buffers, extents* to) {
    using program_type = program<source_of_call<Single, read_alone<Argument>...>>;
    std::int64_t symbols[program_type::symbol_count + 1] = {};
    if constexpr (!program_type::is_static) {
      leaf_argument given[arguments + 1];
      for (int i = 0; i < arguments; ++i) given[i] = {buffers[i].data, buffers[i].extents, row_major(buffers[i].extents)};
      bind_symbols(program_type::value.view(), given, symbols);
    }
    for (int i = 0; i < results; ++i) to[i] = output_extents<program_type>(i, symbols);
  }

  static void run(const buffer_list& list, buffer* buffers) {
    if (!list.is_batch()) return run_over<false, false>(Single{}, buffers, {});
    list.for_each_run([&](run_of_samples run) {
      if (run.samples == buffer_list::alone) return run_over<false, false>(Single{}, buffers, {});
      if constexpr (has_directions)
        if (run.directions != 1) return run_over<true, true>(Directions{}, buffers, run);
      run_over<true, false>(Batch{}, buffers, run);
    });
  }

 private:
  template <bool IsBatch, bool HasDirections, class F>
  static void run_over(F f, const buffer* buffers, run_of_samples run) {
    const buffer* at = buffers;
    // Braces evaluate the trees in order.
    const std::tuple<tree_over_buffers<false, Argument, axes_in_run<Argument, IsBatch, HasDirections>>...> x{tree_over<false, Argument, axes_in_run<Argument, IsBatch, HasDirections>>(at, run)...};
    std::tuple<tree_over_buffers<true, Result, axes_in_run<Result, IsBatch, HasDirections>>...> y{tree_over<true, Result, axes_in_run<Result, IsBatch, HasDirections>>(at, run)...};
    std::apply([&](auto&... result) { std::apply([&](const auto&... argument) { compile(f).into(result...)(argument...); }, x); }, y);
  }
};

}  // namespace tenure::detail::exports
