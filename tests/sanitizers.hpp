// SPDX-License-Identifier: BSL-1.0
// Whether a test runs under AddressSanitizer: g++ defines a macro, and clang 14 only answers __has_feature.
#pragma once

#if defined(__SANITIZE_ADDRESS__)
#define TENURE_TEST_ADDRESS_SANITIZER 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define TENURE_TEST_ADDRESS_SANITIZER 1
#endif
#endif
#ifndef TENURE_TEST_ADDRESS_SANITIZER
#define TENURE_TEST_ADDRESS_SANITIZER 0
#endif
