/* values.c - get and set by value reference. */
#include <string.h>

#include "inside.h"

/* A setting of the solver, in the clock; null for another kind. Whole numbers are kept as such. */
static double setting(const bough_clock *now, int kind) {
  switch (kind) {
#define BOUGH_SETTING(number, KIND, member, type, range) \
    case KIND_##KIND: return (double)now->member;
#include "fields.def"
    default: return now->time;
  }
}
static void set_setting(bough_clock *now, int kind, double x) {
  switch (kind) {
#define BOUGH_SETTING(number, KIND, member, type, range) \
    case KIND_##KIND: now->member = (CLOCK_##type)x; break;
#include "fields.def"
    default: break;
  }
}

/* What must be computed before a value can be read. */
typedef enum { GIVEN, DYNAMICS, SENSORS } when_computed;
static when_computed computed(int kind) {
  switch (kind) {
#define BOUGH_VALUE(number, KIND, member, count, type, when) \
    case KIND_##KIND: return when;
#include "fields.def"
    default: return GIVEN;
  }
}
static int is_state(int kind) {
  switch (kind) {
#define BOUGH_STATE(number, KIND, member, count) case KIND_##KIND:
#include "fields.def"
      return 1;
    default: return 0;
  }
}

bough_instance_status bough_mechanism_get(bough_instance *f, const bough_variable *v, double *value) {
  const when_computed when = computed(v->kind);
  bough_instance_status status = INSTANCE_OK;
  if (when != GIVEN)
    status = bough_mechanism_evaluate(f, when == SENSORS);
  else if (f->now.changed && f->now.state != AT_INSTANTIATED && is_state(v->kind))
    status = bough_mechanism_apply(f);
  if (status != INSTANCE_OK) return status;
  const double *from = bough_field(f, v);
  if (from)
    memcpy(value, from, (size_t)v->count * sizeof(double));
  else
    *value = setting(&f->now, v->kind);
  return INSTANCE_OK;
}

/* in which states a variable may be set */
static int settable(const bough_instance *f, const bough_variable *v) {
  const int before = AT_INSTANTIATED | AT_INITIALIZATION, state = (int)f->now.state;
  switch (v->role) {
    case ROLE_FIXED: return state & before;
    case ROLE_TUNABLE: return state & (before | AT_EVENT | AT_STEP);
    case ROLE_INPUT: return state & (before | AT_EVENT | AT_CONTINUOUS | AT_STEP | AT_INTERMEDIATE);
    case ROLE_OUTPUT: /* states; in Model Exchange at any time, as linearizing importers do */
      return is_state(v->kind) && (state & (before | AT_EVENT | AT_CONTINUOUS));
    default: return 0;
  }
}

/* "0 (rk4), 1 (dopri5) or 2 (rosenbrock2)" */
static const char *methods(char *text, size_t size) {
  const bough_method_facts *facts;
  text[0] = '\0';
  for (int i = 0; (facts = bough_method_about(i)) != NULL; i++) {
    const char *link = i == 0 ? "" : bough_method_about(i + 1) ? ", " : " or ";
    const size_t used = strlen(text);
    bough_format(text + used, size - used, "%s%d (%s)", link, i, facts->name);
  }
  return text;
}

typedef enum {
#define BOUGH_RANGE(RANGE, text, check) RANGE_##RANGE,
#include "fields.def"
} range;
static range range_of(int kind) {
  switch (kind) {
#define BOUGH_PARAMETER(number, KIND, member, count, type, range, kernel) \
    case KIND_##KIND: return RANGE_##range;
#define BOUGH_SETTING(number, KIND, member, type, range) \
    case KIND_##KIND: return RANGE_##range;
#include "fields.def"
    default: return RANGE_ANY;
  }
}
static int in_range(const bough_variable *v, int place, double x) {
  const int i = v->index + place;
  (void)i;
  switch (range_of(v->kind)) {
#define BOUGH_RANGE(RANGE, text, check) \
    case RANGE_##RANGE: return check;
#include "fields.def"
  }
  return 0;
}
/* What a value may be, in words; `text` is a place to write them. */
static const char *range_text(int kind, char *text, size_t size) {
  static const char *const texts[] = {
#define BOUGH_RANGE(RANGE, text, check) text,
#include "fields.def"
  };
  const char *found = texts[range_of(kind)];
  return found ? found : methods(text, size);
}

