/* mass.c - mass matrix (50), its innovations factors (54), its inverse (56), and composite-body dynamics (46). */
#include <math.h>
#include <string.h>

#include "elements/drives.h"
#include "internal.h"

enum { DENSE_MAX = 46340 }; /* speeds of which a dense matrix can still be indexed by an int: it would take 17 GB */

/* Arguments of all calls here: a model and its data, states and a place for the answer, and a matrix that can be indexed. */
static int arguments_ok(const bough_model *m, const bough_data *d, int count, const double *q, const double *out) {
  return m && d && d->model == m && count >= 0 && q && out && m->nu <= DENSE_MAX;
}

/* Row of a matrix [nu*nu] with a number that is not finite, or -1. Zero times a finite number is zero, and four sums at a time
 * take a quarter of the time of as many questions. */
static int row_not_finite(int nu, const double *A) {
  for (int i = 0; i < nu; i++, A += nu) {
    double sum[4] = {0.0, 0.0, 0.0, 0.0};
    int j = 0;
    for (; j + 4 <= nu; j += 4)
      for (int l = 0; l < 4; l++) sum[l] += 0.0 * A[j + l];
    for (; j < nu; j++) sum[0] += 0.0 * A[j];
    if (!(sum[0] + sum[1] + sum[2] + sum[3] == 0.0)) return i;
  }
  return -1;
}

static bough_status mass_matrix(const bough_model *m, bough_data *d, const double *q, double *M) {
  const bough_sweep s = bough_data_inertia_sweep(d, 1);
  bough_other_ops_one_base.mass_matrix(&s, d->work_one, q, d->zero, M);
  const int row = row_not_finite(m->nu, M);
  if (row >= 0) d->where.body = bough_body_of_speed(m, row);
  return row >= 0 ? BOUGH_NOT_FINITE : BOUGH_OK;
}

bough_status bough_mass_matrix(const bough_model *m, bough_data *d, int count, const double *q, double *M) {
  if (!arguments_ok(m, d, count, q, M)) return BOUGH_BAD_ARGUMENT;
  const size_t nq = (size_t)m->nq, nu = (size_t)m->nu;
  bough_status status = BOUGH_OK;
  for (size_t i = 0; status == BOUGH_OK && i < (size_t)count; i++) status = mass_matrix(m, d, q + i * nq, M + i * nu * nu);
  return status;
}

static bough_status mass_factors(const bough_model *m, bough_data *d, const double *q, double *L, double *D) {
  const bough_sweep s = bough_data_inertia_sweep(d, 1);
  bough_other_ops_one_base.factors(&s, d->work_one, q, d->zero, L, D);
  const int singular = d->one->singular_body(d->work_one, 0);
  d->where.body = singular;
  if (singular >= 0) return BOUGH_SINGULAR;
  const int row_D = row_not_finite(m->nu, D), row_L = row_not_finite(m->nu, L);
  if (row_D >= 0 || row_L >= 0) d->where.body = bough_body_of_speed(m, row_D >= 0 ? row_D : row_L);
  return row_D >= 0 || row_L >= 0 ? BOUGH_NOT_FINITE : BOUGH_OK;
}

bough_status bough_mass_factors(const bough_model *m, bough_data *d, int count, const double *q, double *L, double *D) {
  if (!arguments_ok(m, d, count, q, L) || !D) return BOUGH_BAD_ARGUMENT;
  const size_t nq = (size_t)m->nq, nu = (size_t)m->nu;
  bough_status status = BOUGH_OK;
  for (size_t i = 0; status == BOUGH_OK && i < (size_t)count; i++)
    status = mass_factors(m, d, q + i * nq, L + i * nu * nu, D + i * nu * nu);
  return status;
}

bough_status bough_mass_solve(const bough_model *m, bough_data *d, int count, const double *q, const double *y, double *x) {
  if (!m || !d || d->model != m || count < 0 || !q || !y || !x) return BOUGH_BAD_ARGUMENT;
  const size_t nq = (size_t)m->nq, nu = (size_t)m->nu;
  const bough_sweep s = bough_data_inertia_sweep(d, 1);
  bough_status status = BOUGH_OK;
  for (size_t i = 0; status == BOUGH_OK && i < (size_t)count; i++) {
    const bough_point at = {.q = q + i * nq, .u = d->zero, .tau = y + i * nu};
    status = bough_sweep_tree(d, &s, &at, x + i * nu, NULL, NULL);
  }
  return status;
}

