/* body.inl - one body: inertia, gyroscopic and modal forces at its present deflection.
 *
 * Everything comes from the kinetic energy T = 1/2 V_m' M_m(xi) V_m, V_m = (xidot, omega, v), by Lagrange's equations
 * in quasi-coordinates, so it conserves energy for any M_m(xi). With linear acceleration taken in the inertial
 * frame, v drops out:
 *   b_omega = Jdot omega + Fdot xidot + omega x (J omega + F_w xidot + h)
 *   b_v     = omega x (omega x mp) + 2 omega x (E xidot)
 *   b_eta   = d/dt(F_w') omega + Mff_dot xidot - 1/2 d/dxi (omega' J omega + 2 omega' F_w xidot + xidot' Mff xidot)
 * The modal integrals (Appendix C of the patent) enter as tables: N (6 x nm) with -1/2 d(omega' J omega)/dxi_r = N_r w2,
 * F (6 x nm) = M^rf with rows F_w and E, their derivatives NF1 and E1, and Z = dMff/dxi. d/dt(F_w') omega and what
 * d/dxi(omega' F_w xidot) takes off it leave omega . sum_s (F1[s][r] - F1[r][s]) xidot_s, twice F1 where it is antisymmetric.
 * J = J0 - sum_r xi_r (N0_r + N_r(xi)) holds because N is linear in xi with a symmetric derivative. Geometric stiffening
 * makes E linear in xi as well, E1[s][r] = E1[r][s], so mp = mp0 + 1/2 (E0 + E) xi; v still drops out, and b_v gains
 * Edot xidot. */

/* modal coordinates in the kernel's basis: xi = T^-1 eta */
INLINE void modes_gather(const bough_body *b, const double *Tinv, const real *eta, real *xi) {
  const int nm = b->nm;
  for (int r = 0; r < nm; r++) {
    if (!b->user_basis) {
      xi[r] = eta[r];
      continue;
    }
    real v = splat(0);
    for (int s = 0; s < nm; s++) v += Tinv[r * nm + s] * eta[s];
    xi[r] = v;
  }
}
/* the same without a copy where there is nothing to transform */
INLINE const real *modes_of(const bough_body *b, const real *eta, real *xi) {
  if (!b->user_basis) return eta;
  modes_gather(b, b->Tinv, eta, xi);
  return xi;
}
/* e = T' tau - K xi - D xidot: modal force before inertia terms */
INLINE void modes_force(const bough_sweep *s, const bough_body *b, int k, const real *tau, body_work *x) {
  const int nm = b->nm;
  const double scale = s->modal_scale[k], elastic = s->elastic, *K = b->k, *D = b->d;
  const real *xi = x->xi, *xidot = x->xidot;
  real *e = x->e;
  for (int r = 0; r < nm; r++) {
    real f = -(elastic * K[r]) * xi[r];
    if (b->full_damping)
      for (int c = 0; c < nm; c++) f -= (scale * D[r * nm + c]) * xidot[c];
    else
      f -= (scale * D[r]) * xidot[r];
    if (!tau)
      ;
    else if (b->user_basis)
      for (int c = 0; c < nm; c++) f += b->T[c * nm + r] * tau[c];
    else
      f += tau[r];
    e[r] = f;
  }
}
/* Mff at zero deflection (1 unless the modes are unclamped), plus (Rosenbrock stage) gamma h D + (gamma h)^2 K */
INLINE void modes_mass(const bough_sweep *s, const bough_body *b, int k, body_work *x) {
  const int nm = b->nm;
  const double h1 = s->h1 * s->modal_scale[k], h2 = s->h2, *K = b->k, *D = b->d, *Mff0 = b->Mff0;
  const int full_damping = b->full_damping;
  real *L = x->L;
  for (int r = 0; r < nm; r++) {
    for (int c = 0; c <= r; c++) {
      const double mass = Mff0 ? Mff0[r * nm + c] : r == c;
      L[AT(r, c)] = splat(mass + (full_damping ? h1 * D[r * nm + c] : 0.0));
    }
    L[AT(r, r)] += h2 * K[r] + (full_damping ? 0.0 : h1 * D[r]);
  }
}

/* M^rr and b_m of the rigid motion: first moment, inertia, gyroscopic force less external loads. About O, in O axes;
 * about F, in F axes, while the modes are unclamped. */
typedef struct {
  real mp[3], J[6], b[6];
} rigid_part;

