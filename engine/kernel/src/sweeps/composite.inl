/* composite.inl - the mass matrix by composite bodies, (50).
 *
 * R(k) is the modal inertia of everything outboard of hinge k with all DOFs frozen: its rigid block is kept in sum->P, its
 * mixed block in rf, its modal block in ff. X = R H' is then carried inward, and M(j, k) = H(j) X(j) read off.
 *
 * X is carried in one frame: inertial axes, about the O of the body that carries the tree. There phi is the identity, and the
 * work of X on an inboard DOF is six products with its column of PhiH = Phi* H* of that frame. PhiH has a row for each of
 * the six, so that the DOFs of a run of bodies, each the parent of the next, are neighbours. The modes of a body with several
 * children have a column for each of them; PhiH holds that of the child whose branch is at work. What a column has on its own
 * hinge is read off in O, where nothing cancels. */

/* one inward step of R: to the parent */
static void composite_hand(const bough_sweep *s, int k, sweep_work *w) {
  const bough_body *b = s->model->body + k;
  body_work *x = w->body + k;
  if (b->parent < 0) return;
  body_work *p = w->body + b->parent;
  real Gamma[21];
  const real none[6] = {splat(0), splat(0), splat(0), splat(0), splat(0), splat(0)};
  inertia_rotate(x->R, x->sum->P, Gamma);
  inertia_shift_add(x->l, Gamma, p->sum->P);
  hand_modes(s->model->body[b->parent].nm, x->l, Gamma, none, port_influence(s, b, x, w->scratch.Pi), p);
}

/* row j of the joint map of body b, revolute hinges included */
INLINE void joint_row(const bough_body *b, const body_work *x, int j, real H[6]) {
  for (int i = 0; i < 6; i++) H[i] = b->revolute ? splat(i == 2) : x->H[6 * j + i];
}

/* column of PhiH: a motion (angular, linear) of the point at r from the reference, in axes that A carries to the inertial ones */
static void place_motion(const real A[9], const real r[3], const real motion[6], int nu, real *column) {
  real v[6];
  rotate(A, motion, v), rotate(A, motion + 3, v + 3);
  cross_add(r, v, v + 3);
  for (int i = 0; i < 6; i++) column[i * nu] = v[i];
}

/* Where body k is, its run, and the columns of PhiH of its hinge. The frames of all bodies inboard are there. */
static void place_body(const bough_sweep *s, sweep_work *w, int k) {
  const bough_model *m = s->model;
  const bough_body *b = m->body + k;
  body_work *x = w->body + k;
  real *r = x->space->r;
  attitude_update(s, k, w);
  for (int i = 0; i < 3; i++) r[i] = splat(0);
  x->space->run = k, x->space->shown = -1;
  if (b->parent >= 0) {
    const bough_body *pb = m->body + b->parent;
    const body_work *p = w->body + b->parent;
    rotate(p->space->attitude, x->l, r);
    for (int i = 0; i < 3; i++) r[i] += p->space->r[i];
    if (pb->um + pb->nm == b->u0) x->space->run = p->space->run;
  }
  for (int j = 0; j < b->nh; j++) {
    real H[6];
    joint_row(b, x, j, H);
    place_motion(x->space->attitude, r, H, m->nu, w->PhiH + b->u0 + j);
  }
}

/* the columns of PhiH of all modes inboard of body k: at the ports of its own branch */
static void place_modes(const bough_sweep *s, sweep_work *w, int k) {
  const bough_model *m = s->model;
  for (int parent = m->body[k].parent; parent >= 0; k = parent, parent = m->body[k].parent) {
    const bough_body *pb = m->body + parent;
    body_work *p = w->body + parent;
    if (pb->nm == 0 || p->space->shown == k) continue;
    const real *Pi = port_influence(s, m->body + k, w->body + k, w->scratch.Pi);
    for (int r = 0; r < pb->nm; r++)
      place_motion(p->space->attitude, w->body[k].space->r, Pi + 6 * r, m->nu, w->PhiH + pb->um + r);
    p->space->shown = k;
  }
}

