/* evaluate.c - parameters into the kernel, values out of it, and exact derivatives. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "fmu.h"

void fmu_explain(fmu_instance *f, fmu_status level, bough_status status, bough_where where, const char *what) {
  const fmu_resource *r = f->resource;
  const int known = where.body >= 0 && where.body < r->n_bodies;
  const char *cure = status == BOUGH_SINGULAR ? "give the body, or what hangs on it, mass and inertia about the hinge's axes, or an armature"
                     : status == BOUGH_STEP_TOO_SMALL ? "loosen solver.tolerance, enlarge solver.step, take shorter communication steps, or look for inputs that are huge or jump"
                     : status == BOUGH_NOT_FINITE ? "look for an unstable motion; solver.method = 2 (rosenbrock2) takes stiff modes"
                     : status == BOUGH_NO_MEMORY ? FMU_NO_MEMORY_CURE
                                                  : "check the model and its parameters";
  fmu_log(f, level, LOG_ERROR, "%s: %s at t = %.9g s: %s%s%s%s%s%s. Cure: %s.", f->function, what, f->now.time,
          bough_status_text(status), known ? " (body '" : "", known ? r->body_name[where.body] : "",
          known ? "', hinge '" : "", known ? r->hinge_name[where.body] : "", known ? "')" : "", cure);
}

/* held DOFs: driven ones as the model has them, and those of locked hinges; `stop` gets those that still move */
static bough_status set_held(fmu_instance *f, int *newly) {
  double *held = f->work;
  *newly = 0;
  memset(f->stop, 0, (size_t)f->nu);
  memcpy(held, f->held, (size_t)f->nu * sizeof *held);
  for (int i = 0; i < f->resource->n_variables; i++) { /* only hinges with a `locked` parameter can change */
    const fmu_variable *v = f->resource->variable + i;
    if (v->kind != KIND_LOCKED) continue;
    const bough_range hinge = bough_model_hinge(f->model, v->index);
    const int lock = f->locked[v->index] != 0.0;
    for (int j = hinge.u0; j < hinge.u0 + hinge.nu; j++) {
      held[j] = lock;
      f->stop[j] = lock && f->u[j] != 0.0;
      *newly |= f->stop[j];
    }
  }
  return bough_data_set(f->data, BOUGH_HELD, held, f->nu);
}

static fmu_status apply_held(fmu_instance *f) {
  int newly;
  if (set_held(f, &newly) != BOUGH_OK) return FMU_ERROR;
  if (!newly) return FMU_OK;
  if (!f->now.running) { /* before the run a locked hinge simply does not move */
    for (int j = 0; j < f->nu; j++)
      if (f->stop[j]) f->u[j] = 0.0;
    return FMU_OK;
  }
  const bough_status status = bough_stop_impulse(f->model, f->data, f->q, f->stop, f->u);
  if (status != BOUGH_OK) {
    fmu_explain(f, FMU_ERROR, status, bough_data_where(f->data), "a hinge cannot be locked");
    return FMU_ERROR;
  }
  if (f->sim) bough_sim_set(f->sim, f->q, f->u);
  f->now.jumped = 1;
  fmu_log(f, FMU_OK, LOG_EVENTS, "%s: hinges locked at t = %.9g s; speeds jump, momentum is kept", f->function, f->now.time);
  return FMU_OK;
}

/* start values of quaternions: any length but zero */
static int fix_quaternions(fmu_instance *f) {
  for (int k = 0; k < f->resource->n_bodies; k++) {
    const bough_range hinge = bough_model_hinge(f->model, k);
    if (hinge.nq == hinge.nu) continue;
    const double *Q = f->q + (hinge.q0 + hinge.nq - 4);
    if (Q[0] * Q[0] + Q[1] * Q[1] + Q[2] * Q[2] + Q[3] * Q[3] > 0.0) continue;
    fmu_log(f, FMU_ERROR, LOG_ERROR, "%s: the start values '%s.Q[1]' to '%s.Q[4]' are all zero: a quaternion has length one. "
            "Cure: set them to 0, 0, 0, 1 for frames that agree.", f->function, f->resource->hinge_name[k],
            f->resource->hinge_name[k]);
    return 0;
  }
  bough_normalize(f->model, f->q);
  return 1;
}