/* b of a rigid body, or of a ruthless one */
INLINE void rigid_bias(const double *inertia, const double *wheel, const real w[3], const real w2[6], real b[6]) {
  const double *J = inertia + 4;
  const real Jw[3] = {J[0] * w[0] + J[3] * w[1] + J[4] * w[2] + wheel[0],
                      J[3] * w[0] + J[1] * w[1] + J[5] * w[2] + wheel[1],
                      J[4] * w[0] + J[5] * w[1] + J[2] * w[2] + wheel[2]};
  const real mp[3] = {splat(inertia[1]), splat(inertia[2]), splat(inertia[3])};
  cross(w, Jw, b);
  b[3] = b[4] = b[5] = splat(0);
  centrifugal_add(w2, mp, b + 3);
}

/* y = sum over c of A[c] x[c], A constant [n][len] laid out one after the other, added onto y */
INLINE void axpy_table(const double *A, const real *x, int n, int len, real *y) {
  for (int s = 0; s < n; s++) {
    const real c = x[s];
    const double *a = A + s * len;
    for (int i = 0; i < len; i++) y[i] += a[i] * c;
  }
}

/* Ruthless fidelity: F, and b_eta off e, at zero deflection but for geometric stiffening. */
static void body_ruthless(const bough_body *b, const real w2[6], real *scratch, body_work *x) {
  const int nm = b->nm;
  real *NF = scratch; /* N [6*nm] and F_w [3*nm] */
  for (int i = 0; i < 6 * nm; i++) NF[i] = splat(b->N0[i]), x->F[i] = splat(b->F0[i]);
  if (b->stiffened) {
    for (int i = 0; i < 3 * nm; i++) NF[6 * nm + i] = x->F[i];
    axpy_table(b->NF1, x->xi, nm, 9 * nm, NF);
    axpy_table(b->E1, x->xi, nm, 3 * nm, x->F + 3 * nm);
    for (int i = 0; i < 3 * nm; i++) x->F[i] = NF[6 * nm + i];
  }
  for (int i = 0; i < 6; i++)
    for (int r = 0; r < nm; r++) x->e[r] -= NF[i * nm + r] * w2[i];
}

/* From Fdot_w = sum_s F1[s] xidot_s [3*nm]: b_omega += Fdot_w xidot, and cor becomes Fdot_w[r] - sum_s F1[r][s] xidot_s. */
INLINE void coriolis(const bough_body *b, const real *xidot, real *cor, rigid_part *g) {
  const int nm = b->nm;
  if (!b->rotary && !b->stiffened) { /* F1 is antisymmetric: the first vanishes, the second doubles */
    for (int i = 0; i < 3 * nm; i++) cor[i] *= 2.0;
    return;
  }
  for (int i = 0; i < 3; i++)
    for (int r = 0; r < nm; r++) {
      const double *F1 = b->NF1 + 9 * nm * r + (6 + i) * nm;
      g->b[i] += cor[i * nm + r] * xidot[r];
      real v = cor[i * nm + r];
      for (int s = 0; s < nm; s++) v -= F1[s] * xidot[s];
      cor[i * nm + r] = v;
    }
}

