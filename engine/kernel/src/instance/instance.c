/* instance.c - what every instance does alike, mechanism or partner: its resource, its life, its clock; and the calls that
 * each type answers in its own way. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "inside.h"

/* ---- life */

static int read_resource(bough_instance *f, const bough_instance_setting *s) {
  const char *why = "";
  f->bytes = malloc(s->size + 1);
  if (!f->bytes) return bough_instance_no_memory(f) == INSTANCE_OK;
  memcpy(f->bytes, s->resource, s->size);
  f->resource = bough_resource_read(f->bytes, s->size, &why);
  if (!f->resource && !why) return bough_instance_no_memory(f) == INSTANCE_OK;
  if (!f->resource) {
    bough_instance_log(f, INSTANCE_ERROR, LOG_ERROR, "instantiation: resources/model.bough is damaged: %s. Cure: build the FMU "
                       "again.", why);
    return 0;
  }
  if (!s->token || strcmp(s->token, f->resource->token) == 0) return 1;
  bough_instance_log(f, INSTANCE_ERROR, LOG_ERROR, "instantiation: the token '%s' of the host is not '%s' of the model. Cure: "
                     "use the modelDescription.xml and the resources of one and the same FMU.", s->token, f->resource->token);
  return 0;
}

/* event mode where there is none; logs */
static int events_fit(bough_instance *f) {
  double time;
  if (!f->event_mode || bough_instance_next_event(f, &time)) return 1;
  bough_instance_log(f, INSTANCE_ERROR, LOG_ERROR, "instantiation: this FMU has no event mode in co-simulation (hasEventMode is false). "
                     "Cure: instantiate with eventModeUsed = false.");
  return 0;
}
int bough_instance_event_mode(const bough_instance *f) { return f->event_mode && f->now.cosimulation; }
int bough_instance_next_event(const bough_instance *f, double *time) {
  *time = f->type->next_event ? f->type->next_event(f) : -1.0;
  return f->type->next_event && *time >= f->now.start_time;
}
bough_instance_status bough_instance_enter_step(bough_instance *f) {
  f->now.state = AT_STEP;
  return INSTANCE_OK;
}

bough_instance *bough_instance_create(const bough_instance_setting *s) {
  bough_instance *f = calloc(1, sizeof *f);
  if (!f) {
    if (s->log) s->log(s->host, INSTANCE_ERROR, "logStatusError", BOUGH_NO_INSTANCE);
    return NULL;
  }
  f->log = s->log, f->host = s->host, f->log_mask = LOG_DEFAULT | s->log_mask; /* what ends an instantiation is always logged */
  f->function = "instantiation";
  f->now.cosimulation = s->cosimulation != 0;
  f->event_mode = s->cosimulation == 2;
  if (read_resource(f, s)) {
    f->type = bough_type_of(f->resource->partner);
    if (f->type->open(f) && events_fit(f)) {
      f->log_mask = s->log_mask;
      return f;
    }
  }
  bough_instance_free(f);
  return NULL;
}

void bough_instance_free(bough_instance *f) {
  if (!f) return;
  if (f->type) f->type->close(f);
  bough_sim_free(f->sim);
  bough_data_free(f->data);
  bough_model_free(f->model);
  free((void *)f->resource);
  free(f->bytes);
  free(f->arrays);
  free(f);
}

bough_instance_status bough_instance_reset(bough_instance *f) {
  f->type->reset(f);
  return INSTANCE_OK;
}
bough_instance_status bough_instance_enter_initialization(bough_instance *f) { return f->type->enter(f); }
bough_instance_status bough_instance_exit_initialization(bough_instance *f) { return f->type->exit(f); }
const char *bough_instance_function(const bough_instance *f) { return f->function; }
int bough_instance_state(const bough_instance *f) { return (int)f->now.state; }
double bough_instance_time(const bough_instance *f) { return f->now.time; }

/* ---- variables */

static const char *const type_names[] = {"real", "integer", "boolean", "enumeration"};

