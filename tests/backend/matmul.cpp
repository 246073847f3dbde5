// SPDX-License-Identifier: BSL-1.0
// The matrix product against a long-double loop: every small shape, every layout, exact bounds, no heap.
#include "../catch.hpp"
#include "../difference.hpp"
#include "../sanitizers.hpp"

#include <tenure/backend/cpu/matmul.hpp>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <new>
#include <vector>

#include <sys/mman.h>
#include <unistd.h>

namespace {

std::atomic<long> allocations{0};

}  // namespace

#if defined(__GLIBC__) && !TENURE_TEST_ADDRESS_SANITIZER
#define COUNTS_MALLOC 1
extern "C" {
void* __libc_malloc(std::size_t);
void* __libc_memalign(std::size_t, std::size_t);
void* malloc(std::size_t bytes) { return ++allocations, __libc_malloc(bytes); }
void* aligned_alloc(std::size_t alignment, std::size_t bytes) { return ++allocations, __libc_memalign(alignment, bytes); }
int posix_memalign(void** to, std::size_t alignment, std::size_t bytes) {
  ++allocations;
  *to = __libc_memalign(alignment, bytes);
  return *to ? 0 : 12;
}
}
#else
#define COUNTS_MALLOC 0
#endif

namespace {

namespace backend = tenure::cpu_backend;
using extent = std::int64_t;

/// A product whose factors have elements of the type of the sums.
template <class T>
void product(extent m, extent n, extent k, backend::matrix_ref<T> a, backend::matrix_ref<T> b, T* c, extent ldc, bool accumulate, void* workspace, extent whole = 0) {
  backend::matmul<T>(m, n, k, a, b, c, ldc, accumulate, workspace, whole);
}

constexpr extent extents[] = {0, 1, 2, 3, 5, 8, 16, 17, 33, 64, 100};

template <class T>
T sample(std::uint64_t& state) {
  state = state * 6364136223846793005u + 1442695040888963407u;
  const auto high = static_cast<int>(state >> 57);  // 0..127
  return std::is_integral_v<T> ? static_cast<T>(high - 64) : static_cast<T>(high - 64) / T(37);
}

/// Elements that end where a page begins that nobody may touch: a read beyond them ends the test, with or without ASan. Pages are kept
/// for the next elements, since mapping them costs more than most products here.
template <class T>
class elements_before_a_wall {
 public:
  explicit elements_before_a_wall(std::size_t count) : count_(count) {
    static const std::size_t page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
    const std::size_t bytes = (count * sizeof(T) + page - 1) / page * page;
    const auto fits = std::find_if(kept().begin(), kept().end(), [&](const pages& p) { return p.bytes >= bytes; });
    if (fits != kept().end()) {
      pages_ = *fits;
      kept().erase(fits);
      return;
    }
    void* const all = mmap(nullptr, bytes + page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    REQUIRE(all != MAP_FAILED);
    pages_ = {static_cast<char*>(all) + bytes, bytes};
    REQUIRE(mprotect(pages_.end, page, PROT_NONE) == 0);
  }
  elements_before_a_wall(const elements_before_a_wall&) = delete;
  elements_before_a_wall& operator=(const elements_before_a_wall&) = delete;
  ~elements_before_a_wall() { kept().push_back(pages_); }

  T* data() const { return end() - count_; }
  T* begin() const { return data(); }
  T* end() const { return reinterpret_cast<T*>(pages_.end); }
  T& operator[](std::size_t i) const { return data()[i]; }

 private:
  struct pages {
    char* end;
    std::size_t bytes;
  };
  static std::vector<pages>& kept() {
    static std::vector<pages> all;
    return all;
  }

  std::size_t count_;
  pages pages_;
};

template <class T>
struct matrix {
  elements_before_a_wall<T> memory;
  extent row_stride, col_stride;

