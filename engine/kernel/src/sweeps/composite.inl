/* composite.inl - the mass matrix by composite bodies, (50).
 *
 * R(k) is the modal inertia of everything outboard of hinge k with all DOFs frozen: its rigid block is kept in sum->P, its
 * mixed block in rf, its modal block in ff. X = R H' is then carried inward, and M(j, k) = H(j) X(j) read off. */

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

/* Carry a force X at body k's O inward; A(i, column) gets its work on every inboard DOF i, k's hinge first. */
static void carry_inward(const bough_sweep *s, int k, const sweep_work *w, real X[6], int column_index, real *A) {
  const bough_model *m = s->model;
  const int nu = m->nu;
  for (;;) {
    const bough_body *b = m->body + k;
    const body_work *x = w->body + k;
    for (int j = 0; j < b->nh; j++) {
      real H[6], v = splat(0);
      joint_row(b, x, j, H);
      for (int i = 0; i < 6; i++) v += H[i] * X[i];
      A[(b->u0 + j) * nu + column_index] = v;
    }
    if (b->parent < 0) return;
    const int nm = m->body[b->parent].nm;
    rotate(x->R, X, X), rotate(x->R, X + 3, X + 3);
    real *work = w->scratch.modal;
    if (nm > 0) port_forces(s, b, x, X, work);
    for (int r = 0; r < nm; r++) A[(m->body[b->parent].um + r) * nu + column_index] = work[r];
    cross_add(x->l, X + 3, X);
    k = b->parent;
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
    for (int i = 0; i < 6; i++) w->body[k].sum->z[i] = splat(0);
  }
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
    for (int r = 0; r < b->nm; r++) {
      for (int c = 0; c < b->nm; c++) M[(b->um + c) * nu + b->um + r] = x->ff.D[AT(r, c)];
      for (int i = 0; i < 6; i++) X[i] = x->rf.mu[6 * r + i];
      carry_inward(s, k, w, X, b->um + r, M);
    }
    for (int j = 0; j < b->nh; j++) {
      real H[6];
      joint_row(b, x, j, H);
      for (int i = 0; i < 6; i++) X[i] = splat(0);
      symmetric_add(x->sum->P, H, X);
      carry_inward(s, k, w, X, b->u0 + j, M);
      M[(b->u0 + j) * (nu + 1)] += s->hinge_mass[b->u0 + j];
    }
  }
  /* the other half: columns of a DOF hold its row of inboard ones */
  for (int k = 0; k < m->nb; k++) {
    const bough_body *b = m->body + k;
    for (int c = b->u0; c < b->um + b->nm; c++)
      for (int i = 0; i < b->u0; i++) M[c * nu + i] = M[i * nu + c];
    for (int c = b->um; c < b->um + b->nm; c++)
      for (int i = b->u0; i < b->um; i++) M[c * nu + i] = M[i * nu + c];
  }
  rows_to_eta(m, w->scratch.modal, M);
  columns_to_eta(m, 0, w->scratch.modal, M);
}
