/* body.inl - one body: inertia, gyroscopic and modal forces at its present deflection.
 *
 * Everything comes from the kinetic energy T = 1/2 V_m' M_m(xi) V_m, V_m = (xidot, omega, v), by Lagrange's equations
 * in quasi-coordinates, so it conserves energy for any M_m(xi). With linear acceleration taken in the inertial
 * frame, v drops out:
 *   b_omega = Jdot omega + Fdot xidot + omega x (J omega + F_w xidot + h)
 *   b_v     = omega x (omega x mp) + 2 omega x (E xidot)
 *   b_eta   = d/dt(F_w') omega + Mff_dot xidot - 1/2 d/dxi (omega' J omega + 2 omega' F_w xidot + xidot' Mff xidot)
 * The modal integrals (Appendix C of the patent) enter as tables, mode by mode: N_r (6) with -1/2 d(omega' J omega)/dxi_r =
 * N_r . w2, F_r (6) = column of M^rf with parts F_w and E, their derivatives NF1 and E1, and Z = dMff/dxi. d/dt(F_w') omega
 * and what d/dxi(omega' F_w xidot) takes off it leave omega . sum_s (F1[s][r] - F1[r][s]) xidot_s, twice F1 where it is
 * antisymmetric.
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
/* eps = T' tau - K xi - D xidot: modal force before inertia terms */
INLINE void modes_force(const bough_sweep *s, const bough_body *b, int k, const real *tau, body_work *x) {
  const int nm = b->nm;
  const double scale = s->modal_scale[k], elastic = s->elastic, *K = b->k, *D = b->d;
  const real *xi = x->xi, *xidot = x->xidot;
  real *e = x->f.eps;
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
/* What tables have of Mff at zero deflection (1 unless Mff0 is there; nothing with rows of points), plus (Rosenbrock stage) gamma h D + (gamma h)^2 K */
INLINE void modes_mass(const bough_sweep *s, const bough_body *b, int k, body_work *x) {
  const int nm = b->nm;
  const double h1 = s->h1 * s->modal_scale[k], h2 = s->h2, *K = b->k, *D = b->d, *Mff0 = b->Mff0;
  const int full_damping = b->full_damping, rows = b->points && b->points->rows > 0;
  real *M = x->ff.M;
  for (int r = 0; r < nm; r++) {
    for (int c = 0; c <= r; c++) {
      const double mass = rows ? 0.0 : Mff0 ? Mff0[r * nm + c] : r == c;
      M[AT(r, c)] = splat(mass + (full_damping ? h1 * D[r * nm + c] : 0.0));
    }
    M[AT(r, r)] += h2 * K[r] + (full_damping ? 0.0 : h1 * D[r]);
  }
}

/* M^rr and b_m of the rigid motion: first moment, inertia, gyroscopic force less external loads. About O, in O axes;
 * about F, in F axes, while the modes are unclamped. */
typedef struct {
  real mp[3], J[6], b[6];
} rigid_part;

/* b of a rigid body, or of a ruthless one */
INLINE void rigid_bias(const bough_inertia *inertia, const double *wheel, const real w[3], const real w2[6], real b[6]) {
  const double *J = inertia->J;
  const real Jw[3] = {J[0] * w[0] + J[3] * w[1] + J[4] * w[2] + wheel[0],
                      J[3] * w[0] + J[1] * w[1] + J[5] * w[2] + wheel[1],
                      J[4] * w[0] + J[5] * w[1] + J[2] * w[2] + wheel[2]};
  const real mp[3] = {splat(inertia->mp[0]), splat(inertia->mp[1]), splat(inertia->mp[2])};
  cross(w, Jw, b);
  b[3] = b[4] = b[5] = splat(0);
  centrifugal_add(w2, mp, b + 3);
}

/* N, F_w and the Coriolis forces of the modes at the present deflection, onto `terms`; b_omega gains Fdot_w xidot. cor is
 * sum_s (F1[s][r] - F1[r][s]) xidot_s. NF1 has a record for every pair of modes, for N1 is symmetric: N1[s][r] (6),
 * F1[s][r] (3), F1[r][s] (3), s < r, then N1[r][r], F1[r][r]. `skew`: F1 is antisymmetric and comes once, and cor is half
 * of it. */
INLINE void tables_add(const bough_body *b, const int skew, const real *xi, const real *xidot, modal_terms terms,
                       real b_omega[3]) {
  real *NF = terms.NF, *cor = terms.cor;
  const int nm = b->nm, pair = skew ? 9 : 12;
  const double *T = b->NF1;
  for (int r = 0; r < nm; r++, T += skew ? 6 : 9) {
    const real p = xi[r], v = xidot[r];
    real own[9], turn[3];
    for (int i = 0; i < 9; i++) own[i] = NF[9 * r + i];
    for (int i = 0; i < 3; i++) turn[i] = cor[3 * r + i];
    for (int s = 0; s < r; s++, T += pair) {
      const real ps = xi[s], vs = xidot[s];
      real *other = NF + 9 * s, *back = cor + 3 * s;
      for (int i = 0; i < 6; i++) own[i] += T[i] * ps, other[i] += T[i] * p;
      for (int i = 0; i < 3; i++) {
        const double F = T[6 + i], B = skew ? -F : T[9 + i], C = skew ? F : F - B;
        own[6 + i] += F * ps, other[6 + i] += B * p;
        turn[i] += C * vs, back[i] -= C * v;
        if (!skew) b_omega[i] += (F + B) * (v * vs);
      }
    }
    for (int i = 0; i < (skew ? 6 : 9); i++) own[i] += T[i] * p;
    for (int i = 0; i < 3; i++) {
      cor[3 * r + i] = turn[i];
      if (!skew) b_omega[i] += T[6 + i] * (v * v);
    }
    for (int i = 0; i < 9; i++) NF[9 * r + i] = own[i];
  }
}
static void tables_add_general(const bough_body *b, const real *xi, const real *xidot, modal_terms terms,
                               real b_omega[3]) {
  tables_add(b, 0, xi, xidot, terms, b_omega);
}

/* Geometric stiffening: E = E0 + E1 xi in the linear rows of M^rf. */
static void linear_rows_add(const bough_body *b, const real *xi, real *F) {
  const int nm = b->nm;
  for (int s = 0; s < nm; s++)
    for (int r = 0; r < nm; r++)
      for (int i = 0; i < 3; i++) F[6 * r + 3 + i] += b->E1[3 * (nm * s + r) + i] * xi[s];
}

/* the terms at zero deflection */
INLINE void tables_begin(const bough_body *b, modal_terms terms) {
  real *NF = terms.NF, *cor = terms.cor;
  const double *N0 = b->N0, *F0 = b->F0;
  for (int r = 0; r < b->nm; r++) {
    for (int i = 0; i < 6; i++) NF[9 * r + i] = splat(N0[6 * r + i]);
    for (int i = 0; i < 3; i++) NF[9 * r + 6 + i] = splat(F0[6 * r + i]), cor[3 * r + i] = splat(0);
  }
}

/* Ruthless fidelity: M^rf, and b_eta off eps, at zero deflection but for geometric stiffening. */
static void body_ruthless(const bough_body *b, const real w2[6], modal_terms terms, body_work *x) {
  const int nm = b->nm;
  const double *F0 = b->F0;
  const real *NF = terms.NF;
  real *F = x->rf.M, *e = x->f.eps, unused[3] = {splat(0), splat(0), splat(0)};
  tables_begin(b, terms);
  for (int i = 0; i < 6 * nm; i++) F[i] = splat(F0[i]);
  if (b->stiffened) {
    tables_add_general(b, x->xi, x->xidot, terms, unused);
    linear_rows_add(b, x->xi, F);
    for (int r = 0; r < nm; r++)
      for (int i = 0; i < 3; i++) F[6 * r + i] = NF[9 * r + 6 + i];
  }
  for (int r = 0; r < nm; r++)
    for (int i = 0; i < 6; i++) e[r] -= NF[9 * r + i] * w2[i];
}

/* How M^rr moves with the deflection: g->mp and g->J, from J0 on, dJ/dt, and E xidot and F_w xidot. */
INLINE void body_moments(const bough_body *b, const bough_inertia *inertia, const double *J0, modal_terms terms, const body_work *x,
                         rigid_part *g, real Jdot[6], real Ed[3], real Fd[3]) {
  const int nm = b->nm;
  const double *N0 = b->N0, *F0 = b->F0;
  const real *xi = x->xi, *xidot = x->xidot, *F = x->rf.M, *NF = terms.NF;
  real dJ[6], Ex[3];
  for (int i = 0; i < 6; i++) dJ[i] = Jdot[i] = splat(0);
  for (int i = 0; i < 3; i++) Ex[i] = Ed[i] = Fd[i] = splat(0);
  for (int r = 0; r < nm; r++) {
    const real p = xi[r], v = xidot[r];
    for (int i = 0; i < 6; i++) dJ[i] += p * (N0[6 * r + i] + NF[9 * r + i]), Jdot[i] += v * NF[9 * r + i];
  }
  for (int r = 0; r < nm; r++) {
    const real p = xi[r], v = xidot[r];
    for (int i = 0; i < 3; i++) {
      Ex[i] += (F0[6 * r + 3 + i] + F[6 * r + 3 + i]) * p;
      Ed[i] += F[6 * r + 3 + i] * v;
      Fd[i] += F[6 * r + i] * v;
    }
  }
  for (int i = 0; i < 3; i++) g->mp[i] = inertia->mp[i] + 0.5 * Ex[i];
  for (int i = 0; i < 6; i++) { /* N's mixed rows carry twice the matrix entry */
    g->J[i] = J0[i] - (i < 3 ? dJ[i] : 0.5 * dJ[i]);
    Jdot[i] = i < 3 ? -2.0 * Jdot[i] : -Jdot[i];
  }
}

/* Full fidelity, in F: fills g and M^rf and takes b_eta off eps. w is omega of F. */
static void body_full(const bough_body *b, const bough_inertia *inertia, const real w[3], modal_terms terms, body_work *x,
                      rigid_part *g) {
  const int nm = b->nm, skew = !b->rotary && !b->stiffened;
  const double *F0 = b->F0;
  const real *xi = x->xi, *xidot = x->xidot, *NF = terms.NF;
  real *F = x->rf.M, *e = x->f.eps;
  for (int i = 0; i < 6; i++) g->b[i] = splat(0);
  tables_begin(b, terms);
  if (skew)
    tables_add(b, 1, xi, xidot, terms, g->b);
  else
    tables_add_general(b, xi, xidot, terms, g->b);
  for (int r = 0; r < nm; r++)
    for (int i = 0; i < 3; i++) F[6 * r + i] = NF[9 * r + 6 + i], F[6 * r + 3 + i] = splat(F0[6 * r + 3 + i]);
  if (b->stiffened) linear_rows_add(b, xi, F);

  real Jdot[6], Ed[3], Fd[3], w2[6], h[3];
  body_moments(b, inertia, b->points ? b->points->J_rest : inertia->J, terms, x, g, Jdot, Ed, Fd);
  squares(w, w2);
  const real *J = g->J;
  h[0] = J[0] * w[0] + J[3] * w[1] + J[4] * w[2] + Fd[0];
  h[1] = J[3] * w[0] + J[1] * w[1] + J[5] * w[2] + Fd[1];
  h[2] = J[4] * w[0] + J[5] * w[1] + J[2] * w[2] + Fd[2];
  cross_add(w, h, g->b);
  g->b[0] += Jdot[0] * w[0] + Jdot[3] * w[1] + Jdot[4] * w[2];
  g->b[1] += Jdot[3] * w[0] + Jdot[1] * w[1] + Jdot[5] * w[2];
  g->b[2] += Jdot[4] * w[0] + Jdot[5] * w[1] + Jdot[2] * w[2];
  for (int i = 0; i < 3; i++) Ed[i] *= 2.0;
  centrifugal_add(w2, g->mp, g->b + 3);
  cross_add(w, Ed, g->b + 3);
  const double twice = skew ? 2.0 : 1.0;
  const real wc[3] = {twice * w[0], twice * w[1], twice * w[2]};
  for (int r = 0; r < nm; r++) {
    const real *cor = terms.cor + 3 * r;
    real f = wc[0] * cor[0] + wc[1] * cor[1] + wc[2] * cor[2];
    for (int i = 0; i < 6; i++) f += w2[i] * NF[9 * r + i];
    e[r] -= f;
  }
}

/* Geometric stiffening: b_v += Edot xidot. */
static void body_stiffened(const bough_body *b, const body_work *x, rigid_part *g) {
  const int nm = b->nm;
  const real *xidot = x->xidot;
  for (int q = 0; q < nm; q++)
    for (int r = 0; r < nm; r++)
      for (int i = 0; i < 3; i++) g->b[3 + i] += b->E1[3 * (nm * q + r) + i] * (xidot[q] * xidot[r]);
}

/* Full fidelity, nodes with rotary inertia: Mff = 1 + sum_q xi_q Z_q, and b_eta = Mff_dot xidot - 1/2 xidot' Z_q xidot off
 * eps. Z has a record of nm for every pair of modes. */
static void body_rotary(const bough_body *b, body_work *x) {
  const int nm = b->nm;
  const double *Z = b->Z;
  const real *xi = x->xi, *xidot = x->xidot;
  real *M = x->ff.M, *e = x->f.eps;
  for (int r = 0; r < nm; r++)
    for (int s = 0; s <= r; s++, Z += nm) {
      const real both = (r == s ? 0.5 : 1.0) * (xidot[r] * xidot[s]);
      real mass = M[LOWER(r, s)], rate = splat(0);
      for (int q = 0; q < nm; q++) mass += Z[q] * xi[q], rate += Z[q] * xidot[q], e[q] += Z[q] * both;
      M[LOWER(r, s)] = mass;
      e[r] -= rate * xidot[s];
      if (s < r) e[s] -= rate * xidot[r];
    }
}

/* Deformed frame of a node: l = l0 + Gam xi (+ 1/2 xi' H xi), attitude E = exp(x~), x = Lam xi, and their rates. */
typedef struct {
  real l[3], E[9], Jl[9];
  real ldot[3], lddot[3], delta[3], ddelta[3]; /* gam xidot; H xidot xidot; Jl Lam xidot; d(Jl)/dt Lam xidot */
} node_state;

/* Fills s, and (unless null) gam [nm][3] with dl/dxi at the present deflection: Gam, plus H xi of a stiffened body, for
 * which it must be there. */
static void node_deform(const bough_node *n, int nm, int full, const real *xi, const real *xidot, real *gam,
                        node_state *s) {
  static const double one[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1};
  const double *Gam = n->Gam, *Lam = n->Lam, *H = n->H, *l0 = n->l0;
  real x[3], xd[3], p[3], v[3];
  for (int i = 0; i < 3; i++) x[i] = xd[i] = p[i] = v[i] = splat(0);
  for (int i = 0; gam && i < 3 * nm; i++) gam[i] = splat(Gam[i]);
  for (int r = 0; r < nm; r++)
    for (int i = 0; i < 3; i++) {
      x[i] += Lam[3 * r + i] * xi[r], xd[i] += Lam[3 * r + i] * xidot[r];
      p[i] += Gam[3 * r + i] * xi[r], v[i] += Gam[3 * r + i] * xidot[r];
    }
  for (int i = 0; i < 3; i++) {
    s->l[i] = full ? l0[i] + p[i] : splat(l0[i]);
    s->ldot[i] = v[i], s->lddot[i] = splat(0), s->ddelta[i] = splat(0), s->delta[i] = xd[i];
  }
  for (int q = 0; H && q < nm; q++)
    for (int r = 0; r < nm; r++)
      for (int i = 0; i < 3; i++) {
        const double h = H[3 * (nm * q + r) + i];
        gam[3 * r + i] += h * xi[q];
        s->ldot[i] += h * (xi[q] * xidot[r]);
        if (full) s->l[i] += (0.5 * h) * (xi[q] * xi[r]), s->lddot[i] += h * (xidot[q] * xidot[r]);
      }
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
    for (int i = 0; i < 3; i++) x->f.eps[r] += n->Lam[3 * r + i] * bent[i] + gam[3 * r + i] * force[i];
}

/* Unclamped modes: where F is, seen from the attach node's frame O (fills x->unclamped). With S = (Jl Lam_d, Gam_d),
 *   V_F = X (E V_O - S xidot),  alpha_F = X (E alpha_O - S xiddot) + c_F,  X: shift by -l_d. */
static void unclamped_frame(const bough_body *b, const bough_node *d, real *gam, body_work *x) {
  const int nm = b->nm;
  unclamped_work *F = x->unclamped;
  real *ld = F->l, *wF = F->omega, *cF = F->c, *S = F->S;
  node_state s;
  node_deform(d, nm, 1, x->xi, x->xidot, gam, &s);
  for (int i = 0; i < 9; i++) F->E[i] = s.E[i];
  rotate(F->E, x->omega, wF);
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
    const real lam[3] = {splat(d->Lam[3 * r]), splat(d->Lam[3 * r + 1]), splat(d->Lam[3 * r + 2])};
    rotate(s.Jl, lam, S + 6 * r);
    for (int i = 0; i < 3; i++) S[6 * r + 3 + i] = gam[3 * r + i];
  }
}

