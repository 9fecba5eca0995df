/* evaluate.c - every call on every block, with either CPU build; identities between them; no allocation in between.
 *
 * Linked with -DCOUNT_ALLOCATIONS and the linker's --wrap, malloc and its family are counted: the calls between
 * creation and release of the objects must not allocate at all. */
#include "blocks.h"
#include "check.h"

static long allocations = 0;
#ifdef COUNT_ALLOCATIONS
void *__real_malloc(size_t size);
void *__real_calloc(size_t count, size_t size);
void *__real_realloc(void *p, size_t size);
void __real_free(void *p);
void *__wrap_malloc(size_t size) { return allocations++, __real_malloc(size); }
void *__wrap_calloc(size_t count, size_t size) { return allocations++, __real_calloc(count, size); }
void *__wrap_realloc(void *p, size_t size) { return allocations++, __real_realloc(p, size); }
void __wrap_free(void *p) { allocations++, __real_free(p); }
#endif

/* 1e-9: some hundred roundings, times condition numbers of up to 1e4 */
static const double TOLERANCE = 1e-9;

/* largest |a - b| over 1 + largest |b| */
static double distance(const double *a, const double *b, int n) {
  double most = 0.0, size = 1.0;
  for (int i = 0; i < n; i++) {
    const double d = fabs(a[i] - b[i]);
    if (!(d <= most)) most = d; /* NaN stays */
    if (fabs(b[i]) > size) size = fabs(b[i]);
  }
  return most / size;
}

static void dynamics(const bough_model *m, bough_data *d, const buffers *b) {
  const int nu = b->nu;
  const double *loads = b->loads ? b->load : NULL;
  const bough_point at = point(b), rows = {.q = b->batch_q, .u = b->batch_u, .tau = b->batch_tau};
  const bough_values all = {.udot = b->udot, .force = b->force, .reaction = b->reaction};
  const bough_values one = {.udot = b->udot}, many = {.udot = b->batch_out};
  OK(bough_evaluate(m, d, &at, 0, NULL, &all));
  OK(bough_inverse_dynamics(m, d, 1, b->q, b->u, b->udot, loads, b->back));
  CHECK(distance(b->back, b->force, nu) < TOLERANCE);
  OK(bough_forward_composite(m, d, 1, b->q, b->u, b->tau, b->motion, loads, b->work, b->back));
  CHECK(distance(b->back, b->udot, nu) < TOLERANCE);
  OK(bough_forward_dynamics_batch(m, d, BATCH, b->batch_q, b->batch_u, b->batch_tau, b->batch_udot));
  const bough_point free = {.q = b->q, .u = b->u, .tau = b->tau};
  OK(bough_evaluate(m, d, &free, 0, NULL, &one));
  CHECK(distance(b->batch_udot, b->udot, nu) < TOLERANCE);
  OK(bough_forward_dynamics_batch(m, d, 0, NULL, NULL, NULL, NULL));
  OK(bough_evaluate_rows(m, d, BATCH, &rows, 0, NULL, &many));
  CHECK(distance(b->batch_out, b->batch_udot, BATCH * nu) < TOLERANCE);
  OK(bough_forward_composite(m, d, BATCH, b->batch_q, b->batch_u, b->batch_tau, NULL, NULL, b->work, b->batch_out));
  CHECK(distance(b->batch_out, b->batch_udot, BATCH * nu) < TOLERANCE);
  OK(bough_inverse_dynamics(m, d, BATCH, b->batch_q, b->batch_u, b->batch_udot, NULL, b->batch_out));
  OK(bough_inverse_dynamics(m, d, 1, b->q, b->u, b->batch_udot, NULL, b->back));
  CHECK(distance(b->batch_out, b->back, nu) < TOLERANCE);
}

