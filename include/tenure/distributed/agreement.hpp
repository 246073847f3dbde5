// SPDX-License-Identifier: BSL-1.0
// Before ranks exchange arrays, they agree on what they are about to do. Each rank sends a signature of its call: the name, the element types and
// the extents.
// Law: if one rank calls something else, has other extents, has failed or has left the group, then the call throws on every rank, and no
// rank has written anything.
// Law: a rank leaves a group without waiting for another rank, so it may leave several, in any order. Its messages need progress of its MPI: the
// others learn of it at the latest when that rank calls MPI again or finalizes it.
// Cost: ceil(log2 p) messages of 16 bytes, which travel while a training step computes. If ranks differ, also the descriptions of their calls.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <list>
#include <mutex>
#include <string>
#include <vector>

#include <tenure/distributed/group.hpp>
#include <tenure/distributed/schedule.hpp>

namespace TENURE_NAMESPACE::mpi::detail {

/// A hash of the values that must be equal on all ranks (FNV-1a, one word at a time).
class signature {
 public:
  signature& operator<<(std::uint64_t word) {
    hash_ = (hash_ ^ word) * 0x100000001b3u;
    hash_ ^= hash_ >> 29;
    return *this;
  }
  signature& operator<<(const char* s) {
    for (; *s != 0; ++s) *this << static_cast<std::uint64_t>(static_cast<unsigned char>(*s));
    return *this;
  }
  signature& add(const void* data, std::size_t bytes) {
    const char* const from = static_cast<const char*>(data);
    std::uint64_t word = 0;
    std::size_t i = 0;
    for (; i + sizeof word <= bytes; i += sizeof word) {
      std::memcpy(&word, from + i, sizeof word);
      *this << word;
    }
    for (; i < bytes; ++i) *this << static_cast<std::uint64_t>(static_cast<unsigned char>(from[i]));
    return *this;
  }
  signature& operator<<(const extents& s) {
    *this << static_cast<std::uint64_t>(s.rank);
    for (int a = 0; a < s.rank; ++a) *this << static_cast<std::uint64_t>(s[a]);
    return *this;
  }
  std::uint64_t value() const { return hash_; }

 private:
  std::uint64_t hash_ = 0xcbf29ce484222325u;
};

enum class readiness : std::int64_t { ready, failed, leaving };

/// The smallest and the largest signature among the ranks that a rank knows of so far.
struct knowledge {
  std::uint64_t least = 0, most = 0;
};
inline constexpr int tag_of_agreement = 0;
/// The partners of this rank in round k, where `distance` is 2^k: it sends to the first one and receives from the second one.
inline int rank_after(const group& g, int distance) { return (g.rank() + distance) % g.size(); }
inline int rank_before(const group& g, int distance) { return (g.rank() + g.size() - distance) % g.size(); }

/// What each rank tells the others after an agreement that does not hold.
struct statement {
  std::uint64_t signature = 0, values = 0;
  readiness state = readiness::ready;
  char said[480] = {};
};
/// Starts the exchange of statements. It does not block, because a rank that leaves does not wait for the exchange.
inline void start_statements(MPI_Comm of, const statement& own, std::vector<statement>& all, MPI_Request& request) {
  check(MPI_Iallgather(&own, sizeof own, MPI_BYTE, all.data(), sizeof own, MPI_BYTE, of, &request), "MPI_Iallgather");
}

/// The messages of one agreement. At the end each rank knows the smallest and the largest signature of all ranks. In round k a rank sends what it
/// knows to the rank at distance 2^k. A minimum or maximum may take a rank twice, so any number of ranks is possible.
class agreement : tenure::detail::not_copied {
 public:
  ~agreement() {
    if (is_under_way_) MPI_Waitall(2, requests_, MPI_STATUSES_IGNORE);
  }

