/* sim.c - time integration: creation, inputs, and the walk from one time to the next, whatever the integrator. */
#include "sim.h"

#include <math.h>
#include <string.h>

/* A new integrator has a row here, in the order of bough_method. */
extern const bough_integrator bough_rk4, bough_dopri5, bough_rosenbrock2, bough_radau5, bough_auto;
static const bough_integrator *const METHODS[] = {&bough_rk4, &bough_dopri5, &bough_rosenbrock2, &bough_radau5, &bough_auto};
enum { METHOD_COUNT = (int)(sizeof METHODS / sizeof *METHODS) };

const bough_method_facts *bough_method_about(int method) {
  return method >= 0 && method < METHOD_COUNT ? &METHODS[method]->facts : NULL;
}

/* Attempts at one step in a row that fail: each is at most half as long as the one before. */
enum { MOST_REJECTIONS = 100 };
/* After so many attempts, an error that shorter steps do not reduce is not the step's: it is passed. The step is a
 * thousandth of the first attempt by then, and in practice less than a millionth. */
enum { PATIENCE = 12 };
/* Steps this short, as a part of the time between two results, close in on a jump of the input: good steps before the
 * jump lie between the bad ones over it, so that the attempts in a row, which ask for relief, never add up. */
static const double CLOSING_IN = 1e-8;
/* Fixed steps shorter than this part of the time drown in its rounding. */
static const double LEAST_STEP = 1e-12;
/* More equal steps than this in one stretch are a mistake: no machine gets there. */
static const double MOST_STEPS = 1e15;

/* x^p for x > 0, to ten digits. The step-size control needs no more, but it needs the same digits everywhere: a pow of
 * the platform's would make the steps, and so the results, differ from one system to the next. */
static double power(double x, double p) {
  int two;
  const double m = frexp(x, &two), z = (m - 1.0) / (m + 1.0), z2 = z * z; /* x = m 2^two, ln m = 2 artanh z */
  double series = 0.0, e = 1.0;
  for (int k = 21; k > 0; k -= 2) series = series * z2 + 1.0 / k;
  const double t = p * (2.0 * z * series + two * 0.69314718055994530942), n = floor(t / 0.69314718055994530942 + 0.5);
  const double r = t - n * 0.69314718055994530942;
  for (int k = 12; k > 0; k--) e = 1.0 + e * r / k;
  return ldexp(e, n > 1000.0 ? 1000 : n < -1000.0 ? -1000 : (int)n);
}

void bough_sim_use(bough_sim *sim, int64_t method) {
  sim->now.method = method, sim->now.error_old = 1e-4;
  sim->method = METHODS[method];
}

/* ---- creation */
static double *take(char *memory, size_t *offset, int count) {
  const size_t at = *offset;
  *offset += bough_align(sizeof(double) * (size_t)count);
  return memory ? (double *)(void *)(memory + at) : NULL;
}

