// SPDX-License-Identifier: BSL-1.0
// A device that is the host: what the GPU does, a few blocks at a time, with threads that wait for each other, without a GPU. Small on
// purpose (few blocks, few threads), so that little data has many blocks, teams and steps; and its memory starts as garbage.
#pragma once

#include <algorithm>
#include <cstring>
#include <memory>
#include <new>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include <tenure/backend/cuda/execute.hpp>
#include <tenure/backend/reference/array.hpp>

#include "fibers.hpp"
#if TENURE_CUSOLVER
#include "lapack.hpp"
#endif

namespace host {

using namespace tenure;

struct memory {
  std::unique_ptr<std::byte[]> bytes;
  void* data() const {
    if (bytes == nullptr) throw std::logic_error("the address of no memory");  // an empty handle has none either
    return bytes.get();
  }
};

#if !TENURE_CUSOLVER
class lapack {};
#endif

struct device : lapack {
  kernels::device_limits given{.blocks = 6, .threads = 64, .shared_bytes = 8 << 10};
  std::uint64_t seed = 1;  // of the orders in which blocks, and threads between barriers, run
  int launches = 0;
  int allocations = 0;
  std::int64_t allocated = 0;       // bytes, in all calls together
  bool is_full = false;             // an allocation fails
  bool is_ready_for_blas = false;   // prepare_products() was called
  bool is_ready_to_read = false;    // prepare_reads() was called
  int reads = 0;                    // how often the host waited for a flag

  const kernels::device_limits& limits() const { return given; }

  memory allocate(std::int64_t bytes) {
    if (is_full) throw std::bad_alloc();
    ++allocations;
    allocated += bytes;
    memory m{std::make_unique<std::byte[]>(static_cast<std::size_t>(bytes) + 1)};
    std::memset(m.data(), 0xA5, static_cast<std::size_t>(bytes));
    return m;
  }
  void zero(void* at, std::int64_t bytes) { std::memset(at, 0, static_cast<std::size_t>(bytes)); }

  void copy(void* to, const void* from, std::int64_t bytes) { std::memcpy(to, from, static_cast<std::size_t>(bytes)); }

  template <class Name>
  void launch(Name, const typename kernels::fused<Name>::arguments& args) {
    using kernel = kernels::fused<Name>;
    run(args.shape.blocks(), args.shape.threads, kernel::shared_bytes(args.shape), [&](fiber_block& block) { kernel::run(block, args); });
  }
  template <class Name>
  void launch_fold(Name, const typename kernels::fused<Name>::arguments& args) {
    using kernel = kernels::fused<Name>;
    run(kernel::fold_blocks(args.shape), kernels::max_threads, kernel::fold_bytes, [&](fiber_block& block) { kernel::fold_columns(block, args); });
  }
  template <class F>
  void for_each(std::int64_t n, const F& f) {
    ++launches;
    for (std::int64_t i = n - 1; i >= 0; --i) f(i);  // threads have no order
  }
  void prepare_products() { is_ready_for_blas = true; }
  /// What BLAS says, element by element.
  template <class T>
  void multiply(const cuda_backend::blas_product<T>& p) {
    if (!is_ready_for_blas) throw std::logic_error("a product before its memory was taken");
    ++launches;
    const auto at = [](const auto& x, std::int64_t i, std::int64_t j) { return x.first[x.transposed ? i * x.leading + j : j * x.leading + i]; };
    for (std::int64_t s = 0; s < p.count; ++s)
      for (std::int64_t i = 0; i < p.m; ++i)
        for (std::int64_t j = 0; j < p.n; ++j) {
          auto a = p.a, b = p.b;
          a.first += s * a.step;
          b.first += s * b.step;
          T sum{};
          for (std::int64_t k = 0; k < p.k; ++k) sum += at(a, i, k) * at(b, k, j);
          p.c[s * p.c_step + j * p.m + i] = sum;
        }
  }
  void prepare_reads() { is_ready_to_read = true; }
  void read(void* to, const void* from, std::size_t bytes) {
    if (!is_ready_to_read) throw std::logic_error("a read before its memory was taken");
    ++reads;
    std::memcpy(to, from, bytes);
  }
  kernels::index_fault refused_by(kernels::check_element f, void* scratch) {
    f.refused = static_cast<kernels::index_fault*>(scratch);
    *f.refused = {};
    for_each(f.space.size(), f);
    return *f.refused;
  }

