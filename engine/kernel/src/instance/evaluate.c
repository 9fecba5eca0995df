/* evaluate.c - parameters into the kernel, values out of it. */
#include <string.h>

#include "inside.h"

void bough_instance_explain(bough_instance *f, bough_instance_status level, bough_status status, bough_where where, const char *what) {
  const bough_resource *r = f->resource;
  if (status == BOUGH_OPEN && where.constraint > 0) {
    char name[128];
    bough_instance_log(f, level, LOG_ERROR, "%s: %s at t = %.9g s: '%s' cannot be kept closed. Cure: look for a driven or locked hinge "
            "that its loop does not let move so, or for a position that the mechanism cannot reach.", f->function, what, f->now.time,
            bough_mechanism_constraint(f, where.constraint - 1, name, sizeof name));
    return;
  }
  const int known = where.body >= 0 && where.body < r->n_bodies;
  const char *cure = status == BOUGH_SINGULAR ? "give the body, or what hangs on it, mass and inertia about the hinge's axes, or an armature"
                     : status == BOUGH_STEP_TOO_SMALL ? "loosen solver.tolerance, enlarge solver.step, take shorter communication steps, or look for inputs that are huge or jump"
                     : status == BOUGH_NOT_FINITE ? "look for an unstable motion; solver.method = 2 (rosenbrock2) takes stiff modes"
                     : status == BOUGH_NO_MEMORY ? BOUGH_NO_MEMORY_CURE
                                                  : "check the model and its parameters";
  bough_instance_log(f, level, LOG_ERROR, "%s: %s at t = %.9g s: %s%s%s%s%s%s. Cure: %s.", f->function, what, f->now.time,
          bough_status_text(status), known ? " (body '" : "", known ? r->body_name[where.body] : "",
          known ? "', hinge '" : "", known ? r->hinge_name[where.body] : "", known ? "')" : "", cure);
}

/* held DOFs: driven ones as the model has them, and those of locked hinges; `stop` gets those that still move */
static bough_status set_held(bough_instance *f, int *newly) {
  double *held = f->work; /* [nu] */
  *newly = 0;
  memset(f->stop, 0, (size_t)f->nu);
  memcpy(held, f->held, (size_t)f->nu * sizeof *held);
  for (int i = 0; i < f->resource->n_variables; i++) { /* only hinges with a `locked` parameter can change */
    const bough_variable *v = f->resource->variable + i;
    if (v->kind != KIND_LOCKED) continue;
    const bough_range hinge = bough_model_hinge(f->model, v->index);
    const int lock = f->locked[v->index] != 0.0;
    for (int j = hinge.u0; j < hinge.u0 + hinge.nu; j++) {
      held[j] = lock;
      f->stop[j] = lock && f->u[j] != 0.0;
      *newly |= f->stop[j];
    }
  }
  return bough_data_set(f->data, BOUGH_HELD, held, f->nu);
}

static bough_instance_status apply_held(bough_instance *f) {
  int newly;
  if (set_held(f, &newly) != BOUGH_OK) return INSTANCE_ERROR;
  if (!newly) return INSTANCE_OK;
  if (!f->now.running) { /* before the run a locked hinge simply does not move */
    for (int j = 0; j < f->nu; j++)
      if (f->stop[j]) f->u[j] = 0.0;
    return INSTANCE_OK;
  }
  const bough_status status = bough_stop_impulse(f->model, f->data, f->q, f->stop, f->u);
  if (status != BOUGH_OK) {
    bough_instance_explain(f, INSTANCE_ERROR, status, bough_data_where(f->data), "a hinge cannot be locked");
    return INSTANCE_ERROR;
  }
  if (f->sim) bough_sim_set(f->sim, f->q, f->u);
  f->now.jumped = 1;
  bough_instance_log(f, INSTANCE_OK, LOG_EVENTS, "%s: hinges locked at t = %.9g s; speeds jump, momentum is kept", f->function, f->now.time);
  return INSTANCE_OK;
}

