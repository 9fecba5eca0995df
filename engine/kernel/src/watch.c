/* watch.c - warnings before the theory ends. Modes are linear: a flexible body that spins near its first frequency without
 * geometric stiffening, is loaded near its buckling load, or bends by a tenth of its length is computed soundly and wrongly.
 * The limits of each body are numbers of the model block; Python derives them when the model is loaded (mechanism/limits.py).
 * A run compares them with what it has at hand: positions and speeds after each accepted step, reactions where they are
 * computed for the user. Each body and kind is told once. A model without flexible bodies returns at the first line. */
#include <math.h>

#include "internal.h"

/* Turning faster than this part of a limit, by the sum of the hinge speeds inboard, makes it worth to look at the attitude. */
static const double NEAR = 0.7;
/* A sum of hinge speeds that did not pass is looked at again after it has grown by this factor. */
static const double AGAIN = 1.1;

static void tell(bough_data *d, int body, bough_warning_kind kind, double t, double value, double limit) {
  d->told[body] |= (unsigned char)(1u << kind);
  if (!bough_finite(value)) return; /* the run says so itself */
  const bough_warning w = {(int)kind, body, t, value, limit, d->model->limits[body]->length};
  d->warning[d->n_warnings++] = w; /* at most one per body and kind: there is room */
}
static int told(const bough_data *d, int body, bough_warning_kind kind) { return d->told[body] >> kind & 1; }

/* x' W x of a packed symmetric W: xx yy zz xy xz yz */
static double form(const double W[6], const double x[3]) {
  return W[0] * x[0] * x[0] + W[1] * x[1] * x[1] + W[2] * x[2] * x[2] +
         2.0 * (W[3] * x[0] * x[1] + W[4] * x[0] * x[2] + W[5] * x[1] * x[2]);
}
static double trace(const double W[6]) { return W[0] + W[1] + W[2]; }

/* A' x, with A the attitude of a unit quaternion */
static void turn_back(const double Q[4], const double x[3], double out[3]) {
  const double v[3] = {-Q[0], -Q[1], -Q[2]}, w = Q[3];
  const double c[3] = {v[1] * x[2] - v[2] * x[1] + w * x[0], v[2] * x[0] - v[0] * x[2] + w * x[1],
                       v[0] * x[1] - v[1] * x[0] + w * x[2]};
  for (int i = 0; i < 3; i++) {
    const int j = (i + 1) % 3, k = (i + 2) % 3;
    out[i] = x[i] + 2.0 * (v[j] * c[k] - v[k] * c[j]);
  }
}

/* largest displacement of the watched points, m */
static double deflection(const bough_limits *l, int nm, const double *eta) {
  double most = 0.0;
  for (int p = 0; p < BOUGH_WATCHED; p++) {
    double x[3] = {0.0, 0.0, 0.0};
    for (int r = 0; r < nm; r++)
      for (int i = 0; i < 3; i++) x[i] += l->shape[3 * (nm * p + r) + i] * eta[r];
    const double square = x[0] * x[0] + x[1] * x[1] + x[2] * x[2];
    most = square > most ? square : most;
  }
  return sqrt(most);
}

static void watch_deflection(bough_data *d, int k, double t, const double *q) {
  const bough_body *b = d->model->body + k;
  const bough_limits *l = d->model->limits[k];
  const double size = deflection(l, b->nm, q + b->qm);
  if (size > l->deflection && !told(d, k, BOUGH_WARN_DEFLECTION)) tell(d, k, BOUGH_WARN_DEFLECTION, t, size, l->deflection);
  if (size > l->inertia && !told(d, k, BOUGH_WARN_INERTIA)) tell(d, k, BOUGH_WARN_INERTIA, t, size, l->inertia);
}

