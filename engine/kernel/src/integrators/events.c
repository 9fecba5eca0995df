/* events.c - friction, limits and gears in a run: their events are found between two steps, and a step ends at the first.
 *
 * Event functions (elements/drives.c) are positive until a mode has to change. After a step has met its tolerance they are
 * looked at on a cubic through both ends of the step: at SAMPLES places, and where the coordinate that one watches turns back on
 * the cubic, so that no step is too long to see a limit that is met and left again. Those of held DOFs, whose force takes an
 * evaluation, are looked at in its end and, if the force is near its bound or inputs vary, on the way.
 * Where one has become negative the first zero is located there, the step is made again up to that time, and its end
 * is moved until it is a zero of the step itself: the time of the event is as accurate as the step, whatever the integrator.
 * Then the modes settle (elements/settle.c), and the next step begins. Events that follow each other without any time between
 * them are bounded: after MOST_AT_ONCE of them one short step is made that looks at none. */
#include <math.h>
#include <string.h>

#include "elements/drives.h"
#include "sim.h"

/* Stribeck's peak is narrow: a step that ends beyond it may never see it. So steps end where it begins, and cross it in parts. */
static const double PEAK_WIDTH = 3.0; /* Stribeck speeds: what is left of the peak there is 1e-4 of it */
static const double PEAK_PART = 0.5;  /* of a Stribeck speed: what a step in it may change the speed by */
static const double NEAR_BOUND = 0.25; /* of what holds a DOF: nearer to its bound, a force may pass it within a step */
static const double BLIND_PART = 0.01; /* of a step: length of one that looks at no event */
enum { SAMPLES = 4, MOST_TURNS = 64, MOST_HALVINGS = 40, MOST_PROBES = 60, MOST_RESTEPS = 4, MOST_AT_ONCE = 100 };

static int count_of(const bough_sim *sim) { return 2 * sim->model->n_drives + sim->model->n_gears; }

/* is event function i that of a held DOF? */
static int by_force(const bough_sim *sim, int i) {
  const int j = i / 2;
  return i % 2 == 0 && j < sim->model->n_drives && bough_drive_modes(sim->data->mode)[j].hold != 0.0;
}

static double slack_of(const bough_sim *sim, int i) {
  return bough_drive_slack(sim->model->drive + i / 2, bough_drive_modes(sim->data->mode) + i / 2);
}

static bough_status evaluate_at(bough_sim *sim, double t, const double *y, double *rate) {
  return bough_sim_rate(sim, t, y, rate);
}

static bough_point point_of(const bough_sim *sim, double t, const double *y) {
  const bough_point at = {t, y, y + sim->nq, sim->tau, sim->motion, sim->loads, NULL};
  return at;
}

static bough_status settle(bough_sim *sim, int fresh) {
  int changed = 0;
  bough_status status = bough_sim_inputs(sim, sim->now.t, sim->y);
  if (status != BOUGH_OK) return status;
  const bough_point at = point_of(sim, sim->now.t, sim->y);
  status = bough_settle(sim->model, sim->data, &at, sim->y, sim->y + sim->nq, fresh, &changed);
  if (status != BOUGH_OK) {
    sim->where = sim->data->where, sim->where.time = sim->now.t;
    return status;
  }
  if (changed) {
    sim->now.fresh = 0;
    status = bough_sim_close(sim, sim->now.t, sim->y);
  }
  return status;
}

bough_status bough_events_begin(bough_sim *sim) {
  if (sim->model->n_modes == 0) return BOUGH_OK;
  bough_drives_follow_sizes(sim->data, sim->y, sim->y + sim->nq);
  const int first = sim->now.unsettled >= 2, unsettled = sim->now.unsettled != 0;
  bough_status status = first ? settle(sim, 1) : BOUGH_OK;
  if (status == BOUGH_OK && (unsettled || !sim->now.fresh)) {
    status = evaluate_at(sim, sim->now.t, sim->y, sim->rate);
    if (status != BOUGH_OK) return status;
    sim->now.fresh = 1;
    double *z = sim->event_z;
    bough_drive_indicators(sim->data, sim->data->mode, sim->y, sim->y + sim->nq, bough_drives_need(sim->data), z);
    int fired = 0;
    for (int i = 0; i < count_of(sim); i++) fired |= z[i] < 0.0;
    if (fired && !first) status = settle(sim, 0);
    if (status == BOUGH_OK && !sim->now.fresh) {
      status = evaluate_at(sim, sim->now.t, sim->y, sim->rate);
      sim->now.fresh = status == BOUGH_OK;
    }
  }
  sim->now.unsettled = 0;
  return status;
}