/* start values of quaternions: any length but zero */
int bough_mechanism_fix_quaternions(bough_instance *f, double *q) {
  for (int k = 0; k < f->resource->n_bodies; k++) {
    const bough_range hinge = bough_model_hinge(f->model, k);
    if (hinge.nq == hinge.nu) continue;
    const double *Q = q + (hinge.q0 + hinge.nq - 4);
    if (Q[0] * Q[0] + Q[1] * Q[1] + Q[2] * Q[2] + Q[3] * Q[3] > 0.0) continue;
    bough_instance_log(f, INSTANCE_ERROR, LOG_ERROR, "%s: the start values '%s.Q[1]' to '%s.Q[4]' are all zero: a quaternion has length one. "
            "Cure: set them to 0, 0, 0, 1 for frames that agree.", f->function, f->resource->hinge_name[k],
            f->resource->hinge_name[k]);
    return 0;
  }
  bough_normalize(f->model, q);
  return 1;
}

bough_status bough_mechanism_set_parameters(bough_instance *f) {
  const bough_sizes sizes = bough_model_sizes(f->model), *n = &sizes;
  bough_status status = BOUGH_OK;
#define BOUGH_PARAMETER(number, KIND, member, count, type, range, kernel) \
  if ((kernel) >= 0 && status == BOUGH_OK) status = bough_data_set(f->data, (bough_parameter)(kernel), f->member, count);
#define BOUGH_DISCRETE(number, KIND, member, count, kernel) \
  if ((count) > 0 && status == BOUGH_OK) status = bough_data_set(f->data, kernel, f->member, count);
#include "fields.def"
  for (int i = 0; status == BOUGH_OK && i < f->resource->n_variables; i++) {
    const bough_variable *v = f->resource->variable + i;
    if (v->kind != KIND_RIGID || v->index % 10 != 0) continue;
    const double *p = f->rigid + v->index;
    status = bough_data_set_rigid(f->data, v->index / 10, p[0], p + 1, p + 4);
  }
  return status;
}

void bough_mechanism_state_taken(bough_instance *f) {
  int newly;
  bough_status status = bough_data_set(f->data, BOUGH_INERTIA, f->inertia, 10 * f->resource->n_bodies);
  if (status == BOUGH_OK) status = bough_mechanism_set_parameters(f);
  if (status == BOUGH_OK) status = set_held(f, &newly);
  bough_data_remember(f->data, f->now.running != 0);
  if (status != BOUGH_OK) f->now.changed |= CHANGED_PARAMETERS; /* refused when they are next needed, with the reason */
}

bough_instance_status bough_mechanism_apply(bough_instance *f) {
  /* quaternions keep the length that they were given until initialization ends: exit_ scales them. Loops need them now */
  const int64_t later = f->now.running || bough_mechanism_loops(f) ? 0 : CHANGED_POSITIONS;
  if (!(f->now.changed & ~later)) return INSTANCE_OK;
  const bough_status status = bough_mechanism_set_parameters(f);
  if (status != BOUGH_OK) {
    bough_instance_log(f, INSTANCE_ERROR, LOG_ERROR, "%s: parameters are refused: %s", f->function, bough_status_text(status));
    return INSTANCE_ERROR;
  }
  if ((f->now.changed & ~later & CHANGED_POSITIONS) && !bough_mechanism_fix_quaternions(f, f->q)) return INSTANCE_ERROR;
  f->now.changed &= later;
  if (f->sim) bough_sim_disturb(f->sim);
  f->dynamics_fresh = f->sensors_fresh = 0;
  bough_instance_status held = apply_held(f);
  if (held != INSTANCE_OK || f->now.running) return held;
  held = bough_mechanism_assemble(f);
  if (held != INSTANCE_OK) f->now.changed = CHANGED_PARAMETERS | CHANGED_POSITIONS; /* refused again until it is put right */
  return held;
}

bough_point bough_instance_point(bough_instance *f) {
  bough_point at = {.t = f->now.time};
#define BOUGH_STATE(number, KIND, member, count) at.member = f->member;
#define BOUGH_INPUT(number, KIND, member, count) at.member = f->member;
#include "fields.def"
  if (!(f->now.changed & CHANGED_POSITIONS)) return at;
  memcpy(f->work, f->q, (size_t)f->nq * sizeof(double));
  at.q = bough_mechanism_fix_quaternions(f, f->work) ? f->work : NULL;
  return at;
}

