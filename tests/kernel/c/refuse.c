/* refuse.c - wrong arguments are answered with a status: null pointers, indices, sizes, options, singular inertia. */
#include "blocks.h"
#include "check.h"

#define REFUSED(call) CHECK((call) == BOUGH_BAD_ARGUMENT)

static void objects(const test_block *block) {
  bough_model *m = NULL;
  bough_data *d = NULL;
  REFUSED(bough_model_create(NULL, 0, &m));
  REFUSED(bough_model_create(block->words, block->size, NULL));
  CHECK(bough_model_create(block->words, 0, &m) == BOUGH_BAD_BLOCK && m == NULL);
  REFUSED(bough_data_create(NULL, 0, &d));
  bough_model_free(NULL), bough_data_free(NULL), bough_sim_free(NULL), bough_sim_disturb(NULL), bough_sim_set_stop(NULL, 1.0);
  CHECK(bough_model_sizes(NULL).nq == 0 && bough_model_sizes(NULL).nu == 0 && bough_model_sizes(NULL).bodies == 0);
  CHECK(bough_model_sizes(NULL).nodes == 0 && bough_model_sizes(NULL).loads == 0 && bough_model_sizes(NULL).memory == 0);
  CHECK(bough_model_hinge(NULL, 0).nu == 0);
  bough_warning none_yet;
  CHECK(!bough_data_warning(NULL, &none_yet));
  CHECK(bough_data_watch(NULL, NULL, 0.0, NULL, NULL, NULL) == BOUGH_BAD_ARGUMENT);
  bough_warning_text(NULL, NULL, NULL, 0);
  CHECK(bough_data_memory(NULL) == 0 && bough_data_isa(NULL) == 0 && bough_data_where(NULL).body == -1);
  CHECK(bough_sim_time(NULL) == 0.0 && bough_sim_get_counts(NULL).steps == 0 && bough_sim_where(NULL).body == -1);
  CHECK(bough_sim_state_size(NULL) == 0);
  int row = 0, piece = -1;
  const bough_rows no_rows = {0};
  REFUSED(bough_sim_record(NULL, &no_rows, 1, &row, &piece));
  CHECK(!bough_method_about(-1) && !bough_method_about(BOUGH_AUTO + 1));
  CHECK(strcmp(bough_method_about(BOUGH_RK4)->name, "rk4") == 0 && bough_method_about(BOUGH_RK4)->order == 4);
  CHECK(bough_method_about(BOUGH_DOPRI5)->stepping == BOUGH_STEP_ADAPTIVE);
  CHECK(strcmp(bough_method_about(BOUGH_ROSENBROCK2)->name, "rosenbrock2") == 0);
  for (int s = -1; s < 12; s++) CHECK(strlen(bough_status_text((bough_status)s)) > 3);
  OK(bough_model_create(block->words, block->size, &m));
  REFUSED(bough_data_create(m, 0, NULL));
  REFUSED(bough_data_create(m, 99, &d));
  REFUSED(bough_data_create(m, -1, &d));
  CHECK(bough_model_hinge(m, -1).nu == 0 && bough_model_hinge(m, 1000).nu == 0);
  bough_model_free(m);
}

