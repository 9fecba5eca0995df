/* mechanism.c - life of a mechanism: creation, start values, initialization, reset, end. */
#include <stdlib.h>
#include <string.h>

#include "inside.h"

static int table_fits(const bough_instance *f) {
  const bough_resource *r = f->resource;
  if (r->n_bodies != bough_model_sizes(f->model).bodies) return 0;
  for (int i = 0; i < r->n_sensors; i++)
    if (r->sensor[i] < 0 || r->sensor[i] >= bough_model_sizes(f->model).nodes) return 0;
  for (int i = 0; i < r->n_variables; i++)
    if (r->variable[i].index > bough_field_count(f, r->variable[i].kind) - r->variable[i].count) return 0;
  return 1;
}

/* Every array in one allocation; those that a snapshot holds first. */
typedef struct {
  size_t member; /* of the instance: a pointer to numbers */
  int kind;
} array;
static const array states[] = {
#define BOUGH_STATE(number, KIND, member, count) {offsetof(bough_instance, member), KIND_##KIND},
#include "fields.def"
}, inputs[] = {
#define BOUGH_INPUT(number, KIND, member, count) {offsetof(bough_instance, member), KIND_##KIND},
#include "fields.def"
}, parameters[] = {
#define BOUGH_PARAMETER(number, KIND, member, count, type, range, kernel) {offsetof(bough_instance, member), KIND_##KIND},
#include "fields.def"
}, discrete[] = {
#define BOUGH_DISCRETE(number, KIND, member, count, kernel) {offsetof(bough_instance, member), KIND_##KIND},
#include "fields.def"
}, values[] = {
#define BOUGH_VALUE(number, KIND, member, count, type, when) {offsetof(bough_instance, member), KIND_##KIND},
#include "fields.def"
};
#define COUNT(list) (sizeof(list) / sizeof *(list))

/* from `p` on, if there is a place; the sum of their sizes */
static size_t lay_out(bough_instance *f, const array *list, size_t count, double *p) {
  size_t sum = 0;
  for (size_t i = 0; i < count; i++) {
    if (p) *(double **)(void *)((char *)f + list[i].member) = p + sum;
    sum += (size_t)bough_field_count(f, list[i].kind);
  }
  return sum;
}

static int make_arrays(bough_instance *f) {
  const size_t nu = (size_t)f->nu, nb = (size_t)f->resource->n_bodies;
  const size_t n_states = lay_out(f, states, COUNT(states), NULL), n_inputs = lay_out(f, inputs, COUNT(inputs), NULL);
  const size_t n_parameters = lay_out(f, parameters, COUNT(parameters), NULL);
  const size_t n_values = lay_out(f, values, COUNT(values), NULL), n_modes = lay_out(f, discrete, COUNT(discrete), NULL);
  f->inputs_width = (int)n_inputs;
  f->array_count = n_states + (1 + INPUT_ORDERS) * n_inputs + n_parameters + n_modes;
  const size_t n_closing = bough_model_sizes(f->model).rows > 0 ? 2 * (size_t)(f->nq + f->nu) : 0;
  double *p = calloc(f->array_count + n_values + n_inputs + (size_t)(f->nq + f->nu) + n_closing + 10 * nb + nu + 1, sizeof(double));
  f->arrays = p;
  f->stop = calloc(nu + 1, 1);
  f->first = calloc(f->array_count + 1, sizeof(double));
  f->free_slot = calloc(f->array_count + 1, 1);
  if (!p || !f->stop || !f->first || !f->free_slot) return bough_instance_no_memory(f) == INSTANCE_OK;
  p += lay_out(f, states, COUNT(states), p);
  f->inputs = p, p += lay_out(f, inputs, COUNT(inputs), p);
  f->inputs_dot = p, p += INPUT_ORDERS * n_inputs;
  f->parameters = p, p += lay_out(f, parameters, COUNT(parameters), p);
  p += lay_out(f, discrete, COUNT(discrete), p);
  f->values = p, p += lay_out(f, values, COUNT(values), p);
  f->value_count = n_values;
  f->stage_inputs = p, p += n_inputs;
  f->work = p, p += f->nq + f->nu;
  f->closing = p, p += n_closing;
  f->inertia = p, p += 10 * nb;
  f->held = p;
  return 1;
}

