/* energy.c - energy and momentum: the public call. */
#include "elements/drives.h"
#include "internal.h"

bough_status bough_energy(const bough_model *m, bough_data *d, int count, const double *q, const double *u, double *energy,
                          double *momentum) {
  if (!m || !d || d->model != m || count < 0 || !q || !u) return BOUGH_BAD_ARGUMENT;
  const size_t nq = (size_t)m->nq, nu = (size_t)m->nu;
  bough_sweep s = bough_data_sweep(d);
  s.path = d->path_general;
  for (size_t i = 0; i < (size_t)count; i++) {
    double unwanted[10];
    double *E = energy ? energy + 4 * i : unwanted, *p = momentum ? momentum + 6 * i : unwanted + 4;
    bough_other_ops_one_base.energy(&s, d->work_one, q + i * nq, u + i * nu, E, p);
    if (m->acting) {
      const bough_point at = {.q = q + i * nq, .u = u + i * nu};
      double more[2] = {0.0, 0.0}; /* of the field, and of springs between nodes */
      bough_elements_at(d, &at, NULL, more);
      E[1] += more[0], E[3] += more[1];
    }
    if (m->n_modes > 0) E[3] += bough_drive_energy(m, q + i * nq);
  }
  return BOUGH_OK;
}
