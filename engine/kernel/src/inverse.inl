/* inverse.inl - Newton-Euler inverse dynamics, (45): every flexible body on the general path, so that it shares the
 * frames and integrals with the forward sweep but none of its eliminations. */
static void inverse(const bough_sweep *s, void *work, const void *q_, const void *u_, const void *udot_,
                    const void *loads_, void *tau_) {
  sweep_work *w = work;
  const bough_model *m = s->model;
  const real *q = q_, *u = u_, *udot = udot_, *loads = loads_;
  real *tau = tau_;
  for (int k = 0; k < m->nb; k++) {
    const bough_body *b = m->body + k;
    body_work *x = w->body + k;
    outward_frame(s, w, k, q, u, loads);
    outward_body(s, w, k, NULL, loads);
    if (b->nm > 0) modes_gather(b, b->Tinv, udot + b->um, x->xiddot);
    /* alpha = phi* alpha(parent) + Pi xiddot(parent) + H* betadot + a */
    port_acceleration(s, b, w, x, x->alpha);
    for (int i = 0; i < 6; i++) x->alpha[i] += x->a[i];
    if (bough_is_revolute(b))
      x->alpha[2] += udot[b->u0];
    else
      for (int j = 0; j < b->n_lin + b->n_rot; j++)
        for (int i = 0; i < 6; i++) x->alpha[i] += x->H[6 * j + i] * udot[b->u0 + j];
    /* f = M^rr alpha + M^rf xiddot + b;  f_f = M^ff xiddot + M^fr alpha - e */
    symmetric_add(x->sum->P, x->alpha, x->sum->z);
    for (int r = 0; r < b->nm; r++) {
      real f = -x->e[r];
      for (int i = 0; i < 6; i++) {
        f += x->F[6 * r + i] * x->alpha[i];
        x->sum->z[i] += x->F[6 * r + i] * x->xiddot[r];
      }
      for (int c = 0; c < b->nm; c++) f += x->L[AT(r, c)] * x->xiddot[c];
      x->e[r] = f;
    }
  }
  for (int k = m->nb; k-- > 0;) {
    const bough_body *b = m->body + k;
    body_work *x = w->body + k;
    const int n = b->n_lin + b->n_rot;
    for (int j = 0; j < n; j++) { /* T = H f */
      const int i0 = b->u0 + j;
      real v = s->hinge_mass[i0] * udot[i0] + hinge_force(s, b, q + b->q0, u + b->u0, j);
      if (bough_is_revolute(b))
        v += x->sum->z[2];
      else
        for (int i = 0; i < 6; i++) v += x->H[6 * j + i] * x->sum->z[i];
      tau[i0] = v;
    }
    for (int r = 0; r < b->nm; r++) {
      real v = b->user_basis ? splat(0) : x->e[r];
      for (int c = 0; b->user_basis && c < b->nm; c++) v += b->Tinv[c * b->nm + r] * x->e[c];
      tau[b->um + r] = v;
    }
    if (b->parent < 0) continue;
    body_work *p = w->body + b->parent;
    real f[6];
    rotate(x->R, x->sum->z, f), rotate(x->R, x->sum->z + 3, f + 3);
    const int nmp = m->body[b->parent].nm;
    if (nmp > 0) port_forces(s, b, x, f, w->scratch);
    for (int r = 0; r < nmp; r++) p->e[r] += w->scratch[r];
    for (int i = 0; i < 6; i++) p->sum->z[i] += f[i];
    cross_add(x->l, f + 3, p->sum->z);
  }
}
