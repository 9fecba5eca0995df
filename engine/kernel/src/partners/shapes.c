/* shapes.c - functions of time that partners share. */
#include <math.h>

#include "partner.h"

double bough_decay(double x) {
  if (!(x < 40.0)) return 1.0; /* exp(-40) is lost beside 1 */
  int doublings = 0;
  for (; x > 0.0625; doublings++) x *= 0.5;
  double s = 1.0; /* x - x^2/2! + x^3/3! - ..., the tenth term is below rounding */
  for (int n = 10; n > 1; n--) s = 1.0 - x / n * s;
  s *= x;
  for (; doublings > 0; doublings--) s *= 2.0 - s; /* 1 - e^-2x = (1 - e^-x)(1 + e^-x) */
  return s;
}

void bough_quintic(double t, double duration, double s[3]) {
  s[0] = t < 0.0 || (t == 0.0 && duration > 0.0) ? 0.0 : 1.0;
  s[1] = s[2] = 0.0;
  if (!(t > 0.0 && t < duration)) return;
  const double x = t / duration;
  s[0] = x * x * x * (10.0 + x * (6.0 * x - 15.0));
  s[1] = 30.0 * x * x * (1.0 - x) * (1.0 - x) / duration;
  s[2] = 60.0 * x * (1.0 - x) * (1.0 - 2.0 * x) / (duration * duration);
}

int bough_too_many_samples(bough_instance *f, double next, double end, double sample, double most) {
  const double t = bough_sample_time(f->now.start_time, next, sample);
  if (end - t < most * sample && next + most < COUNT_MOST) return 0;
  bough_instance_log(f, INSTANCE_DISCARD, LOG_ERROR, "%s: a step from %.9g s to %.9g s holds more than %.9g samples of %g s. Cure: shorter "
          "communication steps, or a longer 'sample'.", f->function, f->now.time, end, most, sample);
  return 1;
}

int bough_sample_fits(const bough_clock *now, double next, double sample) {
  if (!(next >= 0.0 && next < COUNT_MOST) || next != floor(next)) return 0;
  if (now->state == AT_FAILED || now->state == AT_TERMINATED) return 1; /* no further sample is taken */
  const double ahead = bough_sample_time(now->start_time, next, sample) - now->time;
  const double slack = 2.0 * SAMPLE_SLACK * sample + 1e-12 * (fabs(now->time) + fabs(now->start_time));
  if (now->state == AT_CONTINUOUS) return ahead <= sample + slack; /* a solver may look beyond the sample */
  return ahead >= -slack && ahead <= sample + slack;
}
