/* model_motion.c - mechanics of the model inside a controller: forces, inertia, accelerations, a step of the prediction.
 *
 * A floating base b is left to itself: its rows of M a + c = tau have no force. Without gravity the others' motion does not
 * depend on where the base is, so that it stays at the origin here; with zero momentum M_bb u_b + M_bs u_s = 0 gives its speed.
 * Elimination of the first six rows of M (Gauss, no pivoting: M is positive definite) leaves the inertia of the others. */
#include <string.h>

#include "model_controller.h"

/* full [base + n] of u or a; q has one more with a base. Work: q, u, a, tau, M, and 7 vectors of a step */
size_t bough_motion_room(const bough_plan *p) {
  const size_t n = (size_t)(p->n + BASE_Q);
  return 14 * n + n * n;
}

typedef struct {
  double *q, *u, *a, *tau, *M, *rest; /* the model's, base included; rest: 9 vectors */
} room;

static room divide(const bough_plan *p, double *work) {
  const size_t n = (size_t)(p->n + BASE_Q);
  const room r = {work, work + n, work + 2 * n, work + 3 * n, work + 4 * n, work + 4 * n + n * n};
  return r;
}

static void place_q(const bough_plan *p, const double *q, double *all) {
  if (p->base) memset(all, 0, BASE_Q * sizeof *all), all[BASE_Q - 1] = 1.0;
  memcpy(all + (p->base ? BASE_Q : 0), q, (size_t)p->n * sizeof *q);
}

/* the model's mass matrix with the base's columns below the diagonal eliminated; y [base + n], if given, goes along */
static bough_status eliminate(bough_instance *f, const bough_plan *p, const room *r, double *y) {
  const int all = p->n + p->base;
  const bough_status status = bough_mass_matrix(f->model, f->data, 1, r->q, r->M);
  if (status != BOUGH_OK) return status;
  for (int k = 0; k < p->base; k++)
    for (int i = k + 1; i < all; i++) {
      const double factor = r->M[i * all + k] / r->M[k * all + k];
      for (int j = k; j < all; j++) r->M[i * all + j] -= factor * r->M[k * all + j];
      if (y) y[i] -= factor * y[k];
    }
  return BOUGH_OK;
}
/* first numbers of v [base + n] such that the base's rows of M v + y are zero; y may be null */
static void solve_base(const bough_plan *p, const double *M, const double *y, double *v) {
  const int all = p->n + p->base;
  for (int k = p->base - 1; k >= 0; k--) {
    double sum = y ? y[k] : 0.0;
    for (int j = k + 1; j < all; j++) sum += M[k * all + j] * v[j];
    v[k] = -sum / M[k * all + k];
  }
}

bough_status bough_model_forces(bough_instance *f, const bough_plan *p, const double *q, const double *u, const double *a,
                                double *tau, double *work) {
  const room r = divide(p, work);
  const size_t bytes = (size_t)p->n * sizeof *u;
  place_q(p, q, r.q);
  memset(r.a, 0, BASE_U * sizeof *r.a);
  memcpy(r.u + p->base, u, bytes), memcpy(r.a + p->base, a, bytes);
  bough_status status = BOUGH_OK;
  if (p->base) {
    status = eliminate(f, p, &r, NULL);
    if (status == BOUGH_OK) solve_base(p, r.M, NULL, r.u);
  }
  if (status == BOUGH_OK) status = bough_inverse_dynamics(f->model, f->data, 1, r.q, r.u, r.a, NULL, r.tau);
  if (status == BOUGH_OK && p->base) status = eliminate(f, p, &r, r.tau); /* what is left of the forces once the base gives way */
  if (status == BOUGH_OK) memcpy(tau, r.tau + p->base, bytes);
  return status;
}

bough_status bough_model_mass(bough_instance *f, const bough_plan *p, const double *q, double *M, double *work) {
  const room r = divide(p, work);
  const int all = p->n + p->base;
  place_q(p, q, r.q);
  const bough_status status = eliminate(f, p, &r, NULL);
  if (status != BOUGH_OK) return status;
  for (int i = 0; i < p->n; i++) memcpy(M + i * p->n, r.M + (i + p->base) * all + p->base, (size_t)p->n * sizeof *M);
  return BOUGH_OK;
}

