// SPDX-License-Identifier: BSL-1.0
#if !defined(OMPI_SKIP_MPICXX)
#define OMPI_SKIP_MPICXX 1
#endif
#if !defined(MPICH_SKIP_MPICXX)
#define MPICH_SKIP_MPICXX 1
#endif
#include <mpi.h>

#include "fake_nccl.hpp"

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <utility>

namespace fake_cuda {  // tests/cuda/fake_runtime.cpp
cudaError_t launch(cudaStream_t, std::function<void()> kernel);
void finish();
}  // namespace fake_cuda

struct ncclComm {
  MPI_Comm ranks = MPI_COMM_NULL;
  int size = 0;
  bool is_aborted = false;
};

namespace fake_nccl {
std::vector<collective> collectives;
int communicators = 0, aborted = 0;
std::string fails;
ncclResult_t earlier = ncclSuccess;
}  // namespace fake_nccl

namespace {

struct given {
  std::size_t index;  // in collectives
  cudaStream_t stream;
  std::function<void()> run;
};
std::vector<given> waiting;
int depth = 0, groups = 0;

[[noreturn]] void wrong(const char* what) {
  std::fprintf(stderr, "fake NCCL: %s\n", what);
  std::abort();
}

ncclResult_t called(const char* name) {
  return name == fake_nccl::fails ? fake_nccl::fails.clear(), ncclUnhandledCudaError : ncclSuccess;
}

MPI_Datatype type_of(ncclDataType_t type) {
  switch (type) {
    case ncclUint8: return MPI_UINT8_T;
    case ncclInt32: return MPI_INT32_T;
    case ncclInt64: return MPI_INT64_T;
    case ncclFloat32: return MPI_FLOAT;
    case ncclFloat64: return MPI_DOUBLE;
    default: wrong("an element type that no tensor has");
  }
}
std::size_t size_of(ncclDataType_t type) { return type == ncclUint8 ? 1 : type == ncclInt32 || type == ncclFloat32 ? 4 : 8; }

template <class T>
void divide(void* data, std::size_t n, int by) {
  for (std::size_t i = 0; i < n; ++i) static_cast<T*>(data)[i] = static_cast<T>(static_cast<T*>(data)[i] / static_cast<T>(by));
}

/// Adds up the arrays of all ranks, on rank 0, so that all get the same bits.
std::vector<char> reduced(const void* from, std::size_t n, ncclDataType_t type, ncclRedOp_t op, const ncclComm& c) {
  if (op == ncclAvg && type == ncclUint8) wrong("the average of truth values");
  std::vector<char> all(n * size_of(type) + 1);
  MPI_Reduce(from, all.data(), static_cast<int>(n), type_of(type), op == ncclMax ? MPI_MAX : op == ncclMin ? MPI_MIN : MPI_SUM, 0, c.ranks);
  MPI_Bcast(all.data(), static_cast<int>(n), type_of(type), 0, c.ranks);
  if (op == ncclAvg) {
    if (type == ncclFloat32) divide<float>(all.data(), n, c.size);
    if (type == ncclFloat64) divide<double>(all.data(), n, c.size);
    if (type == ncclInt32) divide<std::int32_t>(all.data(), n, c.size);
    if (type == ncclInt64) divide<std::int64_t>(all.data(), n, c.size);
  }
  return all;
}

ncclResult_t give_all() {
  ++groups;
  for (given& g : std::exchange(waiting, {})) {
    fake_nccl::collectives[g.index].group = groups;
    if (fake_cuda::launch(g.stream, std::move(g.run)) != cudaSuccess) return ncclUnhandledCudaError;
  }
  return ncclSuccess;
}

template <class Run>
ncclResult_t give(const char* name, std::size_t count, ncclDataType_t type, int option, ncclComm_t comm, cudaStream_t stream, Run run) {
  if (const ncclResult_t failed = called(name); failed != ncclSuccess) return failed;
  fake_nccl::collectives.push_back({name, count, type, option, stream, 0});
  const auto unless_aborted = [comm, run] {
    if (!comm->is_aborted) run();
  };
  waiting.push_back({fake_nccl::collectives.size() - 1, stream, unless_aborted});
  return depth == 0 ? give_all() : ncclSuccess;
}

}  // namespace