/* each pointer argument of each call set to null in turn */
static void nulls(const bough_model *m, bough_data *d, const buffers *b, const bough_model *other) {
  double *q = b->q, *u = b->u, *t = b->tau, *out = b->udot, e[6];
  const bough_point at = {.q = q, .u = u, .tau = t}, no_q = {.u = u, .tau = t}, no_u = {.q = q, .tau = t};
  const bough_point known = {.q = q, .u = u, .tau = t, .udot = t};
  const bough_values v = {.udot = out}, force = {.force = out}, reaction = {.reaction = b->reaction};
  REFUSED(bough_evaluate(NULL, d, &at, 0, NULL, &v));
  REFUSED(bough_evaluate(other, d, &at, 0, NULL, &v));
  REFUSED(bough_evaluate(m, NULL, &at, 0, NULL, &v));
  REFUSED(bough_evaluate(m, d, NULL, 0, NULL, &v));
  REFUSED(bough_evaluate(m, d, &no_q, 0, NULL, &v));
  REFUSED(bough_evaluate(m, d, &no_u, 0, NULL, &v));
  REFUSED(bough_evaluate(m, d, &at, 0, NULL, NULL));
  REFUSED(bough_evaluate(m, d, &known, 0, NULL, &v)); /* accelerations that are given are not asked for */
  REFUSED(bough_evaluate(m, d, &known, 0, NULL, &force));
  REFUSED(bough_evaluate(m, d, &known, 0, NULL, &reaction));
  REFUSED(bough_evaluate_rows(m, d, -1, &at, 0, NULL, &v));
  REFUSED(bough_evaluate_rows(m, d, 1, &no_u, 0, NULL, &v));
  OK(bough_evaluate_rows(m, d, 0, &at, 0, NULL, &v));
  REFUSED(bough_forward_dynamics_batch(m, d, 1, q, u, t, out)); /* made without lanes for it */
  REFUSED(bough_forward_dynamics_batch(NULL, d, 1, q, u, t, out));
  REFUSED(bough_forward_composite(m, d, 1, q, u, t, NULL, NULL, NULL, out));
  REFUSED(bough_forward_composite(m, NULL, 1, q, u, t, NULL, NULL, b->work, out));
  REFUSED(bough_forward_composite(m, d, 1, q, u, t, NULL, NULL, b->work, NULL));
  REFUSED(bough_inverse_dynamics(m, d, 1, q, u, NULL, NULL, out));
  REFUSED(bough_inverse_dynamics(m, d, 1, q, u, t, NULL, NULL));
  REFUSED(bough_inverse_dynamics(other, d, 1, q, u, t, NULL, out));
  REFUSED(bough_mass_matrix(m, d, 1, NULL, b->M));
  REFUSED(bough_mass_matrix(m, d, 1, q, NULL));
  REFUSED(bough_mass_factors(m, d, 1, q, NULL, b->D));
  REFUSED(bough_mass_factors(m, d, 1, q, b->L, NULL));
  REFUSED(bough_mass_solve(m, d, 1, q, NULL, out));
  REFUSED(bough_mass_solve(NULL, d, 1, q, t, out));
  REFUSED(bough_stop_impulse(m, d, NULL, b->stop, out));
  REFUSED(bough_stop_impulse(m, d, q, NULL, out));
  REFUSED(bough_stop_impulse(m, d, q, b->stop, NULL));
  REFUSED(bough_forward_composite(m, d, -1, q, u, t, NULL, NULL, b->work, out));
  REFUSED(bough_forward_composite(m, d, 1, q, u, NULL, NULL, NULL, b->work, out));
  REFUSED(bough_inverse_dynamics(m, d, -1, q, u, t, NULL, out));
  REFUSED(bough_inverse_dynamics(m, d, 1, q, NULL, t, NULL, out));
  REFUSED(bough_mass_matrix(m, d, -1, q, b->M));
  REFUSED(bough_mass_factors(m, d, -1, q, b->L, b->D));
  REFUSED(bough_mass_solve(m, d, -1, q, t, out));
  REFUSED(bough_energy(m, d, -1, q, u, e, NULL));
  REFUSED(bough_energy(m, d, 1, NULL, u, e, NULL));
  REFUSED(bough_energy(m, d, 1, q, NULL, e, NULL));
  REFUSED(bough_energy(m, NULL, 1, q, u, e, NULL));
  REFUSED(bough_energy(other, d, 1, q, u, NULL, e));
}

static void nodes(const bough_model *m, bough_data *d, const buffers *b) {
  const int low = -1, high = b->nodes;
  const bough_point at = point(b);
  const bough_values pose = {.pose = b->pose};
  REFUSED(bough_evaluate(m, d, &at, 1, &low, &pose));
  REFUSED(bough_evaluate(m, d, &at, 1, &high, &pose));
  REFUSED(bough_evaluate(m, d, &at, -1, b->node, &pose));
  REFUSED(bough_evaluate(m, d, &at, 1, NULL, &pose));
  REFUSED(bough_evaluate_rows(m, d, 1, &at, 1, &high, &pose));
}