static void inertia(const bough_model *m, bough_data *d, const buffers *b) {
  const int nu = b->nu;
  OK(bough_mass_matrix(m, d, 1, b->q, b->M));
  OK(bough_mass_factors(m, d, 1, b->q, b->L, b->D));
  for (int i = 0; i < nu; i++)
    for (int j = 0; j < nu; j++) {
      double v = 0.0;
      for (int p = 0; p < nu; p++)
        for (int r = 0; r < nu; r++) v += b->L[i * nu + p] * b->D[p * nu + r] * b->L[j * nu + r];
      CHECK(fabs(v - b->M[i * nu + j]) < TOLERANCE * (1.0 + fabs(v)));
    }
  double kinetic = 0.0, energy[4], momentum[6], many[6 * BATCH];
  for (int i = 0; i < nu; i++) {
    b->back[i] = 0.0;
    for (int j = 0; j < nu; j++) b->back[i] += b->M[i * nu + j] * b->u[j];
    kinetic += 0.5 * b->u[i] * b->back[i];
  }
  OK(bough_mass_solve(m, d, 1, b->q, b->back, b->udot));
  CHECK(distance(b->udot, b->u, nu) < TOLERANCE);
  OK(bough_energy(m, d, 1, b->q, b->u, energy, momentum));
  CHECK(fabs(energy[0] - kinetic) < TOLERANCE * (1.0 + kinetic));
  OK(bough_energy(m, d, BATCH, b->batch_q, b->batch_u, NULL, many)); /* every row is the state of `energy` */
  for (int i = 0; i < BATCH; i++) CHECK(memcmp(many + 6 * i, momentum, sizeof momentum) == 0);
  OK(bough_energy(m, d, BATCH, b->batch_q, b->batch_u, many, NULL));
  for (int i = 0; i < BATCH; i++) CHECK(memcmp(many + 4 * i, energy, sizeof energy) == 0);
  for (int i = 0; i < BATCH; i++) memcpy(b->batch_tau + i * nu, b->back, sizeof(double) * (size_t)nu);
  OK(bough_mass_solve(m, d, BATCH, b->batch_q, b->batch_tau, b->batch_out));
  for (int i = 0; i < BATCH; i++) CHECK(memcmp(b->batch_out + i * nu, b->udot, sizeof(double) * (size_t)nu) == 0);
  memcpy(b->back, b->u, sizeof(double) * (size_t)nu);
  OK(bough_stop_impulse(m, d, b->q, b->stop, b->back)); /* nothing to stop */
  CHECK(distance(b->back, b->u, nu) < TOLERANCE);
}

static void kinematics(const bough_model *m, bough_data *d, const buffers *b) {
  const bough_point at = {.q = b->q, .u = b->u, .udot = b->udot}, rows = {.q = b->batch_q, .u = b->batch_u};
  const bough_values motion = {.qdot = b->qdot, .pose = b->pose, .velocity = b->velocity, .acceleration = b->acceleration};
  OK(bough_evaluate(m, d, &at, b->nodes, b->node, &motion));
  for (int j = 0; j < b->nodes; j++) { /* each alone, and of each only one value */
    double pose[7 * BATCH], velocity[6], acceleration[6];
    const bough_values only[] = {{.pose = pose}, {.velocity = velocity}, {.acceleration = acceleration}};
    for (int i = 0; i < 3; i++) OK(bough_evaluate(m, d, &at, 1, &j, only + i));
    CHECK(memcmp(pose, b->pose + 7 * j, sizeof(double) * 7) == 0);
    CHECK(memcmp(velocity, b->velocity + 6 * j, sizeof velocity) == 0);
    CHECK(memcmp(acceleration, b->acceleration + 6 * j, sizeof acceleration) == 0);
    OK(bough_evaluate_rows(m, d, BATCH, &rows, 1, &j, only));
    for (int i = 0; i < BATCH; i++) CHECK(memcmp(pose + 7 * i, b->pose + 7 * j, sizeof(double) * 7) == 0);
  }
  const bough_values none = {0};
  OK(bough_evaluate(m, d, &at, 0, NULL, &motion));
  OK(bough_evaluate(m, d, &at, 0, NULL, &none));
  memcpy(b->q_end, b->q, sizeof(double) * (size_t)b->nq);
  bough_normalize(m, b->q_end);
  CHECK(distance(b->q_end, b->q, b->nq) < TOLERANCE);
}

