/* sim.c - time integration: creation, start, and the walk from one output time to the next. */
#include "sim.h"

#include <math.h>
#include <string.h>

static double *take(char *memory, size_t *offset, int count) {
  const size_t at = *offset;
  *offset += bough_align(sizeof(double) * (size_t)count);
  return memory ? (double *)(void *)(memory + at) : NULL;
}

static size_t lay_out(const bough_model *m, char *memory) {
  const int ny = m->nq + m->nu;
  size_t at = bough_align(sizeof(bough_sim));
  bough_sim local = {0}, *s = memory ? (bough_sim *)(void *)memory : &local;
  const size_t first = at;
  s->y = take(memory, &at, ny), s->rate = take(memory, &at, ny), s->y_old = take(memory, &at, ny);
  s->dense = take(memory, &at, 4 * ny), s->k = take(memory, &at, 7 * ny), s->stage = take(memory, &at, ny);
  s->tau = take(memory, &at, m->nu), s->motion = take(memory, &at, m->nu);
  s->loads = take(memory, &at, 6 * m->n_loads), s->extra = take(memory, &at, 3 * m->nu);
  s->array_bytes = at - first;
  return at;
}

static int options_ok(const bough_sim_options *o) {
  if (o->method < BOUGH_RK4 || o->method > BOUGH_ROSENBROCK2) return 0;
  if (!(o->step >= 0.0) || !bough_finite(o->step) || !(o->step_max >= 0.0)) return 0;
  if (o->method == BOUGH_RK4) return o->step > 0.0;
  const int fixed = o->method == BOUGH_ROSENBROCK2 && o->step > 0.0;
  return fixed || (o->rtol >= 0.0 && o->atol >= 0.0 && o->rtol + o->atol > 0.0 && bough_finite(o->rtol + o->atol));
}

bough_status bough_sim_create(const bough_model *m, bough_data *data, const bough_sim_options *options,
                              bough_sim **out) {
  if (!m || !data || data->model != m || !options || !out || !options_ok(options)) return BOUGH_BAD_ARGUMENT;
  *out = NULL;
  char *memory = bough_allocate(lay_out(m, NULL));
  if (!memory) return BOUGH_NO_MEMORY;
  lay_out(m, memory);
  bough_sim *s = (bough_sim *)(void *)memory;
  s->model = m, s->data = data, s->options = *options;
  s->nq = m->nq, s->nu = m->nu, s->ny = m->nq + m->nu;
  s->where.body = -1;
  s->stop = INFINITY;
  *out = s;
  return BOUGH_OK;
}

void bough_sim_free(bough_sim *sim) {
  bough_release(sim);
}

double bough_sim_time(const bough_sim *sim) { return sim ? sim->now.t : 0.0; }
bough_sim_counts bough_sim_get_counts(const bough_sim *sim) {
  const bough_sim_counts none = {0, 0, 0};
  if (!sim) return none;
  const bough_sim_counts counts = {(long)sim->now.steps, (long)sim->now.rejected, (long)sim->now.evaluations};
  return counts;
}
bough_where bough_sim_where(const bough_sim *sim) {
  const bough_where none = {-1, 0.0};
  return sim ? sim->where : none;
}

bough_status bough_sim_start(bough_sim *sim, double t, const double *q, const double *u) {
  if (!sim || !q || !u || !bough_finite(t)) return BOUGH_BAD_ARGUMENT;
  for (int i = 0; i < sim->nq; i++)
    if (!bough_finite(q[i])) return BOUGH_NOT_FINITE;
  for (int i = 0; i < sim->nu; i++)
    if (!bough_finite(u[i])) return BOUGH_NOT_FINITE;
  memcpy(sim->y, q, sizeof(double) * (size_t)sim->nq);
  memcpy(sim->y + sim->nq, u, sizeof(double) * (size_t)sim->nu);
  bough_normalize(sim->model, sim->y);
  sim->now.t = sim->now.t_old = t;
  sim->now.h = sim->now.reach = 0.0, sim->now.error_old = 1e-4, sim->now.fresh = 0;
  sim->now.steps = sim->now.rejected = sim->now.evaluations = 0;
  return BOUGH_OK;
}

bough_status bough_sim_inputs(bough_sim *sim, double t) {
  if (!sim->input) return BOUGH_OK;
  if (sim->input(sim->user, t, sim->tau, sim->motion, sim->loads) == 0) return BOUGH_OK;
  sim->where.time = t;
  return BOUGH_STOPPED;
}