/* all start values, parameters and switches as the model file has them */
static bough_instance_status start_values(bough_instance *f) {
  bough_instance_status worst = INSTANCE_OK;
  const bough_resource *r = f->resource;
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
    const bough_variable *v = r->variable + i;
    if (v->role == ROLE_LOCAL || v->role == ROLE_INDEPENDENT || (v->role == ROLE_OUTPUT && v->kind != KIND_Q && v->kind != KIND_U))
      continue;
    if (bough_instance_set(f, v, r->start + v->start) != INSTANCE_OK) worst = INSTANCE_ERROR;
  }
  memset(f->written, 0, (size_t)bough_field_count(f, KIND_WRITTEN) * sizeof(double));
  f->now.changed = CHANGED_PARAMETERS | CHANGED_POSITIONS;
  f->now.tolerance_set = 0;
  return worst;
}

/* What a reset goes back to, and what a state from outside may change: states, and what a variable sets. */
static void keep_start(bough_instance *f) {
  const bough_resource *r = f->resource;
  memcpy(f->first, f->arrays, f->array_count * sizeof(double));
  f->first_clock = f->now;
  bough_data_get(f->data, BOUGH_INERTIA, f->inertia, 10 * r->n_bodies);
  bough_data_get(f->data, BOUGH_HELD, f->held, f->nu);
  memset(f->free_slot, 1, (size_t)(f->inputs - f->arrays));
  memset(f->free_slot + (f->inputs_dot - f->arrays), 1, (size_t)(f->parameters - f->inputs_dot));
  memset(f->free_slot + (f->written - f->arrays), 1, (size_t)bough_field_count(f, KIND_WRITTEN));
  memset(f->free_slot + (f->mode - f->arrays), 1, (size_t)bough_field_count(f, KIND_MODE));
  for (int i = 0; i < r->n_variables; i++) {
    const bough_variable *v = r->variable + i;
    const double *own = bough_field(f, v);
    if (own && (v->role == ROLE_FIXED || v->role == ROLE_TUNABLE || v->role == ROLE_INPUT))
      memset(f->free_slot + (own - f->arrays), 1, (size_t)v->count);
  }
}

static void close(bough_instance *f) {
  free(f->stop);
  free(f->first);
  free(f->free_slot);
}

static int open_model(bough_instance *f) {
  bough_status status = bough_model_create(f->resource->block, f->resource->block_size, &f->model);
  if (status == BOUGH_OK) status = bough_data_create(f->model, BOUGH_LANES_TANGENT, &f->data);
  if (status == BOUGH_NO_MEMORY) return bough_instance_no_memory(f) == INSTANCE_OK;
  if (status != BOUGH_OK) {
    bough_instance_log(f, INSTANCE_ERROR, LOG_ERROR, "instantiation: the model cannot be opened: %s. Cure: build the FMU again with the "
            "same version of bough.", bough_status_text(status));
    return 0;
  }
  const bough_sizes sizes = bough_model_sizes(f->model);
  f->nq = sizes.nq, f->nu = sizes.nu, f->n_loads = sizes.loads;
  f->data->pull = f->now.cosimulation ? 0.0 : BOUGH_PULL; /* a step of one's own is projected instead */
  for (int i = 0; i < f->resource->n_variables; i++) {
    f->has_local |= f->resource->variable[i].kind == KIND_LOCAL;
    f->has_deflection |= f->resource->variable[i].kind == KIND_DEFLECTION;
  }
  if (table_fits(f)) return 1;
  bough_instance_log(f, INSTANCE_ERROR, LOG_ERROR, "instantiation: the table of variables does not fit the model. Cure: build the FMU again.");
  return 0;
}