/* Full fidelity, in F: fills g, F, L and takes b_eta off e. w is omega of F. */
static void body_full(const bough_body *b, const double *inertia, const real w[3], real *scratch, body_work *x,
                      rigid_part *g) {
  const int nm = b->nm;
  const double *N0 = b->N0, *F0 = b->F0;
  const real *xi = x->xi, *xidot = x->xidot;
  real *F = x->F, *e = x->e;
  real *NF = scratch, *cor = scratch + 9 * nm; /* N [6*nm] and F_w [3*nm]; Fdot_w, then Coriolis [3*nm] */
  for (int i = 0; i < 6 * nm; i++) NF[i] = splat(N0[i]);
  for (int i = 0; i < 3 * nm; i++) NF[6 * nm + i] = splat(F0[i]), cor[i] = splat(0);
  for (int s = 0; s < nm; s++) {
    const double *NF1 = b->NF1 + 9 * nm * s, *F1 = NF1 + 6 * nm;
    const real c = xi[s], v = xidot[s];
    for (int i = 0; i < 9 * nm; i++) NF[i] += NF1[i] * c;
    for (int i = 0; i < 3 * nm; i++) cor[i] += F1[i] * v;
  }

  real *E = F + 3 * nm;
  for (int i = 0; i < 3 * nm; i++) E[i] = splat(F0[3 * nm + i]);
  if (b->stiffened) axpy_table(b->E1, xi, nm, 3 * nm, E);

  real dJ[6], Jdot[6], Ex[3], Ed[3], Fd[3]; /* changes of J and mp, and F_w xidot, E xidot */
  for (int i = 0; i < 6; i++) {
    real p = splat(0), v = splat(0);
    for (int r = 0; r < nm; r++) {
      p += xi[r] * (N0[i * nm + r] + NF[i * nm + r]);
      v += xidot[r] * NF[i * nm + r];
    }
    dJ[i] = i < 3 ? p : 0.5 * p; /* N's mixed rows carry twice the matrix entry */
    Jdot[i] = i < 3 ? -2.0 * v : -v;
  }
  for (int i = 0; i < 3; i++) {
    Ex[i] = Ed[i] = Fd[i] = splat(0);
    for (int r = 0; r < nm; r++) {
      Ex[i] += (F0[(3 + i) * nm + r] + E[i * nm + r]) * xi[r];
      Ed[i] += E[i * nm + r] * xidot[r];
      Fd[i] += NF[(6 + i) * nm + r] * xidot[r];
      F[i * nm + r] = NF[(6 + i) * nm + r];
    }
    g->mp[i] = inertia[1 + i] + 0.5 * Ex[i];
  }
  for (int i = 0; i < 6; i++) g->J[i] = inertia[4 + i] - dJ[i];

  real w2[6], h[3];
  squares(w, w2);
  const real *J = g->J;
  h[0] = J[0] * w[0] + J[3] * w[1] + J[4] * w[2] + Fd[0];
  h[1] = J[3] * w[0] + J[1] * w[1] + J[5] * w[2] + Fd[1];
  h[2] = J[4] * w[0] + J[5] * w[1] + J[2] * w[2] + Fd[2];
  cross(w, h, g->b);
  g->b[0] += Jdot[0] * w[0] + Jdot[3] * w[1] + Jdot[4] * w[2];
  g->b[1] += Jdot[3] * w[0] + Jdot[1] * w[1] + Jdot[5] * w[2];
  g->b[2] += Jdot[4] * w[0] + Jdot[5] * w[1] + Jdot[2] * w[2];
  for (int i = 0; i < 3; i++) g->b[3 + i] = splat(0), Ed[i] *= 2.0;
  centrifugal_add(w2, g->mp, g->b + 3);
  cross_add(w, Ed, g->b + 3);
  coriolis(b, xidot, cor, g);
  for (int r = 0; r < nm; r++) {
    real f = w[0] * cor[r] + w[1] * cor[nm + r] + w[2] * cor[2 * nm + r];
    for (int i = 0; i < 6; i++) f += w2[i] * NF[i * nm + r];
    e[r] -= f;
  }
}

/* Geometric stiffening: b_v += Edot xidot. */
static void body_stiffened(const bough_body *b, const body_work *x, rigid_part *g) {
  const int nm = b->nm;
  const real *xidot = x->xidot;
  for (int q = 0; q < nm; q++) {
    const double *E1 = b->E1 + q * 3 * nm;
    for (int i = 0; i < 3; i++) {
      real force = splat(0);
      for (int r = 0; r < nm; r++) force += E1[i * nm + r] * xidot[r];
      g->b[3 + i] += force * xidot[q];
    }
  }
}

/* Full fidelity, nodes with rotary inertia: Mff = 1 + sum xi_q Z_q with its gyroscopic terms. */
static void body_rotary(const bough_body *b, real *scratch, body_work *x) {
  const int nm = b->nm, size = nm * (nm + 1) / 2;
  const real *xi = x->xi, *xidot = x->xidot;
  real *L = x->L, *e = x->e, *zx = scratch; /* zx = Z_q xidot */
  for (int q = 0; q < nm; q++) {
    const double *Z = b->Z + q * size;
    real quadratic = splat(0);
    for (int i = 0; i < size; i++) L[i] += Z[i] * xi[q];
    for (int r = 0; r < nm; r++) {
      const double *row = Z + AT(r, 0);
      real v = row[r] * xidot[r];
      for (int s = 0; s < r; s++) v += row[s] * xidot[s], zx[s] += row[s] * xidot[r];
      zx[r] = v;
    }
    for (int r = 0; r < nm; r++) e[r] -= zx[r] * xidot[q], quadratic += zx[r] * xidot[r];
    e[q] += 0.5 * quadratic;
  }
}

