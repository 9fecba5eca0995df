/* multipliers.inl - accelerations with multipliers, from the P, G and D that a forward sweep left.
 *
 *   udot = udot_0 + M^-1 J' lambda,    A lambda = -(J udot_0 + Jdot u),    A = J M^-1 J'
 *
 * With the innovations factorization (56), M^-1 = (1 - H Psi K)' D^-1 (1 - H Psi K), a row j of J needs one inward sweep of z
 * alone: y_j = D^-1/2 (1 - H Psi K) J_j', its whitened innovations, and A = Y Y' is a Gram matrix, positive semi-definite by
 * construction. The sweep touches the bodies from the two ends to the base and no others, and A(i, j) only those that both
 * rows touch. lambda then enters once, as the generalized force J' lambda, by one inward and one outward sweep.
 *
 * Rank: rows are scaled to one unit (turns times a length of the mechanism), A to a unit diagonal, and factorized with complete
 * pivoting. A pivot is the squared sine of the angle between a row and those before it: below RANK_MIN the row says nothing new
 * and is dropped, and so is a row that moves nothing (its part of the largest diagonal is below NOTHING) or whose direction is
 * about to vanish (the square of `part` is below RANK_MIN: jacobian.inl). Of all multipliers
 * that give the same accelerations the smallest ones (of the scaled rows) are taken: lambda less its part in the null space
 * N = (-L1^-T L2', 1)' of A. */
#define RANK_MIN 1e-11
#define NOTHING 1e-22

/* modes of body k: eps of tau and of what the children handed over becomes L^-1 eps in y; z_r becomes z_R */
static void innovate_modes(const bough_sweep *s, const bough_body *b, const body_work *x, const real *tau, real *y, real z[6]) {
  const int nm = b->nm;
  for (int r = 0; r < nm; r++) {
    if (!b->user_basis)
      y[r] += tau[r];
    else
      for (int q = 0; q < nm; q++) y[r] += b->T[q * nm + r] * tau[q];
  }
  if (s->held[b->um]) return; /* y stays the force on them */
  for (int r = 0; r < nm; r++) {
    real v = y[r];
    for (int q = 0; q < r; q++) v -= x->ff.L[AT(r, q)] * y[q];
    y[r] = v * x->ff.L[AT(r, r)];
    for (int i = 0; i < 6; i++) z[i] += x->rf.mu_L[6 * r + i] * y[r];
  }
}

/* hinge of body k: whitened innovations in y, of free DOFs; z_R becomes z_R^+ */
static void innovate_hinge(const bough_sweep *s, const bough_body *b, const body_work *x, const real *tau, real *y, real z[6]) {
  const hinge_gain *gain = x->gain;
  if (b->revolute) {
    y[0] = splat(0);
    if (s->held[b->u0]) return;
    const real D = x->sum->P[AT(2, 2)] + s->hinge_mass[b->u0], eps = tau[0] - z[2];
    for (int i = 0; i < 6; i++) z[i] += gain->G[i] * eps;
    y[0] = eps / lane_sqrt(D);
    return;
  }
  real eps[6];
  int n = 0, dof[6];
  for (int j = 0; j < b->nh; j++) {
    y[j] = splat(0);
    if (s->held[b->u0 + j]) continue;
    real v = tau[j];
    for (int i = 0; i < 6; i++) v -= x->H[6 * j + i] * z[i];
    dof[n] = j, eps[n++] = v;
  }
  for (int c = 0; c < n; c++)
    for (int i = 0; i < 6; i++) z[i] += gain[c].G[i] * eps[c];
  for (int c = 0; c < n; c++) {
    real v = eps[c];
    for (int e = 0; e < c; e++) v -= x->D_R[AT(c, e)] * y[dof[e]];
    y[dof[c]] = v * x->D_R[AT(c, c)];
  }
}

