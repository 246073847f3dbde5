// SPDX-License-Identifier: BSL-1.0
#include "nodes.hpp"

template auto compute<51>();
