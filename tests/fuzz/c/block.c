/* block.c - model blocks, damaged behind a right checksum: refused, or a model that can be evaluated and run. */
#include "../../kernel/c/check.h"
#include "mutate.h"

static void seal(unsigned char *data, size_t size) { seal_file(data, size); }

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t most, unsigned seed) {
  return mutate(data, size, most, seed, 32);
}

enum { STEPS = 3, NU_MOST = 200 };

static void evaluate(const bough_model *m, bough_data *d, buffers *b) {
  double energy[4], momentum[6];
  const double *loads = b->loads ? b->load : NULL;
  const bough_point at = point(b), along = {.q = b->qdot, .u = b->u, .tau = b->tau};
  const bough_point given = {.q = b->q, .u = b->u, .udot = b->tau}; /* the sweeps may fail */
  const bough_values all = {b->qdot, b->udot, b->force, b->reaction, b->pose, b->velocity, b->acceleration};
  const bough_values motion = {.pose = b->pose, .velocity = b->velocity, .acceleration = b->acceleration};
  bough_evaluate(m, d, &at, b->nodes, b->node, &all);
  bough_inverse_dynamics(m, d, 1, b->q, b->u, b->tau, loads, b->back);
  bough_mass_matrix(m, d, 1, b->q, b->M);
  bough_mass_factors(m, d, 1, b->q, b->L, b->D);
  bough_mass_solve(m, d, 1, b->q, b->u, b->back);
  bough_forward_composite(m, d, 1, b->q, b->u, b->tau, b->motion, loads, b->work, b->udot);
  bough_stop_impulse(m, d, b->q, b->stop, b->u_end);
  bough_evaluate(m, d, &given, b->nodes, b->node, &motion);
  bough_energy(m, d, 1, b->q, b->u, energy, momentum);
  bough_directional(m, d, &at, &along, b->nodes, b->node, &all);
}

static void run(const bough_model *m, bough_data *d, buffers *b, int method) {
  const bough_sim_options options = {method, 1e-4, 1e-6, method == BOUGH_DOPRI5 ? 0.0 : 1e-3, 0.0};
  bough_sim *sim = NULL;
  OK(bough_sim_create(m, d, &options, &sim));
  bough_status status = bough_sim_start(sim, 0.0, b->q, b->u);
  for (int i = 0; i < STEPS && status == BOUGH_OK; i++)
    status = bough_sim_step(sim, 0.01 * (i + 1), NULL, NULL, b->q_end, b->u_end);
  CHECK(status == BOUGH_OK || status == BOUGH_SINGULAR || status == BOUGH_NOT_FINITE || status == BOUGH_STEP_TOO_SMALL);
  bough_sim_free(sim);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  bough_model *m = NULL;
  bough_data *d;
  const bough_status status = bough_model_create(data, size, &m);
  CHECK(status == BOUGH_OK || (status == BOUGH_BAD_BLOCK && m == NULL));
  if (status != BOUGH_OK) return 0;
  if (bough_model_sizes(m).nu <= NU_MOST) { /* the dense matrices of the check */
    buffers b;
    OK(bough_data_create(m, BOUGH_LANES_TANGENT, &d));
    buffers_make(&b, m);
    evaluate(m, d, &b);
    run(m, d, &b, (int)(crc32_of(data, size) % 3));
    buffers_free(&b);
    bough_data_free(d);
  }
  bough_model_free(m);
  return 0;
}