static size_t lay_out(const bough_model *m, char *memory) {
  const int ny = m->nq + m->nu, inputs = 2 * m->nu + 6 * m->n_load_rows;
  size_t at = bough_align(sizeof(bough_sim));
  bough_sim local = {0}, *s = memory ? (bough_sim *)(void *)memory : &local;
  const size_t first = at;
  s->y = take(memory, &at, ny), s->rate = take(memory, &at, ny), s->y_old = take(memory, &at, ny);
  s->y_start = take(memory, &at, ny), s->size = take(memory, &at, ny), s->noise = take(memory, &at, ny);
  s->mode_step = take(memory, &at, m->n_modes), s->mode_kept = take(memory, &at, m->n_modes);
  s->dense = take(memory, &at, 4 * ny), s->inputs = take(memory, &at, (BOUGH_INPUT_ORDERS + 1) * inputs);
  s->array_bytes = at - first; /* what follows is made anew in every attempt */
  s->root_mass = take(memory, &at, ny);
  s->k = take(memory, &at, 12 * ny), s->stage = take(memory, &at, ny), s->error = take(memory, &at, ny);
  s->size_now = take(memory, &at, ny), s->probe = take(memory, &at, ny), s->probe_rate = take(memory, &at, ny);
  s->tau = take(memory, &at, inputs), s->inputs_new = take(memory, &at, inputs);
  s->implicit_force = take(memory, &at, m->nu), s->slide = take(memory, &at, m->nu);
  s->implicit_dq = take(memory, &at, m->nu), s->implicit_du = take(memory, &at, m->nu);
  s->implicit_xi = take(memory, &at, m->nu), s->implicit_f = take(memory, &at, m->nu);
  if (m->n_modes > 0) {
    const int n = 2 * m->n_drives + m->n_gears;
    s->event_end = take(memory, &at, ny), s->event_rate = take(memory, &at, ny), s->event_y = take(memory, &at, ny);
    s->event_spare = take(memory, &at, ny), s->event_first = take(memory, &at, n), s->event_last = take(memory, &at, n);
    s->event_here = take(memory, &at, n), s->event_z = take(memory, &at, n);
  }
  if (bough_gaps_any(m)) s->gaps = take(memory, &at, 2 * m->n_element_values);
  s->motion = s->tau ? s->tau + m->nu : NULL, s->loads = s->motion ? s->motion + m->nu : NULL;
  return at;
}

static int options_ok(const bough_sim_options *o) {
  if (o->method < 0 || o->method >= METHOD_COUNT) return 0;
  if (!(o->step >= 0.0) || !bough_finite(o->step) || !(o->step_max >= 0.0) || o->pause < 0) return 0;
  const int stepping = METHODS[o->method]->facts.stepping;
  if (stepping == BOUGH_STEP_FIXED) return o->step > 0.0;
  if (stepping == BOUGH_STEP_EITHER && o->step > 0.0) return 1;
  return o->rtol >= 0.0 && o->atol >= 0.0 && o->rtol + o->atol > 0.0 && bough_finite(o->rtol + o->atol);
}

static int is_fixed(const bough_sim *s) {
  const int stepping = s->method->facts.stepping;
  return stepping == BOUGH_STEP_FIXED || (stepping == BOUGH_STEP_EITHER && s->options.step > 0.0);
}

/* the method of the first step */
static void begin_with(bough_sim *s) {
  bough_sim_use(s, s->options.method == BOUGH_AUTO ? BOUGH_DOPRI5 : s->options.method);
  s->now.maker = s->now.method;
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
  begin_with(s);
  s->nq = m->nq, s->nu = m->nu, s->ny = m->nq + m->nu, s->n_inputs = 2 * m->nu + 6 * m->n_load_rows;
  s->now.input_order = -1, s->now.error_old = 1e-4, s->now.unsettled = 2;
  data->memory_of_modes = 1;
  s->where.body = -1;
  s->stop = INFINITY;
  bough_tolerance_start(s);
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
  const bough_sim_counts counts = {sim->now.steps, sim->now.rejected, sim->now.evaluations};
  return counts;
}
int64_t bough_sim_events(const bough_sim *sim) { return sim ? sim->now.events : 0; }
bough_where bough_sim_where(const bough_sim *sim) {
  const bough_where none = {-1, 0.0, 0};
  return sim ? sim->where : none;
}

bough_status bough_sim_close(bough_sim *sim, double t, double *y) {
  if (sim->model->n_rows == 0) return BOUGH_OK;
  bough_normalize(sim->model, y);
  const bough_status status = bough_project(sim->model, sim->data, y, y + sim->nq);
  if (status != BOUGH_OK) sim->where = sim->data->where, sim->where.time = t;
  return status;
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
  const bough_status status = bough_sim_close(sim, t, sim->y);
  if (status != BOUGH_OK) return status;
  const int64_t order = sim->now.input_order;
  const double input_t = sim->now.input_t;
  memset(&sim->now, 0, sizeof sim->now);
  sim->now.t = sim->now.t_old = sim->now.target = t, sim->now.error_old = 1e-4;
  sim->now.input_order = order, sim->now.input_t = input_t, sim->now.unsettled = 2;
  begin_with(sim);
  bough_tolerance_start(sim);
  bough_watch_state(sim->data, t, sim->y, sim->y + sim->nq);
  return BOUGH_OK;
}

