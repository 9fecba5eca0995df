/* articulated.inl - articulated-body forward and hybrid dynamics, (63)-(64), on a tree.
 *
 * Inward, each body in turn: its modes are eliminated (P_R, z_R), then its free hinge DOFs (P_R^+, z_R^+), and what is
 * left is carried to the parent. Outward, the accelerations unfold. A held DOF is not eliminated: its given
 * acceleration joins a_mR, and the force it took is read off the hinge force f = P_R alpha_R + (z_R - P_R a_mR). */

/* Cholesky factor of a packed n x n matrix in place, inverse diagonal; returns the smallest pivot met. */
INLINE real cholesky_packed(real *L, int n) {
  real least = splat(1e300);
  for (int j = 0; j < n; j++) {
    real d = L[AT(j, j)];
    for (int q = 0; q < j; q++) d -= L[AT(j, q)] * L[AT(j, q)];
    least = lane_min(d, least);
    const real inverse = 1.0 / lane_sqrt(d);
    L[AT(j, j)] = inverse;
    for (int i = j + 1; i < n; i++) {
      real v = L[AT(i, j)];
      for (int q = 0; q < j; q++) v -= L[AT(i, q)] * L[AT(j, q)];
      L[AT(i, j)] = v * inverse;
    }
  }
  return least;
}

/* Row i of P and z without the modes, from mu L^-T and L^-1 eps_f; i is a constant where it is inlined. */
INLINE void modes_off_row(const int i, int nm, const real *F, const real *e, real P[21], real z[6]) {
  real row[6], force = z[i];
  for (int j = 0; j <= i; j++) row[j] = P[LOWER(i, j)];
  for (int r = 0; r < nm; r++) {
    const real f = F[6 * r + i];
    for (int j = 0; j <= i; j++) row[j] -= f * F[6 * r + j];
    force += f * e[r];
  }
  for (int j = 0; j <= i; j++) P[LOWER(i, j)] = row[j];
  z[i] = force;
}
/* ---- modes, general path: D_f = L L', mu <- mu L^-T, e <- L^-1 eps_f, P_R = P_rr - g mu', z_R = z_r + g eps_f */
static void eliminate_modes(const bough_body *b, sweep_work *w, body_work *x) {
  const int nm = b->nm;
  real *L = x->L, *F = x->F, *e = x->e, *P = x->sum->P, *z = x->sum->z, largest = splat(0);
  for (int r = 0; r < nm; r++) largest += L[AT(r, r)];
  w->D_min = cholesky_packed(L, nm);
  w->D_scale = largest;
  for (int j = 0; j < nm; j++) {
    real v[7];
    for (int i = 0; i < 6; i++) v[i] = F[6 * j + i];
    v[6] = e[j];
    for (int q = 0; q < j; q++) {
      const real c = L[AT(j, q)];
      for (int i = 0; i < 6; i++) v[i] -= c * F[6 * q + i];
      v[6] -= c * e[q];
    }
    const real inverse = L[AT(j, j)];
    for (int i = 0; i < 6; i++) F[6 * j + i] = v[i] * inverse;
    e[j] = v[6] * inverse;
  }
  modes_off_row(0, nm, F, e, P, z), modes_off_row(1, nm, F, e, P, z), modes_off_row(2, nm, F, e, P, z);
  modes_off_row(3, nm, F, e, P, z), modes_off_row(4, nm, F, e, P, z), modes_off_row(5, nm, F, e, P, z);
}
/* modes held: their given acceleration only adds mu xiddot to z */
static void hold_modes(const bough_body *b, const real *motion, sweep_work *w, body_work *x) {
  const int nm = b->nm;
  for (int r = 0; r < nm; r++) x->xiddot[r] = splat(0);
  if (motion) modes_gather(b, b->Tinv, motion + b->um, x->xiddot);
  for (int i = 0; i < 6; i++)
    for (int r = 0; r < nm; r++) x->sum->z[i] += x->F[6 * r + i] * x->xiddot[r];
  w->D_min = w->D_scale = splat(1);
}

/* ---- modes, two-port path, (76)-(78) in the form that never inverts Gamma:
 *   G~ = G - G Th (1 + Th' G Th)^-1 Th' G,   P_R = Meff + Psi G~ Psi',
 *   z~ = z + G~ (Pi e - Omega z),            z_R = b + F e + Psi z~,            Omega = Theta Theta'.
 * n is 5 behind a revolute hinge (the row and column of z of Gamma vanish, since H P^+ = 0), else 6; at most R = nm
 * columns of Theta are not zero. Both are constants where this is inlined. P is Gamma first and P_R in the end. */
