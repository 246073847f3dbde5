// SPDX-License-Identifier: BSL-1.0
// The rounds of the exchange for every small number of ranks, and the collectives on the ranks of the job.
#include "world.hpp"

#include "../catch.hpp"

#include <csignal>
#include <limits>
#include <memory>
#include <set>
#include <vector>

#include "../difference.hpp"

namespace detail = tn::mpi::detail;

// Law: a rank sends every block but its own once in the reduce-scatter, and the ranks together send (p - 1) times the array in each half.
TEST_CASE("each rank sends every block but its own once, and all blocks arrive everywhere") {
  for (int p = 1; p <= 33; ++p) {
    const int rounds = detail::round_count(p);
    CHECK((1 << rounds) >= p);
    CHECK((rounds == 0 || (1 << (rounds - 1)) < p));
    // terms[r][b]: whose block b is in the sum on rank r
    std::vector<std::vector<std::multiset<int>>> terms(static_cast<std::size_t>(p), std::vector<std::multiset<int>>(static_cast<std::size_t>(p)));
    for (int r = 0; r < p; ++r)
      for (auto& block : terms[static_cast<std::size_t>(r)]) block = {r};
    const auto at = [&](int r, int block) -> std::multiset<int>& { return terms[static_cast<std::size_t>(r % p)][static_cast<std::size_t>(block % p)]; };
    int sent = 0;
    for (int i = 0; i < rounds; ++i) {
      const detail::round now = detail::round_at(p, i);
      const auto before = terms;
      for (int r = 0; r < p; ++r)
        for (int b = 0; b < now.blocks; ++b) {
          const int block = r + now.skip + b;
          const auto& moved = before[static_cast<std::size_t>(r)][static_cast<std::size_t>(block % p)];
          at(r + now.skip, block).insert(moved.begin(), moved.end());
        }
      sent += now.blocks;
    }
    CHECK(sent == p - 1);
    std::multiset<int> all;
    for (int r = 0; r < p; ++r) all.insert(r);
    for (int r = 0; r < p; ++r) CHECK(at(r, r) == all);
    std::vector<std::set<int>> known(static_cast<std::size_t>(p));
    for (int r = 0; r < p; ++r) known[static_cast<std::size_t>(r)] = {r};
    for (int i = rounds - 1; i >= 0; --i) {
      const detail::round now = detail::round_at(p, i);
      const auto before = known;
      for (int r = 0; r < p; ++r)
        for (int b = 0; b < now.blocks; ++b) {
          const int block = (r + now.skip + b) % p;
          REQUIRE(before[static_cast<std::size_t>((r + now.skip) % p)].count(block) == 1);
          known[static_cast<std::size_t>(r)].insert(block);
        }
    }
    for (const auto& k : known) CHECK(static_cast<int>(k.size()) == p);
  }
}

TEST_CASE("blocks cover an array, and the ranks together send 2 (p - 1) times its elements") {
  for (int p = 1; p <= 9; ++p)
    for (const std::int64_t n : {0, 1, 15, 16, 17, 100, 1000})
      for (const std::int64_t tail : {0, 3}) {
        const detail::partition cut{n, tail, 16, p};
        std::int64_t sent = 0;
        CHECK(cut.begin(0) == 0);
        CHECK(cut.begin(p) == n + tail);
        for (int r = 0; r < p; ++r) {
          CHECK(cut.size(r) >= 0);
          CHECK((cut.begin(r) % 16 == 0 || cut.begin(r) == n));
          sent += cut.sent_to_reduce(r) + cut.sent_to_gather(r);
        }
        CHECK(sent == 2 * (p - 1) * (n + tail));
      }
}