/* Carry a force X at body k's O inward: row [nu] gets its work on every inboard DOF, k's hinge first. */
static void carry_inward(const bough_sweep *s, int k, const sweep_work *w, const real X[6], real *row) {
  const bough_model *m = s->model;
  const int nu = m->nu;
  const bough_body *b = m->body + k;
  const body_work *x = w->body + k;
  real F[6];
  rotate(x->space->attitude, X, F), rotate(x->space->attitude, X + 3, F + 3);
  cross_add(x->space->r, F + 3, F);
  int end = b->u0;
  for (int first = x->space->run, last = k; last >= 0;) {
    const real *S = w->PhiH;
    for (int i = m->body[first].u0; i < end; i++)
      row[i] = S[i] * F[0] + S[nu + i] * F[1] + S[2 * nu + i] * F[2] + S[3 * nu + i] * F[3] + S[4 * nu + i] * F[4] +
               S[5 * nu + i] * F[5];
    last = m->body[first].parent;
    if (last >= 0) end = m->body[last].um + m->body[last].nm, first = w->body[last].space->run;
  }
  for (int j = 0; j < b->nh; j++) {
    real H[6], v = splat(0);
    joint_row(b, x, j, H);
    for (int i = 0; i < 6; i++) v += H[i] * X[i];
    row[b->u0 + j] = v;
  }
}

/* A <- Tinv' A on every body's modal rows: from xi to eta */
static void rows_to_eta(const bough_model *m, real *rows, real *A) {
  for (int k = 0; k < m->nb; k++) {
    const bough_body *b = m->body + k;
    const int nm = b->nm;
    for (int c = 0; b->user_basis && c < m->nu; c++) {
      for (int r = 0; r < nm; r++) {
        rows[r] = splat(0);
        for (int i = 0; i < nm; i++) rows[r] += b->Tinv[i * nm + r] * A[(b->um + i) * m->nu + c];
      }
      for (int r = 0; r < nm; r++) A[(b->um + r) * m->nu + c] = rows[r];
    }
  }
}
/* A <- A W on every body's modal columns, W = Tinv, or T' if `dual` */
static void columns_to_eta(const bough_model *m, int dual, real *columns, real *A) {
  for (int k = 0; k < m->nb; k++) {
    const bough_body *b = m->body + k;
    const int nm = b->nm;
    for (int row = 0; b->user_basis && row < m->nu; row++) {
      real *a = A + row * m->nu + b->um;
      for (int r = 0; r < nm; r++) {
        columns[r] = splat(0);
        for (int i = 0; i < nm; i++) columns[r] += (dual ? b->T[r * nm + i] : b->Tinv[i * nm + r]) * a[i];
      }
      for (int r = 0; r < nm; r++) a[r] = columns[r];
    }
  }
}

/* frames and inertias of the system at rest: M^rr, M^rf and M^ff start an inward sweep of inertias */
static void at_rest(const bough_sweep *s, sweep_work *w, const real *q, const real *zero) {
  const bough_model *m = s->model;
  for (int k = 0; k < m->nb; k++) {
    outward_frame(s, w, k, q, zero, NULL);
    outward_body(s, w, k, NULL, NULL);
    place_body(s, w, k);
    for (int i = 0; i < 6; i++) w->body[k].sum->z[i] = splat(0);
  }
}

/* the upper half of A from the lower one, in tiles that fit the nearest cache */
static void mirror(int n, real *A) {
  enum { TILE = 16 };
  for (int i0 = 0; i0 < n; i0 += TILE)
    for (int c0 = i0; c0 < n; c0 += TILE)
      for (int c = c0; c < n && c < c0 + TILE; c++)
        for (int i = i0; i < c && i < i0 + TILE; i++) A[i * n + c] = A[c * n + i];
}

static void mass_matrix(const bough_sweep *s, void *work, const void *q, const void *zero, void *M_) {
  sweep_work *w = work;
  const bough_model *m = s->model;
  real *M = M_, X[6];
  const int nu = m->nu;
  for (int i = 0; i < nu * nu; i++) M[i] = splat(0);
  at_rest(s, w, q, zero);
  for (int k = m->nb; k-- > 0;) {
    const bough_body *b = m->body + k;
    body_work *x = w->body + k;
    composite_hand(s, k, w);
    place_modes(s, w, k);
    for (int r = 0; r < b->nm; r++) {
      real *row = M + (b->um + r) * nu;
      for (int c = 0; c < b->nm; c++) row[b->um + c] = x->ff.D[AT(r, c)];
      carry_inward(s, k, w, x->rf.mu + 6 * r, row);
    }
    for (int j = 0; j < b->nh; j++) {
      real H[6];
      joint_row(b, x, j, H);
      for (int i = 0; i < 6; i++) X[i] = splat(0);
      symmetric_add(x->sum->P, H, X);
      carry_inward(s, k, w, X, M + (b->u0 + j) * nu);
      M[(b->u0 + j) * (nu + 1)] += s->hinge_mass[b->u0 + j];
    }
  }
  mirror(nu, M);
  rows_to_eta(m, w->scratch.modal, M);
  columns_to_eta(m, 0, w->scratch.modal, M);
}
