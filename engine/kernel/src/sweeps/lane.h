/* lane.h - the number type that a sweep runs on.
 *
 * Each *.inl file is an algorithm written once for a type `real`, and compiled for
 *   LANE_ONE      double: one state
 *   LANE_FOUR     four doubles: four states side by side, one per vector lane
 *   LANE_TANGENT  double complex: one state and one direction; with a step of 1e-100 the imaginary part is the
 *                 exact derivative (Squire & Trapp, SIAM Review 40, 1998)
 * Branches depend on the model, never on the state, so the lanes never part. */
#ifndef BOUGH_LANE_H
#define BOUGH_LANE_H

#include <math.h>
#include <string.h>

#include "internal.h"

#if defined(BOUGH_PLAIN_C) || !defined(__GNUC__)
#define INLINE static inline
#elif defined(BOUGH_SMALL) /* small rather than fast */
#define INLINE static inline __attribute__((unused))
#else
#define INLINE static inline __attribute__((always_inline, unused))
#endif

/* name##_<lane>_<isa>: every instance has its own symbols */
#define LANE_PASTE2(name, lane, isa) name##_##lane##_##isa
#define LANE_PASTE(name, lane, isa) LANE_PASTE2(name, lane, isa)

#if defined(LANE_ONE)
typedef double real;
#define LANES 1
#define LANE_NAME(name) LANE_PASTE(name, one, BOUGH_ISA)
INLINE real splat(double x) { return x; }
INLINE real lane_sqrt(real x) { return sqrt(x); }
INLINE double lane_get(real x, int i) { (void)i; return x; }
INLINE void lane_set(real *x, int i, double v) { (void)i; *x = v; }
INLINE real lane_min(real a, real b) { return a < b ? a : b; }
/* `failed` where it is settled (not zero) or the margin positive; else the code, or -1 for a NaN */
INLINE real lane_judge(real failed, real margin, int code) {
  return margin > 0.0 || failed != 0.0 ? failed : margin == margin ? code : -1.0;
}

#elif defined(LANE_FOUR)
/* Vectors are passed between static inline functions only: how a call would pass them does not matter. To a compiler
 * a vector written to memory may change any pointer there, so loops take pointers out of structs first. */
#pragma GCC diagnostic ignored "-Wpsabi"
typedef double real __attribute__((vector_size(32), aligned(32)));
typedef int64_t lane_bits __attribute__((vector_size(32), aligned(32)));
#define LANES 4
#define LANE_NAME(name) LANE_PASTE(name, four, BOUGH_ISA)
INLINE real splat(double x) { return (real){x, x, x, x}; }
INLINE real lane_sqrt(real x) { return (real){sqrt(x[0]), sqrt(x[1]), sqrt(x[2]), sqrt(x[3])}; }
INLINE double lane_get(real x, int i) { return x[i]; }
INLINE void lane_set(real *x, int i, double v) { (*x)[i] = v; }
INLINE real lane_pick(lane_bits mask, real a, real b) {
  return (real)(((lane_bits)a & mask) | ((lane_bits)b & ~mask));
}
INLINE real lane_min(real a, real b) { return lane_pick(a < b, a, b); }
INLINE real lane_judge(real failed, real margin, int code) {
  const real found = lane_pick(margin == margin, splat(code), splat(-1.0));
  return lane_pick((margin > 0.0) | (failed != 0.0), failed, found);
}

#elif defined(LANE_TANGENT)
#include <complex.h>
typedef double complex real;
#define LANES 1
#define LANE_NAME(name) LANE_PASTE(name, tangent, BOUGH_ISA)
INLINE real splat(double x) { return x; }
INLINE double lane_get(real x, int i) { (void)i; return creal(x); }
INLINE real lane_sqrt(real x) { double r = sqrt(creal(x)); return r + I * (0.5 * cimag(x) / r); }
INLINE real lane_min(real a, real b) { return creal(a) < creal(b) ? a : b; }
INLINE real lane_judge(real failed, real margin, int code) {
  return creal(margin) > 0.0 || creal(failed) != 0.0 ? failed : creal(margin) == creal(margin) ? code : -1.0;
}
#else
#error "define LANE_ONE, LANE_FOUR or LANE_TANGENT"
#endif