static bough_status set_parameters(fmu_instance *f) {
  const int nb = f->resource->n_bodies;
  bough_status status = bough_data_set(f->data, BOUGH_GRAVITY, f->gravity, 3);
  if (status == BOUGH_OK) status = bough_data_set(f->data, BOUGH_DAMPING, f->damping, f->nu);
  if (status == BOUGH_OK) status = bough_data_set(f->data, BOUGH_STIFFNESS, f->stiffness, f->nu);
  if (status == BOUGH_OK) status = bough_data_set(f->data, BOUGH_REST, f->rest, f->nu);
  if (status == BOUGH_OK) status = bough_data_set(f->data, BOUGH_ARMATURE, f->armature, f->nu);
  if (status == BOUGH_OK) status = bough_data_set(f->data, BOUGH_MODAL_DAMPING_SCALE, f->modal, nb);
  for (int i = 0; status == BOUGH_OK && i < f->resource->n_variables; i++) {
    const fmu_variable *v = f->resource->variable + i;
    if (v->kind != KIND_RIGID || v->index % 10 != 0) continue;
    const double *p = f->rigid + v->index;
    status = bough_data_set_rigid(f->data, v->index / 10, p[0], p + 1, p + 4);
  }
  return status;
}

void fmu_state_taken(fmu_instance *f) {
  int newly;
  bough_status status = bough_data_set(f->data, BOUGH_INERTIA, f->inertia, 10 * f->resource->n_bodies);
  if (status == BOUGH_OK) status = set_parameters(f);
  if (status == BOUGH_OK) status = set_held(f, &newly);
  if (status != BOUGH_OK) f->now.changed |= CHANGED_PARAMETERS; /* refused when they are next needed, with the reason */
}

fmu_status fmu_apply(fmu_instance *f) {
  if (!f->now.changed) return FMU_OK;
  const bough_status status = set_parameters(f);
  if (status != BOUGH_OK) {
    fmu_log(f, FMU_ERROR, LOG_ERROR, "%s: parameters are refused: %s", f->function, bough_status_text(status));
    return FMU_ERROR;
  }
  if ((f->now.changed & CHANGED_POSITIONS) && !fix_quaternions(f)) return FMU_ERROR;
  f->now.changed = 0;
  if (f->sim) bough_sim_disturb(f->sim);
  f->dynamics_fresh = f->sensors_fresh = 0;
  return apply_held(f);
}

static bough_point point_of(const fmu_instance *f) {
  const bough_point at = {f->now.time, f->q, f->u, f->tau, f->motion, f->loads, NULL};
  return at;
}

fmu_status fmu_evaluate(fmu_instance *f, int sensors) {
  const fmu_status applied = fmu_apply(f);
  if (applied != FMU_OK) return applied;
  const int dynamics = !f->dynamics_fresh, motions = sensors && !f->sensors_fresh && f->resource->n_sensors > 0;
  if (!dynamics && !motions) return FMU_OK;
  bough_point at = point_of(f);
  bough_values values = {0};
  if (dynamics)
    values.qdot = f->qdot, values.udot = f->udot, values.force = f->force, values.reaction = f->reaction;
  else
    at.udot = f->udot;
  if (motions) values.pose = f->pose, values.velocity = f->velocity, values.acceleration = f->acceleration;
  const bough_status status = bough_evaluate(f->model, f->data, &at, f->resource->n_sensors, f->resource->sensor, &values);
  if (status != BOUGH_OK) {
    fmu_explain(f, FMU_ERROR, status, bough_data_where(f->data), "accelerations cannot be computed");
    return FMU_ERROR;
  }
  f->dynamics_fresh = 1;
  f->sensors_fresh |= motions;
  return FMU_OK;
}

/* ---- derivatives */
typedef struct {
  double *q, *u, *tau, *motion, *loads;
} knowns_view;

