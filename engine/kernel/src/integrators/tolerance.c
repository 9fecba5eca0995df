/* tolerance.c - how large an error of each coordinate may be.
 *
 * With an absolute tolerance given (options.atol > 0) the error of coordinate i is held against
 *   atol_i + rtol max(|y_i|, |y_i new|),   atol_i = atol for positions, SPEED_FLOOR atol for speeds.
 * Without one, nobody says what is small, and the motion itself has to: the error is held against
 *   rtol s_i + h n_i
 * where s_i is the largest distance that the coordinate has had from its start value. Then a motion of a nanometre is
 * computed with as many digits as one of a metre, about any offset and in any unit, and a run with a thousandth of the
 * load is a thousandth of the run. Five refinements:
 *  - Translations of one hinge are one vector, and so are its rotations: they share the largest s_i. Otherwise a turn of
 *    the axes would decide which component has to be resolved.
 *  - Modes of one body add up to one deflection. Weighted with the root of their modal mass they are comparable, and a
 *    mode is not resolved below MODE_FLOOR of the largest of them.
 *  - An angle matters up to full turns: s_i is at most TURN.
 *  - From rest a coordinate may grow with h^2 or h^3, and so does the error of a method of low order, however short the
 *    step. Where shorter steps do not help, s_i is at least what the step's acceleration makes of the coordinate in a
 *    time H: a hundredth of the time between two results, or a tenth of a radian of the fastest vibration or turn if
 *    that is less. How fast the mechanism vibrates is measured there, by moving it along with the step.
 *  - Loops tie coordinates together. One that a loop holds fast moves by what its projection leaves, and its error is taken off
 *    by the projection: with loops, no hinge is resolved below LOOP_FLOOR of the largest motion of any.
 * n_i is the noise of the rate: a coordinate that stands still to rounding (a loaded arm in equilibrium, the lateral
 * modes of a plane motion) must not be resolved to rtol of that rounding. It is measured when a step is about to be
 * rejected: state, inputs and gravity are changed in their last digits, and the change of the rates, which holds every
 * cancellation on the way, is the noise. */
#include <math.h>
#include <string.h>

#include "sim.h"

/* A speed is judged by the displacement it makes in a hundredth of a second: what vibrates at 100 rad/s has speeds a
 * hundred times its displacements. */
static const double SPEED_FLOOR = 100.0;
static const double MODE_FLOOR = 0.1;
static const double LOOP_FLOOR = 0.01;
static const double TURN = 6.28318530717958647692;
static const double HORIZON = 1e-2; /* of the time between two results */
static const double RADIANS = 0.1;  /* of the fastest mode or turn */
static const double PROBE = 1e-4;   /* rad, m or modal: small, yet far above rounding */
static const double LAST_DIGITS = 3.6e-15; /* 16 units in the last place */
static const double DIGITS = 8.9e-16;       /* four roundings of a coordinate: an orbit's 7000 km, at its start */
static const double NOISE_FACTOR = 4.0;    /* one probe sees a part of the noise */
static const double NOISE_MEMORY = 0.7;    /* what an older probe still counts */

static double larger(double a, double b) { return a > b ? a : b; }

void bough_tolerance_start(bough_sim *sim) {
  const size_t bytes = sizeof(double) * (size_t)sim->ny;
  memcpy(sim->y_start, sim->y, bytes);
  memset(sim->size, 0, bytes);
  memset(sim->noise, 0, bytes);
  sim->horizon = 0.0;
  for (int i = 0; i < sim->ny; i++) sim->root_mass[i] = 1.0;
  sim->fastest = 0.0;
  for (int k = 0; k < sim->model->nb; k++) { /* xi = T^-1 eta has unit mass: that of eta_c is column c of T^-1 squared */
    const bough_body *b = sim->model->body + k;
    for (int r = 0; r < b->nm; r++) sim->fastest = larger(sim->fastest, b->k[r] > 0.0 ? sqrt(b->k[r]) : 0.0);
    if (!b->user_basis) continue;
    for (int c = 0; c < b->nm; c++) {
      double sum = 0.0;
      for (int r = 0; r < b->nm; r++) sum += b->Tinv[r * b->nm + c] * b->Tinv[r * b->nm + c];
      if (sum > 0.0) sim->root_mass[b->qm + c] = sim->root_mass[sim->nq + b->um + c] = sqrt(sum);
    }
  }
}

