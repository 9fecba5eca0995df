/* articulated.inl - articulated-body forward and hybrid dynamics, inward: (63) and the first half of (64), on a tree.
 *
 * Tip to base, each body in turn: its modes are eliminated, then its free hinge DOFs, and what is left is handed to the
 * parent. Bodies look clamped here (Pi^d = 0, see unclamped_to_attach), so that H_f = [1, 0] and the blocks of P(k) are
 * D_f, mu and P^rr themselves. With the Cholesky factors D_f = L L', D_R = L L':
 *
 *   the paper                                            here
 *   (63) Gamma(k) = phi(t,k-1) P_R^+(k-1) phi*           hand_to_parent, of the children
 *        P(k) = A(k) Gamma(k) A*(k) + M_m(k)             outward_body starts it, hand_to_parent and hand_modes add to it
 *        D_f = H_f P H_f*                                x->ff.D
 *        mu = [P^rf, P^rr] H_f*                          x->rf.mu
 *        g = mu D_f^-1                                   x->rf.mu_L = mu L^-T = g L
 *        P_R = P^rr - g mu*                              x->sum->P
 *        D_R = H_F P_R H_F*                              x->D_R
 *        G_R = P_R H_F* D_R^-1                           x->gain[].G
 *        P_R^+ = (1 - G_R H_F) P_R                       P_plus
 *   (64) z(k) = A(k) phi z_R^+(k-1) + b_m + K_m theta    outward_body starts it, hand_to_parent and hand_modes add to it
 *        eps_f = T_f - z_f                               x->f.eps
 *        nu_f = D_f^-1 eps_f                             x->f.eps_L = L^-1 eps_f = L' nu_f
 *        z_R = z_r + g eps_f + P_R a_mR                  x->sum->z without P_R a_mR, z_plus with it
 *        eps_R = T_R - H_F z_R                           local
 *        nu_R = D_R^-1 eps_R                             x->gain[].nu
 *        z_R^+ = z_R + G_R eps_R                         z_plus
 *
 * A held DOF is not eliminated: its given acceleration joins a_mR, and the force it took is read off the hinge force
 * f = P_R alpha_R + (z_R - P_R a_mR). */

INLINE void pivots_begin(sweep_work *w) { w->D_min = w->D_scale = splat(1e300); }
INLINE void pivots_end(sweep_work *w, int k) {
  w->failed = lane_judge(w->failed, w->D_min - PIVOT_MIN * w->D_scale, k + 1);
}

/* ---- modes, general path */

/* mu <- mu L^-T, eps <- L^-1 eps */
INLINE void modes_solve(int nm, const real *L, real *mu, real *eps) {
  for (int j = 0; j < nm; j++) {
    real column[6], e = eps[j];
    for (int i = 0; i < 6; i++) column[i] = mu[6 * j + i];
    for (int q = 0; q < j; q++) {
      const real c = L[AT(j, q)];
      for (int i = 0; i < 6; i++) column[i] -= c * mu[6 * q + i];
      e -= c * eps[q];
    }
    const real inverse = L[AT(j, j)];
    for (int i = 0; i < 6; i++) mu[6 * j + i] = column[i] * inverse;
    eps[j] = e * inverse;
  }
}

/* row i of P_R = P^rr - mu_L mu_L* and of z_r + mu_L eps_L; i is a constant where it is inlined */
INLINE void modes_off_row(const int i, int nm, const real *mu_L, const real *eps_L, real P[21], real z[6]) {
  real row[6], force = z[i];
  for (int j = 0; j <= i; j++) row[j] = P[LOWER(i, j)];
  for (int r = 0; r < nm; r++) {
    const real f = mu_L[6 * r + i];
    for (int j = 0; j <= i; j++) row[j] -= f * mu_L[6 * r + j];
    force += f * eps_L[r];
  }
  for (int j = 0; j <= i; j++) P[LOWER(i, j)] = row[j];
  z[i] = force;
}
INLINE void modes_off(int nm, const real *mu_L, const real *eps_L, real P[21], real z[6]) {
  modes_off_row(0, nm, mu_L, eps_L, P, z), modes_off_row(1, nm, mu_L, eps_L, P, z);
  modes_off_row(2, nm, mu_L, eps_L, P, z), modes_off_row(3, nm, mu_L, eps_L, P, z);
  modes_off_row(4, nm, mu_L, eps_L, P, z), modes_off_row(5, nm, mu_L, eps_L, P, z);
}