double bough_events_longest(const bough_sim *sim) {
  const bough_model *m = sim->model;
  const bough_drive_mode *s = bough_drive_modes(sim->data->mode);
  double longest = sim->now.blind ? BLIND_PART * (sim->now.h > 0.0 ? sim->now.h : sim->options.step) : INFINITY;
  for (int j = 0; j < m->n_drives; j++) {
    const bough_drive *x = m->drive + j;
    const double w = sim->y[sim->nq + x->dof], a = sim->rate[sim->nq + x->dof], size = fabs(w) - PEAK_WIDTH * x->stribeck;
    if (s[j].slip == 0.0 || !(x->stribeck > 0.0) || a == 0.0 || (size > 0.0 && w * a > 0.0)) continue;
    const double way = size > PEAK_PART * x->stribeck ? size : PEAK_PART * x->stribeck;
    if (way < longest * fabs(a)) longest = way / fabs(a);
  }
  return longest;
}

/* ---- the cubic through both ends of the step: y, rate; stage, event_rate */
static void cubic(const bough_sim *sim, double h, double x, double *y) {
  const double a = x * x * (3.0 - 2.0 * x), b = h * x * (1.0 - x) * (1.0 - x), c = -h * x * x * (1.0 - x);
  for (int i = 0; i < sim->ny; i++)
    y[i] = sim->y[i] + a * (sim->event_end[i] - sim->y[i]) + b * sim->rate[i] + c * sim->event_rate[i];
}

/* event function i at x of the step; that of a held DOF takes an evaluation */
static bough_status probe(bough_sim *sim, double h, double x, int i, double *z) {
  cubic(sim, h, x, sim->event_y);
  if (by_force(sim, i)) {
    const bough_status status = evaluate_at(sim, sim->now.t + x * h, sim->event_y, sim->event_spare);
    if (status != BOUGH_OK) return status;
  }
  bough_drive_indicators(sim->data, sim->data->mode, sim->event_y, sim->event_y + sim->nq, bough_drives_need(sim->data),
                         sim->event_z);
  *z = sim->event_z[i];
  return BOUGH_OK;
}

/* zero of event function i between a (not negative) and b (negative), by the Illinois rule; to the rounding of x */
static bough_status locate(bough_sim *sim, double h, int i, double a, double za, double b, double zb, double *root) {
  int side = 0;
  for (int n = 0; n < MOST_PROBES && b - a > 1e-14 && za > 0.0; n++) {
    double x = (a * zb - b * za) / (zb - za), z;
    if (!(x > a && x < b) || n % 8 == 7) x = 0.5 * (a + b);
    const bough_status status = probe(sim, h, x, i, &z);
    if (status != BOUGH_OK) return status;
    if (z < 0.0) {
      b = x, zb = z;
      if (side < 0) za *= 0.5;
      side = -1;
    } else {
      a = x, za = z;
      if (side > 0) zb *= 0.5;
      side = 1;
    }
    *root = x;
    if (by_force(sim, i) && fabs(z) <= 0.1 * slack_of(sim, i)) return BOUGH_OK;
  }
  *root = za > 0.0 ? b : a;
  return BOUGH_OK;
}

/* Where event function i, negative at x = b and not at a, first becomes so; a zero at the very beginning is passed if it grows
 * from there. Zero: it is negative from the beginning. */
static bough_status first_zero(bough_sim *sim, double h, int i, double a, double za, double b, double zb, double *root) {
  double z;
  if (a == 0.0 && !(za > 0.0)) {
    double x = b;
    for (int n = 0; n < MOST_HALVINGS; n++) {
      x *= 0.5;
      const bough_status status = probe(sim, h, x, i, &z);
      if (status != BOUGH_OK) return status;
      if (z > 0.0) return locate(sim, h, i, x, z, 2.0 * x, zb, root);
      zb = z;
      if (by_force(sim, i) && n > 3) break;
    }
    *root = 0.0;
    return BOUGH_OK;
  }
  return locate(sim, h, i, a, za, b, zb, root);
}