void bough_tolerance_follow(bough_sim *sim) {
  for (int i = 0; i < sim->ny; i++) sim->size[i] = larger(sim->size[i], fabs(sim->y[i] - sim->y_start[i]));
}

/* a sum of squares over the coordinates that move */
typedef struct {
  double sum;
  int count;
} mean_square;

static void add(mean_square *mean, double error, double tolerance) {
  if (error == 0.0 && tolerance == 0.0) return; /* never moved */
  const double e = tolerance > 0.0 ? error / tolerance : INFINITY;
  mean->sum += e * e;
  mean->count++;
}

static double motion_of(const bough_sim *sim, int i) {
  return larger(sim->size[i], fabs(sim->stage[i] - sim->y_start[i]));
}

/* Sizes of n modal speeds and coordinates, at least what the step's acceleration makes of them in H, into sim->size_now. */
static void sizes_of_modes(const bough_sim *sim, double h, int q0, int u0, int n) {
  const double H = sim->horizon;
  double *size = sim->size_now;
  for (int i = 0; i < n; i++) {
    size[u0 + i] = larger(motion_of(sim, u0 + i), H / h * fabs(sim->stage[u0 + i] - sim->y[u0 + i]));
    size[q0 + i] = larger(motion_of(sim, q0 + i), H * size[u0 + i]);
  }
}
/* The same of translations or of rotations of a hinge: one size for all speeds, one for all positions. */
static void sizes_of_vector(const bough_sim *sim, double h, int q0, int nq, int u0, int nu) {
  const double H = sim->horizon;
  double *size = sim->size_now, speed = 0.0, way = 0.0;
  for (int i = u0; i < u0 + nu; i++)
    speed = larger(speed, larger(motion_of(sim, i), H / h * fabs(sim->stage[i] - sim->y[i])));
  for (int i = q0; i < q0 + nq; i++) way = larger(way, motion_of(sim, i));
  for (int i = u0; i < u0 + nu; i++) size[i] = speed;
  for (int i = q0; i < q0 + nq; i++) size[i] = larger(way, H * speed);
}

/* modes of one body, y[first] to y[first + nm - 1] */
static void add_modes(const bough_sim *sim, double h, int first, int nm, mean_square *mean) {
  const double *size = sim->size_now;
  double most = 0.0;
  for (int i = first; i < first + nm; i++) most = larger(most, sim->root_mass[i] * size[i]);
  for (int i = first; i < first + nm; i++) {
    const double s = larger(size[i], MODE_FLOOR * most / sim->root_mass[i]);
    add(mean, sim->error[i], sim->options.rtol * s + h * sim->noise[i]);
  }
}

static void add_hinge(const bough_sim *sim, double h, int first, int end, double cap, mean_square *mean) {
  for (int i = first; i < end; i++) {
    const double s = sim->size_now[i] < cap ? sim->size_now[i] : cap;
    const double wanted = larger(sim->options.rtol * s, DIGITS * fabs(sim->stage[i])); /* far from zero, digits end first */
    add(mean, sim->error[i], wanted + h * sim->noise[i]);
  }
}

/* the fastest turn of a hinge in this step, rad/s */
static double fastest_turn(const bough_sim *sim) {
  double most = 0.0;
  for (int k = 0; k < sim->model->nb; k++) {
    const bough_body *b = sim->model->body + k;
    for (int i = sim->nq + b->u0 + b->slides; i < sim->nq + b->um; i++) most = larger(most, fabs(sim->stage[i]));
  }
  return most;
}