/* sin and cos. x is reduced by multiples n of pi/2 in three parts (Cody & Waite), |remainder| <= pi/4, and the
 * Taylor polynomials to degree 17 and 16 leave less than half a unit in the last place. No libm: the same
 * digits on every platform. The error beyond 1e5 rad is that of the last digit of x itself. Beyond 1.8e15 rad, where x
 * says nothing about an angle, they are NaN: x times TOO_LARGE overflows, and infinity less itself is no number. */
#define PIO2_A 1.57079632673412561417e+00 /* pi/2 in parts of 33 bits each */
#define PIO2_B 6.07710050630396597660e-11
#define PIO2_C 2.02226624879595063154e-21
#define TOO_LARGE 1e293

#define SINCOS_POLYNOMIALS(r, s, c)                                                                             \
  do {                                                                                                          \
    const real r2 = (r) * (r);                                                                                  \
    s = 2.8114572543455206e-15 * r2 - 7.6471637318198165e-13;                                                   \
    s = s * r2 + 1.6059043836821613e-10;                                                                        \
    s = s * r2 - 2.5052108385441720e-08;                                                                        \
    s = s * r2 + 2.7557319223985893e-06;                                                                        \
    s = s * r2 - 1.9841269841269841e-04;                                                                        \
    s = s * r2 + 8.3333333333333332e-03;                                                                        \
    s = s * r2 - 1.6666666666666666e-01;                                                                        \
    s = (r) + (r)*r2 * s;                                                                                       \
    c = 4.7794773323873853e-14 * r2 - 1.1470745597729725e-11;                                                   \
    c = c * r2 + 2.0876756987868100e-09;                                                                        \
    c = c * r2 - 2.7557319223985888e-07;                                                                        \
    c = c * r2 + 2.4801587301587302e-05;                                                                        \
    c = c * r2 - 1.3888888888888889e-03;                                                                        \
    c = c * r2 + 4.1666666666666664e-02;                                                                        \
    c = 1.0 - (0.5 * r2 - r2 * r2 * c);                                                                         \
  } while (0)

#if defined(LANE_FOUR)
INLINE void lane_sincos(real x, real *sine, real *cosine) {
  const real magic = splat(6755399441055744.0); /* 1.5 * 2^52: adding it rounds to an integer */
  const real shifted = x * 0.63661977236758134308 + magic;
  const real n = shifted - magic;
  const lane_bits quadrant = (lane_bits)shifted;
  const real big = x * TOO_LARGE, y = x + (big - big);
  const real r = ((y - n * PIO2_A) - n * PIO2_B) - n * PIO2_C;
  real s, c;
  SINCOS_POLYNOMIALS(r, s, c);
  const lane_bits odd = -(quadrant & 1), sign_s = (quadrant & 2) << 62, sign_c = ((quadrant + 1) & 2) << 62;
  *sine = (real)((lane_bits)lane_pick(odd, c, s) ^ sign_s);
  *cosine = (real)((lane_bits)lane_pick(odd, s, c) ^ sign_c);
}
#else
INLINE void sincos_double(double x, double *sine, double *cosine) {
  const double magic = 6755399441055744.0;
  const double shifted = x * 0.63661977236758134308 + magic;
  const double n = shifted - magic;
  int64_t quadrant;
  memcpy(&quadrant, &shifted, sizeof quadrant);
  const double big = x * TOO_LARGE, y = x + (big - big);
  const double rr = ((y - n * PIO2_A) - n * PIO2_B) - n * PIO2_C;
  real r = rr, s, c;
  SINCOS_POLYNOMIALS(r, s, c);
  const double sd = lane_get(s, 0), cd = lane_get(c, 0);
  const double a = (quadrant & 1) ? cd : sd, b = (quadrant & 1) ? sd : cd;
  *sine = (quadrant & 2) ? -a : a;
  *cosine = ((quadrant + 1) & 2) ? -b : b;
}
#if defined(LANE_ONE)
INLINE void lane_sincos(real x, real *sine, real *cosine) { sincos_double(x, sine, cosine); }
#else
INLINE void lane_sincos(real x, real *sine, real *cosine) {
  double s, c;
  sincos_double(creal(x), &s, &c);
  *sine = s + I * (c * cimag(x));
  *cosine = c - I * (s * cimag(x));
}
#endif
#endif

#endif