/* all of u [base + n] at x */
static bough_status full_speeds(bough_instance *f, const bough_plan *p, const room *r, const double *x, double *u) {
  place_q(p, x, r->q);
  memcpy(u + p->base, x + p->n, (size_t)p->n * sizeof *u);
  if (!p->base) return BOUGH_OK;
  const bough_status status = eliminate(f, p, r, NULL);
  if (status == BOUGH_OK) solve_base(p, r->M, NULL, u);
  return status;
}

static void place_forces(const bough_plan *p, const double *tau, double *all) {
  memset(all, 0, BASE_U * sizeof *all);
  memcpy(all + p->base, tau, (size_t)p->n * sizeof *all);
}

bough_status bough_model_accelerations(bough_instance *f, const bough_plan *p, const double *x, const double *tau, double *udot,
                                       double *work) {
  const room r = divide(p, work);
  bough_status status = full_speeds(f, p, &r, x, r.u);
  if (status != BOUGH_OK) return status;
  place_forces(p, tau, r.tau);
  const bough_point at = {.q = r.q, .u = r.u, .tau = r.tau};
  const bough_values values = {.udot = r.a};
  status = bough_evaluate(f->model, f->data, &at, 0, NULL, &values);
  if (status == BOUGH_OK) memcpy(udot, r.a + p->base, (size_t)p->n * sizeof *udot);
  return status;
}

/* The state of a step is (q, u) with the base's speed among u: x [n], then base + n numbers. */
bough_status bough_model_predict(bough_instance *f, const bough_plan *p, double *x, const double *tau, double *work) {
  const room r = divide(p, work);
  const int n = p->n, all = n + p->base, size = n + all, substeps = (int)f->partner->table[SUBSTEPS];
  const size_t room_of = 2 * (size_t)(n + BASE_Q);
  double *z = r.rest, *y = z + room_of, *k = y + room_of, *sum = k + room_of;
  const double h = p->sample / substeps, share[] = {0.5 * h, 0.5 * h, h}, weight[] = {1.0, 2.0, 2.0, 1.0}, sixth = h / 6.0;
  bough_status status = full_speeds(f, p, &r, x, z + n);
  if (status != BOUGH_OK) return status;
  memcpy(z, x, (size_t)n * sizeof *z);
  place_forces(p, tau, r.tau);
  for (int step = 0; step < substeps; step++) {
    memcpy(y, z, (size_t)size * sizeof *y);
    for (int stage = 0; stage < 4; stage++) {
      memcpy(k, y + n + p->base, (size_t)n * sizeof *k);
      place_q(p, y, r.q);
      const bough_point at = {.q = r.q, .u = y + n, .tau = r.tau};
      const bough_values values = {.udot = k + n};
      status = bough_evaluate(f->model, f->data, &at, 0, NULL, &values);
      if (status != BOUGH_OK) return status;
      for (int i = 0; i < size; i++) {
        sum[i] = stage == 0 ? k[i] : sum[i] + weight[stage] * k[i];
        if (stage < 3) y[i] = z[i] + share[stage] * k[i];
      }
    }
    for (int i = 0; i < size; i++) z[i] += sixth * sum[i];
  }
  memcpy(x, z, (size_t)n * sizeof *x), memcpy(x + n, z + n + p->base, (size_t)n * sizeof *x);
  return BOUGH_OK;
}

#define AT(i, j) A[(int)place[i] * size + (int)place[j]]
void bough_factor_places(double *A, int size, const double *place, int count) {
  for (int i = 0; i < count; i++)
    for (int j = 0; j <= i; j++) {
      double sum = AT(i, j);
      for (int k = 0; k < j; k++) sum -= AT(i, k) * AT(j, k) * AT(k, k);
      AT(i, j) = j < i ? sum / AT(j, j) : sum;
    }
}
void bough_solve_places(const double *A, int size, const double *place, int count, double *y) {
  for (int i = 0; i < count; i++)
    for (int k = 0; k < i; k++) y[i] -= AT(i, k) * y[k];
  for (int i = 0; i < count; i++) y[i] /= AT(i, i);
  for (int i = count - 1; i >= 0; i--)
    for (int k = i + 1; k < count; k++) y[i] -= AT(k, i) * y[k];
}
