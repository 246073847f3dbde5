// SPDX-License-Identifier: BSL-1.0
// Convolution as products in the register tiles of matmul, without a matrix of windows in memory. The rows of a product are the positions of one row of the
// image, or, if the taps are more than these, the images: so it is for the cotangent of taps, whose "images" are the channels. Its steps are the taps of one
// row and the channels together where these lie evenly in memory, as they do with channels last and without dilation: then neighbouring rows of the left
// factor overlap. The columns are the results.
// Law: the result of an image does not depend on what other images hold, nor on the number of threads. With few images the order of its sums may be another.
// Cost: 2 n i j u v c o operations. The taps are packed once for each task and panel, at most 48 KiB at a time. Images whose channels are not last are copied.
// For few positions in all, packed taps would be read once. If the taps of a result are contiguous, as PyTorch stores them, the results are dot products of
// windows, which are copied, with the taps in place.
#pragma once

#include <tenure/backend/cpu/matmul.hpp>
#include <tenure/backend/cpu/step.hpp>
#include <tenure/backend/cpu/strided.hpp>
#include <tenure/ops/opaque/convolution.hpp>

namespace TENURE_NAMESPACE::TENURE_LANES(cpu_backend) {

namespace detail {

/// A task is some rows of products for one panel of results, or for all panels if it copies images.
template <class T>
class convolution_tasks {
 public:
  constexpr explicit convolution_tasks(const opaque_operation& o) : o_(o), options_(ops::convolution_options::unpacked(o.attr)), first_(o.out.rank - 4) {
    const auto extent = [&](const operand_view& v, int axis) { return v.extent[first_ + axis]; };
    n_ = extent(o.in[0], 0), h_ = extent(o.in[0], 1), w_ = extent(o.in[0], 2), c_ = extent(o.in[0], 3);
    taps_[0] = extent(o.in[1], 0), taps_[1] = extent(o.in[1], 1);
    i_ = extent(o.out, 1), j_ = extent(o.out, 2), results_ = extent(o.out, 3);
    for (int a = 0; a < 4; ++a) image_[a] = o.in[0].stride[first_ + a], of_taps_[a] = o.in[1].stride[first_ + a];
    samples_ = elements_along(o.out, 0, first_);

    is_few_ = n_ * i_ * j_ <= costs::few_positions && taps_are_contiguous();
    if (is_few_) {
      groups_ = n_, groups_of_task_ = n_ > 0 ? n_ : 1;
      return;
    }
    rows_are_images_ = taps_[1] > j_;
    copies_ = !rows_are_images_ && c_ > 1 && image_[3] != 1;
    if (copies_) image_[3] = 1, image_[2] = c_, image_[1] = w_ * c_, image_[0] = h_ * w_ * c_;
    const index along = taps_[1] * c_, down = options_.dilation[1] * image_[2];
    merges_ = along <= shape::depth && (taps_[1] == 1 || c_ == 1 || down == c_ * image_[3]);
    steps_are_channels_ = merges_ || c_ >= taps_[1];
    steps_ = merges_ ? along : steps_are_channels_ ? c_ : taps_[1];
    step_ = merges_ && c_ == 1 ? down : steps_are_channels_ ? image_[3] : down;

    rows_ = rows_are_images_ ? n_ : j_;
    groups_ = rows_are_images_ ? i_ * j_ : n_ * i_;
    groups_of_task_ = rows_ == 0 ? 1 : ceil_div(costs::rows_of_convolution, rows_);
    if (copies_ && i_ > 0) groups_of_task_ = ceil_div(groups_of_task_, i_) * i_;
    if (groups_of_task_ > groups_ && groups_ > 0) groups_of_task_ = groups_;
    panels_ = ceil_div(packets_wide(), shape::packets_wide);
  }
  constexpr index tasks() const { return samples_ * tasks_of_sample(); }
  constexpr index blocks() const { return tasks() < costs::max_blocks ? tasks() : costs::max_blocks; }
  constexpr index work() const { return samples_ * n_ * i_ * j_ * results_ * taps_[0] * taps_[1] * c_ / costs::multiplications_of_work; }
  constexpr index workspace() const {
    if (is_few_) return ceil_div(groups_of_task_ * i_ * j_ * steps_of_window(), line) * line * static_cast<index>(sizeof(T));
    return (image_elements() + packed_elements()) * static_cast<index>(sizeof(T));
  }

  void run_task(void* const* pointer, index number, void* memory) const {
    part p = part_of(pointer, number / tasks_of_sample(), memory);
    number %= tasks_of_sample();
    const index block = copies_ || is_few_ ? number : number / panels_;
    p.group = block * groups_of_task_;
    p.groups = groups_ - p.group < groups_of_task_ ? groups_ - p.group : groups_of_task_;
    if (is_few_) return run_windows(p);
    if (!copies_) return run_panel(p, columns_of(number % panels_));
    copy_images(p);
    for (index panel = 0; panel < panels_; ++panel) run_panel(p, columns_of(panel));
  }

