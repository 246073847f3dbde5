// SPDX-License-Identifier: BSL-1.0
// fork() in a service: a child of a process with threads may compute, on a pool of its parent too, and end.
#include "../catch.hpp"

#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include <tenure/tenure.hpp>
#include <tenure/interop/save.hpp>
#include <tenure/threads.hpp>

namespace tn = tenure;

namespace {

/// How a child ends that calls f. One that hangs gets a signal.
template <class F>
int status_of_child(F f) {
  const pid_t child = fork();
  if (child == 0) {
    alarm(20);
    _exit(f() ? 0 : 1);
  }
  int status = -1;
  waitpid(child, &status, 0);
  return status;
}

/// Threads that call f until the end of the scope.
template <class F>
struct busy_threads {
  explicit busy_threads(F f) {
    for (int i = 0; i < 3; ++i)
      all.emplace_back([this, f] {
        while (!end) f();
      });
  }
  ~busy_threads() {
    end = true;
    for (std::thread& t : all) t.join();
  }
  std::atomic<bool> end{false};
  std::vector<std::thread> all;
};

}  // namespace

TEST_CASE("a child gets memory, whatever the other threads did at the fork") {
  const busy_threads busy([] {
    void* taken[80];
    for (void*& memory : taken) memory = tn::memory_pool::take(1000);
    for (void* memory : taken) tn::memory_pool::give(memory, 1000);
    for (int i = 0; i < 100; ++i) tn::memory_pool::give(tn::memory_pool::take(100000), 100000);
  });
  for (int i = 0; i < 300; ++i) {
    const int status = status_of_child([] {
      void* taken[80];
      for (void*& memory : taken) memory = tn::memory_pool::take(1000);
      for (void* memory : taken) tn::memory_pool::give(memory, 1000);
      tn::memory_pool::give(tn::memory_pool::take(100000), 100000);
      return true;
    });
    REQUIRE(status == 0);
  }
}

TEST_CASE("a child computes with the bits of its parent on the parent's pool, which it may destroy, and on one of its own") {
  const auto x = tn::linspace<float>(tn::shape<30000>{}, -1.f, 1.f);
  const auto result = [&] { return tn::eval(exp(x) * x + sin(x)); };
  const auto expected = result();
  const auto is_right = [&] {
    const auto y = result();
    return std::memcmp(y.data(), expected.data(), static_cast<std::size_t>(y.size()) * sizeof(float)) == 0;
  };
  std::optional<tn::thread_pool> pool(std::in_place, 4, 0);
  const auto is_right_on = [&](const tn::thread_pool& p) {
    const auto threads = p.scope();
    return is_right();
  };
  const busy_threads busy([&] { is_right_on(*pool); });
  for (int i = 0; i < 30; ++i) {
    const int status = status_of_child([&] {
      bool right = is_right() && is_right_on(*pool);
      pool.reset();
      {
        const tn::thread_pool own(3, 0);
        right = right && is_right_on(own);
        const int grandchild = status_of_child([&] { return is_right_on(own); });
        right = right && grandchild == 0;
      }
      return right;
    });
    REQUIRE(status == 0);
  }
  CHECK(is_right_on(*pool));
}

namespace {

const tn::thread_pool& static_pool() {
  static const tn::thread_pool pool(3, 0);
  return pool;
}

}  // namespace

TEST_CASE("a child calls backward(), saves and ends by exit() with a static pool, while other threads of its parent compute") {
  using vector = tn::shape<3000>;
  tn::variable<float, vector> w = tn::ones<float>(vector{}).requires_grad_();
  const auto path = std::filesystem::temp_directory_path() / ("tenure-fork-" + std::to_string(getpid()) + ".npz");
  static_pool();  // in the child no thread would finish a static variable that a thread of the parent has begun
  const busy_threads busy([] {
    const auto threads = static_pool().scope();
    tn::eval(exp(tn::ones<float>(vector{})));
  });
  for (int i = 0; i < 20; ++i) {
    std::filesystem::remove(path);
    const int status = status_of_child([&] {
      const auto threads = static_pool().scope();
      sum(square(w) * 0.5f).backward();
      const auto g = w.grad().clone();
      tn::save(path, g);
      std::exit(0);  // runs the destructors
      return false;
    });
    REQUIRE(status == 0);
    tn::tensor<float, vector> saved = tn::zeros<float>(vector{});
    tn::load(path, saved);
    REQUIRE(saved(2999) == 1.f);
  }
  std::filesystem::remove(path);
}

TEST_CASE("a number of threads that no machine has is refused") {
  CHECK_THROWS_WITH(tn::thread_pool(70000), "tenure: thread_pool: 70000 threads: at most 4096");
  CHECK_THROWS_WITH(tn::thread_pool(tn::thread_pool::max_threads + 1), "tenure: thread_pool: 4097 threads: at most 4096");
}
