/* SPDX-License-Identifier: BSL-1.0 */
/* The same program on a computer, to compare its results. */
#include <stdio.h>
#include <stdlib.h>

#include "board.h"

void write_text(const char* text) { fputs(text, stdout); }
void leave(int status) { exit(status); }
const unsigned instructions_of_tick = 0;
unsigned long clock_ticks(void) { return 0; }
unsigned long stack_peak(void) { return 0; }
