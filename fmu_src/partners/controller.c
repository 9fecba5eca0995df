/* controller.c - sampled PID controller with feed-forward; engine/bough/partners/controller.py is the same, line by line.
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

static double measured(const fmu_instance *f, int a) {
  const double phi = *fmu_value(f, PHI, a), counts = *fmu_value(f, ENCODER, a);
  if (counts == 0.0) return phi;
  const double count = turn / counts;
  return count * floor(phi / count + 0.5);
}

static void reference(const fmu_instance *f, int a, double t, double r[3]) {
  double s[3];
  const double from = *fmu_value(f, PHI_START, a), way = *fmu_value(f, PHI_END, a) - from;
  fmu_quintic(t - *fmu_value(f, T_START, a), *fmu_value(f, T_MOVE, a), s);
  r[0] = from + way * s[0] + *fmu_value(f, PHI_CMD, a);
  r[1] = way * s[1] + *fmu_value(f, W_CMD, a);
  r[2] = way * s[2] + *fmu_value(f, A_CMD, a);
}

/* one sample of one axis: from its memory to `m`, which may be the same */
static void take(const fmu_instance *f, int a, double t, const double *before, double *m) {
  double r[3];
  reference(f, a, t, r);
  const double sample = *fmu_value(f, SAMPLE, a), u_max = *fmu_value(f, U_MAX, a), phi = measured(f, a);
  const double last = f->partner->memory[NEXT] > 0.0 ? before[LAST_PHI] : phi;
  const double w = *fmu_value(f, TACHO, a) != 0.0 ? *fmu_value(f, W, a) : (phi - last) / sample;
  const double e = r[0] - phi, growth = *fmu_value(f, KI, a) * sample * e, integral = before[INTEGRAL];
  const double rest = *fmu_value(f, KP, a) * e + *fmu_value(f, KD, a) * (r[1] - w) + *fmu_value(f, KV, a) * r[1] +
                      *fmu_value(f, KA, a) * r[2] + *fmu_value(f, U_FF, a);
  const double wish = rest + (integral + growth);
  const int wound = (wish > u_max && growth > 0.0) || (wish < -u_max && growth < 0.0);
  m[INTEGRAL] = wound ? integral : integral + growth;
  m[LAST_PHI] = phi;
  m[HELD] = fmu_clamp(rest + m[INTEGRAL], -u_max, u_max);
  m[HELD + 1] = r[0], m[HELD + 2] = r[1], m[HELD + 3] = r[2], m[HELD + 4] = e;
}

static double next_time(const fmu_instance *f) {
  return fmu_sample_time(f->now.start_time, f->partner->memory[NEXT], *fmu_value(f, SAMPLE, 0));
}

static fmu_status evaluate(fmu_instance *f) {
  const double t = next_time(f);
  const int due = fmu_sample_due(f, t, *fmu_value(f, SAMPLE, 0));
  for (int a = 0; a < f->partner->axes; a++) {
    const double *memory = f->partner->memory + AXES + a * AXIS;
    double trial[AXIS];
    if (due) take(f, a, t, memory, trial);
    for (int i = 0; i < 5; i++) *fmu_value(f, shown[i], a) = due ? trial[HELD + i] : memory[HELD + i];
  }
  return FMU_OK;
}

static fmu_status advance(fmu_instance *f, double end) {
  const double sample = *fmu_value(f, SAMPLE, 0);
  if (fmu_too_many_samples(f, f->partner->memory[NEXT], end, sample, SAMPLES_MOST)) return FMU_DISCARD;
  for (double t = next_time(f); t < end - SAMPLE_SLACK * sample; t = next_time(f)) {
    for (int a = 0; a < f->partner->axes; a++) {
      double *memory = f->partner->memory + AXES + a * AXIS;
      take(f, a, t, memory, memory);
    }
    f->partner->memory[NEXT] += 1.0;
  }
  return FMU_OK;
}

static int open(fmu_instance *f) {
  f->partner->remembered = AXES + (size_t)f->partner->axes * AXIS;
  return 1;
}
static void start(fmu_instance *f) { (void)f; }
static double sample_of(const fmu_instance *f, const double *arrays) { return arrays[f->partner->first[SAMPLE]]; }

const fmu_partner_type fmu_partner_controller = {QUANTITIES, 0, open, start, evaluate, advance, sample_of};
