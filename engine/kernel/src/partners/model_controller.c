/* model_controller.c - a controller that runs the flexible model; engine/bough/partners/model_design.py makes the gains.
 *
 * x = (q, u) is the model's state. At t_k = start + k sample:
 *   gains     of the measured pose: interpolated along the move, model_gains.c
 *   predict   x from the last sample on, by the model, with the torques that were applied then; a prediction that is LOST,
 *             or that the model cannot make, is forgotten: x begins anew at rest in the desired shape, hinges as measured
 *   correct   x += L ((phi, w) measured - (phi, w) predicted)
 *   desire    rigid motion theta(t); eta, the deflection that its inertia and gravity ask for; and the hinges' part in a
 *             deflection that leaves the rigid motion alone, -M_hh^-1 M_he eta; commanded deflections: together x_d
 *   integrate z += sample (phi - phi_d), but not further where the torque is at its limit
 *   torque    law 0: tau = inverse dynamics of the desired motion - K (x - x_d) - K_z z
 *             law 1: model_accelerations.c
 *             and tau_ff, at most tau_max either way
 * Between samples everything is held, as in controller.c. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "model_controller.h"

enum {
  PHI, W, PHI_CMD, W_CMD, A_CMD, TAU_FF, TAU, U, PHI_REF, W_REF, A_REF, E, PHI_PRED, A_PRED, LIMITED, TAU_MAX, KU, KW,
  PHI_START, PHI_END, T_START, T_MOVE, ETA, ETA_DOT, ETA_CMD, ETA_DOT_CMD, ETA_DDOT_CMD, QUANTITIES, MODAL = 5
};
enum { SHOWN = 9 }; /* per axis: TAU to LIMITED */
#define LOST 0.5    /* difference of measured and predicted angles, in units of scale */
enum { WARNED_LIMIT = 1, WARNED_AWAY = 2, WARNED_LOST = 4 };

/* Memory: number of the next sample, x [2n], what is shown (tau among it), z [H], warnings that were given. */
static double *state(double *memory) { return memory + 1; }
static double *shown(const bough_plan *p, double *memory, int quantity, int a) {
  return memory + 1 + 2 * p->n + (quantity - TAU) * p->H + a;
}
static double *integral(const bough_plan *p, double *memory) { return memory + 1 + 2 * p->n + SHOWN * p->H; }
static size_t memory_size(const bough_plan *p) { return 2 + 2 * (size_t)p->n + (SHOWN + 1) * (size_t)p->H; }

static double value(const bough_instance *f, int quantity, int a) { return *bough_partner_value(f, quantity, a); }

static bough_instance_status failed(bough_instance *f, bough_status status) {
  const int body = bough_data_where(f->data).body;
  const int known = body >= 0 && body < f->resource->n_bodies;
  bough_instance_log(f, INSTANCE_ERROR, LOG_ERROR, "%s: the model inside cannot be evaluated at t = %.9g s: %s%s%s%s. Cure: look at phi and w, "
          "which come from the mechanism, or lower tau_max.", f->function, f->now.time, bough_status_text(status),
          known ? " (body '" : "", known ? f->resource->body_name[body] : "", known ? "')" : "");
  return INSTANCE_ERROR;
}

/* ---- what is asked for */

/* rigid motion that is asked for at t; commands of the sample at t_k are carried on */
static void rigid(const bough_instance *f, int a, double t, double t_k, double r[3]) {
  double s[3];
  const double from = value(f, PHI_START, a), way = value(f, PHI_END, a) - from, dt = t - t_k;
  const double w_cmd = value(f, W_CMD, a), a_cmd = value(f, A_CMD, a);
  bough_quintic(t - value(f, T_START, a), value(f, T_MOVE, a), s);
  r[0] = from + way * s[0] + (value(f, PHI_CMD, a) + dt * (w_cmd + 0.5 * dt * a_cmd));
  r[1] = way * s[1] + (w_cmd + dt * a_cmd);
  r[2] = way * s[2] + a_cmd;
}

