/* values.c - get and set by value reference. */
#include <math.h>
#include <string.h>

#include "fmu.h"

double *fmu_place(fmu_instance *f, const fmu_variable *v) {
  switch (v->kind) {
    case KIND_Q: return f->q + v->index;
    case KIND_U: return f->u + v->index;
    case KIND_QDOT: return f->qdot + v->index;
    case KIND_UDOT: return f->udot + v->index;
    case KIND_TAU: return f->tau + v->index;
    case KIND_MOTION: return f->motion + v->index;
    case KIND_LOAD: return f->loads + v->index;
    case KIND_FORCE: return f->force + v->index;
    case KIND_POSE: return f->pose + v->index;
    case KIND_VELOCITY: return f->velocity + v->index;
    case KIND_ACCELERATION: return f->acceleration + v->index;
    case KIND_REACTION: return f->reaction + v->index;
    case KIND_GRAVITY: return f->gravity + v->index;
    case KIND_DAMPING: return f->damping + v->index;
    case KIND_STIFFNESS: return f->stiffness + v->index;
    case KIND_REST: return f->rest + v->index;
    case KIND_ARMATURE: return f->armature + v->index;
    case KIND_MODAL_DAMPING: return f->modal + v->index;
    case KIND_LOCKED: return f->locked + v->index;
    case KIND_RIGID: return f->rigid + v->index;
    default: return NULL;
  }
}

fmu_status fmu_get(fmu_instance *f, const fmu_variable *v, double *value) {
  const int sensor = v->kind == KIND_POSE || v->kind == KIND_VELOCITY || v->kind == KIND_ACCELERATION;
  const int computed = sensor || v->kind == KIND_QDOT || v->kind == KIND_UDOT || v->kind == KIND_FORCE || v->kind == KIND_REACTION;
  fmu_status status = FMU_OK;
  if (computed)
    status = fmu_evaluate(f, sensor);
  else if ((v->kind == KIND_Q || v->kind == KIND_U) && f->now.changed && f->now.state != AT_INSTANTIATED)
    status = fmu_apply(f);
  if (status != FMU_OK) return status;
  const double *from = fmu_place(f, v);
  if (from)
    memcpy(value, from, (size_t)v->count * sizeof(double));
  else if (v->kind == KIND_TIME)
    *value = f->now.time;
  else if (v->kind == KIND_SOLVER_METHOD)
    *value = (double)f->now.solver_method;
  else
    *value = v->kind == KIND_SOLVER_STEP       ? f->now.solver_step
             : v->kind == KIND_SOLVER_MAX_STEP ? f->now.solver_max_step
                                               : f->now.solver_tolerance;
  return FMU_OK;
}

/* in which states a variable may be set */
static int settable(const fmu_instance *f, const fmu_variable *v) {
  const int before = AT_INSTANTIATED | AT_INITIALIZATION, state = (int)f->now.state;
  switch (v->role) {
    case ROLE_FIXED: return state & before;
    case ROLE_TUNABLE: return state & (before | AT_EVENT | AT_STEP);
    case ROLE_INPUT: return state & (before | AT_EVENT | AT_CONTINUOUS | AT_STEP | AT_INTERMEDIATE);
    case ROLE_OUTPUT: /* states; in Model Exchange at any time, as linearizing importers do */
      return (v->kind == KIND_Q || v->kind == KIND_U) && (state & (before | AT_EVENT | AT_CONTINUOUS));
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
    fmu_format(text + used, size - used, "%s%d (%s)", link, i, facts->name);
  }
  return text;
}

/* What a value of this kind may be; `text` is a place to write it. */
static const char *range_of(int kind, char *text, size_t size) {
  switch (kind) {
    case KIND_DAMPING: case KIND_STIFFNESS: case KIND_ARMATURE: case KIND_MODAL_DAMPING: return "zero or a positive number";
    case KIND_SOLVER_METHOD: return methods(text, size);
    case KIND_SOLVER_STEP: case KIND_SOLVER_MAX_STEP: return "zero or a number of seconds from 1e-12 on";
    case KIND_SOLVER_TOLERANCE: return "a number from 1e-14 to 1, 1 excluded";
    case KIND_LOCKED: return "0 or 1";
    case KIND_RIGID: return "a finite number; masses and moments of inertia are not negative";
    default: return "a finite number";
  }
}
static int in_range(const fmu_variable *v, int i, double x) {
  switch (v->kind) {
    case KIND_DAMPING: case KIND_STIFFNESS: case KIND_ARMATURE: case KIND_MODAL_DAMPING: return x >= 0.0;
    case KIND_SOLVER_STEP: case KIND_SOLVER_MAX_STEP: return x == 0.0 || x >= STEP_LEAST;
    case KIND_LOCKED: return x == 0.0 || x == 1.0;
    case KIND_SOLVER_METHOD: return x >= 0.0 && x <= 1e9 && x == (double)(int)x && bough_method_about((int)x);
    case KIND_SOLVER_TOLERANCE: return x >= TOLERANCE_LEAST && x < 1.0;
    case KIND_RIGID: { /* mass, com, Ixx Iyy Izz, Ixy Ixz Iyz */
      const int place_in = (v->index + i) % 10;
      return x >= 0.0 || (place_in >= 1 && place_in <= 3) || place_in >= 7;
    }
    default: return 1;
  }
}