bough_status bough_sim_rate(bough_sim *sim, double t, const double *y, double *rate) {
  bough_status status = bough_sim_inputs(sim, t);
  if (status != BOUGH_OK) return status;
  const double *q = y, *u = y + sim->nq;
  sim->now.evaluations++;
  bough_position_rates(sim->model, q, u, rate);
  status = bough_forward_dynamics(sim->model, sim->data, q, u, sim->tau, sim->motion,
                                  sim->model->n_loads ? sim->loads : NULL, rate + sim->nq, NULL, NULL);
  if (status != BOUGH_OK) sim->where = sim->data->where, sim->where.time = t;
  return status;
}

/* A speed is judged by the displacement it makes in a hundredth of a second: what vibrates at 100 rad/s has speeds a
 * hundred times its displacements. */
static const double SPEED_FLOOR = 100.0;

double bough_sim_norm(const bough_sim *sim, const double *error, const double *a, const double *b) {
  double sum = 0.0;
  for (int i = 0; i < sim->ny; i++) {
    const double size = fabs(a[i]) > fabs(b[i]) ? fabs(a[i]) : fabs(b[i]);
    const double floor = i < sim->nq ? sim->options.atol : SPEED_FLOOR * sim->options.atol;
    const double e = error[i] / (floor + sim->options.rtol * size);
    sum += e * e;
  }
  return sqrt(sum / (sim->ny > 0 ? sim->ny : 1));
}

static bough_status finished_step(bough_sim *sim, double t) {
  for (int i = 0; i < sim->ny; i++)
    if (!bough_finite(sim->y[i])) {
      sim->where.time = t;
      sim->where.body = i < sim->nq ? -1 : bough_body_of_speed(sim->model, i - sim->nq);
      return BOUGH_NOT_FINITE;
    }
  bough_normalize(sim->model, sim->y);
  sim->now.t = sim->now.t_old = t; /* no dense output: earlier times are gone */
  sim->now.steps++;
  return BOUGH_OK;
}

/* equal steps of at most options.step, the last of which ends at t */
static bough_status fixed_to(bough_sim *sim, double t) {
  const double span = t - sim->now.t, start = sim->now.t;
  const double count = ceil(span / sim->options.step - 1e-9);
  const long n = count > 1.0 ? (long)count : 1;
  for (long i = 0; i < n; i++) {
    const double next = i + 1 == n ? t : start + span * (double)(i + 1) / (double)n, h = next - sim->now.t;
    double error;
    memcpy(sim->y_old, sim->y, sizeof(double) * (size_t)sim->ny);
    bough_status status = sim->options.method == BOUGH_RK4 ? bough_rk4_step(sim, h)
                                                           : bough_rosenbrock_step(sim, h, sim->y, &error);
    if (status == BOUGH_OK) status = finished_step(sim, next);
    if (status != BOUGH_OK) { /* hand back the state before the step */
      memcpy(sim->y, sim->y_old, sizeof(double) * (size_t)sim->ny);
      return status;
    }
  }
  return BOUGH_OK;
}

/* adaptive Rosenbrock: one accepted step, steered by the embedded first-order error */
static bough_status rosenbrock_step_to(bough_sim *sim, double t) {
  bough_status status = BOUGH_OK; /* of the last attempt: what a step that became too small is blamed on */
  for (;;) {
    const double span = t - sim->now.t;
    double h = sim->now.h > 0.0 ? sim->now.h : 1e-3 * span, error = 0.0;
    if (sim->options.step_max > 0.0 && h > sim->options.step_max) h = sim->options.step_max;
    const int last = h >= span * (1.0 - 1e-12);
    if (last) h = span;
    if (!(sim->now.t + h > sim->now.t)) {
      sim->where.time = sim->now.t;
      return status == BOUGH_OK ? BOUGH_STEP_TOO_SMALL : status;
    }
    memcpy(sim->y_old, sim->y, sizeof(double) * (size_t)sim->ny);
    status = bough_rosenbrock_step(sim, h, sim->stage, &error);
    if (status == BOUGH_STOPPED) return status;
    if (status != BOUGH_OK || !(error <= 1.0)) {
      sim->now.rejected++;
      const double shrink = status == BOUGH_OK && error < 1e10 ? 0.9 / sqrt(error) : 0.1;
      sim->now.h = h * (shrink < 0.2 ? 0.2 : shrink);
      continue;
    }
    memcpy(sim->y, sim->stage, sizeof(double) * (size_t)sim->ny);
    status = finished_step(sim, last ? t : sim->now.t + h);
    if (status != BOUGH_OK) {
      memcpy(sim->y, sim->y_old, sizeof(double) * (size_t)sim->ny);
      return status;
    }
    const double grow = error > 0.0 ? 0.9 / sqrt(error) : 5.0;
    const double next = h * (grow > 5.0 ? 5.0 : grow < 0.2 ? 0.2 : grow);
    if (!last || next < sim->now.h || sim->now.h == 0.0) sim->now.h = next;
    return BOUGH_OK;
  }
}

