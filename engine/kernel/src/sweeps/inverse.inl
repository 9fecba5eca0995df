/* inverse.inl - Newton-Euler inverse dynamics, (45): every flexible body on the general path, so that it shares the
 * frames and integrals with the forward sweep but none of its eliminations. The forces start as what the outward sweep
 * leaves there: f as b_m in sum->z, f_f as -eps. */

/* alpha = phi* alpha(parent) + Pi xiddot(parent) + H* betadot + a */
static void inverse_acceleration(const bough_sweep *s, sweep_work *w, int k, const real *udot) {
  const bough_body *b = s->model->body + k;
  body_work *x = w->body + k;
  if (b->nm > 0) modes_gather(b, b->Tinv, udot + b->um, x->xiddot);
  port_acceleration(s, b, w, x, x->alpha);
  for (int i = 0; i < 6; i++) x->alpha[i] += x->a[i];
  if (b->revolute)
    x->alpha[2] += udot[b->u0];
  else
    for (int j = 0; j < b->nh; j++)
      for (int i = 0; i < 6; i++) x->alpha[i] += x->H[6 * j + i] * udot[b->u0 + j];
}

/* f = M^rr alpha + M^rf xiddot + b;  f_f = M^ff xiddot + M^fr alpha - eps */
static void inverse_forces(const bough_body *b, body_work *x) {
  real *f = x->sum->z, *f_f = x->f.eps;
  symmetric_add(x->sum->P, x->alpha, f);
  for (int r = 0; r < b->nm; r++) {
    real v = -x->f.eps[r];
    for (int i = 0; i < 6; i++) {
      v += x->rf.M[6 * r + i] * x->alpha[i];
      f[i] += x->rf.M[6 * r + i] * x->xiddot[r];
    }
    for (int c = 0; c < b->nm; c++) v += x->ff.M[AT(r, c)] * x->xiddot[c];
    f_f[r] = v;
  }
}

/* T = H f, and what the modes need, in the user's basis */
static void inverse_read(const bough_sweep *s, const bough_body *b, const body_work *x, const sweep_input *in,
                         const real *udot, real *tau) {
  const real *f = x->sum->z, *f_f = x->f.eps;
  for (int j = 0; j < b->nh; j++) {
    const int i0 = b->u0 + j;
    real v = s->hinge_mass[i0] * udot[i0] + hinge_force(s, b, in->q + b->q0, in->u + b->u0, j);
    if (b->revolute)
      v += f[2];
    else
      for (int i = 0; i < 6; i++) v += x->H[6 * j + i] * f[i];
    tau[i0] = v;
  }
  for (int r = 0; r < b->nm; r++) {
    real v = b->user_basis ? splat(0) : f_f[r];
    for (int c = 0; b->user_basis && c < b->nm; c++) v += b->Tinv[c * b->nm + r] * f_f[c];
    tau[b->um + r] = v;
  }
}

/* f onto the parent's f, and Pi' f onto its f_f */
static void inverse_hand(const bough_sweep *s, const bough_body *b, const body_work *x, sweep_work *w) {
  body_work *p = w->body + b->parent;
  const int nm = s->model->body[b->parent].nm;
  real f[6], *f_f = p->f.eps, *work = w->scratch.modal;
  rotate(x->R, x->sum->z, f), rotate(x->R, x->sum->z + 3, f + 3);
  if (nm > 0) port_forces(s, b, x, f, work);
  for (int r = 0; r < nm; r++) f_f[r] += work[r];
  for (int i = 0; i < 6; i++) p->sum->z[i] += f[i];
  cross_add(x->l, f + 3, p->sum->z);
}

static void inverse(const bough_sweep *s, void *work, const void *q, const void *u, const void *udot, const void *loads,
                    void *tau) {
  sweep_work *w = work;
  const bough_model *m = s->model;
  const sweep_input in = {q, u, NULL, NULL, loads};
  for (int k = 0; k < m->nb; k++) {
    outward_frame(s, w, k, in.q, in.u, in.loads);
    outward_body(s, w, k, NULL, in.loads);
    inverse_acceleration(s, w, k, udot);
    inverse_forces(m->body + k, w->body + k);
  }
  for (int k = m->nb; k-- > 0;) {
    const bough_body *b = m->body + k;
    inverse_read(s, b, w->body + k, &in, udot, tau);
    if (b->parent >= 0) inverse_hand(s, b, w->body + k, w);
  }
}
