// SPDX-License-Identifier: BSL-1.0
// The exchange of one array, in the rounds of schedule.hpp, with messages that do not block. Several exchanges can be under way at a time, while
// the program computes. MPI moves their messages in advance() and wait().
// Law: all ranks get the same bits, which depend on the arrays and the number of ranks only.
// Cost: memory for two halves of the array. One is for the data that arrives, the other for blocks on both sides of the array's end, which are sent
// as one message.
#pragma once

#include <cstring>

#include <tenure/core/dtype.hpp>
#include <tenure/distributed/group.hpp>
#include <tenure/distributed/schedule.hpp>
#include <tenure/storage/block.hpp>

namespace TENURE_NAMESPACE::mpi {

struct sum_of_ranks {};
struct mean_of_ranks {};
struct max_of_ranks {};
struct min_of_ranks {};
/// How the elements of the ranks become one element. For bool, sum, mean and max are "any" and min is "all". max and min of a NaN are NaN. The mean
/// is the sum divided by the number of ranks; for integers it is rounded toward zero.
inline constexpr sum_of_ranks sum{};
inline constexpr mean_of_ranks mean{};
inline constexpr max_of_ranks max{};
inline constexpr min_of_ranks min{};

namespace detail {

using combine_function = void (*)(void* to, const void* from, std::int64_t count);

template <class T, class Operation>
void combine_elements(void* to, const void* from, std::int64_t count) {
  auto* const a = static_cast<T*>(to);
  const auto* const b = static_cast<const T*>(from);
  for (std::int64_t i = 0; i < count; ++i) {
    if constexpr (std::is_same_v<Operation, max_of_ranks>) {
      a[i] = b[i] > a[i] || b[i] != b[i] ? b[i] : a[i];
    } else if constexpr (std::is_same_v<Operation, min_of_ranks>) {
      a[i] = b[i] < a[i] || b[i] != b[i] ? b[i] : a[i];
    } else if constexpr (std::is_same_v<T, bool>) {
      a[i] = a[i] || b[i];
    } else if constexpr (std::is_integral_v<T>) {  // wraps around, as in the kernels
      using whole = std::make_unsigned_t<T>;
      a[i] = static_cast<T>(static_cast<whole>(a[i]) + static_cast<whole>(b[i]));
    } else {
      a[i] += b[i];
    }
  }
}

template <class Operation>
combine_function combine_of(dtype type, Operation = {}) {
  return visit_dtype(type, []<class T>(element_tag<T>) -> combine_function { return combine_elements<T, Operation>; });
}

class exchange : tenure::detail::not_copied {
 public:
  ~exchange() {
    if (is_under_way_) MPI_Waitall(2, requests_, MPI_STATUSES_IGNORE);
  }

  /// `cut` divides the elements of `data` into blocks. With `reduces`, block r becomes the sum on rank r. With `gathers`, all ranks then get all
  /// blocks. Exchanges that are under way at the same time need different tags, greater than 0. Throws std::bad_alloc.
  void prepare(group& g, int tag, void* data, dtype type, const partition& cut, combine_function combine, bool reduces, bool gathers) {
    group_ = &g;
    tag_ = tag;
    data_ = static_cast<char*>(data);
    element_ = static_cast<std::int64_t>(size_of(type));
    cut_ = cut;
    combine_ = combine;
    rounds_ = round_count(cut.ranks);
    reduces_ = reduces;
    turns_ = rounds_ * (int{reduces} + int{gathers});
    turn_ = 0;
    if (turns_ == 0) return;
    std::int64_t largest = 0;
    for (int i = 0; i < cut.ranks; ++i) largest = cut.size(i) > largest ? cut.size(i) : largest;
    room_ = (largest * (cut.ranks / 2) * element_ + 63) / 64 * 64;
    constexpr std::int64_t limit = INT_MAX;  // the count of a message is an int
    if (room_ / element_ > limit)
      throw error(tenure::detail::message("mpi") << "a message of " << room_ / element_ << " elements; MPI takes at most " << limit);
    beside_ = tenure::detail::allocate_storage(static_cast<std::size_t>(2 * room_));
  }
  void start() {
    if (turns_ > 0) post();
  }
  /// Continues with the messages that have arrived. Returns true when the exchange has ended.
  bool advance() {
    while (turn_ < turns_) {
      int arrived = 0;
      check(MPI_Testall(2, requests_, &arrived, MPI_STATUSES_IGNORE), "MPI_Testall");
      if (!arrived) return false;
      take();
    }
    return true;
  }
  void wait() {
    while (turn_ < turns_) {
      check(MPI_Waitall(2, requests_, MPI_STATUSES_IGNORE), "MPI_Waitall");
      take();
    }
  }