/* what an attempt of length h has reached, for the cubic and the event functions at its end: event_last */
static bough_status look_at_end(bough_sim *sim, double h) {
  const size_t bytes = sizeof(double) * (size_t)sim->ny;
  memcpy(sim->event_end, sim->stage, bytes);
  if (sim->now.method == BOUGH_DOPRI5 && sim->now.evaluations == sim->event_evaluations)
    memcpy(sim->event_rate, sim->k + 6 * sim->ny, bytes); /* its last stage is the end */
  else {
    const bough_status status = evaluate_at(sim, sim->now.t + h, sim->event_end, sim->event_rate);
    if (status != BOUGH_OK) return status;
  }
  bough_drive_indicators(sim->data, sim->data->mode, sim->event_end, sim->event_end + sim->nq, bough_drives_need(sim->data),
                         sim->event_last);
  return BOUGH_OK;
}

/* ---- where to look */

/* what event function i watches, a linear function of the state: a speed, a coordinate, or both. Of the rates: its rate. */
static double watched(const bough_sim *sim, int i, const double *y) {
  const bough_model *m = sim->model;
  const double *u = y + sim->nq;
  if (i >= 2 * m->n_drives) {
    const bough_gear *g = m->gear + (i - 2 * m->n_drives);
    const double lag = bough_gear_modes(m, sim->data->mode)[i - 2 * m->n_drives] != 0.0 ? g->d / g->k : 0.0;
    return y[g->q[0]] / g->ratio - y[g->q[1]] + lag * (u[g->dof[0]] / g->ratio - u[g->dof[1]]);
  }
  const bough_drive *x = m->drive + i / 2;
  if (i % 2 == 0) return u[x->dof];
  return y[x->q] + (x->stop == STOP_GIVES && bough_drive_modes(sim->data->mode)[i / 2].contact != 0.0 ? x->d / x->k * u[x->dof] : 0.0);
}

/* can event function i change sign by a motion, and does a mode exist that looks at it? */
static int by_motion(const bough_sim *sim, int i) {
  const bough_model *m = sim->model;
  if (i >= 2 * m->n_drives) return m->gear[i - 2 * m->n_drives].play > 0.0;
  const bough_drive *x = m->drive + i / 2;
  const bough_drive_mode *s = bough_drive_modes(sim->data->mode) + i / 2;
  if (sim->data->held[x->dof] || s->hold != 0.0) return 0;
  return i % 2 == 0 ? bough_drive_rubs(x) : x->stop == STOP_GIVES || (bough_drive_hard(x) && s->contact == 0.0);
}

/* where the cubic of what function i watches turns back within the step: x [2], and how often */
static int turns(const bough_sim *sim, double h, int i, double x[2]) {
  const double a = h * watched(sim, i, sim->rate), b = h * watched(sim, i, sim->event_rate);
  const double d = watched(sim, i, sim->event_end) - watched(sim, i, sim->y);
  /* a + 2 c2 x + 3 c3 x^2 = 0 */
  const double c2 = 3.0 * d - 2.0 * a - b, c3 = a + b - 2.0 * d, root2 = c2 * c2 - 3.0 * a * c3;
  int n = 0;
  if (!(root2 > 0.0)) return 0;
  const double p = -(c2 + (c2 >= 0.0 ? sqrt(root2) : -sqrt(root2))), r[2] = {p / (3.0 * c3), a / p};
  for (int k = 0; k < 2; k++)
    if (r[k] > 0.0 && r[k] < 1.0) x[n++] = r[k];
  return n;
}

/* event function i, one that motion changes, at x of the step on the cubic */
static double at_place(const bough_sim *sim, double h, int i, double x) {
  const bough_model *m = sim->model;
  const double a = x * x * (3.0 - 2.0 * x), b = h * x * (1.0 - x) * (1.0 - x), c = -h * x * x * (1.0 - x);
#define ON_CUBIC(n) (sim->y[n] + a * (sim->event_end[n] - sim->y[n]) + b * sim->rate[n] + c * sim->event_rate[n])
  if (i >= 2 * m->n_drives) {
    const int j = i - 2 * m->n_drives, *dof = m->gear[j].dof;
    const double q[2] = {ON_CUBIC(m->gear[j].q[0]), ON_CUBIC(m->gear[j].q[1])};
    const double u[2] = {ON_CUBIC(sim->nq + dof[0]), ON_CUBIC(sim->nq + dof[1])}, ratio = m->gear[j].ratio;
    return bough_flank_indicator(m->gear + j, bough_gear_modes(m, sim->data->mode)[j], q[0] / ratio - q[1] - m->gear[j].offset,
                                 u[0] / ratio - u[1]);
  }
  const bough_drive *own = m->drive + i / 2;
  const bough_drive_mode *s = bough_drive_modes(sim->data->mode) + i / 2;
  const double w = ON_CUBIC(sim->nq + own->dof);
  if (i % 2 == 0) return bough_grip_indicator(own, s, w, 0.0, bough_drive_rest(s, bough_drive_fastest(sim->data)));
  return bough_gap_indicator(own, s, ON_CUBIC(own->q), w);
#undef ON_CUBIC
}

