// SPDX-License-Identifier: BSL-1.0
// tn::nccl::group on a CUDA runtime and an NCCL of host code: which calls are made, in which order, and what becomes of their errors.
#include "../cuda/fake_device.hpp"

#include "fake_nccl.hpp"

#include <tenure/nccl.hpp>

#include "../mpi/world.hpp"

#include "../catch.hpp"

#include <string>
#include <vector>

#include "../difference.hpp"

namespace {

/// One group of both kinds for the whole program: MPI cannot be initialized twice.
tn::nccl::group& gpus() {
  world();
  static tn::nccl::group all;
  return all;
}

template <class X>
difference same_elements(const X& a, const X& b) { return first_difference(a.data(), b.data(), a.size()); }
template <class X>
bool same_model(const X& a, const X& b) {
  bool same = true;
  std::vector<const float*> from;
  tn::for_each_leaf(a, [&](const auto& leaf) { from.push_back(leaf.data()); });
  std::size_t i = 0;
  tn::for_each_leaf(b, [&](const auto& leaf) { same = same && !std::memcmp(from[i++], leaf.data(), static_cast<std::size_t>(leaf.size()) * 4); });
  return same;
}

/// What was called since.
struct calls_since {
  std::size_t first = fake_nccl::collectives.size();
  int waits = fake_cuda::calls["cudaStreamSynchronize"];

  std::vector<fake_nccl::collective> all() const { return {fake_nccl::collectives.begin() + static_cast<std::ptrdiff_t>(first), fake_nccl::collectives.end()}; }
  int waited() const { return fake_cuda::calls["cudaStreamSynchronize"] - waits; }
};

template <class F>
std::string message_of(F f) {
  try {
    f();
  } catch (const tn::error& e) {
    return e.what();
  }
  return "no error";
}

/// Whole numbers, which are added up without rounding.
template <class T>
auto numbers_of_rank(int rank) {
  tn::tensor<T, tn::shape<12, 3>> x;
  for (std::int64_t i = 0; i < x.size(); ++i) tn::as_span(x)[static_cast<std::size_t>(i)] = static_cast<T>((i * 7 + rank * 5) % 11 > 4 ? i + rank : -i);
  return x;
}

/// An operation on the GPUs is that of the host, and one call of NCCL.
template <class T, class Operation>
void reduces(Operation operation, ncclDataType_t type, ncclRedOp_t op) {
  auto& g = gpus();
  auto x = numbers_of_rank<T>(g.rank());
  auto there = x.to(tn::cuda);
  const calls_since before;
  tn::mpi::all_reduce_(there, g, operation);
  const auto reduced = tn::mpi::all_reduce(there, g, operation);
  const auto rows = tn::mpi::reduce_scatter(x.to(tn::cuda), g, operation);
  const auto all = before.all();
  REQUIRE(all.size() == 3);
  for (const auto& call : all) {
    CHECK(call.type == type);
    CHECK(call.option == op);
    CHECK(call.stream == tn::cuda_detail::current_stream());
  }
  CHECK(all[0].name == "ncclAllReduce");
  CHECK(all[0].count == 36);
  CHECK(all[2].name == "ncclReduceScatter");
  CHECK(all[2].count == static_cast<std::size_t>(36 / g.size()));
  CHECK(before.waited() == 0);

  const auto rows_here = tn::mpi::reduce_scatter(x, world(), operation);
  tn::mpi::all_reduce_(x, world(), operation);
  CHECK(same_elements(there.to(tn::cpu), x));
  CHECK(same_elements(rows.to(tn::cpu), rows_here));
  tn::mpi::all_reduce_(x, world(), operation);
  CHECK(same_elements(reduced.to(tn::cpu), x));
}

}  // namespace

TEST_CASE("each operation and element type is that of NCCL") {
  reduces<float>(tn::mpi::sum, ncclFloat32, ncclSum);
  reduces<float>(tn::mpi::max, ncclFloat32, ncclMax);
  reduces<double>(tn::mpi::mean, ncclFloat64, ncclAvg);
  reduces<double>(tn::mpi::min, ncclFloat64, ncclMin);
  reduces<std::int32_t>(tn::mpi::sum, ncclInt32, ncclSum);
  reduces<std::int64_t>(tn::mpi::mean, ncclInt64, ncclAvg);
  reduces<bool>(tn::mpi::sum, ncclUint8, ncclMax);
  reduces<bool>(tn::mpi::mean, ncclUint8, ncclMax);
  reduces<bool>(tn::mpi::max, ncclUint8, ncclMax);
  reduces<bool>(tn::mpi::min, ncclUint8, ncclMin);
}

