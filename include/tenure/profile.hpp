// SPDX-License-Identifier: BSL-1.0
// profile(f)(x...), for compiled functions and training steps. Not part of <tenure/tenure.hpp>: it includes <chrono>, <string> and <vector>.
#pragma once

#include <tenure/core/letters/hide.hpp>

#include <tenure/tenure.hpp>

#include <tenure/optim/profile.hpp>
#include <tenure/inspect/profile.hpp>

#include <tenure/core/letters/restore.hpp>
