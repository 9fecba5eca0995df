/* data.c - a data object: parameters that may change, workspace, and the status of the last call. */
#include <math.h>
#include <string.h>

#include "internal.h"

/* An FMU has no use for the four-lane sweeps: it is built without them. */
#ifdef BOUGH_NO_BATCH
#define FOUR(isa) NULL
#else
#define FOUR(isa) &bough_forward_ops_four_##isa
#endif

/* `bytes` of `memory` at *offset; null while only measuring. */
static void *take(char *memory, size_t *offset, size_t bytes) {
  const size_t at = *offset;
  *offset += bough_align(bytes);
  return memory ? memory + at : NULL;
}
static double *take_reals(char *memory, size_t *offset, int count) {
  return take(memory, offset, sizeof(double) * (size_t)count);
}

/* Lay out the object from `memory`, or (null) only measure it. */
static size_t lay_out(const bough_model *m, int lanes, char *memory) {
  const size_t nb = (size_t)m->nb, nu = (size_t)m->nu;
  size_t at = bough_align(sizeof(bough_data));
  bough_data local = {0}, *d = memory ? (bough_data *)(void *)memory : &local;
  d->model = m;
  const size_t first = at;
  d->gravity = take_reals(memory, &at, 3);
  d->damping = take_reals(memory, &at, m->nu), d->stiffness = take_reals(memory, &at, m->nu);
  d->rest = take_reals(memory, &at, m->nu), d->armature = take_reals(memory, &at, m->nu);
  d->hinge_mass = take_reals(memory, &at, m->nu), d->inertia = take(memory, &at, nb * sizeof *d->inertia);
  d->modal_scale = take_reals(memory, &at, m->nb), d->mode = take_reals(memory, &at, m->n_modes);
  d->held = take(memory, &at, nu);
  d->parameter_bytes = at - first;
  d->speed_change = take_reals(memory, &at, m->nu), d->speed_answer = take_reals(memory, &at, m->nu);
  d->path = take(memory, &at, nb), d->path_general = take(memory, &at, nb);
  d->none_held = take(memory, &at, nu), d->zero = take_reals(memory, &at, m->nu);
  d->udot = take_reals(memory, &at, m->nu);
  d->work_one = take(memory, &at, bough_forward_ops_one_base.work_size(m));
  const int soft = bough_soft_rows_of(m);
  if (m->n_rows > 0 || soft > 0) d->constraints = take(memory, &at, bough_other_ops_one_base.constraint_layout(m, NULL));
  if (soft > 0) {
    d->soft.most = soft;
    d->soft.W = take_reals(memory, &at, soft * m->nu), d->soft.Y = take_reals(memory, &at, soft * m->nu);
    d->soft.A = take_reals(memory, &at, soft * soft), d->soft.x = take_reals(memory, &at, soft);
    d->soft.B = take_reals(memory, &at, soft * m->n_rows), d->soft.T = take_reals(memory, &at, soft * m->n_rows);
    d->soft.body = take(memory, &at, (size_t)soft * sizeof *d->soft.body);
  }
  if (m->n_rows > 0) {
    d->projected = take_reals(memory, &at, m->nq + m->nu), d->ahead = take_reals(memory, &at, m->nq);
    const size_t all = (size_t)m->n_rows * (size_t)m->nu * sizeof(double);
    d->turning = take(memory, &at, all), d->branch.row = take(memory, &at, all);
    d->dependence = take_reals(memory, &at, m->n_rows), d->branch.rate = take_reals(memory, &at, m->n_rows);
    d->branch.turned = take(memory, &at, (size_t)m->n_rows);
  }
  if (m->n_elements > 0 || m->acting) {
    d->elements = take(memory, &at, bough_other_ops_one_base.element_layout(m, NULL));
    d->tau_all = take_reals(memory, &at, m->nu);
  }
  if (m->limits) {
    d->told = take(memory, &at, nb);
    d->spin_bound = take_reals(memory, &at, m->nb), d->spin_seen = take_reals(memory, &at, m->nb);
    d->warning = take(memory, &at, BOUGH_WARN_KINDS * nb * sizeof *d->warning);
  }
  if (m->n_modes > 0) {
    d->drive_tau = take_reals(memory, &at, m->nu), d->drive_motion = take_reals(memory, &at, m->nu);
    d->drive_force = take_reals(memory, &at, m->nu), d->drive_udot = take_reals(memory, &at, m->nu);
    d->drive_need = take_reals(memory, &at, m->n_drives), d->drive_need_rate = take_reals(memory, &at, m->n_drives);
    d->mode_before = take_reals(memory, &at, m->n_modes);
    d->answers = take(memory, &at, bough_answers_count(m) * sizeof(double));
    d->answer_places = take(memory, &at, 2 * (size_t)m->n_drives * sizeof(int)), d->drive_held = take(memory, &at, nu);
  }
  const bough_forward_ops *four = FOUR(base);
  if (four && (lanes & BOUGH_LANES_BATCH)) {
    d->lanes_q = take_reals(memory, &at, 4 * m->nq), d->lanes_u = take_reals(memory, &at, 4 * m->nu);
    d->lanes_tau = take_reals(memory, &at, 4 * m->nu), d->lanes_udot = take_reals(memory, &at, 4 * m->nu);
    d->work_four = take(memory, &at, four->work_size(m));
  }
  if (lanes & BOUGH_LANES_TANGENT) {
    d->tangent_buffer = take(memory, &at, bough_tangent_bytes(m));
#ifdef BOUGH_NO_COMPLEX
    d->work_tangent = d->tangent_buffer; /* differences: there are no complex sweeps */
#else
    d->work_tangent = take(memory, &at, bough_forward_ops_tangent_base.work_size(m));
    if (m->n_rows > 0) d->constraints_tangent = take(memory, &at, bough_other_ops_tangent_base.constraint_layout(m, NULL));
    if (m->n_elements > 0 || m->acting)
      d->elements_tangent = take(memory, &at, bough_other_ops_tangent_base.element_layout(m, NULL));
#endif
  }
  return at;
}