/* out -= K_ee^-1 force, of the modes */
static void deflect(const bough_plan *p, const double *force, double *out) {
  for (int i = 0; i < p->m; i++) {
    double sum = 0.0;
    for (int j = 0; j < p->m; j++) sum += p->Kinv[i * p->m + j] * force[(int)p->mode[j]];
    out[(int)p->mode[i]] -= sum;
  }
}

/* x -= M_hh^-1 M_he eta; c: [H] */
static void set_hinges(const bough_plan *p, double *M, const double *eta, double *c, double *x) {
  for (int i = 0; i < p->H; i++) {
    const double *row = M + (int)p->axis[i] * p->n;
    c[i] = 0.0;
    for (int j = 0; j < p->m; j++) c[i] += row[(int)p->mode[j]] * eta[(int)p->mode[j]];
  }
  bough_factor_places(M, p->n, p->axis, p->H);
  bough_solve_places(M, p->n, p->axis, p->H, c);
  for (int i = 0; i < p->H; i++) x[(int)p->axis[i]] -= c[i];
}

/* positions d [n] that are asked for at t, and the torques tau [n] for it; work: [4n + n*n] and the motion's */
static bough_status desire(bough_instance *f, const bough_plan *p, double t, double t_k, double *d, double *tau, double *work) {
  const int n = p->n;
  double *u = work, *a = u + n, *bend = a + n, *c = bend + n, *M = c + n, *rest = M + n * n;
  const double dt = t - t_k;
  memset(d, 0, (size_t)n * sizeof *d), memset(u, 0, 3 * (size_t)n * sizeof *u);
  for (int i = 0; i < p->H; i++) {
    double r[3];
    rigid(f, i, t, t_k, r);
    d[(int)p->axis[i]] = r[0];
  }
  bough_status status = bough_model_forces(f, p, d, u, a, tau, rest); /* at rest: the sag */
  if (status != BOUGH_OK) return status;
  deflect(p, tau, d);
  for (int i = 0; i < p->H; i++) {
    double r[3];
    rigid(f, i, t, t_k, r);
    u[(int)p->axis[i]] = r[1], a[(int)p->axis[i]] = r[2];
  }
  status = bough_model_forces(f, p, d, u, a, tau, rest);
  if (status == BOUGH_OK) status = bough_model_mass(f, p, d, M, rest);
  if (status != BOUGH_OK) return status;
  deflect(p, tau, bend);
  for (int j = 0; j < p->m; j++) d[(int)p->mode[j]] += bend[(int)p->mode[j]];
  set_hinges(p, M, bend, c, d);
  for (int j = 0; j < p->m; j++)
    d[(int)p->mode[j]] += f->arrays[f->partner->first[ETA_CMD] + j] +
                          dt * (f->arrays[f->partner->first[ETA_DOT_CMD] + j] + 0.5 * dt * f->arrays[f->partner->first[ETA_DDOT_CMD] + j]);
  return BOUGH_OK;
}

/* ---- the state */

/* Was there a prediction, and is it near what is measured? work: [n] and the motion's */
static int predicted(bough_instance *f, const bough_plan *p, double *m, double *work) {
  double *tau = work;
  if (m[0] == 0.0) return 0;
  memset(tau, 0, (size_t)p->n * sizeof *tau);
  for (int a = 0; a < p->H; a++) tau[(int)p->axis[a]] = *shown(p, m, TAU, a);
  if (bough_model_predict(f, p, state(m), tau, work + p->n) != BOUGH_OK) return 0;
  for (int a = 0; a < p->H; a++) {
    const double away = (value(f, PHI, a) - state(m)[(int)p->axis[a]]) / p->scale[a];
    if (!(away < LOST && away > -LOST)) return 0;
  }
  return 1;
}

