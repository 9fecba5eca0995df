/* check.h - what the test programs share: checks that end the program, and a model's buffers. */
#ifndef CHECK_H
#define CHECK_H

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bough.h"

#define CHECK(condition)                                                                    \
  do {                                                                                      \
    if (!(condition)) {                                                                     \
      fprintf(stderr, "%s:%d: not true: %s\n", __FILE__, __LINE__, #condition);             \
      exit(1);                                                                              \
    }                                                                                       \
  } while (0)
#define OK(call) CHECK((call) == BOUGH_OK)

/* Every array a call may want, from one allocation. Numbers of order one. */
typedef struct {
  int nq, nu, nb, nodes, loads;
  double *q, *u, *tau, *motion, *load, *udot, *force, *reaction, *back, *qdot, *pose, *velocity, *acceleration;
  double *M, *L, *D, *work, *spare, *batch_q, *batch_u, *batch_tau, *batch_udot, *batch_out, *q_end, *u_end;
  int *node;
  unsigned char *stop;
  void *memory;
} buffers;

enum { BATCH = 6 };

static double *buffers_take(double **next, int count) {
  double *p = *next;
  *next += count;
  return p;
}

/* pseudo-random numbers between -1 and 1, the same everywhere */
static double noise(unsigned *seed) {
  *seed = *seed * 1664525u + 1013904223u;
  return (double)(*seed >> 8) / 8388608.0 - 1.0;
}

static void buffers_make(buffers *b, const bough_model *m) {
  const bough_sizes sizes = bough_model_sizes(m);
  const int nq = b->nq = sizes.nq, nu = b->nu = sizes.nu, nb = b->nb = sizes.bodies;
  const int nn = b->nodes = sizes.nodes, nl = b->loads = sizes.loads;
  const int reals = (3 + BATCH) * nq + (8 + 4 * BATCH) * nu + 6 * nl + 6 * nb + 19 * nn + 4 * nu * nu + nu + (nu + 6 * nb + 6 * nn) + 8;
  b->memory = calloc((size_t)reals * 8 + (size_t)nn * sizeof(int) + (size_t)nu + 8, 1);
  CHECK(b->memory != NULL);
  double *next = b->memory;
  b->q = buffers_take(&next, nq), b->qdot = buffers_take(&next, nq), b->q_end = buffers_take(&next, nq);
  b->batch_q = buffers_take(&next, BATCH * nq), b->u = buffers_take(&next, nu), b->tau = buffers_take(&next, nu);
  b->motion = buffers_take(&next, nu), b->udot = buffers_take(&next, nu), b->force = buffers_take(&next, nu);
  b->back = buffers_take(&next, nu), b->u_end = buffers_take(&next, nu), b->batch_u = buffers_take(&next, BATCH * nu);
  b->batch_tau = buffers_take(&next, BATCH * nu), b->batch_udot = buffers_take(&next, BATCH * nu);
  b->batch_out = buffers_take(&next, BATCH * nu);
  b->load = buffers_take(&next, 6 * nl), b->reaction = buffers_take(&next, 6 * nb);
  b->pose = buffers_take(&next, 7 * nn), b->velocity = buffers_take(&next, 6 * nn);
  b->acceleration = buffers_take(&next, 6 * nn);
  b->M = buffers_take(&next, nu * nu), b->L = buffers_take(&next, nu * nu), b->D = buffers_take(&next, nu * nu);
  b->work = buffers_take(&next, nu * nu + nu), b->spare = buffers_take(&next, nu + 6 * nb + 6 * nn);
  b->node = (int *)(void *)next;
  b->stop = (unsigned char *)(b->node + nn);
  unsigned seed = 12345u;
  for (int i = 0; i < nq; i++) b->q[i] = 0.3 * noise(&seed);
  for (int i = 0; i < nu; i++) b->u[i] = noise(&seed), b->tau[i] = noise(&seed), b->motion[i] = noise(&seed);
  for (int i = 0; i < 6 * nl; i++) b->load[i] = noise(&seed);
  for (int i = 0; i < nn; i++) b->node[i] = i;
  bough_normalize(m, b->q);
  for (int k = 0; k < BATCH; k++) {
    for (int i = 0; i < nq; i++) b->batch_q[k * nq + i] = b->q[i];
    for (int i = 0; i < nu; i++) b->batch_u[k * nu + i] = b->u[i], b->batch_tau[k * nu + i] = (k + 1) * b->tau[i];
  }
}
static void buffers_free(buffers *b) { free(b->memory); }

/* the state and inputs of the buffers */
static bough_point point(const buffers *b) {
  const bough_point at = {0.0, b->q, b->u, b->tau, b->motion, b->load, NULL};
  return at;
}

#endif
