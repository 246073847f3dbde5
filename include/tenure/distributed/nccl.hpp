// SPDX-License-Identifier: BSL-1.0
// tn::nccl::group: processes that each have a GPU. It is an mpi::group whose collectives and training steps take tensors on tn::cuda and use NCCL.
// Before each call the ranks agree by MPI, as for tensors of the host.
// Law: a call throws on all ranks, before anything is written, where they differ or one has failed. Calls of NCCL run in the order of the current
// stream, and the host does not wait for them. If one is refused while other ranks rely on it, the job ends with a message.
// Law: if an exception destroys a group, or a rank has left it before, its destructor does not wait for what other ranks call later. Otherwise it waits
// for all.
#pragma once

#include <chrono>
#include <exception>
#include <string>
#include <thread>
#include <type_traits>

#include <nccl.h>

#include <tenure/distributed/collectives.hpp>
#include <tenure/distributed/train_step.hpp>
#include <tenure/tensor/cuda.hpp>

namespace TENURE_NAMESPACE::nccl {

namespace detail {

/// Throws an error with the text of NCCL, unless the call succeeded.
inline void check(ncclResult_t result, const char* call) {
  if (result == ncclSuccess) [[likely]] return;
  throw error(tenure::detail::message("nccl") << call << ": " << ncclGetErrorString(result));
}

/// The NCCL communicator. As a base of the group it is destroyed after MPI has told the others that this rank leaves: NCCL may wait for them.
struct connection : private tenure::detail::not_copied {
  ~connection() {
    if (handle == nullptr) return;
    if (is_broken) ncclCommAbort(handle);
    else ncclCommDestroy(handle);
  }
  ncclComm_t handle = nullptr;
  bool is_broken = false;

  /// Waits until the stream has run its work, at most 10 s. ncclCommAbort would end this rank's part, and others would wait for it in their streams
  /// forever. All ranks have started the calls of this library, so these calls end. A call of the program, or a broken GPU, may not end.
  void finish_stream() const noexcept {
    const auto latest = std::chrono::steady_clock::now() + std::chrono::seconds(10);
    const cudaStream_t stream = cuda_detail::current_stream();
    const auto is_intact = [&] {
      ncclResult_t earlier = ncclSuccess;
      return ncclCommGetAsyncError(handle, &earlier) == ncclSuccess && earlier == ncclSuccess;
    };
    while (is_intact() && cudaStreamQuery(stream) == cudaErrorNotReady && std::chrono::steady_clock::now() < latest) std::this_thread::yield();
  }
};

/// Runs f. The NCCL calls of f become one operation.
void together(auto f) {
  struct calls : private tenure::detail::not_copied {
    calls() { check(ncclGroupStart(), "ncclGroupStart"); }
    ~calls() {
      if (!have_ended) ncclGroupEnd();
    }
    void end() {
      have_ended = true;
      check(ncclGroupEnd(), "ncclGroupEnd");
    }
    bool have_ended = false;
  } all;
  f();
  all.end();
}

}  // namespace detail

/// All processes of a job, or those of an MPI communicator. Before, each process chooses its own GPU by cudaSetDevice or CUDA_VISIBLE_DEVICES.
class group : detail::connection, public mpi::group {
 public:
  group() { connect(); }
  explicit group(MPI_Comm of) : mpi::group(of) { connect(); }
  ~group() {
    is_broken = has_ended() || std::uncaught_exceptions() > exceptions_;
    if (is_broken) finish_stream();
  }

  /// For NCCL calls of the program. All ranks make these calls in the same order.
  ncclComm_t nccl_communicator() const { return handle; }

  /// For the calls of this library: throws if NCCL has found an error in an earlier call.
  void check_connection() const {
    ncclResult_t earlier = ncclSuccess;
    detail::check(ncclCommGetAsyncError(nccl_communicator(), &earlier), "ncclCommGetAsyncError");
    detail::check(earlier, "an earlier call");
  }

 private:
  void connect() {
    ncclUniqueId id{};
    const auto sign = [&] {
      cuda_detail::device_of_process();
      if (rank() == 0) detail::check(ncclGetUniqueId(&id), "ncclGetUniqueId");
      return mpi::detail::signature() << "nccl::group";
    };
    mpi::detail::agree(*this, "nccl::group", sign, [] { return std::string("nccl::group"); });
    mpi::detail::relied_on(*this, "nccl::group", [&] {
      mpi::detail::check(MPI_Bcast(&id, sizeof id, MPI_BYTE, 0, communicator()), "MPI_Bcast");
      detail::check(ncclCommInitRank(&handle, size(), id, rank()), "ncclCommInitRank");
    });
  }

  int exceptions_ = std::uncaught_exceptions();
};

}  // namespace tenure::nccl

