// SPDX-License-Identifier: BSL-1.0
// Blocks of device memory that many threads use and drop on streams of their own, on the fake runtime, which ends the process where work meets
// memory that is freed. First with more threads than lanes, then with threads that end and hand their lanes on. Under ThreadSanitizer.
#include <atomic>
#include <chrono>
#include <cstdio>
#include <functional>
#include <memory>
#include <mutex>
#include <random>
#include <thread>
#include <vector>

#include "../fake_runtime.hpp"

using namespace tenure;

namespace {

struct shelf {
  std::mutex busy;
  detail::storage_handle block;
};
shelf shelves[16];
std::atomic<int> given{0};

void use(const detail::storage_handle& block, int value) {
  cuda_detail::check(cudaMemsetAsync(block.data(), value, 64, cuda_detail::current_stream()), "cudaMemsetAsync");
}

void iteration(std::mt19937& random) {
  shelf& place = shelves[random() % 16];
  if (random() % 2 == 0) {
    detail::storage_handle made = cuda_detail::allocate(64);
    use(made, 1);
    cuda_synchronize();  // so that others may use it
    ++given;
    const std::lock_guard lock(place.busy);
    std::swap(place.block, made);
  } else {
    const detail::storage_handle taken = [&] {
      const std::lock_guard lock(place.busy);
      return place.block;
    }();
    if (taken) use(taken, 2);  // given, perhaps not run when all references are gone
  }
}

void work(unsigned seed, int trip_count, std::atomic<int>& missing) {
  std::mt19937 random(seed);
  std::unique_ptr<cuda_stream> outer;
  if (random() % 4 != 0) outer = std::make_unique<cuda_stream>();
  else static_cast<void>(cuda_detail::allocate(64));
  for (--missing; missing > 0;) std::this_thread::sleep_for(std::chrono::milliseconds(1));  // all have their lanes
  const bool nests = random() % 2 == 0;
  for (int i = 0; i < trip_count; ++i) {
    if (!nests || random() % 3 != 0) {
      iteration(random);
    } else {
      const cuda_stream inner;
      iteration(random);
      iteration(random);
    }
  }
}

void together(int threads, int trip_count, unsigned seed) {
  std::vector<std::thread> all;
  std::atomic<int> missing{threads};
  for (int i = 0; i < threads; ++i) all.emplace_back(work, seed + static_cast<unsigned>(i), trip_count, std::ref(missing));
  for (std::thread& t : all) t.join();
}

}  // namespace

int main() {
  for (unsigned seed = 0; seed < 3; ++seed) {
    fake_cuda::eager(seed);  // as late as may be, then in random orders
    together(100, 6, 1000 * seed);
    for (unsigned i = 0; i < 10; ++i) together(6, 12, 1000 * seed + 100 * i + 500);
  }
  for (shelf& s : shelves) s.block = {};
  fake_cuda::finish();
  const int waits = fake_cuda::calls["cudaStreamSynchronize"] + fake_cuda::calls["cudaDeviceSynchronize"] - given, live = fake_cuda::live();
  std::printf("%d blocks given to others, %d waits besides, %d blocks not freed\n", given.load(), waits, live);
  return waits == 0 && live == 0 && given > 200 ? 0 : 1;
}