static const int port_order[6] = {0, 1, 3, 4, 5, 2}; /* wx wy vx vy vz wz */

INLINE void two_port(const bough_body *b, const int n, const int R, const real u[6], real *zt, real *Gt, real P[21],
                     real z_R[6]) {
  const double *Psi = b->two_port->Psi, *Theta = b->two_port->Theta, *Meff = b->Meff;
  real G[6][6], U[6][6], S[6][6], Y[6][6], inv[6];
  for (int i = 0; i < n; i++)
    for (int j = 0; j <= i; j++) G[i][j] = G[j][i] = P[AT(port_order[i], port_order[j])];
  for (int i = 0; i < n; i++) /* U = G Theta */
    for (int j = 0; j < R; j++) {
      real v = G[i][j] * Theta[LOWER(j, j)];
      for (int q = j + 1; q < n; q++) v += G[i][q] * Theta[LOWER(q, j)];
      U[i][j] = v;
    }
  for (int i = 0; i < R; i++) /* S = 1 + Theta' U, lower triangle */
    for (int j = 0; j <= i; j++) {
      real v = splat(i == j);
      for (int q = i; q < n; q++) v += Theta[LOWER(q, i)] * U[q][j];
      S[i][j] = v;
    }
  for (int j = 0; j < R; j++) { /* S = L diag L', U <- U L^-T */
    inv[j] = 1.0 / S[j][j];
    for (int i = j + 1; i < R; i++) {
      const real f = S[i][j] * inv[j];
      for (int q = j + 1; q <= i; q++) S[i][q] -= f * S[q][j];
      for (int q = 0; q < n; q++) U[q][i] -= f * U[q][j];
    }
  }
  for (int i = 0; i < n; i++)
    for (int j = 0; j <= i; j++) {
      real v = G[i][j];
      for (int q = 0; q < R; q++) v -= (U[i][q] * inv[q]) * U[j][q];
      G[i][j] = G[j][i] = Gt[AT(i, j)] = v; /* the outward sweep needs G~ */
    }
  real z[6], d[6];
  for (int i = 0; i < 6; i++) /* Y = Psi G~ */
    for (int j = 0; j < n; j++) {
      real v = Psi[6 * i] * G[0][j];
      for (int q = 1; q < n; q++) v += Psi[6 * i + q] * G[q][j];
      Y[i][j] = v;
    }
  for (int i = 0; i < 6; i++)
    for (int j = 0; j <= i; j++) {
      real v = splat(Meff[AT(i, j)]);
      for (int q = 0; q < n; q++) v += Y[i][q] * Psi[6 * j + q];
      P[AT(i, j)] = v;
    }
  for (int i = 0; i < 6; i++) z[i] = zt[i], d[i] = u[i];
  for (int j = 0; j < R; j++) { /* Omega z = Theta (Theta' z) */
    real v = Theta[LOWER(j, j)] * z[j];
    for (int q = j + 1; q < 6; q++) v += Theta[LOWER(q, j)] * z[q];
    for (int q = j; q < n; q++) d[q] -= Theta[LOWER(q, j)] * v;
  }
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++) zt[i] += G[i][j] * d[j];
  for (int i = 0; i < 6; i++)
    for (int q = 0; q < 6; q++) z_R[i] += Psi[6 * i + q] * zt[q];
}

/* the port's row of z is exactly zero: revolute, free, and nothing added to its diagonal */
INLINE int port_has_no_z(const bough_sweep *s, const bough_body *c) {
  return bough_is_revolute(c) && !s->held[c->u0] && s->hinge_mass[c->u0] == 0.0;
}

