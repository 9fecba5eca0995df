/* closing.c - loops and couplings of an instance: start values that close, and what Model Exchange leaves open.
 *
 * Start values: the model's close. An importer changes some of them; these are moved there little by little, held, and the
 * others follow, each time projected from near by. Modes rest where that is possible. Where it does not go, what was written
 * may move too.
 * Model Exchange: the importer integrates, and no step of its is projected. Accelerations answer to
 * gddot + 2 a gdot + a^2 g = 0 with a = BOUGH_PULL (J. Baumgarte, Comput. Methods Appl. Mech. Eng. 1, 1972), so that errors of
 * its steps die out; where one grows beyond DRIFT all the same, the completed step asks for an event, which projects. */
#include <math.h>
#include <string.h>

#include "elements/drives.h"
#include "inside.h"

static const double DRIFT = 1e-4, FAST = 1e-3; /* m, rad; m/s, rad/s, times the larger of 1 and the speeds. Every event sets back the
                                               * importer's order, so a tighter bound costs accuracy */
static const double STRIDE = 0.2;     /* rad, m: what one projection may follow */
enum { MOST_STRIDES = 200 };
static const double BEYOND = 1e-9; /* rad, m: of a limit, what closing may leave */

int bough_mechanism_loops(const bough_instance *f) { return f->model->n_rows > 0; }

const char *bough_mechanism_constraint(const bough_instance *f, int index, char *text, size_t size) {
  const int n = f->model->n_closures;
  text[0] = '\0';
  for (int i = 0; i < f->resource->n_variables; i++) {
    const bough_variable *v = f->resource->variable + i;
    const int mine = index < n ? v->kind == KIND_CLOSURE && v->index / 6 == index : v->kind == KIND_COUPLING && v->index == index - n;
    if (!mine) continue;
    bough_format(text, size, "%s", v->name);
    size_t end = 0; /* pin.reaction_force[1], gear.tau: names have no dot */
    while (text[end] && text[end] != '.') end++;
    text[end] = '\0';
    break;
  }
  return text;
}

/* a body's DOFs [first, first + count) of coordinates [at, at + from) that are written */
static void mark(const bough_instance *f, int at, int from, int first, int count, double *held) {
  int any = 0;
  for (int i = at; i < at + from; i++) any |= f->written[i] != 0.0;
  for (int i = first; any && i < first + count; i++) held[i] = 1.0;
}

/* DOFs to hold: those that are held, and in the first attempts those whose positions or (`speeds`) speeds are written; modes,
 * which go together on a body, in every other. */
enum { ATTEMPTS = 4 };
static void hold(const bough_instance *f, int attempt, int speeds, double *held) {
  for (int j = 0; j < f->nu; j++) held[j] = f->data->held[j];
  for (int k = 0; k < f->model->nb; k++) {
    const bough_body *b = f->model->body + k;
    for (int r = 0; r < b->nm && attempt % 2 == 0; r++) held[b->um + r] = 1.0;
    if (attempt > 1) continue;
    const bough_range h = bough_model_hinge(f->model, k);
    const int turned = h.nq != h.nu ? 3 : 0, plain = h.nu - turned;
    for (int j = 0; j < plain; j++) mark(f, speeds ? f->nq + h.u0 + j : h.q0 + j, 1, h.u0 + j, 1, held);
    if (speeds)
      mark(f, f->nq + h.u0 + plain, turned, h.u0 + plain, turned, held), mark(f, f->nq + b->um, b->nm, b->um, b->nm, held);
    else
      mark(f, h.q0 + plain, turned ? 4 : 0, h.u0 + plain, turned, held), mark(f, b->qm, b->nm, b->um, b->nm, held);
  }
}

static bough_status close_held(bough_instance *f, const double *held, double *q, double *u) {
  double *own = f->work; /* [nu] */
  for (int j = 0; j < f->nu; j++) own[j] = f->data->held[j];
  bough_status status = bough_data_set(f->data, BOUGH_HELD, held, f->nu);
  if (status == BOUGH_OK) status = bough_project(f->model, f->data, q, u);
  (void)bough_data_set(f->data, BOUGH_HELD, own, f->nu); /* as it was */
  return status;
}

/* positions from the model's start values to those that are written, stride by stride */
static bough_status follow(bough_instance *f, const double *held, double *q, double *still) {
  const double *from = f->first; /* q comes first */
  double far = 0.0;
  for (int i = 0; i < f->nq; i++) {
    const double way = f->written[i] != 0.0 ? fabs(f->q[i] - from[i]) : 0.0;
    far = way > far ? way : far;
  }
  const double wanted = ceil(far / STRIDE);
  const int strides = wanted < 1.0 ? 1 : wanted < MOST_STRIDES ? (int)wanted : MOST_STRIDES;
  memcpy(q, from, (size_t)f->nq * sizeof *q);
  for (int k = 1; k <= strides; k++) {
    for (int i = 0; i < f->nq; i++)
      if (f->written[i] != 0.0) q[i] += (f->q[i] - from[i]) / strides;
    for (int i = 0; k == strides && i < f->nq; i++)
      if (f->written[i] != 0.0) q[i] = f->q[i];
    bough_normalize(f->model, q);
    memset(still, 0, (size_t)f->nu * sizeof *still);
    const bough_status status = close_held(f, held, q, still);
    if (status != BOUGH_OK) return status;
  }
  return BOUGH_OK;
}

