/* derivatives.c - exact derivatives of outputs by states and inputs, along directions. */
#include <stdlib.h>
#include <string.h>

#include "inside.h"

/* Directions lie like the states and inputs of the instance, derivatives like its values. */
typedef struct {
  double *seed, *value; /* one allocation each */
} tangent_work;

/* states and inputs: what derivatives are taken by */
static int is_known(const bough_instance *f, const bough_variable *v) {
  const double *own = bough_field(f, v);
  return own && own >= f->arrays && own < f->inputs_dot;
}
static double *seed_place(const bough_instance *f, const tangent_work *w, const bough_variable *v) {
  return w->seed + (bough_field(f, v) - f->arrays);
}
static const double *derivative_place(const bough_instance *f, const tangent_work *w, const bough_variable *v) {
  return is_known(f, v) ? seed_place(f, w, v) : w->value + (bough_field(f, v) - f->values);
}

static bough_instance_status tangent_open(bough_instance *f, tangent_work *w) {
  w->seed = calloc((size_t)(f->inputs_dot - f->arrays) + 1, sizeof(double));
  w->value = calloc(f->value_count + 1, sizeof(double));
  return w->seed && w->value ? INSTANCE_OK : bough_instance_no_memory(f);
}
static void tangent_close(tangent_work *w) {
  free(w->seed);
  free(w->value);
}

static bough_point seed_point(const bough_instance *f, const tangent_work *w) {
  bough_point along = {0};
#define BOUGH_STATE(number, KIND, member, count) along.member = w->seed + (f->member - f->arrays);
#define BOUGH_INPUT(number, KIND, member, count) along.member = w->seed + (f->member - f->arrays);
#include "fields.def"
  return along;
}

static bough_instance_status tangent_run(bough_instance *f, tangent_work *w) {
  bough_instance_status applied = bough_mechanism_apply(f);
  if (applied != INSTANCE_OK) return applied;
  const bough_point at = bough_instance_point(f), along = seed_point(f, w);
  bough_values dz = {0};
#define BOUGH_VALUE(number, KIND, member, count, type, when) dz.member = w->value + (f->member - f->values);
#include "fields.def"
  const bough_status status = bough_directional(f->model, f->data, &at, &along, f->resource->n_sensors,
                                                f->resource->sensor, &dz);
  if (status == BOUGH_OK) return INSTANCE_OK;
  bough_instance_explain(f, INSTANCE_ERROR, status, bough_data_where(f->data), "derivatives cannot be computed");
  return INSTANCE_ERROR;
}

static const bough_variable *known_variable(bough_instance *f, uint32_t vr) {
  const bough_variable *v = bough_instance_find(f, vr, TYPE_REAL);
  if (!v || is_known(f, v)) return v;
  bough_instance_log(f, INSTANCE_ERROR, LOG_ERROR, "%s: '%s' is not a known: derivatives are given by states and inputs.", f->function, v->name);
  return NULL;
}
static const bough_variable *unknown_variable(bough_instance *f, uint32_t vr) {
  const bough_variable *v = bough_instance_find(f, vr, TYPE_REAL);
  if (!v || v->role == ROLE_OUTPUT || v->role == ROLE_LOCAL) return v;
  bough_instance_log(f, INSTANCE_ERROR, LOG_ERROR, "%s: '%s' is not an unknown: derivatives are given of outputs and derivatives.", f->function, v->name);
  return NULL;
}

bough_instance_status bough_mechanism_directional(bough_instance *f, const uint32_t *unknowns, size_t n_unknowns, const uint32_t *knowns,
                           size_t n_knowns, const double *seed, double *sensitivity) {
  tangent_work w = {0};
  bough_instance_status status = tangent_open(f, &w);
  for (size_t i = 0; status == INSTANCE_OK && i < n_unknowns; i++)
    if (!unknown_variable(f, unknowns[i])) status = INSTANCE_ERROR;
  for (size_t i = 0; status == INSTANCE_OK && i < n_knowns; i++) {
    const bough_variable *v = known_variable(f, knowns[i]);
    if (!v) status = INSTANCE_ERROR;
    for (int c = 0; v && c < v->count; c++) seed_place(f, &w, v)[c] += *seed++;
  }
  if (status == INSTANCE_OK) status = tangent_run(f, &w);
  for (size_t i = 0; status == INSTANCE_OK && i < n_unknowns; i++) {
    const bough_variable *v = f->resource->variable + unknowns[i];
    for (int c = 0; c < v->count; c++) *sensitivity++ = derivative_place(f, &w, v)[c];
  }
  tangent_close(&w);
  return status;
}

bough_instance_status bough_mechanism_adjoint(bough_instance *f, const uint32_t *unknowns, size_t n_unknowns, const uint32_t *knowns,
                       size_t n_knowns, const double *seed, double *sensitivity) {
  tangent_work w = {0};
  bough_instance_status status = tangent_open(f, &w);
  for (size_t i = 0; status == INSTANCE_OK && i < n_unknowns; i++)
    if (!unknown_variable(f, unknowns[i])) status = INSTANCE_ERROR;
  for (size_t i = 0; status == INSTANCE_OK && i < n_knowns; i++)
    if (!known_variable(f, knowns[i])) status = INSTANCE_ERROR;
  for (size_t i = 0; status == INSTANCE_OK && i < n_knowns; i++) { /* one direction per known: column dotted with the seed */
    const bough_variable *v = f->resource->variable + knowns[i];
    for (int c = 0; status == INSTANCE_OK && c < v->count; c++) {
      seed_place(f, &w, v)[c] = 1.0;
      status = tangent_run(f, &w);
      double sum = 0.0;
      const double *s = seed;
      for (size_t j = 0; j < n_unknowns; j++) {
        const bough_variable *z = f->resource->variable + unknowns[j];
        for (int e = 0; e < z->count; e++) sum += *s++ * derivative_place(f, &w, z)[e];
      }
      seed_place(f, &w, v)[c] = 0.0;
      *sensitivity++ = sum;
    }
  }
  tangent_close(&w);
  return status;
}

/* time derivative of outputs: along the flow, and along the inputs' own derivatives */
bough_instance_status bough_mechanism_output_rates(bough_instance *f, const uint32_t *vr, size_t count, double *value) {
  tangent_work w = {0};
  bough_instance_status status = bough_mechanism_evaluate(f, 0);
  if (status != INSTANCE_OK) return status;
  status = tangent_open(f, &w);
  for (size_t i = 0; status == INSTANCE_OK && i < count; i++)
    if (!unknown_variable(f, vr[i])) status = INSTANCE_ERROR;
  if (status == INSTANCE_OK) {
    memcpy(w.seed + (f->q - f->arrays), f->qdot, (size_t)f->nq * sizeof(double));
    memcpy(w.seed + (f->u - f->arrays), f->udot, (size_t)f->nu * sizeof(double));
    memcpy(w.seed + (f->inputs - f->arrays), f->inputs_dot, (size_t)f->inputs_width * sizeof(double));
    status = tangent_run(f, &w);
  }
  for (size_t i = 0; status == INSTANCE_OK && i < count; i++) {
    const bough_variable *v = f->resource->variable + vr[i];
    for (int c = 0; c < v->count; c++) *value++ = derivative_place(f, &w, v)[c];
  }
  tangent_close(&w);
  return status;
}
