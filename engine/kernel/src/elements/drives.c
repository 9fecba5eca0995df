/* drives.c - the laws of friction, limits and gears, and a forward sweep in which they act.
 *
 * friction  |f| <= static at rest; in motion, against it, F(w) = coulomb + (static - coulomb) exp(-(w/stribeck)^2)
 * limit     that gives: stiffness * depth + damping * depth rate, as long as it pushes; that does not: settle.c
 * gear      the same law on both flanks of x = rotor/ratio - hinge, with play; without play it pulls as well */
#include "elements/drives.h"

#include <math.h>
#include <string.h>

/* F(w) and its derivative; even in w, so that a stage beyond zero speed sees a smooth force */
static double stribeck(const bough_drive *x, double w, double *slope) {
  *slope = 0.0;
  if (!(x->stribeck > 0.0)) return x->coulomb;
  const double r = w / x->stribeck, extra = (x->still - x->coulomb) * exp(-r * r);
  *slope = -2.0 * r / x->stribeck * extra;
  return x->coulomb + extra;
}

double bough_drive_friction_rate(const bough_drive *x, const bough_drive_mode *s, double w, double dw) {
  double slope;
  stribeck(x, w, &slope);
  return bough_drive_rubs(x) ? -s->slip * slope * dw : 0.0;
}

bough_approach bough_approach_of(double low, double high, double x, double v) {
  const double above = x - high, below = low - x;
  const bough_approach up = {above, v, 1.0}, down = {below, -v, -1.0};
  return above > below ? up : down;
}

void bough_gear_twist(const bough_gear *g, const double *q, const double *u, double *x, double *v) {
  *x = q[g->q[0]] / g->ratio - q[g->q[1]] - g->offset;
  *v = u[g->dof[0]] / g->ratio - u[g->dof[1]];
}

void bough_drive_bounds(const bough_drive *x, const bough_drive_mode *s, double *low, double *high) {
  *low = -x->still, *high = x->still;
  if (s->contact >= 1.0 || s->contact <= -2.0) *low = -INFINITY;
  if (s->contact <= -1.0 || s->contact >= 2.0) *high = INFINITY;
}

/* force on the coordinate of a limit that gives, in contact on `side`; *k and *d get its derivatives, negative */
static double give(double stiffness, double damping, double low, double high, double side, double x, double v, double *k,
                   double *d) {
  *k = -stiffness, *d = -damping;
  return -stiffness * (x - (side > 0.0 ? high : low)) - damping * v;
}

void bough_drive_forces(const bough_data *d, const double *q, const double *u, double *tau, const double *dq, const double *du,
                        double *dtau) {
  const bough_model *m = d->model;
  const bough_drive_mode *s = bough_drive_modes(d->mode);
  const double *flank = bough_gear_modes(m, d->mode);
  double k, c;
  for (int j = 0; j < m->n_drives; j++) {
    const bough_drive *x = m->drive + j;
    const int i = x->dof;
    if (d->held[i]) continue;
    if (bough_drive_rubs(x) && s[j].hold == 0.0) {
      if (s[j].slip != 0.0) {
        tau[i] -= s[j].slip * stribeck(x, u[i], &k);
        if (dtau && du) dtau[i] -= s[j].slip * k * du[i];
      } else
        tau[i] += s[j].carry;
    }
    if (x->stop == STOP_GIVES && s[j].contact != 0.0) {
      tau[i] += give(x->k, x->d, x->lower, x->upper, s[j].contact, q[x->q], u[i], &k, &c);
      if (dtau) dtau[i] += (dq ? k * dq[x->q] : 0.0) + (du ? c * du[i] : 0.0);
    }
  }
  for (int j = 0; j < m->n_gears; j++) {
    const bough_gear *g = m->gear + j;
    double x, v;
    if (g->play > 0.0 && flank[j] == 0.0) continue;
    bough_gear_twist(g, q, u, &x, &v);
    const double f = give(g->k, g->d, -0.5 * g->play, 0.5 * g->play, flank[j], x, v, &k, &c);
    tau[g->dof[0]] += f / g->ratio, tau[g->dof[1]] -= f;
    if (!dtau) continue;
    const double dx = dq ? dq[g->q[0]] / g->ratio - dq[g->q[1]] : 0.0, dv = du ? du[g->dof[0]] / g->ratio - du[g->dof[1]] : 0.0;
    dtau[g->dof[0]] += (k * dx + c * dv) / g->ratio, dtau[g->dof[1]] -= k * dx + c * dv;
  }
}

