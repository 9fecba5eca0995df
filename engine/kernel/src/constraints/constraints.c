/* constraints.c - loops and couplings: types of closures, residuals, freedoms, and the projection that keeps them closed.
 *
 * The projection weighs with M: positions by Gauss-Newton steps delta = -M^-1 J' A^+ g through qdot = N(q) u, then speeds by
 * u - M^-1 J' A^+ J u. The latter is the nearest speed in the kinetic energy's own measure, so it never adds energy. Both are
 * the sweeps of multipliers.inl on the system at rest; held DOFs stay as they are. */
#include <math.h>
#include <string.h>

#include "internal.h"

#define SLIDES {ROW_SLIDE, 0, 0}, {ROW_SLIDE, 1, 0}
#define POINT SLIDES, {ROW_SLIDE, 2, 0}
#define TURNS {ROW_TURN, 0, 1}, {ROW_TURN, 1, 1}, {ROW_TURN, 2, 1}
#define AXIS {ROW_ANGLE, 0, 1}, {ROW_ANGLE, 1, 1}
/* in the order of hinge codes; free closes nothing */
const bough_closure_type bough_closure_types[BOUGH_CLOSURE_TYPES] = {
    {6, {POINT, TURNS}},                          /* fixed */
    {5, {POINT, AXIS}},                           /* revolute */
    {5, {SLIDES, TURNS}},                         /* prismatic */
    {4, {SLIDES, AXIS}},                          /* cylindrical */
    {4, {POINT, {ROW_UNIVERSAL, 0, 1}}},          /* universal */
    {3, {{ROW_SLIDE, 2, 0}, AXIS}},               /* planar */
    {3, {POINT}},                                 /* spherical */
    {0, {{0, 0, 0}}},                             /* free */
    {1, {{ROW_ROD, 0, 0}}},                       /* rod */
    {2, {SLIDES}},                                /* slot */
    {1, {{ROW_SLIDE, 2, 0}}},                     /* plane */
    {3, {{ROW_ROLL, 0, 0}, {ROW_ROLL, 1, 0}, {ROW_ROLL, 2, 0}}}, /* rolling */
};

enum { MOST_CORRECTIONS = 12 };
static const double CLOSED = 1e-12; /* m, rad: no correction is worth it below ... */
static const double NEAR = 1e-4;    /* squared sine: where two branches meet, at x = 0, what is left open by g turns the motion by g/x^2 */
static const double SINGULAR = 1e-8, REDUNDANT = 1e-6; /* rows that vanish: squared sine; of the derivatives of rows, rounding */
static const double OPEN = 1e-10;   /* ... and a loop is open above; m/s, rad/s: times the larger of 1 and the speeds */

/* largest of |x| over the rows, in m and rad, and the constraint that has it */
static double largest(const bough_model *m, const double *x, const double *scale, int *owner) {
  double size = 0.0;
  for (int i = 0; i < m->n_rows; i++) {
    const double v = fabs(x[i]) / scale[i];
    if (v > size || !bough_finite(v)) size = v, *owner = m->row_owner[i];
    if (!bough_finite(v)) return INFINITY;
  }
  return size;
}

static void rows_at(bough_data *d, const double *q, const double *u) {
  const bough_sweep kin = bough_data_kinematic_sweep(d);
  bough_other_ops_one_base.constraint_rows(&kin, d->work_one, d->constraints, q, u);
}

/* the answer of the tree at rest that brings the target about; delta [nu] */
static bough_status correct(bough_data *d, const double *q, const double *u, bough_target target, double singular,
                            const bough_branch *branch, double *delta) {
  const bough_sweep s = bough_data_inertia_sweep(d, 0), kin = bough_data_kinematic_sweep(d);
  const bough_constrained in = {.q = q, .u = d->zero, .rate_u = u, .udot = delta, .singular = singular, .branch = branch};
  bough_other_ops_one_base.constrained(d->one, &s, &kin, d->work_one, d->constraints, &in, target);
  return bough_data_check(d, d->one, d->work_one, 0, delta);
}

static bough_status correction(bough_data *d, const double *q, const double *u, bough_target target, double *delta) {
  return correct(d, q, u, target, 0.0, NULL, delta);
}

static bough_status opened(bough_data *d, int owner) {
  d->where.body = -1, d->where.constraint = owner + 1;
  return BOUGH_OPEN;
}