TEST_CASE("reductions of each element type, of tensors and of models") {
  auto& g = world();
  const int p = g.size();
  const auto rank = static_cast<std::int32_t>(g.rank());

  const tn::tensor<std::int32_t, tn::shape<3>> x{rank, 7 - rank, std::numeric_limits<std::int32_t>::max()};
  const auto total = tn::mpi::all_reduce(x, g);
  CHECK(total(0) == p * (p - 1) / 2);
  CHECK(total(1) == 7 * p - p * (p - 1) / 2);
  if (p == 2) CHECK(total(2) == -2);  // as with unsigned numbers
  CHECK(x(0) == rank);
  CHECK(tn::mpi::all_reduce(x, g, tn::mpi::max)(0) == p - 1);
  CHECK(tn::mpi::all_reduce(x, g, tn::mpi::min)(1) == 7 - (p - 1));

  tn::tensor<double, tn::shape<2, 50>> y = tn::full<double>(tn::shape<2, 50>{}, 0.5 + rank);
  tn::mpi::all_reduce_(y, g, tn::mpi::mean);
  CHECK(y(1, 49) == 0.5 + (p - 1) / 2.0);

  const tn::tensor<bool, tn::shape<2>> truth{rank == 0, true};
  CHECK(tn::mpi::all_reduce(truth, g)(0));
  CHECK(tn::mpi::all_reduce(truth, g, tn::mpi::min)(0) == (p == 1));
  CHECK(tn::mpi::all_reduce(truth, g, tn::mpi::min)(1));

  const auto halves = tn::full<tn::bfloat16>(tn::shape<33>{}, 1.5 + rank);
  CHECK(tn::mpi::all_reduce(halves, g)(32) == tn::bfloat16(1.5 * p + p * (p - 1) / 2));
  CHECK(tn::mpi::all_reduce(halves, g, tn::mpi::max)(0) == 0.5f + static_cast<float>(p));

  const float nan = std::numeric_limits<float>::quiet_NaN();
  const tn::tensor<float, tn::shape<2>> strange{rank == p - 1 ? nan : 1.0f, static_cast<float>(rank)};
  CHECK(tn::mpi::all_reduce(strange, g, tn::mpi::max)(0) != tn::mpi::all_reduce(strange, g, tn::mpi::max)(0));
  CHECK(tn::mpi::all_reduce(strange, g, tn::mpi::min)(1) == 0);

  auto mixed = std::tuple{tn::full<float>(tn::shape<5>{}, static_cast<float>(rank)), tn::tensor<std::int64_t, tn::shape<>>(rank), tn::ones<float>(tn::shape<0>{}), tn::ones<float>(tn::shape<3>{})};
  tn::mpi::all_reduce_(mixed, g);
  CHECK(std::get<0>(mixed)(4) == static_cast<float>(p * (p - 1) / 2));
  CHECK(std::get<1>(mixed).item() == p * (p - 1) / 2);
  CHECK(std::get<3>(mixed)(2) == static_cast<float>(p));

  auto model = new_model();
  const auto sum = tn::mpi::all_reduce(model, g);
  CHECK(sum.w2(29, 6) == Approx(model.w2(29, 6) * static_cast<float>(p)));
}

// Law: reductions give the same bits on all ranks, and from run to run for a fixed number of ranks.
// Law: all ranks get the same bits, which depend on the arrays and the number of ranks only.
// Law: the order of additions depends on p and the block alone, and each block is added up on one rank.
TEST_CASE("sums have the same bits on all ranks, and again") {
  auto& g = world();
  tn::engine random(static_cast<std::uint64_t>(100 + g.rank()));
  const auto x = tn::normal<float>(tn::shape<1237>{}, random);
  const auto first = tn::mpi::all_reduce(x, g), again = tn::mpi::all_reduce(x, g);
  CHECK(first_difference(first.data(), again.data(), first.size()));
  const auto all = tn::mpi::all_gather(first, g);
  for (int r = 0; r < g.size(); ++r) CHECK(first_difference(all.data() + r * 1237, first.data(), 1237));
}

TEST_CASE("broadcast, gather and scatter") {
  auto& g = world();
  const int p = g.size();
  auto model = new_model();
  const float first = model.w1(0, 0);
  tn::no_grad([&](auto v) { v.mul_(static_cast<float>(g.rank() + 1)); }, model.w1);
  const auto stacked = tn::mpi::all_gather(model, g);
  CHECK(stacked.w1.extents() == tn::extents{3, {p, 20, 30}});
  for (int r = 0; r < p; ++r) CHECK(stacked.w1(r, 0, 0) == first * static_cast<float>(r + 1));
  tn::mpi::broadcast_(model, g, p - 1);
  CHECK(model.w1(0, 0) == first * static_cast<float>(p));
  CHECK_THROWS_AS(tn::mpi::broadcast_(model, g, p), tn::index_error);

  const auto rows = tn::full<double>(tn::shape<8, 3>{}, 1.0 + g.rank());
  if (8 % p == 0) {
    const auto own = tn::mpi::reduce_scatter(rows, g);
    CHECK(own.extents() == tn::extents{2, {8 / p, 3}});
    CHECK(own(8 / p - 1, 2) == p * (p + 1) / 2.0);
    CHECK(tn::mpi::reduce_scatter(rows, g, tn::mpi::mean)(0, 0) == (p + 1) / 2.0);
  }
  if (p > 1 && p != 7) CHECK_THROWS_AS(tn::mpi::reduce_scatter(tn::ones<float>(tn::shape<7>{}), g), tn::shape_error);
}

TEST_CASE("a reduction sends 2 ceil(log2 p) messages, and on average 2 (p - 1) / p of its bytes") {
  auto& g = world();
  const int p = g.size();
  const auto x = tn::ones<float>(tn::shape<3072>{});
  const std::int64_t messages = g.messages(), bytes = g.bytes_sent();
  static_cast<void>(tn::mpi::all_reduce(x, g));
  CHECK(g.messages() - messages == 2 * detail::round_count(p));
  CHECK(g.bytes_sent() - bytes == 2 * (p - 1) * 3072 * 4 / p);  // exactly, since p divides 3072 / 16
}