/* Places in the step to look at, in order; *count of them. Beyond SAMPLES equal parts, those where a coordinate turns back
 * beyond an event. */
static void places(const bough_sim *sim, double h, double *at, int *count) {
  const int n = count_of(sim);
  int most = SAMPLES;
  for (int k = 0; k < SAMPLES; k++) at[k] = (double)(k + 1) / SAMPLES;
  for (int i = 0; i < n && most < SAMPLES + MOST_TURNS; i++) {
    double x[2];
    const int found = by_motion(sim, i) ? turns(sim, h, i, x) : 0;
    for (int k = 0; k < found && most < SAMPLES + MOST_TURNS; k++) {
      if (!(at_place(sim, h, i, x[k]) < 0.0)) continue;
      int p = most++;
      for (; p > 0 && at[p - 1] > x[k]; p--) at[p] = at[p - 1];
      at[p] = x[k];
    }
  }
  *count = most;
}

/* the first zero in the step on the cubic of functions that motion changes: *x of the step, *which; *which = -1: there is none */
static bough_status search_motion(bough_sim *sim, double h, double *x, int *which) {
  const int n = count_of(sim);
  double *before = sim->event_first, at[SAMPLES + MOST_TURNS];
  int count;
  const double *need = bough_drives_need(sim->data);
  places(sim, h, at, &count);
  bough_drive_indicators(sim->data, sim->data->mode, sim->y, sim->y + sim->nq, need, before);
  for (int k = 0; k < count && *which < 0; k++) {
    if (k + 1 < count) {
      cubic(sim, h, at[k], sim->event_y);
      bough_drive_indicators(sim->data, sim->data->mode, sim->event_y, sim->event_y + sim->nq, need, sim->event_here);
    } else
      memcpy(sim->event_here, sim->event_last, sizeof(double) * (size_t)n);
    for (int i = 0; i < n; i++) {
      if (!(sim->event_here[i] < 0.0) || by_force(sim, i)) continue;
      double root;
      const bough_status status = first_zero(sim, h, i, k > 0 ? at[k - 1] : 0.0, before[i], at[k], sim->event_here[i], &root);
      if (status != BOUGH_OK) return status;
      if (*which < 0 || root < *x) *x = root, *which = i;
    }
    memcpy(before, sim->event_here, sizeof(double) * (size_t)n);
  }
  return BOUGH_OK;
}

/* Is the force of a held DOF worth a look within the step? `input`: do inputs vary with time? */
static int may_pass(const bough_sim *sim, int i, int input) {
  const bough_drive *x = sim->model->drive + i / 2;
  const bough_drive_mode *s = bough_drive_modes(sim->data->mode) + i / 2;
  return by_force(sim, i) && (input || sim->event_last[i] < NEAR_BOUND * (x->still > s->force ? x->still : s->force));
}

/* The place in (0, 1) where the force of held DOF i comes nearest to its bound, on a parabola through both ends and the middle of
 * the step, and what is left of it there; *x = 1: nearest at an end. Three evaluations at most. */
static bough_status nearest(bough_sim *sim, double h, int i, double *x, double *z) {
  double begin, middle;
  const double end = sim->event_last[i];
  bough_status status = probe(sim, h, 0.0, i, &begin);
  if (status == BOUGH_OK) status = probe(sim, h, 0.5, i, &middle);
  if (status != BOUGH_OK) return status;
  const double bend = begin - 2.0 * middle + end, slope = 4.0 * middle - 3.0 * begin - end; /* z = begin + slope x + 2 bend x^2 */
  *x = 0.5, *z = middle;
  if (middle < 0.0) return BOUGH_OK;
  const double turn = bend > 0.0 ? -0.25 * slope / bend : 1.0;
  *x = 1.0, *z = end;
  if (!(turn > 0.0 && turn < 1.0) || begin + 0.5 * slope * turn > 0.5 * bend) return BOUGH_OK;
  *x = turn;
  return probe(sim, h, turn, i, z);
}