  /// A piece is some rows of images. Images are copied as a whole.
  constexpr bool can_be_cut(index elements) const { return !is_few_ && !rows_are_images_ && (!copies_ || elements % (i_ * j_ * results_) == 0); }
  void run_piece(void* const* pointer, index first, index count, void* memory) const {
    const index of_group = j_ * results_, end = (first + count) / of_group;
    for (index at = first / of_group, some; at < end; at += some) {
      part p = part_of(pointer, at / groups_, memory);
      p.group = at % groups_;
      some = groups_ - p.group < end - at ? groups_ - p.group : end - at;
      if (some > groups_of_task_) some = groups_of_task_;
      p.groups = some;
      if (copies_) copy_images(p);
      for (index panel = 0; panel < panels_; ++panel) run_panel(p, columns_of(panel));
    }
  }

 private:
  using shape = tile_shape<T>;
  static constexpr index line = 64 / static_cast<index>(sizeof(T));

  struct part {
    const T *x, *taps;
    T *to, *memory;
    index group = 0, groups = 0;
  };

  part part_of(void* const* pointer, index sample, void* memory) const {
    index at[2] = {}, rest = sample;
    for (int a = first_ - 1; a >= 0; rest /= o_.out.extent[a--])
      for (int k = 0; k < 2; ++k) at[k] += rest % o_.out.extent[a] * o_.in[k].stride[a];
    return {static_cast<const T*>(pointer[0]) + at[0], static_cast<const T*>(pointer[1]) + at[1], static_cast<T*>(pointer[2]) + sample * n_ * i_ * j_ * results_, static_cast<T*>(memory)};
  }

  constexpr index packets_wide() const { return ceil_div(results_, shape::lanes); }
  constexpr index tasks_of_sample() const { return ceil_div(groups_, groups_of_task_) * (copies_ || is_few_ ? 1 : panels_); }
  constexpr index image_elements() const { return copies_ && i_ > 0 ? ceil_div(groups_of_task_ / i_ * image_[0], line) * line : 0; }
  constexpr index packed_elements() const { return ceil_div((steps_ < shape::depth ? steps_ : shape::depth) * shape::panel_width, line) * line; }

  // ---- few positions in all ----

  constexpr index steps_of_window() const { return c_ * taps_[0] * taps_[1]; }
  /// Whether the taps of each result are contiguous, channel after channel.
  constexpr bool taps_are_contiguous() const {
    const auto is = [](index extent, index stride, index wanted) { return extent == 1 || stride == wanted; };
    return steps_of_window() > 0 && is(taps_[1], of_taps_[1], 1) && is(taps_[0], of_taps_[0], taps_[1]) && is(c_, of_taps_[2], taps_[0] * taps_[1]);
  }
  void run_windows(const part& p) const {
    const index k = steps_of_window(), rows = p.groups * i_ * j_;
    T* to = p.memory;
    for (index n = p.group; n < p.group + p.groups; ++n)
      for (index i = 0; i < i_; ++i)
        for (index j = 0; j < j_; ++j) {
          const T* const window = p.x + n * image_[0] + i * options_.stride[0] * image_[1] + j * options_.stride[1] * image_[2];
          for (index c = 0; c < c_; ++c)
            for (index u = 0; u < taps_[0]; ++u) {
              const T* from = window + c * image_[3] + u * options_.dilation[0] * image_[1];
              for (index v = 0; v < taps_[1]; ++v, from += options_.dilation[1] * image_[2]) *to++ = *from;
            }
        }
    matmul_of_few_rows<T, T, T, true>(rows, results_, k, {p.memory, k, 1}, {p.taps, 1, of_taps_[3]}, p.to + p.group * i_ * j_ * results_, results_, false);
  }

  // ---- other images ----

  void copy_images(part& p) const {
    operand_view view;
    view.rank = 4;
    const index first = p.group / i_;
    std::int64_t from[4];
    for (int a = 0; a < 4; ++a) view.extent[a] = o_.in[0].extent[first_ + a], from[a] = o_.in[0].stride[first_ + a];
    view.extent[0] = p.groups / i_;
    T* const to = p.memory;
    copy_strided(view, p.x + first * from[0], from, to, image_);
    p.x = to - first * image_[0];
  }

  /// The address of the first element that a group of rows reads with the first tap.
  index offset_of(index group) const {
    const index i = rows_are_images_ ? group / j_ : group % i_, other = rows_are_images_ ? group % j_ * options_.stride[1] * image_[2] : group / i_ * image_[0];
    return i * options_.stride[0] * image_[1] + other;
  }

