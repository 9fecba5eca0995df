/* model_controller.c - a controller that runs the flexible model; engine/bough/partners/model_design.py makes the gains.
 *
 * x = (q, u) is the model's state. At t_k = start + k sample:
 *   predict   x from the last sample on, by the model, with the torques that were applied then; a prediction that is LOST,
 *             or that the model cannot make, is forgotten: x begins anew at rest in the desired shape, hinges as measured
 *   correct   x += L ((phi, w) measured - (phi, w) predicted)
 *   desire    rigid motion theta(t); eta, the deflection that its inertia and gravity ask for; and the hinges' part in a
 *             deflection that leaves the rigid motion alone, -M_hh^-1 M_he eta: together x_d
 *   torque    tau = inverse dynamics of the desired motion + tau_ff - K (x - x_d), at most tau_max either way
 * Between samples everything is held, as in controller.c. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "partner.h"

enum {
  PHI, W, PHI_CMD, W_CMD, A_CMD, TAU_FF, TAU, U, PHI_REF, W_REF, A_REF, E, PHI_PRED, TAU_MAX, KU, KW, PHI_START, PHI_END,
  T_START, T_MOVE, ETA, ETA_DOT, QUANTITIES, MODAL = 2
};
/* the table: sample, substeps, degrees of freedom, modes; index in u of each axis, of each mode; K_ee^-1, K, L */
enum { SAMPLE, SUBSTEPS, DOFS, MODES, FIXED };
enum { SHOWN = 7 }; /* per axis: TAU to PHI_PRED */
#define LOST 0.5    /* rad: difference of measured and predicted angles */

/* Memory and work of an instance; memory: number of the next sample, x, and what is shown (tau among it). */
typedef struct {
  int H, m, n;
  double sample;
  const double *axis, *mode, *Kinv, *K, *L; /* [H], [m], [m][m], [H][2n], [2n][2H] */
} plan;

static plan read_plan(const bough_instance *f) {
  const double *t = f->partner->table;
  plan p;
  p.H = f->partner->axes, p.m = (int)t[MODES], p.n = (int)t[DOFS], p.sample = t[SAMPLE];
  p.axis = t + FIXED, p.mode = p.axis + p.H, p.Kinv = p.mode + p.m, p.K = p.Kinv + p.m * p.m;
  p.L = p.K + p.H * 2 * p.n;
  return p;
}
static double *state(double *memory) { return memory + 1; }
static double *shown(const plan *p, double *memory, int quantity, int a) {
  return memory + 1 + 2 * p->n + (quantity - TAU) * p->H + a;
}

static bough_instance_status failed(bough_instance *f, bough_status status) {
  const int body = bough_data_where(f->data).body;
  const int known = body >= 0 && body < f->resource->n_bodies;
  bough_instance_log(f, INSTANCE_ERROR, LOG_ERROR, "%s: the model inside cannot be evaluated at t = %.9g s: %s%s%s%s. Cure: look at phi and w, "
          "which come from the mechanism, or lower tau_max.", f->function, f->now.time, bough_status_text(status),
          known ? " (body '" : "", known ? f->resource->body_name[body] : "", known ? "')" : "");
  return INSTANCE_ERROR;
}

/* rigid motion that is asked for at t; commands of the sample at t_k are carried on */
static void rigid(const bough_instance *f, int a, double t, double t_k, double r[3]) {
  double s[3];
  const double from = *bough_partner_value(f, PHI_START, a), way = *bough_partner_value(f, PHI_END, a) - from, dt = t - t_k;
  const double w_cmd = *bough_partner_value(f, W_CMD, a), a_cmd = *bough_partner_value(f, A_CMD, a);
  bough_quintic(t - *bough_partner_value(f, T_START, a), *bough_partner_value(f, T_MOVE, a), s);
  r[0] = from + way * s[0] + (*bough_partner_value(f, PHI_CMD, a) + dt * (w_cmd + 0.5 * dt * a_cmd));
  r[1] = way * s[1] + (w_cmd + dt * a_cmd);
  r[2] = way * s[2] + a_cmd;
}

/* out -= K_ee^-1 force, of the modes */
static void deflect(const plan *p, const double *force, double *out) {
  for (int i = 0; i < p->m; i++) {
    double sum = 0.0;
    for (int j = 0; j < p->m; j++) sum += p->Kinv[i * p->m + j] * force[(int)p->mode[j]];
    out[(int)p->mode[i]] -= sum;
  }
}

