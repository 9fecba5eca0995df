/* rows.c - a run with the rows that are recorded on its way: the loop over output times. */
#include "integrators/sim.h"

/* inputs of piece p into `work`: values at its knot, then slopes */
static const double *piece_at(const bough_sim *sim, const bough_rows *r, int p) {
  for (int k = 0; k < r->input_count; k++) {
    const size_t at = (size_t)k * (size_t)r->knot_count + (size_t)p;
    r->work[r->places[k]] = r->input_values[at];
    r->work[sim->n_inputs + r->places[k]] = r->input_slopes[at];
  }
  return r->work;
}

/* from the knot of piece p on; no step looks beyond its end */
static bough_status enter(bough_sim *sim, const bough_rows *r, int p) {
  bough_sim_set_stop(sim, r->knots[p + 1 < r->knot_count ? p + 1 : p]);
  return bough_sim_set_inputs(sim, r->knots[p], 1, piece_at(sim, r, p));
}

/* what there is to be seen at time t and state q, u, into row i; inputs that jump at t are as they are afterwards */
static bough_status record(bough_sim *sim, const bough_rows *r, int i, int p, double t, const double *q, const double *u) {
  const size_t n = (size_t)i, nu = (size_t)sim->nu, nb = (size_t)sim->model->nb, count = (size_t)r->count;
  const int width = sim->n_inputs;
  while (p + 1 < r->knot_count && r->knots[p + 1] <= t) p++;
  const double *value = piece_at(sim, r, p), *slope = value + width, dt = t - r->knots[p];
  for (int k = 0; k < width; k++) { /* sim->tau is free between two steps */
    const double change = dt * slope[k]; /* apart: the same digits on every CPU */
    sim->tau[k] = value[k] + change;
  }
  for (int k = 0; k < sim->nu; k++) r->motion[n * nu + (size_t)k] = sim->motion[k];
  const size_t loads = 6 * (size_t)sim->model->n_load_rows;
  for (size_t k = 0; k < loads; k++) r->loads[n * loads + k] = sim->loads[k];
  const bough_point at = {t, q, u, sim->tau, sim->motion, sim->loads, NULL};
  const bough_values *v = &r->values;
  bough_values row = {.udot = v->udot + n * nu, .force = v->force + n * nu, .reaction = v->reaction + n * 6 * nb};
  if (v->closure) row.closure = v->closure + n * 6 * (size_t)sim->model->n_closures;
  if (v->coupling) row.coupling = v->coupling + n * (size_t)sim->model->n_couplings;
  if (count > 0)
    row.pose = v->pose + n * 7 * count, row.velocity = v->velocity + n * 6 * count,
    row.acceleration = v->acceleration + n * 6 * count,
    row.local = v->local ? v->local + n * 9 * count : NULL, row.deflection = v->deflection ? v->deflection + n * 6 * count : NULL;
  if (v->element) row.element = v->element + n * (size_t)sim->model->n_element_values;
  const size_t drives = (size_t)sim->model->n_drives;
  if (v->friction) row.friction = v->friction + n * drives;
  if (v->sticking) row.sticking = v->sticking + n * drives;
  if (v->contact) row.contact = v->contact + n * drives;
  const bough_status status = bough_evaluate(sim->model, sim->data, &at, r->count, r->nodes, &row);
  if (status != BOUGH_OK) sim->where = sim->data->where, sim->where.time = t;
  else bough_watch_reaction(sim->data, t, row.reaction);
  return status;
}

static int fits(const bough_sim *sim, const bough_rows *r) {
  const bough_values *v = &r->values;
  if (!r->times || !r->knots || !r->work || r->knot_count < 1 || r->input_count < 0 || r->count < 0) return 0;
  if (!r->q || !r->u || !r->motion || !r->loads || !v->udot || !v->force || !v->reaction) return 0;
  if (r->count > 0 && (!r->nodes || !v->pose || !v->velocity || !v->acceleration)) return 0;
  if (r->input_count > 0 && (!r->places || !r->input_values || !r->input_slopes)) return 0;
  for (int k = 0; k < r->input_count; k++)
    if (r->places[k] < 0 || r->places[k] >= sim->n_inputs) return 0;
  return 1;
}

bough_status bough_sim_record(bough_sim *sim, const bough_rows *r, int end, int *row, int *piece) {
  if (!sim || !r || !row || !piece || !fits(sim, r) || *row < 0 || *piece < -1 || *piece >= r->knot_count)
    return BOUGH_BAD_ARGUMENT;
  bough_status status = BOUGH_OK;
  if (*piece < 0) status = enter(sim, r, *piece = 0);
  for (; status == BOUGH_OK && *row < end; ++*row) {
    const double t = r->times[*row];
    double *q = r->q + (size_t)*row * (size_t)sim->nq, *u = r->u + (size_t)*row * (size_t)sim->nu;
    while (status == BOUGH_OK && *piece + 1 < r->knot_count && r->knots[*piece + 1] < t) { /* a step ends at each knot */
      status = bough_sim_advance(sim, r->knots[*piece + 1], 0, NULL, NULL, q, u);
      if (status == BOUGH_OK) status = enter(sim, r, ++*piece);
    }
    if (status == BOUGH_OK) status = bough_sim_advance(sim, t, 0, NULL, NULL, q, u);
    if (status == BOUGH_OK) status = record(sim, r, *row, *piece, t, q, u);
    if (status != BOUGH_OK) return status; /* the row is not there; after a pause the same call goes on */
  }
  return status;
}
