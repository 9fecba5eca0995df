/* instance.c - life of an instance: creation, start values, initialization, reset, end. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "fmu.h"

/* which kinds exist, and whether a variable of that kind may have this type and role */
int fmu_kind_ok(int kind, int type, int role) {
  switch (kind) {
    case KIND_TIME: return type == TYPE_REAL && role == ROLE_INDEPENDENT;
    case KIND_TAU: case KIND_MOTION: case KIND_LOAD: return type == TYPE_REAL && role == ROLE_INPUT;
    case KIND_LOCKED: return type == TYPE_BOOLEAN && role == ROLE_TUNABLE;
    case KIND_SOLVER_METHOD: return type == TYPE_INTEGER && role == ROLE_FIXED;
    case KIND_SOLVER_STEP: case KIND_SOLVER_TOLERANCE: case KIND_SOLVER_MAX_STEP: return type == TYPE_REAL && role == ROLE_FIXED;
    default: break;
  }
  if (kind >= KIND_GRAVITY && kind <= KIND_RIGID) return type == TYPE_REAL && role == ROLE_TUNABLE;
  const int computed = kind >= KIND_Q && kind <= KIND_REACTION; /* inputs, which lie between, have been dealt with */
  return computed && type == TYPE_REAL && (role == ROLE_OUTPUT || role == ROLE_LOCAL);
}

/* how many numbers there are of a kind */
static int kind_size(const fmu_instance *f, int kind) {
  const int nb = f->resource->n_bodies, ns = f->resource->n_sensors;
  switch (kind) {
    case KIND_Q: case KIND_QDOT: return f->nq;
    case KIND_U: case KIND_UDOT: case KIND_TAU: case KIND_MOTION: case KIND_FORCE:
    case KIND_DAMPING: case KIND_STIFFNESS: case KIND_REST: case KIND_ARMATURE: return f->nu;
    case KIND_LOAD: return 6 * f->n_loads;
    case KIND_POSE: return 7 * ns;
    case KIND_VELOCITY: case KIND_ACCELERATION: return 6 * ns;
    case KIND_REACTION: return 6 * nb;
    case KIND_GRAVITY: return 3;
    case KIND_MODAL_DAMPING: case KIND_LOCKED: return nb;
    case KIND_RIGID: return 10 * nb;
    default: return 1;
  }
}

static int table_fits(const fmu_instance *f) {
  const fmu_resource *r = f->resource;
  if (r->n_bodies != bough_model_sizes(f->model).bodies) return 0;
  for (int i = 0; i < r->n_sensors; i++)
    if (r->sensor[i] < 0 || r->sensor[i] >= bough_model_sizes(f->model).nodes) return 0;
  for (int i = 0; i < r->n_variables; i++)
    if (r->variable[i].index > kind_size(f, r->variable[i].kind) - r->variable[i].count) return 0;
  return 1;
}

/* every array in one allocation; those that a snapshot holds first */
static int make_arrays(fmu_instance *f) {
  const size_t nq = (size_t)f->nq, nu = (size_t)f->nu, nl = 6 * (size_t)f->n_loads;
  const size_t nb = (size_t)f->resource->n_bodies, ns = (size_t)f->resource->n_sensors;
  const struct {
    double **array;
    size_t count;
  } saved[] = {{&f->q, nq}, {&f->u, nu}, {&f->tau, nu}, {&f->motion, nu}, {&f->loads, nl},
               {&f->inputs_dot, INPUT_ORDERS * (2 * nu + nl)}, {&f->gravity, 3}, {&f->damping, nu},
               {&f->stiffness, nu}, {&f->rest, nu}, {&f->armature, nu}, {&f->modal, nb}, {&f->rigid, 10 * nb},
               {&f->locked, nb}},
    computed[] = {{&f->qdot, nq}, {&f->udot, nu}, {&f->force, nu}, {&f->reaction, 6 * nb}, {&f->pose, 7 * ns},
                  {&f->velocity, 6 * ns}, {&f->acceleration, 6 * ns}, {&f->work, 6 * nu + 2 * nq + nl + 20},
                  {&f->inertia, 10 * nb}, {&f->held, nu}};
  size_t total = 0;
  for (size_t i = 0; i < sizeof saved / sizeof *saved; i++) total += saved[i].count;
  f->array_count = total;
  for (size_t i = 0; i < sizeof computed / sizeof *computed; i++) total += computed[i].count;
  double *p = calloc(total + 1, sizeof(double));
  f->arrays = p;
  f->stop = calloc(nu + 1, 1);
  f->first = calloc(f->array_count + 1, sizeof(double));
  f->free_slot = calloc(f->array_count + 1, 1);
  if (!p || !f->stop || !f->first || !f->free_slot) return fmu_no_memory(f) == FMU_OK;
  for (size_t i = 0; i < sizeof saved / sizeof *saved; i++) *saved[i].array = p, p += saved[i].count;
  for (size_t i = 0; i < sizeof computed / sizeof *computed; i++) *computed[i].array = p, p += computed[i].count;
  return 1;
}