bough_status bough_data_create(const bough_model *m, int lanes, bough_data **out) {
  if (!m || !out || lanes < 0 || lanes > (BOUGH_LANES_BATCH | BOUGH_LANES_TANGENT)) return BOUGH_BAD_ARGUMENT;
  *out = NULL;
  const size_t size = lay_out(m, lanes, NULL);
  char *memory = bough_allocate(size);
  if (!memory) return BOUGH_NO_MEMORY;
  lay_out(m, lanes, memory);
  bough_data *d = (bough_data *)(void *)memory;
  const size_t nu = (size_t)m->nu * sizeof(double);
  d->memory = size;
  d->where.body = -1;
  memcpy(d->gravity, m->gravity, 3 * sizeof(double));
  memcpy(d->damping, m->damping, nu), memcpy(d->stiffness, m->stiffness, nu), memcpy(d->rest, m->rest, nu);
  memcpy(d->armature, m->armature, nu), memcpy(d->hinge_mass, m->armature, nu);
  for (int i = 0; i < m->nu; i++) d->held[i] = m->held[i] != 0.0;
  for (int k = 0; k < m->nb; k++) {
    d->inertia[k] = *m->body[k].inertia;
    d->modal_scale[k] = 1.0;
    d->path_general[k] = m->body[k].nm > 0 ? PATH_GENERAL : PATH_RIGID;
  }
  bough_data_choose_paths(d);
  bough_data_set_isa(d, bough_cpu_has_v3());
  d->one->work_layout(m, d->work_one);
  if (d->work_four) d->four->work_layout(m, d->work_four);
#ifndef BOUGH_NO_COMPLEX
  if (d->work_tangent) bough_forward_ops_tangent_base.work_layout(m, d->work_tangent);
  if (d->constraints_tangent) (void)bough_other_ops_tangent_base.constraint_layout(m, d->constraints_tangent);
  if (d->elements_tangent) (void)bough_other_ops_tangent_base.element_layout(m, d->elements_tangent);
#endif
  if (d->constraints) (void)bough_other_ops_one_base.constraint_layout(m, d->constraints);
  if (d->elements) (void)bough_other_ops_one_base.element_layout(m, d->elements);
  *out = d;
  return BOUGH_OK;
}

