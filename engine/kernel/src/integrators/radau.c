/* radau.c - the implicit Runge-Kutta method Radau IIA of order five (E. Hairer and G. Wanner, Solving Ordinary Differential
 * Equations II, IV.5 and IV.8), with articulated-body sweeps in place of linear algebra.
 *
 * A step of length h has three stages Y_i = y + h sum_j A_ij k_j whose rates k_i = f(t + c_i h, Y_i) are unknown; the new
 * state is the last stage. Newton's method would solve (1 - h A x J) dk = r for the defects r_i = f(Y_i) - k_i, all stages
 * at once. Here A is replaced by L of its factorization A = L U, with ones on the diagonal of U (P. J. van der Houwen and
 * J. J. B. de Swart, SIAM J. Sci. Comput. 18, 1997), so that one stage follows the other, and J by the known linear terms
 * J = [0 1; -M^-1 K  -M^-1 D]. The defect of a linear oscillation falls by 0.35 or better in each round, whatever its
 * frequency, and by more than ten where h omega is below 0.5 or above 80. With p = sum_{j<i} L_ij dk_j, g = h L_ii and M
 * at the stage,
 *   dkq = rq + h pu + g dku
 *   (M + g D + g^2 K)(ku + dku) = F(Y_i) + (g D + g^2 K) ku - h (K pq + D pu) - g K (rq + h pu),
 * which is one sweep. The q-parts are in the speeds' coordinates; positions move by N(Y_i) kq.
 * The error estimate is that of IV.8, (8.19): g0 (1 - g0 J)^-1 (f(y) + sum_j d_j k_j), g0 = h GAMMA, one sweep more.
 * Dense output is the collocation polynomial. */
#include <math.h>
#include <string.h>

#include "sim.h"

enum { STAGES = 3, MOST_ROUNDS = 8 };
#define GAMMA 0.27488882959567734 /* 1/GAMMA is the real eigenvalue of A^-1 */
static const double C[STAGES] = {0.15505102572168219, 0.64494897427831781, 1.0}; /* (4 -+ sqrt 6)/10, 1 */
static const double A[STAGES][STAGES] = {{0.19681547722366044, -0.065535425850198387, 0.023770974348220152},
                                         {0.39442431473908727, 0.29207341166522843, -0.041548752125997923},
                                         {0.37640306270046725, 0.51248582618842164, 0.11111111111111111}};
static const double L[STAGES][STAGES] = {{0.19681547722366044, 0.0, 0.0},
                                         {0.39442431473908727, 0.42340843570261299, 0.0},
                                         {0.37640306270046725, 0.63782015127994738, 0.2}};
static const double D[STAGES] = {-1.5580782047249224, 0.89141153805825564, -0.33333333333333333};
/* integrals of the Lagrange polynomials: b_j(x) = x (B_j0 + x (B_j1 + x B_j2)), b_j(c_i) = A_ij */
static const double B[STAGES][3] = {{1.5580782047249224, -1.9869472213484434, 0.80527207932398790},
                                    {-0.89141153805825564, 3.3202805546817767, -1.9163831904350990},
                                    {0.33333333333333333, -1.3333333333333333, 1.1111111111111111}};
/* Rounds end when what they still leave out is this part of the tolerance, times the fourth root of rtol: defects add up over
 * the steps, of which there are the more the tighter the tolerance is. 0.01 at 1e-6. */
static const double PART = 0.3;
/* Changes of a round over those of the one before: not less than this is relied on, for a good first round may hide it. */
static const double SLOW = 0.2;

/* rates of the stages and their latest changes: kq, ku [nu], position rates N kq [nq] */
typedef struct {
  double *kq[STAGES], *ku[STAGES], *rate[STAGES], *dq[STAGES], *du[STAGES];
} stages;

static stages stages_of(const bough_sim *sim) {
  stages x;
  double *at = sim->k;
  for (int i = 0; i < STAGES; i++) {
    x.kq[i] = at, x.ku[i] = x.kq[i] + sim->nu, x.dq[i] = x.ku[i] + sim->nu, x.du[i] = x.dq[i] + sim->nu;
    x.rate[i] = x.du[i] + sim->nu, at = x.rate[i] + sim->nq;
  }
  return x;
}

