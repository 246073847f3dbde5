// SPDX-License-Identifier: BSL-1.0
#include "../counted_heap_hooks.hpp"
