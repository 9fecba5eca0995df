/* step.c - Co-Simulation: from one communication point to the next. */
#include <math.h>
#include <string.h>

#include "inside.h"

/* More attempts at an internal step than this between two communication points are a mistake: see hopeless. The fuzz
 * targets, where the sanitizers make each attempt a hundred times as long, are compiled with fewer. */
#ifndef BOUGH_MOST_ATTEMPTS
#define BOUGH_MOST_ATTEMPTS 1000000
#endif

/* After a step outputs see the inputs as they have become. Derivatives hold for one step; the slopes at its end stay for
 * the derivatives of outputs. */
static void settle_inputs(bough_instance *f) {
  const int width = f->inputs_width;
  double *slope = f->inputs_dot;
  const size_t bytes = (size_t)width * sizeof(double);
  if (f->now.input_order > 0) {
    const double dt = f->now.time - f->now.input_time;
    double factor = 1.0;
    for (int order = 0; order < (int)f->now.input_order; order++) {
      factor *= dt / (order + 1);
      for (int i = 0; i < width; i++) f->inputs[i] += factor * f->inputs_dot[order * width + i];
    }
    for (int i = 0; i < width; i++) slope[i] += dt * (slope[width + i] + 0.5 * dt * slope[2 * width + i]);
    memset(slope + width, 0, (INPUT_ORDERS - 1) * bytes);
  } else
    memset(slope, 0, INPUT_ORDERS * bytes);
  f->now.input_order = 0;
  f->now.input_time = f->now.time;
}

bough_instance_status bough_mechanism_input_derivative(bough_instance *f, const bough_variable *v, int order,
                                                       const double *value) {
  if (v->role != ROLE_INPUT || order < 1 || order > INPUT_ORDERS) {
    bough_instance_log(f, INSTANCE_ERROR, LOG_ERROR, "%s: derivative %d of '%s': expected an input and an order from 1 to %d.", f->function,
            order, v->name, INPUT_ORDERS);
    return INSTANCE_ERROR;
  }
  const int width = f->inputs_width;
  const int first = bough_field_input(f, v);
  if (f->now.input_order == 0) memset(f->inputs_dot, 0, INPUT_ORDERS * (size_t)width * sizeof(double)); /* of the last step */
  for (int i = 0; i < v->count; i++) {
    if (!bough_finite(value[i])) {
      bough_instance_log(f, INSTANCE_DISCARD, LOG_ERROR, "%s: derivative %d of '%s' is %g; expected a finite number.", f->function, order,
              v->name, value[i]);
      return INSTANCE_DISCARD;
    }
    f->inputs_dot[(order - 1) * width + first + i] = value[i];
  }
  if (order > f->now.input_order) f->now.input_order = order;
  f->inputs_set = 1;
  return INSTANCE_OK;
}

bough_sim_options bough_instance_sim_options(const bough_clock *now) {
  bough_sim_options options;
  memset(&options, 0, sizeof options);
  options.method = (int)now->solver_method;
  options.rtol = now->solver_tolerance; /* no absolute tolerance: every coordinate is judged by its own motion */
  options.step_max = now->solver_max_step;
  const int stepping = bough_method_about(options.method)->stepping; /* the number is checked where it is set */
  if (stepping == BOUGH_STEP_FIXED) options.step = now->solver_step > 0.0 ? now->solver_step : 1e-3;
  if (stepping == BOUGH_STEP_EITHER) options.step = now->solver_step;
  return options;
}

void bough_mechanism_drop_run(bough_instance *f) {
  bough_sim_free(f->sim);
  f->sim = NULL;
}

/* a run with the solver's present settings; *made: it is new, and has not started */
static bough_status make_run(bough_instance *f, int *made) {
  const bough_sim_options options = bough_instance_sim_options(&f->now), *now = &f->sim_options;
  *made = !(f->sim && now->method == options.method && now->step == options.step && now->rtol == options.rtol &&
            now->step_max == options.step_max);
  if (!*made) return BOUGH_OK;
  bough_mechanism_drop_run(f);
  f->sim_options = options;
  return bough_sim_create(f->model, f->data, &options, &f->sim);
}