/* inputs at a point as the host's function has them */
static int ask_input(bough_instance *f, bough_point *at) {
  memcpy(f->stage_inputs, f->inputs, (size_t)f->inputs_width * sizeof(double));
#define BOUGH_INPUT(number, KIND, member, count) double *const member = f->stage_inputs + (f->member - f->inputs);
#include "fields.def"
#define BOUGH_INPUT(number, KIND, member, count) at->member = member;
#include "fields.def"
  if (f->input(f->input_user, f->now.time, at->q, f->u, tau, motion, loads) == 0) return 1;
  bough_instance_log(f, INSTANCE_ERROR, LOG_ERROR, "%s: the input function failed at t = %.9g s.", f->function, f->now.time);
  return 0;
}

void bough_mechanism_keep_modes(bough_instance *f) {
  const int count = bough_field_count(f, KIND_MODE);
  if (count > 0) bough_data_get(f->data, BOUGH_MODE, f->mode, count);
}

bough_instance_status bough_mechanism_settle(bough_instance *f, int fresh, int *jumped) {
  bough_data_remember(f->data, 1);
  if (bough_field_count(f, KIND_MODE) == 0) return INSTANCE_OK;
  bough_point at = bough_instance_point(f);
  if (f->input && !ask_input(f, &at)) return INSTANCE_ERROR;
  int changed = 0;
  memcpy(f->work, f->q, (size_t)(f->nq + f->nu) * sizeof *f->work); /* u follows q */
  const bough_status status = bough_settle(f->model, f->data, &at, f->q, f->u, fresh, &changed);
  if (status != BOUGH_OK) {
    bough_instance_explain(f, INSTANCE_ERROR, status, bough_data_where(f->data), "friction and limits cannot be settled");
    return INSTANCE_ERROR;
  }
  bough_mechanism_keep_modes(f);
  if (changed) f->dynamics_fresh = f->sensors_fresh = 0;
  for (int i = 0; jumped && i < f->nq + f->nu; i++) *jumped |= f->work[i] != f->q[i];
  return INSTANCE_OK;
}

bough_instance_status bough_mechanism_evaluate(bough_instance *f, int sensors) {
  const bough_instance_status applied = bough_mechanism_apply(f);
  if (applied != INSTANCE_OK) return applied;
  const int dynamics = !f->dynamics_fresh, motions = sensors && !f->sensors_fresh && f->resource->n_sensors > 0;
  if (!dynamics && !motions) return INSTANCE_OK;
  bough_point at = bough_instance_point(f);
  if (!at.q) return INSTANCE_ERROR;
  if (dynamics && f->input && !ask_input(f, &at)) return INSTANCE_ERROR;
  bough_values values = {0};
  if (!dynamics) at.udot = f->udot;
#define WANTED_DYNAMICS dynamics
#define WANTED_SENSORS motions
#define BOUGH_VALUE(number, KIND, member, count, type, when) \
  if (WANTED_##when) values.member = f->member;
#include "fields.def"
  if (!f->has_local) values.local = NULL;
  if (!f->has_deflection) values.deflection = NULL;
  const bough_status status = bough_evaluate(f->model, f->data, &at, f->resource->n_sensors, f->resource->sensor, &values);
  if (status != BOUGH_OK) {
    /* a solver of Model Exchange that went too far tries a shorter step */
    const bough_instance_status level = f->now.state == AT_CONTINUOUS ? INSTANCE_DISCARD : INSTANCE_ERROR;
    bough_instance_explain(f, level, status, bough_data_where(f->data), "accelerations cannot be computed");
    return level;
  }
  if (dynamics && f->now.running && f->now.state != AT_CONTINUOUS) { /* there the host may be trying a step out */
    bough_watch_reaction(f->data, f->now.time, f->reaction);
    bough_mechanism_warn(f);
  }
  f->dynamics_fresh = 1;
  f->sensors_fresh |= motions;
  return INSTANCE_OK;
}
