/* partner.c - partners as instances: creation, values, steps. All are for Co-Simulation; those that sample are for Model
 * Exchange too, without continuous states: samples are time events, taken in event mode. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "partner.h"

static int kind_ok(int kind, int type, int role) {
  if (kind == KIND_TIME) return type == TYPE_REAL && role == ROLE_INDEPENDENT;
  return kind == KIND_PARTNER && type >= TYPE_REAL && type <= TYPE_BOOLEAN && role >= ROLE_FIXED && role <= ROLE_OUTPUT;
}

static const bough_partner_law *find_law(int number) {
  return number == PARTNER_MOTOR              ? &bough_partner_motor
         : number == PARTNER_CONTROLLER       ? &bough_partner_controller
         : number == PARTNER_MODEL_CONTROLLER ? &bough_partner_model_controller
                                              : NULL;
}

/* ---- creation */

/* `time`, then every quantity with its axes one after the other */
static int find_quantities(struct partner *p, const bough_resource *r) {
  int last = -1;
  if (r->variable[0].kind != KIND_TIME) return 0;
  for (int i = 1; i < r->n_variables; i++) {
    const bough_variable *v = r->variable + i;
    const int q = v->index / PARTNER_AXES, axis = v->index % PARTNER_AXES;
    if (v->kind != KIND_PARTNER || q >= p->law->quantities || q != last + (axis == 0) || axis != p->count[q] || v->count != 1)
      return 0;
    if (axis == 0) p->first[q] = v->start;
    p->count[q]++;
    last = q;
  }
  for (int q = 0; q < p->law->quantities - p->law->modal; q++) /* one for all axes, or one for each */
    if (p->count[q] != 1 && p->count[q] != p->axes) return 0;
  return last + 1 == p->law->quantities || last + 1 == p->law->quantities - p->law->modal;
}

/* The block of a partner: i64 reals, i64 bytes for the kernel; reals: ranges of all slots, then a table; kernel's block */
static int find_block(struct partner *p, const bough_resource *r) {
  int64_t size[2];
  if (r->block_size < sizeof size) return 0;
  memcpy(size, r->block, sizeof size);
  const int64_t room = (int64_t)(r->block_size - sizeof size), ranges = 2 * (int64_t)r->n_slots;
  if (size[0] < ranges || size[0] > room / 8 || size[1] != room - 8 * size[0]) return 0;
  p->range = (const double *)(const void *)(r->block + sizeof size);
  p->table = p->range + ranges, p->table_size = (size_t)(size[0] - ranges);
  p->block = (const unsigned char *)(p->range + size[0]), p->block_size = (size_t)size[1];
  for (int64_t i = 0; i < size[0]; i++)
    if (!bough_finite(p->range[i])) return 0;
  return 1;
}

static int open_partner(bough_instance *f) {
  const bough_resource *r = f->resource;
  struct partner *p = f->partner = calloc(1, sizeof *p);
  if (!p) return bough_instance_no_memory(f) == INSTANCE_OK;
  p->law = find_law(r->partner), p->axes = r->axes;
  if (!p->law || p->axes < 1 || p->axes > PARTNER_AXES || !find_quantities(p, r) || !find_block(p, r)) {
    bough_instance_log(f, INSTANCE_ERROR, LOG_ERROR, "instantiation: the resource does not fit this library. Cure: build the FMU again.");
    return 0;
  }
  if (!p->law->open(f)) return 0;
  f->array_count = (size_t)r->n_slots + p->remembered;
  f->arrays = calloc(f->array_count + 1, sizeof(double));
  if (!f->arrays) return bough_instance_no_memory(f) == INSTANCE_OK;
  p->memory = f->arrays + r->n_slots;
  return 1;
}

/* a reset: start values, and memory at the beginning */
static void begin(bough_instance *f) {
  const bough_resource *r = f->resource;
  memset(f->arrays, 0, f->array_count * sizeof(double));
  memcpy(f->arrays, r->start, (size_t)r->n_slots * sizeof(double));
  const bough_clock start = {.cosimulation = f->now.cosimulation, .changed = CHANGED_INPUTS, .state = AT_INSTANTIATED};
  f->now = start;
  f->dynamics_fresh = 0;
}

static int open(bough_instance *f) {
  if (!open_partner(f)) return 0;
  if (!f->now.cosimulation && !f->partner->law->exchange) {
    bough_instance_log(f, INSTANCE_ERROR, LOG_ERROR, "instantiation: this FMU is for co-simulation, not for model exchange.");
    return 0;
  }
  f->event_mode |= !f->now.cosimulation;
  begin(f);
  return 1;
}
static void close(bough_instance *f) {
  if (f->partner) free(f->partner->work);
  free(f->partner);
}

static bough_instance_status evaluate(bough_instance *f, int sensors) {
  (void)sensors;
  if (f->dynamics_fresh) return INSTANCE_OK;
  const bough_instance_status status = f->partner->law->evaluate(f);
  f->dynamics_fresh = status == INSTANCE_OK;
  return status;
}

static bough_instance_status enter(bough_instance *f) {
  f->now.state = AT_INITIALIZATION;
  return INSTANCE_OK;
}
static bough_instance_status exit_(bough_instance *f) {
  const bough_instance_status status = evaluate(f, 0);
  if (status != INSTANCE_OK) return status;
  f->now.state = f->event_mode ? AT_EVENT : AT_STEP;
  f->now.running = 1;
  return INSTANCE_OK;
}

/* ---- values */

