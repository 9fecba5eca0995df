/* forward.inl - the outward half of (64), accelerations from base to tip, and the whole forward sweep. */

/* Two-port: v = Psi' alpha, and the force at the port, f = z~ + G~ v. */
INLINE void unfold_port(const bough_body *b, const int n, const body_work *x, real v[6], real f[6]) {
  const double *Psi = b->two_port->Psi;
  const real *zt = x->port, *G = zt + 6, *alpha = x->alpha;
  for (int i = 0; i < 6; i++) v[i] = splat(0), f[i] = zt[i];
  for (int j = 0; j < 6; j++)
    for (int i = 0; i < 6; i++) v[i] += Psi[6 * j + i] * alpha[j];
  for (int i = 0; i < n; i++) { /* row by row of the triangle */
    const real *row = G + AT(i, 0);
    real sum = f[i] + row[i] * v[i];
    for (int j = 0; j < i; j++) f[j] += row[j] * v[i], sum += row[j] * v[j];
    f[i] = sum;
  }
}

/* accelerations of the modes of body k from alpha: x->xiddot, or (two-port: its child has no use for them) a passing one */
INLINE const real *unfold_modes(const bough_sweep *s, int k, sweep_work *w) {
  const bough_body *b = s->model->body + k;
  body_work *x = w->body + k;
  const int nm = b->nm;
  if (s->path[k] == PATH_TWO_PORT) {
    real v[6], f[6], *xiddot = w->scratch; /* v, f in the port's order */
    const real *e = x->e, *alpha = x->alpha;
    const double *F0 = b->F0, *Pi0 = b->two_port->Pi;
    for (int i = 0; i < 6; i++) v[i] = f[i] = splat(0);
    if (b->only_child >= 0) {
      if (port_has_no_z(s, s->model->body + b->only_child))
        unfold_port(b, 5, x, v, f);
      else
        unfold_port(b, 6, x, v, f);
    }
    for (int r = 0; r < nm; r++) { /* xiddot = e - Pi' f - F' alpha, acceleration of the port v + Pi (e - Pi' f) */
      const double *F = F0 + 6 * r, *Pi = Pi0 + 6 * r;
      real own = splat(0), pull = splat(0);
      for (int i = 0; i < 6; i++) own += F[i] * alpha[i], pull += Pi[i] * f[i];
      const real pushed = e[r] - pull;
      for (int i = 0; i < 6; i++) v[i] += Pi[i] * pushed;
      xiddot[r] = pushed - own;
    }
    real *port = x->port;
    for (int i = 0; i < 6; i++) port[i] = v[i];
    return xiddot;
  }
  if (!s->held[b->um]) { /* xiddot = L^-T (L^-1 eps - (mu L^-T)' alpha) */
    const real *e = x->e, *F = x->F, *L = x->L, *alpha = x->alpha;
    real *xiddot = x->xiddot;
    for (int j = nm; j-- > 0;) {
      real v = e[j];
      for (int i = 0; i < 6; i++) v -= F[6 * j + i] * alpha[i];
      for (int q = j + 1; q < nm; q++) v -= L[AT(q, j)] * xiddot[q];
      xiddot[j] = v * L[AT(j, j)];
    }
  }
  return x->xiddot;
}

INLINE void unfold_hinge(const bough_sweep *s, const bough_body *b, const real *motion, body_work *x, real *udot) {
  const int n = b->n_lin + b->n_rot;
  const real *G = x->G, *nu = G + 6 * n;
  real *alpha = x->alpha;
  if (bough_is_revolute(b)) {
    real v = motion ? motion[b->u0] : splat(0);
    if (!s->held[b->u0]) {
      v = nu[0];
      for (int i = 0; i < 6; i++) v -= G[i] * alpha[i];
      alpha[2] += v;
    }
    udot[b->u0] = v;
    for (int i = 0; i < 6; i++) alpha[i] += x->a[i];
    return;
  }
  real plus[6];
  for (int i = 0; i < 6; i++) plus[i] = alpha[i], alpha[i] += x->a[i];
  for (int j = 0, c = 0; j < n; j++) {
    real v = motion ? motion[b->u0 + j] : splat(0);
    if (!s->held[b->u0 + j]) {
      v = nu[c];
      for (int i = 0; i < 6; i++) v -= G[6 * c + i] * plus[i];
      for (int i = 0; i < 6; i++) alpha[i] += x->H[6 * j + i] * v;
      c++;
    }
    udot[b->u0 + j] = v;
  }
}