/* Deformed frame of a node: l = l0 + Gam xi (+ 1/2 xi' H xi), attitude E = exp(x~), x = Lam xi, and their rates. */
typedef struct {
  real l[3], E[9], Jl[9];
  real ldot[3], lddot[3], delta[3], ddelta[3]; /* gam xidot; H xidot xidot; Jl Lam xidot; d(Jl)/dt Lam xidot */
} node_state;

/* Fills s, and gam [3*nm] with dl/dxi at the present deflection: Gam, plus H xi of a stiffened body. */
static void node_deform(const bough_node *n, int nm, int full, const real *xi, const real *xidot, real *gam,
                        node_state *s) {
  static const double one[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1};
  const double *Gam = n->Gam, *Lam = n->Lam, *H = n->H, *l0 = n->l0;
  real x[3], xd[3];
  for (int i = 0; i < 3 * nm; i++) gam[i] = splat(Gam[i]);
  if (H) axpy_table(H, xi, nm, 3 * nm, gam);
  for (int i = 0; i < 3; i++) {
    real p = splat(0), v = splat(0), a = splat(0), d = splat(0);
    for (int r = 0; r < nm; r++) {
      p += (Gam[i * nm + r] + gam[i * nm + r]) * xi[r];
      a += Lam[i * nm + r] * xi[r];
      v += gam[i * nm + r] * xidot[r];
      d += Lam[i * nm + r] * xidot[r];
    }
    s->l[i] = full ? l0[i] + 0.5 * p : splat(l0[i]);
    x[i] = a, xd[i] = d, s->ldot[i] = v, s->lddot[i] = splat(0), s->ddelta[i] = splat(0), s->delta[i] = d;
  }
  for (int q = 0; full && H && q < nm; q++)
    for (int i = 0; i < 3; i++)
      for (int r = 0; r < nm; r++) s->lddot[i] += H[(q * 3 + i) * nm + r] * (xidot[q] * xidot[r]);
  for (int i = 0; i < 9; i++) s->E[i] = s->Jl[i] = splat(one[i]);
  if (!full) return;
  exp_coefficients e;
  exp_map(dot(x, x), &e);
  rodrigues(x, e.A, e.B, s->E);
  rodrigues(x, e.B, e.C, s->Jl);
  rotate(s->Jl, xd, s->delta);
  /* d(Jl)/dt xdot = (x.xdot)(B1 x x xdot + C1 x x (x x xdot)) + C xdot x (x x xdot) */
  real c1[3], c2[3], c3[3];
  cross(x, xd, c1);
  cross(x, c1, c2);
  cross(xd, c1, c3);
  const real rate = dot(x, xd);
  for (int i = 0; i < 3; i++) s->ddelta[i] = rate * (e.B1 * c1[i] + e.C1 * c2[i]) + e.C * c3[i];
}

/* Add the load (torque, force in inertial axes) at a node; `attitude` carries F axes to inertial ones. */
static void load_add(const bough_node *n, int nm, int full, const real attitude[9], const real load[6], real *gam,
                     body_work *x, rigid_part *g) {
  node_state s;
  node_deform(n, nm, full, x->xi, x->xidot, gam, &s);
  real torque[3], force[3], moment[3], bent[3];
  rotate_back(attitude, load, torque);
  rotate_back(attitude, load + 3, force);
  rotate_back(s.Jl, torque, bent);
  cross(s.l, force, moment);
  for (int i = 0; i < 3; i++) g->b[i] -= torque[i] + moment[i], g->b[3 + i] -= force[i];
  for (int r = 0; r < nm; r++)
    for (int i = 0; i < 3; i++) x->e[r] += n->Lam[i * nm + r] * bent[i] + gam[i * nm + r] * force[i];
}

/* Unclamped modes: where F is, seen from the attach node's frame O (fills x->unclamped). With S = (Jl Lam_d, Gam_d),
 *   V_F = X (E V_O - S xidot),  alpha_F = X (E alpha_O - S xiddot) + c_F,  X: shift by -l_d. */