// Law: if one rank calls something else, has other extents, has failed or has left the group, then the call throws on every rank, and no rank has
// written anything.
// Law: a call throws on all ranks, before anything is written, where shapes, element types or operations differ, or where a rank has failed.
TEST_CASE("ranks that differ get an error, and go on") {
  auto& g = world();
  if (g.size() == 1) return;
  const bool is_last = g.rank() == g.size() - 1;
  const auto message_of = [](auto call) -> std::string {
    try {
      call();
    } catch (const tn::error& e) {
      return e.what();
    }
    return "no error";
  };
  tn::tensor<float, tn::shape<tn::dyn, 2>> x(is_last ? 4 : 3);
  x.fill_(2.0f);
  const std::string last = "rank " + std::to_string(g.size() - 1);
  CHECK(message_of([&] { tn::mpi::all_reduce_(x, g); }) ==
        "tenure: all_reduce: the ranks differ: rank 0: all_reduce(float32 3x2); " + last + ": all_reduce(float32 4x2)");
  CHECK(x(2, 1) == 2);
  auto one = tn::ones<float>(tn::shape<2>{});
  CHECK(message_of([&] { is_last ? tn::mpi::broadcast_(one, g) : tn::mpi::all_reduce_(one, g); }).find("rank 0: all_reduce(float32 2); " + last + ": broadcast(float32 2)") !=
        std::string::npos);
  CHECK(message_of([&] { tn::mpi::broadcast_(one, g, is_last ? 1 : 0); }).find("rank 0: broadcast(float32 2); " + last + ": broadcast(float32 2, root 1)") !=
        std::string::npos);
  CHECK(message_of([&] { is_last ? tn::mpi::all_reduce_(one, g, tn::mpi::max) : tn::mpi::all_reduce_(one, g); }).find("all_reduce(float32 2, max)") !=
        std::string::npos);
  // What is wrong with the arguments of one rank: its own error there, and a report of it on the others.
  auto moved = tn::ones<float>(tn::shape<2>{});
  auto taken = std::move(moved);
  const std::string empty = message_of([&] { tn::mpi::all_reduce_(is_last ? moved : taken, g); });
  CHECK(empty == (is_last ? "tenure: all_reduce: the tensor is empty: it was moved from, or made without extents"
                          : "tenure: all_reduce: " + last + " failed: tenure: all_reduce: the tensor is empty: it was moved from, or made without extents"));
  CHECK(message_of([&] { static_cast<void>(tn::mpi::all_reduce(is_last ? moved : taken, g)); }) == empty);
  CHECK(one(0) == 1);
  tn::mpi::all_reduce_(one, g);
  CHECK(one(0) == static_cast<float>(g.size()));
}

// Law: if a rank leaves a group while others wait for it, then their call throws, at the latest when that rank calls MPI again or finalizes it.
TEST_CASE("a rank leaves two groups by an exception, while the others wait for the one that it leaves last") {
  auto& g = world();
  if (g.size() == 1) return;
  auto x = tn::ones<float>(tn::shape<2>{});
  std::string said = "no error";
  try {
    tn::mpi::group first(g.communicator()), second(g.communicator());
    if (g.rank() == 1) throw tn::error("this rank has no data");
    tn::mpi::all_reduce_(x, first);
  } catch (const tn::error& e) {
    said = e.what();
  }
  CHECK(said == (g.rank() == 1 ? "this rank has no data" : "tenure: all_reduce: rank 1 has left the group"));
  CHECK(x(0) == 1);
  tn::mpi::all_reduce_(x, g);  // a group that no rank has left works on
  CHECK(x(0) == static_cast<float>(g.size()));
}

// Law: a rank leaves a group without waiting for another rank, so it may leave several, in any order.
TEST_CASE("ranks leave groups in different orders, and a program makes many") {
  auto& g = world();
  for (int i = 0; i < 50; ++i) {
    auto first = std::make_unique<tn::mpi::group>(g.communicator()), second = std::make_unique<tn::mpi::group>(g.communicator());
    if (g.rank() % 2 == 0) first.reset();
    else second.reset();
    auto x = tn::ones<float>(tn::shape<2>{});
    tn::mpi::all_reduce_(x, g);
    CHECK(x(1) == static_cast<float>(g.size()));
  }
}

TEST_CASE("a rank ends the program while the others wait", "[.leaves]") {
  if (world().rank() == 1) throw tn::error("this rank has no data");
  auto x = tn::ones<float>(tn::shape<2>{});
  tn::mpi::all_reduce_(x, world());
}

TEST_CASE("a rank dies while the others wait", "[.dies]") {
  auto x = tn::ones<float>(tn::shape<2>{});
  tn::mpi::all_reduce_(x, world());
  if (world().rank() == 1) std::raise(SIGKILL);
  tn::mpi::all_reduce_(x, world());
}