INLINE void eliminate_two_port(const bough_sweep *s, const bough_body *b, body_work *x) {
  const int nm = b->nm;
  const double *F0 = b->F0, *Pi = b->two_port->Pi, *Meff = b->Meff;
  const real *e = x->e;
  real sum[12]; /* F e and Pi e */
  for (int i = 0; i < 12; i++) sum[i] = splat(0);
  for (int r = 0; r < nm; r++)
    for (int i = 0; i < 6; i++) sum[i] += F0[6 * r + i] * e[r], sum[6 + i] += Pi[6 * r + i] * e[r];
  real *P = x->sum->P, *z = x->sum->z, *zt = x->port, *Gt = zt + 6; /* P is the child's Gamma, still */
  for (int i = 0; i < 6; i++) z[i] += sum[i];
  if (b->only_child < 0) {
    for (int i = 0; i < 21; i++) P[i] = splat(Meff[i]);
    return;
  }
  if (port_has_no_z(s, s->model->body + b->only_child)) {
    switch (nm) { /* constants where it is inlined: the loops unroll */
      case 1: two_port(b, 5, 1, sum + 6, zt, Gt, P, z); break;
      case 2: two_port(b, 5, 2, sum + 6, zt, Gt, P, z); break;
      case 3: two_port(b, 5, 3, sum + 6, zt, Gt, P, z); break;
      case 4: two_port(b, 5, 4, sum + 6, zt, Gt, P, z); break;
      default: two_port(b, 5, 5, sum + 6, zt, Gt, P, z);
    }
  } else if (nm >= 6)
    two_port(b, 6, 6, sum + 6, zt, Gt, P, z);
  else
    two_port(b, 6, nm, sum + 6, zt, Gt, P, z);
}

/* ---- hinges: P_R^+ and z_R^+ in O axes from P_R, z_R */
INLINE void eliminate_revolute(const bough_sweep *s, const bough_body *b, const real *q, const real *u,
                               const real *tau, const real *motion, sweep_work *w, body_work *x, real Pp[21],
                               real zp[6]) {
  const int i0 = b->u0, held = s->held[i0];
  if (held && motion) x->a[2] += motion[i0];
  const real *P = x->sum->P, *z = x->sum->z;
  for (int i = 0; i < 6; i++) zp[i] = z[i];
  symmetric_add(P, x->a, zp);
  if (held) {
    for (int i = 0; i < 21; i++) Pp[i] = P[i];
    return;
  }
  const double extra = s->hinge_mass[i0];
  const real D = P[AT(2, 2)] + extra, inverse = 1.0 / D;
  const real eps = tau[i0] - hinge_force(s, b, q + b->q0, u + i0, 0) - zp[2];
  real *G = x->G;
  for (int i = 0; i < 6; i++) G[i] = P[AT(i, 2)] * inverse;
  for (int i = 0; i < 6; i++)
    for (int j = 0; j <= i; j++)
      if (i != 2 && j != 2)
        Pp[AT(i, j)] = P[AT(i, j)] - G[i] * P[AT(j, 2)];
      else
        Pp[AT(i, j)] = extra * G[i == 2 ? j : i]; /* P - P P/D on the axis itself */
  G[6] = eps * inverse; /* nu */
  for (int i = 0; i < 6; i++) zp[i] += G[i] * eps;
  w->D_min = lane_min(D, w->D_min); /* a NaN here does not hide the modal pivot that made it */
  w->D_scale = lane_min(P[AT(0, 0)] + P[AT(1, 1)] + D, w->D_scale);
}