const bough_variable *bough_instance_find(bough_instance *f, uint32_t vr, bough_type type) {
  if (vr >= (uint32_t)f->resource->n_variables) {
    bough_instance_log(f, INSTANCE_ERROR, LOG_ERROR, "%s: there is no value reference %lu; the model has 0 to %d. Cure: take value "
            "references from this FMU's modelDescription.xml.", f->function, (unsigned long)vr,
            f->resource->n_variables - 1);
    return NULL;
  }
  const bough_variable *v = f->resource->variable + vr;
  if (v->type == (int)type || (v->type == TYPE_ENUMERATION && type == TYPE_INTEGER)) return v;
  bough_instance_log(f, INSTANCE_ERROR, LOG_ERROR, "%s: '%s' (value reference %lu) is of type %s, not %s.", f->function, v->name,
          (unsigned long)vr, type_names[v->type], type_names[type]);
  return NULL;
}

bough_instance_status bough_instance_apply(bough_instance *f) { return f->type->apply(f); }
bough_instance_status bough_instance_evaluate(bough_instance *f, int sensors) { return f->type->evaluate(f, sensors); }
bough_instance_status bough_instance_get(bough_instance *f, const bough_variable *v, double *value) {
  return f->type->get(f, v, value);
}
bough_instance_status bough_instance_check(bough_instance *f, const bough_variable *v, const double *value) {
  return f->type->check(f, v, value);
}
bough_instance_status bough_instance_set(bough_instance *f, const bough_variable *v, const double *value) {
  const bough_instance_status status = f->type->check(f, v, value);
  if (status == INSTANCE_OK) f->type->set(f, v, value);
  return status;
}

/* the variable of a reference, whatever its type; logs and returns null if there is none */
static const bough_variable *any_variable(bough_instance *f, uint32_t vr) {
  const int known = vr < (uint32_t)f->resource->n_variables;
  return bough_instance_find(f, vr, known ? (bough_type)f->resource->variable[vr].type : TYPE_REAL);
}
bough_instance_status bough_instance_read(bough_instance *f, const uint32_t *vr, size_t count, double *values) {
  if (bough_instance_missing(f, vr, count) || bough_instance_missing(f, values, count)) return INSTANCE_ERROR;
  for (size_t i = 0; i < count; i++) {
    const bough_variable *v = any_variable(f, vr[i]);
    const bough_instance_status status = v ? f->type->get(f, v, values) : INSTANCE_ERROR;
    if (status != INSTANCE_OK) return status;
    values += v->count;
  }
  return INSTANCE_OK;
}
bough_instance_status bough_instance_write(bough_instance *f, const uint32_t *vr, size_t count, const double *values) {
  if (bough_instance_missing(f, vr, count) || bough_instance_missing(f, values, count)) return INSTANCE_ERROR;
  bough_instance_status worst = INSTANCE_OK;
  for (int pass = 0; pass < 2 && worst == INSTANCE_OK; pass++) { /* all are checked before the first is set */
    const double *value = values;
    for (size_t i = 0; i < count; i++) {
      const bough_variable *v = any_variable(f, vr[i]);
      if (!v) return INSTANCE_ERROR;
      const bough_instance_status status = pass ? INSTANCE_OK : f->type->check(f, v, value);
      if (pass) f->type->set(f, v, value);
      if (status > worst) worst = status;
      value += v->count;
    }
  }
  return worst;
}

/* ---- what not every type offers; its modelDescription.xml says so */