/* Y_i into y */
static void stage_state(const bough_sim *sim, const stages *x, double h, int i, double *y) {
  for (int n = 0; n < sim->nq; n++)
    y[n] = sim->y[n] + h * (A[i][0] * x->rate[0][n] + A[i][1] * x->rate[1][n] + A[i][2] * x->rate[2][n]);
  for (int n = 0; n < sim->nu; n++)
    y[sim->nq + n] = sim->y[sim->nq + n] + h * (A[i][0] * x->ku[0][n] + A[i][1] * x->ku[1][n] + A[i][2] * x->ku[2][n]);
}

/* b_j'(x) */
static double weight_rate(int j, double x) { return B[j][0] + x * (2.0 * B[j][1] + 3.0 * x * B[j][2]); }

/* First guess of the rates: the polynomial of the last step goes on; without one, an implicit Euler step's. */
static bough_status guess(bough_sim *sim, const stages *x, double h) {
  const int nq = sim->nq, nu = sim->nu, ny = sim->ny;
  const double h_old = sim->now.maker == BOUGH_RADAU5 ? sim->now.t - sim->now.t_old : 0.0, *u = sim->y + nq;
  double *dq = sim->implicit_dq, *du = sim->implicit_du;
  if (!(h_old > 0.0)) {
    for (int n = 0; n < nu; n++) dq[n] = h * u[n], du[n] = 0.0;
    const bough_status status = bough_sim_implicit(sim, sim->now.t + h, h, sim->y, dq, du, x->ku[0]);
    if (status != BOUGH_OK) return status;
  }
  for (int i = STAGES; i-- > 0;)
    for (int n = 0; n < nu; n++) {
      double v = x->ku[0][n];
      for (int j = 0; h_old > 0.0 && j < STAGES; j++) {
        if (j == 0) v = 0.0;
        v += weight_rate(j, 1.0 + C[i] * h / h_old) * sim->dense[j * ny + nq + n];
      }
      x->ku[i][n] = v;
    }
  for (int i = 0; i < STAGES; i++) {
    for (int n = 0; n < nu; n++) {
      double v = u[n];
      for (int j = 0; j < STAGES; j++) v += h * A[i][j] * x->ku[j][n];
      x->kq[i][n] = v;
    }
    bough_position_rates(sim->model, sim->y, x->kq[i], x->rate[i]);
  }
  return BOUGH_OK;
}

/* dk of stage i from the rates of the last round and the changes of the stages before it in this one */
static bough_status stage_change(bough_sim *sim, const stages *x, double h, int i, const double *Y) {
  const int nq = sim->nq, nu = sim->nu;
  const double g = h * L[i][i];
  double *dq = sim->implicit_dq, *du = sim->implicit_du;
  for (int n = 0; n < nu; n++) {
    double pq = 0.0, pu = 0.0;
    for (int j = 0; j < i; j++) pq += L[i][j] * x->dq[j][n], pu += L[i][j] * x->du[j][n];
    x->dq[i][n] = Y[nq + n] - x->kq[i][n] + h * pu; /* rq + h pu */
    dq[n] = h * pq + g * x->dq[i][n] - g * g * x->ku[i][n];
    du[n] = h * pu - g * x->ku[i][n];
  }
  const bough_status status = bough_sim_implicit(sim, sim->now.t + C[i] * h, g, Y, dq, du, x->du[i]);
  if (status != BOUGH_OK) return status;
  for (int n = 0; n < nu; n++) {
    x->du[i][n] -= x->ku[i][n];
    x->dq[i][n] += g * x->du[i][n];
  }
  return BOUGH_OK;
}

/* One round over all stages; sim->stage gets the state at the end, sim->error its change. */
static bough_status one_round(bough_sim *sim, const stages *x, double h) {
  const int nq = sim->nq, nu = sim->nu;
  double *Y = sim->stage;
  for (int i = 0; i < STAGES; i++) {
    stage_state(sim, x, h, i, Y);
    const bough_status status = stage_change(sim, x, h, i, Y);
    if (status != BOUGH_OK) return status;
  }
  for (int i = 0; i < STAGES; i++) {
    stage_state(sim, x, h, i, Y);
    for (int n = 0; n < nu; n++) x->kq[i][n] += x->dq[i][n];
    bough_position_rates(sim->model, Y, x->kq[i], x->rate[i]);
  }
  for (int i = 0; i < STAGES; i++)
    for (int n = 0; n < nu; n++) x->ku[i][n] += x->du[i][n];
  stage_state(sim, x, h, STAGES - 1, sim->stage);
  double *change = sim->error, *slide = sim->slide;
  for (int n = 0; n < nu; n++) {
    slide[n] = change[nq + n] = 0.0;
    for (int j = 0; j < STAGES; j++) {
      slide[n] += h * A[STAGES - 1][j] * x->dq[j][n];
      change[nq + n] += h * A[STAGES - 1][j] * x->du[j][n];
    }
  }
  bough_position_rates(sim->model, sim->y, slide, change);
  return BOUGH_OK;
}