TEST_CASE("the arrays of a model travel as one operation") {
  auto& g = gpus();
  tn::engine random(static_cast<unsigned>(5 + g.rank()));
  auto here = tn::init<perceptron>(random);
  auto there = to(here, tn::cuda);
  const calls_since before;
  tn::mpi::broadcast_(there, g, g.size() - 1);
  const auto stacked = tn::mpi::all_gather(there, g);
  const auto all = before.all();
  REQUIRE(all.size() == 8);
  for (std::size_t i = 0; i < 8; ++i) {
    CHECK(all[i].name == (i < 4 ? "ncclBroadcast" : "ncclAllGather"));
    CHECK(all[i].count == std::vector<std::size_t>{600, 30, 210, 7}[i % 4]);
    CHECK(all[i].group == all[0].group + int{i >= 4});
    if (i < 4) CHECK(all[i].option == g.size() - 1);
  }
  CHECK(before.waited() == 0);
  tn::mpi::broadcast_(here, world(), g.size() - 1);
  CHECK(same_model(to(there, tn::cpu), here));
  const auto stacked_here = tn::mpi::all_gather(here, world());
  CHECK(same_elements(stacked.w1.to(tn::cpu), stacked_here.w1));
  CHECK(same_elements(stacked.b2.to(tn::cpu), stacked_here.b2));
}

TEST_CASE("a collective takes its iteration in the stream of the thread") {
  auto& g = gpus();
  auto x = tn::zeros<float>(tn::shape<5>{}).to(tn::cuda);
  const cudaStream_t outer = tn::cuda_detail::current_stream();
  {
    const tn::cuda_stream inner;
    x.fill_(static_cast<float>(g.rank() + 1));  // runs when somebody waits
    const calls_since before;
    tn::mpi::all_reduce_(x, g);
    REQUIRE(before.all().size() == 1);
    CHECK(before.all()[0].stream == inner.handle());
    CHECK(before.all()[0].stream != outer);
  }
  x.add_(0.5f);
  CHECK(x.to(tn::cpu)(4) == static_cast<float>(g.size() * (g.size() + 1) / 2) + 0.5f);
}

// Law: a call throws on all ranks, before anything is written, where they differ or one has failed.
TEST_CASE("ranks that differ, or of which one has failed, do not come to NCCL") {
  auto& g = gpus();
  auto x = tn::zeros<float>(tn::shape<tn::dyn>{}, g.rank() == 0 ? 3 : 4).to(tn::cuda);
  const calls_since before;
  if (g.size() > 1) CHECK(message_of([&] { tn::mpi::all_reduce_(x, g); }).find("the ranks differ: rank 0: all_reduce(float32 3); rank 1:") != std::string::npos);
  auto y = tn::zeros<float>(tn::shape<3>{}).to(tn::cuda);
  if (g.rank() == 0) fake_nccl::earlier = ncclRemoteError;
  const std::string said = message_of([&] { tn::mpi::broadcast_(y, g); });
  fake_nccl::earlier = ncclSuccess;
  const std::string of_rank = "tenure: nccl: an earlier call: remote process exited or there was a network error";
  CHECK(said == (g.rank() == 0 ? of_rank : "tenure: broadcast: rank 0 failed: " + of_rank));
  if (g.rank() == 0) fake_nccl::fails = "ncclCommGetAsyncError";
  CHECK(message_of([&] { tn::mpi::all_gather(y, g); }).find("tenure: nccl: ncclCommGetAsyncError: unhandled cuda error") != std::string::npos);
  CHECK(before.all().empty());
}

TEST_CASE("an error of NCCL is an exception that names the call") {
  gpus();
  tn::nccl::group g(MPI_COMM_SELF);  // of one rank: others would rely on the call, see [.fails]
  auto x = tn::zeros<float>(tn::shape<3>{}).to(tn::cuda);
  const auto message_if_fails = [&](const char* call, auto f) {
    fake_nccl::fails = call;
    const std::string said = message_of(f);
    CHECK(fake_nccl::fails.empty());
    CHECK(said == std::string("tenure: nccl: ") + call + ": unhandled cuda error");
    const calls_since failure;
    CHECK(message_of(f) == "no error");
    for (const auto& call : failure.all()) CHECK(call.group > 0);  // given to the stream
  };
  message_if_fails("ncclAllReduce", [&] { tn::mpi::all_reduce_(x, g); });
  message_if_fails("ncclBroadcast", [&] { tn::mpi::broadcast_(x, g); });
  message_if_fails("ncclAllGather", [&] { tn::mpi::all_gather(x, g); });
  message_if_fails("ncclReduceScatter", [&] { tn::mpi::reduce_scatter(x, g); });
  message_if_fails("ncclGroupStart", [&] { tn::mpi::all_reduce_(x, g); });
  message_if_fails("ncclGroupEnd", [&] { tn::mpi::all_reduce_(x, g); });
  message_if_fails("ncclGroupEnd", [&] { tn::mpi::all_gather(x, g); });
  const int live = fake_nccl::communicators;
  message_if_fails("ncclGetUniqueId", [] { tn::nccl::group other(MPI_COMM_SELF); });
  message_if_fails("ncclCommInitRank", [] { tn::nccl::group other(MPI_COMM_SELF); });
  CHECK(fake_nccl::communicators == live);
}