namespace TENURE_NAMESPACE::mpi::detail {

constexpr ncclDataType_t nccl_type(dtype type) { return static_cast<ncclDataType_t>(tenure::detail::row_of(type).nccl); }
static_assert(nccl_type(dtype::boolean) == ncclUint8 && nccl_type(dtype::int32) == ncclInt32 && nccl_type(dtype::int64) == ncclInt64 &&
              nccl_type(dtype::float32) == ncclFloat32 && nccl_type(dtype::float64) == ncclFloat64);
/// For bool, sum, mean and max are "any" and min is "all".
template <class Operation>
constexpr ncclRedOp_t nccl_operation(dtype type, Operation = {}) {
  if (std::is_same_v<Operation, min_of_ranks>) return ncclMin;
  if (std::is_same_v<Operation, max_of_ranks> || type == dtype::boolean) return ncclMax;
  return std::is_same_v<Operation, mean_of_ranks> ? ncclAvg : ncclSum;
}

/// Replaces n elements by their sums over the ranks, or by another operation.
void reduce_by_nccl(nccl::group& g, void* data, std::int64_t n, dtype type, auto operation) {
  nccl::detail::check(ncclAllReduce(data, data, static_cast<std::size_t>(n), nccl_type(type), nccl_operation(type, operation), g.nccl_communicator(),
                                    cuda_detail::current_stream()),
                      "ncclAllReduce");
}

/// Exchanges arrays of the GPU by NCCL. Each function is called after an agreement.
template <>
struct transport<nccl::group> {
  using device = cuda_device;

  static void check(nccl::group& g) { g.check_connection(); }
  static void together(auto f) { nccl::detail::together(f); }
  static void reduce(nccl::group& g, auto& x, auto operation) {
    for_each_leaf(x, [&]<class L>(L& leaf) { reduce_by_nccl(g, tensor_access::fresh(leaf), leaf.size(), dtype_v<element_t<L>>, operation); });
  }
  static void broadcast(nccl::group& g, auto& x, int root) {
    for_each_leaf(x, [&]<class L>(L& leaf) {
      auto* const data = tensor_access::fresh(leaf);
      nccl::detail::check(ncclBroadcast(data, data, static_cast<std::size_t>(leaf.size()), nccl_type(dtype_v<element_t<L>>), root, g.nccl_communicator(),
                                        cuda_detail::current_stream()),
                          "ncclBroadcast");
    });
  }
  template <class T>
  static void gather(nccl::group& g, const T* own, std::int64_t n, T* all) {
    nccl::detail::check(
        ncclAllGather(own, all, static_cast<std::size_t>(n), nccl_type(dtype_v<T>), g.nccl_communicator(), cuda_detail::current_stream()),
        "ncclAllGather");
  }
  template <class T, class Operation>
  static void scatter(nccl::group& g, const T* all, std::int64_t n, T* own, Operation operation) {
    nccl::detail::check(ncclReduceScatter(all, own, static_cast<std::size_t>(n), nccl_type(dtype_v<T>), nccl_operation(dtype_v<T>, operation),
                                          g.nccl_communicator(), cuda_detail::current_stream()),
                        "ncclReduceScatter");
  }
};

/// Averages the buckets of an arena on the GPU. In the order of the stream, this comes after the program of the gradients.
template <class Program, class Model, std::int64_t BucketBytes>
class nccl_sender : public agreed_arena<Program, Model, BucketBytes, cuda_device> {
  using base = agreed_arena<Program, Model, BucketBytes, cuda_device>;
  using base::order;

 public:
  explicit nccl_sender(nccl::group& g) : base(g), connected_(g) {}

  /// Allocates all memory. Throws cuda_error, or the error of an earlier call.
  void prepare(bool) {
    connected_.check_connection();
    this->allocate();
  }
  void advance(int) {}
  template <class Describe>
  void finish(const char* call, Describe describe) {
    this->check_agreement(call, describe);
    exchanged(connected_, call, [&] {
      for (const auto& s : order.at)
        reduce_by_nccl(connected_, this->data() + s.what.offset, s.what.elements + s.tail, s.what.type, mpi::mean);
    });
  }

 private:
  nccl::group& connected_;
};

template <>
struct sum_of_gradients<nccl::group> {
  template <class Program, class Model, std::int64_t BucketBytes>
  using sender = nccl_sender<Program, Model, BucketBytes>;
  static double share(const nccl::group&) { return 1; }  // NCCL has divided by the number of ranks
};

}  // namespace tenure::mpi::detail

namespace TENURE_NAMESPACE {

/// train_step for a model on the GPU. NCCL adds up the gradients after all of them are computed.
template <class Loss, class Rule, class Execution = inherited>
auto train_step(Loss, Rule rule, nccl::group& g, Execution on = {}) {
  return mpi::trainer<Loss, Rule, mpi::default_buckets, Execution, nccl::group>(rule, g, on);
}
template <class Loss, class Rule, std::int64_t Bytes, class Execution = inherited>
auto train_step(Loss, Rule rule, nccl::group& g, mpi::buckets_of<Bytes>, Execution on = {}) {
  return mpi::trainer<Loss, Rule, mpi::buckets_of<Bytes>, Execution, nccl::group>(rule, g, on);
}

}  // namespace tenure