/* body k of an inward sweep of z alone; z_R of its hinge is left in z_R unless null */
static void innovate_body(const bough_sweep *s, sweep_work *w, int k, const real *tau, real *y, real *z_all, real *z_R) {
  const bough_body *b = s->model->body + k;
  const body_work *x = w->body + k;
  real z[6], f[6];
  for (int i = 0; i < 6; i++) z[i] = z_all[6 * k + i], z_all[6 * k + i] = splat(0);
  if (b->nm > 0) innovate_modes(s, b, x, tau + b->um, y + b->um, z);
  for (int i = 0; z_R && i < 6; i++) z_R[6 * k + i] = z[i];
  innovate_hinge(s, b, x, tau + b->u0, y + b->u0, z);
  if (b->parent < 0) return;
  const bough_body *p = s->model->body + b->parent;
  rotate(x->R, z, f), rotate(x->R, z + 3, f + 3);
  if (p->nm > 0) {
    real *pull = w->scratch.modal;
    port_forces(s, b, x, f, pull);
    for (int r = 0; r < p->nm; r++) y[p->um + r] -= pull[r];
  }
  for (int i = 0; i < 6; i++) z_all[6 * b->parent + i] += f[i];
  cross_add(x->l, f + 3, z_all + 6 * b->parent);
}

/* whitened innovations y of a row of J */
static void row_innovations(const bough_sweep *s, sweep_work *w, real *z, inward_path path, const real *row, real *y) {
  const bough_model *m = s->model;
  memset(y, 0, (size_t)m->nu * sizeof(real));
  for (int k = path_next(m, &path); k >= 0; k = path_next(m, &path)) {
    innovate_body(s, w, k, row, y, z, NULL);
    for (int i = 0; i < m->body[k].nm && s->held[m->body[k].um]; i++) y[m->body[k].um + i] = splat(0);
  }
}

/* part of the product of two rows' innovations that body k has */
static real body_product(const bough_body *b, const real *y, const real *other) {
  real v = splat(0);
  for (int e = b->u0; e < b->um + b->nm; e++) v += y[e] * other[e];
  return v;
}

static real *entry(const bough_model *m, constraint_work *c, int i, int j) {
  return c->A + (size_t)i * (size_t)m->n_rows + (size_t)j;
}

/* Places first .. last - 1 of `order` are one group; its pivots come first and end at `end`. */
typedef struct {
  int first, end, last;
} group_range;
static group_range group_at(const constraint_work *c, int g) {
  const group_range r = {c->groups.first[g], c->groups.first[g] + c->pivots[g], c->groups.first[g + 1]};
  return r;
}

/* A = Y Y', lower triangle of each group */
static void gram(const bough_model *m, constraint_work *c) {
  const size_t nu = (size_t)m->nu;
  memcpy(c->order, c->groups.member, (size_t)m->n_rows * sizeof(int));
  for (int i = 0; i < m->n_rows; i++) {
    const int row = c->order[i], first_place = c->groups.first[c->groups.of[row]];
    const real *Yi = c->Y + (size_t)row * nu;
    inward_path path = path_of_row(m, row);
    for (int j = first_place; j <= i; j++) *entry(m, c, i, j) = splat(0);
    for (int k = path_next(m, &path); k >= 0; k = path_next(m, &path)) {
      for (int j = first_place; j <= i; j++) *entry(m, c, i, j) += body_product(m->body + k, Yi, c->Y + (size_t)c->order[j] * nu);
    }
  }
}

static void swap_rows(const bough_model *m, constraint_work *c, int first, int last, int p, int q) { /* p < q, lower triangle */
  real t;
  for (int j = first; j < p; j++) t = *entry(m, c, p, j), *entry(m, c, p, j) = *entry(m, c, q, j), *entry(m, c, q, j) = t;
  for (int j = p + 1; j < q; j++) t = *entry(m, c, j, p), *entry(m, c, j, p) = *entry(m, c, q, j), *entry(m, c, q, j) = t;
  for (int j = q + 1; j < last; j++)
    t = *entry(m, c, j, p), *entry(m, c, j, p) = *entry(m, c, j, q), *entry(m, c, j, q) = t;
  t = *entry(m, c, p, p), *entry(m, c, p, p) = *entry(m, c, q, q), *entry(m, c, q, q) = t;
  const int o = c->order[p];
  c->order[p] = c->order[q], c->order[q] = o;
}

/* roots of the diagonal of A, zero for rows that move nothing */
static void diagonal_roots(const bough_model *m, constraint_work *c) {
  double largest = 0.0;
  for (int i = 0; i < m->n_rows; i++) {
    const double v = lane_get(*entry(m, c, i, i), 0);
    largest = v > largest ? v : largest;
  }
  c->least = 1.0;
  for (int i = 0; i < m->n_rows; i++) {
    const int row = c->order[i];
    const double v = lane_get(*entry(m, c, i, i), 0), part = c->part[row] * c->part[row];
    c->diagonal[row] = v > NOTHING * largest && part > c->rank_min ? sqrt(v) : 0.0;
    if (c->diagonal[row] > 0.0 && part < c->least) c->least = part;
  }
}

