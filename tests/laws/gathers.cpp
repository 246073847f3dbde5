// SPDX-License-Identifier: BSL-1.0
// Laws of gathers whose rows are gathered in blocks, before the blocks of the kernel that reads them: the bits of one step after the other.
#include <cstring>

#include <tenure/threads.hpp>

#include "../difference.hpp"
#include "agree.hpp"

using namespace laws;

namespace {

/// Of a row of 5 numbers, a row of 3 and a number: 2 numbers.
constexpr auto of_rows = [](auto a, auto b, auto w) { return tn::stack(a.at(0) * b.at(2) - a.at(4) * w, a.at(1) * a.at(3) + tanh(b.at(0) * b.at(1))); };
constexpr auto both = [](auto table, auto other, auto w, auto i, auto j) { return tn::vmap(of_rows)(gather<0>(table, i), gather<0>(other, j), w); };
constexpr auto turned = [](auto table, auto i) { return tn::vmap([](auto a) { return tn::stack(a.at(2), a.at(0) + 1.0, a.at(1)); })(gather<0>(table, i)); };
constexpr auto long_rows = [](auto table, auto i) {
  return tn::vmap([](auto a) {
    const auto x = a.at(0), y = a.at(1), z = a.at(2), s = x * y, t = y - z;
    return tn::stack(x, y, z, s, t, s * t, x + s, y + t, z * t, s + z, x * t, y * y, z * s, t + x, x - y, s - y);
  })(gather<0>(table, i));
};

// Gathers that do not wait: their rows are summed, read by two steps, or a result; the table is computed; the axis is another.
constexpr auto summed = [](auto table, auto i) { return sum(gather<0>(table, i)); };
constexpr auto read_twice = [](auto table, auto i) {
  const auto rows = gather<0>(table, i);
  return std::tuple{tn::vmap([](auto a) { return a.at(0) * a.at(1); })(rows), sum(rows)};
};
constexpr auto kept = [](auto table, auto i) {
  const auto rows = gather<0>(table, i);
  return std::tuple{rows, tn::vmap([](auto a) { return a.at(0) * a.at(2); })(rows)};
};
constexpr auto of_computed = [](auto table, auto i) { return turned(exp(table), i); };
constexpr auto of_columns = [](auto table, auto i) { return tanh(gather<1>(table, i)); };

/// Whether so many gathers of the program may wait.
template <class F, class... X>
constexpr bool wait([[maybe_unused]] int count, const F&, const X&...) {
#if defined(__CUDACC__)
  return true;
#else
  return tn::program<tn::detail::source_of<F, X...>>::groups.gathers == count;
#endif
}

template <class Index>
tn::tensor<Index, shape<dyn>> places(std::int64_t n, std::int64_t rows) {
  tn::tensor<Index, shape<dyn>> x = tn::zeros<Index>(shape<dyn>{}, n);
  for (std::int64_t i = 0; i < n; ++i) x.at(i) = static_cast<Index>((i * 7919 + i / 3) % rows);
  return x;
}

template <class X>
difference same_bits(const X& a, const X& b) { return a.size() == b.size() ? first_difference(a.data(), b.data(), a.size()) : difference_of(a.size(), " and ", b.size()); }

}  // namespace

// Law: the bits are the same as with one step after the other.
TEST_CASE("gathers wait for the kernel that reads their rows, with the bits of small calls, on any number of threads") {
  const auto table = filled<double>(shape<dyn, 5>{}, 1, 61);
  const auto other = filled<double>(shape<dyn, 3>{}, 2, 977);
  const std::int64_t n = 70001;
  const auto w = filled<double>(shape<dyn>{}, 3, n);
  const auto i = places<std::int32_t>(n, 61);
  const auto j = places<std::int64_t>(n, 977);
  CHECK(wait(2, both, table, other, w, i, j));
  const auto f = tn::compile(both);
  const auto y = f(table, other, w, i, j);
  agrees(f, 16.0, table, other, w, i, j);
  for (const std::int64_t first : {std::int64_t{0}, n / 2 + 3, n - 1001}) {
    const auto piece = tn::range(first, first + 1001);
    const auto alone = f(table, other, w[piece].clone(), i[piece].clone(), j[piece].clone());
    CHECK(first_difference(y.data() + 2 * first, alone.data(), alone.size()));
  }
  for (const int threads : {1, 2, 3, 8}) CHECK(same_bits(tn::compile(both, tn::thread_pool(threads, 0))(table, other, w, i, j), y));
  // Indices with a step, and rows that are columns: one step after the other.
  const auto every_second = f(table, other, w[tn::range(0, n / 2)].clone(), i[tn::range(0, n / 2 * 2, 2)], j[tn::range(0, n / 2)].clone());
  const auto dense = f(table, other, w[tn::range(0, n / 2)].clone(), i[tn::range(0, n / 2 * 2, 2)].clone(), j[tn::range(0, n / 2)].clone());
  CHECK(same_bits(every_second, dense));
}

