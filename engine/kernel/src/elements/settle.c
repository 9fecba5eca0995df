/* settle.c - who sticks, who rests on a limit and who moves on: the modes of drives and gears at a point.
 *
 * Candidates at rest exert forces f within bounds, low <= f <= high, and answer with accelerations a = a0 + A f, A the small
 * matrix of their mutual answers. Each of them is held (a = 0), or gives way at a bound: f = high and a <= 0, or f = low and
 * a >= 0. That is a linear complementarity problem with a symmetric, positive (semi-)definite A. It is solved by block
 * pivoting with a least-index rule where blocks go round in circles (J. Judice and F. Pires, Comp. Oper. Res. 21, 1994), which
 * ends for a positive definite matrix; after MOST_TRIES what is left undecided sticks.
 * A DOF whose answer depends on those before it (closed loops that others hold) keeps the force that it has: `carry`.
 * Impacts are the same problem with impulses and speeds: Newton's law of restitution, momentum of everything else kept. */
#include "elements/drives.h"

#include <math.h>
#include <string.h>

enum { MOST_TRIES = 30, MOST_BLOWS = 30 };
static const double DEPENDENT = 1e-9;  /* of a diagonal element: what is left of it is rounding */
static const double NO_REBOUND = 1e-5; /* of the hardest blow: slower rebounds end in rest ... */
static const double LOW_REBOUND = 100.0; /* ... and so do those that rise by less than so many of what counts as touching */

enum { HELD = 0, AT_LOW = -1, AT_HIGH = 1, CARRIED = 2 };

/* One problem: arrays of the data object, n of them used. */
typedef struct {
  int n, stride;
  int *drive; /* [n] which drive */
  int *state; /* [n] HELD, AT_LOW, AT_HIGH, CARRIED */
  double *A, *L;                     /* [n][stride] answers; their factors */
  double *a, *f, *low, *high, *work; /* [n]: a0; forces; bounds; right-hand side */
} problem;

static problem problem_of(bough_data *d) {
  const int n = d->model->n_drives;
  double *p = d->answers;
  const problem x = {0, n, d->answer_places, d->answer_places + n, p, p + n * n, p + 2 * n * n, p + 2 * n * n + n,
                     p + 2 * n * n + 2 * n, p + 2 * n * n + 3 * n, p + 2 * n * n + 4 * n};
  return x;
}

size_t bough_answers_count(const bough_model *m) { return (size_t)m->n_drives * (2 * (size_t)m->n_drives + 5); }

/* f of the held ones from A f = -a0, with the forces of the others given */
static void solve_held(const problem *x) {
  const int n = x->n;
  for (int i = 0; i < n; i++) {
    if (x->state[i] == CARRIED) x->state[i] = HELD;
    if (x->state[i] == AT_LOW) x->f[i] = x->low[i];
    if (x->state[i] == AT_HIGH) x->f[i] = x->high[i];
  }
  for (int i = 0; i < n; i++) { /* rows of the held ones, in order; L has inverses on its diagonal */
    double *row = x->L + i * x->stride, v = x->a[i];
    if (x->state[i] != HELD) continue;
    for (int j = 0; j < n; j++)
      if (x->state[j] != HELD) v += x->A[i * x->stride + j] * x->f[j];
    for (int j = 0; j < i; j++) {
      if (x->state[j] != HELD) continue;
      double e = x->A[i * x->stride + j];
      for (int k = 0; k < j; k++)
        if (x->state[k] == HELD) e -= row[k] * x->L[j * x->stride + k];
      row[j] = e * x->L[j * x->stride + j];
      v += row[j] * x->work[j]; /* work = -L^-1 rhs so far */
    }
    double pivot = x->A[i * x->stride + i];
    const double least = DEPENDENT * pivot;
    for (int j = 0; j < i; j++)
      if (x->state[j] == HELD) pivot -= row[j] * row[j];
    if (!(pivot > least)) { /* held by those before it: its force stays, and acts on them */
      x->state[i] = CARRIED;
      x->f[i] = x->f[i] > x->high[i] ? x->high[i] : x->f[i] < x->low[i] ? x->low[i] : x->f[i];
      i = -1; /* the right-hand sides change: again, with one held DOF less */
      for (int j = 0; j < n; j++)
        if (x->state[j] == HELD) x->work[j] = 0.0;
      continue;
    }
    row[i] = 1.0 / sqrt(pivot);
    x->work[i] = -v * row[i];
  }
  for (int i = n; i-- > 0;) {
    if (x->state[i] != HELD) continue;
    double v = x->work[i];
    for (int j = i + 1; j < n; j++)
      if (x->state[j] == HELD) v -= x->L[j * x->stride + i] * x->f[j];
    x->f[i] = v * x->L[i * x->stride + i];
  }
}

