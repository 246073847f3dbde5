// SPDX-License-Identifier: BSL-1.0
// expect: tenure: nccl: an argument is not a tensor that owns its memory on the GPU, nor a tuple, an array or a model of such tensors
// lines: 12
#include <tenure/tenure.hpp>
#include <tenure/distributed/nccl.hpp>
namespace tn = tenure;

using on_gpu = tn::values_on<tn::cuda_device>::type<float, tn::shape<3>>;
#ifdef TENURE_MISUSE
using vector = tn::tensor<float, tn::shape<3>>;
#else
using vector = on_gpu;
#endif

void f(vector& x, tn::nccl::group& gpus) { tn::mpi::all_reduce_(x, gpus); }
