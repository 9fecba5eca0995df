/* step.c - Co-Simulation: from one communication point to the next. */
#include <math.h>
#include <string.h>

#include "fmu.h"

/* More internal steps than this between two communication points are a mistake. */
enum { INTERNAL_STEPS = 1000000 };

/* inputs as polynomials in time since they were set */
static int inputs_at(void *user, double t, double *tau, double *motion, double *loads) {
  const fmu_instance *f = user;
  const int nu = f->nu, nl = 6 * f->n_loads, width = 2 * nu + nl;
  memcpy(tau, f->tau, (size_t)nu * sizeof(double));
  memcpy(motion, f->motion, (size_t)nu * sizeof(double));
  memcpy(loads, f->loads, (size_t)nl * sizeof(double));
  double factor = 1.0;
  const double dt = t - f->now.input_time;
  for (int order = 0; order < (int)f->now.input_order; order++) {
    const double *d = f->inputs_dot + order * width;
    factor *= dt / (order + 1);
    for (int i = 0; i < nu; i++) tau[i] += factor * d[i], motion[i] += factor * d[nu + i];
    for (int i = 0; i < nl; i++) loads[i] += factor * d[2 * nu + i];
  }
  return 0;
}

/* After a step outputs see the inputs as they have become. Derivatives hold for one step; the slopes at its end stay for
 * the derivatives of outputs. */
static void settle_inputs(fmu_instance *f) {
  const int nu = f->nu, width = 2 * nu + 6 * f->n_loads;
  double *slope = f->inputs_dot;
  const size_t bytes = (size_t)width * sizeof(double);
  if (f->now.input_order > 0) {
    const double dt = f->now.time - f->now.input_time;
    inputs_at(f, f->now.time, f->work, f->work + nu, f->work + 2 * nu);
    memcpy(f->tau, f->work, (size_t)nu * sizeof(double));
    memcpy(f->motion, f->work + nu, (size_t)nu * sizeof(double));
    memcpy(f->loads, f->work + 2 * nu, 6 * (size_t)f->n_loads * sizeof(double));
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
  const int same = f->sim && f->sim_method == (int)f->now.solver_method && f->sim_step == f->now.solver_step &&
                   f->sim_tolerance == f->now.solver_tolerance;
  if (same) return BOUGH_OK;
  bough_sim_free(f->sim);
  f->sim = NULL;
  const int fixed = f->now.solver_method == BOUGH_RK4;
  const double step = fixed ? (f->now.solver_step > 0.0 ? f->now.solver_step : 1e-3)
                      : f->now.solver_method == BOUGH_ROSENBROCK2 ? f->now.solver_step : 0.0;
  const bough_sim_options options = {(int)f->now.solver_method, f->now.solver_tolerance, 0.01 * f->now.solver_tolerance, step, 0.0};
  bough_status status = bough_sim_create(f->model, f->data, &options, &f->sim);
  f->sim_method = (int)f->now.solver_method, f->sim_step = f->now.solver_step, f->sim_tolerance = f->now.solver_tolerance;
  if (status == BOUGH_OK) status = bough_sim_start(f->sim, f->now.time, f->q, f->u);
  return status;
}

fmu_status fmu_step(fmu_instance *f, double time, double step, fmu_hook hook, void *user, double *reached) {
  *reached = f->now.time;
  if (fmu_wrong_step(f, time, step)) return FMU_ERROR;
  const double end = time + step;
  fmu_status applied = fmu_apply(f);
  if (applied != FMU_OK) return applied;
  bough_status status = open_run(f);
  if (status == BOUGH_OK) bough_sim_disturb(f->sim); /* inputs may have jumped */
  int early = 0, count = 0;
  while (status == BOUGH_OK && !early && f->now.time < end) {
    const double before = f->now.time;
    status = bough_sim_step(f->sim, end, inputs_at, f, f->q, f->u);
    f->now.time = bough_sim_time(f->sim);
    /* solver.step is lost in rounding, or so small that the end is never reached */
    if (status == BOUGH_OK && (!(f->now.time > before) || ++count > INTERNAL_STEPS)) status = BOUGH_STEP_TOO_SMALL;
    f->dynamics_fresh = f->sensors_fresh = 0;
    if (status != BOUGH_OK || !hook) continue;
    f->inputs_set = 0;
    early = hook(user, f->now.time);
    if (f->inputs_set) bough_sim_disturb(f->sim);
  }
  *reached = f->now.time;
  settle_inputs(f);
  if (status == BOUGH_OK) return FMU_OK;
  fmu_explain(f, FMU_DISCARD, status, bough_sim_where(f->sim), "the step cannot be finished");
  f->now.state = AT_FAILED;
  return FMU_DISCARD;
}