static void unclamped_frame(const bough_body *b, const bough_node *d, body_work *x) {
  const int nm = b->nm;
  real *E = x->unclamped, *ld = E + 9, *wF = E + 12, *cF = E + 15, *S = E + 21;
  node_state s;
  node_deform(d, nm, 1, x->xi, x->xidot, S + 3 * nm, &s);
  for (int i = 0; i < 9; i++) E[i] = s.E[i];
  rotate(E, x->omega, wF);
  for (int i = 0; i < 3; i++) ld[i] = s.l[i], wF[i] -= s.delta[i];
  real a[6] = {s.ddelta[0], s.ddelta[1], s.ddelta[2], s.lddot[0], s.lddot[1], s.lddot[2]}, w2[6];
  const real twice[3] = {2.0 * s.ldot[0], 2.0 * s.ldot[1], 2.0 * s.ldot[2]};
  squares(wF, w2);
  cross_add(wF, s.delta, a);
  centrifugal_add(w2, ld, a + 3);
  cross_add(wF, twice, a + 3);
  for (int i = 0; i < 3; i++) cF[i] = -a[i], cF[3 + i] = -a[3 + i];
  cross_add(a, ld, cF + 3);
  for (int r = 0; r < nm; r++) {
    const real lam[3] = {splat(d->Lam[r]), splat(d->Lam[nm + r]), splat(d->Lam[2 * nm + r])};
    real jl[3];
    rotate(s.Jl, lam, jl);
    for (int i = 0; i < 3; i++) S[i * nm + r] = jl[i];
  }
}

INLINE void column(const real *A, int nm, int r, real c[6]) {
  for (int i = 0; i < 6; i++) c[i] = A[i * nm + r];
}

/* Refer mass and force of an unclamped body, computed in F, to O: the transformation (6)-(8) of the JSC paper at
 * the present deflection. After it the body looks clamped. */
static void unclamped_to_attach(const bough_body *b, double m, body_work *x, rigid_part *rigid) {
  const int nm = b->nm;
  const real *E = x->unclamped, *ld = E + 9, *cF = E + 15, *S = E + 21;
  real M[21], f[6];
  inertia_set(m, rigid->mp, rigid->J, M);
  symmetric_add(M, cF, rigid->b); /* inertia force of c_F */
  for (int r = 0; r < nm; r++) {
    column(x->F, nm, r, f);
    for (int i = 0; i < 6; i++) x->e[r] -= f[i] * cF[i];
  }
  /* to the point d: forces lose l_d x f, inertia is shifted by -l_d */
  const real back[3] = {-ld[0], -ld[1], -ld[2]};
  real Md[21];
  for (int i = 0; i < 21; i++) Md[i] = splat(0);
  inertia_shift_add(back, M, Md);
  cross_add(back, rigid->b + 3, rigid->b);
  for (int r = 0; r < nm; r++) {
    column(x->F, nm, r, f);
    cross_add(back, f + 3, f);
    for (int i = 0; i < 3; i++) x->F[i * nm + r] = f[i];
  }
  /* Mff* = Mff - F'S - S'(F - M S), F* = F - M S, b_eta* = b_eta - S' b */
  for (int s = 0; s < nm; s++) {
    real Ss[6], Fs[6], star[6];
    column(S, nm, s, Ss);
    column(x->F, nm, s, Fs);
    for (int i = 0; i < 6; i++) star[i] = splat(0);
    symmetric_add(Md, Ss, star);
    for (int i = 0; i < 6; i++) star[i] = Fs[i] - star[i], x->e[s] += Ss[i] * rigid->b[i];
    for (int r = s; r < nm; r++)
      for (int i = 0; i < 6; i++) x->L[AT(r, s)] -= x->F[i * nm + r] * Ss[i] + S[i * nm + r] * star[i];
  }
  for (int s = 0; s < nm; s++) { /* F* after Mff has used F */
    real Ss[6], MS[6];
    column(S, nm, s, Ss);
    for (int i = 0; i < 6; i++) MS[i] = splat(0);
    symmetric_add(Md, Ss, MS);
    for (int i = 0; i < 6; i++) f[i] = x->F[i * nm + s] - MS[i];
    real g[6];
    rotate_back(E, f, g), rotate_back(E, f + 3, g + 3);
    for (int i = 0; i < 6; i++) x->F[i * nm + s] = g[i];
  }
  rotate_back(E, rigid->b, rigid->b), rotate_back(E, rigid->b + 3, rigid->b + 3);
  /* inertia in O axes */
  real Et[9], MO[21];
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++) Et[3 * i + j] = E[3 * j + i];
  inertia_rotate(Et, Md, MO);
  rigid->J[0] = MO[AT(0, 0)], rigid->J[1] = MO[AT(1, 1)], rigid->J[2] = MO[AT(2, 2)];
  rigid->J[3] = MO[AT(1, 0)], rigid->J[4] = MO[AT(2, 0)], rigid->J[5] = MO[AT(2, 1)];
  first_moment(MO, rigid->mp);
}