 private:
  template <class Kernel>
  void run(int blocks, int threads, std::int64_t shared_bytes, Kernel kernel) {
    ++launches;
    if (threads > kernels::max_threads || threads % kernels::warp != 0) throw std::logic_error("a launch of " + std::to_string(threads) + " threads a block");
    if (shared_bytes > given.shared_bytes && shared_bytes > kernels::max_threads * 8) throw std::logic_error("a launch with more shared memory than there is");
    // As on a GPU that has place for a few blocks, so that a block may begin when others have ended, or are half way.
    const int resident = std::min(blocks, 3);
    fibers all(threads, resident, seed);
    std::vector<int> order;
    for (int b = 0; b < blocks; ++b) order.insert(order.begin() + fuzz::dice(seed + static_cast<std::uint64_t>(b)).below(b + 1), b);
    std::vector<std::optional<fiber_block::common>> common(static_cast<std::size_t>(resident));
    std::vector<int> index(common.size());
    all.run(
        order,
        [&](int place, int block) {
          common[static_cast<std::size_t>(place)].emplace(all, static_cast<std::size_t>(shared_bytes));
          index[static_cast<std::size_t>(place)] = block;
        },
        [&](int place) { common[static_cast<std::size_t>(place)]->check(); },
        [&](int place, int thread) {
          fiber_block block(*common[static_cast<std::size_t>(place)], index[static_cast<std::size_t>(place)], thread);
          kernel(block);
        });
  }
};

/// So that little data has few and many blocks, teams and steps. The first two keep a block's rows in shared memory, the third never
/// does; in the second rows are a warp's as long as they can be.
inline constexpr kernels::device_limits several_limits[] = {
    {.blocks = 1, .threads = 32, .shared_bytes = 1 << 20},
    {.blocks = 6, .threads = 64, .warp_bytes = 1 << 20, .wide_bytes = 4 << 10, .wide_blocks = 3, .table_rows = 3, .split_rows = 3, .shared_bytes = 1 << 20},
    {.blocks = 37, .threads = 128, .warp_bytes = 0, .wide_bytes = 0, .wide_blocks = 37, .table_rows = 37, .split_rows = 37, .shared_bytes = 0},
    {},
};

/// Arrays of the same types and shapes, with as many bytes behind them as asked for.
inline std::vector<reference::array> garbage_like(const std::vector<reference::array>& like, std::size_t behind = 0) {
  std::vector<reference::array> made;
  for (const reference::array& a : like) {
    made.emplace_back(a.type, a.shape);
    made.back().data.assign(made.back().data.size() + behind, std::byte{0xA5});
  }
  return made;
}

/// What the program makes of row-major arguments, in arrays of the types and shapes of `like`.
template <class Program>
std::vector<reference::array> run(const std::vector<reference::array>& like, const std::vector<const void*>& arguments, const std::vector<std::int64_t>& symbols,
                                  const kernels::device_limits& limits = several_limits[1]) {
  std::vector<reference::array> results = garbage_like(like);
  std::vector<void*> to;
  for (reference::array& r : results) to.push_back(r.data.data());
  device d;
  d.given = limits;
  d.seed = static_cast<std::uint64_t>(limits.blocks);
  cuda_backend::run<Program>(d, arguments.data(), to.data(), symbols.data());
  return results;
}
template <class Program>
std::vector<reference::array> run(const std::vector<reference::array>& like, const std::vector<reference::array>& arguments, const std::vector<std::int64_t>& symbols,
                                  const kernels::device_limits& limits = several_limits[1]) {
  std::vector<const void*> from;
  for (const reference::array& a : arguments) from.push_back(a.data.data());
  return run<Program>(like, from, symbols, limits);
}

}  // namespace host