/* A = L L' of a group with complete pivoting, unit diagonal first; leaves L, with its diagonal, in the lower triangle. Returns
 * the number of its pivots. */
static int factor_group(const bough_model *m, constraint_work *c, int first, int last) {
  for (int i = first; i < last; i++)
    for (int j = first; j <= i; j++) {
      const double d = c->diagonal[c->order[i]] * c->diagonal[c->order[j]];
      *entry(m, c, i, j) = d > 0.0 ? *entry(m, c, i, j) / d : splat(0);
    }
  for (int p = first; p < last; p++) {
    int best = p;
    for (int i = p + 1; i < last; i++)
      if (lane_get(*entry(m, c, i, i), 0) > lane_get(*entry(m, c, best, best), 0)) best = i;
    const double pivot = lane_get(*entry(m, c, best, best), 0);
    if (!(pivot > c->rank_min)) return p - first;
    if (pivot < c->least) c->least = pivot;
    if (best != p) swap_rows(m, c, first, last, p, best);
    const real root = lane_sqrt(*entry(m, c, p, p)), inverse = 1.0 / root;
    *entry(m, c, p, p) = root;
    for (int i = p + 1; i < last; i++) *entry(m, c, i, p) *= inverse;
    for (int i = p + 1; i < last; i++) {
      const real v = *entry(m, c, i, p);
      if (v == 0.0) continue;
      for (int j = p + 1; j <= i; j++) *entry(m, c, i, j) -= v * *entry(m, c, j, p);
    }
  }
  return last - first;
}

static void pivot_factor(const bough_model *m, constraint_work *c) {
  diagonal_roots(m, c);
  c->rank = 0;
  for (int g = 0; g < c->groups.count; g++) {
    c->pivots[g] = factor_group(m, c, c->groups.first[g], c->groups.first[g + 1]);
    c->rank += c->pivots[g];
  }
}

/* x <- L1^-1 x and x <- L1^-T x, on the pivots of a group */
static void solve_lower(const bough_model *m, constraint_work *c, group_range r, real *x) {
  for (int i = r.first; i < r.end; i++) {
    for (int j = r.first; j < i; j++) x[i] -= *entry(m, c, i, j) * x[j];
    x[i] /= *entry(m, c, i, i);
  }
}
static void solve_upper(const bough_model *m, constraint_work *c, group_range r, real *x) {
  for (int i = r.end; i-- > r.first;) {
    for (int j = i + 1; j < r.end; j++) x[i] -= *entry(m, c, j, i) * x[j];
    x[i] /= *entry(m, c, i, i);
  }
}

/* Take the null space of A off lambda, one vector N_j = (-L1^-T L2_j', 1) at a time against those before it: modified
 * Gram-Schmidt on the vectors of a group, which are kept in the rows of Y beyond use. */
static void least_norm(const bough_model *m, constraint_work *c, group_range r, real *lambda) {
  const int n = r.last - r.first;
  if (n > m->nu) return; /* more rows than a row of Y holds: shared as found */
  int kept = 0;
  for (int j = r.end; j < r.last; j++) {
    if (c->diagonal[c->order[j]] == 0.0) continue; /* moves nothing: no multiplier */
    real *own = c->Y + (size_t)kept * (size_t)m->nu, *x = c->null, size = splat(0), part = splat(0);
    for (int i = r.first; i < r.last; i++) x[i] = i < r.end ? -*entry(m, c, j, i) : splat(i == j);
    solve_upper(m, c, r, x);
    for (int i = 0; i < n; i++) {
      const double d = c->diagonal[c->order[r.first + i]];
      own[i] = d > 0.0 ? x[r.first + i] / d : splat(0);
    }
    for (int e = 0; e < kept; e++) {
      const real *E = c->Y + (size_t)e * (size_t)m->nu;
      part = splat(0);
      for (int i = 0; i < n; i++) part += E[i] * own[i];
      for (int i = 0; i < n; i++) own[i] -= part * E[i];
    }
    for (int i = 0; i < n; i++) size += own[i] * own[i];
    const real inverse = 1.0 / lane_sqrt(size);
    part = splat(0);
    for (int i = 0; i < n; i++) own[i] *= inverse;
    for (int i = 0; i < n; i++) part += own[i] * lambda[r.first + i];
    for (int i = 0; i < n; i++) lambda[r.first + i] -= part * own[i];
    kept++;
  }
}