fmu_status fmu_check(fmu_instance *f, const fmu_variable *v, const double *value) {
  if (!settable(f, v)) {
    fmu_log(f, FMU_ERROR, LOG_ERROR, "%s: '%s' cannot be set in state '%s'. Cure: it is %s.", f->function, v->name,
            fmu_state_name(f->now.state),
            v->role == ROLE_FIXED ? "a fixed parameter, to be set before initialization ends"
            : v->role == ROLE_TUNABLE ? "a tunable parameter, to be set between steps or in event mode"
            : v->role == ROLE_OUTPUT && (v->kind == KIND_Q || v->kind == KIND_U) ? "a state, whose start value is set before initialization ends (in Co-Simulation)"
            : v->role == ROLE_INPUT ? "an input, and the instance has ended or failed"
                                    : "computed by the model");
    return FMU_ERROR;
  }
  for (int i = 0; i < v->count; i++)
    if (!fmu_finite(value[i]) || !in_range(v, i, value[i])) {
      char text[240];
      fmu_log(f, FMU_DISCARD, LOG_ERROR, "%s: the value %g of '%s' is refused and nothing is changed; expected %s. Cure: %s.",
              f->function, value[i], v->name, range_of(v->kind, text, sizeof text),
              v->role == ROLE_INPUT    ? "look at what feeds this input"
              : v->role == ROLE_OUTPUT ? "give this state such a value"
                                       : "give this parameter such a value");
      return FMU_DISCARD;
    }
  return FMU_OK;
}

fmu_status fmu_set(fmu_instance *f, const fmu_variable *v, const double *value) {
  const fmu_status status = fmu_check(f, v, value);
  if (status != FMU_OK) return status;
  double *to = fmu_place(f, v);
  if (to)
    memcpy(to, value, (size_t)v->count * sizeof(double));
  else if (v->kind == KIND_SOLVER_METHOD)
    f->now.solver_method = (int64_t)*value;
  else if (v->kind == KIND_SOLVER_STEP)
    f->now.solver_step = *value;
  else if (v->kind == KIND_SOLVER_MAX_STEP)
    f->now.solver_max_step = *value;
  else {
    f->now.solver_tolerance = *value;
    f->now.tolerance_set = *value != f->resource->start[v->start];
  }
  if (v->role == ROLE_INPUT) { /* a new value starts a new polynomial at the present time */
    const int width = 2 * f->nu + 6 * f->n_loads;
    const int first = v->index + (v->kind == KIND_TAU ? 0 : v->kind == KIND_MOTION ? f->nu : 2 * f->nu);
    for (int order = 0; order < INPUT_ORDERS; order++)
      memset(f->inputs_dot + order * width + first, 0, (size_t)v->count * sizeof(double));
    f->now.input_time = f->now.time;
    f->inputs_set = 1;
  } else if (v->role != ROLE_OUTPUT || !f->now.running) /* a state in a run is the importer's, like fmu_set_states */
    f->now.changed |= v->kind == KIND_Q ? CHANGED_PARAMETERS | CHANGED_POSITIONS : CHANGED_PARAMETERS;
  f->dynamics_fresh = f->sensors_fresh = 0;
  return FMU_OK;
}

int fmu_state_fits(fmu_instance *f, const fmu_clock *now, const double *arrays) {
  const int over = now->state == AT_FAILED || now->state == AT_TERMINATED; /* what failed may hold any number */
  const size_t moving = (size_t)(f->gravity - f->arrays);                  /* states and inputs; parameters follow */
  for (size_t i = 0; i < f->array_count; i++) {
    if (!f->free_slot[i] && memcmp(arrays + i, f->first + i, sizeof *arrays) != 0) return 0;
    if (!fmu_finite(arrays[i]) && !(over && i < moving)) return 0;
  }
  for (int i = 0; i < f->resource->n_variables; i++) {
    const fmu_variable *v = f->resource->variable + i;
    if (v->role != ROLE_FIXED && v->role != ROLE_TUNABLE) continue;
    const double *own = fmu_place(f, v);
    const double setting = v->kind == KIND_SOLVER_METHOD ? (double)now->solver_method
                           : v->kind == KIND_SOLVER_STEP ? now->solver_step : now->solver_tolerance;
    const double *value = own ? arrays + (own - f->arrays) : &setting;
    for (int j = 0; j < v->count; j++)
      if (!in_range(v, j, value[j])) return 0;
  }
  return 1;
}
