/* model_accelerations.c - the torques of US patent 5,546,508, figures 4 and 6, claims 1, 16 and 31: the engine computes the
 * accelerations of hinges and modes that the torques at hand give in the present state; their difference from the desired
 * accelerations corrects the torques.
 *
 *   a    = engine(x, tau)                     tau: torques of the last sample
 *   a*   = a_d + G (x - x_d) - J K_z z        what is desired, with the way back to it: G = A_u - B_u K, rows of the closed loop
 *   tau += (J' W J)^-1 J' W (a* - a)          J = M^-1 S: accelerations for unit torques
 *
 * Accelerations are linear in torques, so that one correction does it. x is the measured state: hinges as sensors give them
 * (claim 7), modes as the engine carries them on from sample to sample (claim 6). W weighs accelerations as energies, those of a
 * mode by its stiffness: a fast mode is where it is after much less than a sample, and what it does until then is of no use. */
#include <string.h>

#include "model_controller.h"

size_t bough_compare_room(const bough_plan *p) {
  const size_t n = (size_t)p->n, H = (size_t)p->H;
  return n * n + n * H + H * H + 3 * n;
}

bough_status bough_compare_accelerations(bough_instance *f, const bough_plan *p, const double *x, const bough_desired *d,
                                         double *tau, double *work) {
  const int n = p->n, H = p->H;
  const double *place = p->axis; /* hinges, then modes: all n */
  double *M = work, *J = M + n * n, *normal = J + n * H, *a = normal + H * H, *force = a + n, *e = force + n, *rest = e + n;
  memset(force, 0, (size_t)n * sizeof *force);
  for (int k = 0; k < H; k++) force[(int)place[k]] = tau[k];
  bough_status status = bough_model_accelerations(f, p, x, force, a, rest);
  if (status == BOUGH_OK) status = bough_model_mass(f, p, x, M, rest);
  if (status != BOUGH_OK) return status;
  bough_factor_places(M, n, place, n);
  for (int k = 0; k < H; k++) { /* J is stored by columns, in the order of place */
    memset(J + k * n, 0, (size_t)n * sizeof *J), J[k * n + k] = 1.0;
    bough_solve_places(M, n, place, n, J + k * n);
  }
  for (int i = 0; i < n; i++) {
    const int j = (int)place[i];
    const double *G = p->G + j * 2 * n;
    e[i] = d->a[j] - a[j];
    for (int k = 0; k < n; k++) e[i] += G[k] * (x[k] - d->q[k]) + G[n + k] * (x[n + k] - d->u[k]);
  }
  for (int k = 0; k < H; k++) {
    a[k] = 0.0, force[k] = k;
    for (int i = 0; i < n; i++) a[k] += J[k * n + i] * p->W[i] * e[i];
    for (int l = 0; l < H; l++) {
      normal[k * H + l] = 0.0;
      for (int i = 0; i < n; i++) normal[k * H + l] += J[k * n + i] * p->W[i] * J[l * n + i];
    }
  }
  bough_factor_places(normal, H, force, H);
  bough_solve_places(normal, H, force, H, a);
  for (int k = 0; k < H; k++) {
    tau[k] += a[k];
    for (int i = 0; i < H; i++) tau[k] -= p->Kz[k * H + i] * d->z[i];
  }
  return BOUGH_OK;
}
