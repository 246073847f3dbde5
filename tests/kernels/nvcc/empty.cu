// SPDX-License-Identifier: BSL-1.0
// What nvcc costs with nothing to compile.
