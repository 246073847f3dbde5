// SPDX-License-Identifier: BSL-1.0
// The one place where a mistake that is found at run time leaves the library. With exceptions, TENURE_THROW(e) is `throw e`. In the freestanding
// profile (TENURE_FREESTANDING) it calls tenure_failed with the message of e. It is a macro, so that in constant evaluation a compiler shows the line
// with the message, and not the line of a function that throws.
#pragma once

#include "config.hpp"

#if TENURE_FREESTANDING

/// What a program of the freestanding profile does with an error: it defines this function, which must not return. `message` is "tenure: <call>: <what is
/// wrong>", and lives until a function that is called by tenure_failed returns or jumps. The library calls it before it has written any result. There is no
/// default: a linker that asks for it says that the program can fail, and a program without checks at run time does not ask.
extern "C" [[noreturn]] void tenure_failed(const char* message);

namespace TENURE_NAMESPACE::detail {
[[noreturn, gnu::cold]] inline void fail(const char* message) { tenure_failed(message); }
template <class Error>
[[noreturn, gnu::cold]] void fail(const Error& e) { tenure_failed(e.what()); }
}  // namespace tenure::detail

#define TENURE_THROW(...) ::tenure::detail::fail(__VA_ARGS__)
#else
#define TENURE_THROW(...) throw __VA_ARGS__
#endif