  /// Begins to compare `own` with the other ranks. `values` is the signature of the values that must be equal on all ranks, or 0 if this call
  /// does not compare values.
  void start(group& g, std::uint64_t own, std::uint64_t values = 0) {
    group_ = &g;
    own_ = own;
    values_ = values;
    const std::uint64_t both = (signature() << own << values).value();
    known_ = {both, both};
    distance_ = 1;
    has_started_ = true;
    if (distance_ < g.size()) post();
  }
  /// Continues with the messages that have arrived. Returns true when the agreement has ended.
  bool advance() {
    while (distance_ < group_->size()) {
      int arrived = 0;
      check(MPI_Testall(2, requests_, &arrived, MPI_STATUSES_IGNORE), "MPI_Testall");
      if (!arrived) return false;
      take();
    }
    return true;
  }
  void wait() {
    while (distance_ < group_->size()) {
      check(MPI_Waitall(2, requests_, MPI_STATUSES_IGNORE), "MPI_Waitall");
      take();
    }
  }
  bool has_started() const { return has_started_; }
  /// Takes the place of start() if this rank has met an error. The other ranks report this error.
  void fail(group& g, const char* call, const char* what) {
    start(g, 0);  // no call has the signature 0
    wait();
    report(call, what, readiness::failed);
  }
  /// Whether all ranks are about to make the same call.
  bool holds() const { return known_.least == known_.most; }

  /// Every rank calls this after an agreement that does not hold, with the text of its call, or of the error that it met. Throws on the ranks that
  /// were ready: shape_error if calls differ, error if values differ or if a rank has failed or left.
  void report(const char* call, const std::string& own, readiness state) const {
    statement here{own_, values_, state, {}};
    std::vector<statement> all(static_cast<std::size_t>(group_->size()));
    std::memcpy(here.said, own.c_str(), std::min(own.size(), sizeof here.said - 1));
    MPI_Request exchange = MPI_REQUEST_NULL;
    start_statements(group_->communicator(), here, all, exchange);
    check(MPI_Wait(&exchange, MPI_STATUS_IGNORE), "MPI_Wait");
    const auto first = [&](auto is) { return static_cast<std::size_t>(std::find_if(all.begin(), all.end(), is) - all.begin()); };
    const std::size_t left = first([](const statement& s) { return s.state == readiness::leaving; });
    const std::size_t failed = first([](const statement& s) { return s.state == readiness::failed; });
    const std::size_t other = first([&](const statement& s) { return s.signature != all[0].signature; });
    if (left < all.size()) group_->end();
    if (state != readiness::ready) return;
    const std::string begin = std::string("tenure: ") + call + ": ";
    const auto rank = [](std::size_t i) { return "rank " + std::to_string(i); };
    if (left < all.size()) throw error(begin + rank(left) + " has left the group");
    if (failed < all.size()) throw error(begin + rank(failed) + " failed: " + all[failed].said);
    if (other < all.size()) throw shape_error(begin + "the ranks differ: rank 0: " + all[0].said + "; " + rank(other) + ": " + all[other].said);
    throw error(begin + "the values of the model or of its state on rank 0 are not those on " + ranks_with_other_values(all) +
                ": begin with one seed or one file, or call tn::mpi::broadcast_(model, group)");
  }

 private:
  static std::string ranks_with_other_values(const std::vector<statement>& all) {
    constexpr int most = 8;
    std::string names;
    int count = 0;
    for (std::size_t i = 1; i < all.size(); ++i)
      if (all[i].values != all[0].values && count++ < most) names += (names.empty() ? "" : ", ") + std::to_string(i);
    return (count == 1 ? "rank " : "ranks ") + names + (count > most ? " and " + std::to_string(count - most) + " more" : "");
  }
  void post() {
    const int to = rank_after(*group_, distance_), from = rank_before(*group_, distance_), tag = tag_of_agreement;
    sent_ = known_;
    check(MPI_Irecv(&arriving_, sizeof arriving_, MPI_BYTE, from, tag, group_->communicator(), &requests_[0]), "MPI_Irecv");
    check(MPI_Isend(&sent_, sizeof sent_, MPI_BYTE, to, tag, group_->communicator(), &requests_[1]), "MPI_Isend");
    is_under_way_ = true;
  }
  void take() {
    is_under_way_ = false;
    known_ = {std::min(known_.least, arriving_.least), std::max(known_.most, arriving_.most)};
    distance_ *= 2;
    if (distance_ < group_->size()) post();
  }

  group* group_ = nullptr;
  std::uint64_t own_ = 0, values_ = 0;
  knowledge known_, sent_, arriving_;
  MPI_Request requests_[2] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL};
  int distance_ = 1;
  bool has_started_ = false, is_under_way_ = false;
};

/// Returns when all ranks are about to make the same call. Otherwise throws on all ranks. sign() returns the signature of the call, and throws if
/// the arguments are wrong. describe() returns the text of the call.
void agree(group& g, const char* call, auto sign, auto describe) {
  g.check_alive(call);
  agreement a;
  try {
    a.start(g, sign().value());
  } catch (const std::exception& e) {
    a.fail(g, call, e.what());
    throw;
  }
  a.wait();
  if (!a.holds()) a.report(call, describe(), readiness::ready);
}

