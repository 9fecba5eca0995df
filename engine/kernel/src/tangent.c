/* tangent.c - exact directional derivatives: the sweeps on complex numbers x + i h dx, derivative = imaginary part / h.
 * There is no subtraction, so h = 1e-50 costs no digits. */
#include <math.h>
#include <string.h>

#include "elements/drives.h"
#include "internal.h"

#ifndef BOUGH_NO_COMPLEX
#include <complex.h>

typedef double complex number;
static const double H = 1e-50;

enum { PER_NODE = 7 + 6 + 6 + 9 + 6 };

size_t bough_tangent_bytes(const bough_model *m) {
  const size_t nu = (size_t)m->nu, nb = (size_t)m->nb;
  const size_t constraints = 6 * (size_t)m->n_closures + (size_t)m->n_couplings;
  return sizeof(number) *
         ((size_t)m->nq + 5 * nu + 6 * (size_t)m->n_load_rows + 6 * nb + PER_NODE * (size_t)m->n_nodes + constraints + (size_t)m->n_element_values + nu);
}

/* x + i h dx into `to`; null is zero. Returns the place behind. */
static number *lift(const double *x, const double *dx, int n, number *to) {
  for (int i = 0; i < n; i++) to[i] = (x ? x[i] : 0.0) + I * (H * (dx ? dx[i] : 0.0));
  return to + n;
}
static void drop(const number *z, int n, double *dz) {
  for (int i = 0; dz && i < n; i++) dz[i] = cimag(z[i]) / H;
}

/* qdot = N(q) u is linear in each */
static void rates(const bough_model *m, const bough_point *at, const bough_point *dir, const double *zero, double *dqdot) {
  bough_position_rates(m, at->q, dir->u ? dir->u : zero, dqdot);
  if (dir->q) bough_position_rates_turned(m, dir->q, at->u, dqdot);
}

/* what elements exert at the point, onto tau, and the values that they tell */
static void elements(bough_data *d, const number *q, const number *u, const number *loads, number *tau, number *value) {
  const bough_sweep kin = bough_data_kinematic_sweep(d);
  bough_other_ops_tangent_base.elements(&kin, d->work_tangent, d->elements_tangent, q, u, loads, value, NULL);
  const number *acting = bough_other_ops_tangent_base.element_view(d->elements_tangent).tau;
  for (int i = 0; i < d->model->nu; i++) tau[i] += acting[i];
}
/* forces and reactions as point.c tells them: elements are the mechanism's own */
static void without_elements(const bough_data *d, const bough_sweep *s, const number *applied, number *force, number *reaction) {
  const bough_element_view e = bough_other_ops_tangent_base.element_view(d->elements_tangent);
  const number *tau = e.tau, *through = e.through;
  for (int i = 0; i < d->model->nu; i++) force[i] = s->held[i] ? force[i] - tau[i] : applied[i];
  for (int k = 0; k < d->model->nb; k++) {
    const double *C = d->model->body[k].axes;
    for (int i = 0; i < 6; i++) {
      const number *x = through + 6 * k + (i < 3 ? 0 : 3);
      const double *row = C + 3 * (i % 3);
      reaction[6 * k + i] -= row[0] * x[0] + row[1] * x[1] + row[2] * x[2];
    }
  }
}

/* forces of friction, limits and gears onto tau, and what they hold into the sweep */
static bough_status drives_lift(bough_data *d, const bough_point *at, const bough_point *dir, number *tau, number *applied,
                                number *motion, bough_sweep *s) {
  const bough_model *m = d->model;
  const bough_status status = bough_drives_follow(d, at);
  if (status != BOUGH_OK) return status;
  double *force = d->drive_tau, *along = d->drive_force;
  for (int i = 0; i < m->nu; i++) force[i] = along[i] = 0.0;
  bough_drive_forces(d, at->q, at->u, force, dir->q, dir->u, along);
  bough_drive_held(d, d->held, d->drive_held);
  for (int i = 0; i < m->nu; i++) {
    tau[i] += force[i] + I * (H * along[i]), applied[i] += force[i] + I * (H * along[i]);
    if (d->drive_held[i] && !d->held[i]) motion[i] = 0.0;
  }
  s->held = d->drive_held;
  return BOUGH_OK;
}