/* whatever is asked for together or alone, with udot found or given, and in rows: the same bits */
static void one_seam(const bough_model *m, bough_data *d, const buffers *b) {
  const size_t nu = sizeof(double) * (size_t)b->nu, nr = sizeof(double) * 6 * (size_t)b->nb;
  const size_t nn = sizeof(double) * 6 * (size_t)b->nodes;
  bough_point at = point(b);
  const bough_values all = {b->qdot, b->udot, b->force, b->reaction, b->pose, b->velocity, b->acceleration};
  OK(bough_evaluate(m, d, &at, b->nodes, b->node, &all));
  double *alone = b->spare;
  const struct {
    bough_values v;
    const double *expected;
    size_t bytes;
  } cases[] = {{{.udot = alone}, b->udot, nu},
               {{.force = alone}, b->force, nu},
               {{.reaction = alone}, b->reaction, nr},
               {{.acceleration = alone}, b->acceleration, nn},
               {{.velocity = alone}, b->velocity, nn}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    OK(bough_evaluate(m, d, &at, b->nodes, b->node, &cases[i].v));
    CHECK(memcmp(alone, cases[i].expected, cases[i].bytes) == 0);
    OK(bough_evaluate_rows(m, d, 1, &at, b->nodes, b->node, &cases[i].v));
    CHECK(memcmp(alone, cases[i].expected, cases[i].bytes) == 0);
  }
  at.udot = b->udot;
  const bough_values again = {.acceleration = alone};
  OK(bough_evaluate(m, d, &at, b->nodes, b->node, &again));
  CHECK(memcmp(alone, b->acceleration, nn) == 0);
}

/* along q by qdot, u and tau: against a central difference, whose truncation and rounding leave 1e-6 */
static void derivatives(const bough_model *m, bough_data *d, const buffers *b) {
  const int nu = b->nu, nq = b->nq;
  const double h = 1e-5;
  const bough_point at = point(b), direction = {.q = b->qdot, .u = b->u, .tau = b->motion};
  const bough_values rates = {.qdot = b->qdot};
  OK(bough_evaluate(m, d, &at, 0, NULL, &rates));
  const bough_values dz = {b->q_end, b->udot, b->force, b->reaction, b->pose, b->velocity, b->acceleration};
  OK(bough_directional(m, d, &at, &direction, b->nodes, b->node, &dz));
  double *q = b->batch_q, *u = b->batch_u, *tau = b->batch_tau, *side = b->batch_udot;
  for (int s = 0; s < 2; s++) {
    const double step = s ? -h : h;
    for (int i = 0; i < nq; i++) q[i] = b->q[i] + step * b->qdot[i];
    for (int i = 0; i < nu; i++) u[i] = b->u[i] + step * b->u[i], tau[i] = b->tau[i] + step * b->motion[i];
    const bough_point beside = {.q = q, .u = u, .tau = tau, .motion = b->motion, .loads = b->load};
    const bough_values values = {.udot = side + s * nu};
    OK(bough_evaluate(m, d, &beside, 0, NULL, &values));
  }
  for (int i = 0; i < nu; i++) side[i] = (side[i] - side[nu + i]) / (2.0 * h);
  CHECK(distance(side, b->udot, nu) < 1e-6);
}