static int open(bough_instance *f) {
  if (!open_model(f) || !make_arrays(f) || start_values(f) != INSTANCE_OK) return 0;
  keep_start(f);
  return 1;
}

static void reset(bough_instance *f) {
  bough_sim_free(f->sim);
  f->sim = NULL;
  memset(&f->sim_options, 0, sizeof f->sim_options);
  memcpy(f->arrays, f->first, f->array_count * sizeof(double));
  f->now = f->first_clock;
  bough_watch_reset(f->data);
  bough_data_remember(f->data, 0);
  f->dynamics_fresh = f->sensors_fresh = 0;
}

static bough_instance_status enter(bough_instance *f) {
  f->now.state = AT_INITIALIZATION;
  f->now.changed |= CHANGED_PARAMETERS;
  return INSTANCE_OK;
}

/* parameters and start values as they have been set take place */
static bough_instance_status take_start(bough_instance *f) {
  const bough_instance_status status = bough_mechanism_apply(f);
  if (status != INSTANCE_OK) return status;
  if ((f->now.changed & CHANGED_POSITIONS) && !bough_mechanism_fix_quaternions(f, f->q)) return INSTANCE_ERROR;
  f->now.changed = 0;
  f->dynamics_fresh = f->sensors_fresh = 0;
  return INSTANCE_OK;
}

bough_instance_status bough_mechanism_hand_over(bough_instance *f, bough_data *data, double *q, double *u) {
  const bough_instance_status status = take_start(f);
  if (status != INSTANCE_OK) return status;
  if (bough_data_copy(data, f->data) != BOUGH_OK) {
    bough_instance_log(f, INSTANCE_ERROR, LOG_ERROR, "%s: the parameters are handed to another model.", f->function);
    return INSTANCE_ERROR;
  }
  memcpy(q, f->q, (size_t)f->nq * sizeof *q), memcpy(u, f->u, (size_t)f->nu * sizeof *u);
  return INSTANCE_OK;
}

static bough_instance_status begin(bough_instance *f) {
  bough_instance_status status = take_start(f);
  if (status != INSTANCE_OK) return status;
  status = bough_mechanism_evaluate(f, 0); /* a model that cannot move says so here, not in the first step */
  if (status != INSTANCE_OK) return status;
  bough_watch_state(f->data, f->now.time, f->q, f->u);
  bough_watch_reaction(f->data, f->now.time, f->reaction);
  bough_mechanism_warn(f);
  bough_mechanism_start_run(f);
  f->now.state = f->now.cosimulation ? AT_STEP : AT_EVENT;
  f->now.running = 1;
  return bough_mechanism_settle(f, 1, NULL);
}

/* The run is allocated here, so that steps allocate nothing, and first, so that a call without memory changes nothing. */
static bough_instance_status exit_(bough_instance *f) {
  bough_instance_status status = f->now.cosimulation ? bough_mechanism_allocate_run(f) : INSTANCE_OK;
  if (status == INSTANCE_OK) status = begin(f);
  if (status != INSTANCE_OK) bough_mechanism_drop_run(f);
  return status;
}

static bough_instance_status settle(bough_instance *f, int *jumped) { return bough_mechanism_settle(f, 0, jumped); }

const bough_instance_type bough_mechanism_type = {
    .kind_ok = bough_mechanism_kind_ok,
    .open = open,
    .close = close,
    .reset = reset,
    .enter = enter,
    .exit = exit_,
    .apply = bough_mechanism_apply,
    .evaluate = bough_mechanism_evaluate,
    .get = bough_mechanism_get,
    .check = bough_mechanism_check,
    .set = bough_mechanism_set,
    .step = bough_mechanism_step,
    .settle = settle,
    .state_fits = bough_mechanism_state_fits,
    .state_taken = bough_mechanism_state_taken,
    .input_derivative = bough_mechanism_input_derivative,
    .directional = bough_mechanism_directional,
    .adjoint = bough_mechanism_adjoint,
    .output_rates = bough_mechanism_output_rates,
};