static bough_status rosenbrock_to(bough_sim *sim, double t) {
  while (sim->now.t < t) {
    const bough_status status = rosenbrock_step_to(sim, t);
    if (status != BOUGH_OK) return status;
  }
  return BOUGH_OK;
}

void bough_sim_set_stop(bough_sim *sim, double t) {
  if (sim) sim->stop = t;
}

static bough_status dopri5_to(bough_sim *sim, double t, int exact) {
  const double limit = exact || !(t <= sim->stop) ? t : sim->stop;
  if (exact) sim->now.fresh = 0; /* inputs may have jumped */
  while (sim->now.t < t) {
    const bough_status status = bough_dopri5_step(sim, limit);
    if (status != BOUGH_OK) return status;
  }
  return BOUGH_OK;
}

void bough_sim_disturb(bough_sim *sim) {
  if (sim) sim->now.fresh = 0;
}

bough_status bough_sim_set(bough_sim *sim, const double *q, const double *u) {
  if (!sim || !q || !u) return BOUGH_BAD_ARGUMENT;
  memcpy(sim->y, q, sizeof(double) * (size_t)sim->nq);
  memcpy(sim->y + sim->nq, u, sizeof(double) * (size_t)sim->nu);
  bough_normalize(sim->model, sim->y);
  sim->now.fresh = 0;
  sim->now.t_old = sim->now.t;
  return BOUGH_OK;
}

size_t bough_sim_state_size(const bough_sim *sim) {
  return sim ? bough_align(sizeof(sim_clock)) + sim->array_bytes + sim->data->parameter_bytes : 0;
}

bough_status bough_sim_save(const bough_sim *sim, void *state, size_t size) {
  if (!sim || !state || size != bough_sim_state_size(sim)) return BOUGH_BAD_ARGUMENT;
  char *p = state;
  memset(p, 0, bough_align(sizeof(sim_clock)));
  memcpy(p, &sim->now, sizeof(sim_clock)), p += bough_align(sizeof(sim_clock));
  memcpy(p, sim->y, sim->array_bytes), p += sim->array_bytes;
  memcpy(p, sim->data->gravity, sim->data->parameter_bytes);
  return BOUGH_OK;
}

bough_status bough_sim_restore(bough_sim *sim, const void *state, size_t size) {
  if (!sim || !state || size != bough_sim_state_size(sim)) return BOUGH_BAD_ARGUMENT;
  const char *p = state;
  memcpy(&sim->now, p, sizeof(sim_clock)), p += bough_align(sizeof(sim_clock));
  memcpy(sim->y, p, sim->array_bytes), p += sim->array_bytes;
  memcpy(sim->data->gravity, p, sim->data->parameter_bytes);
  bough_data_choose_paths(sim->data);
  return BOUGH_OK;
}

bough_status bough_sim_step(bough_sim *sim, double limit, bough_input_fn input, void *user, double *q, double *u) {
  if (!sim || !q || !u || !bough_finite(limit) || !(limit > sim->now.t)) return BOUGH_BAD_ARGUMENT;
  bough_status status;
  sim->input = input, sim->user = user;
  if (sim->options.method == BOUGH_DOPRI5)
    status = bough_dopri5_step(sim, limit);
  else if (sim->options.step > 0.0) {
    const double next = sim->now.t + sim->options.step * (1.0 + 1e-9);
    status = fixed_to(sim, next < limit ? sim->now.t + sim->options.step : limit);
  } else
    status = rosenbrock_step_to(sim, limit);
  memcpy(q, sim->y, sizeof(double) * (size_t)sim->nq);
  memcpy(u, sim->y + sim->nq, sizeof(double) * (size_t)sim->nu);
  return status;
}

bough_status bough_sim_advance(bough_sim *sim, double t, int exact, bough_input_fn input, void *user, double *q,
                               double *u) {
  if (!sim || !q || !u || !bough_finite(t) || t < sim->now.t_old) return BOUGH_BAD_ARGUMENT;
  bough_status status = BOUGH_OK;
  sim->input = input, sim->user = user;
  if (t > sim->now.t) {
    if (sim->options.method == BOUGH_DOPRI5)
      status = dopri5_to(sim, t, exact);
    else if (sim->options.step > 0.0)
      status = fixed_to(sim, t);
    else
      status = rosenbrock_to(sim, t);
  }
  const double *y = sim->y;
  if (status == BOUGH_OK && t < sim->now.t) { /* stepped beyond: interpolate */
    bough_dopri5_dense(sim, t, sim->stage);
    bough_normalize(sim->model, sim->stage);
    y = sim->stage;
  }
  memcpy(q, y, sizeof(double) * (size_t)sim->nq);
  memcpy(u, y + sim->nq, sizeof(double) * (size_t)sim->nu);
  return status;
}
