// SPDX-License-Identifier: BSL-1.0
// Law: the convolution of each channel by itself, and its derivatives, are the sums of their definition, for random extents, strides, dilations, zeros and orders of memory, and read no
// element that is no operand.
#include "../catch.hpp"

#include <cmath>
#include <limits>
#include <random>
#include <vector>

#include <tenure/tenure.hpp>

namespace {
using namespace tenure;
using std::int64_t;

class dice {
 public:
  explicit dice(unsigned seed) : engine_(seed) {}
  int64_t between(int64_t a, int64_t b) { return a + static_cast<int64_t>(engine_() % static_cast<unsigned>(b - a + 1)); }
  bool chance(int percent) { return between(0, 99) < percent; }

 private:
  std::mt19937 engine_;
};

/// An operand [2, a, b, c] in an order of memory, with gaps that hold NaN.
template <class T>
struct operand {
  program_detail::opaque_operation::operand view;
  std::vector<T> memory;
  int64_t first = 0;

  operand(dice& d, int64_t a, int64_t b, int64_t c, bool is_shared) {
    view.type = dtype_v<T>;
    view.rank = 4;
    const int64_t extent[] = {2, a, b, c};
    for (int i = 0; i < 4; ++i) view.extent[i] = extent[i];
    int order[] = {3, 2, 1, 0};
    if (d.chance(40)) std::swap(order[0], order[1]), std::swap(order[1], order[2]);  // rows, then channels
    if (d.chance(20)) std::swap(order[0], order[d.between(1, 2)]);
    int64_t step = d.chance(20) ? 2 : 1;
    for (const int axis : order) view.stride[axis] = step, step = step * extent[axis] + (d.chance(30) ? d.between(1, 3) : 0);
    if (is_shared) view.stride[0] = 0;
    memory.assign(static_cast<std::size_t>(step), std::numeric_limits<T>::quiet_NaN());
    for (int axis = 1; axis < 3; ++axis)
      if (d.chance(20) && extent[axis] > 0) first += (extent[axis] - 1) * view.stride[axis], view.stride[axis] = -view.stride[axis];
    for (int64_t n = 0; n < 2; ++n)
      for (int64_t i = 0; i < a; ++i)
        for (int64_t j = 0; j < b; ++j)
          for (int64_t k = 0; k < c; ++k) at(n, i, j, k) = static_cast<T>(d.between(-1000, 1000)) / T(1000);
  }
  T& at(int64_t n, int64_t i, int64_t j, int64_t k) {
    return memory[static_cast<std::size_t>(first + n * view.stride[0] + i * view.stride[1] + j * view.stride[2] + k * view.stride[3])];
  }
};

/// The error of one random operation, in units of the rounding of its sums.
template <class Record, class T>
double error_of(unsigned seed) {
  dice d(seed);
  ops::padded_options o;
  const int64_t channels = d.chance(40) ? 1 : d.between(1, 80);
  int64_t image[2], taps[2], positions[2];
  for (int a = 0; a < 2; ++a) {
    o.stride[a] = d.chance(50) ? 1 : d.between(1, 4), o.dilation[a] = d.chance(60) ? 1 : d.between(1, 4), o.zeros[a] = d.between(0, 4);
    taps[a] = d.between(1, d.chance(10) ? 9 : 4);
    image[a] = d.between(0, 30);
    if (a == 1 && d.chance(15)) image[1] = channels == 1 ? d.between(1000, 4000) : d.between(40, 90), o.dilation[1] = channels == 1 ? d.between(1, 600) : 1;
    if (a == 0 && channels == 1 && d.chance(15)) image[0] = d.between(80, 300);
    positions[a] = std::max<int64_t>(0, (image[a] + o.zeros[a] + d.between(0, 4) - (taps[a] - 1) * o.dilation[a] - 1) / o.stride[a] + 1);
  }
  const int64_t* const extent[] = {image, taps, positions};
  constexpr int first = Record::of == 0 ? 2 : 0, second = Record::of == 1 ? 2 : 1;
  operand<T> a(d, extent[first][0], extent[first][1], channels, false), b(d, extent[second][0], extent[second][1], channels, d.chance(50));

  program_detail::opaque_operation operation;
  operation.attr = o.packed();
  operation.in[0] = a.view, operation.in[1] = b.view;
  operation.out.rank = 4;
  const int64_t of_result[] = {2, extent[Record::of][0], extent[Record::of][1], channels};
  for (int i = 0; i < 4; ++i) operation.out.extent[i] = of_result[i];
  operation.out = program_detail::row_major(operation.out);
  const auto size = static_cast<std::size_t>(program_detail::elements_of(operation.out));
  const T untouched = T(12345);
  std::vector<T> to(size + 64, untouched);
  void* const pointer[] = {a.memory.data() + a.first, b.memory.data() + b.first, to.data() + 32};
  using step = cpu_backend::step<Record::code, T>;
  std::vector<char> scratch(static_cast<std::size_t>(step::memory(operation).bytes));
  step::run({.pointer = pointer, .operation = operation, .scratch = scratch.data()});

  std::vector<long double> wanted(size), magnitude(size);
  for (int64_t n = 0; n < 2; ++n)
    for (int64_t i = 0; i < positions[0]; ++i)
      for (int64_t j = 0; j < positions[1]; ++j)
        for (int64_t u = 0; u < taps[0]; ++u)
          for (int64_t v = 0; v < taps[1]; ++v) {
            const int64_t h = i * o.stride[0] + u * o.dilation[0] - o.zeros[0], w = j * o.stride[1] + v * o.dilation[1] - o.zeros[1];
            if (h < 0 || h >= image[0] || w < 0 || w >= image[1]) continue;
            const int64_t rows[] = {h, u, i}, columns[] = {w, v, j};
            for (int64_t c = 0; c < channels; ++c) {
              const long double term = static_cast<long double>(a.at(n, rows[first], columns[first], c)) * static_cast<long double>(b.at(n, rows[second], columns[second], c));
              const auto e = static_cast<std::size_t>(((n * of_result[1] + rows[Record::of]) * of_result[2] + columns[Record::of]) * channels + c);
              wanted[e] += term, magnitude[e] += std::abs(term);
            }
          }
  double worst = 0;
  for (std::size_t e = 0; e < size; ++e) {
    const long double off = std::abs(wanted[e] - static_cast<long double>(to[32 + e]));
    if (!(off <= 1e30L)) return 1e30;
    if (off > 0) worst = std::max(worst, static_cast<double>(off / (magnitude[e] * static_cast<long double>(std::numeric_limits<T>::epsilon()) + 1e-300L)));
  }
  for (std::size_t e = 0; e < 32; ++e)
    if (to[e] != untouched || to[32 + size + e] != untouched) return 2e30;
  return worst;
}
}  // namespace