static void parameters(const bough_model *m, bough_data *d, const buffers *b) {
  const double com[3] = {0, 0, 0}, J[6] = {1, 1, 1, 0, 0, 0};
  REFUSED(bough_data_set(NULL, BOUGH_GRAVITY, com, 3));
  REFUSED(bough_data_set(d, BOUGH_GRAVITY, NULL, 3));
  REFUSED(bough_data_set(d, BOUGH_GRAVITY, com, 2));
  REFUSED(bough_data_set(d, (bough_parameter)-1, com, 3));
  REFUSED(bough_data_get(NULL, BOUGH_GRAVITY, b->back, 3));
  REFUSED(bough_data_get(d, BOUGH_GRAVITY, NULL, 3));
  REFUSED(bough_data_copy(NULL, d));
  REFUSED(bough_data_copy(d, NULL));
  REFUSED(bough_data_set_isa(d, 2));
  REFUSED(bough_data_set_isa(d, -1));
  REFUSED(bough_data_set_isa(NULL, 0));
  REFUSED(bough_data_set_rigid(NULL, 0, 1.0, com, J));
  REFUSED(bough_data_set_rigid(d, -1, 1.0, com, J));
  REFUSED(bough_data_set_rigid(d, b->nb, 1.0, com, J));
  REFUSED(bough_data_set_rigid(d, 0, 1.0, NULL, J));
  CHECK(bough_data_set_rigid(d, b->nb - 1, NAN, com, J) != BOUGH_OK);
  (void)m;
}

static void directional(const bough_model *m, bough_data *d, const buffers *b) {
  const bough_point at = {.q = b->q, .u = b->u, .tau = b->tau}, none = {0}, known = {.q = b->q, .u = b->u, .udot = b->tau};
  const bough_values dz = {.qdot = b->qdot, .udot = b->udot};
  bough_data *plain;
  REFUSED(bough_directional(m, d, NULL, &at, 0, NULL, &dz));
  REFUSED(bough_directional(m, d, &at, NULL, 0, NULL, &dz));
  REFUSED(bough_directional(m, d, &at, &at, 0, NULL, NULL));
  REFUSED(bough_directional(m, d, &none, &at, 0, NULL, &dz));
  REFUSED(bough_directional(m, d, &at, &at, -1, NULL, &dz));
  REFUSED(bough_directional(m, d, &known, &at, 0, NULL, &dz));
  REFUSED(bough_directional(m, d, &at, &known, 0, NULL, &dz));
  OK(bough_directional(m, d, &at, &none, 0, NULL, &dz));
  OK(bough_data_create(m, BOUGH_LANES_ONE, &plain));
  REFUSED(bough_directional(m, plain, &at, &at, 0, NULL, &dz)); /* made without lanes for it */
  REFUSED(bough_inverse_directional(m, plain, &known, &at, b->udot));
  REFUSED(bough_inverse_directional(m, d, NULL, &at, b->udot));
  REFUSED(bough_inverse_directional(m, d, &none, &at, b->udot));
  REFUSED(bough_inverse_directional(m, d, &known, NULL, b->udot));
  REFUSED(bough_inverse_directional(m, d, &known, &at, NULL));
  OK(bough_inverse_directional(m, d, &known, &none, b->udot));
  bough_data_free(plain);
}

/* a saved run whose clock no run can have had: every word of it in turn set to nonsense is refused or harmless */
static void clocks(bough_sim *sim, size_t size) {
  double nonsense[] = {NAN, INFINITY, -INFINITY, -1e300, 1e300};
  unsigned char *state = malloc(size), *bent = malloc(size);
  CHECK(state && bent);
  OK(bough_sim_save(sim, state, size));
  int refused = 0;
  for (size_t word = 0; word < 16; word++)
    for (size_t i = 0; i < sizeof nonsense / sizeof *nonsense; i++) {
      memcpy(bent, state, size);
      memcpy(bent + 8 * word, nonsense + i, 8);
      refused += bough_sim_restore(sim, bent, size) == BOUGH_BAD_ARGUMENT;
    }
  CHECK(refused >= 40);
  OK(bough_sim_restore(sim, state, size));
  free(state), free(bent);
}

