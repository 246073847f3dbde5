// SPDX-License-Identifier: BSL-1.0
// Samples of a batch in the lanes of packets: each number stands where the definition says, for samples of any size and order in memory.
#include "../catch.hpp"

#include <tenure/backend/cpu/sample_lanes.hpp>

#include <algorithm>
#include <cstdint>
#include <vector>

namespace tn = tenure;

namespace {

using tn::cpu_backend::operand_view;

template <class T>
void check_samples(std::int64_t rows, std::int64_t columns, bool by_columns) {
  constexpr int lanes = static_cast<int>(tn::cpu_backend::detail::max_lanes<T>);
  using all = tn::cpu_backend::detail::sample_lanes<T, lanes>;
  const std::int64_t size = rows * columns;
  const auto n = static_cast<std::size_t>(size * lanes);
  CAPTURE(rows, columns, by_columns, lanes);
  operand_view sample;
  sample.rank = 2;
  sample.extent[0] = rows, sample.extent[1] = columns;
  sample.stride[0] = by_columns ? 1 : columns, sample.stride[1] = by_columns ? rows : 1;
  const tn::cpu_backend::detail::contiguous_sample contiguous(sample, 0);
  REQUIRE(contiguous.size() == size);

  std::vector<T> memory(n), wanted(n), found(n), back(n);
  for (std::size_t i = 0; i < n; ++i) memory[i] = static_cast<T>(i + 1);
  const T* from[lanes];
  for (int l = 0; l < lanes; ++l) from[l] = memory.data() + l * size;
  const auto element = [&](std::int64_t row, std::int64_t column) { return row * sample.stride[0] + column * sample.stride[1]; };
  const auto place = [&](std::int64_t row, std::int64_t column, int l) { return static_cast<std::size_t>((row * columns + column) * lanes + l); };
  for (std::int64_t r = 0; r < rows; ++r)
    for (std::int64_t c = 0; c < columns; ++c)
      for (int l = 0; l < lanes; ++l) wanted[place(r, c, l)] = from[l][element(r, c)];

  all::gather(contiguous, from, found.data());
  CHECK(found == wanted);
  found.assign(n, T(0));
  all::gather(sample, from, found.data());
  CHECK(found == wanted);
  found.assign(n, T(0));
  if (all::gather_neighbours(contiguous, memory.data(), found.data())) CHECK(found == wanted);

  all::gather_same(sample, from[lanes - 1], found.data());
  bool are_same = true;
  for (std::int64_t r = 0; r < rows; ++r)
    for (std::int64_t c = 0; c < columns; ++c)
      for (int l = 0; l < lanes; ++l) are_same = are_same && found[place(r, c, l)] == from[lanes - 1][element(r, c)];
  CHECK(are_same);

  if (by_columns) return;
  for (int used = 1; used <= lanes; ++used) {  // memory behind the samples that are stored stays as it is
    back.assign(n + 64 / sizeof(T), T(0));
    auto* const lines = reinterpret_cast<T*>((reinterpret_cast<std::uintptr_t>(back.data()) + 63) / 64 * 64);
    for (T* const to : {back.data(), lines})
      for (const bool past_caches : {false, all::may_stream(size, to)}) {
        std::fill(back.begin(), back.end(), T(0));
        found = wanted;  // scatter() may write over the lanes
        all::scatter(size, found.data(), to, used, past_caches);
        tn::math::end_of_streams();
        bool is_right = true;
        for (std::int64_t i = 0; i < size * lanes; ++i) is_right = is_right && to[i] == (i < size * used ? memory[static_cast<std::size_t>(i)] : T(0));
        CAPTURE(used, past_caches);
        CHECK(is_right);
      }
  }
}

}  // namespace

TEST_CASE("the numbers of samples stand in lanes, and go back") {
  for (std::int64_t rows = 1; rows <= 5; ++rows)
    for (std::int64_t columns = 1; columns <= 9; ++columns)
      for (const bool by_columns : {false, true}) check_samples<float>(rows, columns, by_columns), check_samples<double>(rows, columns, by_columns);
}