void bough_data_free(bough_data *data) { bough_release(data); }
size_t bough_data_memory(const bough_data *data) { return data ? data->memory : 0; }
int bough_data_isa(const bough_data *data) { return data ? data->isa : 0; }

bough_where bough_data_where(const bough_data *data) {
  const bough_where none = {-1, 0.0, 0};
  return data ? data->where : none;
}

bough_status bough_data_set_isa(bough_data *data, int isa) {
  if (!data || isa < 0 || isa > 1 || (isa == 1 && !bough_cpu_has_v3())) return BOUGH_BAD_ARGUMENT;
  data->isa = isa;
  data->one = &bough_forward_ops_one_base, data->four = FOUR(base);
#if BOUGH_HAS_V3
  if (isa == 1) {
    data->one = &bough_forward_ops_one_v3, data->four = FOUR(v3);
  }
#endif
  return BOUGH_OK;
}

void bough_data_choose_paths(bough_data *d) {
  for (int k = 0; k < d->model->nb; k++) {
    const bough_body *b = d->model->body + k;
    const int held = b->nm > 0 && d->held[b->um];
    const int two_port = b->two_port_ok && !held && d->model->n_rows == 0; /* multipliers need the modes' own pivots */
    d->path[k] = b->nm == 0 ? PATH_RIGID : two_port ? PATH_TWO_PORT : PATH_GENERAL;
  }
}

bough_sweep bough_data_sweep(const bough_data *d) {
  const bough_sweep s = {d->model, d->gravity, d->damping, d->stiffness, d->rest, d->hinge_mass,
                         d->inertia, d->modal_scale, d->held, d->path, 0.0, 0.0,
                         1.0, 0, 1, NULL};
  return s;
}

bough_sweep bough_data_inertia_sweep(const bough_data *d, int all_free) {
  bough_sweep s = bough_data_sweep(d);
  s.path = d->path_general;
  if (all_free) s.held = d->none_held;
  s.gravity = s.stiffness = s.damping = d->zero;
  s.elastic = 0.0;
  return s;
}

bough_sweep bough_data_kinematic_sweep(const bough_data *d) {
  bough_sweep s = bough_data_sweep(d);
  s.path = d->path_general;
  s.kinematic = 1;
  return s;
}

int bough_body_of_speed(const bough_model *m, int i) {
  int k = 0;
  while (k + 1 < m->nb && m->body[k + 1].u0 <= i) k++;
  return k;
}

bough_status bough_data_check(bough_data *d, const bough_forward_ops *ops, const void *work, int lane,
                              const double *udot) {
  const bough_model *m = d->model;
  double sum = 0.0;
  for (int i = 0; i < m->nu; i++) sum += fabs(udot[i]);
  const int singular = ops->singular_body(work, lane);
  if (singular < 0 && bough_finite(sum)) return BOUGH_OK;
  d->where.body = singular;
  if (singular >= 0) return BOUGH_SINGULAR;
  for (int i = 0; i < m->nu; i++)
    if (!bough_finite(udot[i])) {
      d->where.body = bough_body_of_speed(m, i);
      break;
    }
  return BOUGH_NOT_FINITE;
}

/* Where a parameter is and how long; null for those that need more than a copy. */
static double *parameter(bough_data *d, bough_parameter which, int *count) {
  const bough_model *m = d->model;
  *count = m->nu;
  switch (which) {
    case BOUGH_GRAVITY: *count = 3; return d->gravity;
    case BOUGH_DAMPING: return d->damping;
    case BOUGH_STIFFNESS: return d->stiffness;
    case BOUGH_REST: return d->rest;
    case BOUGH_ARMATURE: return d->armature;
    case BOUGH_INERTIA: *count = 10 * m->nb; return (double *)(void *)d->inertia; /* ten doubles each */
    case BOUGH_MODAL_DAMPING_SCALE: *count = m->nb; return d->modal_scale;
    case BOUGH_MODE: *count = m->n_modes; return d->mode;
    default: return NULL;
  }
}