/* derivatives of what friction exerts; `force` is that of the sweep, `tau` its input with the laws */
static void drives_drop(bough_data *d, const bough_point *at, const bough_point *dir, const number *tau, const number *force,
                        const bough_values *dz) {
  const bough_model *m = d->model;
  const bough_drive_mode *mode = bough_drive_modes(d->mode);
  if (dz->indicator) {
    for (int j = 0; j < m->n_drives; j++) {
      const int i = m->drive[j].dof;
      d->drive_need[j] = mode[j].hold != 0.0 ? creal(force[i] - tau[i]) : 0.0;
      d->drive_need_rate[j] = mode[j].hold != 0.0 ? cimag(force[i] - tau[i]) / H : 0.0;
    }
    bough_drive_indicator_rates(d, at, dir, dz->indicator);
  }
  for (int i = 0; i < m->nu && dz->force; i++)
    if (!d->held[i]) dz->force[i] = dir->tau ? dir->tau[i] : 0.0;
  for (int j = 0; j < m->n_drives; j++) {
    const int i = m->drive[j].dof;
    const double need = creal(force[i] - tau[i]), still = m->drive[j].still;
    if (dz->sticking) dz->sticking[j] = 0.0;
    if (dz->contact) dz->contact[j] = 0.0;
    if (!dz->friction) continue;
    dz->friction[j] = 0.0;
    if (d->held[i]) continue;
    if (mode[j].hold != 0.0)
      dz->friction[j] = need > still || need < -still ? 0.0 : cimag(force[i] - tau[i]) / H;
    else
      dz->friction[j] = bough_drive_friction_rate(m->drive + j, mode + j, at->u[i], dir->u ? dir->u[i] : 0.0);
  }
}

bough_status bough_directional(const bough_model *m, bough_data *d, const bough_point *at, const bough_point *dir,
                               int count, const int *nodes, const bough_values *dz) {
  if (!m || !d || d->model != m || !d->work_tangent || !at || !dir || !dz || !at->q || !at->u) return BOUGH_BAD_ARGUMENT;
  if (at->udot || dir->udot) return BOUGH_BAD_ARGUMENT; /* they follow from the rest */
  if (count < 0 || count > m->n_nodes || (count > 0 && !nodes)) return BOUGH_BAD_ARGUMENT;
  for (int i = 0; i < count; i++)
    if (nodes[i] < 0 || nodes[i] >= m->n_nodes) return BOUGH_BAD_ARGUMENT;
  number *q = d->tangent_buffer;
  number *u = lift(at->q, dir->q, m->nq, q), *tau = lift(at->u, dir->u, m->nu, u);
  number *motion = lift(at->tau, dir->tau, m->nu, tau), *loads = lift(at->motion, dir->motion, m->nu, motion);
  number *udot = lift(at->loads, dir->loads, 6 * m->n_load_rows, loads), *force = udot + m->nu;
  number *reaction = force + m->nu, *pose = reaction + 6 * m->nb, *velocity = pose + 7 * count;
  number *acceleration = velocity + 6 * count, *closure = acceleration + 6 * count, *coupling = closure + 6 * m->n_closures;
  number *element = coupling + m->n_couplings, *applied = element + m->n_element_values;
  number *local = applied + m->nu, *deflection = local + 9 * count;
  const int loaded = m->n_loads > 0 && (at->loads || dir->loads);
  bough_sweep s = bough_data_sweep(d);
  for (int i = 0; i < m->nu; i++) applied[i] = tau[i];
  if (m->acting || (dz->element && m->n_elements > 0)) elements(d, q, u, loads, tau, element);
  if (m->n_modes > 0) {
    const bough_status status = drives_lift(d, at, dir, tau, applied, motion, &s);
    if (status != BOUGH_OK) return status;
  }
  if (m->n_rows == 0)
    bough_forward_ops_tangent_base.forward(&s, d->work_tangent, q, u, tau, motion, loaded ? loads : NULL, udot, force, reaction);
  else {
    const bough_sweep kin = bough_data_kinematic_sweep(d);
    const bough_constrained in = {q, u, NULL, tau, motion, loaded ? loads : NULL, udot, force, reaction, closure, coupling, d->pull, 0.0, NULL, NULL};
    bough_other_ops_tangent_base.constrained(&bough_forward_ops_tangent_base, &s, &kin, d->work_tangent, d->constraints_tangent,
                                             &in, TARGET_ACCELERATION);
  }
  if (m->acting) without_elements(d, &s, applied, force, reaction);
  for (int i = 0; i < m->nu; i++)
    if (!bough_finite(creal(udot[i])) || !bough_finite(cimag(udot[i]))) {
      d->where.body = bough_body_of_speed(m, i);
      return BOUGH_NOT_FINITE;
    }
  if (count > 0 && (dz->pose || dz->velocity || dz->acceleration || dz->local || dz->deflection)) {
    const bough_motions out = {pose, velocity, acceleration, local, deflection};
    s = bough_data_kinematic_sweep(d);
    bough_other_ops_tangent_base.node_motion(&s, d->work_tangent, q, u, udot, count, nodes, &out);
  }
  if (dz->qdot) rates(m, at, dir, d->zero, dz->qdot);
  drop(udot, m->nu, dz->udot), drop(force, m->nu, dz->force), drop(reaction, 6 * m->nb, dz->reaction);
  drop(pose, 7 * count, dz->pose), drop(velocity, 6 * count, dz->velocity);
  drop(acceleration, 6 * count, dz->acceleration);
  drop(local, 9 * count, dz->local), drop(deflection, 6 * count, dz->deflection);
  if (m->n_elements > 0) drop(element, m->n_element_values, dz->element);
  if (m->n_modes > 0) drives_drop(d, at, dir, applied, force, dz);
  drop(closure, 6 * m->n_closures, dz->closure), drop(coupling, m->n_couplings, dz->coupling);
  return BOUGH_OK;
}