/* ---- inputs and rates */

/* the polynomials at time t into tau, motion and loads, which lie one after the other */
static void polynomials(const bough_sim *sim, double t, double *values) {
  const int n = sim->n_inputs;
  memcpy(values, sim->inputs, sizeof(double) * (size_t)n);
  double factor = 1.0;
  for (int order = 1; order <= (int)sim->now.input_order; order++) {
    const double *d = sim->inputs + order * n;
    factor *= (t - sim->now.input_t) / order;
    for (int i = 0; i < n; i++) values[i] += factor * d[i];
  }
}

bough_status bough_sim_inputs(bough_sim *sim, double t, const double *y) {
  if (sim->now.input_order >= 0) polynomials(sim, t, sim->tau);
  if (!sim->input) return BOUGH_OK;
  if (sim->input(sim->user, t, y, y + sim->nq, sim->tau, sim->motion, sim->loads) == 0) return BOUGH_OK;
  sim->where.time = t;
  return BOUGH_STOPPED;
}

bough_status bough_sim_set_inputs(bough_sim *sim, double t, int order, const double *values) {
  if (!sim || !values || !bough_finite(t) || order < 0 || order > BOUGH_INPUT_ORDERS) return BOUGH_BAD_ARGUMENT;
  const int n = sim->n_inputs;
  int same = sim->now.input_order >= 0;
  if (same) polynomials(sim, sim->now.t, sim->tau);
  memcpy(sim->inputs, values, sizeof(double) * (size_t)(n * (order + 1)));
  sim->now.input_t = t, sim->now.input_order = order;
  if (same) polynomials(sim, sim->now.t, sim->inputs_new);
  for (int i = 0; same && i < n; i++) same = fabs(sim->inputs_new[i] - sim->tau[i]) <= 1e-15 * fabs(sim->tau[i]);
  if (!same) sim->now.fresh = 0, sim->now.unsettled |= 1; /* a jump: the rate kept from the last step is that before it */
  return BOUGH_OK;
}

bough_status bough_sim_rate(bough_sim *sim, double t, const double *y, double *rate) {
  bough_status status = bough_sim_inputs(sim, t, y);
  if (status != BOUGH_OK) return status;
  const bough_point at = {t, y, y + sim->nq, sim->tau, sim->motion, sim->loads, NULL};
  const bough_values values = {.qdot = rate, .udot = rate + sim->nq};
  sim->now.evaluations++;
  status = bough_evaluate(sim->model, sim->data, &at, 0, NULL, &values);
  if (status != BOUGH_OK) sim->where = sim->data->where;
  return status;
}

/* ---- steps */

/* The attempt from t to t_new, in `stage`, becomes the state; a number that is not finite leaves everything as it was. */
static bough_status accept(bough_sim *sim, double t_new) {
  const size_t bytes = sizeof(double) * (size_t)sim->ny;
  for (int i = 0; i < sim->ny; i++)
    if (!bough_finite(sim->stage[i])) {
      sim->where.time = t_new;
      sim->where.body = i < sim->nq ? -1 : bough_body_of_speed(sim->model, i - sim->nq);
      return BOUGH_NOT_FINITE;
    }
  const double h = t_new - sim->now.t;
  const bough_status status = bough_sim_close(sim, t_new, sim->stage);
  if (status != BOUGH_OK) return status;
  sim->now.fresh = 0;
  if (sim->method->keep) { /* dense output */
    sim->method->keep(sim, h);
    memcpy(sim->y_old, sim->y, bytes);
    sim->now.t_old = sim->now.t, sim->now.maker = sim->now.method;
    if (sim->model->n_rows > 0) sim->now.fresh = 0; /* the rate kept is that before loops were closed */
  } else
    sim->now.t_old = t_new;
  memcpy(sim->y, sim->stage, bytes);
  bough_normalize(sim->model, sim->y);
  sim->now.t = t_new;
  sim->now.steps++;
  bough_tolerance_follow(sim);
  bough_watch_state(sim->data, t_new, sim->y, sim->y + sim->nq);
  return BOUGH_OK;
}