/* The modes of a body are held together or not at all. */
static bough_status set_held(bough_data *d, const double *values) {
  const bough_model *m = d->model;
  for (int k = 0; k < m->nb; k++)
    for (int r = 1; r < m->body[k].nm; r++)
      if ((values[m->body[k].um] != 0.0) != (values[m->body[k].um + r] != 0.0)) return BOUGH_BAD_ARGUMENT;
  for (int i = 0; i < m->nu; i++) d->held[i] = values[i] != 0.0;
  bough_data_choose_paths(d);
  return BOUGH_OK;
}

bough_status bough_data_set(bough_data *d, bough_parameter which, const double *values, int count) {
  int size = 0;
  if (!d || !values) return BOUGH_BAD_ARGUMENT;
  double *target = parameter(d, which, &size);
  if ((!target && which != BOUGH_HELD) || count != size) return BOUGH_BAD_ARGUMENT;
  for (int i = 0; i < size; i++)
    if (!bough_finite(values[i])) return BOUGH_NOT_FINITE;
  if (which == BOUGH_HELD) return set_held(d, values);
  memcpy(target, values, (size_t)size * sizeof(double));
  if (which == BOUGH_ARMATURE) memcpy(d->hinge_mass, values, (size_t)size * sizeof(double));
  return BOUGH_OK;
}

bough_status bough_data_get(const bough_data *d, bough_parameter which, double *values, int count) {
  int size = 0;
  if (!d || !values) return BOUGH_BAD_ARGUMENT;
  bough_data copy = *d;
  const double *source = parameter(&copy, which, &size);
  if ((!source && which != BOUGH_HELD) || count != size) return BOUGH_BAD_ARGUMENT;
  if (source) memcpy(values, source, (size_t)size * sizeof(double));
  for (int i = 0; !source && i < size; i++) values[i] = d->held[i];
  return BOUGH_OK;
}

bough_status bough_data_copy(bough_data *d, const bough_data *from) {
  if (!d || !from || d->parameter_bytes != from->parameter_bytes || d->model->nu != from->model->nu || d->model->nb != from->model->nb)
    return BOUGH_BAD_ARGUMENT;
  memcpy(d->gravity, from->gravity, from->parameter_bytes); /* the first of them: lay_out puts them one after the other */
  bough_data_choose_paths(d);
  return BOUGH_OK;
}

bough_status bough_data_set_rigid(bough_data *d, int body, double mass, const double com[3], const double inertia[6]) {
  if (!d || body < 0 || body >= d->model->nb || d->model->body[body].nm > 0 || !com || !inertia) return BOUGH_BAD_ARGUMENT;
  const double *C = d->model->body[body].axes, *I = inertia; /* x_user = C x_kernel */
  double c[3];
  const double J[9] = {I[0], I[3], I[4], I[3], I[1], I[5], I[4], I[5], I[2]};
  double turned[9], sum = mass;
  for (int i = 0; i < 3; i++) c[i] = C[i] * com[0] + C[3 + i] * com[1] + C[6 + i] * com[2];
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++) {
      double v = i == j ? mass * (c[0] * c[0] + c[1] * c[1] + c[2] * c[2]) : 0.0;
      v -= mass * c[i] * c[j];
      for (int a = 0; a < 3; a++)
        for (int b = 0; b < 3; b++) v += C[3 * a + i] * J[3 * a + b] * C[3 * b + j];
      turned[3 * i + j] = v;
      sum += v;
    }
  if (!bough_finite(sum)) return BOUGH_NOT_FINITE;
  bough_inertia *out = d->inertia + body;
  out->m = mass;
  for (int i = 0; i < 3; i++) out->mp[i] = mass * c[i], out->J[i] = turned[4 * i];
  out->J[3] = turned[1], out->J[4] = turned[2], out->J[5] = turned[5];
  return BOUGH_OK;
}
