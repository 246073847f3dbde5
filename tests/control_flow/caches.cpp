// SPDX-License-Identifier: BSL-1.0
// A cache of keys and values that grows in place: a scan over layers writes the rows of its results over the rows of xs that it reads. Law: such a call gives
// the bits of a call with other targets, allocates nothing, and copies no part of the cache.
#include <cstdint>
#include <cstdlib>
#include <new>

#include "../catch.hpp"
#include "../difference.hpp"

#include <tenure/tenure.hpp>

namespace tn = tenure;

namespace {
std::int64_t allocations = 0;
}  // namespace

void* operator new(std::size_t n) {
  ++allocations;
  if (void* const p = std::malloc(n)) return p;
  throw std::bad_alloc();
}
void operator delete(void* p) noexcept { std::free(p); }
void operator delete(void* p, std::size_t) noexcept { std::free(p); }

namespace {

template <class X>
difference same_bits(const X& a, const X& b) { return first_difference(a.data(), b.data(), a.size()); }

constexpr std::int64_t layers = 3, heads = 2, capacity = 512, width = 16;
using cache = tn::tensor<float, tn::shape<layers, heads, capacity, width>>;
using matrices = tn::tensor<float, tn::shape<layers, heads * width, 3 * heads * width>>;
using row = tn::tensor<float, tn::shape<heads * width>>;

/// One step: each layer writes its key and value at the position, and attends to all up to it.
constexpr auto step = [](auto x, auto w, auto keys, auto values, auto position) {
  const auto layer = [=](auto h, auto each) {
    const auto [m, old_keys, old_values] = each;
    const auto parts = tn::reshape<3, heads, 1, width>(matmul(h, m));
    const auto at = std::tuple{0, position, 0};
    const auto k = tn::dynamic_update(old_keys, parts[1], at), v = tn::dynamic_update(old_values, parts[2], at);
    const auto seen = tn::attention(parts[0], k, v, tn::causal.from(position));
    return std::tuple{h + tanh(tn::reshape<heads * width>(seen)), std::tuple{k, v}};
  };
  const auto [y, caches] = tn::scan(layer, x, std::tuple{w, keys, values});
  return std::tuple{y, std::get<0>(caches), std::get<1>(caches)};
};
constexpr auto compiled = tn::compile(step);

template <class X>
X numbers(std::uint64_t seed) {
  tn::engine random(seed);
  return tn::normal<float>(typename X::shape_type{}, random, 0.0, 0.3);
}

}  // namespace

TEST_CASE("a cache in a scan over layers grows in place") {
  const matrices w = numbers<matrices>(1);
  row x = numbers<row>(2), y;
  cache keys, values;
  CHECK(compiled.into(y, keys, values).copied_bytes(x, w, keys, values, 0) == 0);
  CHECK(compiled.plan(x, w, keys, values, 0).workspace_bytes() < 4 * width * heads * capacity);
  cache other_keys, other_values;
  row other = x.clone();
  for (int i = 0; i < 40; ++i) {
    auto [z, k, v] = compiled(other, w, other_keys, other_values, i);
    other = std::move(z), other_keys = std::move(k), other_values = std::move(v);
    const std::int64_t before = allocations;
    compiled.into(y, keys, values)(x, w, keys, values, i);
    if (i > 0) CHECK(allocations == before);
    x = y.clone();
    CHECK(same_bits(x, other));
  }
  CHECK(same_bits(keys, other_keys));
  CHECK(same_bits(values, other_values));
  // A position that is not there is refused before anything is written.
  for (const int i : {-1, static_cast<int>(capacity)}) CHECK_THROWS_AS(compiled.into(y, keys, values)(x, w, keys, values, i), tn::index_error);
  CHECK(same_bits(keys, other_keys));
}

namespace {

template <int Case>
constexpr auto over_rows = [](auto start, auto xs) {
  const auto f = [](auto c, auto x) {
    if constexpr (Case == 0) return std::tuple{c + x, tanh(x) + c};             // one kernel, also in lanes
    else if constexpr (Case == 1) return std::tuple{c * 0.5f, tn::flip(x) + c};  // reads an element after another was written
    else return std::tuple{c + tn::sum(x), x / (1.0f + tn::sum(x * x))};
  };
  if constexpr (Case == 4) {
    const auto [last, ys] = tn::scan([](auto c, auto x) { return std::tuple{c + x, x * 2.0f}; }, start, xs);
    return std::tuple{last + xs[0], ys};  // xs is read after the loop
  } else if constexpr (Case == 5) {
    return tn::scan([=](auto c, auto x) { return std::tuple{c + x, x + xs[0]}; }, start, xs);  // an iteration reads the row of another
  } else if constexpr (Case == 6) {
    return tn::scan([](auto c, auto x) { return std::tuple{c + x, c * x}; }, start, xs, {.reverse = true});
  } else {
    return tn::scan(f, start, xs);
  }
};

using rows = tn::tensor<float, tn::shape<9, 64>>;
using one = tn::tensor<float, tn::shape<64>>;

/// The bytes that a call copies whose result is written over xs. Its bits are those of a call with other targets.
template <int Case>
std::int64_t copied_by() {
  INFO("case " << Case);
  rows x = numbers<rows>(3);
  one start = numbers<one>(4), last;
  constexpr auto f = tn::compile(over_rows<Case>);
  const auto [wanted_last, wanted] = f(start, x);
  const std::int64_t bytes = f.into(last, x).copied_bytes(start, x);
  f.into(last, x)(start, x);
  CHECK(same_bits(x, wanted));
  CHECK(same_bits(last, wanted_last));
  return bytes;
}

}  // namespace

TEST_CASE("a scan writes its result over xs, unless something is read later") {
  CHECK(copied_by<0>() == 0);
  CHECK(copied_by<1>() > 0);
  CHECK(copied_by<2>() == 0);
  CHECK(copied_by<4>() > 0);
  CHECK(copied_by<5>() > 0);
  CHECK(copied_by<6>() == 0);
}
