// SPDX-License-Identifier: BSL-1.0
#include <cuda_runtime_api.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <random>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "../sanitizers.hpp"

#if TENURE_TEST_ADDRESS_SANITIZER
#include <sanitizer/asan_interface.h>
#else
#define ASAN_POISON_MEMORY_REGION(address, size) (static_cast<void>(address), static_cast<void>(size))
#define ASAN_UNPOISON_MEMORY_REGION(address, size) (static_cast<void>(address), static_cast<void>(size))
#endif

namespace {

struct marker {
  CUstream_st* stream = nullptr;
  bool reached = false;
};
using marker_handle = std::shared_ptr<marker>;

struct operation {
  std::function<void()> run;
  marker_handle awaited;
};

[[noreturn]] void wrong(const char* what) {
  std::fprintf(stderr, "fake CUDA: %s\n", what);
  std::abort();
}

}  // namespace

struct CUgraph_st { std::vector<operation> operations; };
struct CUgraphExec_st { std::shared_ptr<CUgraph_st> graph; };
struct CUstream_st {
  std::deque<operation> given;
  CUgraph_st* recording = nullptr;
  bool is_destroyed = false;
};
struct CUevent_st { marker_handle last; };
struct CUmemPoolHandle_st { unsigned long long release_threshold = 0; };

namespace fake_cuda {
std::map<std::string, int> calls;
int fail_at = -1;
cudaError_t broken = cudaSuccess;
}  // namespace fake_cuda

namespace {

struct machine {
  std::recursive_mutex busy;
  std::set<CUstream_st*> streams;
  CUstream_st standard;
  struct memory {
    std::size_t bytes;
    bool is_usable;
  };
  std::map<char*, memory> device;
  std::mt19937_64 random;
  bool is_eager = false;
};
machine& here() {
  static auto& m = *new machine;
  return m;
}
CUstream_st* stream_of(cudaStream_t s) {
  if (s == nullptr) return &here().standard;
  if (here().streams.count(s) == 0 || s->is_destroyed) wrong("a stream that does not exist");
  return s;
}

void step(CUstream_st* s);
void reach(const marker_handle& m) {
  while (!m->reached) {
    if (m->stream->given.empty()) wrong("an event that nobody records");
    step(m->stream);
  }
}
/// Runs the next operation of a stream, and before it what it waits for.
void step(CUstream_st* s) {
  const operation next = std::move(s->given.front());
  s->given.pop_front();
  if (next.awaited) reach(next.awaited);
  if (next.run) next.run();
}
void run_ahead() {
  machine& m = here();
  if (!m.is_eager) return;
  std::vector<CUstream_st*> all{&m.standard};
  for (CUstream_st* const s : m.streams)
    if (!s->given.empty()) all.push_back(s);
  for (int tries = static_cast<int>(m.random() % 4); tries > 0; --tries) {
    CUstream_st* const s = all[m.random() % all.size()];
    if (!s->given.empty() && !(s->given.front().awaited && !s->given.front().awaited->reached)) step(s);
  }
}

/// A failure stays the thread's last error until cudaGetLastError() takes it; that is also how the launch of a kernel is told.
thread_local cudaError_t last_error = cudaSuccess;
cudaError_t failed_with(cudaError_t why) { return last_error = why; }

/// What every call does first; its failure, if it has to fail.
cudaError_t called(const char* name, cudaError_t failure = cudaErrorLaunchFailure) {
  ++fake_cuda::calls[name];
  run_ahead();
  if (fake_cuda::broken != cudaSuccess) return failed_with(fake_cuda::broken);
  if (fake_cuda::fail_at >= 0 && fake_cuda::fail_at-- == 0) return failed_with(failure);
  return cudaSuccess;
}

void give(cudaStream_t to, operation o) {
  CUstream_st* const s = stream_of(to);
  if (s->recording != nullptr) s->recording->operations.push_back(std::move(o));
  else s->given.push_back(std::move(o));
}

void set_access(bool allowed) {
  for (auto& [address, block] : here().device) {
    if (allowed && block.is_usable) ASAN_UNPOISON_MEMORY_REGION(address, block.bytes);
    else ASAN_POISON_MEMORY_REGION(address, block.bytes);
  }
}

void require_usable(const void* address, std::size_t bytes) {
  auto* const first = static_cast<char*>(const_cast<void*>(address));
  auto at = here().device.upper_bound(first);
  if (at == here().device.begin()) wrong("a transfer to or from memory that is not the device's");
  --at;
  if (first + bytes > at->first + at->second.bytes) wrong("a transfer beyond its memory");
  if (!at->second.is_usable) wrong("a transfer before its memory is allocated or after it is freed");
}

}  // namespace