static void eliminate_hinge(const bough_sweep *s, const bough_body *b, const real *q, const real *u, const real *tau,
                            const real *motion, sweep_work *w, body_work *x, real Pp[21], real zp[6]) {
  const int n = b->n_lin + b->n_rot;
  int free_dof[6], nf = 0;
  for (int j = 0; j < n; j++) {
    if (!s->held[b->u0 + j]) {
      free_dof[nf++] = j;
      continue;
    }
    if (motion)
      for (int i = 0; i < 6; i++) x->a[i] += x->H[6 * j + i] * motion[b->u0 + j];
  }
  const real *P = x->sum->P, *z = x->sum->z;
  for (int i = 0; i < 21; i++) Pp[i] = P[i];
  for (int i = 0; i < 6; i++) zp[i] = z[i];
  symmetric_add(P, x->a, zp);
  if (nf == 0) return;
  real eps[6], PH[6][6];
  for (int c = 0; c < nf; c++) {
    const int j = free_dof[c];
    const real *H = x->H + 6 * j;
    eps[c] = tau[b->u0 + j] - hinge_force(s, b, q + b->q0, u + b->u0, j);
    for (int i = 0; i < 6; i++) PH[c][i] = splat(0);
    symmetric_add(P, H, PH[c]);
    for (int i = 0; i < 6; i++) eps[c] -= H[i] * zp[i];
    for (int e = 0; e <= c; e++) { /* D = H P H' + armature */
      real v = splat(e == c ? s->hinge_mass[b->u0 + j] : 0.0);
      for (int i = 0; i < 6; i++) v += x->H[6 * free_dof[e] + i] * PH[c][i];
      x->D[AT(c, e)] = v;
    }
  }
  real scale = P[AT(0, 0)] + P[AT(1, 1)] + P[AT(2, 2)];
  if (b->n_lin > 0) scale = lane_min(scale, P[AT(3, 3)] + P[AT(4, 4)] + P[AT(5, 5)]);
  w->D_min = lane_min(cholesky_packed(x->D, nf), w->D_min); /* a NaN here does not hide the modal pivot that made it */
  w->D_scale = lane_min(scale, w->D_scale);
  for (int c = 0; c < nf; c++) { /* PH <- PH L^-T, eps <- L^-1 eps */
    for (int e = 0; e < c; e++) {
      for (int i = 0; i < 6; i++) PH[c][i] -= x->D[AT(c, e)] * PH[e][i];
      eps[c] -= x->D[AT(c, e)] * eps[e];
    }
    for (int i = 0; i < 6; i++) PH[c][i] *= x->D[AT(c, c)];
    eps[c] *= x->D[AT(c, c)];
    for (int i = 0; i < 6; i++) {
      zp[i] += PH[c][i] * eps[c];
      for (int j = 0; j <= i; j++) Pp[AT(i, j)] -= PH[c][i] * PH[c][j];
    }
  }
  for (int c = nf; c-- > 0;) { /* G = PH D^-1 and nu = D^-1 eps: the other half of the solve */
    real *G = x->G + 6 * c, *nu = x->G + 6 * n;
    for (int i = 0; i < 6; i++) G[i] = PH[c][i];
    nu[c] = eps[c];
    for (int e = c + 1; e < nf; e++) {
      for (int i = 0; i < 6; i++) G[i] -= x->D[AT(e, c)] * x->G[6 * e + i];
      nu[c] -= x->D[AT(e, c)] * nu[e];
    }
    for (int i = 0; i < 6; i++) G[i] *= x->D[AT(c, c)];
    nu[c] *= x->D[AT(c, c)];
  }
}

/* G = Rz P Rz': only rows and columns x, y of each block move */
INLINE void inertia_turn_z(real c, real s, const real P[21], real G[21]) {
  real T[21];
  for (int i = 0; i < 21; i++) T[i] = P[i];
  for (int a = 0; a < 2; a++) {
    const int x = 3 * a, y = 3 * a + 1;
    for (int j = 0; j < 6; j++) {
      if (j == x || j == y) continue;
      const real px = T[AT(x, j)], py = T[AT(y, j)];
      T[AT(x, j)] = c * px - s * py;
      T[AT(y, j)] = s * px + c * py;
    }
    const real xx = T[AT(x, x)], yy = T[AT(y, y)], xy = T[AT(x, y)];
    const real cs = c * s, turn = 2.0 * cs * xy, cc = c * c, ss = s * s;
    T[AT(x, x)] = cc * xx - turn + ss * yy;
    T[AT(y, y)] = ss * xx + turn + cc * yy;
    T[AT(x, y)] = cs * (xx - yy) + (cc - ss) * xy;
  }
  for (int i = 0; i < 21; i++) G[i] = T[i];
}

/* ---- carry P^+ and z^+ to the parent */
static void hand_modes(int nm, const real l[3], const real G[21], const real f[6], const real *Pi, body_work *p) {
  real *L = p->L, *F = p->F, *e = p->e;
  for (int r = 0; r < nm; r++) {
    real pi[6], g[6], v = e[r];
    for (int i = 0; i < 6; i++) pi[i] = Pi[6 * r + i];
    for (int i = 0; i < 6; i++) g[i] = splat(0), v -= pi[i] * f[i];
    e[r] = v;
    symmetric_add(G, pi, g); /* Gamma Pi */
    for (int c = r; c < nm; c++) {
      v = L[AT(c, r)];
      for (int i = 0; i < 6; i++) v += Pi[6 * c + i] * g[i];
      L[AT(c, r)] = v;
    }
    cross_add(l, g + 3, g); /* to the parent's O */
    for (int i = 0; i < 6; i++) F[6 * r + i] += g[i];
  }
}