/* lambda of A lambda = b, in place of lambda; b of the scaled rows. Uses Y. */
static void multipliers(const bough_model *m, constraint_work *c) {
  real *x = c->sorted; /* in the order of the pivots */
  for (int g = 0; g < c->groups.count; g++) {
    const group_range r = group_at(c, g);
    for (int i = r.first; i < r.last; i++) x[i] = i < r.end ? c->b[c->order[i]] / c->diagonal[c->order[i]] : splat(0);
    solve_lower(m, c, r, x);
    solve_upper(m, c, r, x);
    for (int i = r.first; i < r.end; i++) x[i] /= c->diagonal[c->order[i]];
    if (r.end < r.last) least_norm(m, c, r, x);
  }
  for (int i = 0; i < m->n_rows; i++) c->lambda[c->order[i]] = x[i];
}

/* accelerations of body k from the innovations y of tau, outward */
static void unfold_answer(const bough_sweep *s, sweep_work *w, int k, const real *y, real *du) {
  const bough_body *b = s->model->body + k;
  body_work *x = w->body + k;
  real plus[6], *alpha = x->alpha;
  for (int i = 0; i < 6; i++) plus[i] = splat(0);
  if (b->parent >= 0) port_acceleration(s, b, w, x, plus);
  for (int i = 0; i < 6; i++) alpha[i] = plus[i];
  real nu[6];
  int n = 0, dof[6];
  for (int j = 0; j < b->nh; j++) {
    du[b->u0 + j] = splat(0);
    if (!s->held[b->u0 + j]) dof[n] = j, nu[n++] = y[b->u0 + j];
  }
  if (b->revolute && n > 0)
    nu[0] = nu[0] / lane_sqrt(x->sum->P[AT(2, 2)] + s->hinge_mass[b->u0]);
  else
    for (int c = n; c-- > 0;) {
      for (int e = c + 1; e < n; e++) nu[c] -= x->D_R[AT(e, c)] * nu[e];
      nu[c] *= x->D_R[AT(c, c)];
    }
  for (int c = 0; c < n; c++) {
    real H[6], v = nu[c];
    for (int i = 0; i < 6; i++) v -= x->gain[c].G[i] * plus[i];
    joint_row(b, x, dof[c], H);
    for (int i = 0; i < 6; i++) alpha[i] += H[i] * v;
    du[b->u0 + dof[c]] = v;
  }
  const int nm = b->nm;
  if (nm == 0) return;
  for (int j = nm; j-- > 0;) {
    real v = splat(0);
    if (!s->held[b->um]) {
      v = y[b->um + j];
      for (int i = 0; i < 6; i++) v -= x->rf.mu_L[6 * j + i] * alpha[i];
      for (int q = j + 1; q < nm; q++) v -= x->ff.L[AT(q, j)] * x->xiddot[q];
      v *= x->ff.L[AT(j, j)];
    }
    x->xiddot[j] = v;
  }
  for (int r = 0; r < nm; r++) {
    real v = b->user_basis ? splat(0) : x->xiddot[r];
    for (int e = 0; b->user_basis && e < nm; e++) v += b->T[r * nm + e] * x->xiddot[e];
    du[b->um + r] = v;
  }
}

/* what lambda adds to the forces of held modes: mu* alpha - (what the children hand over) */
static void held_modes_force(const bough_sweep *s, const bough_body *b, const body_work *x, const real *y, real *force) {
  const int nm = b->nm;
  for (int r = 0; r < nm && s->held[b->um]; r++) {
    real v = -y[b->um + r];
    for (int i = 0; i < 6; i++) v += x->rf.mu[6 * r + i] * x->alpha[i];
    if (!b->user_basis)
      force[b->um + r] += v;
    else
      for (int e = 0; e < nm; e++) force[b->um + e] += b->Tinv[r * nm + e] * v;
  }
}

/* M^-1 tau into du, and what it adds to the force across each hinge, df = P alpha + z_R */
static void answer(const bough_sweep *s, sweep_work *w, constraint_work *c, int forces) {
  const bough_model *m = s->model;
  memset(c->y, 0, (size_t)m->nu * sizeof(real));
  for (int k = m->nb; k-- > 0;) innovate_body(s, w, k, c->tau, c->y, c->z, c->df);
  for (int k = 0; k < m->nb; k++) {
    unfold_answer(s, w, k, c->y, c->du);
    if (!forces) continue;
    symmetric_add(w->body[k].sum->P, w->body[k].alpha, c->df + 6 * k);
    held_modes_force(s, m->body + k, w->body + k, c->y, c->force);
  }
}