/* the body's angular velocity in its own axes against the ellipsoids of its limits */
static void watch_spin(bough_data *d, int k, double t, const double *q, const double *u) {
  const bough_limits *l = d->model->limits[k];
  const int node = d->model->attach[k];
  const double need_stiff = told(d, k, BOUGH_WARN_SPIN) ? 0.0 : trace(l->spin), need_whirl = told(d, k, BOUGH_WARN_WHIRL) ? 0.0 : trace(l->whirl);
  const double bound = d->spin_bound[k], need = need_stiff > need_whirl ? need_stiff : need_whirl;
  if (!(bound * bound * need > NEAR * NEAR) || bound < AGAIN * d->spin_seen[k]) return;
  d->spin_seen[k] = bound;
  double pose[7], velocity[6], w[3];
  const bough_point at = {.t = t, .q = q, .u = u};
  const bough_values v = {.pose = pose, .velocity = velocity};
  if (bough_evaluate(d->model, d, &at, 1, &node, &v) != BOUGH_OK) return;
  turn_back(pose + 3, velocity, w);
  const double speed = sqrt(w[0] * w[0] + w[1] * w[1] + w[2] * w[2]);
  if (need_stiff > 0.0 && form(l->spin, w) > 1.0) tell(d, k, BOUGH_WARN_SPIN, t, speed, l->first);
  if (need_whirl > 0.0 && form(l->whirl, w) > 1.0) tell(d, k, BOUGH_WARN_WHIRL, t, speed, l->first);
}

/* sum of the speeds of rotation of all hinges inboard, rad/s: no body turns faster, but for the rates of modes */
static void bound_spins(bough_data *d, const double *u) {
  const bough_model *m = d->model;
  for (int k = 0; k < m->nb; k++) {
    const bough_body *b = m->body + k;
    double sum = b->parent < 0 ? 0.0 : d->spin_bound[b->parent];
    for (int i = b->u0 + b->slides; i < b->u0 + b->nh; i++) sum += fabs(u[i]);
    d->spin_bound[k] = sum;
  }
}

void bough_watch_state(bough_data *d, double t, const double *q, const double *u) {
  const bough_model *m = d->model;
  if (!m->limits) return;
  bound_spins(d, u);
  for (int k = 0; k < m->nb; k++) {
    const bough_limits *l = m->limits[k];
    if (!l) continue;
    if (l->undamped > 0.0 && !told(d, k, BOUGH_WARN_UNDAMPED)) tell(d, k, BOUGH_WARN_UNDAMPED, t, l->first, 0.0);
    watch_deflection(d, k, t, q);
    if (d->spin_bound[k] > 0.0) watch_spin(d, k, t, q, u);
  }
}

void bough_watch_reaction(bough_data *d, double t, const double *reaction) {
  const bough_model *m = d->model;
  if (!m->limits) return;
  for (int k = 0; k < m->nb; k++) {
    const bough_limits *l = m->limits[k];
    if (!l || told(d, k, BOUGH_WARN_AXIAL)) continue;
    const double *f = reaction + 6 * k + 3; /* positive along the axis: it presses */
    const double load = f[0] * l->axis[0] + f[1] * l->axis[1] + f[2] * l->axis[2];
    if (load < 0.0 && told(d, k, BOUGH_WARN_SPIN)) continue; /* spin pulls it: the same fact */
    if (fabs(load) > l->axial) tell(d, k, BOUGH_WARN_AXIAL, t, load, l->buckling);
  }
}

bough_status bough_data_watch(const bough_model *m, bough_data *d, double t, const double *q, const double *u, const double *reaction) {
  if (!m || !d || d->model != m) return BOUGH_BAD_ARGUMENT;
  if (q && u) bough_watch_state(d, t, q, u);
  if (reaction) bough_watch_reaction(d, t, reaction);
  return BOUGH_OK;
}

int bough_data_warning(bough_data *d, bough_warning *warning) {
  if (!d || !warning || d->warnings_read >= d->n_warnings) return 0;
  *warning = d->warning[d->warnings_read++];
  return 1;
}

void bough_watch_reset(bough_data *d) {
  if (!d || !d->model->limits) return;
  d->n_warnings = d->warnings_read = 0;
  for (int k = 0; k < d->model->nb; k++) d->told[k] = 0, d->spin_seen[k] = 0.0;
}
