/* rosenbrock.c - a linearly implicit step of order two for stiff modes and hinge springs, O(N), no Jacobian formed.
 *
 * ROS2 of J. G. Verwer et al. (SIAM J. Sci. Comput. 20, 1999), a W-method: of order two for any matrix A in place of
 * the Jacobian, L-stable for gamma = 1 - 1/sqrt(2) when A is the Jacobian. With y = (q, u) and A holding only the
 * known linear terms, elastic and hinge stiffness K and damping D,
 *   A = [0 1; -M^-1 K  -M^-1 D],   (1 - gamma h A) k1 = f(y),   (1 - gamma h A) k2 = f(y + h k1) - 2 gamma h A k1,
 *   y_new = y + h (k1 + k2)/2,     error of u = h (k2u - k1u)/2.
 * The same difference of positions is their change by acceleration, which a start from rest has however short the step;
 * their error is that of the speeds over the step, h N(q) (error of u).
 * Multiplied by M, the u-part of a stage is one articulated-body sweep with (gamma h) D + (gamma h)^2 K added to D_f and
 * D_R and with a changed force:
 *   (M + gh D + gh^2 K) ku = F(Y) - gh K (U + c h k1u) - c h (D k1u + K k1q),   kq = U + gh ku + c h k1u,
 * c = 0 for the first stage, -2 gamma for the second. M may be that of each stage: the change is of third order. */
#include "sim.h"

/* ku of one stage; k1q, k1u null for the first */
static bough_status stage_speed(bough_sim *sim, double t, double h, double g, const double *y, const double *k1q,
                                const double *k1u, double *ku) {
  const double *u = y + sim->nq, c = k1u ? -2.0 * g : 0.0;
  double *dq = sim->implicit_dq, *du = sim->implicit_du;
  for (int i = 0; i < sim->nu; i++) { /* K acts on gh (U + c h k1u) + c h k1q, D on c h k1u */
    du[i] = k1u ? c * h * k1u[i] : 0.0;
    dq[i] = g * h * (u[i] + du[i]) + (k1q ? c * h * k1q[i] : 0.0);
  }
  return bough_sim_implicit(sim, t, g * h, y, dq, du, ku);
}

static bough_status attempt(bough_sim *sim, double h) {
  const double g = 1.0 - 0.70710678118654752440;
  const int nq = sim->nq, nu = sim->nu;
  double *k1u = sim->k, *k1q = k1u + nu, *k2u = k1q + nu, *k2q = k2u + nu, *rate1 = k2q + nu, *rate2 = rate1 + nq;
  double *y2 = rate2 + nq;
  bough_status status = stage_speed(sim, sim->now.t, h, g, sim->y, NULL, NULL, k1u);
  if (status != BOUGH_OK) return status;
  for (int i = 0; i < nu; i++) k1q[i] = sim->y[nq + i] + g * h * k1u[i];
  bough_position_rates(sim->model, sim->y, k1q, rate1);
  for (int i = 0; i < nq; i++) y2[i] = sim->y[i] + h * rate1[i];
  for (int i = 0; i < nu; i++) y2[nq + i] = sim->y[nq + i] + h * k1u[i];
  status = stage_speed(sim, sim->now.t + h, h, g, y2, k1q, k1u, k2u);
  if (status != BOUGH_OK) return status;
  for (int i = 0; i < nu; i++) k2q[i] = y2[nq + i] + g * h * k2u[i] - 2.0 * g * h * k1u[i];
  bough_position_rates(sim->model, y2, k2q, rate2);
  for (int i = 0; i < nq; i++) sim->stage[i] = sim->y[i] + 0.5 * h * (rate1[i] + rate2[i]);
  for (int i = 0; i < nu; i++) {
    sim->stage[nq + i] = sim->y[nq + i] + 0.5 * h * (k1u[i] + k2u[i]);
    sim->error[nq + i] = 0.5 * h * (k2u[i] - k1u[i]);
  }
  bough_position_rates(sim->model, sim->y, sim->error + nq, sim->error);
  for (int i = 0; i < nq; i++) sim->error[i] *= h;
  return BOUGH_OK;
}

const bough_integrator bough_rosenbrock2 = {{"rosenbrock2", "stiff modes", 2, BOUGH_STEP_EITHER}, 0.5, 0.0, 5.0, attempt, NULL, NULL};
