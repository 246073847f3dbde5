// SPDX-License-Identifier: BSL-1.0
#ifdef TENURE_MISUSE
int x = undeclared;
#endif