static bough_status open_run(bough_instance *f) {
  int made;
  const bough_status status = make_run(f, &made);
  return status == BOUGH_OK && made ? bough_sim_start(f->sim, f->now.time, f->q, f->u) : status;
}

bough_instance_status bough_mechanism_allocate_run(bough_instance *f) {
  int made;
  return make_run(f, &made) == BOUGH_NO_MEMORY ? bough_instance_no_memory(f) : INSTANCE_OK;
}

void bough_mechanism_start_run(bough_instance *f) {
  if (f->sim && bough_sim_start(f->sim, f->now.time, f->q, f->u) != BOUGH_OK) bough_mechanism_drop_run(f);
}

static int64_t attempts(const bough_sim *sim) {
  const bough_sim_counts counts = bough_sim_get_counts(sim);
  return counts.steps + counts.rejected;
}

/* So many attempts have brought the step from `start` to `time`: is `end` out of sight? From the first hundredth of the
 * allowed attempts on, the part of the way that is done must be at least the square of the part of the attempts that is
 * used. A slow beginning is forgiven; a pace that needs n times the allowed attempts ends after the n-th part of them. */
static int hopeless(int64_t count, double start, double time, double end) {
  const double used = (double)count / BOUGH_MOST_ATTEMPTS;
  return used > 1.0 || (used >= 0.01 && time - start < used * used * (end - start));
}

/* the host may look, and may ask to return early */
static int call_hook(bough_instance *f, bough_hook hook, void *user) {
  const char *const function = f->function; /* calls from within the call back leave their own */
  f->now.state = AT_INTERMEDIATE;
  const int early = hook(user, f->now.time);
  f->now.state = AT_STEP;
  f->function = function;
  return early;
}

/* internal steps to `end`, or until the hook asks to return */
static bough_status walk(bough_instance *f, double end, bough_hook hook, void *user) {
  const double start = f->now.time;
  const int64_t first = attempts(f->sim);
  bough_status status = BOUGH_OK;
  int early = 0;
  while (status == BOUGH_OK && !early && f->now.time < end) {
    status = bough_sim_step(f->sim, end, f->input, f->input_user, f->q, f->u);
    f->now.time = bough_sim_time(f->sim);
    if (status == BOUGH_OK && f->now.time < end && hopeless(attempts(f->sim) - first, start, f->now.time, end))
      status = BOUGH_STEP_TOO_SMALL;
    f->dynamics_fresh = f->sensors_fresh = 0;
    bough_mechanism_warn(f);
    if (status != BOUGH_OK || !hook) continue;
    f->inputs_set = 0;
    early = call_hook(f, hook, user);
    if (f->inputs_set && bough_sim_set_inputs(f->sim, f->now.input_time, (int)f->now.input_order, f->inputs) == BOUGH_OK)
      bough_sim_disturb(f->sim);
  }
  return status;
}

bough_instance_status bough_mechanism_step(bough_instance *f, double end, bough_hook hook, void *user) {
  const bough_instance_status applied = bough_mechanism_apply(f);
  if (applied != INSTANCE_OK) return applied;
  bough_status status = open_run(f);
  if (status == BOUGH_OK) status = bough_sim_set_inputs(f->sim, f->now.input_time, (int)f->now.input_order, f->inputs);
  if (status == BOUGH_OK) {
    bough_sim_disturb(f->sim); /* inputs may have jumped */
    status = walk(f, end, hook, user);
  }
  bough_mechanism_keep_modes(f);
  settle_inputs(f);
  if (status == BOUGH_OK) return INSTANCE_OK;
  bough_instance_explain(f, INSTANCE_DISCARD, status, bough_sim_where(f->sim), "the step cannot be finished");
  f->now.state = AT_FAILED;
  return INSTANCE_DISCARD;
}
