/* cpu.c - does this machine run the x86-64-v3 build? */
#include "internal.h"

#if BOUGH_HAS_V3
static void cpuid(unsigned leaf, unsigned sub, unsigned r[4]) {
  __asm__ volatile("cpuid" : "=a"(r[0]), "=b"(r[1]), "=c"(r[2]), "=d"(r[3]) : "a"(leaf), "c"(sub));
}
int bough_cpu_has_v3(void) {
  unsigned r[4];
  cpuid(0, 0, r);
  if (r[0] < 7) return 0;
  cpuid(1, 0, r);
  const unsigned fma = 1u << 12, movbe = 1u << 22, osxsave = 1u << 27, avx = 1u << 28, f16c = 1u << 29;
  const unsigned need = fma | movbe | osxsave | avx | f16c;
  if ((r[2] & need) != need) return 0;
  unsigned low, high;
  __asm__ volatile(".byte 0x0f, 0x01, 0xd0" : "=a"(low), "=d"(high) : "c"(0)); /* xgetbv: does the OS save ymm? */
  if ((low & 6u) != 6u) return 0;
  cpuid(7, 0, r);
  const unsigned bmi1 = 1u << 3, avx2 = 1u << 5, bmi2 = 1u << 8;
  if ((r[1] & (bmi1 | avx2 | bmi2)) != (bmi1 | avx2 | bmi2)) return 0;
  cpuid(0x80000000u, 0, r);
  if (r[0] < 0x80000001u) return 0;
  cpuid(0x80000001u, 0, r);
  return (r[2] & (1u << 5)) != 0; /* lzcnt */
}
#else
int bough_cpu_has_v3(void) { return 0; }
#endif