extern "C" {

const char* ncclGetErrorString(ncclResult_t r) { return r == ncclRemoteError ? "remote process exited or there was a network error" : "unhandled cuda error"; }

ncclResult_t ncclGetUniqueId(ncclUniqueId* id) {
  std::memset(id->internal, 7, sizeof id->internal);
  return called("ncclGetUniqueId");
}
ncclResult_t ncclCommInitRank(ncclComm_t* comm, int ranks, ncclUniqueId id, int rank) {
  if (const ncclResult_t failed = called("ncclCommInitRank"); failed != ncclSuccess) return failed;
  int size = 0, own = 0;
  const MPI_Comm of = ranks == 1 ? MPI_COMM_SELF : MPI_COMM_WORLD;
  MPI_Comm_size(of, &size);
  MPI_Comm_rank(of, &own);
  if (ranks != size || rank != own) wrong("a group that is neither that of all processes nor of one");
  for (const char c : id.internal)
    if (c != 7) wrong("an id that is not that of rank 0");
  *comm = new ncclComm{MPI_COMM_NULL, size};
  ++fake_nccl::communicators;
  MPI_Comm_dup(of, &(*comm)->ranks);
  return ncclSuccess;
}
ncclResult_t ncclCommDestroy(ncclComm_t comm) {
  if (comm == nullptr) wrong("the end of no communicator");
  fake_cuda::finish();
  --fake_nccl::communicators;
  int has_ended = 0;
  MPI_Finalized(&has_ended);
  if (!has_ended) MPI_Comm_free(&comm->ranks);
  delete comm;
  return ncclSuccess;
}
ncclResult_t ncclCommAbort(ncclComm_t comm) {  // what a stream has not come to does not run
  comm->is_aborted = true;
  --fake_nccl::communicators;
  ++fake_nccl::aborted;
  return ncclSuccess;
}
ncclResult_t ncclCommGetAsyncError(ncclComm_t, ncclResult_t* error) {
  *error = fake_nccl::earlier;
  return called("ncclCommGetAsyncError");
}

ncclResult_t ncclAllReduce(const void* from, void* to, size_t n, ncclDataType_t type, ncclRedOp_t op, ncclComm_t comm, cudaStream_t stream) {
  return give("ncclAllReduce", n, type, op, comm, stream, [=] {
    const std::vector<char> all = reduced(from, n, type, op, *comm);
    std::memcpy(to, all.data(), n * size_of(type));
  });
}
ncclResult_t ncclReduceScatter(const void* from, void* to, size_t n, ncclDataType_t type, ncclRedOp_t op, ncclComm_t comm, cudaStream_t stream) {
  return give("ncclReduceScatter", n, type, op, comm, stream, [=] {
    int rank = 0;
    MPI_Comm_rank(comm->ranks, &rank);
    const std::vector<char> all = reduced(from, n * static_cast<std::size_t>(comm->size), type, op, *comm);
    std::memcpy(to, all.data() + static_cast<std::size_t>(rank) * n * size_of(type), n * size_of(type));
  });
}
ncclResult_t ncclBroadcast(const void* from, void* to, size_t n, ncclDataType_t type, int root, ncclComm_t comm, cudaStream_t stream) {
  return give("ncclBroadcast", n, type, root, comm, stream, [=] {
    int rank = 0;
    MPI_Comm_rank(comm->ranks, &rank);
    if (rank == root && to != from) std::memcpy(to, from, n * size_of(type));
    MPI_Bcast(to, static_cast<int>(n), type_of(type), root, comm->ranks);
  });
}
ncclResult_t ncclAllGather(const void* from, void* to, size_t n, ncclDataType_t type, ncclComm_t comm, cudaStream_t stream) {
  return give("ncclAllGather", n, type, 0, comm, stream, [=] {
    MPI_Allgather(from, static_cast<int>(n), type_of(type), to, static_cast<int>(n), type_of(type), comm->ranks);
  });
}

ncclResult_t ncclGroupStart() {
  if (const ncclResult_t failed = called("ncclGroupStart"); failed != ncclSuccess) return failed;
  ++depth;
  return ncclSuccess;
}
ncclResult_t ncclGroupEnd() {
  if (depth == 0) wrong("ncclGroupEnd without ncclGroupStart");
  --depth;
  if (const ncclResult_t failed = called("ncclGroupEnd"); failed != ncclSuccess) {
    waiting.clear();
    return failed;
  }
  return depth == 0 ? give_all() : ncclSuccess;
}

}  // extern "C"
