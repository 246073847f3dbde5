/* SPDX-License-Identifier: BSL-1.0 */
/* The programs alone, by Tenure or by hand (BY_HAND), with or without the training (TRAINS), so that the linker shows what they take. */
#include "board/board.h"
#include "programs.h"

#if BY_HAND
#define act act_by_hand
#define learn learn_by_hand
#define control control_by_hand
#endif

static struct policy p;
#if TRAINS
static struct samples s;
#endif
static struct plant crane;
static float state[inputs], u[horizon];

void tenure_failed(const char* message) {
  write_text(message);
  leave(1);
}

int main(void) {
  volatile float used = act(&p, state);
#if TRAINS
  used = learn(&p, &s, 0.0f);
#endif
  control(&crane, state, u);
  (void)used;
  char text[] = "stack 000000 bytes\n";
  unsigned long n = stack_peak();
  for (char* at = text + 11; n != 0; n /= 10) *at-- = (char)('0' + n % 10);
  write_text(text);
  return 0;
}