 private:
  /// One round of this rank in the reduce-scatter or the all-gather: its partners, and the blocks that it sends and receives.
  struct turn {
    bool reduces;
    int to, from;
    cyclic_range sent, received;
  };
  turn current() const {
    const bool reduces = reduces_ && turn_ < rounds_;
    const int index = reduces ? turn_ : turns_ - 1 - turn_, rank = group_->rank(), size = group_->size();
    const round r = round_at(size, index);
    const int after = (rank + r.skip) % size, before = (rank + size - r.skip) % size;
    const cyclic_range near = cut_.blocks(rank, r.blocks), far = cut_.blocks(rank + r.skip, r.blocks);
    if (reduces) return {true, after, before, far, near};
    return {false, before, after, near, far};
  }

  char* at(std::int64_t element) const { return data_ + element * element_; }
  char* arriving() const { return static_cast<char*>(beside_.data()); }
  char* packed() const { return arriving() + room_; }

  // Chosen by the size of an element: elements are copied, not converted.
  MPI_Datatype unit() const { return element_ == 8 ? MPI_INT64_T : element_ == 4 ? MPI_INT32_T : element_ == 2 ? MPI_INT16_T : MPI_BYTE; }

  void post() {
    const turn t = current();
    const bool is_direct = !t.reduces && !t.received.wraps();
    const char* from = at(t.sent.first[0]);
    if (t.sent.wraps()) {
      std::memcpy(packed(), from, static_cast<std::size_t>(t.sent.count[0] * element_));
      std::memcpy(packed() + t.sent.count[0] * element_, at(t.sent.first[1]), static_cast<std::size_t>(t.sent.count[1] * element_));
      from = packed();
    }
    char* const into = is_direct ? at(t.received.first[0]) : arriving();
    const int received = static_cast<int>(t.received.total()), sent = static_cast<int>(t.sent.total());
    check(MPI_Irecv(into, received, unit(), t.from, tag_, group_->communicator(), &requests_[0]), "MPI_Irecv");
    check(MPI_Isend(from, sent, unit(), t.to, tag_, group_->communicator(), &requests_[1]), "MPI_Isend");
    group_->count_message(t.sent.total() * element_);
    is_under_way_ = true;
  }
  void take() {
    is_under_way_ = false;
    const turn t = current();
    const char* from = arriving();
    for (int i = 0; i < 2 && (t.reduces || t.received.wraps()); ++i) {
      const std::int64_t n = t.received.count[i];
      if (t.reduces) combine_(at(t.received.first[i]), from, n);
      else std::memcpy(at(t.received.first[i]), from, static_cast<std::size_t>(n * element_));
      from += n * element_;
    }
    if (++turn_ < turns_) post();
  }

  group* group_ = nullptr;
  char* data_ = nullptr;
  partition cut_;
  combine_function combine_ = nullptr;
  std::int64_t element_ = 1, room_ = 0;
  tenure::detail::storage_handle beside_;
  MPI_Request requests_[2] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL};
  int tag_ = 1, rounds_ = 0, turns_ = 0, turn_ = 0;
  bool reduces_ = true, is_under_way_ = false;
};

}  // namespace detail
}  // namespace tenure::mpi