/* A stretch of time that is a matter of rounding: two times that mean the same. */
static int is_instant(double from, double to) {
  return bough_finite(to) && to - from <= 1e-14 * (fabs(from) > fabs(to) ? fabs(from) : fabs(to));
}

/* an error over its tolerance, and what rounding and a start from rest have to do with it */
static bough_status judge(bough_sim *sim, double h, double *error) {
  if (sim->now.tries == 0) sim->horizon = 0.0;
  *error = bough_tolerance_norm(sim, h);
  if (*error <= 1.0 || sim->options.atol > 0.0) return BOUGH_OK;
  bough_status status = BOUGH_OK;
  if (sim->now.tries % 3 == 0) status = bough_tolerance_measure_noise(sim, h);
  if (sim->now.tries % 3 == 2 || h < CLOSING_IN * sim->now.spacing) status = bough_tolerance_relieve(sim);
  if (status == BOUGH_OK) *error = bough_tolerance_norm(sim, h);
  if (sim->now.tries % 3 == 0) {
    const int stuck = sim->now.tries >= PATIENCE && *error > 0.5 * sim->now.error_stuck && *error < 1e10;
    sim->now.error_stuck = *error < 1e300 ? *error : 1e300;
    if (stuck) *error = 1.0;
  }
  return status == BOUGH_STOPPED ? status : BOUGH_OK;
}

/* Length of the next attempt; *last: it ends at the limit. */
static double choose_step(const bough_sim *sim, double limit, int *last) {
  const double span = limit - sim->now.t, friction = bough_events_longest(sim);
  const double given = sim->options.step_max > 0.0 ? sim->options.step_max : span, most = given < friction ? given : friction;
  double h = sim->now.h > most ? most : sim->now.h;
  /* Without the control's margins the limit may be in reach; two steps to it are better of equal length. */
  *last = h >= span * (1.0 - 1e-12) || (sim->now.reach >= span && most >= span);
  if (*last) return span;
  return 2.0 * h > span ? 0.5 * span : h;
}

static void next_step(bough_sim *sim, double h, double error, int last) {
  const bough_integrator *m = sim->method;
  const double e = error > 1e-10 ? error : 1e-10, grow = sim->now.tries > 0 ? 1.0 : m->grow;
  double factor = 0.9 * power(e, -m->alpha) * power(sim->now.error_old, m->beta);
  factor = factor < 0.2 ? 0.2 : factor > grow ? grow : factor;
  sim->now.error_old = e > 1e-4 ? e : 1e-4;
  sim->now.reach = h * power(0.95 / e, 1.0 / m->facts.order);
  if (!last || h * factor < sim->now.h) sim->now.h = h * factor;
  sim->now.tries = 0;
  if (sim->options.method == BOUGH_AUTO) bough_auto_follow(sim);
}

/* An attempt from t to `end`, of length h, is good enough: it becomes the step, or a shorter one that ends in an event. */
static bough_status finish(bough_sim *sim, double h, double end, int *found) {
  double cut = h;
  bough_status status = bough_events_find(sim, &cut, found);
  if (status != BOUGH_OK) return status;
  sim->now.turned = sim->now.inside = 0;
  if (cut > 0.0) status = accept(sim, cut < h ? sim->now.t + cut : end);
  if (status == BOUGH_OK && *found) status = bough_events_happen(sim);
  if (status == BOUGH_OK && sim->end_known && !sim->now.fresh && sim->model->n_rows == 0) {
    memcpy(sim->rate, sim->event_rate, sizeof(double) * (size_t)sim->ny);
    sim->now.fresh = 1;
  }
  return status;
}

