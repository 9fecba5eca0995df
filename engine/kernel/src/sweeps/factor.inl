/* factor.inl - the innovations factorization M = (1 + H Phi K) D (1 + H Phi K)', (51) and (54), modes and hinge apart.
 *
 * Column by column: the gain of an eliminated DOF, g = mu D_f^-1 for modes and G_R = P_R H' D_R^-1 for hinges, is
 * carried inward like a force; its work on the inboard DOFs is the column of L, which is made as a row of L'. D_f and D_R are
 * the blocks of D. */

/* modes of body k: block of D, elimination, gains g; leaves P_R in x->sum->P */
static void factor_modes(const bough_sweep *s, int k, sweep_work *w, real *L, real *D) {
  const bough_body *b = s->model->body + k;
  body_work *x = w->body + k;
  const int nm = b->nm, nu = s->model->nu;
  for (int r = 0; r < nm; r++)
    for (int c = 0; c < nm; c++) D[(b->um + r) * nu + b->um + c] = x->ff.D[AT(r, c)];
  eliminate_modes(b, w, x);
  const real *factor = x->ff.L, *mu_L = x->rf.mu_L;
  real *g = x->rf.mu_L; /* column by column in its place, last first */
  for (int j = nm; j-- > 0;) { /* g = mu_L L^-1 */
    real X[6];
    for (int i = 0; i < 6; i++) {
      real v = mu_L[6 * j + i];
      for (int q = j + 1; q < nm; q++) v -= g[6 * q + i] * factor[AT(q, j)];
      X[i] = g[6 * j + i] = v * factor[AT(j, j)];
    }
    carry_inward(s, k, w, X, L + (b->um + j) * nu);
  }
}

/* hinge of body k: block of D, elimination, gains G_R */
static void factor_hinge(const bough_sweep *s, int k, sweep_work *w, const sweep_input *in, real *L, real *D,
                         real P_plus[21], real z_plus[6]) {
  const bough_body *b = s->model->body + k;
  body_work *x = w->body + k;
  const int n = b->nh, nu = s->model->nu;
  real H[6], X[6];
  for (int j = 0; j < n; j++) {
    joint_row(b, x, j, H);
    for (int i = 0; i < 6; i++) X[i] = splat(0);
    symmetric_add(x->sum->P, H, X);
    for (int c = 0; c < n; c++) {
      real v = splat(c == j ? s->hinge_mass[b->u0 + j] : 0.0);
      joint_row(b, x, c, H);
      for (int i = 0; i < 6; i++) v += H[i] * X[i];
      D[(b->u0 + c) * nu + b->u0 + j] = v;
    }
  }
  for (int i = 0; i < 6; i++) x->a[i] = splat(0);
  if (b->revolute)
    eliminate_revolute(s, b, in, w, x, P_plus, z_plus);
  else
    eliminate_hinge(s, b, in, w, x, P_plus, z_plus);
  for (int j = 0; j < n; j++) {
    for (int i = 0; i < 6; i++) X[i] = x->gain[j].G[i];
    carry_inward(s, k, w, X, L + (b->u0 + j) * nu);
    for (int c = 0; c < n; c++) L[(b->u0 + j) * nu + b->u0 + c] = splat(c == j); /* the block itself is D's */
  }
}

static void factors(const bough_sweep *s, void *work, const void *q, const void *zero, void *L_, void *D_) {
  sweep_work *w = work;
  const bough_model *m = s->model;
  const sweep_input in = {q, zero, zero, NULL, NULL};
  const int nu = m->nu;
  real *L = L_, *D = D_;
  for (int i = 0; i < nu * nu; i++) L[i] = D[i] = splat(0);
  at_rest(s, w, q, zero);
  w->failed = splat(0);
  for (int k = m->nb; k-- > 0;) {
    const bough_body *b = m->body + k;
    real P_plus[21], z_plus[6];
    pivots_begin(w);
    place_modes(s, w, k);
    if (b->nm > 0) factor_modes(s, k, w, L, D);
    factor_hinge(s, k, w, &in, L, D, P_plus, z_plus);
    pivots_end(w, k);
    for (int i = 0; i < b->nm; i++) L[(b->um + i) * (nu + 1)] = splat(1);
    for (int i = 0; i < 6; i++) z_plus[i] = splat(0);
    if (b->parent >= 0) hand_to_parent(s, b, P_plus, z_plus, w->body + k, w);
  }
  for (int i = 0; i < nu; i++) /* L' -> L */
    for (int c = 0; c < i; c++) L[c * nu + i] = L[i * nu + c], L[i * nu + c] = splat(0);
  real *work_modal = w->scratch.modal;
  rows_to_eta(m, work_modal, L);
  columns_to_eta(m, 1, work_modal, L);
  rows_to_eta(m, work_modal, D);
  columns_to_eta(m, 0, work_modal, D);
}