/* x -= M_hh^-1 M_he eta, by Cholesky factors in the upper left of M's hinge rows */
static void set_hinges(const plan *p, double *M, const double *eta, double *c, double *x) {
  const int H = p->H, n = p->n;
  for (int i = 0; i < H; i++) {
    const double *row = M + (int)p->axis[i] * n;
    c[i] = 0.0;
    for (int j = 0; j < p->m; j++) c[i] += row[(int)p->mode[j]] * eta[(int)p->mode[j]];
  }
  for (int i = 0; i < H; i++) /* L D L' in place */
    for (int j = 0; j <= i; j++) {
      double *at = M + (int)p->axis[i] * n + (int)p->axis[j], sum = *at;
      for (int k = 0; k < j; k++)
        sum -= M[(int)p->axis[i] * n + (int)p->axis[k]] * M[(int)p->axis[j] * n + (int)p->axis[k]] *
               M[(int)p->axis[k] * n + (int)p->axis[k]];
      *at = j < i ? sum / M[(int)p->axis[j] * n + (int)p->axis[j]] : sum;
    }
  for (int i = 0; i < H; i++)
    for (int k = 0; k < i; k++) c[i] -= M[(int)p->axis[i] * n + (int)p->axis[k]] * c[k];
  for (int i = 0; i < H; i++) c[i] /= M[(int)p->axis[i] * n + (int)p->axis[i]];
  for (int i = H - 1; i >= 0; i--)
    for (int k = i + 1; k < H; k++) c[i] -= M[(int)p->axis[k] * n + (int)p->axis[i]] * c[k];
  for (int i = 0; i < H; i++) x[(int)p->axis[i]] -= c[i];
}

/* positions d [n] that are asked for at t, and the torques tau [n] for it; work: [4n + n*n] */
static bough_status desire(bough_instance *f, const plan *p, double t, double t_k, double *d, double *tau, double *work) {
  const int n = p->n;
  double *u = work, *a = u + n, *bend = a + n, *c = bend + n, *M = c + n;
  memset(d, 0, (size_t)n * sizeof *d), memset(u, 0, 3 * (size_t)n * sizeof *u);
  for (int i = 0; i < p->H; i++) {
    double r[3];
    rigid(f, i, t, t_k, r);
    d[(int)p->axis[i]] = r[0];
  }
  bough_status status = bough_inverse_dynamics(f->model, f->data, 1, d, u, a, NULL, tau); /* at rest: the sag */
  if (status != BOUGH_OK) return status;
  deflect(p, tau, d);
  for (int i = 0; i < p->H; i++) {
    double r[3];
    rigid(f, i, t, t_k, r);
    u[(int)p->axis[i]] = r[1], a[(int)p->axis[i]] = r[2];
  }
  status = bough_inverse_dynamics(f->model, f->data, 1, d, u, a, NULL, tau);
  if (status == BOUGH_OK) status = bough_mass_matrix(f->model, f->data, 1, d, M);
  if (status != BOUGH_OK) return status;
  deflect(p, tau, bend);
  for (int j = 0; j < p->m; j++) d[(int)p->mode[j]] += bend[(int)p->mode[j]];
  set_hinges(p, M, bend, c, d);
  return BOUGH_OK;
}

/* x one sample on with the torques applied, by RK4; work: [7n] */
static bough_status predict(bough_instance *f, const plan *p, double *memory, double *work) {
  const int n = p->n, substeps = (int)f->partner->table[SUBSTEPS];
  double *x = state(memory), *tau = work, *y = tau + n, *k = y + 2 * n, *sum = k + 2 * n;
  const double h = p->sample / substeps, share[] = {0.5 * h, 0.5 * h, h}, weight[] = {1.0, 2.0, 2.0, 1.0}, sixth = h / 6.0;
  memset(tau, 0, (size_t)n * sizeof *tau);
  for (int a = 0; a < p->H; a++) tau[(int)p->axis[a]] = *shown(p, memory, TAU, a);
  for (int step = 0; step < substeps; step++) {
    memcpy(y, x, 2 * (size_t)n * sizeof *y);
    for (int stage = 0; stage < 4; stage++) {
      memcpy(k, y + n, (size_t)n * sizeof *k);
      const bough_point at = {.q = y, .u = y + n, .tau = tau};
      const bough_values values = {.udot = k + n};
      const bough_status status = bough_evaluate(f->model, f->data, &at, 0, NULL, &values);
      if (status != BOUGH_OK) return status;
      for (int i = 0; i < 2 * n; i++) {
        sum[i] = stage == 0 ? k[i] : sum[i] + weight[stage] * k[i];
        if (stage < 3) y[i] = x[i] + share[stage] * k[i];
      }
    }
    for (int i = 0; i < 2 * n; i++) x[i] += sixth * sum[i];
  }
  return BOUGH_OK;
}

