// SPDX-License-Identifier: BSL-1.0
// Exceptions: what only the run can decide. Each is thrown before anything is written; each message starts with
// "tenure: <call>: ".
#pragma once

#include <stdexcept>

#include "message.hpp"

namespace tenure {

struct error : std::runtime_error { using std::runtime_error::runtime_error; };

/// Dynamic extents that disagree; the message names both shapes.
struct shape_error : error { using error::error; };
/// A label, gather index or element index outside its axis.
struct index_error : error { using error::error; };
/// Storage that was overwritten, freed, moved from or donated before it was needed again.
struct ownership_error : error { using error::error; };
/// Source and target of a write share some elements, but not element by element.
struct overlap_error : error { using error::error; };
/// A file that is missing, truncated or malformed.
struct io_error : error { using error::error; };

namespace detail {
/// What every backend says of an index that some operation `call` may not read at.
[[noreturn, gnu::cold, gnu::noinline]] inline void throw_outside(const char* call, std::int64_t index, std::int64_t extent) {
  throw index_error(message(call) << "index " << index << " is outside an axis of " << extent);
}
}  // namespace detail

}  // namespace tenure