TEMPLATE_TEST_CASE("Law: the convolution of each channel by itself, and its derivatives, are the sums of their definition, for random extents, strides, dilations, zeros and orders of memory", "", float, double) {
  for (unsigned seed = 1; seed <= 400; ++seed) {
    CAPTURE(seed);
    CHECK(error_of<ops::nodes::depthwise, TestType>(seed) < 30);
    CHECK(error_of<ops::nodes::depthwise_of_image, TestType>(seed) < 30);
    CHECK(error_of<ops::nodes::depthwise_of_taps, TestType>(seed) < 60);
  }
}

namespace {
/// The same of a convolution of images with few channels: [2, c, h, w] by [o, c, u, v].
template <class T>
double error_of_planes(unsigned seed) {
  dice d(seed);
  ops::padded_options o;
  const int64_t channels = d.between(1, 4), results = d.between(1, 20);
  int64_t image[2], taps[2], positions[2];
  for (int a = 0; a < 2; ++a) {
    o.stride[a] = d.chance(50) ? 1 : d.between(1, 4), o.dilation[a] = d.chance(60) ? 1 : d.between(1, 4), o.zeros[a] = d.between(0, 4);
    taps[a] = d.between(1, d.chance(10) ? 12 : 4);
    image[a] = d.between(0, a == 1 ? 70 : 20);
    if (a == 1 && d.chance(10)) image[1] = d.between(1000, 3000), o.dilation[1] = d.between(1, 600);
    positions[a] = std::max<int64_t>(0, (image[a] + o.zeros[a] + d.between(0, 4) - (taps[a] - 1) * o.dilation[a] - 1) / o.stride[a] + 1);
  }
  // Taps are drawn as one image, whose channels are those of all results.
  operand<T> x(d, channels, image[0], image[1], false), w(d, channels * results, taps[0], taps[1], true);
  program_detail::opaque_operation operation;
  operation.attr = o.packed();
  operation.in[0] = x.view;
  auto& of_taps = operation.in[1] = w.view;
  of_taps.extent[0] = results, of_taps.extent[1] = channels;
  of_taps.stride[0] = w.view.stride[1] * channels;
  operation.out.rank = 4;
  const int64_t of_result[] = {2, results, positions[0], positions[1]};
  for (int i = 0; i < 4; ++i) operation.out.extent[i] = of_result[i];
  operation.out = program_detail::row_major(operation.out);
  const auto size = static_cast<std::size_t>(program_detail::elements_of(operation.out));
  const T untouched = T(12345);
  std::vector<T> to(size + 64, untouched);
  void* const pointer[] = {x.memory.data() + x.first, w.memory.data() + w.first, to.data() + 32};
  using step = cpu_backend::step<ops::nodes::convolution_of_planes::code, T>;
  std::vector<char> scratch(static_cast<std::size_t>(step::memory(operation).bytes));
  step::run({.pointer = pointer, .operation = operation, .scratch = scratch.data()});

  double worst = 0;
  std::size_t e = 32;
  for (int64_t n = 0; n < 2; ++n)
    for (int64_t r = 0; r < results; ++r)
      for (int64_t i = 0; i < positions[0]; ++i)
        for (int64_t j = 0; j < positions[1]; ++j) {
          long double wanted = 0, magnitude = 0;
          for (int64_t c = 0; c < channels; ++c)
            for (int64_t u = 0; u < taps[0]; ++u)
              for (int64_t v = 0; v < taps[1]; ++v) {
                const int64_t h = i * o.stride[0] + u * o.dilation[0] - o.zeros[0], k = j * o.stride[1] + v * o.dilation[1] - o.zeros[1];
                if (h < 0 || h >= image[0] || k < 0 || k >= image[1]) continue;
                const long double term = static_cast<long double>(x.at(n, c, h, k)) * static_cast<long double>(w.at(0, r * channels + c, u, v));
                wanted += term, magnitude += std::abs(term);
              }
          const long double off = std::abs(wanted - static_cast<long double>(to[e++]));
          if (!(off <= 1e30L)) return 1e30;
          if (off > 0) worst = std::max(worst, static_cast<double>(off / (magnitude * static_cast<long double>(std::numeric_limits<T>::epsilon()) + 1e-300L)));
        }
  for (std::size_t k = 0; k < 32; ++k)
    if (to[k] != untouched || to[32 + size + k] != untouched) return 2e30;
  return worst;
}

/// The same of the gradient of its taps: [2, c, h, w] and [2, o, i, j] give [o, c, u, v].
template <class T>
double error_of_taps_of_planes(unsigned seed) {
  dice d(seed);
  ops::padded_options o;
  const int64_t channels = d.between(1, 4), results = d.chance(20) ? d.between(30, 40) : d.between(1, 20);
  int64_t image[2], taps[2], positions[2];
  for (int a = 0; a < 2; ++a) {
    o.stride[a] = d.chance(50) ? 1 : d.between(1, 4), o.dilation[a] = d.chance(60) ? 1 : d.between(1, 4), o.zeros[a] = d.between(0, 4);
    taps[a] = d.between(1, 4);
    image[a] = d.between(0, a == 1 ? 70 : 20);
    if (a == 1 && d.chance(5)) image[1] = d.between(1000, 3000), o.dilation[1] = d.between(1, 600);
    positions[a] = std::max<int64_t>(0, (image[a] + o.zeros[a] + d.between(0, 4) - (taps[a] - 1) * o.dilation[a] - 1) / o.stride[a] + 1);
  }
  operand<T> x(d, channels, image[0], image[1], false), g(d, results, positions[0], positions[1], false);
  program_detail::opaque_operation operation;
  operation.attr = o.packed();
  operation.in[0] = x.view, operation.in[1] = g.view;
  operation.out.rank = 4;
  const int64_t of_result[] = {results, channels, taps[0], taps[1]};
  for (int i = 0; i < 4; ++i) operation.out.extent[i] = of_result[i];
  operation.out = program_detail::row_major(operation.out);
  const auto size = static_cast<std::size_t>(program_detail::elements_of(operation.out));
  const T untouched = T(12345);
  std::vector<T> to(size + 64, untouched);
  void* const pointer[] = {x.memory.data() + x.first, g.memory.data() + g.first, to.data() + 32};
  using step = cpu_backend::step<ops::nodes::planes_of_taps::code, T>;
  std::vector<char> scratch(static_cast<std::size_t>(step::memory(operation).bytes));
  step::run({.pointer = pointer, .operation = operation, .scratch = scratch.data()});

  double worst = 0;
  std::size_t e = 32;
  for (int64_t r = 0; r < results; ++r)
    for (int64_t c = 0; c < channels; ++c)
      for (int64_t u = 0; u < taps[0]; ++u)
        for (int64_t v = 0; v < taps[1]; ++v) {
          long double wanted = 0, magnitude = 0;
          for (int64_t n = 0; n < 2; ++n)
            for (int64_t i = 0; i < positions[0]; ++i)
              for (int64_t j = 0; j < positions[1]; ++j) {
                const int64_t h = i * o.stride[0] + u * o.dilation[0] - o.zeros[0], k = j * o.stride[1] + v * o.dilation[1] - o.zeros[1];
                if (h < 0 || h >= image[0] || k < 0 || k >= image[1]) continue;
                const long double term = static_cast<long double>(x.at(n, c, h, k)) * static_cast<long double>(g.at(n, r, i, j));
                wanted += term, magnitude += std::abs(term);
              }
          const long double off = std::abs(wanted - static_cast<long double>(to[e++]));
          if (!(off <= 1e30L)) return 1e30;
          if (off > 0) worst = std::max(worst, static_cast<double>(off / (magnitude * static_cast<long double>(std::numeric_limits<T>::epsilon()) + 1e-300L)));
        }
  for (std::size_t k = 0; k < 32; ++k)
    if (to[k] != untouched || to[32 + size + k] != untouched) return 2e30;
  return worst;
}
}  // namespace
TEMPLATE_TEST_CASE("the gradient of the taps of images with few channels is the sum of its definition", "", float, double) {
  for (unsigned seed = 1; seed <= 300; ++seed) {
    CAPTURE(seed);
    CHECK(error_of_taps_of_planes<TestType>(seed) < 60);
  }
}
TEMPLATE_TEST_CASE("the convolution of images with few channels is the sum of its definition, for random extents, strides, dilations, zeros and orders of memory", "", float, double) {
  for (unsigned seed = 1; seed <= 300; ++seed) {
    CAPTURE(seed);
    CHECK(error_of_planes<TestType>(seed) < 30);
  }
}

TEST_CASE("the options of a convolution of each channel by itself are the bits of a number") {
  const ops::padded_options o{{1023, 3}, {2047, 1}, {5, 2047}};
  const auto same = ops::padded_options::unpacked(o.packed());
  for (int a = 0; a < 2; ++a) CHECK((same.stride[a] == o.stride[a] && same.dilation[a] == o.dilation[a] && same.zeros[a] == o.zeros[a]));
  CHECK(o.fit());
  CHECK_FALSE(ops::padded_options{{1024, 1}, {1, 1}, {}}.fit());
}
