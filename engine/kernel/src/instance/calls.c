/* calls.c - which call is allowed in which state, and in which kind of run: one table for both FMI versions. */
#include <string.h>

#include "inside.h"

static const struct {
  int allowed;
  const char *cure;
  enum { IN_BOTH, IN_MODEL_EXCHANGE, IN_CO_SIMULATION } kind;
} table[CALL_COUNT] = {
    [CALL_SET_DEBUG] = {AT_ANY, "", IN_BOTH},
    [CALL_SETUP] = {AT_INSTANTIATED, "it belongs between instantiation and initialization", IN_BOTH},
    [CALL_ENTER_INITIALIZATION] = {AT_INSTANTIATED, "reset the instance before initializing it again", IN_BOTH},
    [CALL_EXIT_INITIALIZATION] = {AT_INITIALIZATION, "enter initialization mode first", IN_BOTH},
    [CALL_TERMINATE] = {AT_EVENT | AT_CONTINUOUS | AT_STEP | AT_FAILED, "initialize first; terminate only once", IN_BOTH},
    [CALL_RESET] = {AT_ANY & ~AT_INTERMEDIATE, "wait until the step has returned", IN_BOTH},
    [CALL_GET] = {AT_ANY, "", IN_BOTH},
    [CALL_SET] = {AT_INSTANTIATED | AT_INITIALIZATION | AT_EVENT | AT_CONTINUOUS | AT_STEP | AT_INTERMEDIATE,
                  "restore a state, or reset the instance", IN_BOTH},
    [CALL_STATE] = {AT_ANY & ~AT_INTERMEDIATE, "wait until the step has returned", IN_BOTH},
    [CALL_DERIVATIVE] = {AT_INITIALIZATION | AT_EVENT | AT_CONTINUOUS | AT_STEP | AT_INTERMEDIATE | AT_FAILED |
                             AT_TERMINATED,
                         "enter initialization mode first", IN_BOTH},
    [CALL_ENTER_EVENT] = {AT_CONTINUOUS, "enter continuous-time mode first", IN_MODEL_EXCHANGE},
    [CALL_NEW_STATES] = {AT_EVENT, "enter event mode first", IN_MODEL_EXCHANGE},
    [CALL_ENTER_CONTINUOUS] = {AT_EVENT, "it follows the update of discrete states in event mode", IN_MODEL_EXCHANGE},
    [CALL_COMPLETED_STEP] = {AT_CONTINUOUS, "enter continuous-time mode first", IN_MODEL_EXCHANGE},
    [CALL_SET_TIME] = {AT_EVENT | AT_CONTINUOUS, "exit initialization mode first", IN_MODEL_EXCHANGE},
    [CALL_SET_CONTINUOUS] = {AT_CONTINUOUS, "enter continuous-time mode first", IN_MODEL_EXCHANGE},
    [CALL_GET_CONTINUOUS] = {AT_INITIALIZATION | AT_EVENT | AT_CONTINUOUS | AT_TERMINATED,
                             "enter initialization mode first", IN_MODEL_EXCHANGE},
    [CALL_GET_DERIVATIVES] = {AT_INITIALIZATION | AT_EVENT | AT_CONTINUOUS | AT_TERMINATED,
                              "enter initialization mode first", IN_MODEL_EXCHANGE},
    [CALL_GET_NOMINALS] = {AT_ANY, "", IN_MODEL_EXCHANGE},
    [CALL_STEP] = {AT_STEP, "exit initialization mode first; after a failed step restore a state, or reset", IN_CO_SIMULATION},
    [CALL_INPUT_DERIVATIVE] = {AT_INSTANTIATED | AT_INITIALIZATION | AT_STEP, "set it between steps", IN_CO_SIMULATION},
    [CALL_OUTPUT_DERIVATIVE] = {AT_STEP | AT_INTERMEDIATE | AT_FAILED | AT_TERMINATED, "take a step first",
                                IN_CO_SIMULATION},
    [CALL_STEP_STATUS] = {AT_STEP | AT_FAILED | AT_TERMINATED, "take a step first", IN_CO_SIMULATION},
    [CALL_STRUCTURE] = {AT_ANY, "", IN_BOTH},
};