static double *known_place(const knowns_view *x, const fmu_variable *v) {
  switch (v->kind) {
    case KIND_Q: return x->q + v->index;
    case KIND_U: return x->u + v->index;
    case KIND_TAU: return x->tau + v->index;
    case KIND_MOTION: return x->motion + v->index;
    case KIND_LOAD: return x->loads + v->index;
    default: return NULL;
  }
}

typedef struct {
  double *seed, *value; /* one allocation each: directions, and derivatives of everything */
  knowns_view dx;
  bough_values dz;
} tangent_work;

static fmu_status tangent_open(fmu_instance *f, tangent_work *w) {
  const size_t nq = (size_t)f->nq, nu = (size_t)f->nu, nl = 6 * (size_t)f->n_loads, nb = (size_t)f->resource->n_bodies;
  const size_t ns = (size_t)f->resource->n_sensors;
  w->seed = calloc(nq + 3 * nu + nl + 1, sizeof(double));
  w->value = calloc(nq + 2 * nu + 6 * nb + 19 * ns + 1, sizeof(double));
  if (!w->seed || !w->value) return fmu_no_memory(f);
  w->dx.q = w->seed, w->dx.u = w->dx.q + nq, w->dx.tau = w->dx.u + nu, w->dx.motion = w->dx.tau + nu;
  w->dx.loads = w->dx.motion + nu;
  w->dz.qdot = w->value, w->dz.udot = w->dz.qdot + nq, w->dz.force = w->dz.udot + nu;
  w->dz.reaction = w->dz.force + nu, w->dz.pose = w->dz.reaction + 6 * nb;
  w->dz.velocity = w->dz.pose + 7 * ns, w->dz.acceleration = w->dz.velocity + 6 * ns;
  return FMU_OK;
}
static void tangent_close(tangent_work *w) {
  free(w->seed);
  free(w->value);
}

static fmu_status tangent_run(fmu_instance *f, tangent_work *w) {
  fmu_status applied = fmu_apply(f);
  if (applied != FMU_OK) return applied;
  const bough_point at = point_of(f), along = {0.0, w->dx.q, w->dx.u, w->dx.tau, w->dx.motion, w->dx.loads, NULL};
  const bough_status status = bough_directional(f->model, f->data, &at, &along, f->resource->n_sensors,
                                                f->resource->sensor, &w->dz);
  if (status == BOUGH_OK) return FMU_OK;
  fmu_explain(f, FMU_ERROR, status, bough_data_where(f->data), "derivatives cannot be computed");
  return FMU_ERROR;
}

static const double *unknown_place(const tangent_work *w, const fmu_variable *v) {
  const double *known = known_place(&w->dx, v);
  if (known) return known;
  switch (v->kind) {
    case KIND_QDOT: return w->dz.qdot + v->index;
    case KIND_UDOT: return w->dz.udot + v->index;
    case KIND_FORCE: return w->dz.force + v->index;
    case KIND_REACTION: return w->dz.reaction + v->index;
    case KIND_POSE: return w->dz.pose + v->index;
    case KIND_VELOCITY: return w->dz.velocity + v->index;
    case KIND_ACCELERATION: return w->dz.acceleration + v->index;
    default: return NULL;
  }
}

static const fmu_variable *known_variable(fmu_instance *f, uint32_t vr) {
  const fmu_variable *v = fmu_find(f, vr, TYPE_REAL);
  const knowns_view view = {f->q, f->u, f->tau, f->motion, f->loads};
  if (!v || known_place(&view, v)) return v;
  fmu_log(f, FMU_ERROR, LOG_ERROR, "%s: '%s' is not a known: derivatives are given by states and inputs.", f->function, v->name);
  return NULL;
}
static const fmu_variable *unknown_variable(fmu_instance *f, uint32_t vr) {
  const fmu_variable *v = fmu_find(f, vr, TYPE_REAL);
  if (!v || v->role == ROLE_OUTPUT || v->role == ROLE_LOCAL) return v;
  fmu_log(f, FMU_ERROR, LOG_ERROR, "%s: '%s' is not an unknown: derivatives are given of outputs and derivatives.", f->function, v->name);
  return NULL;
}