/* x += L (measured - predicted); shows the prediction. error: [2H] */
static void correct(const bough_instance *f, const bough_plan *p, double *memory, double *error) {
  double *x = state(memory);
  for (int a = 0; a < p->H; a++) {
    const int j = (int)p->axis[a];
    error[a] = value(f, PHI, a) - x[j], error[p->H + a] = value(f, W, a) - x[p->n + j];
    *shown(p, memory, PHI_PRED, a) = x[j];
  }
  for (int i = 0; i < 2 * p->n; i++) {
    double sum = 0.0;
    for (int j = 0; j < 2 * p->H; j++) sum += p->L[i * 2 * p->H + j] * error[j];
    x[i] += sum;
  }
}

/* ---- one sample */

typedef struct { /* what a sample met */
  int lost;
  double away;
} meeting;

/* wish [H]: torques without limit, with the integral z [H] */
static void feed_back(const bough_plan *p, const double *x, const double *d, const double *speed, const double *tau,
                      const double *z, double *wish) {
  const int n = p->n;
  for (int a = 0; a < p->H; a++) {
    const double *K = p->K + a * 2 * n;
    double sum = 0.0;
    for (int i = 0; i < n; i++) sum += K[i] * (x[i] - d[i]);
    for (int i = 0; i < n; i++) sum += K[n + i] * (x[n + i] - speed[i]);
    for (int i = 0; i < p->H; i++) sum += p->Kz[a * p->H + i] * z[i];
    wish[a] = tau[(int)p->axis[a]] - sum;
  }
}

/* z grows by the error of the hinges, but not further where the torque, limited at the last sample, is at its limit */
static void integrate(const bough_instance *f, const bough_plan *p, const double *d, double *m) {
  double *z = integral(p, m);
  for (int a = 0; a < p->H; a++) {
    const double error = value(f, PHI, a) - d[(int)p->axis[a]];
    if (*shown(p, m, LIMITED, a) == 0.0 || error * z[a] < 0.0) z[a] += p->sample * error;
  }
}

static void show(const bough_instance *f, const bough_plan *p, double t, const double *wish, double *m) {
  for (int a = 0; a < p->H; a++) {
    double r[3];
    const double limit = value(f, TAU_MAX, a), wanted = wish[a] + value(f, TAU_FF, a);
    const double torque = bough_clamp(wanted, -limit, limit);
    rigid(f, a, t, t, r);
    *shown(p, m, TAU, a) = torque, *shown(p, m, LIMITED, a) = torque != wanted;
    *shown(p, m, U, a) = value(f, KU, a) * torque + value(f, KW, a) * value(f, W, a);
    *shown(p, m, PHI_REF, a) = r[0], *shown(p, m, W_REF, a) = r[1], *shown(p, m, A_REF, a) = r[2];
    *shown(p, m, E, a) = r[0] - value(f, PHI, a);
  }
}

/* numbers that one sample works with, beside the copy of memory: gains, vectors, what `desire` or the other law takes, the
 * motion's */
static size_t work_size(const bough_plan *p) {
  const size_t n = (size_t)p->n, H = (size_t)p->H, desired = 4 * n + n * n, compared = p->law ? bough_compare_room(p) : 0;
  return p->gains + 5 * n + 3 * H + (desired > compared ? desired : compared) + bough_motion_room(p);
}

/* a [n] of the desired motion x_d, whose forces are tau [n]; the modes' are for the motion alone, and not applied */
static bough_status desired_accelerations(bough_instance *f, const bough_plan *p, const double *x_d, double *tau, double *a,
                                          double *work) {
  for (int j = 0; j < p->m; j++) tau[(int)p->mode[j]] = 0.0;
  const bough_status status = bough_model_accelerations(f, p, x_d, tau, a, work);
  for (int j = 0; j < p->m; j++) a[(int)p->mode[j]] += f->arrays[f->partner->first[ETA_DDOT_CMD] + j];
  return status;
}