void bough_drive_held(const bough_data *d, const unsigned char *given, unsigned char *held) {
  const bough_model *m = d->model;
  const bough_drive_mode *s = bough_drive_modes(d->mode);
  memcpy(held, given, (size_t)m->nu);
  for (int j = 0; j < m->n_drives; j++)
    if (s[j].hold != 0.0) held[m->drive[j].dof] = 1;
}

const double *bough_drives_need(const bough_data *d) { return d->drive_need; }

/* what the laws exerted, from the force that held DOFs needed */
static void collect(bough_data *d, const bough_sweep *s, const double *u, const double *tau, const double *force,
                    const bough_values *v) {
  const bough_model *m = d->model;
  const bough_drive_mode *mode = bough_drive_modes(d->mode);
  for (int j = 0; j < m->n_drives; j++) {
    const bough_drive *x = m->drive + j;
    const bough_drive_mode *now = mode + j;
    const int i = x->dof, free = !s->held[i];
    double friction = 0.0, slope;
    d->drive_need[j] = 0.0;
    if (free && now->hold != 0.0) d->drive_need[j] = friction = force[i] - tau[i];
    if (free && now->hold == 0.0 && bough_drive_rubs(x))
      friction = now->slip != 0.0 ? -now->slip * stribeck(x, u[i], &slope) : now->carry;
    if (friction > x->still) friction = x->still; /* the limit takes the rest */
    if (friction < -x->still) friction = -x->still;
    if (v->friction) v->friction[j] = friction;
    if (v->sticking) v->sticking[j] = free && bough_drive_rubs(x) && now->slip == 0.0;
    if (v->contact) v->contact[j] = now->contact > 0.0 ? 1.0 : now->contact < 0.0 ? -1.0 : 0.0;
  }
}

double bough_drive_fastest(const bough_data *d) {
  const bough_drive_mode *s = bough_drive_modes(d->mode);
  double most = 0.0;
  for (int j = 0; j < d->model->n_drives; j++) most = s[j].speed > most ? s[j].speed : most;
  return most;
}

/* Event functions of an importer: each mode begins at a small distance from its end, and ends so much later. */
static void hysteresis(const bough_data *d, const bough_point *at, double *z) {
  const bough_model *m = d->model;
  const bough_drive_mode *s = bough_drive_modes(d->mode);
  const double fastest = bough_drive_fastest(d);
  for (int j = 0; j < m->n_drives; j++) {
    const bough_drive *x = m->drive + j;
    z[2 * j] += s[j].hold != 0.0 ? bough_drive_slack(x, s + j) : 0.5 * bough_drive_rest(s + j, fastest);
    if (x->stop != STOP_NONE) z[2 * j + 1] += 0.5 * bough_drive_touch(s[j].way, at->t, at->q[x->q], at->u[x->dof]);
  }
  for (int j = 0; j < m->n_gears; j++) {
    const bough_gear *g = m->gear + j;
    z[2 * m->n_drives + j] += 0.5 * bough_drive_touch(g->play, at->t, at->q[g->q[1]], at->u[g->dof[1]]);
  }
}

