/* SPDX-License-Identifier: BSL-1.0 */
/* The start of a program on a Cortex-M without an operating system: the vector table, the copy of initialised data, the floating-point unit. Text and the
   end of the program go through semihosting, and the clock is SysTick. Under QEMU's -icount shift=0 an instruction takes 1 ns and SysTick counts 25 MHz. */
#include <stdint.h>

#include "board.h"

extern uint32_t data_begin[], data_end[], data_in_flash[], zero_begin[], zero_end[], stack_top[];
extern void (*init_begin[])(void), (*init_end[])(void);
int main(void);

static int semihost(int operation, const void* argument) {
  register int r0 __asm__("r0") = operation;
  register const void* r1 __asm__("r1") = argument;
  __asm__ volatile("bkpt 0xab" : "+r"(r0) : "r"(r1) : "memory");
  return r0;
}
void write_text(const char* text) { semihost(0x04, text); }
void leave(int status) {
  const uint32_t reason[2] = {0x20026, (uint32_t)status}; /* ADP_Stopped_ApplicationExit */
  semihost(0x20, reason);
  for (;;) {}
}

const unsigned instructions_of_tick = 40;
unsigned long clock_ticks(void) { return *(volatile uint32_t*)0xe000e018; }

/* Free memory is painted, and the deepest call leaves the last word that is not. */
enum { paint = 0x5a5a5a5a };
unsigned long stack_peak(void) {
  const uint32_t* at = zero_end;
  while (*at == paint) ++at;
  return (unsigned long)((const char*)stack_top - (const char*)at);
}

static void fault(void) {
  write_text("a fault of the processor\n");
  leave(1);
}
void start(void) {
  *(volatile uint32_t*)0xe000ed88 |= 0xfu << 20; /* CPACR: the floating-point unit */
  __asm__ volatile("dsb\nisb" ::: "memory");
  const uint32_t* from = data_in_flash;
  for (uint32_t* to = data_begin; to < data_end;) *to++ = *from++;
  for (uint32_t* to = zero_begin; to < zero_end;) *to++ = 0;
  const uint32_t* const end = (const uint32_t*)__builtin_frame_address(0) - 64;
  for (uint32_t* to = zero_end; to < end; ++to) *to = paint;
  for (void (**f)(void) = init_begin; f < init_end; ++f) (*f)();
  *(volatile uint32_t*)0xe000e014 = 0xffffff;
  *(volatile uint32_t*)0xe000e018 = 0;
  *(volatile uint32_t*)0xe000e010 = 5; /* on, with the clock of the processor */
  leave(main());
}

__attribute__((section(".vectors"), used)) static const void* const vectors[16] = {
    stack_top, (void*)start, (void*)fault, (void*)fault, (void*)fault, (void*)fault, (void*)fault,
};