/* acceleration of candidate i under the forces found */
static double answer(const problem *x, int i) {
  double v = x->a[i];
  for (int j = 0; j < x->n; j++) v += x->A[i * x->stride + j] * x->f[j];
  return v;
}

/* where candidate i should go; its own state: it is right where it is */
static int better(const problem *x, int i) {
  const int s = x->state[i];
  if (s == CARRIED) return s;
  if (s == HELD) return x->f[i] > x->high[i] ? AT_HIGH : x->f[i] < x->low[i] ? AT_LOW : HELD;
  const double a = answer(x, i);
  double scale = fabs(x->a[i]);
  for (int j = 0; j < x->n; j++) scale += fabs(x->A[i * x->stride + j] * x->f[j]);
  if (s == AT_HIGH && a > 1e-13 * scale) return HELD;
  if (s == AT_LOW && a < -1e-13 * scale) return HELD;
  return s;
}

/* forces and states of all candidates; x->a, low, high and A given */
static void decide(const problem *x) {
  int fewest = x->n + 1, patience = 3;
  for (int i = 0; i < x->n; i++) x->state[i] = HELD;
  for (int tries = 0; tries < MOST_TRIES + 10 * x->n; tries++) {
    int wrong = 0, single = 0;
    solve_held(x);
    for (int i = 0; i < x->n; i++) wrong += better(x, i) != x->state[i];
    if (wrong == 0) return;
    if (wrong < fewest)
      fewest = wrong, patience = 3;
    else if (patience > 0)
      patience--;
    else
      single = 1;
    for (int i = 0; i < x->n; i++) x->L[i * x->stride] = better(x, i); /* L is free by now; all are judged before one moves */
    for (int i = 0, moved = 0; i < x->n && !(single && moved); i++) {
      const int to = (int)x->L[i * x->stride];
      moved |= to != x->state[i];
      x->state[i] = to;
    }
  }
  for (int i = 0; i < x->n; i++) { /* undecided: what a bound cannot hold is cut to it, and sticks */
    x->f[i] = x->f[i] > x->high[i] ? x->high[i] : x->f[i] < x->low[i] ? x->low[i] : x->f[i];
    x->state[i] = HELD;
  }
}

/* x = change of the speeds by impulses p in the DOFs, which no drive holds */
static bough_status blow(bough_data *d, const double *q, const double *p, double *x) {
  const bough_sweep s = bough_data_inertia_sweep(d, 0), kin = bough_data_kinematic_sweep(d);
  const bough_point at = {.q = q, .u = d->zero, .tau = p};
  if (d->model->n_rows == 0) return bough_sweep_tree(d, &s, &at, x, NULL, NULL);
  const bough_constrained in = {.q = q, .u = d->zero, .rate_u = d->zero, .tau = p, .udot = x};
  bough_other_ops_one_base.constrained(d->one, &s, &kin, d->work_one, d->constraints, &in, TARGET_SPEED);
  return bough_data_check(d, d->one, d->work_one, 0, x);
}