bough_status bough_drives_forward(bough_data *d, const bough_sweep *given, const bough_point *at, const bough_values *values) {
  const bough_model *m = d->model;
  const size_t bytes = (size_t)m->nu * sizeof(double);
  bough_sweep s = *given;
  bough_point point = *at;
  bough_values v = *values;
  int any = v.friction || v.force || v.indicator;
  memcpy(d->drive_tau, at->tau ? at->tau : d->zero, bytes);
  bough_drive_forces(d, at->q, at->u, d->drive_tau, NULL, NULL, NULL);
  bough_drive_held(d, given->held, d->drive_held);
  memcpy(d->drive_motion, at->motion ? at->motion : d->zero, bytes);
  for (int i = 0; i < m->nu; i++)
    if (d->drive_held[i] && !given->held[i]) d->drive_motion[i] = 0.0, any = 1;
  point.tau = d->drive_tau, point.motion = d->drive_motion;
  s.held = d->drive_held;
  v.force = any ? d->drive_force : NULL;
  const bough_status status = bough_sweep_bare(d, &s, &point, &v);
  if (status != BOUGH_OK) return status;
  collect(d, given, at->u, d->drive_tau, d->drive_force, &v);
  if (values->indicator) {
    bough_drive_indicators(d, d->mode, at->q, at->u, d->drive_need, values->indicator);
    hysteresis(d, at, values->indicator);
  }
  if (values->force) /* what is applied at free DOFs, whoever holds them */
    for (int i = 0; i < m->nu; i++) values->force[i] = given->held[i] ? d->drive_force[i] : at->tau ? at->tau[i] : 0.0;
  return BOUGH_OK;
}

/* ---- event functions */

/* zero where a limit that gives takes hold or lets go; positive before */
static double give_indicator(double k, double d, double low, double high, double side, double x, double v) {
  if (side == 0.0) {
    const bough_approach up = {x - high, v, 1.0}, down = {low - x, -v, -1.0};
    const double lag = d / k, a = up.depth + (up.rate < 0.0 ? lag * up.rate : 0.0);
    const double b = down.depth + (down.rate < 0.0 ? lag * down.rate : 0.0);
    return a > b ? -a : -b;
  }
  const double depth = side > 0.0 ? x - high : low - x, rate = side > 0.0 ? v : -v;
  return depth + d / k * rate;
}

double bough_grip_indicator(const bough_drive *x, const bough_drive_mode *s, double w, double need, double rest) {
  if (s->hold != 0.0) {
    double low, high;
    bough_drive_bounds(x, s, &low, &high);
    const double above = high - need, below = need - low;
    return low == -INFINITY && high == INFINITY ? 1.0 : above < below ? above : below;
  }
  if (!bough_drive_rubs(x)) return 1.0;
  return s->slip != 0.0 ? s->slip * w : 10.0 * rest - fabs(w);
}

double bough_gap_indicator(const bough_drive *x, const bough_drive_mode *s, double q, double w) {
  if (bough_drive_hard(x) && s->contact == 0.0) return -bough_approach_of(x->lower, x->upper, q, w).depth;
  return x->stop == STOP_GIVES ? give_indicator(x->k, x->d, x->lower, x->upper, s->contact, q, w) : 1.0;
}

double bough_flank_indicator(const bough_gear *g, double flank, double x, double v) {
  return g->play > 0.0 ? give_indicator(g->k, g->d, -0.5 * g->play, 0.5 * g->play, flank, x, v) : 1.0;
}

void bough_drive_indicators(const bough_data *d, const double *mode, const double *q, const double *u, const double *need,
                            double *z) {
  const bough_model *m = d->model;
  const bough_drive_mode *s = (const bough_drive_mode *)(const void *)mode;
  const double *flank = mode + BOUGH_DRIVE_NUMBERS * m->n_drives, fastest = bough_drive_fastest(d);
  for (int j = 0; j < m->n_drives; j++, z += 2) {
    const bough_drive *x = m->drive + j;
    const int free = !d->held[x->dof];
    z[0] = free ? bough_grip_indicator(x, s + j, u[x->dof], need[j], bough_drive_rest(s + j, fastest)) : 1.0;
    z[1] = free && x->stop != STOP_NONE ? bough_gap_indicator(x, s + j, q[x->q], u[x->dof]) : 1.0;
  }
  for (int j = 0; j < m->n_gears; j++) {
    double x, v;
    bough_gear_twist(m->gear + j, q, u, &x, &v);
    z[j] = bough_flank_indicator(m->gear + j, flank[j], x, v);
  }
}

