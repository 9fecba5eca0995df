/* dopri5.c - the pair of orders 5 and 4 of J. R. Dormand and P. J. Prince (J. Comp. Appl. Math. 6, 1980), first same as
 * last, with the continuous extension of order 4 that E. Hairer, S. Norsett and G. Wanner give (Solving Ordinary
 * Differential Equations I, II.6). */
#include <string.h>

#include "sim.h"

static const double C[7] = {0, 0.2, 0.3, 0.8, 8.0 / 9, 1, 1};
static const double A[7][6] = {
    {0},
    {0.2},
    {3.0 / 40, 9.0 / 40},
    {44.0 / 45, -56.0 / 15, 32.0 / 9},
    {19372.0 / 6561, -25360.0 / 2187, 64448.0 / 6561, -212.0 / 729},
    {9017.0 / 3168, -355.0 / 33, 46732.0 / 5247, 49.0 / 176, -5103.0 / 18656},
    {35.0 / 384, 0, 500.0 / 1113, 125.0 / 192, -2187.0 / 6784, 11.0 / 84},
};
/* order 5 less order 4 */
static const double E[7] = {71.0 / 57600, 0, -71.0 / 16695, 71.0 / 1920, -17253.0 / 339200, 22.0 / 525, -1.0 / 40};
/* dense output */
static const double D[7] = {-12715105075.0 / 11282082432.0, 0, 87487479700.0 / 32700410799.0,
                            -10690763975.0 / 1880347072.0, 701980252875.0 / 199316789632.0,
                            -1453857185.0 / 822651844.0, 69997945.0 / 29380423.0};

/* the seven stages of a step of length h */
static bough_status attempt(bough_sim *sim, double h) {
  const int ny = sim->ny;
  if (!sim->now.fresh) {
    const bough_status status = bough_sim_rate(sim, sim->now.t, sim->y, sim->rate);
    if (status != BOUGH_OK) return status;
    sim->now.fresh = 1;
  }
  memcpy(sim->k, sim->rate, sizeof(double) * (size_t)ny);
  for (int s = 1; s < 7; s++) {
    for (int i = 0; i < ny; i++) {
      double v = 0.0;
      for (int j = 0; j < s; j++) v += A[s][j] * sim->k[j * ny + i];
      sim->stage[i] = sim->y[i] + h * v;
    }
    const bough_status status = bough_sim_rate(sim, sim->now.t + C[s] * h, sim->stage, sim->k + s * ny);
    if (status != BOUGH_OK) return status;
  }
  for (int i = 0; i < ny; i++) {
    double v = 0.0;
    for (int s = 0; s < 7; s++) v += E[s] * sim->k[s * ny + i];
    sim->error[i] = h * v;
  }
  return BOUGH_OK;
}

static void keep(bough_sim *sim, double h) {
  const int ny = sim->ny;
  for (int i = 0; i < ny; i++) {
    const double *k = sim->k + i, change = sim->stage[i] - sim->y[i], bend = h * k[0] - change;
    double d = 0.0;
    for (int s = 0; s < 7; s++) d += D[s] * k[s * ny];
    sim->dense[i] = change;
    sim->dense[ny + i] = bend;
    sim->dense[2 * ny + i] = change - h * k[6 * ny] - bend;
    sim->dense[3 * ny + i] = h * d;
  }
  memcpy(sim->rate, sim->k + 6 * ny, sizeof(double) * (size_t)ny);
  sim->now.fresh = 1;
}

static void dense_output(const bough_sim *sim, double t, double *y) {
  const int ny = sim->ny;
  const double *d = sim->dense, x = (t - sim->now.t_old) / (sim->now.t - sim->now.t_old), x1 = 1.0 - x;
  for (int i = 0; i < ny; i++)
    y[i] = sim->y_old[i] + x * (d[i] + x1 * (d[ny + i] + x * (d[2 * ny + i] + x1 * d[3 * ny + i])));
}

const bough_integrator bough_dopri5 = {{"dopri5", "adaptive", 5, BOUGH_STEP_ADAPTIVE}, 0.17, 0.04, 10.0, attempt, keep, dense_output};
