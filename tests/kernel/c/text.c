/* text.c - messages without stdio have the characters that printf gives. */
#include <stdint.h>

#include "check.h"
#include "instance.h"

static uint64_t next(uint64_t *state) { /* xorshift64* */
  *state ^= *state >> 12, *state ^= *state << 25, *state ^= *state >> 27;
  return *state * UINT64_C(2685821657736338717);
}

static void compare(double x) {
  char ours[64], theirs[64];
  bough_format(ours, sizeof ours, "%g", x), snprintf(theirs, sizeof theirs, "%g", x);
  CHECK(strcmp(ours, theirs) == 0);
  bough_format(ours, sizeof ours, "%.9g", x), snprintf(theirs, sizeof theirs, "%.9g", x);
  CHECK(strcmp(ours, theirs) == 0);
  bough_format(ours, sizeof ours, "%.17g", x), snprintf(theirs, sizeof theirs, "%.17g", x);
  CHECK(strcmp(ours, theirs) == 0);
  bough_format(ours, sizeof ours, "%.1g|%.3g", x, -x), snprintf(theirs, sizeof theirs, "%.1g|%.3g", x, -x);
  CHECK(strcmp(ours, theirs) == 0);
}

int main(void) {
  static const double special[] = {0.0,   1.0,      0.5,    2.5,   1e5,  1e6,    123456.5, 1234567.0, 0.0001, 0.00012345678,
                                   1e-5,  9.9999e5, 999999.5, 1e22, 1e23, 1e300, 5e-324,   2.2250738585072014e-308,
                                   0.125, 0.375,    1.7976931348623157e308, INFINITY};
  char text[16];
  uint64_t state = 42;
  for (size_t i = 0; i < sizeof special / sizeof *special; i++) compare(special[i]), compare(-special[i]);
  for (int i = 0; i < 3000; i++) { /* every exponent; ties of few digits */
    const uint64_t bits = next(&state);
    double x;
    memcpy(&x, &bits, sizeof x);
    if (x - x == 0.0) compare(x);
    compare((double)(int64_t)(next(&state) % 4000000) / 8.0);
    compare((double)(next(&state) >> 11) * 1e-10);
  }
  bough_format(text, sizeof text, "%s %d %lu%%", "a", -12, 7UL);
  CHECK(strcmp(text, "a -12 7%") == 0);
  bough_format(text, sizeof text, "%d", INT32_MIN);
  CHECK(strcmp(text, "-2147483648") == 0);
  bough_format(text, sizeof text, "%s and more", "a text that is long");
  CHECK(strcmp(text, "a text that is ") == 0);
  bough_format(text, 1, "%s", "x");
  CHECK(text[0] == 0);
  return 0;
}