static bough_status mutual_answers(bough_data *d, const double *q, problem *x) {
  const bough_model *m = d->model;
  double *unit = d->speed_change, *column = d->speed_answer;
  memset(unit, 0, (size_t)m->nu * sizeof *unit);
  for (int j = 0; j < x->n; j++) {
    const int dof = m->drive[x->drive[j]].dof;
    unit[dof] = 1.0;
    const bough_status status = blow(d, q, unit, column);
    unit[dof] = 0.0;
    if (status != BOUGH_OK) return status;
    for (int i = 0; i < x->n; i++) x->A[i * x->stride + j] = column[m->drive[x->drive[i]].dof];
  }
  for (int i = 0; i < x->n; i++) /* symmetric but for rounding */
    for (int j = 0; j < i; j++) {
      const double v = 0.5 * (x->A[i * x->stride + j] + x->A[j * x->stride + i]);
      x->A[i * x->stride + j] = x->A[j * x->stride + i] = v;
    }
  return BOUGH_OK;
}

/* ---- impacts */

/* is a limit being hit? */
static int hits(const bough_drive *x, const bough_drive_mode *s, double t, const double *q, const double *u, double fastest) {
  if (!bough_drive_hard(x) || s->contact != 0.0) return 0;
  const bough_approach near = bough_approach_of(x->lower, x->upper, q[x->q], u[x->dof]);
  return near.depth >= -bough_drive_touch(s->way, t, q[x->q], u[x->dof]) && near.rate > bough_drive_rest(s, fastest);
}

/* Does a rebound at speed v from the limit on `side` of drive j end at once? `udot`: accelerations, of an evaluation. */
static int is_last(const bough_drive *x, const bough_drive_mode *s, double v, double side, const double *udot) {
  const double press = side * udot[x->dof];
  return v <= NO_REBOUND * s->worst || (press > 0.0 && v * v < 2.0 * LOW_REBOUND * DRIVE_TOUCH * bough_drive_size(s->way) * press);
}

/* all limits that are hit now, with those that others rest on: impulses, new speeds */
static bough_status impact(bough_data *d, double t, double *q, double *u) {
  const bough_model *m = d->model;
  bough_drive_mode *s = bough_drive_modes(d->mode);
  problem x = problem_of(d);
  const double fastest = bough_drive_fastest(d);
  for (int j = 0; j < m->n_drives; j++) {
    const bough_drive *own = m->drive + j;
    const int hit = hits(own, s + j, t, q, u, fastest), i = own->dof, at = x.n;
    if (d->held[i] || (!hit && !(bough_drive_hard(own) && s[j].contact != 0.0))) continue;
    const double side = hit ? bough_approach_of(own->lower, own->upper, q[own->q], u[i]).side : s[j].contact;
    const int latch = hit ? own->stop == STOP_LATCH : fabs(s[j].contact) == 2.0;
    double e = latch || !hit ? 0.0 : own->e;
    if (hit) {
      if (fabs(u[i]) > s[j].worst) s[j].worst = fabs(u[i]);
      if (is_last(own, s + j, e * fabs(u[i]), side, d->drive_udot)) e = 0.0;
      q[own->q] = side > 0.0 ? own->upper : own->lower;
    }
    x.drive[at] = j, x.a[at] = (1.0 + e) * u[i], x.f[at] = 0.0;
    x.low[at] = latch || side > 0.0 ? -INFINITY : 0.0, x.high[at] = latch || side < 0.0 ? INFINITY : 0.0;
    x.n++;
    if (hit && (latch || e == 0.0)) s[j].contact = (latch ? 2.0 : 1.0) * (side > 0.0 ? 1.0 : -1.0);
  }
  bough_status status = mutual_answers(d, q, &x);
  if (status != BOUGH_OK) return status;
  decide(&x);
  double *p = d->speed_change, *du = d->speed_answer;
  memset(p, 0, (size_t)m->nu * sizeof *p);
  for (int i = 0; i < x.n; i++) p[m->drive[x.drive[i]].dof] = x.f[i];
  status = blow(d, q, p, du);
  if (status != BOUGH_OK) return status;
  for (int i = 0; i < m->nu; i++) u[i] += du[i];
  for (int i = 0; i < x.n; i++) {
    const int dof = m->drive[x.drive[i]].dof;
    bough_drive_mode *own = s + x.drive[i];
    if (x.state[i] == HELD && own->contact != 0.0) u[dof] = 0.0;                /* exactly */
    if (x.state[i] != HELD && x.state[i] != CARRIED && fabs(own->contact) < 2.0) own->contact = 0.0; /* thrown off its limit */
  }
  return BOUGH_OK;
}

