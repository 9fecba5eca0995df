/* point.c - bough_evaluate: accelerations, forces, reactions and node motions at a point of the state space. */
#include "elements/drives.h"
#include "internal.h"

bough_status bough_sweep_tree(bough_data *d, const bough_sweep *s, const bough_point *at, double *udot, double *force,
                              double *reaction) {
  const double *loads = d->model->n_loads > 0 ? at->loads : NULL, *tau = at->tau ? at->tau : d->zero;
  d->one->forward(s, d->work_one, at->q, at->u, tau, at->motion, loads, udot, force, reaction);
  const bough_status status = bough_data_check(d, d->one, d->work_one, 0, udot);
  if (status != BOUGH_OK) d->where.time = at->t;
  return status;
}

/* everything but elements and drives */
static bough_status sweep_closed(bough_data *d, const bough_sweep *s, const bough_point *at, const bough_values *v) {
  const bough_model *m = d->model;
  const int soft = s->soft && s->soft->count > 0;
  if (m->n_rows == 0 && !soft) return bough_sweep_tree(d, s, at, v->udot, v->force, v->reaction);
  const bough_sweep kin = bough_data_kinematic_sweep(d);
  const bough_constrained in = {at->q, at->u, NULL, at->tau, at->motion, m->n_loads > 0 ? at->loads : NULL,
                                v->udot, v->force, v->reaction, v->closure, v->coupling, d->pull, 0.0, NULL, soft ? s->soft : NULL};
  bough_other_ops_one_base.constrained(d->one, s, &kin, d->work_one, d->constraints, &in, TARGET_ACCELERATION);
  const bough_status status = bough_data_check(d, d->one, d->work_one, 0, v->udot);
  if (status != BOUGH_OK) d->where.time = at->t;
  return status;
}

void bough_elements_at(bough_data *d, const bough_point *at, double *values, double *energy) {
  const bough_sweep kin = bough_data_kinematic_sweep(d);
  bough_other_ops_one_base.elements(&kin, d->work_one, d->elements, at->q, at->u, at->loads, values, energy);
}

/* Elements act as generalized forces. So they are no part of tau where it is told, a held DOF needs so much less, and what they
 * carry past a hinge is no reaction of it. */
static bough_status sweep_elements(bough_data *d, const bough_sweep *s, const bough_point *at, const bough_values *v) {
  const bough_model *m = d->model;
  bough_elements_at(d, at, v->element, NULL);
  const bough_element_view e = bough_other_ops_one_base.element_view(d->elements);
  const double *tau = e.tau, *through = e.through;
  bough_point with = *at;
  for (int i = 0; i < m->nu; i++) d->tau_all[i] = (at->tau ? at->tau[i] : 0.0) + tau[i];
  with.tau = d->tau_all;
  const bough_status status = sweep_closed(d, s, &with, v);
  if (status != BOUGH_OK) return status;
  for (int i = 0; v->force && i < m->nu; i++) v->force[i] = s->held[i] ? v->force[i] - tau[i] : at->tau ? at->tau[i] : 0.0;
  for (int k = 0; v->reaction && k < m->nb; k++) {
    const double *C = m->body[k].axes, *X = through + 6 * k; /* to the user's axes */
    for (int i = 0; i < 6; i++) {
      const double *x = X + (i < 3 ? 0 : 3), *row = C + 3 * (i % 3);
      v->reaction[6 * k + i] -= row[0] * x[0] + row[1] * x[1] + row[2] * x[2];
    }
  }
  return BOUGH_OK;
}

bough_status bough_sweep_bare(bough_data *d, const bough_sweep *s, const bough_point *at, const bough_values *v) {
  return d->model->acting ? sweep_elements(d, s, at, v) : sweep_closed(d, s, at, v);
}

bough_status bough_sweep_forward(bough_data *d, const bough_sweep *s, const bough_point *at, const bough_values *v) {
  return d->model->n_modes == 0 ? bough_sweep_bare(d, s, at, v) : bough_drives_forward(d, s, at, v);
}

static int nodes_ok(const bough_model *m, int count, const int *nodes) {
  if (count < 0 || (count > 0 && !nodes)) return 0;
  for (int i = 0; i < count; i++)
    if (nodes[i] < 0 || nodes[i] >= m->n_nodes) return 0;
  return 1;
}