bough_status bough_inverse_directional(const bough_model *m, bough_data *d, const bough_point *at, const bough_point *dir,
                                       double *dtau) {
  if (!m || !d || d->model != m || !d->work_tangent || !at || !dir || !dtau || !at->q || !at->u) return BOUGH_BAD_ARGUMENT;
  number *q = d->tangent_buffer;
  number *u = lift(at->q, dir->q, m->nq, q), *udot = lift(at->u, dir->u, m->nu, u);
  number *loads = lift(at->udot, dir->udot, m->nu, udot), *tau = lift(at->loads, dir->loads, 6 * m->n_load_rows, loads);
  const int loaded = m->n_loads > 0 && (at->loads || dir->loads);
  bough_sweep s = bough_data_sweep(d);
  s.path = d->path_general;
  bough_other_ops_tangent_base.inverse(&s, d->work_tangent, q, u, udot, loaded ? loads : NULL, tau);
  if (m->acting) {
    number *less = tau + m->nu;
    for (int i = 0; i < m->nu; i++) less[i] = 0.0;
    elements(d, q, u, loads, less, NULL);
    for (int i = 0; i < m->nu; i++) tau[i] -= less[i];
  }
  for (int i = 0; i < m->nu; i++)
    if (!bough_finite(creal(tau[i])) || !bough_finite(cimag(tau[i]))) {
      d->where.body = bough_body_of_speed(m, i);
      return BOUGH_NOT_FINITE;
    }
  drop(tau, m->nu, dtau);
  if (m->n_modes == 0) return BOUGH_OK;
  bough_drives_inverse(d, at->q, at->u, at->udot ? at->udot : d->zero, d->drive_udot); /* modes */
  for (int i = 0; i < m->nu; i++) d->drive_tau[i] = d->drive_force[i] = 0.0;
  bough_drive_forces(d, at->q, at->u, d->drive_tau, dir->q, dir->u, d->drive_force);
  for (int i = 0; i < m->nu; i++) dtau[i] -= d->drive_force[i];
  return BOUGH_OK;
}

bough_status bough_rate_directional(const bough_model *m, bough_data *d, const double *q, const double *u, const double *dq,
                                    double *drate) {
  if (!m || !d || d->model != m || !d->work_tangent || !q || !u || !dq || !drate) return BOUGH_BAD_ARGUMENT;
  if (m->n_rows == 0) return BOUGH_OK;
  number *at = d->tangent_buffer, *speeds = lift(q, dq, m->nq, at);
  lift(u, NULL, m->nu, speeds);
  const bough_sweep kin = bough_data_kinematic_sweep(d);
  const double *scale;
  bough_other_ops_tangent_base.constraint_rows(&kin, d->work_tangent, d->constraints_tangent, at, speeds);
  const number *rate = bough_constraint_rates(d->constraints_tangent, &scale);
  for (int i = 0; i < m->n_rows; i++) drate[i] = cimag(rate[i]) / (H * scale[i]);
  return BOUGH_OK;
}

#else /* BOUGH_NO_COMPLEX: differences of fourth order, good to some ten digits */

static const double STEP = 1e-3, PLACE[4] = {-2.0, -1.0, 1.0, 2.0}, SHARE[4] = {1.0 / 12.0, -8.0 / 12.0, 8.0 / 12.0, -1.0 / 12.0};
enum { PER_NODE = 7 + 6 + 6 + 9 + 6 };

size_t bough_tangent_bytes(const bough_model *m) {
  const size_t nu = (size_t)m->nu, nb = (size_t)m->nb, constraints = 6 * (size_t)m->n_closures + (size_t)m->n_couplings;
  return sizeof(double) * ((size_t)m->nq + 6 * nu + 6 * (size_t)m->n_load_rows + 6 * nb + PER_NODE * (size_t)m->n_nodes + constraints +
                           (size_t)m->n_element_values);
}

/* x + s dx into `to`; null is zero. Returns the place behind. */
static double *shift(const double *x, const double *dx, double s, int n, double *to) {
  for (int i = 0; i < n; i++) to[i] = (x ? x[i] : 0.0) + s * (dx ? dx[i] : 0.0);
  return to + n;
}
/* dz += share z; returns the place behind z */
static double *add(double share, double *z, int n, double *dz) {
  for (int i = 0; dz && i < n; i++) dz[i] += share * z[i];
  return z + n;
}
static void clear(double *dz, int n) {
  if (dz) memset(dz, 0, (size_t)n * sizeof *dz);
}