/* far beyond all limits of the modes: every body and kind is told once, in words */
/* what is at rest sticks or moves on, and says the same once it remembers */
static void drives(const bough_model *m, bough_data *d, const buffers *b) {
  static double z[256], q[256], u[256];
  const bough_sizes n = bough_model_sizes(m);
  int changed = -1;
  CHECK(n.indicators <= 256 && b->nq <= 256 && b->nu <= 256);
  for (int i = 0; i < b->nq; i++) q[i] = b->q[i];
  for (int i = 0; i < b->nu; i++) u[i] = i % 2 ? 0.0 : b->u[i];
  const bough_point at = {.q = q, .u = u, .tau = b->tau};
  const bough_values first = {.udot = b->udot}, second = {.udot = b->back};
  OK(bough_evaluate(m, d, &at, 0, NULL, &first));
  OK(bough_data_remember(d, 1));
  OK(bough_settle(m, d, &at, q, u, 1, &changed));
  OK(bough_evaluate(m, d, &at, 0, NULL, &second));
  CHECK(distance(b->back, b->udot, b->nu) < TOLERANCE);
  OK(bough_indicators(m, d, &at, z));
  for (int i = 0; i < n.indicators; i++) CHECK(z[i] >= 0.0);
  OK(bough_settle(m, d, &at, q, u, 0, &changed));
  CHECK(changed == 0);
  OK(bough_data_remember(d, 0));
}

static void limits(const bough_model *m, bough_data *d, const buffers *b) {
  bough_warning w;
  char text[1024];
  int count = 0;
  for (int i = 0; i < b->nq; i++) b->q_end[i] = 1e3 * b->q[i];
  for (int i = 0; i < b->nu; i++) b->u_end[i] = 1e6 * b->u[i];
  for (int i = 0; i < 6 * b->nb; i++) b->reaction[i] = 1e12;
  bough_normalize(m, b->q_end);
  for (int twice = 0; twice < 2; twice++) {
    OK(bough_data_watch(m, d, 0.5, b->q_end, b->u_end, b->reaction));
    for (; bough_data_warning(d, &w); count++) {
      CHECK(twice == 0 && w.body >= 0 && w.body < b->nb && w.kind >= 0 && w.kind < BOUGH_WARN_KINDS);
      bough_warning_text(&w, "this", text, sizeof text);
      CHECK(strstr(text, "body 'this'") == text && strstr(text, " Cure: ") && strlen(text) < sizeof text - 1);
      bough_warning_text(&w, "this", text, 8);
      CHECK(strlen(text) == 7);
    }
  }
  CHECK(count <= BOUGH_WARN_KINDS * b->nb);
  OK(bough_data_watch(m, d, 0.5, NULL, NULL, NULL));
}

static void parameters(bough_data *d, const buffers *b) {
  double values[64 * 10];
  for (int which = BOUGH_GRAVITY; which <= BOUGH_MODAL_DAMPING_SCALE; which++) {
    const int count = which == BOUGH_GRAVITY ? 3 : which == BOUGH_INERTIA ? 10 * b->nb :
                      which == BOUGH_MODAL_DAMPING_SCALE ? b->nb : b->nu;
    CHECK(count <= 640);
    OK(bough_data_get(d, (bough_parameter)which, values, count));
    OK(bough_data_set(d, (bough_parameter)which, values, count));
    CHECK(bough_data_get(d, (bough_parameter)which, values, count + 1) == BOUGH_BAD_ARGUMENT);
    values[0] = NAN;
    CHECK(bough_data_set(d, (bough_parameter)which, values, count) == BOUGH_NOT_FINITE);
  }
  CHECK(bough_data_get(d, (bough_parameter)99, values, b->nu) == BOUGH_BAD_ARGUMENT);
}

static int push(void *user, double t, const double *q, const double *u, double *tau, double *motion,
                double *loads) {
  const buffers *b = user;
  (void)q, (void)u;
  for (int i = 0; i < b->nu; i++) tau[i] = b->tau[i] * cos(t), motion[i] = 0.1 * t;
  for (int i = 0; i < 6 * b->loads; i++) loads[i] = b->load[i];
  return 0;
}
static int refuse(void *user, double t, const double *q, const double *u, double *tau, double *motion,
                  double *loads) {
  (void)user, (void)q, (void)u, (void)tau, (void)motion, (void)loads;
  return t > 0.35;
}

