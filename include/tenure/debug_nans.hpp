// SPDX-License-Identifier: BSL-1.0
// debug_nans(f)(x...), for compiled functions and training steps. Not part of <tenure/tenure.hpp>: it includes the reference backend.
#pragma once

#include <tenure/core/letters/hide.hpp>

#include <tenure/tenure.hpp>

#include <tenure/eager/debug_nans.hpp>
#include <tenure/optim/debug_nans.hpp>
#include <tenure/inspect/debug_nans.hpp>

#include <tenure/core/letters/restore.hpp>
