// SPDX-License-Identifier: BSL-1.0
// mpirun -n 2 bench_mpi [samples]: a training step of the perceptron 784-128-10 on one process and on all ranks, with the same samples in
// sum; what a group of one rank costs; the time of messages and of reductions, beside MPI_Allreduce. Rows of a ratio alternate, and ratios
// are medians.
#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <thread>
#include <vector>

#include <workloads.hpp>

#include <tenure/mpi.hpp>

namespace {

namespace tn = tenure;
using clock_type = std::chrono::steady_clock;

template <class F>
double seconds(F run) {
  const auto since = clock_type::now();
  run();
  return std::chrono::duration<double>(clock_type::now() - since).count();
}
/// All ranks wait. Unlike in MPI_Barrier they leave the processor to the one that is still busy.
void meet() {
  MPI_Request r;
  MPI_Ibarrier(MPI_COMM_WORLD, &r);
  for (int done = 0; !done;) {
    MPI_Test(&r, &done, MPI_STATUS_IGNORE);
    if (!done) std::this_thread::sleep_for(std::chrono::microseconds(200));
  }
}

struct work {
  workloads::mlp<tn::values> model;
  tn::tensor<float, tn::shape<tn::dyn, 784>> x;
  tn::tensor<std::int32_t, tn::shape<tn::dyn>> y;

  explicit work(std::int64_t rows) : model([] {
    tn::engine random(1);
    return tn::init<workloads::mlp>(random);
  }()), x(rows), y(rows) {
    float value = 0;
    for (float& v : tn::as_span(x)) v = value = std::fmod(value + 0.37f, 1.0f);
    std::int32_t label = 0;
    for (std::int32_t& v : tn::as_span(y)) v = label = (label + 7) % 10;
  }
};

/// Eight layers of 512 x 512, whose gradients become ready one after the other.
template <class Kind>
struct tower {
  using layers = std::array<tn::param<Kind, float, tn::shape<512, 512>>, 8>;
  BOOST_HANA_DEFINE_STRUCT(tower, (layers, w));

