/* Times kernel calls from inside C, for `python -m benchmarks`: what an FMU or a C program pays, no Python between.
 * A handle owns a model, its data and copies of the states; the first angle moves a little with each call so that no
 * evaluation can be left out. */
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "bough.h"

#define EXPORT __attribute__((visibility("default")))

typedef struct {
  bough_model *model;
  bough_data *data;
  int count, nq, nu;
  double *q, *u, *tau, *udot;
} timer;

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static double *copy(const double *x, size_t n) {
  double *y = malloc(n * sizeof *y);
  if (y && x) memcpy(y, x, n * sizeof *y);
  return y;
}

EXPORT void timer_close(timer *t) {
  if (!t) return;
  bough_data_free(t->data);
  bough_model_free(t->model);
  free(t->q), free(t->u), free(t->tau), free(t->udot);
  free(t);
}

EXPORT timer *timer_open(const void *block, size_t size, int count, const double *q, const double *u,
                         const double *tau) {
  timer *t = calloc(1, sizeof *t);
  if (!t) return NULL;
  if (bough_model_create(block, size, &t->model) || bough_data_create(t->model, BOUGH_LANES_BATCH, &t->data)) {
    timer_close(t);
    return NULL;
  }
  const bough_sizes sizes = bough_model_sizes(t->model);
  t->count = count, t->nq = sizes.nq, t->nu = sizes.nu;
  size_t rows = (size_t)count;
  t->q = copy(q, rows * (size_t)t->nq), t->u = copy(u, rows * (size_t)t->nu);
  t->tau = copy(tau, rows * (size_t)t->nu), t->udot = copy(NULL, rows * (size_t)t->nu);
  if (t->q && t->u && t->tau && t->udot) return t;
  timer_close(t);
  return NULL;
}

/* Seconds per evaluation over `repeats` calls, negative on failure. One state at a time, the first one. */
EXPORT double timer_single(timer *t, long repeats) {
  const bough_point at = {.q = t->q, .u = t->u, .tau = t->tau};
  const bough_values values = {.udot = t->udot};
  double began = now();
  for (long i = 0; i < repeats; i++) {
    t->q[0] += 1e-12;
    if (bough_evaluate(t->model, t->data, &at, 0, NULL, &values)) return -1;
  }
  return (now() - began) / (double)repeats;
}

/* The same for the batch call, per state. */
EXPORT double timer_batch(timer *t, long repeats) {
  double began = now();
  for (long i = 0; i < repeats; i++) {
    t->q[0] += 1e-12;
    if (bough_forward_dynamics_batch(t->model, t->data, t->count, t->q, t->u, t->tau, t->udot)) return -1;
  }
  return (now() - began) / (double)repeats / t->count;
}

/* Baseline build of the sweeps (0) or x86-64-v3 (1); non-zero where the CPU has not got it. */
EXPORT int timer_isa(timer *t, int isa) { return (int)bough_data_set_isa(t->data, isa); }
EXPORT size_t timer_memory(const timer *t) { return bough_model_sizes(t->model).memory + bough_data_memory(t->data); }
EXPORT size_t timer_memory_model(const timer *t) { return bough_model_sizes(t->model).memory; }
EXPORT const double *timer_udot(const timer *t) { return t->udot; }