/* one accepted step of an adaptive method that ends at `limit` at the latest */
static bough_status adaptive_step(bough_sim *sim, double limit) {
  bough_status status = bough_events_begin(sim); /* of the last attempt: what a step that became too small is blamed on */
  if (status != BOUGH_OK) return status;
  if (sim->now.h == 0.0) {
    const double span = bough_finite(limit) ? limit - sim->now.t : 1.0;
    sim->now.h = sim->options.step > 0.0 ? sim->options.step : 1e-3 * span;
    if (sim->options.method == BOUGH_AUTO) bough_auto_start(sim);
  }
  for (; sim->now.tries < MOST_REJECTIONS; sim->now.tries++) {
    int last;
    double error = INFINITY;
    const double h = choose_step(sim, limit, &last);
    const int instant = is_instant(sim->now.t, limit);
    if (!instant && !(sim->now.t + 0.1 * h > sim->now.t)) break;
    if (sim->budget == 0) return BOUGH_PAUSED;
    sim->budget--;
    status = sim->method->attempt(sim, instant ? limit - sim->now.t : h);
    sim->event_evaluations = sim->now.evaluations;
    if (status == BOUGH_OK && instant) return accept(sim, limit);
    if (status == BOUGH_OK) status = judge(sim, h, &error);
    if (status == BOUGH_STOPPED) return status;
    const double seen = status == BOUGH_OK && error <= 1.0 ? bough_gaps_passed(sim, h) : h;
    if (seen < h) {
      sim->now.rejected++;
      sim->now.h = sim->now.reach = seen;
      continue;
    }
    if (status == BOUGH_OK && error <= 1.0) {
      int found;
      status = finish(sim, h, last ? limit : sim->now.t + h, &found);
      if (status == BOUGH_OK) next_step(sim, h, error, last || found);
      if (status != BOUGH_OPEN) return status; /* from nearer by, loops close */
    }
    sim->now.rejected++;
    if (sim->options.method == BOUGH_AUTO && bough_auto_rejected(sim)) continue;
    const double factor = status == BOUGH_OK && error < 1e10 ? 0.9 * power(error, -1.0 / sim->method->facts.order) : 0.1;
    sim->now.h = sim->now.reach = h * (factor < 0.2 ? 0.2 : factor > 0.5 ? 0.5 : factor);
  }
  sim->now.tries = 0;
  sim->where.time = sim->now.t;
  return status == BOUGH_OK ? BOUGH_STEP_TOO_SMALL : status;
}

static bough_status fixed_step(bough_sim *sim, double t) {
  if (!(t > sim->now.t)) {
    sim->where.time = sim->now.t;
    return BOUGH_STEP_TOO_SMALL;
  }
  if (sim->budget == 0) return BOUGH_PAUSED;
  sim->budget--;
  int found;
  bough_status status = bough_events_begin(sim);
  const double friction = bough_events_longest(sim);
  double end = friction < t - sim->now.t ? sim->now.t + friction : t;
  if (status == BOUGH_OK) status = sim->method->attempt(sim, end - sim->now.t);
  const double seen = status == BOUGH_OK ? bough_gaps_passed(sim, end - sim->now.t) : INFINITY;
  if (seen < end - sim->now.t) { /* once more, up to a contact that it passed */
    end = sim->now.t + seen;
    status = sim->method->attempt(sim, end - sim->now.t);
  }
  sim->event_evaluations = sim->now.evaluations;
  if (status == BOUGH_OK) status = finish(sim, end - sim->now.t, end, &found);
  sim->now.off_grid = sim->now.t < t;
  return status;
}

static double longest_fixed(const bough_sim *sim) {
  const double most = sim->options.step_max;
  return most > 0.0 && most < sim->options.step ? most : sim->options.step;
}

