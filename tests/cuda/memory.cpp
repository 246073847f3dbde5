// SPDX-License-Identifier: BSL-1.0
// Tensors on the fake runtime, which runs as late as it may or in random order, and poisons device memory for the host.
#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <thread>
#include <vector>

#include "fake_device.hpp"

#include "../device/memory.hpp"

using namespace device_tests;

namespace {
/// Runs the body with the runtime as late as it may be, then in random orders.
template <class Body>
void in_many_orders(Body body) {
  for (const std::uint64_t seed : {0u, 1u, 2u, 3u, 4u, 5u}) {
    fake_cuda::eager(seed);
    body();
  }
  fake_cuda::eager(0);
  fake_cuda::finish();
}

/// How far two threads have come, so that each waits for the other.
class stages {
 public:
  void reach(int n) { reached_ = n; }
  void wait_for(int n) const {
    while (reached_ < n) std::this_thread::yield();
  }

 private:
  std::atomic<int> reached_{0};
};
}  // namespace

TEST_CASE("elements go there and come back, whatever happens to the host's memory meanwhile") { in_many_orders([] { transfers(cuda); }); }
TEST_CASE("transfers larger than the pinned memory arrive whole") { in_many_orders([] { large_transfers(cuda); }); }

// Law: only a transfer to the host waits for the device.
TEST_CASE("no upload waits for the work of another thread or another stream") {
  fake_cuda::finish();
  std::atomic<int> turn{0}, ran{0}, waited_for{0};
  const auto numbers = full<double>(shape<8>{}, 1);
  const auto steps = [&](int me) {
    const cuda_stream own;
    auto x = numbers.to(cuda);
    for (int i = 0; i < 50; ++i) {
      while (turn % 2 != me) std::this_thread::yield();
      x.copy_(numbers);
      fake_cuda::launch(own.handle(), [&] { ++ran; });  // the step, which the runtime runs when somebody waits for it
      ++turn;
    }
    if (turn == 100) waited_for = ran.load();
  };
  std::thread one([&] { steps(0); }), other([&] { steps(1); });
  one.join();
  other.join();
  CHECK(waited_for == 0);
  fake_cuda::finish();
  CHECK(ran == 100);

  // A thread that uploads on two streams in turn, as where the next batch arrives beside the step.
  ran = 0;
  const cuda_stream steps_of_model;
  auto rates = numbers.to(cuda);
  {
    cudaStream_t beside = nullptr;
    cuda_detail::check(cudaStreamCreateWithFlags(&beside, cudaStreamNonBlocking), "cudaStreamCreate");
    auto batch = numbers.to(cuda);
    for (int i = 0; i < 50; ++i) {
      {
        const cuda_stream here(beside);
        batch.copy_(numbers);
        fake_cuda::launch(beside, [&] { ++ran; });
      }
      rates.copy_(numbers);
    }
    CHECK(ran == 0);
    fake_cuda::finish();
    CHECK(ran == 50);
    cudaStreamDestroy(beside);
  }
  fake_cuda::finish();
}

// Law: what a thread gives to its last stream comes behind all that it gave before, and behind what earlier threads of its lane gave.
TEST_CASE("pinned memory of threads that have ended is used again, behind what they gave") {
  const auto numbers = full<double>(shape<4>{}, 3);
  auto x = full<double>(shape<4>{}, 1).to(cuda);
  std::thread([&] { x.copy_(numbers); }).join();  // given, not yet run
  const int made = fake_cuda::calls["cudaMallocHost"];
  in_many_orders([&] {
    for (int i = 0; i < 5; ++i)
      std::thread([&] {
        const cuda_stream own;
        transfers(cuda);
      }).join();
  });
  CHECK(fake_cuda::calls["cudaMallocHost"] == made);
  CHECK(elements(x) == list(4, 3));
}

// Law: freed memory is reused only after all work that may still use it, so correct programs need no waiting or synchronisation.
// Law: work in the scope starts after all work given to the enclosing scope before, and later work of the enclosing scope starts after all work of
// this scope.
TEST_CASE("memory is used and handed back in the order of streams") {
  const int live = (fake_cuda::finish(), fake_cuda::live());
  in_many_orders([] {
    auto x = full<double>(shape<4>{}, 1).to(cuda);
    {
      const cuda_stream inner;
      x.fill_(2);
      auto y = x.clone();
      {
        const cuda_stream innermost;
        y.fill_(3);
        x.copy_(y);
        const auto gone = std::move(y);
      }
      CHECK(elements(x) == list(4, 3));
      const auto moved = x.clone();
      x = moved.clone();
    }
    CHECK(elements(x) == list(4, 3));
  });
  CHECK(fake_cuda::live() == live);
}

