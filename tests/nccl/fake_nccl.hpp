// SPDX-License-Identifier: BSL-1.0
// NCCL on the fake CUDA runtime: the ranks are processes of MPI, which moves the bytes. Law: what is called between ncclGroupStart and
// ncclGroupEnd is given to its stream by ncclGroupEnd, and runs when the stream comes to it. Each call can be made to fail.
#pragma once

#include <nccl.h>

#include <cstddef>
#include <string>
#include <vector>

namespace fake_nccl {

/// A collective as it was called. `option` is the operation or the root; `group` is the number of its ncclGroupEnd, from 1 on.
struct collective {
  std::string name;
  std::size_t count;
  ncclDataType_t type;
  int option;
  cudaStream_t stream;
  int group;
};
extern std::vector<collective> collectives;
/// How many communicators there are, and how many ended by ncclCommAbort.
extern int communicators, aborted;
/// The next call of this function fails.
extern std::string fails;
/// What an earlier call went wrong with.
extern ncclResult_t earlier;

}  // namespace fake_nccl