fmu_status fmu_directional(fmu_instance *f, const uint32_t *unknowns, size_t n_unknowns, const uint32_t *knowns,
                           size_t n_knowns, const double *seed, double *sensitivity) {
  tangent_work w = {0};
  fmu_status status = tangent_open(f, &w);
  for (size_t i = 0; status == FMU_OK && i < n_unknowns; i++)
    if (!unknown_variable(f, unknowns[i])) status = FMU_ERROR;
  for (size_t i = 0; status == FMU_OK && i < n_knowns; i++) {
    const fmu_variable *v = known_variable(f, knowns[i]);
    if (!v) status = FMU_ERROR;
    for (int c = 0; v && c < v->count; c++) known_place(&w.dx, v)[c] += *seed++;
  }
  if (status == FMU_OK) status = tangent_run(f, &w);
  for (size_t i = 0; status == FMU_OK && i < n_unknowns; i++) {
    const fmu_variable *v = f->resource->variable + unknowns[i];
    for (int c = 0; c < v->count; c++) *sensitivity++ = unknown_place(&w, v)[c];
  }
  tangent_close(&w);
  return status;
}

fmu_status fmu_adjoint(fmu_instance *f, const uint32_t *unknowns, size_t n_unknowns, const uint32_t *knowns,
                       size_t n_knowns, const double *seed, double *sensitivity) {
  tangent_work w = {0};
  fmu_status status = tangent_open(f, &w);
  for (size_t i = 0; status == FMU_OK && i < n_unknowns; i++)
    if (!unknown_variable(f, unknowns[i])) status = FMU_ERROR;
  for (size_t i = 0; status == FMU_OK && i < n_knowns; i++)
    if (!known_variable(f, knowns[i])) status = FMU_ERROR;
  for (size_t i = 0; status == FMU_OK && i < n_knowns; i++) { /* one direction per known: column dotted with the seed */
    const fmu_variable *v = f->resource->variable + knowns[i];
    for (int c = 0; status == FMU_OK && c < v->count; c++) {
      known_place(&w.dx, v)[c] = 1.0;
      status = tangent_run(f, &w);
      double sum = 0.0;
      const double *s = seed;
      for (size_t j = 0; j < n_unknowns; j++) {
        const fmu_variable *z = f->resource->variable + unknowns[j];
        for (int e = 0; e < z->count; e++) sum += *s++ * unknown_place(&w, z)[e];
      }
      known_place(&w.dx, v)[c] = 0.0;
      *sensitivity++ = sum;
    }
  }
  tangent_close(&w);
  return status;
}

/* time derivative of outputs: along the flow, and along the inputs' own derivatives */
fmu_status fmu_output_rates(fmu_instance *f, const uint32_t *vr, size_t count, double *value) {
  tangent_work w = {0};
  fmu_status status = fmu_evaluate(f, 0);
  if (status != FMU_OK) return status;
  status = tangent_open(f, &w);
  for (size_t i = 0; status == FMU_OK && i < count; i++)
    if (!unknown_variable(f, vr[i])) status = FMU_ERROR;
  if (status == FMU_OK) {
    const size_t nu = (size_t)f->nu * sizeof(double);
    memcpy(w.dx.q, f->qdot, (size_t)f->nq * sizeof(double)), memcpy(w.dx.u, f->udot, nu);
    memcpy(w.dx.tau, f->inputs_dot, nu), memcpy(w.dx.motion, f->inputs_dot + f->nu, nu);
    memcpy(w.dx.loads, f->inputs_dot + 2 * f->nu, 6 * (size_t)f->n_loads * sizeof(double));
    status = tangent_run(f, &w);
  }
  for (size_t i = 0; status == FMU_OK && i < count; i++) {
    const fmu_variable *v = f->resource->variable + vr[i];
    for (int c = 0; c < v->count; c++) *value++ = unknown_place(&w, v)[c];
  }
  tangent_close(&w);
  return status;
}