static void runs(const bough_model *m, bough_data *d, const buffers *b) {
  static const bough_sim_options wrong[] = {{-1, 1e-6, 1e-8, 0, 0, 0},     {BOUGH_AUTO + 1, 1e-6, 1e-8, 0, 0, 0},
                                            {BOUGH_RK4, 0, 0, 0, 0, 0},    {BOUGH_RK4, 0, 0, -1, 0, 0},
                                            {BOUGH_DOPRI5, 0, 0, 0, 0, 0}, {BOUGH_DOPRI5, -1, 1, 0, 0, 0},
                                            {BOUGH_DOPRI5, NAN, 1, 0, 0, 0}, {BOUGH_DOPRI5, 1e-6, 1e-8, 0, -1, 0},
                                            {BOUGH_ROSENBROCK2, 0, 0, INFINITY, 0, 0}};
  const bough_sim_options good = {BOUGH_DOPRI5, 1e-6, 1e-8, 0, 0, 0};
  bough_sim *sim = NULL;
  for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) REFUSED(bough_sim_create(m, d, wrong + i, &sim));
  REFUSED(bough_sim_create(NULL, d, &good, &sim));
  REFUSED(bough_sim_create(m, NULL, &good, &sim));
  REFUSED(bough_sim_create(m, d, NULL, &sim));
  REFUSED(bough_sim_create(m, d, &good, NULL));
  OK(bough_sim_create(m, d, &good, &sim));
  const size_t size = bough_sim_state_size(sim);
  char state[8];
  REFUSED(bough_sim_start(NULL, 0.0, b->q, b->u));
  REFUSED(bough_sim_start(sim, NAN, b->q, b->u));
  REFUSED(bough_sim_start(sim, 0.0, NULL, b->u));
  REFUSED(bough_sim_set(sim, NULL, b->u));
  REFUSED(bough_sim_save(sim, NULL, size));
  REFUSED(bough_sim_save(sim, state, sizeof state));
  REFUSED(bough_sim_restore(sim, NULL, size));
  REFUSED(bough_sim_restore(sim, state, sizeof state));
  REFUSED(bough_sim_set_inputs(NULL, 0.0, 0, b->tau));
  REFUSED(bough_sim_set_inputs(sim, 0.0, 0, NULL));
  REFUSED(bough_sim_set_inputs(sim, NAN, 0, b->tau));
  REFUSED(bough_sim_set_inputs(sim, 0.0, -1, b->tau));
  REFUSED(bough_sim_set_inputs(sim, 0.0, BOUGH_INPUT_ORDERS + 1, b->tau));
  REFUSED(bough_sim_excursion(NULL, b->tau, b->tau));
  REFUSED(bough_sim_excursion(sim, NULL, b->tau));
  REFUSED(bough_sim_excursion(sim, b->tau, NULL));
  clocks(sim, size);
  const double q0 = b->q[0];
  b->q[0] = NAN;
  CHECK(bough_sim_start(sim, 0.0, b->q, b->u) == BOUGH_NOT_FINITE);
  b->q[0] = q0;
  OK(bough_sim_start(sim, 1.0, b->q, b->u));
  REFUSED(bough_sim_advance(sim, 0.5, 0, NULL, NULL, b->q_end, b->u_end)); /* back in time */
  REFUSED(bough_sim_advance(sim, NAN, 0, NULL, NULL, b->q_end, b->u_end));
  REFUSED(bough_sim_advance(NULL, 2.0, 0, NULL, NULL, b->q_end, b->u_end));
  REFUSED(bough_sim_advance(sim, 2.0, 0, NULL, NULL, NULL, b->u_end));
  REFUSED(bough_sim_step(NULL, 2.0, NULL, NULL, b->q_end, b->u_end));
  REFUSED(bough_sim_step(sim, 2.0, NULL, NULL, NULL, b->u_end));
  OK(bough_sim_advance(sim, 1.0, 0, NULL, NULL, b->q_end, b->u_end)); /* no way to go */
  bough_sim_free(sim);
}

