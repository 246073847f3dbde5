// SPDX-License-Identifier: BSL-1.0
// expect: path_says_it
#ifdef TENURE_MISUSE
int x = undeclared;
#endif