static bough_instance_status refuse(bough_instance *f, bough_status status, const double *q, const char *what) {
  double g = 0.0, rate = 0.0;
  int owner = 0;
  char name[128];
  if (status != BOUGH_OPEN) {
    bough_instance_explain(f, INSTANCE_ERROR, status, bough_data_where(f->data), "loops cannot be closed");
    return INSTANCE_ERROR;
  }
  const int constraint = bough_data_where(f->data).constraint - 1;
  (void)bough_largest_residual(f->model, f->data, q, f->u, &g, &rate, &owner);
  bough_instance_log(f, INSTANCE_ERROR, LOG_ERROR, "%s: '%s' cannot be closed from these start values: %.3g m or rad, and %.3g per second, "
                     "are left at best. Cure: change start %s that contradict it, or release a locked or driven hinge in its loop.",
                     f->function, bough_mechanism_constraint(f, constraint < 0 ? owner : constraint, name, sizeof name), g, rate, what);
  return INSTANCE_ERROR;
}

/* a stop that does not give has no answer to a start beyond it */
static bough_instance_status within_limits(bough_instance *f) {
  for (int i = 0; i < f->model->n_drives; i++) {
    const bough_drive *x = f->model->drive + i;
    if (!bough_drive_hard(x) || (f->q[x->q] >= x->lower - BEYOND && f->q[x->q] <= x->upper + BEYOND)) continue;
    const char *name = "";
    for (int j = 0; j < f->resource->n_variables; j++)
      if (f->resource->variable[j].kind == KIND_Q && f->resource->variable[j].index == x->q) name = f->resource->variable[j].name;
    bough_instance_log(f, INSTANCE_ERROR, LOG_ERROR, "%s: the start position %s = %.6g is beyond the limits of its hinge, %g to %g. "
                       "Cure: set start positions within them%s.", f->function, name, f->q[x->q], x->lower, x->upper,
                       bough_mechanism_loops(f) ? ", with which loops close within them" : "");
    return INSTANCE_ERROR;
  }
  return INSTANCE_OK;
}

bough_instance_status bough_mechanism_assemble(bough_instance *f) {
  if (!bough_mechanism_loops(f)) return within_limits(f);
  double *q = f->closing, *held = q + f->nq, *u = held + f->nu; /* u: [nu], of [nq + nu] */
  bough_status status = BOUGH_OPEN;
  for (int attempt = 0; attempt < ATTEMPTS && status == BOUGH_OPEN; attempt++) {
    hold(f, attempt, 0, held);
    status = follow(f, held, q, u);
  }
  if (status != BOUGH_OK) return refuse(f, status, q, "positions");
  status = BOUGH_OPEN;
  for (int attempt = 0; attempt < ATTEMPTS && status == BOUGH_OPEN; attempt++) {
    memcpy(u, f->u, (size_t)f->nu * sizeof *u);
    hold(f, attempt, 1, held);
    status = close_held(f, held, q, u);
  }
  if (status != BOUGH_OK) return refuse(f, status, q, "speeds");
  memcpy(f->q, q, (size_t)f->nq * sizeof *q), memcpy(f->u, u, (size_t)f->nu * sizeof *u);
  return within_limits(f);
}

int bough_mechanism_drifted(bough_instance *f) {
  if (!bough_mechanism_loops(f)) return 0;
  double g, rate, fastest = 1.0;
  int owner;
  for (int j = 0; j < f->nu; j++) fastest = fabs(f->u[j]) > fastest ? fabs(f->u[j]) : fastest;
  if (bough_largest_residual(f->model, f->data, f->q, f->u, &g, &rate, &owner) != BOUGH_OK) return 0; /* the next rates will tell */
  return g > DRIFT || rate > FAST * fastest;
}

/* x becomes y; 0 if it is y already */
static int replace(double *x, const double *y, int n) {
  int changed = 0;
  for (int i = 0; i < n; i++) changed |= x[i] != y[i], x[i] = y[i];
  return changed;
}

bough_instance_status bough_mechanism_close(bough_instance *f) {
  if (!bough_mechanism_loops(f) || !f->now.running) return INSTANCE_OK;
  double *q = f->closing, *u = q + f->nq;
  const size_t nq = (size_t)f->nq * sizeof *q, nu = (size_t)f->nu * sizeof *u;
  memcpy(q, f->q, nq), memcpy(u, f->u, nu);
  bough_normalize(f->model, q);
  const bough_status status = bough_project(f->model, f->data, q, u);
  if (status != BOUGH_OK) {
    bough_instance_explain(f, INSTANCE_ERROR, status, bough_data_where(f->data), "the event cannot be handled");
    return INSTANCE_ERROR;
  }
  const int turned = replace(f->q, q, f->nq), changed = replace(f->u, u, f->nu);
  if (!turned && !changed) return INSTANCE_OK;
  f->now.jumped = 1;
  f->dynamics_fresh = f->sensors_fresh = 0;
  bough_instance_log(f, INSTANCE_OK, LOG_EVENTS, "%s: loops closed again at t = %.9g s", f->function, f->now.time);
  return INSTANCE_OK;
}