/* a body without inertia, and numbers that are not: named by the body, and nothing left behind */
static void no_inertia(const bough_model *m, bough_data *d, const buffers *b) {
  double zero[640] = {0}, old[640];
  const bough_point at = {.t = 3.0, .q = b->q, .u = b->u, .tau = b->tau};
  const bough_values udot = {.udot = b->udot};
  CHECK(10 * b->nb <= 640);
  OK(bough_data_get(d, BOUGH_INERTIA, old, 10 * b->nb));
  OK(bough_data_set(d, BOUGH_INERTIA, zero, 10 * b->nb));
  OK(bough_data_set(d, BOUGH_ARMATURE, zero, b->nu));
  CHECK(bough_evaluate(m, d, &at, 0, NULL, &udot) == BOUGH_SINGULAR);
  CHECK(bough_data_where(d).body >= 0 && bough_data_where(d).body < b->nb && bough_data_where(d).time == 3.0);
  CHECK(bough_mass_solve(m, d, 1, b->q, b->tau, b->udot) == BOUGH_SINGULAR);
  CHECK(bough_mass_factors(m, d, 1, b->q, b->L, b->D) == BOUGH_SINGULAR);
  CHECK(bough_forward_composite(m, d, 1, b->q, b->u, b->tau, NULL, NULL, b->work, b->udot) == BOUGH_SINGULAR);
  OK(bough_data_set(d, BOUGH_INERTIA, old, 10 * b->nb));
  OK(bough_evaluate(m, d, &at, 0, NULL, &udot));
  const double u0 = b->u[0];
  b->u[0] = NAN;
  CHECK(bough_evaluate(m, d, &at, 0, NULL, &udot) == BOUGH_NOT_FINITE);
  CHECK(bough_inverse_dynamics(m, d, 1, b->q, b->u, b->tau, NULL, b->back) == BOUGH_NOT_FINITE);
  b->u[0] = u0;
  OK(bough_evaluate(m, d, &at, 0, NULL, &udot));
}

/* a tree has no loops: nothing to close, and null is refused */
static void loops(const bough_model *m, bough_data *d, const buffers *b) {
  int rank = 7, turns = 0;
  REFUSED(bough_residuals(NULL, d, b->q, b->u, NULL, NULL, NULL, NULL));
  REFUSED(bough_residuals(m, d, NULL, b->u, NULL, NULL, NULL, NULL));
  REFUSED(bough_rate_directional(NULL, d, b->q, b->u, b->q, b->u));
  REFUSED(bough_rate_directional(m, d, b->q, b->u, NULL, b->u));
  REFUSED(bough_freedom(m, NULL, b->q, &rank, NULL));
  REFUSED(bough_freedom(m, d, b->q, NULL, NULL));
  REFUSED(bough_project(m, d, NULL, b->u));
  OK(bough_residuals(m, d, b->q, b->u, NULL, NULL, NULL, NULL));
  OK(bough_freedom(m, d, b->q, &rank, NULL));
  OK(bough_project(m, d, b->q, b->u));
  CHECK(rank == 0 && bough_model_sizes(m).rows == 0 && bough_row_owner(m, 0, &turns) == -1);
}

int main(void) {
  for (int i = 0; i < BLOCKS; i++) {
    bough_model *m, *other;
    bough_data *d;
    buffers b;
    objects(blocks + i);
    OK(bough_model_create(blocks[i].words, blocks[i].size, &m));
    OK(bough_model_create(blocks[i].words, blocks[i].size, &other));
    OK(bough_data_create(m, BOUGH_LANES_TANGENT, &d));
    buffers_make(&b, m);
    nulls(m, d, &b, other);
    nodes(m, d, &b);
    parameters(m, d, &b);
    directional(m, d, &b);
    runs(m, d, &b);
    loops(m, d, &b);
    if (strcmp(blocks[i].name, "rigid") == 0) no_inertia(m, d, &b);
    buffers_free(&b);
    bough_data_free(d);
    bough_model_free(other);
    bough_model_free(m);
  }
  return 0;
}