/* blow after blow, until nothing hits a limit any more */
static bough_status impacts(bough_data *d, double t, double *q, double *u, int *any) {
  const bough_model *m = d->model;
  const double fastest = bough_drive_fastest(d);
  bough_status status = BOUGH_OK;
  for (int blows = 0; status == BOUGH_OK && blows < MOST_BLOWS; blows++) {
    int hit = 0;
    for (int j = 0; j < m->n_drives && !hit; j++)
      hit = !d->held[m->drive[j].dof] && hits(m->drive + j, bough_drive_modes(d->mode) + j, t, q, u, fastest);
    if (!hit) break;
    *any = 1;
    status = impact(d, t, q, u); /* accelerations are those that `look` left */
  }
  return status;
}

/* ---- what each drive has done so far */

void bough_drives_follow_sizes(bough_data *d, const double *q, const double *u) {
  const bough_model *m = d->model;
  bough_drive_mode *s = bough_drive_modes(d->mode);
  for (int j = 0; j < m->n_drives; j++) {
    const bough_drive *x = m->drive + j;
    const double speed = fabs(u[x->dof]);
    if (speed > s[j].speed) s[j].speed = speed;
    if (x->stop == STOP_NONE) continue;
    const double way = fabs(bough_approach_of(x->lower, x->upper, q[x->q], 0.0).depth);
    if (way > s[j].way) s[j].way = way;
  }
}

/* sizes before anything has moved; without a memory what is small is so against 1 rad or m (per second) */
static void first_sizes(bough_data *d, const double *q, const double *u) {
  bough_drive_mode *s = bough_drive_modes(d->mode);
  for (int j = 0; !d->memory_of_modes && j < d->model->n_drives; j++) s[j].speed = s[j].way = 1.0;
  bough_drives_follow_sizes(d, q, u);
}

/* ---- modes by state */

static double sign(double x) { return x > 0.0 ? 1.0 : x < 0.0 ? -1.0 : 0.0; }

/* which flank of a limit that gives touches; `fresh`: whatever was before; `touch`: rad or m that count as nothing */
static double flank_of(double k, double d, double low, double high, double side, double x, double v, double touch, int fresh) {
  const double lag = d / k;
  if (side != 0.0 && !fresh) {
    const double depth = side > 0.0 ? x - high : low - x, rate = side > 0.0 ? v : -v;
    const int leaves = depth + lag * rate <= touch && (rate < 0.0 || depth < -touch);
    return leaves ? 0.0 : side;
  }
  const bough_approach near = bough_approach_of(low, high, x, v);
  const int meets = near.depth >= (fresh ? 0.0 : -touch) && near.rate > 0.0;
  const int pressed = near.depth > touch && near.depth + lag * near.rate > touch;
  return meets || pressed ? near.side : 0.0;
}

