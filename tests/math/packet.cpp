// SPDX-License-Identifier: BSL-1.0
// packet.hpp, one law a section: whatever the packet, each lane is what the scalar code gives.
#include "../catch.hpp"
#include "ulp.hpp"

#include <cmath>
#include <random>

#include <tenure/math/twin.hpp>

namespace {

namespace m = tenure::math;

template <class P>
struct lanes {
  using T = m::scalar_of<P>;
  T at[m::width<P>];
  explicit lanes(P p) { m::store<P>(at, p); }
  explicit lanes(T first, T step) {
    for (int i = 0; i < m::width<P>; ++i) at[i] = static_cast<T>(first + step * static_cast<T>(i));
  }
  P packet() const { return m::load<P>(at); }
};

template <class P>
void check_packet() {
  using T = m::scalar_of<P>;
  constexpr int w = m::width<P>;
  const lanes<P> a(T(-3), T(1)), b(T(2), T(-1));
  const P x = a.packet(), y = b.packet();
  const lanes<P> sum(m::add(x, y)), difference(m::sub(x, y)), product(m::mul(x, y)), fused(m::fma(x, y, x)), fnma(m::fnma(x, y, x)),
      smaller(m::min(x, y)), larger(m::max(x, y)), chosen(m::select(m::lt(x, y), x, y)), negated(m::neg(x)), magnitude(m::abs(x)),
      inverted(m::select(m::mask_not(m::lt(x, y)), x, y)),
      both(m::select(m::mask_and(m::le(x, y), m::ge(x, y)), x, y)), either(m::select(m::mask_or(m::lt(x, y), m::gt(x, y)), x, y)),
      one_of(m::select(m::mask_xor(m::lt(x, y), m::le(x, y)), x, y)), differ(m::select(m::ne(x, y), x, y));
  unsigned bits = 0;
  for (int i = 0; i < w; ++i) {
    CHECK(sum.at[i] == a.at[i] + b.at[i]);
    CHECK(difference.at[i] == a.at[i] - b.at[i]);
    CHECK(product.at[i] == a.at[i] * b.at[i]);
    CHECK(fused.at[i] == a.at[i] * b.at[i] + a.at[i]);
    CHECK(fnma.at[i] == a.at[i] - a.at[i] * b.at[i]);
    CHECK(smaller.at[i] == std::min(a.at[i], b.at[i]));
    CHECK(larger.at[i] == std::max(a.at[i], b.at[i]));
    CHECK(chosen.at[i] == (a.at[i] < b.at[i] ? a.at[i] : b.at[i]));
    CHECK(inverted.at[i] == (a.at[i] < b.at[i] ? b.at[i] : a.at[i]));
    CHECK(both.at[i] == b.at[i]);
    CHECK(either.at[i] == a.at[i]);
    CHECK(one_of.at[i] == b.at[i]);
    CHECK(differ.at[i] == a.at[i]);
    CHECK(negated.at[i] == -a.at[i]);
    CHECK(magnitude.at[i] == std::abs(a.at[i]));
    if (a.at[i] < b.at[i]) bits |= 1u << i;
  }
  CHECK(m::lane_bits<P>(m::lt(x, y)) == bits);
  CHECK(m::any<P>(m::lt(x, y)) == (bits != 0));
  CHECK(m::all<P>(m::lt(x, y)) == (bits == (1u << w) - 1));
  CHECK(m::all<P>(m::mask_set<P>(true)));
  CHECK_FALSE(m::any<P>(m::mask_set<P>(false)));

  T total = 0;
  for (T v : a.at) total = static_cast<T>(total + v);
  const auto added = [](auto p, auto q) { return m::add(p, q); };
  const auto lesser_of = [](auto p, auto q) { return m::min(p, q); };
  const auto greater_of = [](auto p, auto q) { return m::max(p, q); };
  CHECK(m::across(x, added) == total);
  CHECK(m::across(x, lesser_of) == a.at[0]);
  CHECK(m::across(x, greater_of) == a.at[w - 1]);

  T strided[3 * w];
  for (int i = 0; i < 3 * w; ++i) strided[i] = static_cast<T>(i);
  const lanes<P> gathered(m::gather<P>(strided, 3));
  for (int i = 0; i < w; ++i) CHECK(gathered.at[i] == static_cast<T>(3 * i));

  // Masks from bools and back, with every lane alone, all lanes and none. Nothing beyond the lanes is read or written.
  for (int set = -1; set <= w; ++set) {
    std::unique_ptr<bool[]> from(new bool[w]), to(new bool[w]);
    for (int i = 0; i < w; ++i) from[static_cast<std::size_t>(i)] = set == w || i == set, to[static_cast<std::size_t>(i)] = i != set;
    T numbers[w];
    for (int i = 0; i < w; ++i) numbers[i] = from[static_cast<std::size_t>(i)] ? T(1) : T(0);
    auto mask = m::ne(m::load<P>(numbers), m::set1<P>(T(0)));
    m::store_bools<P>(to.get(), mask);
    if constexpr (m::loads_bools<P>) mask = m::load_bools<P>(from.get());
    const lanes<P> chosen(m::select<P>(mask, m::set1<P>(T(3)), m::set1<P>(T(4))));
    for (int i = 0; i < w; ++i) {
      CAPTURE(set, i);
      CHECK(chosen.at[i] == (set == w || i == set ? T(3) : T(4)));
      unsigned char byte;
      std::memcpy(&byte, to.get() + i, 1);
      CHECK(byte == (set == w || i == set ? 1 : 0));
    }
  }

  // Partial loads and stores touch exactly n elements: the buffers are as long as that, which a sanitizer watches.
  for (int n = 0; n <= w; ++n) {
    std::vector<T> from(a.at, a.at + n), to(static_cast<std::size_t>(n) + 1, T(77));
    const lanes<P> part(m::load_first<P>(from.data(), n, T(5)));
    for (int i = 0; i < w; ++i) CHECK(part.at[i] == (i < n ? a.at[i] : T(5)));
    m::store_first<P>(to.data(), x, n);
    for (int i = 0; i < n; ++i) CHECK(to[static_cast<std::size_t>(i)] == a.at[i]);
    CHECK(to.back() == T(77));
  }
}

/// Rows of C numbers, which are in memory one behind the other, become a packet of each number, and these packets become the rows again.
template <int C, class P>
void check_rows() {
  using T = m::scalar_of<P>;
  constexpr int w = m::width<P>;
  T memory[C * w], back[C * w];
  for (int i = 0; i < C * w; ++i) memory[i] = static_cast<T>(i);
  P packets[C];
  for (int c = 0; c < C; ++c) packets[c] = m::load<P>(memory + c * w);
  m::deinterleave<C>(packets);
  for (int c = 0; c < C; ++c)
    for (int row = 0; row < w; ++row) CHECK(lanes<P>(packets[c]).at[row] == static_cast<T>(row * C + c));
  m::interleave<C>(packets);
  for (int c = 0; c < C; ++c) m::store<P>(back + c * w, packets[c]);
  for (int i = 0; i < C * w; ++i) CHECK(back[i] == memory[i]);
}

/// Each lane gets the row that it chooses.
template <class P>
void check_table() {
  using T = m::scalar_of<P>;
  constexpr int w = m::width<P>, numbers = 2 * w, rows = 5;
  T table[rows][numbers];
  for (int r = 0; r < rows; ++r)
    for (int k = 0; k < numbers; ++k) table[r][k] = static_cast<T>(100 * r + k);
  T index[w];
  for (int l = 0; l < w; ++l) index[l] = std::bit_cast<T>(static_cast<m::bits_of<P>>(3 * l % rows));
  P found[numbers];
  m::load_rows(table, m::load<P>(index), found);
  for (int k = 0; k < numbers; ++k)
    for (int l = 0; l < w; ++l) CHECK(lanes<P>(found[k]).at[l] == table[3 * l % rows][k]);
}

template <class P>
void check_floating() {
  if constexpr (m::is_one_lane<P> || m::can_transpose<P>) check_table<P>();
  using T = m::scalar_of<P>;
  if constexpr (m::can_interleave<P>) check_rows<2, P>(), check_rows<3, P>(), check_rows<4, P>(), check_rows<5, P>(), check_rows<6, P>(), check_rows<7, P>(), check_rows<8, P>(), check_rows<9, P>(), check_rows<12, P>();
  using limits = std::numeric_limits<T>;
  const T nan = limits::quiet_NaN(), inf = limits::infinity();
  auto first = [](P p) { return lanes<P>(p).at[0]; };
  auto at = [](T v) { return m::set1<P>(v); };
  for (T v : {T(1), T(-2), inf, -inf}) {
    CHECK(std::isnan(first(m::min(at(v), at(nan)))));
    CHECK(std::isnan(first(m::min(at(nan), at(v)))));
    CHECK(std::isnan(first(m::max(at(v), at(nan)))));
    CHECK(std::isnan(first(m::max(at(nan), at(v)))));
  }
  CHECK(std::isnan(first(m::at_most(at(nan), T(1)))));
  CHECK(std::isnan(first(m::at_least(at(nan), T(1)))));
  CHECK(m::all<P>(m::is_nan(at(nan))));
  CHECK_FALSE(m::any<P>(m::is_nan(at(inf))));
  CHECK_FALSE(m::any<P>(m::eq(at(nan), at(nan))));
  CHECK(m::all<P>(m::ne(at(nan), at(nan))));
  CHECK(std::signbit(first(m::neg(at(T(0))))));
  for (T v : {T(2.5), T(-2.5), T(3.5), T(-0.2), T(0.7), T(1e6), T(-7), T(-0.5), T(0), T(-0.0)}) {
    INFO(v);
    const auto is = [&](T found, T wanted) { return found == wanted && std::signbit(found) == std::signbit(wanted); };
    CHECK(is(first(m::floor(at(v))), std::floor(v)));
    CHECK(is(first(m::ceil(at(v))), std::ceil(v)));
    CHECK(is(first(m::trunc(at(v))), std::trunc(v)));
    CHECK(is(first(m::round(at(v))), std::nearbyint(v)));
    CHECK(first(m::sqrt(at(std::abs(v)))) == std::sqrt(std::abs(v)));
    for (int n : {0, 1, -1, 30, -30, 120, -120, limits::max_exponent - 4, limits::min_exponent - 3, limits::min_exponent - limits::digits, 2 * limits::max_exponent, -3 * limits::max_exponent})
      CHECK(first(m::ldexp(at(v), at(static_cast<T>(n)))) == std::ldexp(v, n));
  }
  for (int nan_lane = 0; nan_lane < m::width<P>; ++nan_lane) {
    std::vector<T> with_nan(m::width<P>, T(1));
    with_nan[static_cast<std::size_t>(nan_lane)] = nan;
    CHECK(std::isnan(m::across(m::load<P>(with_nan.data()), [](auto p, auto q) { return m::max(p, q); })));
    CHECK(std::isnan(m::across(m::load<P>(with_nan.data()), [](auto p, auto q) { return m::min(p, q); })));
  }
}

template <class P>
void check_twins() {
  using T = m::scalar_of<P>;
  std::mt19937 engine(1);
  std::uniform_real_distribution<T> larger(1024, 2048), smaller(-1024, 1024);
  for (int k = 0; k < 200; ++k) {
    T x[m::width<P>], y[m::width<P>];
    for (T& at : x) at = larger(engine);
    for (T& at : y) at = smaller(engine);
    const auto product = m::detail::two_product(m::load<P>(x), m::load<P>(y)), sum = m::detail::fast_two_sum(m::load<P>(x), m::load<P>(y));
    const lanes<P> product_hi(product.hi), product_lo(product.lo), sum_hi(sum.hi), sum_lo(sum.lo);
    for (int i = 0; i < m::width<P>; ++i) {
      CHECK(product_lo.at[i] == std::fma(x[i], y[i], -product_hi.at[i]));
      CHECK(static_cast<long double>(sum_hi.at[i]) + sum_lo.at[i] == static_cast<long double>(x[i]) + y[i]);
    }
  }
}

}  // namespace

