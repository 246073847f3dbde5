// SPDX-License-Identifier: BSL-1.0
// What a .cu file of ours includes as <tenure/cuda.hpp>, where g++ compiles it as C++ over the fake runtime.
#pragma once

#include "../../fake_device.hpp"