  matrix(extent rows, extent cols, extent row, extent col, std::uint64_t& state)
      : memory(rows > 0 && cols > 0 ? static_cast<std::size_t>((rows - 1) * row + (cols - 1) * col + 1) : 0), row_stride(row), col_stride(col) {
    for (T& x : memory) x = sample<T>(state);
  }
  T operator()(extent i, extent j) const { return memory[static_cast<std::size_t>(i * row_stride + j * col_stride)]; }
  operator backend::matrix_ref<T>() const { return {memory.data(), row_stride, col_stride}; }
};

enum class layout { rows, columns, padded_rows, both_strided };

template <class T>
matrix<T> make(extent rows, extent cols, layout how, std::uint64_t& state) {
  switch (how) {
    case layout::rows: return {rows, cols, cols, 1, state};
    case layout::columns: return {rows, cols, 1, rows, state};
    case layout::padded_rows: return {rows, cols, cols + 3, 1, state};
    default: return {rows, cols, 2 * cols + 1, 2, state};
  }
}

/// |computed - exact| must stay below k + 2 roundings of the sum of magnitudes.
template <class T>
bool close(T computed, long double exact, long double magnitude, extent k) {
  if constexpr (std::is_integral_v<T>) return static_cast<long double>(computed) == exact;
  const long double bound = static_cast<long double>(k + 2) * std::numeric_limits<T>::epsilon() * magnitude;
  return std::fabs(static_cast<long double>(computed) - exact) <= bound;
}

constexpr unsigned char canary = 0xA5;

/// Runs one product with canaries around C, between its rows and around the workspace.
template <class T>
difference agrees(extent m, extent n, extent k, const matrix<T>& a, const matrix<T>& b, extent ldc, bool accumulate, std::uint64_t& state) {
  constexpr extent guard = 32;
  const T mark = T(-12345);
  std::vector<T> c(static_cast<std::size_t>(m * ldc + 2 * guard), mark);
  for (extent i = 0; i < m; ++i)
    for (extent j = 0; j < n; ++j) c[static_cast<std::size_t>(guard + i * ldc + j)] = sample<T>(state);
  const std::vector<T> before = c;
  const auto bytes = static_cast<std::size_t>(backend::matmul_workspace<T>(m, n, k));
  std::vector<unsigned char> workspace(bytes + 2 * guard + 1, canary);

  const long count = allocations;
  product<T>(m, n, k, a, b, c.data() + guard, ldc, accumulate, workspace.data() + guard + 1);
  if (allocations != count) return difference_of(allocations - count, " allocations");

  for (std::size_t i = 0; i <= guard; ++i)
    if (workspace[i] != canary || (i < guard && workspace[workspace.size() - 1 - i] != canary)) return difference_of("written outside the workspace of ", bytes, " bytes");
  for (extent at = 0; at < static_cast<extent>(c.size()); ++at) {
    const extent i = (at - guard) / (ldc > 0 ? ldc : 1), j = at - guard - i * ldc;
    const T now = c[static_cast<std::size_t>(at)], old = before[static_cast<std::size_t>(at)];
    if (at < guard || i >= m || j >= n) {
      if (now != mark) return difference_of("written outside of C, at ", i, ", ", j);
      continue;
    }
    long double exact = accumulate ? old : 0, magnitude = std::fabs(exact);
    for (extent l = 0; l < k; ++l) {
      const long double term = static_cast<long double>(a(i, l)) * b(l, j);
      exact += term, magnitude += std::fabs(term);
    }
    if (!close(now, exact, magnitude, k)) return difference_of("element ", i, ", ", j, ": ", now, " where ", exact, " is wanted");
  }
  return {};
}

template <class T>
void check(extent m, extent n, extent k, layout left, layout right, extent padding, bool accumulate) {
  std::uint64_t state = static_cast<std::uint64_t>(m * 10007 + n * 101 + k);
  const auto a = make<T>(m, k, left, state);
  const auto b = make<T>(k, n, right, state);
  INFO("matmul of " << m << " x " << k << " and " << k << " x " << n << ", layouts " << static_cast<int>(left) << " and " << static_cast<int>(right) << ", padding " << padding
                    << (accumulate ? ", accumulated" : ""));
  if (const difference found = agrees<T>(m, n, k, a, b, n + padding, accumulate, state); !found) CHECK(found);
}

template <class T>
void check_all(std::initializer_list<layout> layouts, extent padding) {
  for (extent m : extents)
    for (extent n : extents)
      for (extent k : extents)
        for (layout left : layouts)
          for (layout right : layouts) check<T>(m, n, k, left, right, padding, (m + n + k) % 2 == 1);
  SUCCEED();
}

}  // namespace

TEMPLATE_TEST_CASE("matmul agrees with the definition in all transposed layouts", "[matmul]", float, double) {
  check_all<TestType>({layout::rows, layout::columns}, 0);
}

TEMPLATE_TEST_CASE("matmul agrees with the definition for general strides and padded rows of C", "[matmul]", float, double) {
  check_all<TestType>({layout::padded_rows, layout::both_strided, layout::columns}, 3);
}

TEMPLATE_TEST_CASE("matmul of integers is exact", "[matmul]", std::int32_t, std::int64_t) {
  for (extent m : {0, 1, 3, 17})
    for (extent n : {0, 1, 5, 33})
      for (extent k : {0, 1, 2, 64})
        for (bool accumulate : {false, true}) check<TestType>(m, n, k, layout::columns, layout::rows, 1, accumulate);
  SUCCEED();
}

// Law: an element of C is a sum over ascending k, or the sum of such parts.
TEMPLATE_TEST_CASE("matmul splits long k, and packs into the workspace it asked for", "[matmul]", float, double) {
  for (extent k : {255, 256, 257, 511, 784, 1000})
    for (extent m : {2, 13, 130})
      for (extent n : {7, 48, 49, 130})
        for (layout right : {layout::rows, layout::columns, layout::both_strided})
          for (bool accumulate : {false, true}) check<TestType>(m, n, k, layout::columns, right, 0, accumulate);
  SUCCEED();
}

TEMPLATE_TEST_CASE("matmul of what the caches do not hold has the bits of its parts", "[matmul]", float, double) {
  using T = TestType;
  std::uint64_t state = 7;
  const auto same = [](const T* found, const T* wanted, extent count) { return std::memcmp(found, wanted, static_cast<std::size_t>(count) * sizeof(T)) == 0; };
  const extent line = 64 / static_cast<extent>(sizeof(T));
  // C is larger than the caches: whole lines, lines that begin elsewhere, rows that end in the middle of a line.
  const extent columns = (extent{32} << 20) / (64 * static_cast<extent>(sizeof(T))) / line * line + 2 * line;
  for (const extent extra : {extent{0}, extent{3}})
    for (const extent offset : {extent{0}, extent{1}}) {
      const extent m = 65, n = columns + extra, k = 5;
      const matrix<T> a = make<T>(m, k, layout::rows, state), b = make<T>(k, n, layout::rows, state);
      std::vector<T> memory(static_cast<std::size_t>(m * n + 2 * line + 1), T(9)), row(static_cast<std::size_t>(2 * n));
      T* const c = memory.data() + (64 - reinterpret_cast<std::uintptr_t>(memory.data()) % 64) % 64 / sizeof(T) + offset;
      const T before = c[-1 + (offset == 0)], after = c[m * n];
      std::vector<unsigned char> workspace(static_cast<std::size_t>(backend::matmul_workspace<T>(m, n, k)));
      product<T>(m, n, k, a, b, c, n, false, workspace.data());
      CAPTURE(extra, offset);
      if (offset > 0) CHECK(c[-1] == before);
      CHECK(c[m * n] == after);
      for (const extent i : {extent{0}, extent{31}, m - 2}) {  // two rows, because one is a GEMV
        product<T>(2, n, k, {a.memory.data() + i * k, k, 1}, b, row.data(), n, false, workspace.data());
        CHECK(same(c + i * n, row.data(), 2 * n));
      }
    }
  // A transposed A that is larger than the caches is read in few steps at a time.
  for (const extent n : {2, 9, 16}) {
    const extent m = 700, k = (extent{8} << 20) / (m * static_cast<extent>(sizeof(T))) + 37;
    const matrix<T> a = make<T>(m, k, layout::columns, state), b = make<T>(k, n, layout::rows, state);
    std::vector<T> c(static_cast<std::size_t>(m * n)), part(static_cast<std::size_t>(5 * n));
    std::vector<unsigned char> workspace(static_cast<std::size_t>(backend::matmul_workspace<T>(m, n, k)));
    for (const bool accumulate : {false, true}) {
      for (T& x : c) x = T(0.25);
      for (T& x : part) x = T(0.25);
      product<T>(m, n, k, a, b, c.data(), n, accumulate, workspace.data());
      product<T>(5, n, k, {a.memory.data() + 333, 1, m}, b, part.data(), n, accumulate, workspace.data());
      CAPTURE(n, accumulate);
      CHECK(same(c.data() + 333 * n, part.data(), 5 * n));
      const long double first = [&] {
        long double sum = accumulate ? 0.25L : 0;
        for (extent l = 0; l < k; ++l) sum += static_cast<long double>(a(0, l)) * b(l, 0);
        return sum;
      }();
      CHECK(static_cast<double>(c[0]) == Approx(static_cast<double>(first)).epsilon(sizeof(T) == 4 ? 1e-3 : 1e-10).margin(sizeof(T) == 4 ? 1e-3 : 1e-11));
    }
  }
}

TEMPLATE_TEST_CASE("matmul of one row or column, long ones too", "[matmul]", float, double) {
  for (extent n : {1, 2, 3, 5, 8, 10, 13, 19, 24, 29, 31, 32, 33, 100, 784})
    for (extent k : {1, 10, 31, 32, 39, 128, 784})
      for (layout how : {layout::rows, layout::columns, layout::both_strided})
        for (bool accumulate : {false, true}) {
          check<TestType>(1, n, k, layout::rows, how, 0, accumulate);
          check<TestType>(n, 1, k, how, layout::rows, 0, accumulate);
          check<TestType>(n, 1, k, how, layout::padded_rows, 2, accumulate);
        }
  SUCCEED();
}

// Law: an element is a sum over ascending k where the rows of the matrix are read along the result, and two for each lane where they are read along
// k.
TEMPLATE_TEST_CASE("a product of a vector and a matrix that the near caches do not hold agrees with the definition, and has the bits of its parts", "[matmul]", float, double) {
  using T = TestType;
  std::uint64_t state = 5;
  const auto same = [](const std::vector<T>& found, const std::vector<T>& wanted) { return first_difference(found.data(), wanted.data(), static_cast<extent>(found.size())); };
  for (const extent d : {1, 7, 16, 17, 33, 64, 130, 1003}) {
    const extent n = (extent{1} << 19) / (d * static_cast<extent>(sizeof(T))) + 7;
    for (const layout how : {layout::rows, layout::padded_rows, layout::columns})
      for (const bool accumulate : {false, true}) {
        check<T>(n, 1, d, how, layout::rows, 0, accumulate);  // X w
        check<T>(1, d, n, layout::rows, how, 0, accumulate);  // r X
      }
    const matrix<T> x = make<T>(n, d, layout::rows, state), w = make<T>(d, 1, layout::rows, state);
    CAPTURE(n, d);
    std::vector<T> whole(static_cast<std::size_t>(n)), parts = whole;
    product<T>(n, 1, d, x, w, whole.data(), 1, false, nullptr);
    for (extent i = 0; i < n; i += 501) product<T>(n - i < 501 ? n - i : 501, 1, d, {x.memory.data() + i * d, d, 1}, w, parts.data() + i, 1, false, nullptr);
    CHECK(same(parts, whole));
  }
}

// Threads divide a result into parts of 32 elements and more; shorter results have several sums for each element.
TEMPLATE_TEST_CASE("a product of a vector and a matrix has the bits of its parts of 32 columns and more", "[matmul]", float, double) {
  using T = TestType;
  std::uint64_t state = 6;
  for (const extent n : {64, 96, 150, 257})
    for (const extent k : {32, 300, 1100})
      for (const extent part : {32, 64}) {
        const matrix<T> x = make<T>(1, k, layout::rows, state), b = make<T>(k, n, layout::rows, state);
        std::vector<T> row(static_cast<std::size_t>(n)), parts = row, column = row, column_parts = row;
        product<T>(1, n, k, x, b, row.data(), n, false, nullptr);
        product<T>(n, 1, k, {b.memory.data(), 1, n}, {x.memory.data(), 1, 1}, column.data(), 1, false, nullptr);
        for (extent j = 0; j < n; j += part) {
          const extent columns = n - j < 2 * part ? n - j : part;
          product<T>(1, columns, k, x, {b.memory.data() + j, n, 1}, parts.data() + j, n, false, nullptr, n * k);
          product<T>(columns, 1, k, {b.memory.data() + j, 1, n}, {x.memory.data(), 1, 1}, column_parts.data() + j, 1, false, nullptr, n * k);
          if (columns > part) break;
        }
        CAPTURE(n, k, part);
        CHECK(first_difference(parts.data(), row.data(), n));
        CHECK(first_difference(column_parts.data(), column.data(), n));
      }
}

// One running sum of n numbers between 1 and 2 would be wrong by up to n / 2 roundings.
TEMPLATE_TEST_CASE("a product with a long inner axis adds up parts", "[matmul]", float) {
  using T = TestType;
  struct sizes { extent m, n, k; };
  for (const sizes s : {sizes{1, 1, 3000000}, {1, 1, 70001}, {1, 40, 300001}, {40, 1, 300001}, {1, 2000, 20003}, {8, 8, 300001}, {3, 16, 100003}, {40, 8, 100003}, {600, 8, 20011}, {130, 50, 5003}})
    for (const layout left : {layout::rows, layout::columns, layout::both_strided})
      for (const layout right : {layout::rows, layout::columns, layout::both_strided}) {
        if (s.m * s.n * s.k > 10000000 && (left == layout::both_strided || right == layout::both_strided)) continue;
        std::uint64_t state = 3;
        matrix<T> a = make<T>(s.m, s.k, left, state), b = make<T>(s.k, s.n, right, state);
        for (T& x : a.memory) x = 1 + std::fabs(x) / 4;
        for (T& x : b.memory) x = 1 + std::fabs(x) / 4;
        std::vector<T> c(static_cast<std::size_t>(s.m * s.n));
        std::vector<unsigned char> workspace(static_cast<std::size_t>(backend::matmul_workspace<T>(s.m, s.n, s.k)));
        product<T>(s.m, s.n, s.k, a, b, c.data(), s.n, false, workspace.data());
        INFO(s.m << " x " << s.k << " x " << s.n << ", layouts " << static_cast<int>(left) << " and " << static_cast<int>(right));
        for (const extent i : {extent{0}, s.m - 1})
          for (const extent j : {extent{0}, s.n - 1}) {
            double exact = 0;
            for (extent l = 0; l < s.k; ++l) exact += static_cast<double>(a(i, l)) * b(l, j);
            const double bound = (1024 + static_cast<double>(s.k) / 256) * std::numeric_limits<T>::epsilon() / 8;  // roundings go both ways
            CHECK(std::fabs(c[static_cast<std::size_t>(i * s.n + j)] / exact - 1) <= bound);
          }
      }
}

TEMPLATE_TEST_CASE("matmul gives the same bits when a caller splits the rows", "[matmul]", float, double) {
  using T = TestType;
  std::uint64_t state = 7;
  const extent m = 150, n = 53, k = 300;
  for (layout right : {layout::rows, layout::columns}) {
    const auto a = make<T>(m, k, layout::rows, state);
    const auto b = make<T>(k, n, right, state);
    std::vector<unsigned char> workspace(static_cast<std::size_t>(backend::matmul_workspace<T>(m, n, k)));
    std::vector<T> whole(static_cast<std::size_t>(m * n)), parts = whole;
    product<T>(m, n, k, a, b, whole.data(), n, false, workspace.data());
    for (extent i = 0, by = 2; i < m; i += by, by = by % 47 + 5) {
      const extent rows = m - i < by ? m - i : by;
      if (rows == 1) by = m - i;  // one row alone takes the vector path, whose sums may be ordered differently
      product<T>(rows, n, k, {a.memory.data() + i * k, k, 1}, b, parts.data() + i * n, n, false, workspace.data(), m);
    }
    const extent last = (m - 1) * n;
    CHECK(first_difference(parts.data(), whole.data(), last));
  }
}

// Law: an element of a product of few rows is the sum of one running sum for each lane, added half by half, or the sum of such parts. This depends only on k.
TEMPLATE_TEST_CASE("a product of few rows agrees with the definition, and an element has the same bits in each", "[matmul]", float, double) {
  using T = TestType;
  std::uint64_t state = 8;
  const extent most = backend::costs::few_rows, n = 23;
  for (extent m : {2, 3, 4, 5, 6, 7, 9, 15, 64})
    for (extent columns : {2, 3, 4, 5, 23, 70})
      for (extent k : {16, 31, 256, 600, 1100})
        for (bool accumulate : {false, true}) check<T>(m, columns, k, layout::padded_rows, layout::columns, 1, accumulate);
  for (extent k : {256, 307, 1100}) {
    const auto a = make<T>(most, k, layout::rows, state), b = make<T>(k, n, layout::columns, state);
    REQUIRE(backend::choose<T, T, T>(most, n, k, a, b, n).kernel == backend::product_kernel::few_rows);
    std::vector<T> whole(static_cast<std::size_t>(most * n)), part = whole;
    product<T>(most, n, k, a, b, whole.data(), n, false, nullptr);
    for (extent m = 2; m < most; m = m * 2 + 1) {
      product<T>(m, n, k, a, b, part.data(), n, false, nullptr);
      CHECK(first_difference(part.data(), whole.data(), m * n));
      product<T>(m, 2, k, a, {b.memory.data() + 5 * k, 1, k}, part.data(), n, false, nullptr);  // two of the columns
      CHECK(first_difference(part.data(), whole.data() + 5, 2));
    }
  }
}

TEMPLATE_TEST_CASE("matmul_each has the bits of as many calls of matmul, and reads and writes nothing else", "[matmul]", float, double) {
  using T = TestType;
  std::uint64_t state = 11;
  const extent count = 3;
  for (extent m : {1, 2, 3, 4, 5, 22, 33})
    for (extent n : {1, 2, 3, 4, 8, 16, 17})
      for (extent k : {0, 1, 3, 4, 20})
        for (const bool has_rows : {true, false})        // or columns
          for (const bool shares_right : {true, false}) {
            const layout how = has_rows ? layout::rows : layout::columns;
            const extent step = shares_right ? 0 : k * n;
            const auto a = make<T>(m * count, k, layout::rows, state);
            const extent stored = shares_right ? 1 : count;
            const auto b = make<T>(has_rows ? k * stored : k, has_rows ? n : n * stored, how, state);
            const backend::matrix_ref<T> left = a, right{b.memory.data(), has_rows ? n : 1, has_rows ? 1 : k};
            std::vector<unsigned char> workspace(static_cast<std::size_t>(backend::matmul_workspace<T>(m, n, k)));
            elements_before_a_wall<T> all(static_cast<std::size_t>(count * m * n));
            std::vector<T> each(static_cast<std::size_t>(count * m * n));
            for (T& x : all) x = T(-12345);
            backend::matmul_each<T>(count, m, n, k, left, m * k, right, step, all.data(), workspace.data());
            for (extent i = 0; i < count; ++i)
              product<T>(m, n, k, {left.data + i * m * k, k, 1}, {right.data + i * step, right.row_stride, right.col_stride},
                                 each.data() + i * m * n, n, false, workspace.data());
            INFO(m << " x " << k << " and " << k << " x " << n << ", " << (has_rows ? "rows" : "columns") << ", step " << step);
            if (const auto found = first_difference(all.data(), each.data(), count * m * n); !found) CHECK(found);
          }
  SUCCEED();
}

TEST_CASE("matmul workspace is a constant of the shape", "[matmul]") {
  STATIC_REQUIRE(backend::matmul_workspace<float>(1, 128, 784) == 0);
  STATIC_REQUIRE(backend::matmul_workspace<float>(784, 1, 128) == 0);
  STATIC_REQUIRE(backend::matmul_workspace<float>(16, 16, 16) == 0);
  STATIC_REQUIRE(backend::matmul_workspace<std::int32_t>(100, 100, 100) == 0);
  STATIC_REQUIRE(backend::matmul_workspace<float>(4096, 4096, 4096) <= 49216);
  STATIC_REQUIRE(backend::matmul_workspace<double>(4096, 4096, 4096) <= 49216);
}

TEST_CASE("the allocation counter counts", "[matmul]") {
#if COUNTS_MALLOC
  const long count = allocations;
  void* volatile block = std::malloc(100);
  std::free(block);
  CHECK(allocations == count + 1);
#endif
}

namespace {

template <class T, extent M, extent N, extent K, extent ARow, extent ACol, extent BRow, extent BCol>
difference small_agrees() {
  std::uint64_t state = static_cast<std::uint64_t>(M * 10007 + N * 101 + K);
  const matrix<T> a(M, K, ARow, ACol, state), b(K, N, BRow, BCol, state);
  constexpr extent ldc = N == 1 ? 1 : N + 2, guard = 32;
  const T mark = T(-12345);
  std::vector<T> c(static_cast<std::size_t>(M * ldc + 2 * guard), mark);
  backend::small_product<T, M, N, K, ARow, ACol, BRow, BCol, ldc>(a.memory.data(), b.memory.data(), c.data() + guard);
  for (extent at = 0; at < static_cast<extent>(c.size()); ++at) {
    const extent i = (at - guard) / ldc, j = (at - guard) % ldc;
    const T now = c[static_cast<std::size_t>(at)];
    if (at < guard || i >= M || j >= N) {
      if (now != mark) return difference_of("written outside of C, at ", i, ", ", j);
      continue;
    }
    long double exact = 0, magnitude = 0;
    for (extent l = 0; l < K; ++l) {
      const long double term = static_cast<long double>(a(i, l)) * b(l, j);
      exact += term, magnitude += std::fabs(term);
    }
    if (!close(now, exact, magnitude, K)) return difference_of("element ", i, ", ", j, ": ", now, " where ", exact, " is wanted");
  }
  return {};
}

template <class T, extent M, extent N, extent K>
void check_small() {
  STATIC_REQUIRE(backend::matmul_is_small(M, N, K, true));
  CAPTURE(M, N, K);
  CHECK(small_agrees<T, M, N, K, K, 1, N, 1>());
  CHECK(small_agrees<T, M, N, K, 1, M, 1, K>());
}

/// The other layouts too; few shapes, because each is code of its own and sanitizers make it long.
template <class T, extent M, extent N, extent K>
void check_small_layouts() {
  check_small<T, M, N, K>();
  CHECK(small_agrees<T, M, N, K, K, 1, 1, K>());
  CHECK(small_agrees<T, M, N, K, 1, M, N, 1>());
  CHECK(small_agrees<T, M, N, K, 2 * K + 1, 2, 2 * N + 1, 2>());
}

}  // namespace

TEST_CASE("matmul_small of integers is exact", "[matmul]") {
  check_small<std::int32_t, 3, 5, 4>();
  check_small<std::int64_t, 4, 1, 4>();
}

// Law: an element of C is a[i,0] b[0,j] + a[i,1] b[1,j] + ...
TEMPLATE_TEST_CASE("matmul_small agrees with the definition in every layout", "[matmul]", float, double) {
  check_small_layouts<TestType, 1, 1, 1>();
  check_small_layouts<TestType, 3, 3, 3>();
  check_small_layouts<TestType, 4, 4, 4>();
  check_small_layouts<TestType, 4, 1, 4>();
  check_small_layouts<TestType, 5, 10, 4>();
  check_small<TestType, 6, 6, 6>();
  check_small<TestType, 1, 7, 5>();
  check_small<TestType, 1, 80, 20>();
  check_small<TestType, 40, 7, 6>();
  check_small_layouts<TestType, 1, 19, 9>();
  check_small_layouts<TestType, 2, 19, 9>();
  check_small_layouts<TestType, 6, 1, 6>();
  check_small<TestType, 16, 16, 16>();
  check_small<TestType, 8, 8, 64>();
  check_small<TestType, 2, 61, 3>();
}

// Law: an element of a product of few rows is the sum of one running sum for each lane, added half by half.
TEMPLATE_TEST_CASE("a static row of dot products agrees with the definition", "[matmul]", float, double) {
  CHECK(small_agrees<TestType, 1, 96, 32, 32, 1, 1, 32>());
  CHECK(small_agrees<TestType, 1, 5, 17, 17, 1, 1, 20>());
  CHECK(small_agrees<TestType, 1, 6, 10, 10, 1, 1, 10>());
  CHECK(small_agrees<TestType, 7, 1, 31, 33, 1, 1, 1>());
  CHECK(small_agrees<TestType, 64, 1, 64, 64, 1, 1, 1>());
}

TEST_CASE("matmul_is_small draws the line at registers", "[matmul]") {
  STATIC_REQUIRE(backend::matmul_is_small(16, 16, 16, true));
  STATIC_REQUIRE(backend::matmul_is_small(8, 8, 64, false));
  STATIC_REQUIRE(backend::matmul_is_small(1, 160, 40, true));
  STATIC_REQUIRE(backend::matmul_is_small(160, 1, 40, true));
  STATIC_REQUIRE(backend::matmul_is_small(1, 1, 64, true));
  STATIC_REQUIRE_FALSE(backend::matmul_is_small(1, 96, 32, false));
  STATIC_REQUIRE_FALSE(backend::matmul_is_small(17, 16, 16, true));
  STATIC_REQUIRE_FALSE(backend::matmul_is_small(32, 128, 10, true));
}