/* all start values, parameters and switches as the model file has them */
static fmu_status start_values(fmu_instance *f) {
  fmu_status worst = FMU_OK;
  const fmu_resource *r = f->resource;
  memset(f->arrays, 0, f->array_count * sizeof(double));
  bough_data_get(f->data, BOUGH_DAMPING, f->damping, f->nu), bough_data_get(f->data, BOUGH_REST, f->rest, f->nu);
  for (int k = 0; k < r->n_bodies; k++) f->modal[k] = 1.0;
  f->now.solver_tolerance = 1e-6, f->now.solver_method = BOUGH_DOPRI5, f->now.solver_step = 1e-3;
  f->now.solver_max_step = 0.0;
  f->now.time = f->now.start_time = f->now.stop_time = f->now.input_time = 0.0;
  f->now.stop_defined = f->now.running = f->now.changed = f->now.jumped = f->now.input_order = 0;
  f->now.state = AT_INSTANTIATED;
  f->dynamics_fresh = f->sensors_fresh = 0;
  for (int i = 0; i < r->n_variables; i++) {
    const fmu_variable *v = r->variable + i;
    if (v->role == ROLE_LOCAL || v->role == ROLE_INDEPENDENT || (v->role == ROLE_OUTPUT && v->kind != KIND_Q && v->kind != KIND_U))
      continue;
    if (fmu_set(f, v, r->start + v->start) != FMU_OK) worst = FMU_ERROR;
  }
  f->now.changed = CHANGED_PARAMETERS | CHANGED_POSITIONS;
  f->now.tolerance_set = 0;
  return worst;
}

/* What a reset goes back to, and what a state from outside may change: states, and what a variable sets. */
static void keep_start(fmu_instance *f) {
  const fmu_resource *r = f->resource;
  memcpy(f->first, f->arrays, f->array_count * sizeof(double));
  f->first_clock = f->now;
  bough_data_get(f->data, BOUGH_INERTIA, f->inertia, 10 * r->n_bodies);
  bough_data_get(f->data, BOUGH_HELD, f->held, f->nu);
  memset(f->free_slot, 1, (size_t)(f->nq + f->nu));
  memset(f->free_slot + (f->inputs_dot - f->arrays), 1, (size_t)(f->gravity - f->inputs_dot));
  for (int i = 0; i < r->n_variables; i++) {
    const fmu_variable *v = r->variable + i;
    const double *own = fmu_place(f, v);
    if (own && (v->role == ROLE_FIXED || v->role == ROLE_TUNABLE || v->role == ROLE_INPUT))
      memset(f->free_slot + (own - f->arrays), 1, (size_t)v->count);
  }
}

void fmu_free(fmu_instance *f) {
  if (!f) return;
  bough_sim_free(f->sim);
  bough_data_free(f->data);
  bough_model_free(f->model);
  free((void *)f->resource);
  free(f->bytes);
  free(f->arrays);
  free(f->stop);
  free(f->first);
  free(f->free_slot);
  free(f->name);
  free(f);
}

static int open_model(fmu_instance *f) {
  bough_status status = bough_model_create(f->resource->block, f->resource->block_size, &f->model);
  if (status == BOUGH_OK) status = bough_data_create(f->model, BOUGH_LANES_TANGENT, &f->data);
  if (status == BOUGH_NO_MEMORY) return fmu_no_memory(f) == FMU_OK;
  if (status != BOUGH_OK) {
    fmu_log(f, FMU_ERROR, LOG_ERROR, "instantiation: the model cannot be opened: %s. Cure: build the FMU again with the "
            "same version of bough.", bough_status_text(status));
    return 0;
  }
  const bough_sizes sizes = bough_model_sizes(f->model);
  f->nq = sizes.nq, f->nu = sizes.nu, f->n_loads = sizes.loads;
  if (table_fits(f)) return 1;
  fmu_log(f, FMU_ERROR, LOG_ERROR, "instantiation: the table of variables does not fit the model. Cure: build the FMU again.");
  return 0;
}

fmu_instance *fmu_create(const char *name, const char *token, const char *location, int cosimulation, int log_mask,
                         fmu_log_fn log, void *host) {
  fmu_instance *f = fmu_open(name, token, location, cosimulation, log_mask, log, host);
  if (!f) return NULL;
  if (!open_model(f) || !make_arrays(f) || start_values(f) != FMU_OK) {
    fmu_free(f);
    return NULL;
  }
  keep_start(f);
  f->log_mask = log_mask;
  return f;
}

fmu_status fmu_reset(fmu_instance *f) {
  bough_sim_free(f->sim);
  f->sim = NULL;
  memset(&f->sim_options, 0, sizeof f->sim_options);
  memcpy(f->arrays, f->first, f->array_count * sizeof(double));
  f->now = f->first_clock;
  f->dynamics_fresh = f->sensors_fresh = 0;
  return FMU_OK;
}

fmu_status fmu_enter_initialization(fmu_instance *f) {
  f->now.state = AT_INITIALIZATION;
  f->now.changed |= CHANGED_PARAMETERS;
  return FMU_OK;
}

fmu_status fmu_exit_initialization(fmu_instance *f) {
  fmu_status status = fmu_apply(f);
  if (status != FMU_OK) return status;
  status = fmu_evaluate(f, 0); /* a model that cannot move says so here, not in the first step */
  if (status != FMU_OK) return status;
  f->now.state = f->now.cosimulation ? AT_STEP : AT_EVENT;
  f->now.running = 1;
  return FMU_OK;
}
