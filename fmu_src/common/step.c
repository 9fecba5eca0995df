/* step.c - Co-Simulation: from one communication point to the next. */
#include <math.h>
#include <string.h>

#include "fmu.h"

/* More attempts at an internal step than this between two communication points are a mistake: see hopeless. The fuzz
 * targets, where the sanitizers make each attempt a hundred times as long, are compiled with fewer. */
#ifndef BOUGH_MOST_ATTEMPTS
#define BOUGH_MOST_ATTEMPTS 1000000
#endif

/* After a step outputs see the inputs as they have become. Derivatives hold for one step; the slopes at its end stay for
 * the derivatives of outputs. */
static void settle_inputs(fmu_instance *f) {
  const int width = 2 * f->nu + 6 * f->n_loads;
  double *slope = f->inputs_dot;
  const size_t bytes = (size_t)width * sizeof(double);
  if (f->now.input_order > 0) {
    const double dt = f->now.time - f->now.input_time;
    double factor = 1.0;
    for (int order = 0; order < (int)f->now.input_order; order++) {
      factor *= dt / (order + 1);
      for (int i = 0; i < width; i++) f->tau[i] += factor * f->inputs_dot[order * width + i];
    }
    for (int i = 0; i < width; i++) slope[i] += dt * (slope[width + i] + 0.5 * dt * slope[2 * width + i]);
    memset(slope + width, 0, (INPUT_ORDERS - 1) * bytes);
  } else
    memset(slope, 0, INPUT_ORDERS * bytes);
  f->now.input_order = 0;
  f->now.input_time = f->now.time;
}

fmu_status fmu_input_derivative(fmu_instance *f, const fmu_variable *v, int order, const double *value) {
  if (v->role != ROLE_INPUT || order < 1 || order > INPUT_ORDERS) {
    fmu_log(f, FMU_ERROR, LOG_ERROR, "%s: derivative %d of '%s': expected an input and an order from 1 to %d.", f->function,
            order, v->name, INPUT_ORDERS);
    return FMU_ERROR;
  }
  const int width = 2 * f->nu + 6 * f->n_loads;
  const int first = v->index + (v->kind == KIND_TAU ? 0 : v->kind == KIND_MOTION ? f->nu : 2 * f->nu);
  if (f->now.input_order == 0) memset(f->inputs_dot, 0, INPUT_ORDERS * (size_t)width * sizeof(double)); /* of the last step */
  for (int i = 0; i < v->count; i++) {
    if (!fmu_finite(value[i])) {
      fmu_log(f, FMU_DISCARD, LOG_ERROR, "%s: derivative %d of '%s' is %g; expected a finite number.", f->function, order,
              v->name, value[i]);
      return FMU_DISCARD;
    }
    f->inputs_dot[(order - 1) * width + first + i] = value[i];
  }
  if (order > f->now.input_order) f->now.input_order = order;
  f->inputs_set = 1;
  return FMU_OK;
}

static bough_status open_run(fmu_instance *f) {
  const bough_sim_options options = fmu_sim_options(&f->now), *made = &f->sim_options;
  const int same = f->sim && made->method == options.method && made->step == options.step && made->rtol == options.rtol &&
                   made->step_max == options.step_max;
  if (same) return BOUGH_OK;
  bough_sim_free(f->sim);
  f->sim = NULL;
  f->sim_options = options;
  const bough_status status = bough_sim_create(f->model, f->data, &options, &f->sim);
  return status == BOUGH_OK ? bough_sim_start(f->sim, f->now.time, f->q, f->u) : status;
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

/* internal steps to `end`, or until the hook asks to return */
static bough_status walk(fmu_instance *f, double end, fmu_hook hook, void *user) {
  const double start = f->now.time;
  const int64_t first = attempts(f->sim);
  bough_status status = BOUGH_OK;
  int early = 0;
  while (status == BOUGH_OK && !early && f->now.time < end) {
    status = bough_sim_step(f->sim, end, NULL, NULL, f->q, f->u);
    f->now.time = bough_sim_time(f->sim);
    if (status == BOUGH_OK && f->now.time < end && hopeless(attempts(f->sim) - first, start, f->now.time, end))
      status = BOUGH_STEP_TOO_SMALL;
    f->dynamics_fresh = f->sensors_fresh = 0;
    if (status != BOUGH_OK || !hook) continue;
    f->inputs_set = 0;
    early = hook(user, f->now.time);
    if (f->inputs_set && bough_sim_set_inputs(f->sim, f->now.input_time, (int)f->now.input_order, f->tau) == BOUGH_OK)
      bough_sim_disturb(f->sim);
  }
  return status;
}

fmu_status fmu_step(fmu_instance *f, double time, double step, fmu_hook hook, void *user, double *reached) {
  *reached = f->now.time;
  if (fmu_wrong_step(f, time, step)) return FMU_ERROR;
  fmu_status applied = fmu_apply(f);
  if (applied != FMU_OK) return applied;
  bough_status status = open_run(f);
  if (status == BOUGH_OK) status = bough_sim_set_inputs(f->sim, f->now.input_time, (int)f->now.input_order, f->tau);
  if (status == BOUGH_OK) {
    bough_sim_disturb(f->sim); /* inputs may have jumped */
    status = walk(f, time + step, hook, user);
  }
  *reached = f->now.time;
  settle_inputs(f);
  if (status == BOUGH_OK) return FMU_OK;
  fmu_explain(f, FMU_DISCARD, status, bough_sim_where(f->sim), "the step cannot be finished");
  f->now.state = AT_FAILED;
  return FMU_DISCARD;
}