static const struct {
  int state;
  const char *name;
} names[] = {{AT_INSTANTIATED, "instantiated"},      {AT_INITIALIZATION, "initialization mode"},
             {AT_EVENT, "event mode"},               {AT_CONTINUOUS, "continuous-time mode"},
             {AT_STEP, "step mode"},                 {AT_INTERMEDIATE, "intermediate update"},
             {AT_FAILED, "after a failed step"},     {AT_TERMINATED, "terminated"}};

const char *bough_instance_state_name(int64_t state) {
  for (size_t i = 0; i < sizeof names / sizeof *names; i++)
    if (names[i].state == state) return names[i].name;
  return "unknown";
}

int bough_instance_allowed(bough_instance *f, bough_call call, const char *function) {
  if (!f) return 0;
  f->function = function;
  const int event = f->event_mode && (call == CALL_ENTER_EVENT || call == CALL_NEW_STATES); /* these two are in both then */
  if (!event && table[call].kind != IN_BOTH && (table[call].kind == IN_CO_SIMULATION) != (f->now.cosimulation != 0)) {
    const char *const kinds[] = {"model exchange", "co-simulation"};
    bough_instance_log(f, INSTANCE_ERROR, LOG_ERROR, "%s: not allowed in %s (the instance is in state '%s'): the function belongs to %s. "
            "Cure: instantiate for %s.", function, kinds[f->now.cosimulation != 0], bough_instance_state_name(f->now.state),
            kinds[f->now.cosimulation == 0], kinds[f->now.cosimulation == 0]);
    return 0;
  }
  if (table[call].allowed & (int)f->now.state) return 1;
  if (event && call == CALL_ENTER_EVENT && f->now.state == AT_STEP) return 1;
  char list[256] = ""; /* all names together are shorter */
  for (size_t i = 0; i < sizeof names / sizeof *names; i++)
    if (table[call].allowed & names[i].state) {
      const size_t used = strlen(list);
      bough_format(list + used, sizeof list - used, "%s%s", used ? ", " : "", names[i].name);
    }
  bough_instance_log(f, INSTANCE_ERROR, LOG_ERROR, "%s: not allowed now, the instance is in state '%s'. Allowed in: %s. Cure: %s.",
          function, bough_instance_state_name(f->now.state), list, table[call].cure);
  return 0;
}

int bough_instance_missing(bough_instance *f, const void *array, size_t count) {
  if (array || count == 0) return 0;
  bough_instance_log(f, INSTANCE_ERROR, LOG_ERROR, "%s: a pointer is null where there should be %lu values", f->function, (unsigned long)count);
  return 1;
}

/* not as many values as continuous states; logs */
static int wrong_states(bough_instance *f, const void *x, size_t count) {
  if ((x || count == 0) && count == (size_t)(f->nq + f->nu)) return 0;
  bough_instance_log(f, INSTANCE_ERROR, LOG_ERROR, "%s: %lu values for %d continuous states", f->function, (unsigned long)count,
          f->nq + f->nu);
  return 1;
}