/* sim->size_now[from .. to - 1] over `unit` onto *most, or (raise) up to a part of it */
static void floor_of(const bough_sim *sim, int from, int to, double unit, double *most, int raise) {
  for (int i = from; i < to; i++)
    if (raise)
      sim->size_now[i] = larger(sim->size_now[i], LOOP_FLOOR * unit * *most);
    else
      *most = larger(*most, sim->size_now[i] / unit);
}
/* Sizes of hinge coordinates in a mechanism with loops. Rotations count by the mechanism's length, up to full turns. */
static void sizes_in_loops(const bough_sim *sim) {
  const double turn = 1.0 / sim->model->length;
  double way = 0.0, speed = 0.0;
  for (int raise = 0; raise < 2; raise++) {
    if (raise && way > TURN / turn) way = TURN / turn;
    for (int k = 0; k < sim->model->nb; k++) {
      const bough_body *b = sim->model->body + k;
      const int u0 = sim->nq + b->u0;
      floor_of(sim, b->q0, b->q0 + b->slides, 1.0, &way, raise), floor_of(sim, b->q0 + b->slides, b->qm, turn, &way, raise);
      floor_of(sim, u0, u0 + b->slides, 1.0, &speed, raise), floor_of(sim, u0 + b->slides, sim->nq + b->um, turn, &speed, raise);
    }
  }
}

static mean_square by_motion(const bough_sim *sim, double h) {
  mean_square mean = {0.0, 0};
  for (int k = 0; k < sim->model->nb; k++) {
    const bough_body *b = sim->model->body + k;
    const int u0 = sim->nq + b->u0, um = sim->nq + b->um, q_turn = b->q0 + b->slides, u_turn = u0 + b->slides;
    sizes_of_vector(sim, h, b->q0, b->slides, u0, b->slides);
    sizes_of_vector(sim, h, q_turn, b->qm - q_turn, u_turn, um - u_turn);
    sizes_of_modes(sim, h, b->qm, um, b->nm);
  }
  if (sim->model->n_rows > 0) sizes_in_loops(sim);
  for (int k = 0; k < sim->model->nb; k++) {
    const bough_body *b = sim->model->body + k;
    const int u0 = sim->nq + b->u0, um = sim->nq + b->um, q_turn = b->q0 + b->slides;
    add_hinge(sim, h, b->q0, q_turn, INFINITY, &mean);
    add_hinge(sim, h, q_turn, b->qm, TURN, &mean);
    add_hinge(sim, h, u0, um, INFINITY, &mean);
    add_modes(sim, h, b->qm, b->nm, &mean);
    add_modes(sim, h, um, b->nm, &mean);
  }
  return mean;
}

static double absolute(const bough_sim *sim, int i) { return i < sim->nq ? sim->options.atol : SPEED_FLOOR * sim->options.atol; }

bough_status bough_sim_excursion(const bough_sim *sim, double *size, double *floor) {
  if (!sim || !size || !floor) return BOUGH_BAD_ARGUMENT;
  for (int i = 0; i < sim->ny; i++) size[i] = sim->size[i], floor[i] = absolute(sim, i);
  return BOUGH_OK;
}

static mean_square by_atol(const bough_sim *sim) {
  mean_square mean = {0.0, 0};
  for (int i = 0; i < sim->ny; i++)
    add(&mean, sim->error[i], absolute(sim, i) + sim->options.rtol * larger(fabs(sim->y[i]), fabs(sim->stage[i])));
  return mean;
}

double bough_tolerance_norm(const bough_sim *sim, double h) {
  const mean_square mean = sim->options.atol > 0.0 ? by_atol(sim) : by_motion(sim, h);
  return mean.count > 0 ? sqrt(mean.sum / mean.count) : 0.0;
}

/* the largest acceleration per displacement, 1/s2, when positions move along with the step's change of speed */
static double stiffest(bough_sim *sim) {
  const int nq = sim->nq, nu = sim->nu;
  double *y = sim->probe, *rate = sim->probe_rate, most = 0.0, change = 0.0;
  memcpy(y, sim->y, sizeof(double) * (size_t)sim->ny);
  for (int i = nq; i < sim->ny; i++) most = larger(most, fabs(sim->stage[i] - sim->y[i]));
  if (!(most > 0.0) || !bough_finite(most)) return 0.0;
  for (int i = nq; i < sim->ny; i++) y[i] = (sim->stage[i] - sim->y[i]) * (PROBE / most);
  bough_position_rates(sim->model, sim->y, y + nq, rate);
  for (int i = 0; i < nq; i++) y[i] += rate[i];
  memcpy(y + nq, sim->y + nq, sizeof(double) * (size_t)nu);
  if (bough_sim_rate(sim, sim->now.t, y, rate) != BOUGH_OK) return 0.0;
  for (int i = nq; i < sim->ny; i++) change = larger(change, fabs(rate[i] - sim->rate[i]));
  return change / PROBE;
}