static bough_status take(bough_instance *f, bough_plan *p, double t, double *m, double *work, meeting *met) {
  const int n = p->n, H = p->H;
  double *room = work, *d = room + p->gains, *before = d + n, *after = before + n, *tau = after + n, *unused = tau + n;
  double *wish = unused + n, *theta = wish + H, *rest = theta + 2 * H, *x = state(m), *speed = before;
  for (int a = 0; a < H; a++) theta[a] = value(f, PHI, a);
  met->away = bough_gains_at(p, theta, room);
  bough_status status = desire(f, p, t, t, d, tau, rest);
  if (status == BOUGH_OK) status = desire(f, p, t - p->sample, t, before, unused, rest);
  if (status == BOUGH_OK) status = desire(f, p, t + p->sample, t, after, unused, rest);
  if (status != BOUGH_OK) return status;
  met->lost = !predicted(f, p, m, rest);
  if (met->lost) {
    memcpy(x, d, (size_t)n * sizeof *x), memset(x + n, 0, (size_t)n * sizeof *x);
    memset(integral(p, m), 0, (size_t)H * sizeof *x);
    for (int a = 0; a < H; a++) x[(int)p->axis[a]] = value(f, PHI, a), x[n + (int)p->axis[a]] = value(f, W, a);
  }
  correct(f, p, m, theta);
  integrate(f, p, d, m);
  for (int i = 0; i < n; i++) speed[i] = (after[i] - before[i]) / (2.0 * p->sample);
  if (p->law) { /* desired accelerations: what the torques of the desired motion give there; (d, speed) is its state */
    status = desired_accelerations(f, p, d, tau, after, rest);
    if (status != BOUGH_OK) return status;
    for (int a = 0; a < H; a++) wish[a] = *shown(p, m, TAU, a);
    const bough_desired wanted = {d, speed, after, integral(p, m)};
    status = bough_compare_accelerations(f, p, x, &wanted, wish, rest);
    if (status != BOUGH_OK) return status;
  } else {
    feed_back(p, x, d, speed, tau, integral(p, m), wish);
  }
  show(f, p, t, wish, m);
  memset(tau, 0, (size_t)n * sizeof *tau);
  for (int a = 0; a < H; a++) tau[(int)p->axis[a]] = *shown(p, m, TAU, a);
  status = bough_model_accelerations(f, p, x, tau, unused, rest);
  for (int a = 0; a < H; a++) *shown(p, m, A_PRED, a) = unused[(int)p->axis[a]];
  return status;
}

/* ---- warnings: each once in a run */

static void warn(bough_instance *f, const bough_plan *p, double t, double *m, const meeting *met) {
  double *given = m + memory_size(p) - 1;
  const int before = *given >= 0.0 && *given < 64.0 ? (int)*given : 0; /* a state from outside may hold anything */
  int now = before;
  for (int a = 0; a < p->H && !(now & WARNED_LIMIT); a++)
    if (*shown(p, m, LIMITED, a) != 0.0 && value(f, TAU_MAX, a) > 0.0) {
      now |= WARNED_LIMIT;
      bough_instance_log(f, INSTANCE_WARNING, LOG_WARNING, "%s: the torque of axis %d is at its limit of %g at t = %.9g s: the motion is not "
              "the one that is asked for from here on. Cure: a greater tau_max, or a slower move; 'limited' shows when.",
              f->function, a + 1, value(f, TAU_MAX, a), t);
    }
  if (met->away > p->reach && !(now & WARNED_AWAY)) {
    now |= WARNED_AWAY;
    bough_instance_log(f, INSTANCE_WARNING, LOG_WARNING, "%s: at t = %.9g s the measured pose is %g rad (or m) from the move that the gains "
            "were made for, and the loop was found stable to %g: it may become unstable. Cure: build the controller with the move "
            "that is asked for (phi_start, phi_end).", f->function, t, met->away, p->reach);
  }
  if (met->lost && m[0] > 0.0 && !(now & WARNED_LOST)) {
    now |= WARNED_LOST;
    bough_instance_log(f, INSTANCE_WARNING, LOG_WARNING, "%s: at t = %.9g s the model inside has lost the mechanism: measured and predicted "
            "angles differ by more than %g. The estimate begins anew. Cure: the model must be that of the mechanism, with its "
            "payload and armature.", f->function, t, LOST);
  }
  *given = now;
}

