/* forward.inl - the outward half of (64), accelerations from base to tip, and the whole forward sweep. */

/* accelerations of the modes of body k from alpha: x->xiddot, or (two-port: its child has no use for them) a passing one */
INLINE const real *unfold_modes(const bough_sweep *s, int k, sweep_work *w) {
  const bough_body *b = s->model->body + k;
  body_work *x = w->body + k;
  const int nm = b->nm;
  if (s->path[k] == PATH_TWO_PORT) {
    unfold_two_port(s, b, x, w->scratch.modal);
    return w->scratch.modal;
  }
  if (!s->held[b->um]) { /* xiddot = nu_f - g* alpha = L^-T (eps_L - mu_L* alpha) */
    const real *eps_L = x->f.eps_L, *mu_L = x->rf.mu_L, *L = x->ff.L, *alpha = x->alpha;
    real *xiddot = x->xiddot;
    for (int j = nm; j-- > 0;) {
      real v = eps_L[j];
      for (int i = 0; i < 6; i++) v -= mu_L[6 * j + i] * alpha[i];
      for (int q = j + 1; q < nm; q++) v -= L[AT(q, j)] * xiddot[q];
      xiddot[j] = v * L[AT(j, j)];
    }
  }
  return x->xiddot;
}

/* betadot = nu_R - G_R* alpha^+ and alpha_R = alpha^+ + H* betadot + a_mR; x->alpha holds alpha^+ */
INLINE void unfold_hinge(const bough_sweep *s, const bough_body *b, const real *motion, body_work *x, real *udot) {
  const hinge_gain *gain = x->gain;
  real *alpha = x->alpha;
  if (b->revolute) {
    real v = motion ? motion[b->u0] : splat(0);
    if (!s->held[b->u0]) {
      v = gain->nu;
      for (int i = 0; i < 6; i++) v -= gain->G[i] * alpha[i];
      alpha[2] += v;
    }
    udot[b->u0] = v;
    for (int i = 0; i < 6; i++) alpha[i] += x->a[i];
    return;
  }
  real plus[6];
  for (int i = 0; i < 6; i++) plus[i] = alpha[i], alpha[i] += x->a[i];
  for (int j = 0; j < b->nh; j++) {
    real v = motion ? motion[b->u0 + j] : splat(0);
    if (!s->held[b->u0 + j]) {
      v = gain->nu;
      for (int i = 0; i < 6; i++) v -= gain->G[i] * plus[i];
      for (int i = 0; i < 6; i++) alpha[i] += x->H[6 * j + i] * v;
      gain++;
    }
    udot[b->u0 + j] = v;
  }
}

/* Forces that the held modes of body k took, D_f xiddot + mu* alpha - eps_f in the kernel's basis, and tau of free ones. */
static void collect_modal_forces(const bough_sweep *s, const bough_body *b, const body_work *x, const real *tau, real *g,
                                 real *force) {
  const int nm = b->nm, held = nm > 0 && s->held[b->um];
  for (int r = 0; held && r < nm; r++) {
    real v = -x->f.eps[r];
    for (int i = 0; i < 6; i++) v += x->rf.mu[6 * r + i] * x->alpha[i];
    for (int c = 0; c < nm; c++) v += x->ff.D[AT(r, c)] * x->xiddot[c];
    g[r] = v;
  }
  for (int r = 0; r < nm; r++) {
    force[b->um + r] = tau[b->um + r];
    if (!held) continue;
    force[b->um + r] = b->user_basis ? splat(0) : g[r];
    for (int c = 0; b->user_basis && c < nm; c++) force[b->um + r] += b->Tinv[c * nm + r] * g[c];
  }
}

/* Forces of held DOFs and the hinge's reaction, from f = P_R alpha_R + z. */
static void collect_forces(const bough_sweep *s, int k, sweep_work *w, const sweep_input *in, const real *udot,
                           real *force, real *reaction) {
  const bough_body *b = s->model->body + k;
  const body_work *x = w->body + k;
  real f[6];
  for (int i = 0; i < 6; i++) f[i] = x->sum->z[i];
  symmetric_add(x->sum->P, x->alpha, f);
  if (reaction) { /* to the user's axes */
    rotate_const(b->axes, f, reaction + 6 * k);
    rotate_const(b->axes, f + 3, reaction + 6 * k + 3);
  }
  if (!force) return;
  for (int j = 0; j < b->nh; j++) {
    const int i0 = b->u0 + j;
    force[i0] = in->tau[i0];
    if (!s->held[i0]) continue;
    real v = s->hinge_mass[i0] * udot[i0] + hinge_force(s, b, in->q + b->q0, in->u + b->u0, j);
    if (b->revolute)
      v += f[2];
    else
      for (int i = 0; i < 6; i++) v += x->H[6 * j + i] * f[i];
    force[i0] = v;
  }
  collect_modal_forces(s, b, x, in->tau, w->scratch.modal, force);
}

/* (64), outward: accelerations of body k */
INLINE void outward_acceleration(const bough_sweep *s, sweep_work *w, int k, const real *motion, real *udot) {
  const bough_body *b = s->model->body + k;
  body_work *x = w->body + k;
  port_acceleration(s, b, w, x, x->alpha);
  unfold_hinge(s, b, motion, x, udot);
  if (b->nm == 0) return;
  const real *xiddot = unfold_modes(s, k, w);
  for (int r = 0; r < b->nm; r++) { /* eta = T xi */
    real v = b->user_basis ? splat(0) : xiddot[r];
    for (int c = 0; b->user_basis && c < b->nm; c++) v += b->T[r * b->nm + c] * xiddot[c];
    udot[b->um + r] = v;
  }
}

static void forward(const bough_sweep *given, void *work, const void *q, const void *u, const void *tau,
                    const void *motion, const void *loads, void *udot, void *force, void *reaction) {
  sweep_work *w = work;
  bough_sweep sweep = *given;
  const bough_sweep *s = &sweep;
  const bough_model *m = s->model;
  const sweep_input in = {q, u, tau, motion, loads};
  sweep.keep = force || reaction;
  w->failed = splat(0);
  for (int k = 0; k < m->nb; k++) outward_frame(s, w, k, in.q, in.u, in.loads);
  for (int k = m->nb; k-- > 0;) {
    const bough_body *b = m->body + k;
    real P_plus[21], z_plus[6]; /* P_R^+ and z_R^+ */
    if (b->last_child < 0) outward_body(s, w, k, in.tau, in.loads);
    inward_body(s, w, k, &in, P_plus, z_plus);
    if (b->parent < 0) continue;
    if (m->body[b->parent].last_child == k) outward_body(s, w, b->parent, in.tau, in.loads);
    hand_to_parent(s, b, P_plus, z_plus, w->body + k, w);
  }
  for (int k = 0; k < m->nb; k++) {
    outward_acceleration(s, w, k, in.motion, udot);
    if (force || reaction) collect_forces(s, k, w, &in, udot, force, reaction);
  }
}