static void eliminate_modes(const bough_body *b, sweep_work *w, body_work *x) {
  const int nm = b->nm;
  real *D_f = x->ff.D, largest = splat(0);
  for (int r = 0; r < nm; r++) largest += D_f[AT(r, r)];
  w->D_min = cholesky_packed(D_f, nm);              /* D_f = L L' */
  w->D_scale = largest;
  modes_solve(nm, x->ff.L, x->rf.mu, x->f.eps);     /* mu_L = g L,  eps_L = L' nu_f */
  modes_off(nm, x->rf.mu_L, x->f.eps_L, x->sum->P, x->sum->z); /* P_R = P^rr - g mu*,  z_R = z_r + g eps_f */
}

/* modes held: their given acceleration only adds mu xiddot to z */
static void hold_modes(const bough_body *b, const real *motion, sweep_work *w, body_work *x) {
  const int nm = b->nm;
  for (int r = 0; r < nm; r++) x->xiddot[r] = splat(0);
  if (motion) modes_gather(b, b->Tinv, motion + b->um, x->xiddot);
  for (int i = 0; i < 6; i++)
    for (int r = 0; r < nm; r++) x->sum->z[i] += x->rf.mu[6 * r + i] * x->xiddot[r];
  w->D_min = w->D_scale = splat(1);
}

/* ---- hinges: P_R^+ and z_R^+ in O axes from P_R, z_R */

/* H_F is the row of z */
INLINE void eliminate_revolute(const bough_sweep *s, const bough_body *b, const sweep_input *in, sweep_work *w,
                               body_work *x, real P_plus[21], real z_plus[6]) {
  const int i0 = b->u0, held = s->held[i0];
  if (held && in->motion) x->a[2] += in->motion[i0];
  const real *P_R = x->sum->P, *z = x->sum->z;
  for (int i = 0; i < 6; i++) z_plus[i] = z[i];
  symmetric_add(P_R, x->a, z_plus); /* z_R = z_r + g eps_f + P_R a_mR */
  if (held) {
    for (int i = 0; i < 21; i++) P_plus[i] = P_R[i];
    return;
  }
  const double armature = s->hinge_mass[i0];
  const real D_R = P_R[AT(2, 2)] + armature, inverse = 1.0 / D_R; /* D_R = H P_R H* */
  const real eps_R = in->tau[i0] - hinge_force(s, b, in->q + b->q0, in->u + i0, 0) - z_plus[2]; /* eps_R = T_R - H z_R */
  real *G_R = x->gain->G;
  for (int i = 0; i < 6; i++) G_R[i] = P_R[AT(i, 2)] * inverse; /* G_R = P_R H* D_R^-1 */
  for (int i = 0; i < 6; i++)                                   /* P_R^+ = (1 - G_R H) P_R */
    for (int j = 0; j <= i; j++)
      if (i != 2 && j != 2)
        P_plus[AT(i, j)] = P_R[AT(i, j)] - G_R[i] * P_R[AT(j, 2)];
      else
        P_plus[AT(i, j)] = armature * G_R[i == 2 ? j : i]; /* P - P P/D on the axis itself */
  x->gain->nu = eps_R * inverse;                                  /* nu_R = D_R^-1 eps_R */
  for (int i = 0; i < 6; i++) z_plus[i] += G_R[i] * eps_R;        /* z_R^+ = z_R + G_R eps_R */
  w->D_min = lane_min(D_R, w->D_min); /* a NaN here does not hide the modal pivot that made it */
  w->D_scale = lane_min(P_R[AT(0, 0)] + P_R[AT(1, 1)] + D_R, w->D_scale);
}

/* The free DOFs of a hinge while they are eliminated. */
typedef struct {
  int n, dof[6];    /* how many, and which of the hinge */
  real PH[6][6];    /* row c: P_R H* of DOF c; then P_R H* L^-T = G_R L */
  real eps[6];      /* eps_R; then L^-1 eps_R = L' nu_R */
} free_dofs;

