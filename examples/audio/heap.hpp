// SPDX-License-Identifier: BSL-1.0
#pragma once

/// How often the program has asked for memory.
long heap_calls();