/* `closed`: no correction is worth it below */
static bough_status project_positions(const bough_model *m, bough_data *d, double *q, double *delta, double *qdot, double closed) {
  double before = INFINITY;
  for (int i = 0;; i++) {
    int owner = 0;
    rows_at(d, q, d->zero);
    const bough_constraint_view c = bough_constraints_of(d->constraints);
    const double size = largest(m, c.g, c.scale, &owner);
    if (size <= closed || (size <= OPEN && size > 0.25 * before)) return BOUGH_OK;
    if (!bough_finite(size) || i == MOST_CORRECTIONS || (i > 2 && size > before)) return opened(d, owner);
    const bough_status status = correction(d, q, d->zero, TARGET_POSITION, delta);
    if (status != BOUGH_OK) return status;
    bough_position_rates(m, q, delta, qdot);
    for (int j = 0; j < m->nq; j++) q[j] += qdot[j];
    bough_normalize(m, q);
    before = size;
  }
}

static double fastest_of(const bough_model *m, const double *u) {
  double fastest = 1.0;
  for (int j = 0; j < m->nu; j++) fastest = fabs(u[j]) > fastest ? fabs(u[j]) : fastest;
  return fastest;
}

static bough_status project_speeds(const bough_model *m, bough_data *d, const double *q, double *u, double *delta) {
  const double fastest = fastest_of(m, u);
  for (int i = 0; i < 3; i++) { /* the second takes off what rounding left */
    int owner = 0;
    const bough_status status = correction(d, q, u, TARGET_SPEED, delta);
    if (status != BOUGH_OK) return status;
    const bough_constraint_view c = bough_constraints_of(d->constraints);
    const double size = largest(m, c.rate, c.scale, &owner);
    if (!bough_finite(size) || (i == 2 && size > OPEN * fastest)) return opened(d, owner);
    if (size <= 0.1 * CLOSED * fastest) return BOUGH_OK;
    for (int j = 0; j < m->nu; j++) u[j] += delta[j];
  }
  return BOUGH_OK;
}

/* Jdot [rows][nu] along the motion, by differences: J(q + h qdot) - J(q - h qdot) over 2 h */
static void turning_rows(const bough_model *m, bough_data *d, const double *q, const double *u, double *qdot) {
  const size_t n = (size_t)m->n_rows * (size_t)m->nu;
  const double h = 1e-4 / fastest_of(m, u);
  bough_position_rates(m, q, u, qdot);
  for (int way = 0; way < 2; way++) {
    for (int j = 0; j < m->nq; j++) d->ahead[j] = q[j] + (way ? -h : h) * qdot[j];
    bough_normalize(m, d->ahead);
    rows_at(d, d->ahead, d->zero);
    const double *J = bough_constraints_of(d->constraints).J;
    for (size_t i = 0; i < n; i++) d->turning[i] = way ? (d->turning[i] - J[i]) / (2.0 * h) : J[i];
  }
}

static double largest_entry(const double *x, size_t n) {
  double size = 0.0;
  for (size_t i = 0; i < n; i++) size = fabs(x[i]) > size ? fabs(x[i]) : size;
  return size;
}

/* Rows that vanish at q, and what takes their place; redundant ones vanish all along. 0 if there are none. */
static int branch_rows(const bough_model *m, bough_data *d, const double *q, const double *u, double *qdot) {
  const size_t nu = (size_t)m->nu;
  int found = 0;
  memset(d->branch.turned, 0, (size_t)m->n_rows);
  turning_rows(m, d, q, u, qdot);
  if (correct(d, q, u, TARGET_SPEED, SINGULAR, NULL, d->projected) != BOUGH_OK) return 0; /* the factor at q */
  const double least = REDUNDANT * largest_entry(d->turning, (size_t)m->n_rows * nu);
  const bough_constraint_view c = bough_constraints_of(d->constraints);
  for (int place = 0; place < m->n_rows; place++) {
    int dropped;
    const int row = bough_row_at(d->constraints, place, &dropped);
    if (!dropped) continue;
    double *B = d->branch.row + (size_t)row * nu, left = 0.0;
    bough_dependence(m, d->constraints, place, d->dependence);
    memset(B, 0, nu * sizeof *B);
    for (int i = 0; i < m->n_rows; i++) {
      left += d->dependence[i] * c.rate[i];
      for (int j = 0; d->dependence[i] != 0.0 && j < m->nu; j++) B[j] += d->dependence[i] * d->turning[(size_t)i * nu + (size_t)j];
    }
    if (!(largest_entry(B, nu) > least)) continue;
    d->branch.rate[row] = left, d->branch.turned[row] = 1;
    found = 1;
  }
  return found;
}

/* A state where two branches meet. With B = Jdot of the rows that vanish there, J u = 0 is closed by positions, B dq = -J u: a step
 * of the speeds would have to be as much longer as the row is smaller, and turn the motion off its branch. The speeds then keep
 * to it by B u = 0, which says that the row stays closed a moment later. */