/* sort free DOFs from held ones, whose accelerations join a_mR */
INLINE void hold_dofs(const bough_sweep *s, const bough_body *b, const real *motion, body_work *x, free_dofs *f) {
  f->n = 0;
  for (int j = 0; j < b->nh; j++) {
    if (!s->held[b->u0 + j])
      f->dof[f->n++] = j;
    else if (motion)
      for (int i = 0; i < 6; i++) x->a[i] += x->H[6 * j + i] * motion[b->u0 + j];
  }
}

/* eps_R = T_R - H z_R, P_R H*, and D_R = H P_R H* with armature */
INLINE void hinge_innovations(const bough_sweep *s, const bough_body *b, const sweep_input *in, const real z_R[6],
                              body_work *x, free_dofs *f) {
  for (int c = 0; c < f->n; c++) {
    const int j = f->dof[c];
    const real *H = x->H + 6 * j;
    f->eps[c] = in->tau[b->u0 + j] - hinge_force(s, b, in->q + b->q0, in->u + b->u0, j);
    for (int i = 0; i < 6; i++) f->PH[c][i] = splat(0);
    symmetric_add(x->sum->P, H, f->PH[c]);
    for (int i = 0; i < 6; i++) f->eps[c] -= H[i] * z_R[i];
    for (int e = 0; e <= c; e++) {
      real v = splat(e == c ? s->hinge_mass[b->u0 + j] : 0.0);
      for (int i = 0; i < 6; i++) v += x->H[6 * f->dof[e] + i] * f->PH[c][i];
      x->D_R[AT(c, e)] = v;
    }
  }
}

/* PH <- PH L^-T, eps <- L^-1 eps; then P_R^+ = P_R - PH PH* and z_R^+ = z_R + PH* eps */
INLINE void hinge_off(const real *L, free_dofs *f, real P_plus[21], real z_plus[6]) {
  for (int c = 0; c < f->n; c++) {
    real *PH = f->PH[c];
    for (int e = 0; e < c; e++) {
      for (int i = 0; i < 6; i++) PH[i] -= L[AT(c, e)] * f->PH[e][i];
      f->eps[c] -= L[AT(c, e)] * f->eps[e];
    }
    for (int i = 0; i < 6; i++) PH[i] *= L[AT(c, c)];
    f->eps[c] *= L[AT(c, c)];
    for (int i = 0; i < 6; i++) {
      z_plus[i] += PH[i] * f->eps[c];
      for (int j = 0; j <= i; j++) P_plus[AT(i, j)] -= PH[i] * PH[j];
    }
  }
}

/* G_R = PH L^-1 and nu_R = L^-T eps: the other half of the solve */
INLINE void hinge_gains(const real *L, const free_dofs *f, hinge_gain *gain) {
  for (int c = f->n; c-- > 0;) {
    hinge_gain *own = gain + c;
    for (int i = 0; i < 6; i++) own->G[i] = f->PH[c][i];
    own->nu = f->eps[c];
    for (int e = c + 1; e < f->n; e++) {
      for (int i = 0; i < 6; i++) own->G[i] -= L[AT(e, c)] * gain[e].G[i];
      own->nu -= L[AT(e, c)] * gain[e].nu;
    }
    for (int i = 0; i < 6; i++) own->G[i] *= L[AT(c, c)];
    own->nu *= L[AT(c, c)];
  }
}