/* where step number i of the grid begins */
static double grid_time(const sim_clock *now, int64_t i) {
  if (i == now->grid_count) return now->grid_to;
  return now->grid_from + (now->grid_to - now->grid_from) * ((double)i / (double)now->grid_count);
}

/* equal steps of at most the fixed one, the last of which ends at t; a pause leaves the grid to be continued */
static bough_status fixed_to(bough_sim *sim, double t) {
  sim_clock *now = &sim->now;
  const int off = now->grid_next < now->grid_count && (grid_time(now, now->grid_next) > now->t || (grid_time(now, now->grid_next) < now->t && !now->off_grid));
  if (now->grid_to != t || now->grid_next >= now->grid_count || off) {
    const double h = longest_fixed(sim), count = ceil((t - now->t) / h - 1e-9);
    if (!(h >= LEAST_STEP * fabs(t)) || !(count < MOST_STEPS)) {
      sim->where.time = now->t;
      return BOUGH_STEP_TOO_SMALL;
    }
    now->grid_from = now->t, now->grid_to = t, now->grid_next = 0, now->grid_count = count > 1.0 ? (int64_t)count : 1;
  }
  while (now->grid_next < now->grid_count) {
    const bough_status status = fixed_step(sim, grid_time(now, now->grid_next + 1));
    if (status != BOUGH_OK) return status;
    if (!now->off_grid) now->grid_next++;
  }
  return BOUGH_OK;
}

/* a result is wanted at time t */
static void aim(bough_sim *sim, double t) {
  if (t > sim->now.target) sim->now.spacing = t - sim->now.target;
  sim->now.target = t;
}

bough_status bough_sim_step(bough_sim *sim, double limit, bough_input_fn input, void *user, double *q, double *u) {
  if (!sim || !q || !u || !bough_finite(limit) || !(limit > sim->now.t)) return BOUGH_BAD_ARGUMENT;
  bough_status status;
  sim->input = input, sim->user = user, sim->budget = -1;
  aim(sim, limit);
  bough_events_show(sim, 0);
  if (is_fixed(sim)) {
    const double h = longest_fixed(sim);
    const int lost = !(h >= LEAST_STEP * fabs(sim->now.t));
    status = lost ? BOUGH_STEP_TOO_SMALL
                  : fixed_step(sim, sim->now.t + h * (1.0 + 1e-9) < limit ? sim->now.t + h : limit);
    if (lost) sim->where.time = sim->now.t;
  } else
    status = adaptive_step(sim, limit);
  memcpy(q, sim->y, sizeof(double) * (size_t)sim->nq);
  memcpy(u, sim->y + sim->nq, sizeof(double) * (size_t)sim->nu);
  return status;
}

void bough_sim_set_stop(bough_sim *sim, double t) {
  if (sim) sim->stop = t;
}

static bough_status walk_to(bough_sim *sim, double t, int exact) {
  if (is_fixed(sim)) return fixed_to(sim, t);
  const int beyond = sim->method->dense && !exact && t <= sim->stop;
  bough_status status = BOUGH_OK;
  while (status == BOUGH_OK && sim->now.t < t) status = adaptive_step(sim, beyond ? sim->stop : t);
  return status;
}

bough_status bough_sim_advance(bough_sim *sim, double t, int exact, bough_input_fn input, void *user, double *q,
                               double *u) {
  if (!sim || !q || !u || !bough_finite(t) || t < sim->now.t_old) return BOUGH_BAD_ARGUMENT;
  bough_status status = BOUGH_OK;
  sim->input = input, sim->user = user;
  sim->budget = sim->options.pause > 0 ? sim->options.pause : -1;
  aim(sim, t);
  bough_events_show(sim, 0);
  if (t > sim->now.t) status = walk_to(sim, t, exact);
  if (status == BOUGH_OK && t == sim->now.t && sim->now.unsettled) status = bough_events_begin(sim);
  bough_events_show(sim, t < sim->now.t);
  const double *y = sim->y;
  if (status == BOUGH_OK && t < sim->now.t) { /* stepped beyond: interpolate */
    METHODS[sim->now.maker]->dense(sim, t, sim->stage);
    bough_normalize(sim->model, sim->stage);
    status = bough_sim_close(sim, t, sim->stage);
    y = sim->stage;
  }
  memcpy(q, y, sizeof(double) * (size_t)sim->nq);
  memcpy(u, y + sim->nq, sizeof(double) * (size_t)sim->nu);
  return status;
}

