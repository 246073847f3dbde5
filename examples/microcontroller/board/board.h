/* SPDX-License-Identifier: BSL-1.0 */
/* What the example needs of a board. start.c has it for QEMU's boards with a Cortex-M, and host.c for a computer. */
#ifndef BOARD_H
#define BOARD_H
#ifdef __cplusplus
extern "C" {
#endif

void write_text(const char* text);
/* Ends the program. */
#ifdef __cplusplus
[[noreturn]]
#else
_Noreturn
#endif
void leave(int status);
/* A clock that counts down in 24 bits, a tick for each `instructions_of_tick` instructions; 0 where there is none. */
unsigned long clock_ticks(void);
extern const unsigned instructions_of_tick;
/* The most bytes of stack that were in use so far; 0 where that is not known. */
unsigned long stack_peak(void);

#ifdef __cplusplus
}
#endif
#endif