/* Was there a prediction, and is it near what is measured? */
static int predicted(bough_instance *f, const plan *p, double *m, double *work) {
  if (m[0] == 0.0 || predict(f, p, m, work) != BOUGH_OK) return 0;
  for (int a = 0; a < p->H; a++) {
    const double away = *bough_partner_value(f, PHI, a) - state(m)[(int)p->axis[a]];
    if (!(away < LOST && away > -LOST)) return 0;
  }
  return 1;
}

/* x += L (measured - predicted); shows the prediction. error: [2H] */
static void correct(const bough_instance *f, const plan *p, double *memory, double *error) {
  double *x = state(memory);
  for (int a = 0; a < p->H; a++) {
    const int j = (int)p->axis[a];
    error[a] = *bough_partner_value(f, PHI, a) - x[j], error[p->H + a] = *bough_partner_value(f, W, a) - x[p->n + j];
    *shown(p, memory, PHI_PRED, a) = x[j];
  }
  for (int i = 0; i < 2 * p->n; i++) {
    double sum = 0.0;
    for (int j = 0; j < 2 * p->H; j++) sum += p->L[i * 2 * p->H + j] * error[j];
    x[i] += sum;
  }
}

static size_t memory_size(const plan *p) { return 1 + 2 * (size_t)p->n + SHOWN * (size_t)p->H; }

/* one sample: from the partner's memory to `m`, a copy; work: [12n + n*n + 2H] */
static bough_status take(bough_instance *f, const plan *p, double t, double *m, double *work) {
  const int n = p->n;
  double *d = work, *before = d + n, *after = before + n, *tau = after + n, *unused = tau + n, *rest = unused + n;
  double *x = state(m);
  bough_status status = desire(f, p, t, t, d, tau, rest);
  if (status == BOUGH_OK) status = desire(f, p, t - p->sample, t, before, unused, rest);
  if (status == BOUGH_OK) status = desire(f, p, t + p->sample, t, after, unused, rest);
  if (status != BOUGH_OK) return status;
  if (!predicted(f, p, m, rest)) {
    memcpy(x, d, (size_t)n * sizeof *x), memset(x + n, 0, (size_t)n * sizeof *x);
    for (int a = 0; a < p->H; a++) x[(int)p->axis[a]] = *bough_partner_value(f, PHI, a), x[n + (int)p->axis[a]] = *bough_partner_value(f, W, a);
  }
  correct(f, p, m, rest);
  const double twice = 2.0 * p->sample;
  for (int a = 0; a < p->H; a++) {
    double r[3], sum = 0.0;
    for (int i = 0; i < n; i++) sum += p->K[a * 2 * n + i] * (x[i] - d[i]);
    for (int i = 0; i < n; i++) sum += p->K[a * 2 * n + n + i] * (x[n + i] - (after[i] - before[i]) / twice);
    const double limit = *bough_partner_value(f, TAU_MAX, a), w = *bough_partner_value(f, W, a);
    const double torque = bough_clamp(tau[(int)p->axis[a]] + *bough_partner_value(f, TAU_FF, a) - sum, -limit, limit);
    rigid(f, a, t, t, r);
    *shown(p, m, TAU, a) = torque;
    *shown(p, m, U, a) = *bough_partner_value(f, KU, a) * torque + *bough_partner_value(f, KW, a) * w;
    *shown(p, m, PHI_REF, a) = r[0], *shown(p, m, W_REF, a) = r[1], *shown(p, m, A_REF, a) = r[2];
    *shown(p, m, E, a) = r[0] - *bough_partner_value(f, PHI, a);
  }
  return BOUGH_OK;
}