bough_instance_status bough_mechanism_check(bough_instance *f, const bough_variable *v, const double *value) {
  if (!settable(f, v)) {
    bough_instance_log(f, INSTANCE_ERROR, LOG_ERROR, "%s: '%s' cannot be set in state '%s'. Cure: it is %s.", f->function, v->name,
            bough_instance_state_name(f->now.state),
            v->role == ROLE_FIXED ? "a fixed parameter, to be set before initialization ends"
            : v->role == ROLE_TUNABLE ? "a tunable parameter, to be set between steps or in event mode"
            : v->role == ROLE_OUTPUT && is_state(v->kind) ? "a state, whose start value is set before initialization ends (in Co-Simulation)"
            : v->role == ROLE_INPUT ? "an input, and the instance has ended or failed"
                                    : "computed by the model");
    return INSTANCE_ERROR;
  }
  for (int i = 0; i < v->count; i++)
    if (!bough_finite(value[i]) || !in_range(v, i, value[i])) {
      char text[240];
      bough_instance_log(f, INSTANCE_DISCARD, LOG_ERROR, "%s: the value %g of '%s' is refused and nothing is changed; expected %s. Cure: %s.",
              f->function, value[i], v->name, range_text(v->kind, text, sizeof text),
              v->role == ROLE_INPUT    ? "look at what feeds this input"
              : v->role == ROLE_OUTPUT ? "give this state such a value"
                                       : "give this parameter such a value");
      return INSTANCE_DISCARD;
    }
  return INSTANCE_OK;
}

/* Assembly keeps start values that are not the model's. */
static void note_written(bough_instance *f, const bough_variable *v, const double *value) {
  if (f->now.running || !is_state(v->kind) || bough_field_count(f, KIND_WRITTEN) == 0) return;
  const size_t first = (size_t)(bough_field(f, v) - f->arrays); /* q, then u, are the first of the arrays */
  for (int i = 0; i < v->count; i++) f->written[first + (size_t)i] = value[i] != f->first[first + (size_t)i];
}

void bough_mechanism_set(bough_instance *f, const bough_variable *v, const double *value) {
  double *to = bough_field(f, v);
  note_written(f, v, value);
  if (to)
    memcpy(to, value, (size_t)v->count * sizeof(double));
  else
    set_setting(&f->now, v->kind, *value);
  if (v->kind == KIND_SOLVER_TOLERANCE) f->now.tolerance_set = *value != f->resource->start[v->start];
  if (v->role == ROLE_INPUT) { /* a new value starts a new polynomial at the present time; its derivatives may have come first */
    const int first = bough_field_input(f, v), given = f->now.input_order > 0 && f->now.state != AT_INTERMEDIATE;
    for (int order = 0; order < INPUT_ORDERS && !given; order++)
      memset(f->inputs_dot + order * f->inputs_width + first, 0, (size_t)v->count * sizeof(double));
    f->now.input_time = f->now.time;
    f->inputs_set = 1;
  } else if (v->role != ROLE_OUTPUT || !f->now.running) /* a state in a run is the importer's, like set_states */
    f->now.changed |= v->kind == KIND_Q ? CHANGED_PARAMETERS | CHANGED_POSITIONS : CHANGED_PARAMETERS;
  f->dynamics_fresh = f->sensors_fresh = 0;
}

int bough_mechanism_state_fits(bough_instance *f, const bough_clock *now, const double *arrays) {
  const int over = now->state == AT_FAILED || now->state == AT_TERMINATED; /* what failed may hold any number */
  const size_t moving = (size_t)(f->parameters - f->arrays);               /* states and inputs; parameters follow */
  for (size_t i = 0; i < f->array_count; i++) {
    if (!f->free_slot[i] && memcmp(arrays + i, f->first + i, sizeof *arrays) != 0) return 0;
    if (!bough_finite(arrays[i]) && !(over && i < moving)) return 0;
  }
  for (int i = 0; i < f->resource->n_variables; i++) {
    const bough_variable *v = f->resource->variable + i;
    if (v->role != ROLE_FIXED && v->role != ROLE_TUNABLE) continue;
    const double *own = bough_field(f, v), fixed = setting(now, v->kind);
    const double *value = own ? arrays + (own - f->arrays) : &fixed;
    for (int j = 0; j < v->count; j++)
      if (!bough_finite(value[j]) || !in_range(v, j, value[j])) return 0;
  }
  return 1;
}
