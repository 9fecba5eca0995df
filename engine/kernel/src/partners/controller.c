/* controller.c - sampled PID controller with feed-forward.
 *
 * At t_k = start + k sample, with the measured angle rounded to the encoder's counts:
 *   e = phi_ref - phi_m,  u = kp e + kd (w_ref - w_m) + I + kv w_ref + ka a_ref + u_ff, at most u_max either way
 *   I grows by ki sample e, except where u is at its limit and I would push it further.
 * Between samples everything is held. A sample that falls on a communication point sees the inputs set there: it is
 * shown as soon as one is set, and kept when the next step begins. */
#include <math.h>

#include "partner.h"

enum {
  PHI, W, PHI_CMD, W_CMD, A_CMD, U_FF, U, PHI_REF, W_REF, A_REF, E, KP, KI, KD, KV, KA, U_MAX, SAMPLE, ENCODER, TACHO,
  PHI_START, PHI_END, T_START, T_MOVE, QUANTITIES
};
enum { NEXT /* number of the next sample */, AXES };                     /* memory of all axes */
enum { INTEGRAL, LAST_PHI, HELD, AXIS = HELD + 5 };                     /* memory of an axis */
static const int shown[] = {U, PHI_REF, W_REF, A_REF, E};               /* what is held */
static const double turn = 6.283185307179586;

static double measured(const bough_instance *f, int a) {
  const double phi = *bough_partner_value(f, PHI, a), counts = *bough_partner_value(f, ENCODER, a);
  if (counts == 0.0) return phi;
  const double count = turn / counts;
  return count * floor(phi / count + 0.5);
}

static void reference(const bough_instance *f, int a, double t, double r[3]) {
  double s[3];
  const double from = *bough_partner_value(f, PHI_START, a), way = *bough_partner_value(f, PHI_END, a) - from;
  bough_quintic(t - *bough_partner_value(f, T_START, a), *bough_partner_value(f, T_MOVE, a), s);
  r[0] = from + way * s[0] + *bough_partner_value(f, PHI_CMD, a);
  r[1] = way * s[1] + *bough_partner_value(f, W_CMD, a);
  r[2] = way * s[2] + *bough_partner_value(f, A_CMD, a);
}

/* one sample of one axis: from its memory to `m`, which may be the same */
static void take(const bough_instance *f, int a, double t, const double *before, double *m) {
  double r[3];
  reference(f, a, t, r);
  const double sample = *bough_partner_value(f, SAMPLE, a), u_max = *bough_partner_value(f, U_MAX, a), phi = measured(f, a);
  const double last = f->partner->memory[NEXT] > 0.0 ? before[LAST_PHI] : phi;
  const double w = *bough_partner_value(f, TACHO, a) != 0.0 ? *bough_partner_value(f, W, a) : (phi - last) / sample;
  const double e = r[0] - phi, growth = *bough_partner_value(f, KI, a) * sample * e, integral = before[INTEGRAL];
  const double rest = *bough_partner_value(f, KP, a) * e + *bough_partner_value(f, KD, a) * (r[1] - w) + *bough_partner_value(f, KV, a) * r[1] +
                      *bough_partner_value(f, KA, a) * r[2] + *bough_partner_value(f, U_FF, a);
  const double wish = rest + (integral + growth);
  const int wound = (wish > u_max && growth > 0.0) || (wish < -u_max && growth < 0.0);
  m[INTEGRAL] = wound ? integral : integral + growth;
  m[LAST_PHI] = phi;
  m[HELD] = bough_clamp(rest + m[INTEGRAL], -u_max, u_max);
  m[HELD + 1] = r[0], m[HELD + 2] = r[1], m[HELD + 3] = r[2], m[HELD + 4] = e;
}

static double next_time(const bough_instance *f) {
  return bough_sample_time(f->now.start_time, f->partner->memory[NEXT], *bough_partner_value(f, SAMPLE, 0));
}

static bough_instance_status evaluate(bough_instance *f) {
  const double t = next_time(f);
  const int due = bough_sample_due(f, t, *bough_partner_value(f, SAMPLE, 0));
  for (int a = 0; a < f->partner->axes; a++) {
    const double *memory = f->partner->memory + AXES + a * AXIS;
    double trial[AXIS];
    if (due) take(f, a, t, memory, trial);
    for (int i = 0; i < 5; i++) *bough_partner_value(f, shown[i], a) = due ? trial[HELD + i] : memory[HELD + i];
  }
  return INSTANCE_OK;
}

static bough_instance_status advance(bough_instance *f, double end) {
  const double sample = *bough_partner_value(f, SAMPLE, 0);
  if (bough_too_many_samples(f, f->partner->memory[NEXT], end, sample, SAMPLES_MOST)) return INSTANCE_DISCARD;
  for (double t = next_time(f); t < end - SAMPLE_SLACK * sample; t = next_time(f)) {
    for (int a = 0; a < f->partner->axes; a++) {
      double *memory = f->partner->memory + AXES + a * AXIS;
      take(f, a, t, memory, memory);
    }
    f->partner->memory[NEXT] += 1.0;
  }
  return INSTANCE_OK;
}

static int open(bough_instance *f) {
  f->partner->remembered = AXES + (size_t)f->partner->axes * AXIS;
  return 1;
}
static double sample_of(const bough_instance *f, const double *arrays) { return arrays[f->partner->first[SAMPLE]]; }

const bough_partner_law bough_partner_controller = {QUANTITIES, 0, open, evaluate, advance, sample_of, 1};