/* wrenches (torque, force; at the frame's origin, inertial axes) of closure i on its two ends */
static void closure_wrench(const bough_model *m, const constraint_work *c, int i, real on_A[6], real on_B[6]) {
  const bough_closure *closure = m->closure + i;
  const end_frame *A = c->end + 2 * i, *B = A + 1;
  for (int j = 0; j < 6; j++) on_A[j] = on_B[j] = splat(0);
  for (int r = 0; r < bough_closure_types[closure->type].rows; r++) {
    closure_row row;
    closure_row_of(closure, A, B, r, &row);
    const real l = c->lambda[closure->row0 + r] * c->scale[closure->row0 + r];
    for (int j = 0; j < 6; j++) on_A[j] += l * row.A[j], on_B[j] += l * row.B[j];
  }
}

/* forces of held DOFs: what lambda adds, less J' lambda itself, which acts on them too */
static void held_forces(const bough_sweep *s, const sweep_work *w, constraint_work *c) {
  for (int k = 0; k < s->model->nb; k++) {
    const bough_body *b = s->model->body + k;
    for (int j = 0; j < b->nh; j++) {
      if (!s->held[b->u0 + j]) continue;
      real H[6], v = -c->tau[b->u0 + j];
      joint_row(b, w->body + k, j, H);
      for (int i = 0; i < 6; i++) v += H[i] * c->df[6 * k + i];
      c->force[b->u0 + j] += v;
    }
  }
}

/* The hinges' reactions. The generalized force J' lambda stands for the closures' wrenches: what these carry past a hinge
 * is taken off the force across it. `kin` are node kinematics, in which J was made. */
static void constraint_reactions(const bough_sweep *kin, sweep_work *w, constraint_work *c, const real *q, const real *u,
                                 real *reaction) {
  const bough_model *m = kin->model;
  memset(c->wrench, 0, 6 * (size_t)m->nb * sizeof(real));
  constraint_frames(kin, w, c, q, u);
  for (int i = 0; i < m->n_closures; i++) {
    real on_A[6], on_B[6];
    closure_wrench(m, c, i, on_A, on_B);
    end_row_add(kin, w, &m->closure[i].a, c->end + 2 * i, on_A, NULL, c->wrench);
    end_row_add(kin, w, &m->closure[i].b, c->end + 2 * i + 1, on_B, NULL, c->wrench);
  }
  for (int k = 0; k < m->nb; k++) {
    real f[6], turned[6];
    for (int i = 0; i < 6; i++) f[i] = c->df[6 * k + i] - c->wrench[6 * k + i];
    rotate_const(m->body[k].axes, f, turned), rotate_const(m->body[k].axes, f + 3, turned + 3);
    for (int i = 0; i < 6; i++) reaction[6 * k + i] = c->reaction[6 * k + i] + turned[i];
  }
}

/* closures [closures][6] and couplings of the multipliers, as bough_values has them */
static void constraint_outputs(const bough_model *m, const constraint_work *c, real *closure, real *coupling) {
  for (int i = 0; closure && i < m->n_closures; i++) {
    real on_A[6], on_B[6];
    closure_wrench(m, c, i, on_A, on_B);
    rotate_back(c->end[2 * i + 1].A, on_B, closure + 6 * i), rotate_back(c->end[2 * i + 1].A, on_B + 3, closure + 6 * i + 3);
  }
  for (int i = 0; coupling && i < m->n_couplings; i++) coupling[i] = c->lambda[m->coupling[i].row];
}

#ifdef LANE_ONE
/* Rows of a branch take the place of those that vanish: B x = -J u moves positions, B x = -B u/2 speeds, since B u is quadratic
 * in u. */
static void take_branch(const bough_model *m, constraint_work *c, const bough_branch *branch, const real *u) {
  for (int i = 0; i < m->n_rows; i++) {
    if (!branch->turned[i]) continue;
    const size_t first = (size_t)i * (size_t)m->nu;
    memcpy(c->J + first, branch->row + first, (size_t)m->nu * sizeof(real));
    c->g[i] = branch->rate[i], c->rate[i] = 0.0, c->part[i] = 1.0;
    for (int j = 0; j < m->nu; j++) c->rate[i] += 0.5 * c->J[first + (size_t)j] * u[j];
  }
}