TEST_CASE("Law: fast_two_sum and two_product are exact (Dekker, Veltkamp), with or without fma", "[math]") {
  check_twins<m::packet_of<float>>();
  check_twins<m::packet_of<double>>();
  check_twins<float>();
  check_twins<double>();
}

// Law: each function does in each lane what the scalar function of the same name does, also for NaN.
TEST_CASE("packets act lane by lane", "[math]") {
  check_packet<m::packet_of<float>>();
  check_packet<m::packet_of<double>>();
  check_packet<float>();
  check_packet<double>();
  check_packet<std::int32_t>();
  check_packet<std::int64_t>();
  // The narrower registers, where the widest packet is not the only one.
  check_packet<tenure::math::half_of<tenure::math::packet_of<float>>>();
  check_packet<tenure::math::half_of<tenure::math::packet_of<double>>>();
}

TEST_CASE("bool is a packet of one lane", "[math]") {
  CHECK(m::width<m::packet_of<bool>> == 1);
  CHECK(m::load<bool>(std::begin({true})));
  CHECK(m::select(m::lt(false, true), true, false));
  CHECK(m::min(true, false) == false);
  CHECK(m::max(true, false) == true);
}

TEST_CASE("floating packets keep NaN, signs and gradual underflow", "[math]") {
  check_floating<m::packet_of<float>>();
  check_floating<m::packet_of<double>>();
  check_floating<float>();
  check_floating<double>();
  check_floating<tenure::math::half_of<tenure::math::packet_of<float>>>();
  check_floating<tenure::math::half_of<tenure::math::packet_of<double>>>();
}