  constexpr auto operator()(const auto& x) const {
    auto h = tn::eval(tanh(matmul(x, w[0])));
    for (std::size_t i = 1; i < 8; ++i) h = tanh(matmul(h, w[i]));
    return h;
  }
};

/// The times of two rows that alternate: the least of many, each the mean of four iterations. Ranks that do not run a row sleep.
struct comparison {
  double first = 1e9, second = 1e9;
  double ratio() const { return second / first; }
};
template <class First, class Second>
comparison compare(int passes, First first, Second second) {
  comparison c;
  const auto least = [](double& known, auto row) {
    for (int t = 0; t < 8; ++t) known = std::min(known, seconds([&] { row(), row(), row(), row(); }) / 4);
  };
  for (int i = 0; i < passes; ++i) {
    meet();
    least(c.first, first);
    meet();
    least(c.second, second);
  }
  return c;
}

/// Half of the time of a message there and one back.
double message_time(int rank, std::size_t bytes) {
  std::vector<char> data(bytes);
  double least = 1e9;
  for (int i = 0; i < 400; ++i)
    least = std::min(least, seconds([&] {
      for (int side = 0; side < 2; ++side) {
        if (rank == side) MPI_Send(data.data(), static_cast<int>(bytes), MPI_BYTE, 1 - side, 0, MPI_COMM_WORLD);
        else if (rank == 1 - side) MPI_Recv(data.data(), static_cast<int>(bytes), MPI_BYTE, side, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      }
    }));
  return least / 2;
}

}  // namespace

int main(int argc, char** argv) try {
  tn::mpi::group world;
  tn::mpi::group alone(MPI_COMM_SELF);
  const bool is_first = world.rank() == 0;
  const int p = world.size();
  const std::int64_t samples = argc > 1 ? std::atoll(argv[1]) : 256 * 8;
  const tn::flush_denormals scope;
  const tn::optim::sgd rule{.learning_rate = workloads::mlp_rate, .momentum = workloads::mlp_momentum};
  const auto print = [&](auto... values) {
    if (is_first) std::printf(values...);
  };

  {
    work one(256), other(256);
    auto plain = tn::train_step(workloads::mlp_loss, rule);
    auto grouped = tn::train_step(workloads::mlp_loss, rule, alone);
    auto state = rule.init(one.model), state_of_group = rule.init(other.model);
    const auto by_one = [&] { plain(one.model, state, one.x, one.y); };
    const auto r = compare(20, by_one, [&] { grouped(other.model, state_of_group, other.x, other.y); });
    print("a group of one rank, 256 samples: %.0f us, without a group %.0f us, ratio %.3f\n", 1e6 * r.second, 1e6 * r.first, r.ratio());
  }
  const auto step_of_all = [&](auto init, const char* name) {
    work whole(samples), part(samples / p);
    auto plain = tn::train_step(workloads::mlp_loss, rule);
    auto grouped = tn::train_step(workloads::mlp_loss, rule, world);
    auto state = rule.init(whole.model);
    auto state_of_group = init(grouped, part.model);
    using plan = decltype(grouped.plan(part.model, state_of_group, part.x, part.y));
    const auto by_one = [&] {
      if (is_first) plain(whole.model, state, whole.x, whole.y);
    };
    const auto r = compare(20, by_one, [&] { grouped(part.model, state_of_group, part.x, part.y); });
    const auto whole_number = [](std::int64_t n) { return static_cast<long long>(n); };
    print("%s, %lld samples on %d ranks: %.0f us, on one process %.0f us, ratio %.3f\n", name, whole_number(samples), p, 1e6 * r.second,
          1e6 * r.first, r.ratio());
    print("  arena %lld bytes; a rank sends %d messages, %lld bytes, where 2 (p - 1) / p of the arena is %lld\n",
          whole_number(plan::arena_bytes()), plan::messages(p), whole_number(plan::bytes_sent(p)),
          whole_number(2 * (p - 1) * plan::arena_bytes() / p));
  };
  step_of_all([](const auto& step, const auto& model) { return step.rule.init(model); }, "whole states");
  step_of_all([](const auto& step, const auto& model) { return step.init_sharded(model); }, "sharded states");

  {
    tn::engine random(2);
    auto one = tn::init<tower>(random), other = tn::deepcopy(one);
    const auto in = tn::normal<float>(tn::shape<256, 512>{}, random);
    constexpr auto size = [](auto model, auto at) { return mean(square(model(at))); };
    auto at_end = tn::train_step(size, rule, world, tn::mpi::buckets_of<1 << 30>{});
    auto in_buckets = tn::train_step(size, rule, world);
    auto state = rule.init(one), state_in_buckets = rule.init(other);
    const auto r = compare(20, [&] { at_end(one, state, in); }, [&] { in_buckets(other, state_in_buckets, in); });
    using plan = decltype(in_buckets.plan(other, state_in_buckets, in));
    print("eight layers of 512, 256 samples a rank, in %d buckets: %.0f us, in one bucket %.0f us, ratio %.3f\n", plan::buckets(),
          1e6 * r.second, 1e6 * r.first, r.ratio());
  }

  auto x = tn::ones<float>(tn::shape<101770>{});
  std::vector<float> y(101770, 1.0f);
  const auto by_mpi = [&] { MPI_Allreduce(MPI_IN_PLACE, y.data(), static_cast<int>(y.size()), MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD); };
  const auto r = compare(100, by_mpi, [&] { tn::mpi::all_reduce_(x, world); });
  print("all_reduce_ of 407,080 bytes: %.0f us, MPI_Allreduce %.0f us, ratio %.3f\n", 1e6 * r.second, 1e6 * r.first, r.ratio());
  if (p > 1) {
    const double least = message_time(world.rank(), 24), large = message_time(world.rank(), 1 << 22);
    print("a message of 24 bytes: %.2f us; of 4 MiB: %.0f us, %.1f GB/s\n", 1e6 * least, 1e6 * large, (1 << 22) / large * 1e-9);
  }
} catch (const std::exception& e) {
  std::fprintf(stderr, "bench_mpi: %s\n", e.what());
  return 1;
}
