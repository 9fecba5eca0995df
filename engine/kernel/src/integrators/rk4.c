/* rk4.c - the classical Runge-Kutta step of order four. */
#include <string.h>

#include "sim.h"

static bough_status attempt(bough_sim *sim, double h) {
  static const double node[4] = {0.0, 0.5, 0.5, 1.0}, weight[4] = {1.0 / 6, 1.0 / 3, 1.0 / 3, 1.0 / 6};
  const int ny = sim->ny;
  for (int s = 0; s < 4; s++) {
    double *k = sim->k + s * ny;
    for (int i = 0; i < ny; i++) sim->stage[i] = sim->y[i] + (s ? h * node[s] * k[i - ny] : 0.0);
    const bough_status status = bough_sim_rate(sim, sim->now.t + node[s] * h, sim->stage, k);
    if (status != BOUGH_OK) return status;
  }
  memcpy(sim->stage, sim->y, sizeof(double) * (size_t)ny);
  for (int i = 0; i < ny; i++)
    for (int s = 0; s < 4; s++) sim->stage[i] += h * weight[s] * sim->k[s * ny + i];
  return BOUGH_OK;
}

const bough_integrator bough_rk4 = {{"rk4", "fixed step", 4, BOUGH_STEP_FIXED}, 0.0, 0.0, 0.0, attempt, NULL, NULL};