static bough_instance_status evaluate(bough_instance *f) {
  const plan p = read_plan(f);
  double *m = f->partner->memory, *trial = f->partner->work;
  const double t = bough_sample_time(f->now.start_time, m[0], p.sample);
  if (bough_sample_due(f, t, p.sample)) {
    memcpy(trial, m, memory_size(&p) * sizeof *m);
    const bough_status status = take(f, &p, t, trial, trial + memory_size(&p));
    if (status != BOUGH_OK) return failed(f, status);
    m = trial;
  }
  for (int q = TAU; q <= PHI_PRED; q++)
    for (int a = 0; a < p.H; a++) *bough_partner_value(f, q, a) = *shown(&p, m, q, a);
  for (int j = 0; j < p.m; j++) {
    f->arrays[f->partner->first[ETA] + j] = state(m)[(int)p.mode[j]];
    f->arrays[f->partner->first[ETA_DOT] + j] = state(m)[p.n + (int)p.mode[j]];
  }
  return INSTANCE_OK;
}

static bough_instance_status advance(bough_instance *f, double end) {
  const plan p = read_plan(f);
  double *m = f->partner->memory, *trial = f->partner->work;
  const double most = floor(SAMPLES_MOST / f->partner->table[SUBSTEPS]); /* a substep costs as much as a sample elsewhere */
  if (bough_too_many_samples(f, m[0], end, p.sample, most)) return INSTANCE_DISCARD;
  for (;;) {
    const double t = bough_sample_time(f->now.start_time, m[0], p.sample);
    if (!(t < end - SAMPLE_SLACK * p.sample)) return INSTANCE_OK;
    memcpy(trial, m, memory_size(&p) * sizeof *m);
    const bough_status status = take(f, &p, t, trial, trial + memory_size(&p));
    if (status != BOUGH_OK) return failed(f, status);
    memcpy(m, trial, memory_size(&p) * sizeof *m);
    m[0] += 1.0;
  }
}

/* a list of different numbers from 0 to n - 1 */
static int is_index(const double *list, int count, int n) {
  for (int i = 0; i < count; i++)
    if (!(list[i] >= 0.0 && list[i] < n && list[i] == (int)list[i])) return 0;
  return 1;
}

static int table_fits(bough_instance *f) {
  const struct partner *s = f->partner;
  const bough_sizes sizes = bough_model_sizes(f->model);
  const int n = sizes.nu, H = s->axes, m = n - H;
  const double *t = s->table;
  if (sizes.nq != n || sizes.bodies != f->resource->n_bodies || m < 0) return 0;
  if (s->table_size < FIXED || t[DOFS] != n || t[MODES] != m || !(t[SAMPLE] > 0.0) || !(t[SUBSTEPS] >= 1.0 && t[SUBSTEPS] <= 1e4))
    return 0;
  const size_t sm = (size_t)m, sH = (size_t)H, sn = (size_t)n;
  if (s->table_size != FIXED + sn + sm * sm + 6 * sH * sn || !is_index(t + FIXED, n, n)) return 0;
  for (int q = 0; q < ETA; q++)
    if (s->count[q] != H) return 0;
  return s->count[ETA] == m && s->count[ETA_DOT] == m;
}

static int open(bough_instance *f) {
  struct partner *s = f->partner;
  bough_status status = bough_model_create(s->block, s->block_size, &f->model);
  if (status == BOUGH_OK) status = bough_data_create(f->model, BOUGH_LANES_ONE, &f->data);
  if (status == BOUGH_NO_MEMORY) return bough_instance_no_memory(f) == INSTANCE_OK;
  if (status != BOUGH_OK || !table_fits(f)) {
    bough_instance_log(f, INSTANCE_ERROR, LOG_ERROR, "instantiation: the model inside cannot be opened: %s. Cure: build the FMU again.",
            status != BOUGH_OK ? bough_status_text(status) : "its gains do not fit");
    return 0;
  }
  const plan p = read_plan(f);
  const size_t n = (size_t)p.n;
  s->remembered = memory_size(&p);
  s->work = calloc(s->remembered + 12 * n + n * n + 2 * (size_t)p.H, sizeof(double));
  return s->work || bough_instance_no_memory(f) == INSTANCE_OK;
}
static double sample_of(const bough_instance *f, const double *arrays) {
  (void)arrays;
  return f->partner->table[SAMPLE];
}

const bough_partner_law bough_partner_model_controller = {QUANTITIES, MODAL, open, evaluate, advance, sample_of};