static void flanks(bough_data *d, double t, const double *q, const double *u, int fresh) {
  const bough_model *m = d->model;
  bough_drive_mode *s = bough_drive_modes(d->mode);
  double *flank = bough_gear_modes(m, d->mode);
  for (int j = 0; j < m->n_drives; j++) {
    const bough_drive *x = m->drive + j;
    if (x->stop == STOP_GIVES)
      s[j].contact = flank_of(x->k, x->d, x->lower, x->upper, s[j].contact, q[x->q], u[x->dof],
                              bough_drive_touch(s[j].way, t, q[x->q], u[x->dof]), fresh);
  }
  for (int j = 0; j < m->n_gears; j++) {
    const bough_gear *g = m->gear + j;
    double x, v;
    if (!(g->play > 0.0)) continue;
    bough_gear_twist(g, q, u, &x, &v);
    const double touch = bough_drive_touch(g->play, t, q[g->q[1]], u[g->dof[1]]);
    flank[j] = flank_of(g->k, g->d, -0.5 * g->play, 0.5 * g->play, flank[j], x, v, touch, fresh);
  }
}

/* Which drives are at rest, which slip. Speeds that have come to zero are set to it, unless they must stay. */
static void motions(bough_data *d, double t, double *q, double *u, int stay) {
  const bough_model *m = d->model;
  const double fastest = bough_drive_fastest(d);
  bough_drive_mode *s = bough_drive_modes(d->mode);
  for (int j = 0; j < m->n_drives; j++) {
    const bough_drive *x = m->drive + j;
    const int i = x->dof;
    s[j].hold = 0.0;
    if (d->held[i]) {
      s[j].slip = s[j].contact = s[j].carry = 0.0;
      continue;
    }
    const double slow = bough_drive_rest(s + j, fastest);
    const int still = fabs(u[i]) <= slow, turned = s[j].slip != 0.0 && s[j].slip * u[i] <= slow && fabs(u[i]) < 1e4 * slow;
    if (bough_drive_hard(x)) {
      const bough_approach near = bough_approach_of(x->lower, x->upper, q[x->q], u[i]);
      const double touch = bough_drive_touch(s[j].way, t, q[x->q], u[i]);
      if (fabs(s[j].contact) < 2.0) s[j].contact = near.depth >= -touch && still ? near.side : 0.0;
      if (!stay && near.depth > 0.0 && near.rate <= 0.0) q[x->q] = near.side > 0.0 ? x->upper : x->lower; /* what is thrown back starts there */
    }
    const int rest = still || (turned && !stay) || (bough_drive_hard(x) && fabs(s[j].contact) == 2.0);
    if ((bough_drive_rubs(x) || (bough_drive_hard(x) && s[j].contact != 0.0)) && rest && !stay) u[i] = 0.0;
    s[j].slip = bough_drive_rubs(x) && !rest ? sign(u[i]) : 0.0;
    if (s[j].slip != 0.0) s[j].carry = 0.0;
  }
}

/* ---- who is held */

/* candidates, their bounds and answers; forces of the others act, theirs do not */
static bough_status pose(bough_data *d, const bough_point *at, problem *x) {
  const bough_model *m = d->model;
  bough_drive_mode *s = bough_drive_modes(d->mode);
  const bough_drive_mode *before = bough_drive_modes(d->mode_before);
  *x = problem_of(d);
  for (int j = 0; j < m->n_drives; j++) {
    const bough_drive *own = m->drive + j;
    const int rest = bough_drive_rubs(own) && s[j].slip == 0.0, touch = bough_drive_hard(own) && s[j].contact != 0.0;
    if (d->held[own->dof] || !(rest || touch)) continue;
    const double slack = bough_drive_slack(own, s + j), need = d->drive_need[j];
    double *low = x->low + x->n, *high = x->high + x->n;
    x->drive[x->n] = j, x->f[x->n] = s[j].carry;
    bough_drive_bounds(own, s + j, low, high);
    if (before[j].hold != 0.0) { /* a force that has reached its bound but for rounding has passed it */
      if (need - *low <= slack) *low = need + slack;
      if (*high - need <= slack) *high = need - slack;
    }
    s[j].carry = 0.0;
    x->n++;
  }
  if (x->n == 0) return BOUGH_OK;
  const bough_sweep sweep = bough_data_sweep(d);
  const bough_values values = {.udot = d->drive_udot};
  const bough_status status = bough_drives_forward(d, &sweep, at, &values);
  if (status != BOUGH_OK) return status;
  for (int i = 0; i < x->n; i++) x->a[i] = d->drive_udot[m->drive[x->drive[i]].dof];
  return mutual_answers(d, at->q, x);
}