bough_status bough_tolerance_relieve(bough_sim *sim) {
  if (!sim->now.fresh) {
    const bough_status status = bough_sim_rate(sim, sim->now.t, sim->y, sim->rate);
    if (status != BOUGH_OK) return status;
    sim->now.fresh = 1;
  }
  const double fastest = larger(larger(fastest_turn(sim), sim->fastest), sqrt(stiffest(sim)));
  const double H = HORIZON * sim->now.spacing;
  sim->horizon = H * fastest > RADIANS ? RADIANS / fastest : H;
  return BOUGH_OK;
}

/* 1 or -1, another pattern for every probe, the same on every machine */
static double sign(const bough_sim *sim, int i) {
  const uint32_t mix = ((uint32_t)i + 1u) * 2654435761u ^ (uint32_t)sim->now.noise_count * 2246822519u;
  return (mix >> 15 ^ mix >> 7) & 1u ? 1.0 : -1.0;
}

/* rates at y with the last digits of y, of the inputs and of gravity changed, into rate */
static bough_status probe(bough_sim *sim, double *y, double *rate) {
  const int nq = sim->nq, nu = sim->nu, nl = 6 * sim->model->n_load_rows;
  double *g = sim->data->gravity, kept[3], pull = 0.0;
  const bough_status status = bough_sim_inputs(sim, sim->now.t, sim->y);
  if (status != BOUGH_OK) return status;
  for (int i = 0; i < sim->ny; i++) y[i] = sim->y[i] * (1.0 + LAST_DIGITS * sign(sim, i));
  for (int i = 0; i < nu; i++) {
    sim->tau[i] *= 1.0 + LAST_DIGITS * sign(sim, 3 * i);
    sim->motion[i] *= 1.0 + LAST_DIGITS * sign(sim, 5 * i);
  }
  for (int i = 0; i < nl; i++) sim->loads[i] *= 1.0 + LAST_DIGITS * sign(sim, 7 * i);
  memcpy(kept, g, sizeof kept);
  for (int i = 0; i < 3; i++) pull = larger(pull, fabs(kept[i]));
  for (int i = 0; i < 3; i++) g[i] += LAST_DIGITS * pull * sign(sim, 11 * i); /* every axis: frames are rounded, too */
  sim->now.evaluations++;
  const bough_point at = {sim->now.t, y, y + nq, sim->tau, sim->motion, sim->loads, NULL};
  const bough_values values = {.udot = rate + nq};
  const bough_status done = bough_evaluate(sim->model, sim->data, &at, 0, NULL, &values);
  memcpy(g, kept, sizeof kept);
  return done;
}

bough_status bough_tolerance_measure_noise(bough_sim *sim, double h) {
  const int nq = sim->nq, ny = sim->ny;
  double *y = sim->probe, *rate = sim->probe_rate;
  sim->now.noise_count++;
  if (!sim->now.fresh) {
    const bough_status status = bough_sim_rate(sim, sim->now.t, sim->y, sim->rate);
    if (status != BOUGH_OK) return status;
    sim->now.fresh = 1;
  }
  const bough_status status = probe(sim, y, rate);
  if (status != BOUGH_OK) return status;
  for (int i = nq; i < ny; i++)
    sim->noise[i] = larger(NOISE_MEMORY * sim->noise[i], NOISE_FACTOR * fabs(rate[i] - sim->rate[i]));
  /* positions: the noise of speeds, their own and what a step of h gives them, as the hinges pass it on */
  for (int i = nq; i < ny; i++) y[i] += h * sim->noise[i] * sign(sim, i);
  bough_position_rates(sim->model, y, y + nq, rate);
  for (int i = 0; i < nq; i++)
    sim->noise[i] = larger(NOISE_MEMORY * sim->noise[i], NOISE_FACTOR * fabs(rate[i] - sim->rate[i]));
  return BOUGH_OK;
}