TEST_CASE("gathers that do not wait") {
  const auto table = filled<double>(shape<dyn, 3>{}, 1, 200);
  const auto i = places<std::int32_t>(50000, 200);
  CHECK(wait(1, turned, table, i));
  CHECK(wait(0, summed, table, i));
  CHECK(wait(0, read_twice, table, i));
  CHECK(wait(0, kept, table, i));
  CHECK(wait(0, of_computed, table, i));
  CHECK(wait(0, of_columns, filled<double>(shape<3, dyn>{}, 2, 200), i));
}

// Each sample has several rows, or there is one index for all: not one row for each sample.
constexpr auto of_triangles = [](auto points, auto corners) {
  return tn::vmap([](auto t) { return tn::stack(t.at(0, 0) * t.at(1, 1) - t.at(2, 2), t.at(0, 2) + t.at(2, 0)); })(gather<0>(points, corners));
};
constexpr auto of_edges = [](auto heights, auto ends) {
  const auto e = gather<0>(heights, ends);
  return e.at(tn::all, 0) - e.at(tn::all, 1);
};
constexpr auto of_one_row = [](auto table, auto i) { return tanh(gather<0>(table, i)); };
constexpr auto shared_table = [](auto table, auto i) { return tn::vmap<tn::unmapped, 0>([](auto t, auto at) { return sum(gather<0>(t, at) * 2.0); })(table, i); };

TEST_CASE("gathers with several indices for a sample, or with one index, do not wait") {
  const std::int64_t n = 30001;
  const auto points = filled<double>(shape<dyn, 3>{}, 1, 200);
  const auto flat = places<std::int32_t>(n * 3, 200);
  const tn::tensor<std::int32_t, shape<dyn, 3>> corners = tn::reshape<dyn, 3>(flat);
  const tn::tensor<std::int32_t, shape<dyn, 2>> ends = tn::reshape<dyn, 2>(flat[tn::range(0, 2 * n)]);
  const auto heights = filled<double>(shape<dyn>{}, 2, 200);
  const auto pieces = [&](const auto& f, const auto& table, const auto& index) {
    const auto whole = tn::compile(f)(table, index);
    const std::int64_t row = whole.size() / n;
    for (const std::int64_t first : {std::int64_t{0}, n / 2 + 3, n - 1001}) {
      const auto alone = tn::compile(f)(table, index[tn::range(first, first + 1001)].clone());
      CHECK(first_difference(whole.data() + row * first, alone.data(), alone.size()));
    }
  };
  pieces(of_triangles, points, corners);
  pieces(of_edges, heights, ends);
  pieces(shared_table, heights, corners);
  const auto wide = filled<double>(shape<dyn, dyn>{}, 3, 4, 50000);
  const tn::tensor<std::int64_t, shape<>> two = 2;
  const auto row = tn::compile(of_one_row)(wide, two);
  const auto wanted = tn::compile([](auto x) { return tanh(x); })(wide[2].clone());
  CHECK(same_bits(row, wanted));
}

// The memory of rows that wait has one block at a time, so the tangents are not written over it.
TEST_CASE("a temporary that is computed from rows that wait has memory of its own") {
  constexpr auto twice = [](auto table, auto i, auto k) { return gather<0>(tanh(gather<0>(table, i)), k); };
  const std::int64_t n = 70001;
  const auto table = filled<double>(shape<dyn>{}, 1, 200);
  const auto i = places<std::int32_t>(n, 200);
  const auto k = places<std::int32_t>(n, n);
  CHECK(wait(1, twice, table, i, k));
  const auto once = tn::compile([](auto table, auto i) { return tanh(gather<0>(table, i)); })(table, i);
  const auto wanted = tn::compile([](auto x, auto k) { return gather<0>(x, k); })(once, k);
  CHECK(same_bits(tn::compile(twice)(table, i, k), wanted));
}

TEST_CASE("a gather does not wait where the result lies in its table or its indices") {
  constexpr std::int64_t n = 40000;
  auto table = filled<double>(shape<dyn, 3>{}, 1, n);
  const auto i = places<std::int32_t>(n, n);
  const auto wanted = tn::compile(turned)(table, i);
  tn::compile(turned).into(table)(table, i);
  CHECK(same_bits(table, wanted));
}

TEST_CASE("gathered rows whose results pass the caches") {
  const std::int64_t n = tn::cpu_backend::costs::cached_bytes / (16 * static_cast<std::int64_t>(sizeof(float))) + 77;
  const auto table = filled<float>(shape<dyn, 3>{}, 1, 1009);
  const auto i = places<std::int32_t>(n, 1009);
  const auto f = tn::compile(long_rows);
  CHECK(wait(1, long_rows, table, i));
  const auto y = f(table, i);
  for (const std::int64_t first : {std::int64_t{0}, n / 2 + 3, n - 1001}) {
    const auto alone = f(table, i[tn::range(first, first + 1001)].clone());
    CHECK(first_difference(y.data() + 16 * first, alone.data(), alone.size()));
  }
}