/* Forces of held DOFs and the hinge's reaction, from f = P_R alpha_R + z. */
static void collect_forces(const bough_sweep *s, int k, const sweep_work *w, const real *q, const real *u,
                           const real *tau, const real *udot, real *force, real *reaction) {
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
  const int n = b->n_lin + b->n_rot, revolute = bough_is_revolute(b);
  for (int j = 0; j < n; j++) {
    const int i0 = b->u0 + j;
    force[i0] = tau[i0];
    if (!s->held[i0]) continue;
    real v = s->hinge_mass[i0] * udot[i0] + hinge_force(s, b, q + b->q0, u + b->u0, j);
    if (revolute)
      v += f[2];
    else
      for (int i = 0; i < 6; i++) v += x->H[6 * j + i] * f[i];
    force[i0] = v;
  }
  const int nm = b->nm, held = nm > 0 && s->held[b->um];
  real *g = (real *)w->scratch;
  for (int r = 0; held && r < nm; r++) { /* D_f xiddot + mu' alpha - eps, kernel's basis */
    real v = -x->e[r];
    for (int i = 0; i < 6; i++) v += x->F[6 * r + i] * x->alpha[i];
    for (int c = 0; c < nm; c++) v += x->L[AT(r, c)] * x->xiddot[c];
    g[r] = v;
  }
  for (int r = 0; r < nm; r++) {
    force[b->um + r] = tau[b->um + r];
    if (!held) continue;
    force[b->um + r] = b->user_basis ? splat(0) : g[r];
    for (int c = 0; b->user_basis && c < nm; c++) force[b->um + r] += b->Tinv[c * nm + r] * g[c];
  }
}

static void forward(const bough_sweep *given, void *work, const void *q_, const void *u_, const void *tau_,
                    const void *motion_, const void *loads_, void *udot_, void *force_, void *reaction_) {
  sweep_work *w = work;
  bough_sweep sweep = *given;
  const bough_sweep *s = &sweep;
  const bough_model *m = s->model;
  const real *q = q_, *u = u_, *tau = tau_, *motion = motion_, *loads = loads_;
  real *udot = udot_, *force = force_, *reaction = reaction_;
  sweep.keep = force || reaction;
  w->failed = splat(0);
  for (int k = 0; k < m->nb; k++) outward_frame(s, w, k, q, u, loads);
  for (int k = m->nb; k-- > 0;) {
    const bough_body *b = m->body + k;
    real Pp[21], zp[6];
    if (b->last_child < 0) outward_body(s, w, k, tau, loads);
    inward_body(s, w, k, q, u, tau, motion, Pp, zp);
    if (b->parent < 0) continue;
    if (m->body[b->parent].last_child == k) outward_body(s, w, b->parent, tau, loads);
    hand_to_parent(s, b, Pp, zp, w->body + k, w);
  }
  for (int k = 0; k < m->nb; k++) {
    const bough_body *b = m->body + k;
    body_work *x = w->body + k;
    port_acceleration(s, b, w, x, x->alpha);
    unfold_hinge(s, b, motion, x, udot);
    if (b->nm > 0) {
      const real *xiddot = unfold_modes(s, k, w);
      for (int r = 0; r < b->nm; r++) { /* eta = T xi */
        real v = b->user_basis ? splat(0) : xiddot[r];
        for (int c = 0; b->user_basis && c < b->nm; c++) v += b->T[r * b->nm + c] * xiddot[c];
        udot[b->um + r] = v;
      }
    }
    if (force || reaction) collect_forces(s, k, w, q, u, tau, udot, force, reaction);
  }
}
