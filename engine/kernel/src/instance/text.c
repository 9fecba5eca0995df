/* text.c - messages without stdio: the few formats that they need, and numbers with the digits that printf would give.
 *
 * A double is m 2^e with whole m and e. For e >= 0 that is a whole number; else m 5^-e 10^e, a whole number again, with the
 * decimal point moved: every digit is exact before the last is rounded (to even, where it is a tie). */
#include <math.h>
#include <stdarg.h>
#include <string.h>

#include "inside.h"

enum { LIMB = 1000000000, LIMBS = 90, PER_LIMB = 9 }; /* 2^53 5^1074 has 767 digits */
typedef struct {
  uint32_t limb[LIMBS]; /* least first */
  int count;
} whole;

static void multiply(whole *w, uint32_t factor) {
  uint64_t carry = 0;
  for (int i = 0; i < w->count; i++) {
    carry += (uint64_t)w->limb[i] * factor;
    w->limb[i] = (uint32_t)(carry % LIMB);
    carry /= LIMB;
  }
  for (; carry > 0 && w->count < LIMBS; carry /= LIMB) w->limb[w->count++] = (uint32_t)(carry % LIMB);
}

/* all digits of w, the first not zero unless w is */
static int digits_of(const whole *w, char *text) {
  int n = 0;
  for (int i = w->count - 1; i >= 0; i--) {
    uint32_t rest = w->limb[i];
    for (int k = PER_LIMB - 1; k >= 0; k--, rest /= 10) text[n + k] = (char)('0' + rest % 10);
    n += PER_LIMB;
  }
  int zeros = 0;
  while (zeros < n - 1 && text[zeros] == '0') zeros++;
  memmove(text, text + zeros, (size_t)(n - zeros));
  return n - zeros;
}

/* the first `keep` of n digits, rounded; 1 if that made a digit more */
static int round_digits(char *text, int n, int keep) {
  int up = text[keep] > '5';
  if (text[keep] == '5') {
    up = (text[keep - 1] - '0') % 2;
    for (int i = keep + 1; i < n; i++) up |= text[i] != '0';
  }
  for (int i = keep - 1; up && i >= 0; i--) {
    up = text[i] == '9';
    text[i] = (char)(up ? '0' : text[i] + 1);
  }
  if (up) text[0] = '1';
  return up;
}

/* x > 0: `digits` of them, and the power of ten of the first */
static int decimal(double x, char *text, int digits) {
  char all[LIMBS * PER_LIMB];
  int e;
  const double m = frexp(x, &e);
  uint64_t rest = (uint64_t)ldexp(m, 53);
  whole w = {.count = 0};
  for (; rest > 0; rest /= LIMB) w.limb[w.count++] = (uint32_t)(rest % LIMB);
  e -= 53;
  for (int k = e; k > 0; k--) multiply(&w, 2);
  for (int k = e; k < 0; k++) multiply(&w, 5);
  const int n = digits_of(&w, all);
  int power = n - 1 + (e < 0 ? e : 0);
  if (n > digits) power += round_digits(all, n, digits);
  for (int i = 0; i < digits; i++) text[i] = i < n ? all[i] : '0';
  return power;
}

void bough_number(char *text, double x, int digits) {
  char d[17];
  char *p = text;
  digits = digits < 1 ? 1 : digits > 17 ? 17 : digits;
  if (x == x && copysign(1.0, x) < 0.0) *p++ = '-', x = -x;
  if (!bough_finite(x)) {
    memcpy(p, x != x ? "nan" : "inf", 4);
    return;
  }
  if (x == 0.0) {
    memcpy(p, "0", 2);
    return;
  }
  const int precision = digits, power = decimal(x, d, digits);
  while (digits > 1 && d[digits - 1] == '0') digits--;
  const int scaled = power < -4 || power >= precision, point = scaled ? 0 : power; /* the digit before the point */
  if (point < 0) *p++ = '0', *p++ = '.';
  for (int i = point + 1; i < 0; i++) *p++ = '0';
  for (int i = 0; i < digits || i <= point; i++) {
    *p++ = (char)(i < digits ? d[i] : '0');
    if (i == point && i < digits - 1) *p++ = '.';
  }
  if (scaled) {
    const int size = power < 0 ? -power : power;
    *p++ = 'e', *p++ = power < 0 ? '-' : '+';
    if (size >= 100) *p++ = (char)('0' + size / 100);
    *p++ = (char)('0' + size / 10 % 10), *p++ = (char)('0' + size % 10);
  }
  *p = 0;
}

static void integer(char *text, long long x) {
  char reversed[24], *p = text;
  int n = 0;
  unsigned long long rest = x < 0 ? 0ULL - (unsigned long long)x : (unsigned long long)x;
  if (x < 0) *p++ = '-';
  do reversed[n++] = (char)('0' + rest % 10);
  while ((rest /= 10) > 0);
  while (n > 0) *p++ = reversed[--n];
  *p = 0;
}

void bough_format_list(char *text, size_t size, const char *format, va_list list) {
  size_t used = 0;
  if (size == 0) return;
  for (const char *s = format; *s; s++) {
    char made[40] = {*s, 0};
    const char *piece = made;
    int digits = 6;
    if (*s == '%') {
      if (*++s == '.')
        for (digits = 0; *++s >= '0' && *s <= '9';) digits = 10 * digits + (*s - '0');
      if (*s == 'l') s++; /* lu */
      switch (*s) {
        case 's': piece = va_arg(list, const char *); break;
        case 'd': integer(made, va_arg(list, int)); break;
        case 'u': integer(made, (long long)va_arg(list, unsigned long)); break;
        case 'g': bough_number(made, va_arg(list, double), digits); break;
        default: made[0] = *s;
      }
      if (*s == 0) break;
    }
    const size_t n = strlen(piece), room = size - 1 - used;
    memcpy(text + used, piece, n < room ? n : room);
    used += n < room ? n : room;
  }
  text[used] = 0;
}

void bough_format(char *text, size_t size, const char *format, ...) {
  va_list list;
  va_start(list, format);
  bough_format_list(text, size, format, list);
  va_end(list);
}