namespace {
auto numbers() { return matrix{{1, 2, 3}, {4, 5, 6}}.to(cuda); }
auto parameters() { return numbers().requires_grad_(); }

/// What one thread makes a second one uses on a stream of its own; the first thread drops it before that work has run.
template <class Make, class Use>
void freed_behind_both(Make make, Use use) {
  const int live = (fake_cuda::finish(), fake_cuda::live());
  const list expected = [&] {
    auto made = make();
    return elements(use(made));
  }();
  in_many_orders([&] {
    auto made = std::make_unique<decltype(make())>(make());
    stages both;
    list found;
    std::thread other([&] {
      const cuda_stream own;
      const auto result = use(*made);  // given, not yet run
      both.reach(1);
      both.wait_for(2);
      found = elements(result);
    });
    both.wait_for(1);
    {
      const cuda_stream own;
      made.reset();
      own.synchronize();
      both.reach(2);
      other.join();
    }
    CHECK(found == expected);
  });
  CHECK((fake_cuda::finish(), fake_cuda::live()) == live);
}

/// A value that was computed from x, and what it was computed from.
template <class X, class Y>
struct with_origin {
  X x;
  Y y;
};
template <class F>
auto computed(F f) {
  auto x = parameters();
  auto y = f(x);
  return with_origin<decltype(x), decltype(y)>{std::move(x), std::move(y)};
}
}  // namespace

TEST_CASE("memory that two threads use on streams of their own is freed behind both, however the second one came by it") {
  const auto gradient = [](auto& made) {
    made.y.backward();
    return made.x.grad().clone();
  };
  SECTION("tensors") {
    freed_behind_both(numbers, [](auto& x) { return x.clone(); });
    freed_behind_both(numbers, [](auto& x) { return x.at(1).transpose().clone(); });
    freed_behind_both(numbers, [](auto& x) { return compile([](auto a) { return exp(a); })(x); });
    freed_behind_both(numbers, [](auto& x) {
      auto y = numbers();
      compile([](auto a) { return a + 1; }).into(x)(y);
      return y;
    });
    freed_behind_both([] {
      auto x = numbers();
      auto alias = x.view();  // so an assignment writes into the memory that x has
      return with_origin<decltype(x), decltype(alias)>{std::move(x), std::move(alias)};
    }, [](auto& made) { return (made.x = numbers(), numbers()); });
    freed_behind_both([] { return numbers().unsafe_data().view(); }, [](auto& x) { return x.clone(); });
  }
  SECTION("expressions") {
    freed_behind_both([] { return exp(numbers()); }, [](auto& e) { return eval(e); });
    freed_behind_both([] { return sum(numbers()); }, [](auto& e) { return eval(e); });
  }
  SECTION("graphs") {
    freed_behind_both([] { return computed([](auto& x) { return eval(sum(x * x)); }); }, gradient);  // operands that were saved
    freed_behind_both([] { return computed([](auto& x) { return eval(exp(sum(x * 0.1))); }); }, gradient);  // a result
    freed_behind_both([] { return computed([](auto& x) { return compile([](auto a) { return exp(sum(a * 0.1)); })(x); }); }, gradient);
    freed_behind_both([] {
      auto made = computed([](auto& x) { return sum(x * x); });
      sum(made.x * 2).backward();
      return made;
    }, gradient);  // to which another one is added
  }
  SECTION("what a recording keeps") {
    freed_behind_both([] {
      auto recorded = std::make_unique<cuda_detail::graph>();
      recorded->record([] {
        const auto memory = cuda_detail::allocate(64);
        cuda_detail::check(cudaMemsetAsync(memory.data(), 0, 64, cuda_detail::current_stream()), "cudaMemsetAsync");
      });
      return recorded;
    }, [](auto& recorded) { return (recorded->launch(), numbers()); });
  }
  SECTION("what the first thread has the address of") {
    freed_behind_both([] {
      auto x = numbers();
      const double* const at = x.data();
      return with_origin<decltype(x), const double*>{std::move(x), at};
    }, [](auto& x) {
      auto y = numbers();
      cuda_detail::check(cudaMemcpyAsync(const_cast<double*>(y.data()), x.y, 6 * sizeof(double), cudaMemcpyDeviceToDevice, cuda_detail::current_stream()), "cudaMemcpyAsync");
      return y;
    });
  }
}

