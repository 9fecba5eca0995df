/* derivatives.c - derivatives of outputs by states, inputs and tunable parameters, along directions.
 *
 * By states and inputs the kernel gives them exactly. A spring, a damper or a rotor at a DOF acts as a force there,
 *   tau - d u - k (q - rest) - J udot,
 * so that its parameter moves everything as tau would: -u, -(q - rest), k, -udot per unit. A held DOF does not move; what
 * holds it takes the difference. Derivatives by the other parameters are one-sided differences of order four
 * (Abramowitz and Stegun, Handbook of Mathematical Functions, table 25.2): one-sided, because a mass may not be negative. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "inside.h"

/* Directions lie like the saved arrays of the instance, derivatives like its values. */
typedef struct {
  double *seed, *value;
  double *seen; /* [6][value_count]: values at parameters beside the present ones, and a sum */
  double *room; /* [nq + 3 nu] */
} tangent_work;

/* states, inputs and tunable parameters: what derivatives are taken by, besides time, on which nothing depends */
static int is_known(const bough_instance *f, const bough_variable *v) {
  const double *own = bough_field(f, v);
  return own && ((own >= f->arrays && own < f->inputs_dot) || (own >= f->parameters && own < f->arrays + f->array_count));
}
static double *seed_place(const bough_instance *f, const tangent_work *w, const bough_variable *v) {
  return w->seed + (bough_field(f, v) - f->arrays);
}
static const double *derivative_place(const bough_instance *f, const tangent_work *w, const bough_variable *v) {
  return is_known(f, v) ? seed_place(f, w, v) : w->value + (bough_field(f, v) - f->values);
}

static bough_instance_status tangent_open(bough_instance *f, tangent_work *w) {
  w->seed = calloc(f->array_count + 1, sizeof(double));
  w->value = calloc(7 * f->value_count + (size_t)(f->nq + 3 * f->nu) + 1, sizeof(double));
  w->seen = w->value ? w->value + f->value_count : NULL;
  w->room = w->value ? w->value + 7 * f->value_count : NULL;
  return w->seed && w->value ? INSTANCE_OK : bough_instance_no_memory(f);
}
static void tangent_close(tangent_work *w) {
  free(w->seed);
  free(w->value);
}

static bough_point seed_point(const bough_instance *f, const tangent_work *w) {
  bough_point along = {0};
#define BOUGH_STATE(number, KIND, member, count) along.member = w->seed + (f->member - f->arrays);
#define BOUGH_INPUT(number, KIND, member, count) along.member = w->seed + (f->member - f->arrays);
#include "fields.def"
  return along;
}

/* values of an array that lies like those of the instance */
static bough_values values_in(const bough_instance *f, double *array) {
  bough_values z = {0};
#define BOUGH_VALUE(number, KIND, member, count, type, when) z.member = array + (f->member - f->values);
#include "fields.def"
  return z;
}

/* ---- parameters */

/* A tunable parameter that moves things as a force at its DOF does: that force per unit, and which DOF. Else 0. */
static int as_force(const bough_instance *f, const bough_point *at, int place, double *force, int *dof) {
  const double *own = f->parameters + place;
  const struct {
    const double *first;
    enum { DAMPER, SPRING, REST, ROTOR } what;
  } kinds[] = {{f->damping, DAMPER}, {f->stiffness, SPRING}, {f->rest, REST}, {f->armature, ROTOR}};
  for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
    const int j = (int)(own - kinds[i].first);
    if (own < kinds[i].first || j >= f->nu) continue;
    for (int k = 0; k < f->resource->n_bodies; k++) {
      const bough_range hinge = bough_model_hinge(f->model, k);
      if (j < hinge.u0 || j >= hinge.u0 + hinge.nu) continue;
      const int ball = hinge.nq != hinge.nu && j >= hinge.u0 + hinge.nu - 3; /* its spring acts on the rotation vector */
      if (ball && (kinds[i].what == SPRING || kinds[i].what == REST)) return 0;
      const double stretch = ball ? 0.0 : at->q[hinge.q0 + j - hinge.u0] - f->rest[j];
      *force = kinds[i].what == DAMPER ? -f->u[j] : kinds[i].what == SPRING ? -stretch : kinds[i].what == REST ? f->stiffness[j] : -f->udot[j];
      *dof = j;
      return 1;
    }
  }
  return 0;
}