/* the same of held DOFs, whose functions were well when the step began; an earlier zero than *x is taken */
static bough_status search_force(bough_sim *sim, double h, double *x, int *which) {
  const int n = 2 * sim->model->n_drives, input = sim->input != NULL || sim->now.input_order > 0;
  for (int i = 0; i < n; i += 2) {
    if (!by_force(sim, i)) continue;
    double b = 1.0, z = sim->event_last[i], root;
    bough_status status = BOUGH_OK;
    if (!(z < 0.0) && may_pass(sim, i, input)) status = nearest(sim, h, i, &b, &z);
    if (status == BOUGH_OK && z < 0.0) {
      status = first_zero(sim, h, i, 0.0, slack_of(sim, i) + 1e-300, b, z, &root);
      if (status == BOUGH_OK && (*which < 0 || root < *x)) *x = root, *which = i, sim->event_z0 = z, sim->event_h0 = b * h;
    }
    if (status != BOUGH_OK) return status;
  }
  return BOUGH_OK;
}

/* The step again, up to an event near h, whose time is moved to where function i is zero at the end of the step itself. */
static bough_status step_to(bough_sim *sim, double *h, int i, double most) {
  double before_h = 0.0, before_z = 0.0;
  for (int n = 0; n < MOST_RESTEPS; n++) {
    bough_status status = sim->method->attempt(sim, *h);
    sim->event_evaluations = sim->now.evaluations;
    if (status == BOUGH_OK) status = look_at_end(sim, *h);
    if (status != BOUGH_OK) return status;
    const double z = sim->event_last[i];
    double slope;
    if (by_force(sim, i)) {
      if (n == 0) before_z = sim->event_z0, before_h = sim->event_h0;
      slope = (z - before_z) / (*h - before_h);
    } else { /* along the rate at the end */
      const double d = 1e-4 * *h;
      for (int k = 0; k < sim->ny; k++) sim->event_y[k] = sim->event_end[k] - d * sim->event_rate[k];
      bough_drive_indicators(sim->data, sim->data->mode, sim->event_y, sim->event_y + sim->nq, bough_drives_need(sim->data),
                             sim->event_z);
      slope = (z - sim->event_z[i]) / d;
    }
    before_h = *h, before_z = z;
    const double next = *h - z / slope;
    const double small = 1e-13 * *h + 2e-16 * (fabs(sim->now.t) + *h);
    if (!(next > 0.0 && next <= most) || fabs(next - *h) <= small || fabs(next - *h) > 0.5 * *h || n + 1 == MOST_RESTEPS) return BOUGH_OK;
    *h = next;
  }
  return BOUGH_OK;
}

bough_status bough_events_find(bough_sim *sim, double *h, int *found) {
  *found = sim->end_known = 0;
  if (sim->model->n_modes == 0) return BOUGH_OK;
  if (sim->now.blind) {
    sim->now.blind = 0, sim->now.unsettled = 1;
    return BOUGH_OK;
  }
  double x = 1.0;
  int which = -1;
  bough_status status = look_at_end(sim, *h);
  if (status == BOUGH_OK) status = search_motion(sim, *h, &x, &which);
  if (status == BOUGH_OK) status = search_force(sim, *h, &x, &which);
  sim->end_known = status == BOUGH_OK && which < 0;
  if (status != BOUGH_OK || which < 0) return status;
  *found = 1;
  if (x == 0.0 || !(sim->now.t + x * *h > sim->now.t)) {
    *h = 0.0;
    return BOUGH_OK;
  }
  const double most = *h;
  if (x < 1.0) *h = x * most;
  return x < 1.0 ? step_to(sim, h, which, most) : BOUGH_OK;
}

bough_status bough_events_happen(bough_sim *sim) {
  sim_clock *now = &sim->now;
  now->events++;
  if (now->t - now->event_t > 1e-13 * (1.0 + fabs(now->t))) now->event_t = now->t, now->at_once = 0;
  if (++now->at_once > MOST_AT_ONCE) now->at_once = 0, now->blind = 1;
  memcpy(sim->mode_step, sim->data->mode, sizeof(double) * (size_t)sim->model->n_modes);
  now->turned = 1;
  const bough_status status = settle(sim, 0);
  now->unsettled = 0;
  return status;
}

void bough_events_show(bough_sim *sim, int inside) {
  const size_t bytes = sizeof(double) * (size_t)sim->model->n_modes;
  if (bytes == 0 || !sim->now.turned || sim->now.inside == inside) return;
  if (inside) { /* what is seen is before the event at the end of the last step */
    memcpy(sim->mode_kept, sim->data->mode, bytes);
    memcpy(sim->data->mode, sim->mode_step, bytes);
  } else
    memcpy(sim->data->mode, sim->mode_kept, bytes);
  sim->now.inside = inside;
}