INLINE void hand_to_parent(const bough_sweep *s, const bough_body *b, const real Pp[21], const real zp[6],
                           body_work *x, sweep_work *w) {
  body_work *p = w->body + b->parent;
  const int path = s->path[b->parent];
  real G[21], f[6];
  if (path == PATH_TWO_PORT) {
    real *Gamma = p->sum->P, *port_z = p->port; /* the parent's modes are eliminated from there */
    if (bough_is_revolute(b)) {
      const real c = x->l[1], sine = x->l[2];
      inertia_turn_z(c, sine, Pp, Gamma);
      turn_z(c, sine, zp, f), turn_z(c, sine, zp + 3, f + 3);
    } else {
      inertia_rotate(x->R, Pp, Gamma);
      rotate(x->R, zp, f), rotate(x->R, zp + 3, f + 3);
    }
    for (int i = 0; i < 6; i++) port_z[i] = f[port_order[i]];
    return;
  }
  inertia_rotate(x->R, Pp, G);
  rotate(x->R, zp, f), rotate(x->R, zp + 3, f + 3);
  real *P = p->sum->P, *z = p->sum->z;
  inertia_shift_add(x->l, G, P);
  if (path == PATH_GENERAL)
    hand_modes(s->model->body[b->parent].nm, x->l, G, f, port_influence(s, b, x, w->scratch), p);
  for (int i = 0; i < 6; i++) z[i] += f[i];
  cross_add(x->l, f + 3, z);
}

INLINE void pivots_begin(sweep_work *w) { w->D_min = w->D_scale = splat(1e300); }
INLINE void pivots_end(sweep_work *w, int k) {
  w->failed = lane_judge(w->failed, w->D_min - PIVOT_MIN * w->D_scale, k + 1);
}

/* Eliminate modes and hinge of body k: P_R^+ and z_R^+ are left, in O axes. */
INLINE void inward_body(const bough_sweep *s, sweep_work *w, int k, const real *q, const real *u, const real *tau,
                        const real *motion, real Pp[21], real zp[6]) {
  const bough_body *b = s->model->body + k;
  body_work *x = w->body + k;
  pivots_begin(w);
  if (s->path[k] == PATH_TWO_PORT)
    eliminate_two_port(s, b, x);
  else if (s->path[k] == PATH_GENERAL) {
    if (s->held[b->um])
      hold_modes(b, motion, w, x);
    else
      eliminate_modes(b, w, x);
  }
  if (bough_is_revolute(b))
    eliminate_revolute(s, b, q, u, tau, motion, w, x, Pp, zp);
  else
    eliminate_hinge(s, b, q, u, tau, motion, w, x, Pp, zp);
  pivots_end(w, k);
}

/* ---- outward: accelerations */
/* alpha at the port, O axes */
INLINE void port_acceleration(const bough_sweep *s, const bough_body *b, const sweep_work *w, const body_work *x,
                              real alpha[6]) {
  real A[6]; /* port axes */
  if (b->parent < 0) { /* ground rises with -g: gravity */
    for (int i = 0; i < 3; i++) A[i] = splat(0), A[3 + i] = splat(-s->gravity[i]);
    rotate_back(x->R, A, alpha), rotate_back(x->R, A + 3, alpha + 3);
    return;
  }
  const body_work *p = w->body + b->parent;
  if (s->path[b->parent] == PATH_TWO_PORT) { /* left there with the parent's modes */
    const real *port = p->port;
    for (int i = 0; i < 6; i++) A[port_order[i]] = port[i];
    if (bough_is_revolute(b))
      turn_z_back(x->l[1], x->l[2], A, alpha), turn_z_back(x->l[1], x->l[2], A + 3, alpha + 3);
    else
      rotate_back(x->R, A, alpha), rotate_back(x->R, A + 3, alpha + 3);
    return;
  }
  for (int i = 0; i < 6; i++) A[i] = p->alpha[i];
  cross_add(p->alpha, x->l, A + 3);
  if (s->path[b->parent] == PATH_GENERAL) port_motion_add(s, b, x, p->xiddot, A);
  rotate_back(x->R, A, alpha), rotate_back(x->R, A + 3, alpha + 3);
}