static void eliminate_hinge(const bough_sweep *s, const bough_body *b, const sweep_input *in, sweep_work *w, body_work *x,
                            real P_plus[21], real z_plus[6]) {
  const real *P_R = x->sum->P, *z = x->sum->z;
  free_dofs f;
  hold_dofs(s, b, in->motion, x, &f);
  for (int i = 0; i < 21; i++) P_plus[i] = P_R[i];
  for (int i = 0; i < 6; i++) z_plus[i] = z[i];
  symmetric_add(P_R, x->a, z_plus); /* z_R = z_r + g eps_f + P_R a_mR */
  if (f.n == 0) return;
  hinge_innovations(s, b, in, z_plus, x, &f); /* eps_R = T_R - H z_R,  D_R = H P_R H* */
  real scale = P_R[AT(0, 0)] + P_R[AT(1, 1)] + P_R[AT(2, 2)];
  if (b->slides) scale = lane_min(scale, P_R[AT(3, 3)] + P_R[AT(4, 4)] + P_R[AT(5, 5)]);
  /* D_R = L L'; a NaN here does not hide the modal pivot that made it */
  w->D_min = lane_min(cholesky_packed(x->D_R, f.n), w->D_min);
  w->D_scale = lane_min(scale, w->D_scale);
  hinge_off(x->D_R, &f, P_plus, z_plus); /* P_R^+ = (1 - G_R H) P_R,  z_R^+ = z_R + G_R eps_R */
  hinge_gains(x->D_R, &f, x->gain);     /* G_R = P_R H* D_R^-1,  nu_R = D_R^-1 eps_R */
}

/* (63) and (64) of body k: what its children handed over is in P, mu, D_f, z and eps_f. Leaves P_R^+ and z_R^+, in O
 * axes. */
INLINE void inward_body(const bough_sweep *s, sweep_work *w, int k, const sweep_input *in, real P_plus[21],
                        real z_plus[6]) {
  const bough_body *b = s->model->body + k;
  body_work *x = w->body + k;
  pivots_begin(w);
  if (s->path[k] == PATH_TWO_PORT)
    eliminate_two_port(s, b, x);
  else if (s->path[k] == PATH_GENERAL) {
    if (s->held[b->um])
      hold_modes(b, in->motion, w, x);
    else
      eliminate_modes(b, w, x);
  }
  if (b->revolute)
    eliminate_revolute(s, b, in, w, x, P_plus, z_plus);
  else
    eliminate_hinge(s, b, in, w, x, P_plus, z_plus);
  pivots_end(w, k);
}

/* ---- to the parent */

/* A Gamma A*, rows and columns of the parent's modes: D_f += Pi* Gamma Pi, mu += phi(l) Gamma Pi, eps_f -= Pi* f */
static void hand_modes(int nm, const real l[3], const real Gamma[21], const real f[6], const real *Pi, body_work *p) {
  real *D_f = p->ff.D, *mu = p->rf.mu, *eps = p->f.eps;
  for (int r = 0; r < nm; r++) {
    real pi[6], g[6], v = eps[r];
    for (int i = 0; i < 6; i++) pi[i] = Pi[6 * r + i];
    for (int i = 0; i < 6; i++) g[i] = splat(0), v -= pi[i] * f[i];
    eps[r] = v;
    symmetric_add(Gamma, pi, g); /* Gamma Pi */
    for (int c = r; c < nm; c++) {
      v = D_f[AT(c, r)];
      for (int i = 0; i < 6; i++) v += Pi[6 * c + i] * g[i];
      D_f[AT(c, r)] = v;
    }
    cross_add(l, g + 3, g); /* to the parent's O */
    for (int i = 0; i < 6; i++) mu[6 * r + i] += g[i];
  }
}

/* Gamma and z_R^+ in the parent's axes, onto P(k) and z(k) of the parent */
INLINE void hand_to_parent(const bough_sweep *s, const bough_body *b, const real P_plus[21], const real z_plus[6],
                           const body_work *x, sweep_work *w) {
  body_work *p = w->body + b->parent;
  const int path = s->path[b->parent];
  if (path == PATH_TWO_PORT) { /* its modes are eliminated from there */
    hand_to_port(b, P_plus, z_plus, x, p->port);
    return;
  }
  real Gamma[21], f[6], *P = p->sum->P, *z = p->sum->z;
  inertia_rotate(x->R, P_plus, Gamma);
  rotate(x->R, z_plus, f), rotate(x->R, z_plus + 3, f + 3);
  inertia_shift_add(x->l, Gamma, P);
  if (path == PATH_GENERAL)
    hand_modes(s->model->body[b->parent].nm, x->l, Gamma, f, port_influence(s, b, x, w->scratch.Pi), p);
  for (int i = 0; i < 6; i++) z[i] += f[i];
  cross_add(x->l, f + 3, z);
}
