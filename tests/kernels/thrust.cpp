// SPDX-License-Identifier: BSL-1.0
// Sorting by Thrust, on its host system, against the merges that it stands for.
#include "../catch.hpp"

#if defined(TENURE_TEST_THRUST)
#include <thrust/system/cpp/execution_policy.h>

#include <tenure/backend/cuda/thrust.cuh>

#include "../fuzz/judge.hpp"
#include "host_device.hpp"

TEST_CASE("Thrust sorts rows as the merges do, equal ones in the order of their positions") {
  using namespace tenure;
  for (const std::int64_t count : {0, 1, 64, 65, 5000}) {
    std::vector<std::int64_t> row(static_cast<std::size_t>(count)), position(row.size()), spare_row(row.size()), spare_position(row.size());
    fuzz::dice d(static_cast<std::uint64_t>(count));
    for (std::size_t i = 0; i < row.size(); ++i) row[i] = static_cast<std::int64_t>(d.between(0, 40)), position[i] = static_cast<std::int64_t>(i);
    std::vector<std::int64_t> merged_row = row, merged_position = position;

    cuda_backend::sort_rows(thrust::cpp::par, kernels::named_rows{row.data(), position.data()}, count);
    host::device device;
    const auto merged = cuda_backend::merge_sorted(device, kernels::named_rows{merged_row.data(), merged_position.data()}, {spare_row.data(), spare_position.data()}, count);
    CHECK(row == std::vector(merged.row, merged.row + count));
    CHECK(position == std::vector(merged.position, merged.position + count));
  }
}
#endif
