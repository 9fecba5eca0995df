/* partner.c - the calls of fmu.h for partners: creation, values, steps. They are for Co-Simulation. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "partner.h"

int fmu_kind_ok(int kind, int type, int role) {
  if (kind == KIND_TIME) return type == TYPE_REAL && role == ROLE_INDEPENDENT;
  return kind == KIND_PARTNER && type >= TYPE_REAL && type <= TYPE_BOOLEAN && role >= ROLE_FIXED && role <= ROLE_OUTPUT;
}

static const fmu_partner_type *find_type(int number) {
  return number == PARTNER_MOTOR              ? &fmu_partner_motor
         : number == PARTNER_CONTROLLER       ? &fmu_partner_controller
         : number == PARTNER_MODEL_CONTROLLER ? &fmu_partner_model_controller
                                              : NULL;
}

/* ---- creation */

/* `time`, then every quantity with its axes one after the other */
static int find_quantities(struct partner *p, const fmu_resource *r) {
  int last = -1;
  if (r->variable[0].kind != KIND_TIME) return 0;
  for (int i = 1; i < r->n_variables; i++) {
    const fmu_variable *v = r->variable + i;
    const int q = v->index / PARTNER_AXES, axis = v->index % PARTNER_AXES;
    if (v->kind != KIND_PARTNER || q >= p->type->quantities || q != last + (axis == 0) || axis != p->count[q] || v->count != 1)
      return 0;
    if (axis == 0) p->first[q] = v->start;
    p->count[q]++;
    last = q;
  }
  for (int q = 0; q < p->type->quantities - p->type->modal; q++) /* one for all axes, or one for each */
    if (p->count[q] != 1 && p->count[q] != p->axes) return 0;
  return last + 1 == p->type->quantities || last + 1 == p->type->quantities - p->type->modal;
}

/* The block of a partner: i64 reals, i64 bytes for the kernel; reals: ranges of all slots, then a table; kernel's block */
static int find_block(struct partner *p, const fmu_resource *r) {
  int64_t size[2];
  if (r->block_size < sizeof size) return 0;
  memcpy(size, r->block, sizeof size);
  const int64_t room = (int64_t)(r->block_size - sizeof size), ranges = 2 * (int64_t)r->n_slots;
  if (size[0] < ranges || size[0] > room / 8 || size[1] != room - 8 * size[0]) return 0;
  p->range = (const double *)(const void *)(r->block + sizeof size);
  p->table = p->range + ranges, p->table_size = (size_t)(size[0] - ranges);
  p->block = (const unsigned char *)(p->range + size[0]), p->block_size = (size_t)size[1];
  for (int64_t i = 0; i < size[0]; i++)
    if (!fmu_finite(p->range[i])) return 0;
  return 1;
}

static int open_partner(fmu_instance *f) {
  const fmu_resource *r = f->resource;
  struct partner *p = f->partner = calloc(1, sizeof *p);
  if (!p) return fmu_no_memory(f) == FMU_OK;
  p->type = find_type(r->partner), p->axes = r->axes;
  if (!p->type || p->axes < 1 || p->axes > PARTNER_AXES || !find_quantities(p, r) || !find_block(p, r)) {
    fmu_log(f, FMU_ERROR, LOG_ERROR, "instantiation: the resource does not fit this library. Cure: build the FMU again.");
    return 0;
  }
  if (!p->type->open(f)) return 0;
  f->array_count = (size_t)r->n_slots + p->remembered;
  f->arrays = calloc(f->array_count + 1, sizeof(double));
  if (!f->arrays) return fmu_no_memory(f) == FMU_OK;
  p->memory = f->arrays + r->n_slots;
  return 1;
}

static fmu_status start_values(fmu_instance *f) {
  const fmu_resource *r = f->resource;
  memset(f->arrays, 0, f->array_count * sizeof(double));
  memcpy(f->arrays, r->start, (size_t)r->n_slots * sizeof(double));
  const fmu_clock start = {.cosimulation = f->now.cosimulation, .changed = CHANGED_INPUTS, .state = AT_INSTANTIATED};
  f->now = start;
  f->dynamics_fresh = 0;
  f->partner->type->start(f);
  return FMU_OK;
}

void fmu_free(fmu_instance *f) {
  if (!f) return;
  bough_data_free(f->data);
  bough_model_free(f->model);
  if (f->partner) free(f->partner->work);
  free(f->partner);
  free((void *)f->resource);
  free(f->bytes);
  free(f->arrays);
  free(f->name);
  free(f);
}

fmu_instance *fmu_create(const char *name, const char *token, const char *location, int cosimulation, int log_mask,
                         fmu_log_fn log, void *host) {
  fmu_instance *f = fmu_open(name, token, location, cosimulation, log_mask, log, host);
  if (!f) return NULL;
  if (!cosimulation)
    fmu_log(f, FMU_ERROR, LOG_ERROR, "instantiation: this FMU is for co-simulation, not for model exchange.");
  if (!cosimulation || !open_partner(f) || start_values(f) != FMU_OK) {
    fmu_free(f);
    return NULL;
  }
  f->log_mask = log_mask;
  return f;
}

fmu_status fmu_reset(fmu_instance *f) { return start_values(f); }

fmu_status fmu_enter_initialization(fmu_instance *f) {
  f->now.state = AT_INITIALIZATION;
  return FMU_OK;
}
fmu_status fmu_exit_initialization(fmu_instance *f) {
  const fmu_status status = fmu_evaluate(f, 0);
  if (status != FMU_OK) return status;
  f->now.state = AT_STEP;
  f->now.running = 1;
  return FMU_OK;
}

/* ---- values */

fmu_status fmu_apply(fmu_instance *f) {
  (void)f;
  return FMU_OK;
}