  struct columns_of_panel {
    index first, count, width, wide, last;
  };
  constexpr columns_of_panel columns_of(index panel) const {
    const index wide_before = packets_wide() / panels_, more = packets_wide() % panels_;  // the first `more` panels have a packet more
    const index first = panel * wide_before + (panel < more ? panel : more), wide = wide_before + (panel < more);
    const index column = first * shape::lanes, width = wide * shape::lanes, columns = results_ - column < width ? results_ - column : width;
    return {column, columns, width, wide, columns - (wide - 1) * shape::lanes};
  }
  constexpr index row_stride() const { return rows_are_images_ ? image_[0] : options_.stride[1] * image_[2]; }

  void run_panel(const part& p, const columns_of_panel& all) const {
    sums_in_c how = sums_in_c::are;
    const index outer = merges_ ? 1 : steps_are_channels_ ? taps_[1] : c_, down = options_.dilation[1] * image_[2];
    const index part_length = steps_ == 0 ? 1 : part_of_sum<T>(steps_);
    for (index u = 0; u < taps_[0]; ++u)
      for (index v = 0; v < outer; ++v)
        for (index l = 0; l < steps_; l += part_length) {
          const index k = steps_ - l < part_length ? steps_ - l : part_length;
          const T* const x = p.x + u * options_.dilation[0] * image_[1] + v * (steps_are_channels_ ? down : image_[3]) + l * step_;
          const matrix_ref<T> right = taps_of(p, all, u, v, l, k);
          for (index g = p.group; g < p.group + p.groups; ++g) product(p, all, g, {x + offset_of(g), row_stride(), step_}, k, right, how);
          how = sums_in_c::add;
        }
    if (how == sums_in_c::are)
      for (index g = p.group; g < p.group + p.groups; ++g) product(p, all, g, {p.x, 0, 0}, 0, {nullptr, 0, 1}, how);
  }

  void product(const part& p, const columns_of_panel& all, index group, matrix_ref<T> left, index k, matrix_ref<T> right, sums_in_c how) const {
    T* const to = p.to + (rows_are_images_ ? group : group * j_) * results_ + all.first;
    panel_of<T>(all.wide)(rows_, k, left, right.data, right.row_stride, to, rows_are_images_ ? i_ * j_ * results_ : results_, all.last, how);
  }

  /// The taps u, v of k steps from step l on. They stay where they are if they are rows of whole packets close together; otherwise they are packed.
  matrix_ref<T> taps_of(const part& p, const columns_of_panel& all, index u, index v, index l, index k) const {
    const T* const taps = p.taps + u * of_taps_[0] + all.first * of_taps_[3];
    const bool are_even = taps_[1] == 1 || c_ == 1 || of_taps_[1] == c_ * of_taps_[2];
    const index down = merges_ && c_ == 1 ? of_taps_[1] : merges_ || steps_are_channels_ ? of_taps_[2] : of_taps_[1];
    const index other = merges_ ? 0 : v * (steps_are_channels_ ? of_taps_[1] : of_taps_[2]);
    if ((!merges_ || are_even) && of_taps_[3] == 1 && all.count == all.width && down * static_cast<index>(sizeof(T)) <= costs::packing_stride_bytes)
      return {taps + other + l * down, down, 1};
    T* const packed = p.memory + image_elements();
    if (merges_ && !are_even) {  // all taps of the row, because `merges_` has them as one part
      for (index tap = 0; tap < taps_[1]; ++tap) pack(c_, all.count, all.width, {taps + tap * of_taps_[1], of_taps_[2], of_taps_[3]}, packed + tap * c_ * all.width);
    } else {
      pack(k, all.count, all.width, {taps + other + l * down, down, of_taps_[3]}, packed);
    }
    return {packed, all.width, 1};
  }

  const opaque_operation& o_;
  ops::convolution_options options_;
  int first_;
  index n_ = 0, h_ = 0, w_ = 0, c_ = 0, taps_[2] = {}, i_ = 0, j_ = 0, results_ = 0, samples_ = 1;
  index image_[4] = {}, of_taps_[4] = {};  // the strides of an image, copied or not, and of the taps
  bool is_few_ = false, rows_are_images_ = false, copies_ = false, merges_ = false, steps_are_channels_ = false;
  index steps_ = 0, step_ = 0, rows_ = 0, groups_ = 0, groups_of_task_ = 1, panels_ = 0;
};

}  // namespace detail

template <class T>
struct step<ops::nodes::convolution::code, T> : step_of_tasks<detail::convolution_tasks<T>> {};

}  // namespace tenure::cpu_backend