/* How far to go for a difference: a thousandth of the parameter, or of what is usual beside it. */
static double reach(const bough_instance *f, int place) {
  const double *own = f->parameters + place;
  double size = *own < 0.0 ? -*own : *own;
  const int i = (int)(own - f->rigid);
  if (own >= f->rigid && i < 10 * f->resource->n_bodies) {
    const double *p = own - i % 10; /* mass, com, inertia: moments, then products */
    double least = p[0] * (p[1] * p[1] + p[2] * p[2] + p[3] * p[3]);
    for (int j = 4; j < 7; j++)
      if (p[j] > 0.0 && (!(least > 0.0) || p[j] < least)) least = p[j];
    if (i % 10 >= 1 && i % 10 <= 3 && p[0] > 0.0) size = sqrt(least / p[0]);
    if (i % 10 >= 7 || size == 0.0) size = i % 10 == 0 ? 0.0 : least;
  }
  return 1e-3 * (size > 0.0 ? size : 1.0);
}

/* Add the derivative along one parameter, `seed` times, by a difference. */
static bough_status add_difference(bough_instance *f, tangent_work *w, const bough_point *at, int place, double seed) {
  static const double weight[] = {-25.0, 48.0, -36.0, 16.0, -3.0}; /* over 12 h */
  double *own = f->parameters + place;
  const double now = *own, h = reach(f, place);
  const size_t n = f->value_count;
  double *sum = w->seen + 5 * n;
  bough_status status = BOUGH_OK;
  memset(w->seen, 0, 6 * n * sizeof(double));
  for (int k = 0; k < 5 && status == BOUGH_OK; k++) {
    const bough_values z = values_in(f, w->seen + (size_t)k * n);
    bough_values out = z;
    *own = now + k * h;
    status = bough_mechanism_set_parameters(f);
    if (status == BOUGH_OK) status = bough_evaluate(f->model, f->data, at, f->resource->n_sensors, f->resource->sensor, &out);
    for (size_t i = 0; i < n; i++) sum[i] += weight[k] * (w->seen[(size_t)k * n + i] - w->seen[i]);
  }
  *own = now;
  const bough_status back = bough_mechanism_set_parameters(f);
  for (size_t i = 0; i < n; i++) w->value[i] += seed * sum[i] / (12.0 * h);
  return status != BOUGH_OK ? status : back;
}

/* Parameters that act as forces: those forces, along the seeds. */
static void seed_forces(const bough_instance *f, const tangent_work *w, const bough_point *at, double *extra) {
  const int count = (int)(f->array_count - (size_t)(f->parameters - f->arrays));
  const double *seed = w->seed + (f->parameters - f->arrays);
  memset(extra, 0, (size_t)f->nu * sizeof *extra);
  for (int i = 0; i < count; i++) {
    double force;
    int dof;
    if (seed[i] != 0.0 && as_force(f, at, i, &force, &dof)) extra[dof] += force * seed[i];
  }
}
static bough_status add_differences(bough_instance *f, tangent_work *w, const bough_point *at) {
  const int count = (int)(f->array_count - (size_t)(f->parameters - f->arrays));
  const double *seed = w->seed + (f->parameters - f->arrays);
  bough_status status = BOUGH_OK;
  for (int i = 0; i < count && status == BOUGH_OK; i++) {
    double force;
    int dof;
    if (seed[i] != 0.0 && !as_force(f, at, i, &force, &dof)) status = add_difference(f, w, at, i, seed[i]);
  }
  return status;
}

