// SPDX-License-Identifier: BSL-1.0
// tn::mpi::group: the processes that work together. Each has a number, its rank. The first group of a program initializes MPI, and its destructor
// finalizes MPI, unless the program has initialized MPI itself.
// Law: if a rank leaves a group while others wait for it, then their call throws, at the latest when that rank calls MPI again or finalizes it. So a
// program may throw an exception out of the scope of a group, or of several, on one rank only. The end of a group waits for no other rank;
// MPI_Finalize does.
// Cost: one duplicate of the communicator, so that its messages never mix with those of the program. It is freed after all ranks have left.
#pragma once

#include <climits>
#include <cstdint>
#include <cstdio>
#include <utility>

// Without MPI's old C++ bindings: they cost compile time, and their headers cause warnings.
#if !defined(OMPI_SKIP_MPICXX)
#define OMPI_SKIP_MPICXX 1
#endif
#if !defined(MPICH_SKIP_MPICXX)
#define MPICH_SKIP_MPICXX 1
#endif
#include <mpi.h>

#include <tenure/core/error.hpp>
#include <tenure/core/not_copied.hpp>

namespace TENURE_NAMESPACE::mpi {

class group;

namespace detail {

/// Throws an error with the text of MPI, unless the call succeeded.
inline void check(int code, const char* call) {
  if (code == MPI_SUCCESS) [[likely]] return;
  char said[MPI_MAX_ERROR_STRING];
  int length = 0;
  MPI_Error_string(code, said, &length);
  throw error(tenure::detail::message("mpi") << call << ": " << said);
}

inline bool is_initialized() {
  int yes = 0;
  MPI_Initialized(&yes);
  return yes != 0;
}

/// This rank leaves the group. The other ranks learn of it in their next call. Takes over the communicator. Defined in agreement.hpp.
void leave(const group& g) noexcept;
/// Frees the communicators of groups that all ranks have left.
void free_left_groups();

}  // namespace detail

/// All processes of a job (`mpirun -n 4 program`), or those of a communicator. A group belongs to the thread that made it.
class group : tenure::detail::not_copied {
 public:
  group() : is_owner_(!detail::is_initialized()) {
    int given = 0;
    if (is_owner_) detail::check(MPI_Init_thread(nullptr, nullptr, MPI_THREAD_FUNNELED, &given), "MPI_Init_thread");
    join(MPI_COMM_WORLD);
  }
  /// The processes of the communicator `of`, after the program has initialized MPI. Every one of these processes makes the group.
  explicit group(MPI_Comm of) { join(of); }
  ~group() {
    if (has_ended_ || size_ == 1) MPI_Comm_free(&communicator_);
    else detail::leave(*this);
    if (is_owner_) MPI_Finalize();
  }

  int rank() const { return rank_; }
  int size() const { return size_; }
  MPI_Comm communicator() const { return communicator_; }

  /// The numbers of messages and of bytes that this rank has sent for reductions and training steps since the group was made. The short messages by
  /// which ranks agree before each call are not counted.
  std::int64_t messages() const { return messages_; }
  std::int64_t bytes_sent() const { return bytes_; }

  /// For the calls of this library. count_message() counts a message. end() ends the group, and then check_alive() throws.
  void count_message(std::int64_t bytes) { ++messages_, bytes_ += bytes; }
  void end() { has_ended_ = true; }
  bool has_ended() const { return has_ended_; }
  void check_alive(const char* call) const {
    if (has_ended_) throw error(tenure::detail::message(call) << "the group has ended, because a rank left it");
  }

 private:
  void join(MPI_Comm of) {
    detail::free_left_groups();
    detail::check(MPI_Comm_dup(of, &communicator_), "MPI_Comm_dup");
    MPI_Comm_set_errhandler(communicator_, MPI_ERRORS_RETURN);
    MPI_Comm_rank(communicator_, &rank_);
    MPI_Comm_size(communicator_, &size_);
  }

  MPI_Comm communicator_ = MPI_COMM_NULL;
  int rank_ = 0, size_ = 1;
  bool is_owner_ = false, has_ended_ = false;
  std::int64_t messages_ = 0, bytes_ = 0;
};

}  // namespace tenure::mpi