/* take candidate i out; its force acts on the rest from now on */
static void take_out(problem *x, int i, double force) {
  for (int j = 0; j < x->n; j++) x->a[j] += x->A[j * x->stride + i] * force;
  x->n--;
  for (int k = i; k < x->n; k++) {
    x->drive[k] = x->drive[k + 1], x->state[k] = x->state[k + 1];
    x->a[k] = x->a[k + 1], x->f[k] = x->f[k + 1], x->low[k] = x->low[k + 1], x->high[k] = x->high[k + 1];
  }
  for (int r = 0; r <= x->n; r++) memmove(x->A + r * x->stride + i, x->A + r * x->stride + i + 1, sizeof(double) * (size_t)(x->n - i));
  for (int r = i; r < x->n; r++) memcpy(x->A + r * x->stride, x->A + (r + 1) * x->stride, sizeof(double) * (size_t)x->n);
}

/* Candidates that give way: they slip, or leave their limit. Where friction falls at once, from static to Coulomb's, the
 * others are asked again. */
static int give_way(bough_data *d, problem *x) {
  bough_drive_mode *s = bough_drive_modes(d->mode);
  int again = 0;
  for (int i = x->n; i-- > 0;) {
    const bough_drive *own = d->model->drive + x->drive[i];
    bough_drive_mode *mode = s + x->drive[i];
    if (x->state[i] != AT_LOW && x->state[i] != AT_HIGH) continue;
    const double way = x->state[i] == AT_HIGH ? -1.0 : 1.0;
    const double after = bough_drive_rubs(own) ? -way * (own->stribeck > 0.0 ? own->still : own->coulomb) : 0.0;
    again |= fabs(after - x->f[i]) > 1e-6 * own->still;
    mode->slip = bough_drive_rubs(own) ? way : 0.0;
    if (bough_drive_hard(own)) mode->contact = 0.0;
    take_out(x, i, after);
  }
  return again;
}

static bough_status hold(bough_data *d, const bough_point *at) {
  bough_drive_mode *s = bough_drive_modes(d->mode);
  problem x;
  const bough_status status = pose(d, at, &x);
  if (status != BOUGH_OK || x.n == 0) return status;
  do decide(&x);
  while (give_way(d, &x));
  for (int i = 0; i < x.n; i++) {
    s[x.drive[i]].hold = x.state[i] == HELD;
    s[x.drive[i]].carry = x.state[i] == CARRIED ? x.f[i] : 0.0;
    if (fabs(x.f[i]) > s[x.drive[i]].force) s[x.drive[i]].force = fabs(x.f[i]);
  }
  return BOUGH_OK;
}

/* drive_need of the present modes */
static bough_status look(bough_data *d, const bough_point *at) {
  const bough_sweep s = bough_data_sweep(d);
  const bough_values values = {.udot = d->drive_udot};
  return bough_drives_forward(d, &s, at, &values);
}

/* is a mode, sizes apart, another than before? */
static int others(const bough_data *d) {
  const bough_model *m = d->model;
  const bough_drive_mode *s = bough_drive_modes(d->mode), *b = bough_drive_modes(d->mode_before);
  int other = 0;
  for (int j = 0; j < m->n_drives; j++)
    other |= s[j].slip != b[j].slip || s[j].contact != b[j].contact || s[j].hold != b[j].hold || s[j].carry != b[j].carry ||
             s[j].worst != b[j].worst;
  for (int j = m->n_modes - m->n_gears; j < m->n_modes; j++) other |= d->mode[j] != d->mode_before[j];
  return other;
}