/* ---- one direction */

/* Before initialization ends values are those of quaternions scaled to one: d (Q/|Q|) = (1 - Q Q'/|Q|^2) dQ / |Q|. */
static void scale_seeds(const bough_instance *f, const bough_point *at, double *dq) {
  for (int k = 0; k < f->resource->n_bodies; k++) {
    const bough_range hinge = bough_model_hinge(f->model, k);
    if (hinge.nq == hinge.nu) continue;
    const int first = hinge.q0 + hinge.nq - 4;
    double square = 0.0, along = 0.0;
    for (int i = first; i < first + 4; i++) square += f->q[i] * f->q[i], along += at->q[i] * dq[i];
    for (int i = first; i < first + 4; i++) dq[i] = (dq[i] - at->q[i] * along) / sqrt(square);
  }
}

static bough_status tangent_kernel(bough_instance *f, tangent_work *w, const bough_point *at) {
  const size_t nq = (size_t)f->nq, nu = (size_t)f->nu;
  double *dq = w->room, *tau = dq + nq, *extra = tau + nu, *held = extra + nu, *force = w->value + (f->force - f->values);
  bough_point along = seed_point(f, w);
  memcpy(dq, along.q, nq * sizeof *dq);
  if (f->now.changed & CHANGED_POSITIONS) scale_seeds(f, at, dq);
  seed_forces(f, w, at, extra);
  for (size_t i = 0; i < nu; i++) tau[i] = along.tau[i] + extra[i];
  along.q = dq, along.tau = tau;
  bough_values dz = values_in(f, w->value);
  bough_status status = bough_directional(f->model, f->data, at, &along, f->resource->n_sensors, f->resource->sensor, &dz);
  if (status == BOUGH_OK) status = bough_data_get(f->data, BOUGH_HELD, held, f->nu);
  for (size_t i = 0; i < nu && status == BOUGH_OK; i++)
    if (held[i] != 0.0) force[i] -= extra[i]; /* what holds a DOF takes what its spring, damper and rotor do not */
  return status == BOUGH_OK ? add_differences(f, w, at) : status;
}

static bough_instance_status tangent_run(bough_instance *f, tangent_work *w) {
  const bough_instance_status ready = bough_mechanism_evaluate(f, 0); /* rotors need accelerations */
  if (ready != INSTANCE_OK) return ready;
  const bough_point at = bough_instance_point(f);
  if (!at.q) return INSTANCE_ERROR;
  const bough_status status = tangent_kernel(f, w, &at);
  if (status == BOUGH_OK) return INSTANCE_OK;
  bough_instance_explain(f, INSTANCE_ERROR, status, bough_data_where(f->data), "derivatives cannot be computed");
  return INSTANCE_ERROR;
}

static const bough_variable *known_variable(bough_instance *f, uint32_t vr) {
  const bough_variable *v = bough_instance_find(f, vr, TYPE_REAL);
  if (!v || v->kind == KIND_TIME || is_known(f, v)) return v;
  bough_instance_log(f, INSTANCE_ERROR, LOG_ERROR, "%s: '%s' is not a known: derivatives are given by states, inputs, time and tunable "
                     "parameters.", f->function, v->name);
  return NULL;
}
static const bough_variable *unknown_variable(bough_instance *f, uint32_t vr) {
  const bough_variable *v = bough_instance_find(f, vr, TYPE_REAL);
  if (!v || v->role == ROLE_OUTPUT || v->role == ROLE_LOCAL) return v;
  bough_instance_log(f, INSTANCE_ERROR, LOG_ERROR, "%s: '%s' is not an unknown: derivatives are given of outputs and derivatives.", f->function, v->name);
  return NULL;
}

