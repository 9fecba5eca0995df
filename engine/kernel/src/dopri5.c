/* dopri5.c - the pair of orders 5 and 4 of J. R. Dormand and P. J. Prince (J. Comp. Appl. Math. 6, 1980), first same as
 * last, with the continuous extension of order 4 that E. Hairer, S. Norsett and G. Wanner give (Solving Ordinary
 * Differential Equations I, II.6). */
#include <math.h>
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

/* x^p for x > 0, to ten digits. The step-size control needs no more, but it needs the same digits everywhere: a pow of
 * the platform's would make the steps, and so the results, differ from one system to the next. */
static double power(double x, double p) {
  int two;
  const double m = frexp(x, &two), z = (m - 1.0) / (m + 1.0), z2 = z * z; /* x = m 2^two, ln m = 2 artanh z */
  double series = 0.0, e = 1.0;
  for (int k = 21; k > 0; k -= 2) series = series * z2 + 1.0 / k;
  const double t = p * (2.0 * z * series + two * 0.69314718055994530942), n = floor(t / 0.69314718055994530942 + 0.5);
  const double r = t - n * 0.69314718055994530942;
  for (int k = 12; k > 0; k--) e = 1.0 + e * r / k;
  return ldexp(e, n > 1000.0 ? 1000 : n < -1000.0 ? -1000 : (int)n);
}

/* a first step from the sizes of y, f and a difference of f (Hairer, Norsett & Wanner, II.4) */
static bough_status first_step(bough_sim *sim, double limit) {
  const int ny = sim->ny;
  double *k = sim->k + ny;
  const double d0 = bough_sim_norm(sim, sim->y, sim->y, sim->y), d1 = bough_sim_norm(sim, sim->rate, sim->y, sim->y);
  double h = d0 > 1e-5 && d1 > 1e-5 ? 0.01 * d0 / d1 : 1e-6;
  const double bound = bough_finite(limit) ? limit - sim->now.t : 1.0;
  if (h > bound) h = bound;
  for (int i = 0; i < ny; i++) sim->stage[i] = sim->y[i] + h * sim->rate[i];
  const bough_status status = bough_sim_rate(sim, sim->now.t + h, sim->stage, k);
  if (status == BOUGH_STOPPED) return status;
  if (status != BOUGH_OK) {
    sim->now.h = 1e-3 * h;
    return BOUGH_OK;
  }
  for (int i = 0; i < ny; i++) k[i] -= sim->rate[i];
  const double d2 = bough_sim_norm(sim, k, sim->y, sim->y) / h, most = d1 > d2 ? d1 : d2;
  const double h1 = most <= 1e-15 ? (h * 1e-3 > 1e-6 ? h * 1e-3 : 1e-6) : power(0.01 / most, 0.2);
  sim->now.h = 100.0 * h < h1 ? 100.0 * h : h1;
  return BOUGH_OK;
}

/* the seven stages of a step of length h; stage gets the new state, k[6] its rate, *error the weighted norm */
static bough_status stages(bough_sim *sim, double h, double *error) {
  const int ny = sim->ny;
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
  for (int i = 0; i < ny; i++) { /* the second stage is not needed any more: its place takes the error */
    double v = 0.0;
    for (int s = 0; s < 7; s++) v += s == 1 ? 0.0 : E[s] * sim->k[s * ny + i];
    sim->k[ny + i] = h * v;
  }
  *error = bough_sim_norm(sim, sim->k + ny, sim->y, sim->stage);
  return BOUGH_OK;
}

static void accept(bough_sim *sim, double h, double t_new) {
  const int ny = sim->ny;
  for (int i = 0; i < ny; i++) {
    const double *k = sim->k + i, change = sim->stage[i] - sim->y[i], bend = h * k[0] - change;
    double d = 0.0;
    for (int s = 0; s < 7; s++) d += s == 1 ? 0.0 : D[s] * k[s * ny];
    sim->y_old[i] = sim->y[i];
    sim->dense[i] = change;
    sim->dense[ny + i] = bend;
    sim->dense[2 * ny + i] = change - h * k[6 * ny] - bend;
    sim->dense[3 * ny + i] = h * d;
  }
  memcpy(sim->y, sim->stage, sizeof(double) * (size_t)ny);
  memcpy(sim->rate, sim->k + 6 * ny, sizeof(double) * (size_t)ny);
  bough_normalize(sim->model, sim->y);
  sim->now.t_old = sim->now.t, sim->now.t = t_new;
  sim->now.steps++;
}

bough_status bough_dopri5_step(bough_sim *sim, double limit) {
  bough_status status = BOUGH_OK;
  if (!sim->now.fresh) {
    status = bough_sim_rate(sim, sim->now.t, sim->y, sim->rate);
    if (status != BOUGH_OK) return status;
    sim->now.fresh = 1;
  }
  if (sim->now.h == 0.0) {
    sim->now.h = sim->options.step;
    if (sim->now.h == 0.0) status = first_step(sim, limit);
    if (status != BOUGH_OK) return status;
  }
  double shrink_only = 10.0; /* after a rejection the next step may not grow */
  for (;;) {
    double h = sim->now.h, error = 0.0;
    const double span = limit - sim->now.t, most = sim->options.step_max > 0.0 ? sim->options.step_max : span;
    if (h > most) h = most;
    /* Without the control's margins the limit may be in reach; two steps to it are better of equal length. */
    const int last = h >= span || (sim->now.reach >= span && most >= span);
    if (last)
      h = span;
    else if (2.0 * h > span)
      h = 0.5 * span;
    if (!(sim->now.t + 0.1 * h > sim->now.t)) {
      sim->where.time = sim->now.t;
      return status == BOUGH_OK ? BOUGH_STEP_TOO_SMALL : status;
    }
    status = stages(sim, h, &error);
    if (status == BOUGH_STOPPED) return status;
    if (status == BOUGH_OK && error <= 1.0) { /* PI control: h (0.9 e^-0.17 e_old^0.04) */
      const double e = error > 1e-10 ? error : 1e-10;
      double factor = 0.9 * power(e, -0.17) * power(sim->now.error_old, 0.04);
      factor = factor < 0.2 ? 0.2 : factor > shrink_only ? shrink_only : factor;
      sim->now.error_old = e > 1e-4 ? e : 1e-4;
      sim->now.reach = h * power(0.95 / e, 0.2);
      accept(sim, h, last ? limit : sim->now.t + h);
      if (!last || h * factor < sim->now.h) sim->now.h = h * factor;
      return BOUGH_OK;
    }
    sim->now.rejected++;
    const double factor = status == BOUGH_OK && error < 1e10 ? 0.9 * power(error, -0.2) : 0.1;
    sim->now.h = sim->now.reach = h * (factor < 0.2 ? 0.2 : factor);
    shrink_only = 1.0;
  }
}

void bough_dopri5_dense(const bough_sim *sim, double t, double *y) {
  const int ny = sim->ny;
  const double *d = sim->dense, x = (t - sim->now.t_old) / (sim->now.t - sim->now.t_old), x1 = 1.0 - x;
  for (int i = 0; i < ny; i++)
    y[i] = sim->y_old[i] + x * (d[i] + x1 * (d[ny + i] + x * (d[2 * ny + i] + x1 * d[3 * ny + i])));
}