bough_status bough_drives_settle(bough_data *d, const bough_point *at, double *q, double *u, int from_state, int *changed) {
  const bough_model *m = d->model;
  const size_t bytes = (size_t)m->n_modes * sizeof(double);
  bough_status status = from_state ? BOUGH_OK : look(d, at);
  int hit = 0;
  if (status != BOUGH_OK) return status;
  if (from_state) {
    for (int j = 0; j < m->n_modes; j++) d->mode[j] = 0.0;
    first_sizes(d, q, u);
  } else
    bough_drives_follow_sizes(d, q, u);
  memcpy(d->mode_before, d->mode, bytes);
  flanks(d, at->t, q, u, from_state);
  if (!from_state) {
    motions(d, at->t, q, u, 0);
    status = impacts(d, at->t, q, u, &hit);
  }
  if (status == BOUGH_OK) {
    motions(d, at->t, q, u, from_state);
    status = hold(d, at);
  }
  *changed = hit;
  *changed |= others(d);
  return status;
}

void bough_drives_inverse(bough_data *d, const double *q, const double *u, const double *udot, double *tau) {
  const bough_model *m = d->model;
  bough_drive_mode *s = bough_drive_modes(d->mode);
  if (!d->memory_of_modes) {
    for (int j = 0; j < m->n_modes; j++) d->mode[j] = 0.0;
    first_sizes(d, q, u);
    flanks(d, 0.0, q, u, 1);
    for (int j = 0; j < m->n_drives; j++) {
      const int i = m->drive[j].dof;
      if (bough_drive_rubs(m->drive + j)) s[j].slip = sign(u[i] != 0.0 ? u[i] : udot[i]);
    }
  }
  memset(d->drive_tau, 0, (size_t)m->nu * sizeof(double));
  bough_drive_forces(d, q, u, d->drive_tau, NULL, NULL, NULL);
  for (int i = 0; i < m->nu; i++) tau[i] -= d->drive_tau[i];
}

bough_status bough_drives_follow(bough_data *d, const bough_point *at) {
  int changed;
  if (d->model->n_modes == 0 || d->memory_of_modes) return BOUGH_OK;
  /* nothing is written to q and u where modes follow from the state */
  return bough_drives_settle(d, at, (double *)(uintptr_t)at->q, (double *)(uintptr_t)at->u, 1, &changed);
}

bough_status bough_data_remember(bough_data *d, int on) {
  if (!d) return BOUGH_BAD_ARGUMENT;
  d->memory_of_modes = on != 0;
  return BOUGH_OK;
}

bough_status bough_settle(const bough_model *m, bough_data *d, const bough_point *at, double *q, double *u, int fresh,
                          int *changed) {
  int other = 0;
  if (!m || !d || d->model != m || !at || !q || !u || at->q != q || at->u != u) return BOUGH_BAD_ARGUMENT;
  bough_status status = BOUGH_OK;
  if (m->n_modes > 0 && fresh) { /* first as the state has it, then what follows: limits that are hit */
    status = bough_drives_settle(d, at, q, u, 1, &other);
    if (status == BOUGH_OK) status = bough_drives_settle(d, at, q, u, 0, &other);
    other = 1;
  } else if (m->n_modes > 0)
    status = bough_drives_settle(d, at, q, u, 0, &other);
  if (changed) *changed = other;
  return status;
}

bough_status bough_indicators(const bough_model *m, bough_data *d, const bough_point *at, double *z) {
  if (!m || !d || d->model != m || !at || !at->q || !at->u || !z) return BOUGH_BAD_ARGUMENT;
  if (m->n_modes == 0) return BOUGH_OK;
  const bough_status status = look(d, at);
  if (status == BOUGH_OK) bough_drive_indicators(d, d->mode, at->q, at->u, d->drive_need, z);
  return status;
}