TEST_CASE("memory that ends before a call throws on all ranks, before anything is given to NCCL") {
  auto& all = gpus();
  tn::nccl::group alone(MPI_COMM_SELF);
  const auto both = std::tuple{tn::ones<float>(tn::shape<240, 3>{}).to(tn::cuda), tn::ones<float>(tn::shape<120>{}).to(tn::cuda)};
  const auto fails_at_each_call = [&](auto call) {
    int failures = 0;
    for (;; ++failures) {
      const int live = (fake_cuda::finish(), fake_cuda::live());
      fake_cuda::fail_at = failures;
      const std::string said = message_of(call);
      fake_cuda::fail_at = -1;
      if (said == "no error") break;
      fake_cuda::finish();  // what NCCL was given runs
      CHECK(fake_cuda::live() == live);
    }
    CHECK(failures > 3);  // two results, and what comes after
  };
  fails_at_each_call([&] { static_cast<void>(tn::mpi::all_gather(both, alone)); });
  fails_at_each_call([&] { static_cast<void>(tn::mpi::reduce_scatter(both, alone)); });
  const auto fails_on_one_rank = [&](auto call) {
    const calls_since before;
    if (all.rank() == 0) fake_cuda::fail_at = 1;  // the second result
    CHECK(message_of(call).find("out of memory") != std::string::npos);
    CHECK(before.all().empty());
    CHECK(message_of(call) == "no error");
    CHECK(before.all().size() == 2);
  };
  fails_on_one_rank([&] { static_cast<void>(tn::mpi::all_gather(both, all)); });
  fails_on_one_rank([&] { static_cast<void>(tn::mpi::reduce_scatter(both, all)); });
}

TEST_CASE("on one rank of several such an error ends the job", "[.fails]") {
  auto x = tn::zeros<float>(tn::shape<3>{}).to(tn::cuda);
  if (gpus().rank() == 1) fake_nccl::fails = "ncclAllReduce";
  tn::mpi::all_reduce_(x, gpus());
  static_cast<void>(x.to(tn::cpu));
}

// Law: if an exception destroys a group, or a rank has left it before, its destructor does not wait for what other ranks call later.
TEST_CASE("a group ends its communicator, and aborts it where it does not wait for others") {
  gpus();
  const int live = fake_nccl::communicators, aborted = fake_nccl::aborted;
  {
    tn::nccl::group other;
    CHECK(fake_nccl::communicators == live + 1);
  }
  CHECK(fake_nccl::communicators == live);
  CHECK(fake_nccl::aborted == aborted);
  try {
    tn::nccl::group other;
    throw 1;
  } catch (int) {
  }
  CHECK(fake_nccl::communicators == live);
  CHECK(fake_nccl::aborted == aborted + 1);
  try {
    throw 1;
  } catch (int) {
    tn::nccl::group other;  // this exception is not that of the scope
  }
  CHECK(fake_nccl::aborted == aborted + 1);
}

TEST_CASE("a group that ends by an exception first lets the streams come to the calls on which the ranks have agreed") {
  const int ranks = gpus().size(), aborted = fake_nccl::aborted;
  auto x = tn::ones<float>(tn::shape<3>{}).to(tn::cuda);
  {
    const tn::cuda_stream inner;
    try {
      tn::nccl::group other;
      tn::mpi::all_reduce_(x, other);
      if (other.rank() == 0) throw 1;
      CHECK(x.to(tn::cpu)(2) == static_cast<float>(ranks));  // waits for the part of rank 0
      tn::mpi::all_reduce_(x, other);
      FAIL("rank 0 has left");
    } catch (int) {
    } catch (const tn::error& e) {
      CHECK(std::string(e.what()).find("rank 0") != std::string::npos);
    }
  }
  CHECK(fake_nccl::aborted == aborted + 1);
  CHECK(x.to(tn::cpu)(0) == static_cast<float>(ranks));
  // An error of NCCL ends the wait.
  try {
    tn::nccl::group other;
    tn::mpi::all_reduce_(x, other);
    tn::mpi::all_reduce_(x, gpus());  // no rank aborts before all have given the first
    fake_nccl::earlier = ncclRemoteError;
    throw 1;
  } catch (int) {
    fake_nccl::earlier = ncclSuccess;
  }
  CHECK(fake_nccl::aborted == aborted + 2);
}