/* when the next sample is due, s; before the start where there are none */
static double next_event(const bough_instance *f) {
  const double sample = f->partner->law->sample(f, f->arrays);
  return sample > 0.0 ? bough_sample_time(f->now.start_time, f->partner->memory[0], sample) : f->now.start_time - 1.0;
}

/* event mode: samples that are due are taken */
static bough_instance_status apply(bough_instance *f) {
  if (!f->event_mode || f->now.state != AT_EVENT) return INSTANCE_OK;
  const double slack = SAMPLE_SLACK * f->partner->law->sample(f, f->arrays);
  if (next_event(f) > f->now.time + slack) return INSTANCE_OK;
  const bough_instance_status status = f->partner->law->advance(f, f->now.time + 2.0 * slack);
  f->dynamics_fresh = 0;
  f->now.changed = 0;
  return status;
}

static bough_instance_status get(bough_instance *f, const bough_variable *v, double *value) {
  if (v->role == ROLE_OUTPUT) {
    const bough_instance_status status = evaluate(f, 0);
    if (status != INSTANCE_OK) return status;
  }
  *value = v->kind == KIND_TIME ? f->now.time : f->arrays[v->start];
  return INSTANCE_OK;
}

static int in_range(const bough_instance *f, const bough_variable *v, double x) {
  const double *range = f->partner->range + 2 * v->start;
  return bough_finite(x) && x >= range[0] && x <= range[1] && (v->type == TYPE_REAL || x == floor(x));
}

static bough_instance_status check(bough_instance *f, const bough_variable *v, const double *value) {
  const int before = AT_INSTANTIATED | AT_INITIALIZATION, state = (int)f->now.state;
  const int settable = v->role == ROLE_FIXED ? state & before
                       : v->role == ROLE_TUNABLE || v->role == ROLE_INPUT ? state & (before | AT_STEP | AT_EVENT | (v->role == ROLE_INPUT ? AT_CONTINUOUS : 0)) : 0;
  if (!settable) {
    bough_instance_log(f, INSTANCE_ERROR, LOG_ERROR, "%s: '%s' cannot be set in state '%s'. Cure: it is %s.", f->function, v->name,
            bough_instance_state_name(f->now.state),
            v->role == ROLE_FIXED ? "a fixed parameter, to be set before initialization ends"
            : v->role == ROLE_TUNABLE || v->role == ROLE_INPUT ? "to be set before a run or between steps, and the instance has ended or failed"
                                  : "computed by this FMU");
    return INSTANCE_ERROR;
  }
  if (in_range(f, v, *value)) return INSTANCE_OK;
  const double *range = f->partner->range + 2 * v->start;
  const int low = range[0] > -1e300, high = range[1] < 1e300;
  char expected[80] = "a finite number";
  if (low || high) bough_format(expected, sizeof expected, low && high ? "a number from %g to %g" : low ? "at least %g" : "at most %g",
                              low ? range[0] : range[1], range[1]);
  bough_instance_log(f, INSTANCE_DISCARD, LOG_ERROR, "%s: the value %g of '%s' is refused and nothing is changed; expected %s. Cure: look at "
          "what feeds this variable.", f->function, *value, v->name, expected);
  return INSTANCE_DISCARD;
}

static void set(bough_instance *f, const bough_variable *v, const double *value) {
  f->arrays[v->start] = *value;
  if (v->role == ROLE_INPUT) f->now.changed |= CHANGED_INPUTS;
  f->dynamics_fresh = 0;
}

/* ---- snapshots */

static int state_fits(bough_instance *f, const bough_clock *now, const double *arrays) {
#define BOUGH_SETTING(number, KIND, member, type, range) \
  if (KIND_##KIND != KIND_SOLVER_TOLERANCE && now->member != 0) return 0; /* there is no solver */
#include "fields.def"
  if (!(now->solver_tolerance >= 0.0 && now->solver_tolerance < 1.0)) return 0; /* the importer may have given one */
  for (int i = 0; i < f->resource->n_variables; i++) {
    const bough_variable *v = f->resource->variable + i;
    if (v->role != ROLE_FIXED && v->role != ROLE_TUNABLE && v->role != ROLE_INPUT) continue;
    if (!in_range(f, v, arrays[v->start])) return 0;
  }
  const double sample = f->partner->law->sample(f, arrays);
  return sample == 0.0 || bough_sample_fits(now, arrays[f->resource->n_slots], sample);
}

static void state_taken(bough_instance *f) { (void)f; }

/* ---- steps */

static bough_instance_status step(bough_instance *f, double end, bough_hook hook, void *user) {
  (void)hook, (void)user;
  if (f->event_mode) { /* as far as the next sample; one that is due now and was not taken in event mode is taken here */
    const double slack = SAMPLE_SLACK * f->partner->law->sample(f, f->arrays), next = next_event(f);
    if (next > f->now.time + slack && next < end - slack) end = next;
  }
  const bough_instance_status status = f->partner->law->advance(f, end);
  f->dynamics_fresh = 0;
  if (status != INSTANCE_OK) {
    f->now.state = AT_FAILED;
    return status;
  }
  f->now.changed = 0;
  f->now.time = end;
  return INSTANCE_OK;
}

const bough_instance_type bough_partner_type = {
    .kind_ok = kind_ok,
    .open = open,
    .close = close,
    .reset = begin,
    .enter = enter,
    .exit = exit_,
    .apply = apply,
    .evaluate = evaluate,
    .get = get,
    .check = check,
    .set = set,
    .step = step,
    .state_fits = state_fits,
    .state_taken = state_taken,
    .next_event = next_event,
};
