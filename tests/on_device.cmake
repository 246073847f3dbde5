# SPDX-License-Identifier: BSL-1.0
# The suites of the CPU that on_device.hpp takes to a device: sets on_device_<suite>. What is left out is about the host: what its heap is
# asked for, its memory as spans and borrowed, and graphs of a hundred thousand nodes, which are the host's wherever the elements lie.
foreach(suite golden laws optim ownership transform)
  file(GLOB on_device_${suite} CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/tests/${suite}/*.cpp")
  list(FILTER on_device_${suite} EXCLUDE REGEX "/(allocation_test|borrowed_targets_test|host_memory|size_of_graphs)[.]cpp$")
endforeach()
