/* dynamics.c - inverse dynamics, and forward dynamics of four states at a time: the public calls around the sweeps. */
#include "elements/drives.h"
#include "internal.h"

bough_status bough_inverse_bare(bough_data *d, const double *q, const double *u, const double *udot, const double *loads,
                                double *tau) {
  const bough_model *m = d->model;
  bough_sweep s = bough_data_sweep(d);
  s.path = d->path_general;
  bough_other_ops_one_base.inverse(&s, d->work_one, q, u, udot, m->n_loads > 0 ? loads : NULL, tau);
  if (m->acting) {
    const bough_point at = {.q = q, .u = u, .loads = loads};
    bough_elements_at(d, &at, NULL, NULL);
    const double *acting = bough_other_ops_one_base.element_view(d->elements).tau;
    for (int i = 0; i < m->nu; i++) tau[i] -= acting[i];
  }
  for (int i = 0; i < m->nu; i++)
    if (!bough_finite(tau[i])) {
      d->where.body = bough_body_of_speed(m, i);
      return BOUGH_NOT_FINITE;
    }
  return BOUGH_OK;
}

bough_status bough_inverse_dynamics(const bough_model *m, bough_data *d, int count, const double *q, const double *u,
                                    const double *udot, const double *loads, double *tau) {
  if (!m || !d || d->model != m || count < 0 || !q || !u || !udot || !tau) return BOUGH_BAD_ARGUMENT;
  const size_t nq = (size_t)m->nq, nu = (size_t)m->nu;
  bough_status status = BOUGH_OK;
  for (size_t i = 0; status == BOUGH_OK && i < (size_t)count; i++) {
    status = bough_inverse_bare(d, q + i * nq, u + i * nu, udot + i * nu, loads, tau + i * nu);
    if (m->n_modes > 0 && status == BOUGH_OK) bough_drives_inverse(d, q + i * nq, u + i * nu, udot + i * nu, tau + i * nu);
  }
  return status;
}

/* rows of n numbers from four states into lanes; a state past the last repeats it */
static void to_lanes(const double *rows, int n, int first, int count, double *lanes) {
  const double *row[4];
  for (int l = 0; l < 4; l++) row[l] = rows + (size_t)(first + l < count ? first + l : count - 1) * (size_t)n;
  for (int i = 0; i < n; i++) {
    lanes[4 * i] = row[0][i], lanes[4 * i + 1] = row[1][i];
    lanes[4 * i + 2] = row[2][i], lanes[4 * i + 3] = row[3][i];
  }
}

bough_status bough_forward_dynamics_batch(const bough_model *m, bough_data *d, int count, const double *q,
                                          const double *u, const double *tau, double *udot) {
  if (!m || !d || d->model != m || count < 0 || !d->work_four) return BOUGH_BAD_ARGUMENT;
  if (count > 0 && (!q || !u || !tau || !udot)) return BOUGH_BAD_ARGUMENT;
  if (count == 0) return BOUGH_OK;
  if (m->n_rows > 0 || m->acting || m->n_modes > 0) { /* redundant rows, closed contacts, stuck drives in one state and not in the next: lanes would part */
    const bough_point at = {.q = q, .u = u, .tau = tau};
    const bough_values values = {.udot = udot};
    return bough_evaluate_rows(m, d, count, &at, 0, NULL, &values);
  }
  const bough_sweep s = bough_data_sweep(d);
  double *lq = d->lanes_q, *lu = d->lanes_u, *lt = d->lanes_tau, *la = d->lanes_udot;
  bough_status worst = BOUGH_OK;
  for (int first = 0; first < count; first += 4) {
    to_lanes(q, m->nq, first, count, lq), to_lanes(u, m->nu, first, count, lu), to_lanes(tau, m->nu, first, count, lt);
    d->four->forward(&s, d->work_four, lq, lu, lt, NULL, NULL, la, NULL, NULL);
    for (int l = 0; l < 4 && first + l < count; l++) {
      double *row = udot + (size_t)(first + l) * (size_t)m->nu;
      for (int i = 0; i < m->nu; i++) row[i] = la[4 * i + l];
      const bough_status status = bough_data_check(d, d->four, d->work_four, l, row);
      if (status != BOUGH_OK && worst == BOUGH_OK) worst = status;
    }
  }
  return worst;
}