namespace fake_cuda {

int live() {
  const std::lock_guard lock(here().busy);
  return static_cast<int>(here().device.size());
}
void eager(std::uint64_t seed) {
  const std::lock_guard lock(here().busy);
  here().is_eager = seed != 0;
  here().random.seed(seed);
}
void finish() {
  const std::lock_guard lock(here().busy);
  while (!here().standard.given.empty()) step(&here().standard);
  for (CUstream_st* s : here().streams)
    while (!s->given.empty()) step(s);
}
cudaError_t launch(cudaStream_t stream, std::function<void()> kernel) {
  const std::lock_guard lock(here().busy);
  // A launch returns nothing: cudaGetLastError() tells its failure, and one that an earlier call has left.
  static_cast<void>(called("kernel"));
  if (last_error != cudaSuccess) return std::exchange(last_error, cudaSuccess);
  give(stream, {[kernel = std::move(kernel)] {
                  set_access(true);
                  kernel();
                  set_access(false);
                },
                nullptr});
  return cudaSuccess;
}

}  // namespace fake_cuda

#define FAKE_CALL(name, ...)                          \
  const std::lock_guard lock(here().busy);            \
  if (const cudaError_t failed = called(name, ##__VA_ARGS__); failed != cudaSuccess) return failed

extern "C" {

const char* cudaGetErrorName(cudaError_t e) { return e == cudaErrorMemoryAllocation ? "cudaErrorMemoryAllocation" : "cudaErrorLaunchFailure"; }
const char* cudaGetErrorString(cudaError_t e) { return e == cudaErrorMemoryAllocation ? "out of memory" : "unspecified launch failure"; }
cudaError_t cudaGetLastError() { return std::exchange(last_error, cudaSuccess); }

cudaError_t cudaGetDevice(int* device) {
  FAKE_CALL("cudaGetDevice");
  *device = 0;
  return cudaSuccess;
}
cudaError_t cudaDeviceSynchronize() {
  {
    const std::lock_guard lock(here().busy);
    ++fake_cuda::calls["cudaDeviceSynchronize"];
  }
  fake_cuda::finish();
  return cudaSuccess;
}

cudaError_t cudaMemPoolCreate(cudaMemPool_t* pool, const cudaMemPoolProps* wanted) {
  FAKE_CALL("cudaMemPoolCreate", cudaErrorMemoryAllocation);
  if (wanted->allocType != cudaMemAllocationTypePinned || wanted->location.type != cudaMemLocationTypeDevice) wrong("a pool of another kind");
  *pool = new CUmemPoolHandle_st;
  return cudaSuccess;
}
cudaError_t cudaMemPoolDestroy(cudaMemPool_t pool) {
  delete pool;
  return cudaSuccess;
}
cudaError_t cudaMemPoolSetAttribute(cudaMemPool_t pool, cudaMemPoolAttr which, void* value) {
  FAKE_CALL("cudaMemPoolSetAttribute");
  if (which == cudaMemPoolAttrReleaseThreshold) pool->release_threshold = *static_cast<unsigned long long*>(value);
  return cudaSuccess;
}
cudaError_t cudaMallocFromPoolAsync(void** memory, size_t bytes, cudaMemPool_t pool, cudaStream_t stream) {
  FAKE_CALL("cudaMallocFromPoolAsync", cudaErrorMemoryAllocation);
  if (pool->release_threshold != ~0ull) wrong("a pool that gives memory back at every synchronisation");
  if (stream_of(stream)->recording != nullptr) wrong("an allocation on a stream that is being recorded");
  auto* const address = static_cast<char*>(std::aligned_alloc(64, (bytes + 63) / 64 * 64));
  ASAN_POISON_MEMORY_REGION(address, bytes);
  here().device[address] = {bytes, false};
  give(stream, {[address] { here().device.at(address).is_usable = true; }, nullptr});
  *memory = address;
  return cudaSuccess;
}
cudaError_t cudaFreeAsync(void* memory, cudaStream_t stream) {  // fails only for work given before
  const std::lock_guard lock(here().busy);
  ++fake_cuda::calls["cudaFreeAsync"];
  run_ahead();
  auto* const address = static_cast<char*>(memory);
  if (stream_of(stream)->recording != nullptr) wrong("a release on a stream that is being recorded");
  if (here().device.count(address) == 0) wrong("a release of memory that is not the device's");
  give(stream, {[address] {
                  const auto at = here().device.find(address);
                  if (at == here().device.end() || !at->second.is_usable) wrong("a release twice, or before the allocation");
                  ASAN_UNPOISON_MEMORY_REGION(address, at->second.bytes);
                  here().device.erase(at);
                  std::free(address);
                },
                nullptr});
  return cudaSuccess;
}
cudaError_t cudaMallocHost(void** memory, size_t bytes) {
  FAKE_CALL("cudaMallocHost", cudaErrorMemoryAllocation);
  *memory = std::malloc(bytes);
  return cudaSuccess;
}
cudaError_t cudaFreeHost(void* memory) {
  std::free(memory);
  return cudaSuccess;
}

cudaError_t cudaMemcpyAsync(void* to, const void* from, size_t bytes, cudaMemcpyKind kind, cudaStream_t stream) {
  FAKE_CALL("cudaMemcpyAsync");
  give(stream, {[=] {
                  if (kind != cudaMemcpyHostToDevice) require_usable(from, bytes);
                  if (kind != cudaMemcpyDeviceToHost) require_usable(to, bytes);
                  set_access(true);
                  std::memcpy(to, from, bytes);
                  set_access(false);
                },
                nullptr});
  return cudaSuccess;
}
cudaError_t cudaMemsetAsync(void* to, int value, size_t bytes, cudaStream_t stream) {
  FAKE_CALL("cudaMemsetAsync");
  give(stream, {[=] {
                  require_usable(to, bytes);
                  set_access(true);
                  std::memset(to, value, bytes);
                  set_access(false);
                },
                nullptr});
  return cudaSuccess;
}

cudaError_t cudaStreamCreateWithFlags(cudaStream_t* stream, unsigned flags) {
  FAKE_CALL("cudaStreamCreate");
  if (flags != cudaStreamNonBlocking) wrong("a stream that waits for the default stream");
  *stream = new CUstream_st;
  here().streams.insert(*stream);
  return cudaSuccess;
}
cudaError_t cudaStreamDestroy(cudaStream_t stream) {  // what it was given still runs
  const std::lock_guard lock(here().busy);
  stream_of(stream)->is_destroyed = true;
  return cudaSuccess;
}
cudaError_t cudaStreamSynchronize(cudaStream_t stream) {
  FAKE_CALL("cudaStreamSynchronize");
  if (stream_of(stream)->recording != nullptr) wrong("a wait for a stream that is being recorded");
  while (!stream_of(stream)->given.empty()) step(stream_of(stream));
  return fake_cuda::broken;
}
cudaError_t cudaStreamQuery(cudaStream_t stream) {  // time passes meanwhile
  FAKE_CALL("cudaStreamQuery");
  if (!stream_of(stream)->given.empty()) step(stream_of(stream));
  return stream_of(stream)->given.empty() ? fake_cuda::broken : cudaErrorNotReady;  // which is no failure
}
cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned) {
  FAKE_CALL("cudaStreamWaitEvent");
  if (event->last != nullptr) give(stream, {nullptr, event->last});
  return cudaSuccess;
}

cudaError_t cudaEventCreateWithFlags(cudaEvent_t* event, unsigned) {
  FAKE_CALL("cudaEventCreate");
  *event = new CUevent_st;
  return cudaSuccess;
}
cudaError_t cudaEventDestroy(cudaEvent_t event) {
  delete event;
  return cudaSuccess;
}
cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream) {
  FAKE_CALL("cudaEventRecord");
  const auto mark = std::make_shared<marker>(marker{stream_of(stream), false});
  event->last = mark;
  give(stream, {[mark] { mark->reached = true; }, nullptr});
  return cudaSuccess;
}
cudaError_t cudaEventSynchronize(cudaEvent_t event) {
  FAKE_CALL("cudaEventSynchronize");
  if (event->last != nullptr) reach(event->last);
  return fake_cuda::broken;
}

cudaError_t cudaStreamBeginCapture(cudaStream_t stream, cudaStreamCaptureMode) {
  FAKE_CALL("cudaStreamBeginCapture");
  stream_of(stream)->recording = new CUgraph_st;
  return cudaSuccess;
}
cudaError_t cudaStreamEndCapture(cudaStream_t stream, cudaGraph_t* graph) {
  const std::lock_guard lock(here().busy);
  *graph = std::exchange(stream_of(stream)->recording, nullptr);
  const cudaError_t result = called("cudaStreamEndCapture");
  if (result != cudaSuccess) delete std::exchange(*graph, nullptr);
  return result;
}
cudaError_t cudaGraphInstantiate(cudaGraphExec_t* made, cudaGraph_t graph, unsigned long long) {
  FAKE_CALL("cudaGraphInstantiate");
  *made = new CUgraphExec_st{std::make_shared<CUgraph_st>(*graph)};
  return cudaSuccess;
}
cudaError_t cudaGraphExecUpdate(cudaGraphExec_t made, cudaGraph_t graph, cudaGraphExecUpdateResultInfo* result) {
  FAKE_CALL("cudaGraphExecUpdate");
  if (made->graph->operations.size() != graph->operations.size()) {
    result->result = cudaGraphExecUpdateErrorTopologyChanged;
    return failed_with(cudaErrorGraphExecUpdateFailure);
  }
  made->graph = std::make_shared<CUgraph_st>(*graph);
  return cudaSuccess;
}
cudaError_t cudaGraphLaunch(cudaGraphExec_t made, cudaStream_t stream) {
  FAKE_CALL("cudaGraphLaunch");
  give(stream, {[graph = made->graph] {
                  for (const operation& o : graph->operations)
                    if (o.run) o.run();
                },
                nullptr});
  return cudaSuccess;
}
cudaError_t cudaGraphDestroy(cudaGraph_t graph) {
  delete graph;
  return cudaSuccess;
}
cudaError_t cudaGraphExecDestroy(cudaGraphExec_t made) {
  delete made;
  return cudaSuccess;
}

}  // extern "C"