static void fill(double *x, int n, double value) {
  for (int i = 0; i < n; i++) x[i] = value;
}

/* sim->error: of the step whose rates have been found */
static bough_status estimate(bough_sim *sim, const stages *x, double h) {
  const int nq = sim->nq, nu = sim->nu;
  const double g = h * GAMMA, *u = sim->y + nq;
  double *dq = sim->implicit_dq, *du = sim->implicit_du, *eu = sim->error + nq, *slide = sim->slide;
  for (int n = 0; n < nu; n++) {
    double wq = u[n], wu = 0.0;
    for (int j = 0; j < STAGES; j++) wq += D[j] * x->kq[j][n], wu += D[j] * x->ku[j][n];
    x->dq[0][n] = wq, x->du[0][n] = wu;
    dq[n] = g * (wq + g * wu), du[n] = g * wu;
  }
  const bough_status status = bough_sim_implicit(sim, sim->now.t, g, sim->y, dq, du, eu);
  if (status != BOUGH_OK) return status;
  for (int n = 0; n < nu; n++) {
    eu[n] += x->du[0][n];
    slide[n] = g * (x->dq[0][n] + g * eu[n]);
    eu[n] *= g;
  }
  bough_position_rates(sim->model, sim->y, slide, sim->error);
  return BOUGH_OK;
}

static bough_status attempt(bough_sim *sim, double h) {
  const stages x = stages_of(sim);
  const double rtol = sim->options.rtol, part = PART * sqrt(sqrt(rtol > 0.0 && rtol < 1e-4 ? rtol : 1e-4));
  double last = 0.0, left = INFINITY;
  bough_status status = guess(sim, &x, h);
  for (int round = 0; status == BOUGH_OK && round < MOST_ROUNDS && left > part; round++) {
    status = one_round(sim, &x, h);
    if (status != BOUGH_OK) return status;
    const double change = bough_tolerance_norm(sim, h), ratio = round > 0 ? change / last : 0.5;
    if (change == 0.0) left = 0.0;
    if (!bough_finite(change) || (round > 1 && ratio > 0.9)) break; /* it does not converge: a shorter step will */
    if (round > 0 && ratio < 0.9) left = change * (ratio > SLOW ? ratio / (1.0 - ratio) : SLOW / (1.0 - SLOW));
    last = change;
  }
  if (status != BOUGH_OK) return status;
  if (left > part) {
    fill(sim->error, sim->ny, INFINITY);
    return BOUGH_OK;
  }
  return estimate(sim, &x, h);
}

static void keep(bough_sim *sim, double h) {
  const stages x = stages_of(sim);
  (void)h;
  for (int j = 0; j < STAGES; j++) {
    memcpy(sim->dense + j * sim->ny, x.rate[j], sizeof(double) * (size_t)sim->nq);
    memcpy(sim->dense + j * sim->ny + sim->nq, x.ku[j], sizeof(double) * (size_t)sim->nu);
  }
}

static void dense_output(const bough_sim *sim, double t, double *y) {
  const int ny = sim->ny;
  const double h = sim->now.t - sim->now.t_old, x = (t - sim->now.t_old) / h;
  double b[STAGES];
  for (int j = 0; j < STAGES; j++) b[j] = h * x * (B[j][0] + x * (B[j][1] + x * B[j][2]));
  for (int i = 0; i < ny; i++)
    y[i] = sim->y_old[i] + b[0] * sim->dense[i] + b[1] * sim->dense[ny + i] + b[2] * sim->dense[2 * ny + i];
}

const bough_integrator bough_radau5 = {{"radau5", "stiff modes, accurate", 4, BOUGH_STEP_ADAPTIVE}, 0.25, 0.08, 8.0, attempt, keep, dense_output};