bough_instance_status bough_mechanism_directional(bough_instance *f, const uint32_t *unknowns, size_t n_unknowns, const uint32_t *knowns,
                           size_t n_knowns, const double *seed, double *sensitivity) {
  tangent_work w = {0};
  bough_instance_status status = tangent_open(f, &w);
  for (size_t i = 0; status == INSTANCE_OK && i < n_unknowns; i++)
    if (!unknown_variable(f, unknowns[i])) status = INSTANCE_ERROR;
  for (size_t i = 0; status == INSTANCE_OK && i < n_knowns; i++) {
    const bough_variable *v = known_variable(f, knowns[i]);
    if (!v) status = INSTANCE_ERROR;
    for (int c = 0; v && c < v->count; c++, seed++)
      if (v->kind != KIND_TIME) seed_place(f, &w, v)[c] += *seed;
  }
  if (status == INSTANCE_OK) status = tangent_run(f, &w);
  for (size_t i = 0; status == INSTANCE_OK && i < n_unknowns; i++) {
    const bough_variable *v = f->resource->variable + unknowns[i];
    for (int c = 0; c < v->count; c++) *sensitivity++ = derivative_place(f, &w, v)[c];
  }
  tangent_close(&w);
  return status;
}

bough_instance_status bough_mechanism_adjoint(bough_instance *f, const uint32_t *unknowns, size_t n_unknowns, const uint32_t *knowns,
                       size_t n_knowns, const double *seed, double *sensitivity) {
  tangent_work w = {0};
  bough_instance_status status = tangent_open(f, &w);
  for (size_t i = 0; status == INSTANCE_OK && i < n_unknowns; i++)
    if (!unknown_variable(f, unknowns[i])) status = INSTANCE_ERROR;
  for (size_t i = 0; status == INSTANCE_OK && i < n_knowns; i++)
    if (!known_variable(f, knowns[i])) status = INSTANCE_ERROR;
  for (size_t i = 0; status == INSTANCE_OK && i < n_knowns; i++) { /* one direction per known: column dotted with the seed */
    const bough_variable *v = f->resource->variable + knowns[i];
    for (int c = 0; status == INSTANCE_OK && c < v->count; c++) {
      double sum = 0.0;
      if (v->kind == KIND_TIME) {
        *sensitivity++ = 0.0;
        continue;
      }
      seed_place(f, &w, v)[c] = 1.0;
      status = tangent_run(f, &w);
      const double *s = seed;
      for (size_t j = 0; j < n_unknowns; j++) {
        const bough_variable *z = f->resource->variable + unknowns[j];
        for (int e = 0; e < z->count; e++) sum += *s++ * derivative_place(f, &w, z)[e];
      }
      seed_place(f, &w, v)[c] = 0.0;
      *sensitivity++ = sum;
    }
  }
  tangent_close(&w);
  return status;
}

/* time derivative of outputs: along the flow, and along the inputs' own derivatives */
bough_instance_status bough_mechanism_output_rates(bough_instance *f, const uint32_t *vr, size_t count, double *value) {
  tangent_work w = {0};
  bough_instance_status status = bough_mechanism_evaluate(f, 0);
  if (status != INSTANCE_OK) return status;
  status = tangent_open(f, &w);
  for (size_t i = 0; status == INSTANCE_OK && i < count; i++)
    if (!unknown_variable(f, vr[i])) status = INSTANCE_ERROR;
  if (status == INSTANCE_OK) {
    memcpy(w.seed + (f->q - f->arrays), f->qdot, (size_t)f->nq * sizeof(double));
    memcpy(w.seed + (f->u - f->arrays), f->udot, (size_t)f->nu * sizeof(double));
    memcpy(w.seed + (f->inputs - f->arrays), f->inputs_dot, (size_t)f->inputs_width * sizeof(double));
    status = tangent_run(f, &w);
  }
  for (size_t i = 0; status == INSTANCE_OK && i < count; i++) {
    const bough_variable *v = f->resource->variable + vr[i];
    for (int c = 0; c < v->count; c++) *value++ = derivative_place(f, &w, v)[c];
  }
  tangent_close(&w);
  return status;
}