/* a run, saved on the way, restored and run again: the same bits */
static void run(bough_sim *sim, const buffers *b, void *state, size_t size) {
  bough_sim_set_stop(sim, 0.1);
  OK(bough_sim_start(sim, 0.0, b->q, b->u));
  for (int i = 1; i <= 10; i++) {
    OK(bough_sim_advance(sim, 0.01 * i, i % 3 == 0, push, (void *)b, b->q_end, b->u_end));
    if (i == 5) OK(bough_sim_save(sim, state, size));
  }
  memcpy(b->back, b->u_end, sizeof(double) * (size_t)b->nu);
  OK(bough_sim_restore(sim, state, size));
  for (int i = 6; i <= 10; i++) OK(bough_sim_advance(sim, 0.01 * i, i % 3 == 0, push, (void *)b, b->q_end, b->u_end));
  CHECK(memcmp(b->back, b->u_end, sizeof(double) * (size_t)b->nu) == 0);
  CHECK(bough_sim_time(sim) == 0.1); /* no step beyond the end */
  bough_sim_disturb(sim);
  OK(bough_sim_step(sim, 1.0, push, (void *)b, b->q_end, b->u_end));
  OK(bough_sim_set(sim, b->q, b->u));
  OK(bough_sim_advance(sim, bough_sim_time(sim) + 0.02, 1, NULL, NULL, b->q_end, b->u_end));
  CHECK(bough_sim_get_counts(sim).evaluations > 0 && bough_sim_get_counts(sim).steps > 0);
  OK(bough_sim_start(sim, 0.0, b->q, b->u));
  CHECK(bough_sim_advance(sim, 1.0, 0, refuse, NULL, b->q_end, b->u_end) == BOUGH_STOPPED);
  CHECK(bough_sim_where(sim).time > 0.35 && bough_sim_events(sim) >= 0);
}

/* the same force by a function and as polynomial: the same motion; a run that pauses after every attempt: the same bits */
static int ramp(void *user, double t, const double *q, const double *u, double *tau, double *motion, double *loads) {
  const buffers *b = user;
  (void)q, (void)u, (void)motion, (void)loads;
  for (int i = 0; i < b->nu; i++) tau[i] = b->tau[i] + t * b->motion[i];
  return 0;
}

static void inputs_and_pauses(const bough_model *m, bough_data *d, const bough_sim_options *options, const buffers *b) {
  const int nu = b->nu, n = 2 * nu + 6 * b->loads;
  double *values = calloc(2 * (size_t)n + 1, sizeof(double)), *end = calloc((size_t)(b->nq + nu), sizeof(double));
  double *moved = calloc((size_t)(b->nq + nu), sizeof(double)), *floor = calloc((size_t)(b->nq + nu), sizeof(double));
  CHECK(values && end && moved && floor);
  memcpy(values, b->tau, sizeof(double) * (size_t)nu);
  memcpy(values + n, b->motion, sizeof(double) * (size_t)nu);
  for (int way = 0; way < 3; way++) {
    bough_sim *sim;
    bough_sim_options own = *options;
    own.pause = way == 2 ? 1 : 0;
    OK(bough_sim_create(m, d, &own, &sim));
    OK(bough_sim_start(sim, 0.0, b->q, b->u));
    if (way) OK(bough_sim_set_inputs(sim, 0.0, 1, values));
    bough_status status = BOUGH_PAUSED;
    long calls = 0;
    for (; status == BOUGH_PAUSED; calls++)
      status = bough_sim_advance(sim, 0.01, 1, way ? NULL : ramp, way ? NULL : (void *)b, b->q_end, b->u_end);
    OK(status);
    const bough_sim_counts counts = bough_sim_get_counts(sim);
    CHECK(way < 2 ? calls == 1 : calls >= (long)(counts.steps + counts.rejected));
    if (way == 1) CHECK(distance(b->q_end, end, b->nq) < TOLERANCE && distance(b->u_end, end + b->nq, nu) < 1e-6);
    if (way == 2) CHECK(memcmp(end, b->q_end, sizeof(double) * (size_t)b->nq) == 0);
    if (way == 2) CHECK(memcmp(end + b->nq, b->u_end, sizeof(double) * (size_t)nu) == 0);
    memcpy(end, b->q_end, sizeof(double) * (size_t)b->nq);
    memcpy(end + b->nq, b->u_end, sizeof(double) * (size_t)nu);
    OK(bough_sim_excursion(sim, moved, floor));
    for (int i = 0; i < b->nq; i++) CHECK(moved[i] >= 0.0 && floor[i] >= 0.0);
    bough_sim_free(sim);
  }
  free(values), free(end), free(moved), free(floor);
}