TEST_CASE("a step on the GPUs is that of the host") {
  auto& g = gpus();
  auto here = new_model();
  auto there = to(here, tn::cuda);
  const samples own = samples::of(g);
  const auto x = own.x.to(tn::cuda);
  const auto y = own.y.to(tn::cuda);
  const tn::optim::clipped rule{tn::optim::adam{.learning_rate = 1e-2}, 0.5};
  auto step = tn::train_step(loss, rule, g, tn::mpi::buckets_of<512>{});
  auto step_here = tn::train_step(loss, rule, world(), tn::mpi::buckets_of<512>{});
  auto state = rule.init(there);
  auto state_here = rule.init(here);
  for (int i = 0; i < 6; ++i) {
    const calls_since before;
    const auto mean = step(there, state, x, y);
    const auto all = before.all();
    REQUIRE(all.size() == 4);
    const std::size_t elements[] = {7, 210, 30, 600};  // the last layer first; each with the gap after it, and the loss with the last
    for (std::size_t b = 0; b < 4; ++b) {
      CHECK(all[b].name == "ncclAllReduce");
      CHECK(all[b].count >= elements[b]);
      CHECK(all[b].count <= elements[b] + 16);
      CHECK(all[b].option == ncclAvg);
      CHECK(all[b].group == all[0].group);
    }
    CHECK(before.waited() == 1);  // for the check of the labels
    CHECK(mean.item() == Approx(step_here(here, state_here, own.x, own.y).item()).epsilon(1e-5));
  }
  CHECK(state.steps == 6);
  const auto back = to(there, tn::cpu);
  for (std::int64_t i = 0; i < 20; ++i)
    for (std::int64_t j = 0; j < 30; ++j) CHECK(back.w1(i, j) == Approx(here.w1(i, j)).margin(2e-5));
  auto first = to(there, tn::cpu);
  tn::mpi::broadcast_(first, world());
  CHECK(same_model(first, back));

  using plan = decltype(step.plan(there, state, x, y));
  static_assert(plan::buckets() == 4 && plan::kernels() > 0);
}

TEST_CASE("a step on the GPUs that fails on one rank throws on all and changes nothing") {
  auto& g = gpus();
  const bool is_last = g.rank() == g.size() - 1;
  auto model = to(new_model(), tn::cuda);
  const samples own = samples::of(g);
  samples wrong = samples::of(g);
  if (is_last) tn::as_span(wrong.y)[0] = 7;
  const auto x = own.x.to(tn::cuda);
  const auto y = own.y.to(tn::cuda);
  const auto wrong_y = wrong.y.to(tn::cuda);
  auto step = tn::train_step(loss, tn::optim::sgd{.learning_rate = 0.1}, g);
  auto state = step.rule.init(model);
  step(model, state, x, y);
  const auto before = to(model, tn::cpu);
  const calls_since then;
  const std::string label = message_of([&] { step(model, state, x, wrong_y); });
  CHECK(label.find("index 7 is outside an axis of 7") != std::string::npos);
  if (!is_last) CHECK(label.find("tenure: train_step: rank " + std::to_string(g.size() - 1) + " failed: ") == 0);
  if (g.size() > 1) {
    step.rule.learning_rate = is_last ? 0.2 : 0.1;
    CHECK(message_of([&] { step(model, state, x, y); }).find("the ranks differ: rank 0: step 1 with data float32") != std::string::npos);
    step.rule.learning_rate = 0.1;
  }
  fake_nccl::earlier = ncclRemoteError;
  CHECK(message_of([&] { step(model, state, x, y); }) == "tenure: nccl: an earlier call: remote process exited or there was a network error");
  fake_nccl::earlier = ncclSuccess;
  CHECK(then.all().empty());
  CHECK(same_model(to(model, tn::cpu), before));
  CHECK(state.steps == 1);
  CHECK(message_of([&] { step(model, state, x, y); }) == "no error");
  CHECK(state.steps == 2);
}
