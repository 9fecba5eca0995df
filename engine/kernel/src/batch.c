/* batch.c - the same call for many states, stored one after the other: the loop in C. Stops at the first state that
 * fails; what comes before it is done. (Forward dynamics has its own loop, four states at a time: dynamics.c.) */
#include "internal.h"

static const double *row(const double *rows, int i, int n) { return rows + (size_t)i * (size_t)n; }

bough_status bough_inverse_dynamics_batch(const bough_model *m, bough_data *d, int count, const double *q,
                                          const double *u, const double *udot, const double *loads, double *tau) {
  bough_status status = m && d && count >= 0 ? BOUGH_OK : BOUGH_BAD_ARGUMENT;
  for (int i = 0; status == BOUGH_OK && i < count; i++)
    status = bough_inverse_dynamics(m, d, row(q, i, m->nq), row(u, i, m->nu), row(udot, i, m->nu), loads,
                                    tau + (size_t)i * (size_t)m->nu);
  return status;
}

bough_status bough_forward_composite_batch(const bough_model *m, bough_data *d, int count, const double *q,
                                           const double *u, const double *tau, const double *motion,
                                           const double *loads, double *work, double *udot) {
  bough_status status = m && d && count >= 0 ? BOUGH_OK : BOUGH_BAD_ARGUMENT;
  for (int i = 0; status == BOUGH_OK && i < count; i++)
    status = bough_forward_composite(m, d, row(q, i, m->nq), row(u, i, m->nu), row(tau, i, m->nu),
                                     motion ? row(motion, i, m->nu) : NULL, loads, work,
                                     udot + (size_t)i * (size_t)m->nu);
  return status;
}

bough_status bough_forward_dynamics_rows(const bough_model *m, bough_data *d, int count, const double *q,
                                         const double *u, const double *tau, const double *motion, const double *loads,
                                         double *udot) {
  bough_status status = m && d && count >= 0 ? BOUGH_OK : BOUGH_BAD_ARGUMENT;
  for (int i = 0; status == BOUGH_OK && i < count; i++)
    status = bough_forward_dynamics(m, d, row(q, i, m->nq), row(u, i, m->nu), row(tau, i, m->nu),
                                    motion ? row(motion, i, m->nu) : NULL, loads, udot + (size_t)i * (size_t)m->nu,
                                    NULL, NULL);
  return status;
}

bough_status bough_mass_matrix_batch(const bough_model *m, bough_data *d, int count, const double *q, double *M) {
  bough_status status = m && d && count >= 0 ? BOUGH_OK : BOUGH_BAD_ARGUMENT;
  for (int i = 0; status == BOUGH_OK && i < count; i++)
    status = bough_mass_matrix(m, d, row(q, i, m->nq), M + (size_t)i * (size_t)m->nu * (size_t)m->nu);
  return status;
}

bough_status bough_mass_factors_batch(const bough_model *m, bough_data *d, int count, const double *q, double *L,
                                      double *D) {
  bough_status status = m && d && count >= 0 ? BOUGH_OK : BOUGH_BAD_ARGUMENT;
  for (int i = 0; status == BOUGH_OK && i < count; i++) {
    const size_t at = (size_t)i * (size_t)m->nu * (size_t)m->nu;
    status = bough_mass_factors(m, d, row(q, i, m->nq), L + at, D + at);
  }
  return status;
}

bough_status bough_mass_solve_batch(const bough_model *m, bough_data *d, int count, const double *q, const double *y,
                                    double *x) {
  bough_status status = m && d && count >= 0 ? BOUGH_OK : BOUGH_BAD_ARGUMENT;
  for (int i = 0; status == BOUGH_OK && i < count; i++)
    status = bough_mass_solve(m, d, row(q, i, m->nq), row(y, i, m->nu), x + (size_t)i * (size_t)m->nu);
  return status;
}

bough_status bough_node_pose_batch(const bough_model *m, bough_data *d, int count, const double *q, int node,
                                   double *pose) {
  bough_status status = m && d && count >= 0 ? BOUGH_OK : BOUGH_BAD_ARGUMENT;
  for (int i = 0; status == BOUGH_OK && i < count; i++)
    status = bough_node_pose(m, d, row(q, i, m->nq), node, pose + 7 * (size_t)i, pose + 7 * (size_t)i + 3);
  return status;
}

bough_status bough_energy_batch(const bough_model *m, bough_data *d, int count, const double *q, const double *u,
                                double *energy) {
  bough_status status = m && d && count >= 0 ? BOUGH_OK : BOUGH_BAD_ARGUMENT;
  for (int i = 0; status == BOUGH_OK && i < count; i++)
    status = bough_energy(m, d, row(q, i, m->nq), row(u, i, m->nu), energy + 4 * (size_t)i);
  return status;
}