TEST_CASE("a tensor that a thread uses on the default stream is freed behind that by a thread with a stream of its own") {
  const int live = fake_cuda::live();
  in_many_orders([] {
    auto x = std::make_unique<decltype(matrix().to(cuda))>(matrix{{1, 2, 3}, {4, 5, 6}}.to(cuda));
    stages both;
    std::thread other([&] {
      const cuda_stream own;  // behind what was given before
      both.reach(1);
      both.wait_for(2);
      x.reset();
      own.synchronize();
    });
    both.wait_for(1);
    const auto copy = x->clone();  // given, not yet run
    both.reach(2);
    other.join();
    CHECK(elements(copy) == list{1, 2, 3, 4, 5, 6});
  });
  CHECK(fake_cuda::live() == live);
}

TEST_CASE("memory that one thread has used is freed by one call, without a lock, whatever other threads do") {
  const auto free_own = [] {
    const auto before = fake_cuda::calls;
    { const auto used = cuda_detail::allocate(64).data(); static_cast<void>(used); }
    std::vector<std::string> made;
    for (const auto& [name, n] : fake_cuda::calls)
      for (int i = before.count(name) != 0 ? before.at(name) : 0; i < n; ++i) made.push_back(name);
    return made;
  };
  const std::vector<std::string> two{"cudaFreeAsync", "cudaMallocFromPoolAsync"};
  CHECK(free_own() == two);
  stages all;
  std::vector<std::thread> others;
  std::atomic<int> ready{0};
  for (int i = 0; i < 3; ++i)
    others.emplace_back([&] {
      const cuda_stream own;
      static_cast<void>(cuda_detail::allocate(64));
      ++ready;
      all.wait_for(1);
    });
  while (ready < 3) std::this_thread::yield();
  CHECK(free_own() == two);
  std::thread([&] {
    const cuda_stream own;
    CHECK(free_own() == two);
    std::atomic<bool> locked{false}, done{false};
    std::thread blocked([&] {
      std::vector<std::unique_ptr<cuda_detail::lock>> held;
      for (cuda_detail::lane& l : cuda_detail::lanes) held.push_back(std::make_unique<cuda_detail::lock>(l.busy));
      locked = true;
      const auto start = std::chrono::steady_clock::now();
      while (!done && std::chrono::steady_clock::now() - start < std::chrono::seconds(10)) std::this_thread::yield();
      CHECK(done);
    });
    while (!locked) std::this_thread::yield();
    CHECK(free_own() == two);
    done = true;
    blocked.join();
  }).join();
  all.reach(1);
  for (std::thread& t : others) t.join();
  fake_cuda::finish();
}

TEST_CASE("in the steady state nothing is asked of the driver but memory from the pool and work") {
  const auto x = full<double>(shape<4>{}, 1).to(cuda);
  const auto turn = [&] { return elements(compile([](auto a, auto s) { return exp(a * s); })(x, 2)); };
  const auto before = turn();
  const std::vector<const char*> costly{"cudaMallocHost", "cudaMemPoolCreate", "cudaStreamCreate", "cudaEventCreate", "cudaStreamSynchronize", "cudaGraphInstantiate"};
  std::vector<int> counted;
  for (const char* name : costly) counted.push_back(fake_cuda::calls[name]);
  for (int i = 0; i < 10; ++i) CHECK(turn() == before);
  for (std::size_t i = 0; i < costly.size(); ++i) {
    INFO(costly[i]);
    CHECK(fake_cuda::calls[costly[i]] == counted[i]);
  }
}

// Law: a call that throws has changed nothing that is visible.
TEST_CASE("each call that fails is thrown by name, and leaves every tensor as it was") {
  matrix x{{1, 2, 3}, {4, 5, 6}};
  auto there = x.to(cuda);
  const auto attempt = [&](auto call) {
    int failures = 0;
    for (;; ++failures) {
      const int live = (fake_cuda::finish(), fake_cuda::live());
      fake_cuda::fail_at = failures;
      try {
        call();
        break;
      } catch (const cuda_error& e) {
        fake_cuda::fail_at = -1;
        const std::string said = e.what();
        INFO(said);
        CHECK(said.find("tenure: ") == 0);
        CHECK(said.find("(cudaError") != std::string::npos);
        CHECK(elements(there) == list{1, 2, 3, 4, 5, 6});
        CHECK(elements(x) == list{1, 2, 3, 4, 5, 6});
        fake_cuda::finish();
        CHECK(fake_cuda::live() == live);
      }
    }
    fake_cuda::fail_at = -1;
    return failures;
  };
  CHECK(attempt([&] { static_cast<void>(x.to(cuda)); }) == 3);  // memory, copy, event
  CHECK(attempt([&] { static_cast<void>(there.transpose().to(cpu)); }) > 3);
  CHECK(attempt([&] { static_cast<void>(there.to<float>().clone()); }) > 2);
  CHECK(attempt([&] { static_cast<void>(compile([](auto a, auto s) { return a * s; })(there, 2)); }) > 3);
  CHECK(attempt([&] { const cuda_stream s; }) > 3);
  CHECK(attempt([&] { x.copy_(there); }) > 1);
  CHECK(attempt([&] { there.copy_(x); }) > 1);
  CHECK(attempt([&] { compile([](auto a) { return a * 1; }).into(there)(there); }) == 1);
}