static bough_instance_status not_offered(bough_instance *f, const char *what) {
  bough_instance_log(f, INSTANCE_ERROR, LOG_ERROR, "%s: this FMU gives no %s, and its modelDescription.xml says so.",
                     f->function, what);
  return INSTANCE_ERROR;
}
bough_instance_status bough_instance_directional(bough_instance *f, const uint32_t *unknowns, size_t n_unknowns,
                                                 const uint32_t *knowns, size_t n_knowns, const double *seed,
                                                 double *sensitivity) {
  if (!f->type->directional) return not_offered(f, "directional derivatives");
  return f->type->directional(f, unknowns, n_unknowns, knowns, n_knowns, seed, sensitivity);
}
bough_instance_status bough_instance_adjoint(bough_instance *f, const uint32_t *unknowns, size_t n_unknowns,
                                             const uint32_t *knowns, size_t n_knowns, const double *seed,
                                             double *sensitivity) {
  if (!f->type->adjoint) return not_offered(f, "adjoint derivatives");
  return f->type->adjoint(f, unknowns, n_unknowns, knowns, n_knowns, seed, sensitivity);
}
bough_instance_status bough_instance_output_rates(bough_instance *f, const uint32_t *vr, size_t count, double *value) {
  if (!f->type->output_rates) return not_offered(f, "derivatives of outputs");
  return f->type->output_rates(f, vr, count, value);
}
bough_instance_status bough_instance_input_derivative(bough_instance *f, const bough_variable *v, int order,
                                                      const double *value) {
  if (!f->type->input_derivative) return not_offered(f, "interpolation of inputs");
  return f->type->input_derivative(f, v, order, value);
}
bough_instance_status bough_instance_set_input(bough_instance *f, bough_input_fn input, void *user) {
  if (f->partner) return not_offered(f, "inputs by a function");
  f->input = input, f->input_user = user;
  f->dynamics_fresh = f->sensors_fresh = 0;
  return INSTANCE_OK;
}

bough_instance_status bough_instance_hand_over(bough_instance *f, bough_data *data, double *q, double *u) {
  return f->partner ? not_offered(f, "parameters of a mechanism") : bough_mechanism_hand_over(f, data, q, u);
}

/* ---- the clock */

bough_instance_status bough_instance_setup(bough_instance *f, double start, int tolerance_defined, double tolerance, int stop_defined,
                     double stop) {
  if (!bough_finite(start) || (stop_defined && !(stop >= start)) || (tolerance_defined && !(tolerance >= 0.0 && tolerance < 1.0))) {
    bough_instance_log(f, INSTANCE_ERROR, LOG_ERROR, "%s: start %g, stop %g, tolerance %g. Expected a finite start, stop >= start and a "
            "tolerance between 0 and 1.", f->function, start, stop, tolerance);
    return INSTANCE_ERROR;
  }
  f->now.time = f->now.start_time = f->now.input_time = start;
  f->now.stop_defined = stop_defined != 0, f->now.stop_time = stop_defined ? stop : 0.0;
  if (tolerance_defined && tolerance > 0.0 && f->now.cosimulation && !f->now.tolerance_set)
    f->now.solver_tolerance = tolerance > TOLERANCE_LEAST ? tolerance : TOLERANCE_LEAST;
  return INSTANCE_OK;
}

bough_instance_status bough_instance_terminate(bough_instance *f) {
  f->now.state = AT_TERMINATED;
  return INSTANCE_OK;
}

/* not a step that can follow now; logs */
static int wrong_step(bough_instance *f, double time, double step) {
  const double slack = 1e-9 * (1.0 + fabs(f->now.time));
  if (!bough_finite(time) || !bough_finite(step) || !(step > 0.0)) {
    bough_instance_log(f, INSTANCE_ERROR, LOG_ERROR, "%s: communication point %g s with step size %g s; expected finite numbers and a "
            "positive step.", f->function, time, step);
    return 1;
  }
  if (fabs(time - f->now.time) > slack) {
    bough_instance_log(f, INSTANCE_ERROR, LOG_ERROR, "%s: the communication point is %.17g s, but the instance is at %.17g s. Cure: step "
            "without gaps, or restore a state first.", f->function, time, f->now.time);
    return 1;
  }
  if (f->now.stop_defined && time + step > f->now.stop_time + slack) {
    bough_instance_log(f, INSTANCE_ERROR, LOG_ERROR, "%s: the step ends at %.17g s, beyond the stop time %.17g s.", f->function, time + step,
            f->now.stop_time);
    return 1;
  }
  return 0;
}

bough_instance_status bough_instance_step(bough_instance *f, double time, double step, bough_hook hook, void *user,
                                          double *reached) {
  *reached = f->now.time;
  if (wrong_step(f, time, step)) return INSTANCE_ERROR;
  const bough_instance_status status = f->type->step(f, time + step, hook, user);
  *reached = f->now.time;
  return status;
}