void bough_dependence(const bough_model *m, const void *constraints, int place, double *N) {
  constraint_work *c = (constraint_work *)(uintptr_t)constraints; /* its factor is read only */
  real *x = c->null;
  const double own = c->diagonal[c->order[place]];
  for (int i = 0; i < m->n_rows; i++) N[i] = 0.0;
  N[c->order[place]] = 1.0;
  if (own == 0.0) return;
  const group_range r = group_at(c, c->groups.of[c->order[place]]);
  for (int i = r.first; i < r.end; i++) x[i] = -*entry(m, c, place, i);
  solve_upper(m, c, r, x);
  for (int i = r.first; i < r.end; i++) N[c->order[i]] = x[i] * own / c->diagonal[c->order[i]];
}
#endif

#ifdef LANE_ONE
#include "constraints/soft_answer.inl"
#endif

/* The forward sweep with multipliers: J x + target = 0 for the answer x of the tree. */
static void constrained(const bough_forward_ops *ops, const bough_sweep *s, const bough_sweep *kin, void *work,
                        void *constraints, const bough_constrained *in, bough_target target) {
  constraint_work *c = constraints;
  const bough_model *m = s->model;
  real *x = in->udot;
  if (m->n_rows > 0) constraint_rows(kin, work, c, in->q, in->rate_u ? in->rate_u : in->u);
#ifdef LANE_ONE
  if (in->branch) take_branch(m, c, in->branch, in->rate_u);
#endif
  ops->forward(s, work, in->q, in->u, in->tau ? in->tau : c->zero, in->motion, in->loads, x, c->force,
               in->reaction ? c->reaction : NULL);
  bough_sweep still = *s; /* nothing but lambda acts */
  const double none[3] = {0, 0, 0};
  still.gravity = none;
  for (int i = 0; i < m->n_rows; i++) {
    const size_t first = (size_t)i * (size_t)m->nu;
    row_innovations(&still, work, c->z, path_of_row(m, i), c->J + first, c->Y + first);
  }
  gram(m, c);
  c->rank_min = in->singular > 0.0 ? in->singular : RANK_MIN;
  pivot_factor(m, c);
  const real *aim = target == TARGET_ACCELERATION ? c->bias : target == TARGET_SPEED ? c->rate : c->g;
  for (int i = 0; i < m->n_rows; i++) {
    const real *J = c->J + (size_t)i * (size_t)m->nu;
    real v = aim[i];
    if (target == TARGET_ACCELERATION && in->pull > 0.0) v += 2.0 * in->pull * c->rate[i] + in->pull * in->pull * c->g[i];
    for (int j = 0; j < m->nu; j++) v += J[j] * x[j];
    c->b[i] = -v;
  }
#ifdef LANE_ONE
  if (in->soft) soft_products(&still, work, c, in->soft);
#endif
  multipliers(m, c);
  memset(c->tau, 0, (size_t)m->nu * sizeof(real));
#ifdef LANE_ONE
  if (in->soft) soft_forces(m, c, in->soft, x);
#endif
  for (int i = 0; i < m->n_rows; i++)
    for (int j = 0; j < m->nu; j++) c->tau[j] += c->J[(size_t)i * (size_t)m->nu + (size_t)j] * c->lambda[i];
  answer(&still, work, c, in->force || in->reaction);
  for (int j = 0; j < m->nu; j++) x[j] += c->du[j];
  if (in->force || in->reaction) held_forces(s, work, c);
  for (int j = 0; in->force && j < m->nu; j++) ((real *)in->force)[j] = c->force[j];
  constraint_outputs(m, c, in->closure, in->coupling);
  if (in->reaction) constraint_reactions(kin, work, c, in->q, in->u, in->reaction);
}

#ifdef LANE_TANGENT
const void *bough_constraint_rates(const void *constraints, const double **scale) {
  const constraint_work *c = constraints;
  *scale = c->scale;
  return c->rate;
}
#endif

#ifdef LANE_ONE
bough_constraint_view bough_constraints_of(const void *constraints) {
  const constraint_work *c = constraints;
  const bough_constraint_view v = {c->J, c->g, c->rate, c->bias, c->scale, c->rank, c->least};
  return v;
}
int bough_row_at(const void *constraints, int place, int *dropped) {
  const constraint_work *c = constraints;
  const int row = c->order[place];
  *dropped = place >= group_at(c, c->groups.of[row]).end;
  return row;
}
#endif