TEST_CASE("a release of which a call fails leaves no error for the next launch") {
  auto x = full<double>(shape<4>{}, 1).to(cuda);
  for (int failing = 0;; ++failing) {
    auto gone = std::make_unique<decltype(x.clone())>(x.clone());
    stages both;
    std::thread other([&] {
      const cuda_stream own;
      static_cast<void>(gone->clone());
      both.reach(1);
      both.wait_for(2);
    });
    both.wait_for(1);
    fake_cuda::fail_at = failing;
    gone.reset();
    const bool failed = fake_cuda::fail_at == -1;
    fake_cuda::fail_at = -1;
    CHECK_NOTHROW(x.fill_(2));
    both.reach(2);
    other.join();
    if (failed) continue;
    CHECK(failing >= 5);  // the event, its record and wait for each of two streams; the first time a stream
    break;
  }
  CHECK(elements(x) == list(4, 2));
  fake_cuda::finish();
}

TEST_CASE("an answer is read behind the work of its stream, and each thread reads into pinned memory of its own") {
  auto x = full<double>(shape<4>{}, 1).to(cuda);
  const auto first = [&] {
    double read = 0;
    cuda_detail::answer::of_thread().read(&read, x.data(), sizeof read);
    return read;
  };
  CHECK(first() == 1);
  const int made = fake_cuda::calls["cudaMallocHost"];
  x.fill_(3);  // given, not yet run
  CHECK(first() == 3);
  CHECK(fake_cuda::calls["cudaMallocHost"] == made);
  std::thread([&] { CHECK(first() == 3); }).join();
  CHECK(fake_cuda::calls["cudaMallocHost"] == made + 1);
  const char* const calls[] = {"cudaMemcpyAsync", "cudaStreamSynchronize"};
  for (int failing = 0; failing < 2; ++failing) {
    fake_cuda::fail_at = failing;
    CHECK_THROWS_WITH(first(), Catch::Contains(calls[failing]));
    fake_cuda::fail_at = -1;
    CHECK(first() == 3);
  }
}

TEST_CASE("a transfer whose event fails is out of the pinned memory before others are in it") {
  auto x = full<double>(shape<4>{}, 1).to(cuda);
  const auto y = full<double>(shape<4>{}, 2);
  fake_cuda::finish();
  fake_cuda::fail_at = 1;
  CHECK_THROWS_WITH(x.copy_(y), Catch::Contains("cudaEventRecord"));
  fake_cuda::fail_at = -1;
  large_transfers(cuda);
  CHECK(elements(x) == list(4, 2));
}

TEST_CASE("the error of a kernel arrives with a later call") {
  auto x = full<double>(shape<4>{}, 1).to(cuda);
  fake_cuda::broken = cudaErrorLaunchFailure;
  try {
    static_cast<void>(x.to(cpu));
    CHECK(false);
  } catch (const cuda_error& e) {
    CHECK(e.code == cudaErrorLaunchFailure);
  }
  CHECK_THROWS_AS(x.fill_(2), cuda_error);
  fake_cuda::broken = cudaSuccess;
  CHECK(elements(x) == list(4, 1));
}

TEST_CASE("memory that calls keep is one stream's, or one recording's, which keeps it too") {
  fake_cuda::finish();
  const int live = fake_cuda::live();
  const auto held = [&] { return (fake_cuda::finish(), fake_cuda::live() - live); };
  {
    cuda_detail::stream_memory kept;
    CHECK(kept.of_current_stream(64) == kept.of_current_stream(64));
    CHECK(held() == 1);
    {
      const cuda_stream other;
      static_cast<void>(kept.of_current_stream(64));
      CHECK(held() == 1);
    }
    cuda_detail::graph graph;
    const auto use = [&] {
      void* const memory = kept.of_current_stream(64);
      CHECK(memory == kept.of_current_stream(64));
      cuda_detail::check(cudaMemsetAsync(memory, 0, 64, cuda_detail::current_stream()), "cudaMemsetAsync");
    };
    graph.record(use);
    CHECK(held() == 1);  // handed back by the stream, kept by both
    graph.record(use);
    CHECK(held() == 1);  // that of the second recording
    static_cast<void>(kept.of_current_stream(64));
    CHECK(held() == 2);
    graph.launch();
    fake_cuda::finish();
  }
  CHECK(held() == 0);
}
