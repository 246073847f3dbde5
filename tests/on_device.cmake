# SPDX-License-Identifier: BSL-1.0
# The suites of the CPU that on_device.hpp takes to a device: sets on_device_<suite>. A unit is taken if it calls what moves arguments there,
# itself or by what its folder shares; another one would only run on the host again. What is left out besides is about the host: what its heap
# is asked for, its memory as spans and borrowed, and graphs of a hundred thousand nodes, which are the host's wherever the elements lie.
set(moves_eager "there\\(|(^|[^_a-z])(constant|leaf)<|saved::check\\(")
set(moves_golden "check<|check[.]hpp")
set(moves_laws "agrees\\(|derivatives_agree<|same\\(")
set(moves_optim "there\\(")
set(moves_ops "there\\(")
set(moves_transform "there\\(")
foreach(suite eager golden laws ops optim transform)
  file(GLOB sources CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/tests/${suite}/*.cpp")
  list(FILTER sources EXCLUDE REGEX "/(allocation|borrowed_targets|host_memory|size_of_graphs)[.]cpp$")
  set(on_device_${suite} "")
  foreach(source IN LISTS sources)
    file(STRINGS "${source}" moves REGEX "${moves_${suite}}" LIMIT_COUNT 1)
    if(moves)
      list(APPEND on_device_${suite} "${source}")
    endif()
  endforeach()
endforeach()