/* Cholesky solve in place of the leading n x n of A (row stride n): x <- A^-1 x. Row of a bad pivot, or -1. */
static int cholesky_solve(double *A, int n, double *x) {
  for (int i = 0; i < n; i++) {
    double *ai = A + (size_t)i * (size_t)n;
    for (int j = 0; j <= i; j++) {
      const double *aj = A + (size_t)j * (size_t)n;
      double v = ai[j];
      for (int q = 0; q < j; q++) v -= ai[q] * aj[q];
      if (j < i)
        ai[j] = v * aj[j];
      else if (!(v > 0.0))
        return i;
      else
        ai[i] = 1.0 / sqrt(v);
    }
  }
  for (int i = 0; i < n; i++) {
    double v = x[i];
    for (int q = 0; q < i; q++) v -= A[(size_t)i * (size_t)n + (size_t)q] * x[q];
    x[i] = v * A[(size_t)i * (size_t)n + (size_t)i];
  }
  for (int i = n; i-- > 0;) {
    double v = x[i];
    for (int q = i + 1; q < n; q++) v -= A[(size_t)q * (size_t)n + (size_t)i] * x[q];
    x[i] = v * A[(size_t)i * (size_t)n + (size_t)i];
  }
  return -1;
}

static bough_status composite(const bough_model *m, bough_data *d, const double *q, const double *u, const double *tau,
                              const double *motion, const double *loads, double *work, double *udot) {
  const int nu = m->nu;
  double *M = work, *rhs = work + (size_t)nu * (size_t)nu;
  const unsigned char *held = d->held;
  const bough_point at = {.q = q, .u = u, .tau = tau, .motion = motion, .loads = loads};
  bough_status status = bough_drives_follow(d, &at);
  if (status == BOUGH_OK) status = mass_matrix(m, d, q, M);
  if (status != BOUGH_OK) return status;
  for (int i = 0; i < nu; i++) udot[i] = held[i] && motion ? motion[i] : 0.0;
  status = bough_inverse_bare(d, q, u, udot, loads, rhs); /* bias, with held DOFs moving as told */
  if (status != BOUGH_OK) return status;
  if (m->n_modes > 0) {
    for (int i = 0; i < nu; i++) d->drive_tau[i] = 0.0;
    bough_drive_forces(d, q, u, d->drive_tau, NULL, NULL, NULL);
    bough_drive_held(d, d->held, d->drive_held);
    for (int i = 0; i < nu; i++) rhs[i] -= d->drive_tau[i];
    held = d->drive_held;
  }
  int n = 0; /* squeeze the free rows and columns to the front */
  for (int i = 0; i < nu; i++) {
    if (held[i]) continue;
    rhs[n] = tau[i] - rhs[i];
    for (int j = 0, c = 0; j <= i; j++)
      if (!held[j]) M[(size_t)n * (size_t)nu + (size_t)c++] = M[(size_t)i * (size_t)nu + (size_t)j];
    n++;
  }
  for (int i = 1; i < n; i++) memmove(M + (size_t)i * (size_t)n, M + (size_t)i * (size_t)nu, (size_t)(i + 1) * 8);
  const int bad = cholesky_solve(M, n, rhs);
  int row = 0;
  for (int i = 0; i < nu; i++) {
    if (held[i]) continue;
    if (row == bad) {
      d->where.body = bough_body_of_speed(m, i);
      return BOUGH_SINGULAR;
    }
    udot[i] = rhs[row++];
  }
  return BOUGH_OK;
}

bough_status bough_forward_composite(const bough_model *m, bough_data *d, int count, const double *q, const double *u,
                                     const double *tau, const double *motion, const double *loads, double *work,
                                     double *udot) {
  if (!arguments_ok(m, d, count, q, udot) || !u || !tau || !work) return BOUGH_BAD_ARGUMENT;
  const size_t nq = (size_t)m->nq, nu = (size_t)m->nu;
  bough_status status = BOUGH_OK;
  for (size_t i = 0; status == BOUGH_OK && i < (size_t)count; i++)
    status = composite(m, d, q + i * nq, u + i * nu, tau + i * nu, motion ? motion + i * nu : NULL, loads, work,
                       udot + i * nu);
  return status;
}

bough_status bough_stop_impulse(const bough_model *m, bough_data *d, const double *q, const unsigned char *stop,
                                double *u) {
  if (!m || !d || d->model != m || !q || !stop || !u) return BOUGH_BAD_ARGUMENT;
  /* M du = impulses of held DOFs only: an inertia sweep with given changes of speed in place of accelerations */
  double *change = d->speed_change, *du = d->speed_answer;
  for (int i = 0; i < m->nu; i++) change[i] = stop[i] && d->held[i] ? -u[i] : 0.0;
  const bough_sweep s = bough_data_inertia_sweep(d, 0), kin = bough_data_kinematic_sweep(d);
  const bough_point at = {.q = q, .u = d->zero, .tau = d->zero, .motion = change};
  bough_status status;
  if (m->n_rows == 0)
    status = bough_sweep_tree(d, &s, &at, du, NULL, NULL);
  else { /* closures take part in the blow */
    const bough_constrained in = {.q = q, .u = d->zero, .rate_u = u, .motion = change, .udot = du};
    bough_other_ops_one_base.constrained(d->one, &s, &kin, d->work_one, d->constraints, &in, TARGET_SPEED);
    status = bough_data_check(d, d->one, d->work_one, 0, du);
  }
  for (int i = 0; status == BOUGH_OK && i < m->nu; i++) u[i] = stop[i] && d->held[i] ? 0.0 : u[i] + du[i];
  return status;
}