bough_status bough_directional(const bough_model *m, bough_data *d, const bough_point *at, const bough_point *dir,
                               int count, const int *nodes, const bough_values *dz) {
  if (!m || !d || d->model != m || !d->work_tangent || !at || !dir || !dz || !at->q || !at->u) return BOUGH_BAD_ARGUMENT;
  if (at->udot || dir->udot) return BOUGH_BAD_ARGUMENT; /* they follow from the rest */
  const int nu = m->nu, nr = 6 * m->nb;
  clear(dz->udot, nu), clear(dz->force, nu), clear(dz->reaction, nr), clear(dz->pose, 7 * count), clear(dz->velocity, 6 * count);
  clear(dz->acceleration, 6 * count), clear(dz->closure, 6 * m->n_closures), clear(dz->coupling, m->n_couplings);
  clear(dz->element, m->n_element_values), clear(dz->local, 9 * count), clear(dz->deflection, 6 * count);
  for (int k = 0; k < 4; k++) {
    const double s = STEP * PLACE[k], share = SHARE[k] / STEP;
    double *q = d->tangent_buffer, *u = shift(at->q, dir->q, s, m->nq, q), *tau = shift(at->u, dir->u, s, nu, u);
    double *motion = shift(at->tau, dir->tau, s, nu, tau), *loads = shift(at->motion, dir->motion, s, nu, motion);
    double *z = shift(at->loads, dir->loads, s, 6 * m->n_load_rows, loads);
    const bough_point there = {.t = at->t, .q = q, .u = u, .tau = tau, .motion = motion, .loads = m->n_load_rows ? loads : NULL};
    double *force = z + nu, *reaction = force + nu, *pose = reaction + nr, *velocity = pose + 7 * count;
    double *acceleration = velocity + 6 * count, *local = acceleration + 6 * count, *deflection = local + 9 * count;
    double *closure = deflection + 6 * count, *coupling = closure + 6 * m->n_closures;
    const bough_values values = {.udot = z, .force = force, .reaction = reaction, .pose = dz->pose ? pose : NULL,
                                 .velocity = dz->velocity ? velocity : NULL, .acceleration = dz->acceleration ? acceleration : NULL,
                                 .local = dz->local ? local : NULL, .deflection = dz->deflection ? deflection : NULL,
                                 .closure = dz->closure ? closure : NULL, .coupling = dz->coupling ? coupling : NULL,
                                 .element = dz->element ? coupling + m->n_couplings : NULL};
    const bough_status status = bough_evaluate(m, d, &there, count, nodes, &values);
    if (status != BOUGH_OK) return status;
    add(share, z, nu, dz->udot), add(share, force, nu, dz->force), add(share, reaction, nr, dz->reaction);
    add(share, pose, 7 * count, dz->pose), add(share, velocity, 6 * count, dz->velocity);
    add(share, acceleration, 6 * count, dz->acceleration), add(share, closure, 6 * m->n_closures, dz->closure);
    add(share, coupling, m->n_couplings, dz->coupling), add(share, local, 9 * count, dz->local);
    add(share, deflection, 6 * count, dz->deflection);
    add(share, coupling + m->n_couplings, m->n_element_values, dz->element);
  }
  if (dz->qdot) {
    bough_position_rates(m, at->q, dir->u ? dir->u : d->zero, dz->qdot);
    if (dir->q) bough_position_rates_turned(m, dir->q, at->u, dz->qdot);
  }
  return BOUGH_OK;
}

bough_status bough_inverse_directional(const bough_model *m, bough_data *d, const bough_point *at, const bough_point *dir,
                                       double *dtau) {
  if (!m || !d || d->model != m || !d->work_tangent || !at || !dir || !dtau || !at->q || !at->u) return BOUGH_BAD_ARGUMENT;
  clear(dtau, m->nu);
  for (int k = 0; k < 4; k++) {
    const double s = STEP * PLACE[k];
    double *q = d->tangent_buffer, *u = shift(at->q, dir->q, s, m->nq, q), *udot = shift(at->u, dir->u, s, m->nu, u);
    double *loads = shift(at->udot, dir->udot, s, m->nu, udot), *tau = shift(at->loads, dir->loads, s, 6 * m->n_load_rows, loads);
    const bough_status status = bough_inverse_dynamics(m, d, 1, q, u, udot, m->n_load_rows ? loads : NULL, tau);
    if (status != BOUGH_OK) return status;
    add(SHARE[k] / STEP, tau, m->nu, dtau);
  }
  return BOUGH_OK;
}
#endif