static bough_status project_to_branch(const bough_model *m, bough_data *d, double *q, double *u, double *delta, double *qdot) {
  const double open = OPEN * fastest_of(m, u);
  for (int i = 0; i < 4; i++) {
    int owner = 0;
    if (!branch_rows(m, d, q, u, qdot)) break;
    bough_status status = correct(d, q, u, TARGET_POSITION, SINGULAR, &d->branch, delta);
    if (status != BOUGH_OK) return status;
    bough_position_rates(m, q, delta, qdot);
    for (int j = 0; j < m->nq; j++) q[j] += qdot[j];
    bough_normalize(m, q);
    status = correct(d, q, u, TARGET_SPEED, SINGULAR, &d->branch, delta);
    if (status != BOUGH_OK) return status;
    for (int j = 0; j < m->nu; j++) u[j] += delta[j];
    rows_at(d, q, u);
    const bough_constraint_view c = bough_constraints_of(d->constraints);
    if (largest(m, c.g, c.scale, &owner) <= OPEN && largest(m, c.rate, c.scale, &owner) <= open) return BOUGH_OK;
  }
  return BOUGH_OPEN;
}

bough_status bough_project(const bough_model *m, bough_data *d, double *q, double *u) {
  if (!m || !d || d->model != m || !q || !u) return BOUGH_BAD_ARGUMENT;
  if (m->n_rows == 0) return BOUGH_OK;
  double *delta = d->projected, *qdot = delta + m->nu;
  bough_status status = project_positions(m, d, q, delta, qdot, CLOSED);
  if (status == BOUGH_OK) status = project_speeds(m, d, q, u, delta);
  const int near = bough_constraints_of(d->constraints).least < NEAR;
  if (status == BOUGH_OK && near) { /* as far as rounding lets it */
    status = project_positions(m, d, q, delta, qdot, 0.0);
    if (status == BOUGH_OK) status = project_speeds(m, d, q, u, delta);
  }
  if (status != BOUGH_OPEN || bough_constraints_of(d->constraints).rank == m->n_rows) return status;
  const bough_where where = d->where;
  if (project_to_branch(m, d, q, u, delta, qdot) == BOUGH_OK) return BOUGH_OK;
  d->where = where;
  return BOUGH_OPEN;
}

bough_status bough_largest_residual(const bough_model *m, bough_data *d, const double *q, const double *u, double *g,
                                    double *rate, int *owner) {
  int fast = 0;
  *g = *rate = 0.0, *owner = 0;
  if (m->n_rows == 0) return BOUGH_OK;
  rows_at(d, q, u);
  const bough_constraint_view c = bough_constraints_of(d->constraints);
  *g = largest(m, c.g, c.scale, owner), *rate = largest(m, c.rate, c.scale, &fast);
  return bough_finite(*g) && bough_finite(*rate) ? BOUGH_OK : BOUGH_NOT_FINITE;
}

bough_status bough_residuals(const bough_model *m, bough_data *d, const double *q, const double *u, double *g, double *rate,
                             double *bias, double *J) {
  if (!m || !d || d->model != m || !q || !u) return BOUGH_BAD_ARGUMENT;
  if (m->n_rows == 0) return BOUGH_OK;
  rows_at(d, q, u);
  const bough_constraint_view c = bough_constraints_of(d->constraints);
  for (int i = 0; i < m->n_rows; i++) {
    if (g) g[i] = c.g[i] / c.scale[i];
    if (rate) rate[i] = c.rate[i] / c.scale[i];
    if (bias) bias[i] = c.bias[i] / c.scale[i];
    for (int j = 0; J && j < m->nu; j++) J[i * m->nu + j] = c.J[(size_t)i * (size_t)m->nu + (size_t)j] / c.scale[i];
  }
  return BOUGH_OK;
}

bough_status bough_freedom(const bough_model *m, bough_data *d, const double *q, int *rank, unsigned char *redundant) {
  if (!m || !d || d->model != m || !q || !rank) return BOUGH_BAD_ARGUMENT;
  *rank = 0;
  if (m->n_rows == 0) return BOUGH_OK;
  const bough_status status = correction(d, q, d->zero, TARGET_SPEED, d->projected);
  if (status != BOUGH_OK) return status;
  *rank = bough_constraints_of(d->constraints).rank;
  for (int i = 0; redundant && i < m->n_rows; i++) {
    int dropped;
    const int row = bough_row_at(d->constraints, i, &dropped);
    redundant[row] = (unsigned char)dropped;
  }
  return BOUGH_OK;
}

int bough_row_owner(const bough_model *m, int row, int *turns) {
  if (!m || row < 0 || row >= m->n_rows) return -1;
  const int owner = m->row_owner[row];
  if (turns) *turns = 0;
  if (turns && owner < m->n_closures) {
    const bough_closure *closure = m->closure + owner;
    *turns = bough_closure_types[closure->type].row[row - closure->row0].turns;
  }
  return owner;
}