bough_instance_status bough_instance_set_states(bough_instance *f, const double *x, size_t count) {
  if (wrong_states(f, x, count)) return INSTANCE_ERROR;
  for (size_t i = 0; i < count; i++)
    if (!bough_finite(x[i])) {
      bough_instance_log(f, INSTANCE_DISCARD, LOG_ERROR, "%s: continuous state %lu is %g; expected a finite number", f->function,
              (unsigned long)i, x[i]);
      return INSTANCE_DISCARD;
    }
  if (count == 0) return INSTANCE_OK;
  memcpy(f->q, x, (size_t)f->nq * sizeof *x);
  memcpy(f->u, x + f->nq, (size_t)f->nu * sizeof *x);
  f->dynamics_fresh = f->sensors_fresh = 0;
  return INSTANCE_OK;
}
bough_instance_status bough_instance_set_time(bough_instance *f, double time) {
  if (!bough_finite(time)) {
    bough_instance_log(f, INSTANCE_DISCARD, LOG_ERROR, "%s: the time is %g; expected a finite number", f->function, time);
    return INSTANCE_DISCARD;
  }
  f->now.time = f->now.input_time = time;
  return INSTANCE_OK;
}
int bough_instance_states(const bough_instance *f) { return f ? f->nq + f->nu : 0; }
bough_instance_status bough_instance_enter_event(bough_instance *f) {
  f->now.state = AT_EVENT;
  if (f->partner) f->dynamics_fresh = 0; /* a sample may be due */
  return INSTANCE_OK;
}
bough_instance_status bough_instance_update(bough_instance *f, int *jumped) {
  bough_instance_status status = bough_instance_apply(f);
  if (status == INSTANCE_OK && f->type == &bough_mechanism_type) status = bough_mechanism_close(f);
  *jumped = f->now.jumped != 0;
  f->now.jumped = 0;
  if (status == INSTANCE_OK && f->type->settle) status = f->type->settle(f, jumped);
  return status;
}
int64_t bough_instance_events(const bough_instance *f) { return f ? bough_sim_events(f->sim) : 0; }
size_t bough_instance_indicator_count(const bough_instance *f) {
  size_t n = 0;
  for (int i = 0; f && i < f->resource->n_variables; i++)
    if (f->resource->variable[i].kind == KIND_INDICATOR) n += (size_t)f->resource->variable[i].count;
  return n;
}
bough_instance_status bough_instance_indicators(bough_instance *f, double *values, size_t count) {
  if (count != bough_instance_indicator_count(f)) {
    bough_instance_log(f, INSTANCE_ERROR, LOG_ERROR, "%s: %lu values for %lu event indicators", f->function, (unsigned long)count,
            (unsigned long)bough_instance_indicator_count(f));
    return INSTANCE_ERROR;
  }
  bough_instance_status status = INSTANCE_OK;
  for (int i = 0; i < f->resource->n_variables && status == INSTANCE_OK; i++) {
    const bough_variable *v = f->resource->variable + i;
    if (v->kind != KIND_INDICATOR) continue;
    status = bough_instance_get(f, v, values);
    values += v->count;
  }
  return status;
}
bough_instance_status bough_instance_completed_step(bough_instance *f, int *event) {
  const int mechanism = f->type == &bough_mechanism_type;
  if (mechanism) bough_mechanism_kept(f);
  *event = mechanism && bough_mechanism_drifted(f);
  return INSTANCE_OK;
}
bough_instance_status bough_instance_enter_continuous(bough_instance *f) {
  const bough_instance_status status = bough_instance_apply(f); /* a lock set in this event stops its hinge now, not in the first step */
  if (status == INSTANCE_OK) f->now.state = AT_CONTINUOUS;
  return status;
}
bough_instance_status bough_instance_get_states(bough_instance *f, double *x, size_t count) {
  if (wrong_states(f, x, count)) return INSTANCE_ERROR;
  if (count == 0) return INSTANCE_OK;
  const bough_instance_status status = bough_instance_apply(f);
  memcpy(x, f->q, (size_t)f->nq * sizeof *x);
  memcpy(x + f->nq, f->u, (size_t)f->nu * sizeof *x);
  return status;
}
bough_instance_status bough_instance_get_rates(bough_instance *f, double *rates, size_t count) {
  if (wrong_states(f, rates, count)) return INSTANCE_ERROR;
  if (count == 0) return INSTANCE_OK;
  const bough_instance_status status = bough_instance_evaluate(f, 0);
  memcpy(rates, f->qdot, (size_t)f->nq * sizeof *rates);
  memcpy(rates + f->nq, f->udot, (size_t)f->nu * sizeof *rates);
  return status;
}
bough_instance_status bough_instance_get_nominals(bough_instance *f, double *nominals, size_t count) {
  if (wrong_states(f, nominals, count)) return INSTANCE_ERROR;
  const bough_resource *r = f->resource;
  for (size_t i = 0; i < count; i++) nominals[i] = 1.0;
  for (int i = 0; i < r->n_variables; i++) {
    const bough_variable *v = r->variable + i;
    double *own = v->kind == KIND_Q ? nominals : v->kind == KIND_U ? nominals + f->nq : NULL;
    if (own) memcpy(own + v->index, r->nominal + v->start, (size_t)v->count * sizeof *own);
  }
  return INSTANCE_OK;
}