static void simulations(const bough_model *m, bough_data *d, const buffers *b) {
  static const bough_sim_options options[] = {{BOUGH_RK4, 0, 0, 2e-3, 0, 0},
                                              {BOUGH_DOPRI5, 1e-6, 1e-8, 0, 0, 0},
                                              {BOUGH_DOPRI5, 1e-6, 1e-8, 1e-3, 5e-3, 0},
                                              {BOUGH_ROSENBROCK2, 1e-4, 1e-6, 2e-3, 0, 0},
                                              {BOUGH_ROSENBROCK2, 1e-3, 1e-5, 0, 0, 0},
                                              {BOUGH_DOPRI5, 1e-6, 0, 0, 0, 0},
                                              {BOUGH_ROSENBROCK2, 1e-3, 0, 0, 0, 0}};
  for (size_t i = 0; i < sizeof options / sizeof options[0]; i++) {
    bough_sim *sim;
    OK(bough_sim_create(m, d, options + i, &sim));
    const size_t size = bough_sim_state_size(sim);
    void *state = malloc(size);
    CHECK(state != NULL);
    const long before = allocations;
    run(sim, b, state, size);
    CHECK(allocations == before);
    free(state);
    bough_sim_free(sim);
    inputs_and_pauses(m, d, options + i, b);
  }
}

static void evaluate(const test_block *block, int isa) {
  bough_model *m;
  bough_data *d;
  buffers b;
  OK(bough_model_create(block->words, block->size, &m));
  OK(bough_data_create(m, BOUGH_LANES_BATCH | BOUGH_LANES_TANGENT, &d));
  CHECK(bough_model_sizes(m).memory > 0 && bough_data_memory(d) > 0);
  buffers_make(&b, m);
  if (bough_data_set_isa(d, isa) == BOUGH_OK) { /* the machine may not have it */
    CHECK(bough_data_isa(d) == isa);
    const long before = allocations;
    dynamics(m, d, &b);
    inertia(m, d, &b);
    drives(m, d, &b);
    kinematics(m, d, &b);
    one_seam(m, d, &b);
    derivatives(m, d, &b);
    limits(m, d, &b);
    parameters(d, &b);
    CHECK(allocations == before);
    simulations(m, d, &b);
  }
  for (int k = 0; k < b.nb; k++) CHECK(bough_model_hinge(m, k).u0 + bough_model_hinge(m, k).nu <= b.nu);
  if (strcmp(block->name, "rigid") == 0) {
    const double com[3] = {0.1, 0.0, 0.2}, J[6] = {1, 1, 1, 0, 0, 0};
    OK(bough_data_set_rigid(d, b.nb - 1, 2.0, com, J));
  }
  buffers_free(&b);
  bough_data_free(d);
  bough_model_free(m);
}

int main(void) {
  for (int i = 0; i < BLOCKS; i++)
    for (int isa = 0; isa < 2; isa++) evaluate(blocks + i, isa);
#ifdef COUNT_ALLOCATIONS
  CHECK(allocations > 0); /* the wrappers are there */
#endif
  return 0;
}