/* one point, arguments checked */
static bough_status evaluate(const bough_model *m, bough_data *d, const bough_point *at, int count, const int *nodes,
                             const bough_values *v) {
  const double *udot = at->udot;
  const int accelerates = v->acceleration || v->local;
  const int moving = count > 0 && (v->pose || v->velocity || accelerates || v->deflection);
  if (v->qdot) bough_position_rates(m, at->q, at->u, v->qdot);
  const int told = v->element && m->n_elements > 0;
  const int forces = v->force || v->reaction || v->closure || v->coupling || v->friction || v->sticking || v->contact || v->indicator;
  if (!udot && (v->udot || forces || (moving && accelerates))) {
    const bough_sweep s = bough_data_sweep(d);
    bough_values found = *v;
    bough_status status = bough_drives_follow(d, at);
    if (!found.udot) found.udot = d->udot;
    if (status == BOUGH_OK) status = bough_sweep_forward(d, &s, at, &found);
    if (status != BOUGH_OK) return status;
    udot = found.udot;
    if (told && !m->acting) bough_elements_at(d, at, v->element, NULL);
  } else if (told)
    bough_elements_at(d, at, v->element, NULL);
  if (!moving) return BOUGH_OK;
  const bough_sweep s = bough_data_kinematic_sweep(d);
  const bough_motions out = {v->pose, v->velocity, v->acceleration, v->local, v->deflection};
  bough_other_ops_one_base.node_motion(&s, d->work_one, at->q, at->u, udot, count, nodes, &out);
  return BOUGH_OK;
}

static int arguments_ok(const bough_model *m, const bough_data *d, const bough_point *at, int count, const int *nodes,
                        const bough_values *v) {
  if (!m || !d || d->model != m || !at || !v || !at->q || !at->u) return 0;
  if (at->udot && (v->udot || v->force || v->reaction || v->closure || v->coupling || v->friction || v->sticking || v->contact ||
                   v->indicator))
    return 0;
  return nodes_ok(m, count, nodes);
}

bough_status bough_evaluate(const bough_model *m, bough_data *d, const bough_point *at, int count, const int *nodes,
                            const bough_values *values) {
  return arguments_ok(m, d, at, count, nodes, values) ? evaluate(m, d, at, count, nodes, values) : BOUGH_BAD_ARGUMENT;
}

static const double *next(const double *row, int n) { return row ? row + n : NULL; }
static double *next_out(double *row, size_t n) { return row ? row + n : NULL; }

bough_status bough_evaluate_rows(const bough_model *m, bough_data *d, int rows, const bough_point *at, int count,
                                 const int *nodes, const bough_values *values) {
  if (rows < 0 || !arguments_ok(m, d, at, count, nodes, values)) return BOUGH_BAD_ARGUMENT;
  const size_t n = (size_t)count, nu = (size_t)m->nu;
  bough_point p = *at;
  bough_values v = *values;
  bough_status status = BOUGH_OK;
  for (int i = 0; i < rows && status == BOUGH_OK; i++) {
    status = evaluate(m, d, &p, count, nodes, &v);
    p.q = next(p.q, m->nq), p.u = next(p.u, m->nu), p.tau = next(p.tau, m->nu);
    p.motion = next(p.motion, m->nu), p.udot = next(p.udot, m->nu);
    v.qdot = next_out(v.qdot, (size_t)m->nq), v.udot = next_out(v.udot, nu), v.force = next_out(v.force, nu);
    v.reaction = next_out(v.reaction, 6 * (size_t)m->nb), v.pose = next_out(v.pose, 7 * n);
    v.closure = next_out(v.closure, 6 * (size_t)m->n_closures), v.coupling = next_out(v.coupling, (size_t)m->n_couplings);
    v.element = next_out(v.element, (size_t)m->n_element_values);
    v.local = next_out(v.local, 9 * n), v.deflection = next_out(v.deflection, 6 * n);
    v.friction = next_out(v.friction, (size_t)m->n_drives), v.sticking = next_out(v.sticking, (size_t)m->n_drives);
    v.contact = next_out(v.contact, (size_t)m->n_drives);
    v.indicator = next_out(v.indicator, (size_t)(2 * m->n_drives + m->n_gears));
    v.velocity = next_out(v.velocity, 6 * n), v.acceleration = next_out(v.acceleration, 6 * n);
  }
  return status;
}