fmu_status fmu_evaluate(fmu_instance *f, int sensors) {
  (void)sensors;
  if (f->dynamics_fresh) return FMU_OK;
  const fmu_status status = f->partner->type->evaluate(f);
  f->dynamics_fresh = status == FMU_OK;
  return status;
}

fmu_status fmu_get(fmu_instance *f, const fmu_variable *v, double *value) {
  if (v->role == ROLE_OUTPUT) {
    const fmu_status status = fmu_evaluate(f, 0);
    if (status != FMU_OK) return status;
  }
  *value = v->kind == KIND_TIME ? f->now.time : f->arrays[v->start];
  return FMU_OK;
}

static int in_range(const fmu_instance *f, const fmu_variable *v, double x) {
  const double *range = f->partner->range + 2 * v->start;
  return fmu_finite(x) && x >= range[0] && x <= range[1] && (v->type == TYPE_REAL || x == floor(x));
}

fmu_status fmu_check(fmu_instance *f, const fmu_variable *v, const double *value) {
  const int before = AT_INSTANTIATED | AT_INITIALIZATION, state = (int)f->now.state;
  const int settable = v->role == ROLE_FIXED ? state & before
                       : v->role == ROLE_TUNABLE || v->role == ROLE_INPUT ? state & (before | AT_STEP) : 0;
  if (!settable) {
    fmu_log(f, FMU_ERROR, LOG_ERROR, "%s: '%s' cannot be set in state '%s'. Cure: it is %s.", f->function, v->name,
            fmu_state_name(f->now.state),
            v->role == ROLE_FIXED ? "a fixed parameter, to be set before initialization ends"
            : v->role == ROLE_TUNABLE || v->role == ROLE_INPUT ? "to be set before a run or between steps, and the instance has ended or failed"
                                  : "computed by this FMU");
    return FMU_ERROR;
  }
  if (in_range(f, v, *value)) return FMU_OK;
  const double *range = f->partner->range + 2 * v->start;
  const int low = range[0] > -1e300, high = range[1] < 1e300;
  char expected[80] = "a finite number";
  if (low || high) fmu_format(expected, sizeof expected, low && high ? "a number from %g to %g" : low ? "at least %g" : "at most %g",
                              low ? range[0] : range[1], range[1]);
  fmu_log(f, FMU_DISCARD, LOG_ERROR, "%s: the value %g of '%s' is refused and nothing is changed; expected %s. Cure: look at "
          "what feeds this variable.", f->function, *value, v->name, expected);
  return FMU_DISCARD;
}

fmu_status fmu_set(fmu_instance *f, const fmu_variable *v, const double *value) {
  const fmu_status status = fmu_check(f, v, value);
  if (status != FMU_OK) return status;
  f->arrays[v->start] = *value;
  if (v->role == ROLE_INPUT) f->now.changed |= CHANGED_INPUTS;
  f->dynamics_fresh = 0;
  return FMU_OK;
}

/* ---- snapshots */

int fmu_state_fits(fmu_instance *f, const fmu_clock *now, const double *arrays) {
  for (int i = 0; i < f->resource->n_variables; i++) {
    const fmu_variable *v = f->resource->variable + i;
    if (v->role != ROLE_FIXED && v->role != ROLE_TUNABLE && v->role != ROLE_INPUT) continue;
    if (!in_range(f, v, arrays[v->start])) return 0;
  }
  const double sample = f->partner->type->sample(f, arrays);
  return sample == 0.0 || fmu_sample_fits(now, arrays[f->resource->n_slots], sample);
}

void fmu_state_taken(fmu_instance *f) { (void)f; }

/* ---- steps */

fmu_status fmu_step(fmu_instance *f, double time, double step, fmu_hook hook, void *user, double *reached) {
  (void)hook, (void)user;
  *reached = f->now.time;
  if (fmu_wrong_step(f, time, step)) return FMU_ERROR;
  const fmu_status status = f->partner->type->advance(f, time + step);
  f->dynamics_fresh = 0;
  if (status != FMU_OK) {
    f->now.state = AT_FAILED;
    return status;
  }
  f->now.changed = 0;
  *reached = f->now.time = time + step;
  return FMU_OK;
}

/* ---- what partners do not offer; their modelDescription.xml says so */

static fmu_status not_offered(fmu_instance *f, const char *what) {
  fmu_log(f, FMU_ERROR, LOG_ERROR, "%s: this FMU gives no %s, and its modelDescription.xml says so.", f->function, what);
  return FMU_ERROR;
}
fmu_status fmu_directional(fmu_instance *f, const uint32_t *unknowns, size_t n_unknowns, const uint32_t *knowns,
                           size_t n_knowns, const double *seed, double *sensitivity) {
  (void)unknowns, (void)n_unknowns, (void)knowns, (void)n_knowns, (void)seed, (void)sensitivity;
  return not_offered(f, "directional derivatives");
}
fmu_status fmu_adjoint(fmu_instance *f, const uint32_t *unknowns, size_t n_unknowns, const uint32_t *knowns,
                       size_t n_knowns, const double *seed, double *sensitivity) {
  (void)unknowns, (void)n_unknowns, (void)knowns, (void)n_knowns, (void)seed, (void)sensitivity;
  return not_offered(f, "adjoint derivatives");
}
fmu_status fmu_output_rates(fmu_instance *f, const uint32_t *vr, size_t count, double *value) {
  (void)vr, (void)count, (void)value;
  return not_offered(f, "derivatives of outputs");
}
fmu_status fmu_input_derivative(fmu_instance *f, const fmu_variable *v, int order, const double *value) {
  (void)v, (void)order, (void)value;
  return not_offered(f, "interpolation of inputs");
}