/* Refer mass and force of an unclamped body, computed in F, to O: the transformation (6)-(8) of the JSC paper at
 * the present deflection. After it the body looks clamped. */
static void unclamped_to_attach(const bough_body *b, double m, body_work *x, rigid_part *rigid) {
  const int nm = b->nm;
  const real *E = x->unclamped->E, *ld = x->unclamped->l, *cF = x->unclamped->c, *S = x->unclamped->S;
  real *Mrf = x->rf.M, *Mff = x->ff.M, *e = x->f.eps, M[21];
  inertia_set(m, rigid->mp, rigid->J, M);
  symmetric_add(M, cF, rigid->b); /* inertia force of c_F */
  for (int r = 0; r < nm; r++)
    for (int i = 0; i < 6; i++) e[r] -= Mrf[6 * r + i] * cF[i];
  /* to the point d: forces lose l_d x f, inertia is shifted by -l_d */
  const real back[3] = {-ld[0], -ld[1], -ld[2]};
  real Md[21];
  for (int i = 0; i < 21; i++) Md[i] = splat(0);
  inertia_shift_add(back, M, Md);
  cross_add(back, rigid->b + 3, rigid->b);
  for (int r = 0; r < nm; r++) cross_add(back, Mrf + 6 * r + 3, Mrf + 6 * r);
  /* Mff* = Mff - F'S - S'(F - M S), F* = F - M S, b_eta* = b_eta - S' b */
  for (int s = 0; s < nm; s++) {
    const real *Ss = S + 6 * s, *Fs = Mrf + 6 * s;
    real star[6];
    for (int i = 0; i < 6; i++) star[i] = splat(0);
    symmetric_add(Md, Ss, star);
    for (int i = 0; i < 6; i++) star[i] = Fs[i] - star[i], e[s] += Ss[i] * rigid->b[i];
    for (int r = s; r < nm; r++)
      for (int i = 0; i < 6; i++) Mff[AT(r, s)] -= Mrf[6 * r + i] * Ss[i] + S[6 * r + i] * star[i];
  }
  for (int s = 0; s < nm; s++) { /* F* after Mff has used F */
    real *F = Mrf + 6 * s, MS[6];
    for (int i = 0; i < 6; i++) MS[i] = splat(0);
    symmetric_add(Md, S + 6 * s, MS);
    for (int i = 0; i < 6; i++) MS[i] = F[i] - MS[i];
    rotate_back(E, MS, F), rotate_back(E, MS + 3, F + 3);
  }
  rotate_back(E, rigid->b, rigid->b), rotate_back(E, rigid->b + 3, rigid->b + 3);
  /* inertia in O axes */
  real Et[9], MO[21];
  transpose(E, Et);
  inertia_rotate(Et, Md, MO);
  rigid->J[0] = MO[AT(0, 0)], rigid->J[1] = MO[AT(1, 1)], rigid->J[2] = MO[AT(2, 2)];
  rigid->J[3] = MO[AT(1, 0)], rigid->J[4] = MO[AT(2, 0)], rigid->J[5] = MO[AT(2, 1)];
  first_moment(MO, rigid->mp);
}