void bough_sim_disturb(bough_sim *sim) {
  if (sim) sim->now.fresh = 0, sim->now.unsettled |= 1;
}

bough_status bough_sim_set(bough_sim *sim, const double *q, const double *u) {
  if (!sim || !q || !u) return BOUGH_BAD_ARGUMENT;
  memcpy(sim->y, q, sizeof(double) * (size_t)sim->nq);
  memcpy(sim->y + sim->nq, u, sizeof(double) * (size_t)sim->nu);
  bough_normalize(sim->model, sim->y);
  sim->now.fresh = 0, sim->now.unsettled |= 1;
  sim->now.t_old = sim->now.t;
  return bough_sim_close(sim, sim->now.t, sim->y);
}

/* ---- a run to be resumed */
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

static int is_flag(int64_t x) { return x == 0 || x == 1; }

/* a clock that a run can have had; times may be anything finite */
static int clock_ok(const sim_clock *now) {
  return bough_finite(now->t) && bough_finite(now->t_old) && now->t_old <= now->t && now->h >= 0.0 &&
         bough_finite(now->h) && now->reach >= 0.0 && bough_finite(now->reach) && is_flag(now->fresh) && now->error_old > 0.0 && bough_finite(now->error_old) &&
         bough_finite(now->error_stuck) && bough_finite(now->target) && now->spacing >= 0.0 && bough_finite(now->spacing) &&
         bough_finite(now->input_t) && now->input_order >= -1 && now->input_order <= BOUGH_INPUT_ORDERS &&
         bough_finite(now->grid_from) && bough_finite(now->grid_to) && now->grid_count >= 0 && now->grid_next >= 0 &&
         (double)now->grid_count <= MOST_STEPS && (double)now->grid_next <= MOST_STEPS && now->steps >= 0 &&
         now->rejected >= 0 && now->evaluations >= 0 && now->noise_count >= 0 && now->tries >= 0 &&
         now->tries <= MOST_REJECTIONS && now->steps < INT64_MAX / 2 &&
         now->rejected < INT64_MAX / 2 && now->evaluations < INT64_MAX / 2 && now->noise_count < INT64_MAX / 2 &&
         now->unsettled >= 0 && now->unsettled <= 3 && is_flag(now->off_grid) && is_flag(now->blind) && is_flag(now->turned) &&
         is_flag(now->inside) && now->events >= 0 && now->events < INT64_MAX / 2 && now->at_once >= 0 && now->at_once < 1000 &&
         bough_finite(now->event_t);
}

/* methods that a run of these options can have */
static int methods_ok(const bough_sim *sim, const sim_clock *now) {
  const int64_t set = sim->options.method;
  if (set == BOUGH_AUTO) return bough_auto_ok(now);
  return now->method == set && now->maker == set;
}

bough_status bough_sim_restore(bough_sim *sim, const void *state, size_t size) {
  if (!sim || !state || size != bough_sim_state_size(sim)) return BOUGH_BAD_ARGUMENT;
  const char *p = state;
  sim_clock now;
  memcpy(&now, p, sizeof now), p += bough_align(sizeof(sim_clock));
  if (!clock_ok(&now) || !methods_ok(sim, &now)) return BOUGH_BAD_ARGUMENT;
  sim->now = now, sim->method = METHODS[now.method];
  memcpy(sim->y, p, sim->array_bytes), p += sim->array_bytes;
  memcpy(sim->data->gravity, p, sim->data->parameter_bytes);
  bough_data_choose_paths(sim->data);
  return BOUGH_OK;
}