/// Ends the job, with a message.
[[noreturn]] inline void end_job(const group& g, const char* call, const char* what) {
  std::fprintf(stderr, "tenure: %s: rank %d fails while other ranks wait for it: %s\n", call, g.rank(), what);
  MPI_Abort(g.communicator(), 1);
  std::abort();
}

/// Runs what follows an agreement. An exception ends the job if there are other ranks, because they would wait for this rank forever.
auto relied_on(const group& g, const char* call, auto run) {
  try {
    return run();
  } catch (const std::exception& e) {
    if (g.size() == 1) throw;
    end_job(g, call, e.what());
  }
}

/// The messages of a rank that leaves: its part of the next agreement and of the report, sent at once. They make that agreement fail, so this rank
/// need not know what the other ranks say. MPI moves messages mostly while the program calls MPI, and the report has several rounds. So a rank that
/// leaves and then computes for an hour lets the others wait for an hour.
class departure : tenure::detail::not_copied {
 public:
  explicit departure(const group& g) : communicator_(g.communicator()), all_(static_cast<std::size_t>(g.size())) {
    const int rounds = round_count(g.size());
    heard_.resize(static_cast<std::size_t>(rounds));
    requests_.assign(2 * heard_.size() + 1, MPI_REQUEST_NULL);
    MPI_Request* next = requests_.data();
    for (int k = 0; k < rounds; ++k) {
      const int to = rank_after(g, 1 << k), from = rank_before(g, 1 << k), tag = tag_of_agreement;
      knowledge& heard = heard_[static_cast<std::size_t>(k)];
      check(MPI_Irecv(&heard, sizeof heard, MPI_BYTE, from, tag, communicator_, next++), "MPI_Irecv");
      check(MPI_Isend(&told_, sizeof told_, MPI_BYTE, to, tag, communicator_, next++), "MPI_Isend");
    }
    start_statements(communicator_, own_, all_, *next);
  }

  /// Whether the exchange with the other ranks has ended. If so, frees the communicator.
  bool has_ended() {
    int yes = 0;
    MPI_Testall(static_cast<int>(requests_.size()), requests_.data(), &yes, MPI_STATUSES_IGNORE);
    if (yes) MPI_Comm_free(&communicator_);
    return yes != 0;
  }
  void wait() {
    MPI_Waitall(static_cast<int>(requests_.size()), requests_.data(), MPI_STATUSES_IGNORE);
    MPI_Comm_free(&communicator_);
  }

 private:
  MPI_Comm communicator_;
  knowledge told_{0, ~std::uint64_t{0}};  // no agreement holds with this pair
  statement own_{0, 0, readiness::leaving, {}};
  std::vector<knowledge> heard_;
  std::vector<statement> all_;
  std::vector<MPI_Request> requests_;
};

/// The groups that this process has left and other ranks have not. MPI_Finalize waits until they have.
class departures {
 public:
  static departures& all() {
    static departures& only = *new departures;  // never destroyed: a static group may end later than any other object
    return only;
  }
  void add(const group& g) {
    const std::lock_guard lock(mutex_);
    if (!finalize_waits_) wait_in_finalize();
    under_way_.emplace_back(g);
  }
  /// Frees the departures that have ended.
  void collect() {
    const std::lock_guard lock(mutex_);
    under_way_.remove_if([](departure& d) { return d.has_ended(); });
  }

 private:
  /// MPI_Finalize calls `wait`, because it first deletes the attributes of MPI_COMM_SELF.
  void wait_in_finalize() {
    const auto wait = [](MPI_Comm, int, void*, void*) {
      for (departure& d : all().under_way_) d.wait();
      all().under_way_.clear();
      return MPI_SUCCESS;
    };
    int key = 0;
    check(MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, wait, &key, nullptr), "MPI_Comm_create_keyval");
    check(MPI_Comm_set_attr(MPI_COMM_SELF, key, nullptr), "MPI_Comm_set_attr");
    check(MPI_Comm_free_keyval(&key), "MPI_Comm_free_keyval");
    finalize_waits_ = true;
  }

  std::mutex mutex_;
  std::list<departure> under_way_;
  bool finalize_waits_ = false;
};

inline void leave(const group& g) noexcept {
  relied_on(g, "group", [&] { departures::all().add(g); });
}
inline void free_left_groups() { departures::all().collect(); }

}  // namespace tenure::mpi::detail
