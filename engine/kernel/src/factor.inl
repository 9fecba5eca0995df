/* factor.inl - the innovations factorization M = (1 + H Phi K) D (1 + H Phi K)', (51) and (54), modes and hinge apart.
 *
 * Column by column: the gain of an eliminated DOF, g = mu D_f^-1 for modes and G_R = P_R H' D_R^-1 for hinges, is
 * carried inward like a force; its work on the inboard DOFs is the column of L. D_f and D_R are the blocks of D. */

/* modes of body k: block of D, elimination, gains g; leaves P_R in x->sum->P */
static void factor_modes(const bough_sweep *s, int k, sweep_work *w, real *L, real *D) {
  const bough_body *b = s->model->body + k;
  body_work *x = w->body + k;
  const int nm = b->nm, nu = s->model->nu;
  for (int r = 0; r < nm; r++)
    for (int c = 0; c < nm; c++) D[(b->um + r) * nu + b->um + c] = x->L[AT(r, c)];
  eliminate_modes(b, w, x);
  for (int j = nm; j-- > 0;) { /* g = (mu L^-T) L^-1 */
    real g[6];
    for (int i = 0; i < 6; i++) {
      real v = x->F[6 * j + i];
      for (int q = j + 1; q < nm; q++) v -= x->F[6 * q + i] * x->L[AT(q, j)];
      g[i] = x->F[6 * j + i] = v * x->L[AT(j, j)];
    }
    carry_inward(s, k, w, g, b->um + j, L);
  }
}

static void factors(const bough_sweep *s, void *work, const void *q, const void *zero, void *L_, void *D_) {
  sweep_work *w = work;
  const bough_model *m = s->model;
  const int nu = m->nu;
  real *L = L_, *D = D_;
  for (int i = 0; i < nu * nu; i++) L[i] = D[i] = splat(0);
  at_rest(s, w, q, zero);
  w->failed = splat(0);
  for (int k = m->nb; k-- > 0;) {
    const bough_body *b = m->body + k;
    body_work *x = w->body + k;
    const int n = b->n_lin + b->n_rot;
    pivots_begin(w);
    if (b->nm > 0) factor_modes(s, k, w, L, D);
    for (int j = 0; j < n; j++) {
      real H[6], X[6];
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
    real Pp[21], zp[6];
    for (int i = 0; i < 6; i++) x->a[i] = splat(0);
    if (bough_is_revolute(b))
      eliminate_revolute(s, b, q, zero, zero, NULL, w, x, Pp, zp);
    else
      eliminate_hinge(s, b, q, zero, zero, NULL, w, x, Pp, zp);
    pivots_end(w, k);
    for (int j = 0; j < n; j++) {
      real X[6];
      for (int i = 0; i < 6; i++) X[i] = x->G[6 * j + i];
      carry_inward(s, k, w, X, b->u0 + j, L);
      for (int c = 0; c < n; c++) L[(b->u0 + c) * nu + b->u0 + j] = splat(c == j); /* the block itself is D's */
    }
    for (int i = 0; i < b->nm; i++) L[(b->um + i) * (nu + 1)] = splat(1);
    for (int i = 0; i < 6; i++) zp[i] = splat(0);
    if (b->parent >= 0) hand_to_parent(s, b, Pp, zp, x, w);
  }
  rows_to_eta(m, w->scratch, L);
  columns_to_eta(m, 1, w->scratch, L);
  rows_to_eta(m, w->scratch, D);
  columns_to_eta(m, 0, w->scratch, D);
}