/* ---- as a partner */

static bough_instance_status evaluate(bough_instance *f) {
  bough_plan p = bough_read_plan(f);
  double *m = f->partner->memory, *trial = f->partner->work;
  const double t = bough_sample_time(f->now.start_time, m[0], p.sample);
  if (bough_sample_due(f, t, p.sample)) {
    meeting met;
    memcpy(trial, m, memory_size(&p) * sizeof *m);
    const bough_status status = take(f, &p, t, trial, trial + memory_size(&p), &met);
    if (status != BOUGH_OK) return failed(f, status);
    m = trial;
  }
  for (int q = TAU; q <= LIMITED; q++)
    for (int a = 0; a < p.H; a++) *bough_partner_value(f, q, a) = *shown(&p, m, q, a);
  for (int j = 0; j < p.m; j++) {
    f->arrays[f->partner->first[ETA] + j] = state(m)[(int)p.mode[j]];
    f->arrays[f->partner->first[ETA_DOT] + j] = state(m)[p.n + (int)p.mode[j]];
  }
  return INSTANCE_OK;
}

static bough_instance_status advance(bough_instance *f, double end) {
  bough_plan p = bough_read_plan(f);
  double *m = f->partner->memory, *trial = f->partner->work;
  const double most = floor(SAMPLES_MOST / f->partner->table[SUBSTEPS]); /* a substep costs as much as a sample elsewhere */
  if (bough_too_many_samples(f, m[0], end, p.sample, most)) return INSTANCE_DISCARD;
  for (;;) {
    const double t = bough_sample_time(f->now.start_time, m[0], p.sample);
    meeting met;
    if (!(t < end - SAMPLE_SLACK * p.sample)) return INSTANCE_OK;
    memcpy(trial, m, memory_size(&p) * sizeof *m);
    const bough_status status = take(f, &p, t, trial, trial + memory_size(&p), &met);
    if (status != BOUGH_OK) return failed(f, status);
    warn(f, &p, t, trial, &met);
    memcpy(m, trial, memory_size(&p) * sizeof *m);
    m[0] += 1.0;
  }
}

static int counts_fit(const bough_instance *f) {
  const struct partner *s = f->partner;
  const bough_plan p = bough_read_plan(f);
  for (int q = 0; q < ETA; q++)
    if (s->count[q] != p.H) return 0;
  for (int q = ETA; q < QUANTITIES; q++)
    if (s->count[q] != p.m) return 0;
  return 1;
}

static int open(bough_instance *f) {
  struct partner *s = f->partner;
  bough_status status = bough_model_create(s->block, s->block_size, &f->model);
  if (status == BOUGH_OK) status = bough_data_create(f->model, BOUGH_LANES_ONE, &f->data);
  if (status == BOUGH_NO_MEMORY) return bough_instance_no_memory(f) == INSTANCE_OK;
  if (status != BOUGH_OK || !bough_plan_fits(f) || !counts_fit(f)) {
    bough_instance_log(f, INSTANCE_ERROR, LOG_ERROR, "instantiation: the model inside cannot be opened: %s. Cure: build the FMU again.",
            status != BOUGH_OK ? bough_status_text(status) : "its gains do not fit");
    return 0;
  }
  const bough_plan p = bough_read_plan(f);
  s->remembered = memory_size(&p);
  s->work = calloc(s->remembered + work_size(&p), sizeof(double));
  return s->work || bough_instance_no_memory(f) == INSTANCE_OK;
}
static double sample_of(const bough_instance *f, const double *arrays) {
  (void)arrays;
  return f->partner->table[SAMPLE];
}

const bough_partner_law bough_partner_model_controller = {QUANTITIES, MODAL, open, evaluate, advance, sample_of, 1};
