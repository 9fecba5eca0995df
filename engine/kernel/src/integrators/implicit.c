/* implicit.c - what the linearly implicit methods share: the accelerations of a stage that is implicit in the known linear
 * terms, stiffness K and damping D, by one articulated-body sweep. Those of modes, hinges and stops are inside its D_f and D_R;
 * those between bodies, of forces and elastic shafts, join by their rows: elements/soft.inl. No Jacobian is formed. */
#include <string.h>

#include "elements/drives.h"
#include "sim.h"

/* y = T^-1 x of a body's modes; a copy where eta = xi */
static void to_modes(const bough_body *b, const double *x, double *y) {
  const int nm = b->nm;
  for (int r = 0; r < nm; r++) {
    double v = b->user_basis ? 0.0 : x[r];
    for (int c = 0; b->user_basis && c < nm; c++) v += b->Tinv[r * nm + c] * x[c];
    y[r] = v;
  }
}

/* f -= K dq + D du; dq in speeds' coordinates. xi and force: [nm_max] scratch. */
static void linear_force_subtract(const bough_data *d, const double *dq, const double *du, double *xi, double *force,
                                  double *f) {
  const bough_model *m = d->model;
  for (int k = 0; k < m->nb; k++) {
    const bough_body *b = m->body + k;
    const int nm = b->nm;
    const double damping = d->modal_scale[k];
    double *f_modes = f + b->um;
    for (int i = b->u0; i < b->um; i++) f[i] -= d->stiffness[i] * dq[i] + d->damping[i] * du[i];
    to_modes(b, dq + b->um, xi);
    for (int r = 0; r < nm; r++) force[r] = b->k[r] * xi[r];
    to_modes(b, du + b->um, xi);
    for (int r = 0; r < nm; r++)
      if (b->full_damping)
        for (int c = 0; c < nm; c++) force[r] += damping * b->d[r * nm + c] * xi[c];
      else
        force[r] += damping * b->d[r] * xi[r];
    for (int r = 0; r < nm; r++)
      if (b->user_basis)
        for (int c = 0; c < nm; c++) f_modes[c] -= b->Tinv[r * nm + c] * force[r];
      else
        f_modes[r] -= force[r];
  }
}

/* Stops that give, while they are touched: one DOF each. */
static void stops_add(bough_data *d, double gh, const double *dq, const double *du, double *f) {
  const bough_model *m = d->model;
  const bough_drive_mode *mode = bough_drive_modes(d->mode);
  for (int j = 0; j < m->n_drives; j++) {
    const bough_drive *x = m->drive + j;
    const int i = x->dof;
    if (x->stop != STOP_GIVES || mode[j].contact == 0.0 || d->held[i]) continue;
    d->hinge_mass[i] += gh * (x->d + gh * x->k);
    f[i] -= x->k * dq[i] + x->d * du[i];
  }
}

bough_status bough_sim_implicit(bough_sim *sim, double t, double gh, const double *y, const double *dq, const double *du,
                                double *ku) {
  bough_data *d = sim->data;
  const int nu = sim->nu;
  double *force = sim->implicit_force;
  const bough_status status = bough_sim_inputs(sim, t, y);
  if (status != BOUGH_OK) return status;
  memcpy(force, sim->tau, sizeof(double) * (size_t)nu);
  linear_force_subtract(d, dq, du, sim->implicit_xi, sim->implicit_f, force);
  for (int i = 0; i < nu; i++) d->hinge_mass[i] = d->armature[i] + gh * (d->damping[i] + gh * d->stiffness[i]);
  stops_add(d, gh, dq, du, force);
  bough_sweep s = bough_data_sweep(d);
  s.path = d->path_general;
  if (d->soft.most > 0) {
    const bough_sweep kin = bough_data_kinematic_sweep(d);
    bough_soft_rows(&d->soft, &kin, d->work_one, bough_gear_modes(d->model, d->mode), gh, y, y + sim->nq, dq, du, force);
    s.soft = &d->soft;
  }
  s.h1 = gh, s.h2 = gh * gh;
  sim->now.evaluations++;
  const bough_point at = {t, y, y + sim->nq, force, sim->motion, sim->loads, NULL};
  const bough_values values = {.udot = ku};
  const bough_status bad = bough_sweep_forward(d, &s, &at, &values);
  memcpy(d->hinge_mass, d->armature, sizeof(double) * (size_t)nu);
  if (bad != BOUGH_OK) sim->where = d->where;
  return bad;
}
