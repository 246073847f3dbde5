# SPDX-License-Identifier: BSL-1.0
# cmake -DCMAKE_TOOLCHAIN_FILE=arm-none-eabi.cmake -DCPU=cortex-m4 (or cortex-m7): Debian's gcc-arm-none-eabi and libstdc++-arm-none-eabi-newlib.
set(CMAKE_SYSTEM_NAME Generic)
set(CMAKE_SYSTEM_PROCESSOR arm)
set(CMAKE_C_COMPILER arm-none-eabi-gcc)
set(CMAKE_CXX_COMPILER arm-none-eabi-g++)
set(CMAKE_TRY_COMPILE_TARGET_TYPE STATIC_LIBRARY)
set(CMAKE_TRY_COMPILE_PLATFORM_VARIABLES CPU)

set(CPU cortex-m4 CACHE STRING "cortex-m4 or cortex-m7")
set(fpu fpv4-sp-d16)
if(CPU STREQUAL "cortex-m7")
  set(fpu fpv5-sp-d16)
endif()
set(CMAKE_C_FLAGS_INIT "-mcpu=${CPU} -mthumb -mfloat-abi=hard -mfpu=${fpu} -ffunction-sections -fdata-sections")
set(CMAKE_CXX_FLAGS_INIT "${CMAKE_C_FLAGS_INIT} -fno-threadsafe-statics")