/* the same, its derivative along dx, dv */
static double give_rate(double k, double d, double low, double high, double side, double x, double v, double dx, double dv) {
  const double lag = d / k;
  if (side > 0.0) return dx + lag * dv;
  if (side < 0.0) return -dx - lag * dv;
  const double up = x - high + (v < 0.0 ? lag * v : 0.0), down = low - x - (v > 0.0 ? lag * v : 0.0);
  return up > down ? -dx - (v < 0.0 ? lag * dv : 0.0) : dx + (v > 0.0 ? lag * dv : 0.0);
}

void bough_drive_indicator_rates(const bough_data *d, const bough_point *at, const bough_point *dir, double *dz) {
  const bough_model *m = d->model;
  const bough_drive_mode *s = bough_drive_modes(d->mode);
  const double *flank = bough_gear_modes(m, d->mode), *q = at->q, *u = at->u;
  for (int j = 0; j < m->n_drives; j++, dz += 2) {
    const bough_drive *x = m->drive + j;
    const double w = u[x->dof], dw = dir->u ? dir->u[x->dof] : 0.0, dx = dir->q && x->q >= 0 ? dir->q[x->q] : 0.0;
    dz[0] = dz[1] = 0.0;
    if (d->held[x->dof]) continue;
    if (s[j].hold != 0.0) {
      double low, high;
      bough_drive_bounds(x, s + j, &low, &high);
      if (low != -INFINITY || high != INFINITY)
        dz[0] = high - d->drive_need[j] < d->drive_need[j] - low ? -d->drive_need_rate[j] : d->drive_need_rate[j];
    } else if (bough_drive_rubs(x))
      dz[0] = s[j].slip != 0.0 ? s[j].slip * dw : w > 0.0 ? -dw : dw;
    if (bough_drive_hard(x) && s[j].contact == 0.0) dz[1] = bough_approach_of(x->lower, x->upper, q[x->q], w).side > 0.0 ? -dx : dx;
    if (x->stop == STOP_GIVES) dz[1] = give_rate(x->k, x->d, x->lower, x->upper, s[j].contact, q[x->q], w, dx, dw);
  }
  for (int j = 0; j < m->n_gears; j++) {
    const bough_gear *g = m->gear + j;
    double x, v;
    dz[j] = 0.0;
    if (!(g->play > 0.0)) continue;
    bough_gear_twist(g, q, u, &x, &v);
    const double dx = dir->q ? dir->q[g->q[0]] / g->ratio - dir->q[g->q[1]] : 0.0;
    const double dv = dir->u ? dir->u[g->dof[0]] / g->ratio - dir->u[g->dof[1]] : 0.0;
    dz[j] = give_rate(g->k, g->d, -0.5 * g->play, 0.5 * g->play, flank[j], x, v, dx, dv);
  }
}

double bough_drive_energy(const bough_model *m, const double *q) {
  double sum = 0.0;
  for (int j = 0; j < m->n_drives; j++) {
    const bough_drive *x = m->drive + j;
    if (x->stop != STOP_GIVES) continue;
    const double depth = bough_approach_of(x->lower, x->upper, q[x->q], 0.0).depth;
    if (depth > 0.0) sum += 0.5 * x->k * depth * depth;
  }
  for (int j = 0; j < m->n_gears; j++) {
    const bough_gear *g = m->gear + j;
    const double x = q[g->q[0]] / g->ratio - q[g->q[1]] - g->offset, depth = fabs(x) - 0.5 * g->play;
    if (depth > 0.0) sum += 0.5 * g->k * depth * depth;
  }
  return sum;
}
