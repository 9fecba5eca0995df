/* points.inl - the inertia of a flexible body as a sum of squares over points, at any deflection.
 *
 * Two kinds of points, both with the root of positive masses as weight, so that M_m is a Gram matrix by construction.
 *
 * Rows (geometric stiffening): L = L0 + G xi + 1/2 xi' H xi, weighted positions from F, and g_r = dL/dxi_r = G_r + H_r xi. With
 * the first row alone carrying the mass, c = sqrt(m), the momentum per row is c v + omega x L + g xidot, and
 *   M^ff = sum g'g     F_w = sum L x g     E = c g(1)     J = sum L.L 1 - L L'     mp = c L(1)
 * The forces come from the same motion: the acceleration that a row has without accelerations (v drops out, as everywhere),
 *   a = omega x (omega x L) + 2 omega x V + H xidot xidot,  V = g xidot
 *   b_eta = sum g'a     b_omega = sum L x a     b_v = c a(1)
 * so the power of b is the rate of T without accelerations, and energy is kept.
 *
 * Turning points (rotary inertia): attitude exp(x~), x = Lam xi, relative angular velocity A xidot with A = Jl(x) Lam, and
 * inertia J = E J0 E'. With delta = A xidot, W = omega + delta, alpha = d(Jl)/dt Lam xidot + omega x delta,
 *   M^ff += A'J A     F_w += J A     J += J     T = J alpha + W x (J W)     b_eta += A'T     b_omega += T
 *
 * Points are taken WIDE at a time, and a panel of them at a time, so that what is needed of them stays in the nearest
 * cache. Tables have the points last, padded with points of no weight. */

/* as many as four points of one state, or one point of several states */
#if defined(LANE_ONE) && defined(__GNUC__) && !defined(BOUGH_PLAIN_C)
#pragma GCC diagnostic ignored "-Wpsabi"
typedef double wide __attribute__((vector_size(32), aligned(32)));
enum { WIDE = 4 };
INLINE wide wide_splat(real x) { return (wide){x, x, x, x}; }
INLINE wide wide_load(const double *p) { return (wide){p[0], p[1], p[2], p[3]}; }
INLINE real wide_sum(wide x) { return (x[0] + x[1]) + (x[2] + x[3]); }
INLINE real wide_first(wide x) { return x[0]; }
#else
typedef real wide;
enum { WIDE = 1 };
INLINE wide wide_splat(real x) { return x; }
INLINE wide wide_load(const double *p) { return splat(*p); }
INLINE real wide_sum(wide x) { return x; }
INLINE real wide_first(wide x) { return x; }
#endif
enum { PANEL = 8 }; /* numbers of WIDE points each */

/* c += a x b */
INLINE void wide_cross_add(const wide a[3], const wide b[3], wide c[3]) {
  c[0] += a[1] * b[2] - a[2] * b[1];
  c[1] += a[2] * b[0] - a[0] * b[2];
  c[2] += a[0] * b[1] - a[1] * b[0];
}

/* Motion of the rows of a panel. */
typedef struct {
  int n;              /* numbers in it, of WIDE rows each */
  wide L[PANEL][3];   /* weighted position from F, F axes */
  wide V[PANEL][3];   /* its rate, g xidot */
  wide a[PANEL][3];   /* its acceleration without accelerations */
} row_panel;

/* g of a panel, [nm][3][n], and the second-order part of its acceleration. */
INLINE void rows_bend(const bough_points *p, int first, const int nm, const real *xi, const real *xidot, wide *g,
                      row_panel *panel) {
  const int n = panel->n, count = p->rows;
  for (int c = 0; c < 3 * nm; c++)
    for (int k = 0; k < n; k++) g[c * n + k] = wide_load(p->G + c * count + first + WIDE * k);
  for (int k = 0; k < n; k++)
    for (int i = 0; i < 3; i++) panel->a[k][i] = wide_splat(splat(0));
  const double *record = p->H;
  for (int j = 0; j < p->bends; j++, record += 3 + count) {
    const int r = (int)record[0], s = (int)record[1], i = (int)record[2];
    const double *H = record + 3 + first;
    wide *gr = g + (3 * r + i) * n, *gs = g + (3 * s + i) * n;
    const wide xs = wide_splat(xi[s]), xr = wide_splat(r == s ? splat(0) : xi[r]);
    const wide both = wide_splat((r == s ? 1.0 : 2.0) * (xidot[r] * xidot[s]));
    for (int k = 0; k < n; k++) {
      const wide h = wide_load(H + WIDE * k);
      gr[k] += h * xs;
      gs[k] += h * xr;
      panel->a[k][i] += h * both;
    }
  }
}

/* L, V and a of a panel from its g. */
INLINE void rows_move(const bough_points *p, int first, const int nm, const real *xi, const real *xidot, const real w[3],
                      const wide *g, row_panel *panel) {
  const int n = panel->n, count = p->rows;
  for (int k = 0; k < n; k++)
    for (int i = 0; i < 3; i++)
      panel->L[k][i] = wide_load(p->L0 + i * count + first + WIDE * k), panel->V[k][i] = wide_splat(splat(0));
  for (int r = 0; r < nm; r++) {
    const int moves = (int)p->moves[r];
    const wide half = wide_splat(0.5 * xi[r]), v = wide_splat(xidot[r]);
    for (int i = 0; i < 3; i++) {
      if (!(moves >> i & 1)) continue;
      const wide *gr = g + (3 * r + i) * n;
      const double *G = p->G + (3 * r + i) * count + first;
      for (int k = 0; k < n; k++) {
        panel->L[k][i] += (wide_load(G + WIDE * k) + gr[k]) * half;
        panel->V[k][i] += gr[k] * v;
      }
    }
  }
  const wide wide_w[3] = {wide_splat(w[0]), wide_splat(w[1]), wide_splat(w[2])};
  for (int k = 0; k < n; k++) { /* omega x (omega x L + 2 V) */
    wide turn[3];
    for (int i = 0; i < 3; i++) turn[i] = 2.0 * panel->V[k][i];
    wide_cross_add(wide_w, panel->L[k], turn);
    wide_cross_add(wide_w, turn, panel->a[k]);
  }
}

/* J and b_omega of a panel; of the first one, mp and b_v. */
INLINE void rows_rigid(const bough_points *p, int first, const row_panel *panel, rigid_part *g) {
  wide J[6], b[3];
  for (int i = 0; i < 6; i++) J[i] = wide_splat(splat(0));
  for (int i = 0; i < 3; i++) b[i] = wide_splat(splat(0));
  for (int k = 0; k < panel->n; k++) {
    const wide *L = panel->L[k];
    const wide xx = L[0] * L[0], yy = L[1] * L[1], zz = L[2] * L[2];
    J[0] += yy + zz, J[1] += xx + zz, J[2] += xx + yy;
    J[3] -= L[0] * L[1], J[4] -= L[0] * L[2], J[5] -= L[1] * L[2];
    wide_cross_add(L, panel->a[k], b);
  }
  for (int i = 0; i < 6; i++) g->J[i] += wide_sum(J[i]);
  for (int i = 0; i < 3; i++) g->b[i] += wide_sum(b[i]);
  for (int i = 0; first == 0 && i < 3; i++) {
    g->mp[i] = p->c * wide_first(panel->L[0][i]);
    g->b[3 + i] = p->c * wide_first(panel->a[0][i]);
  }
}

/* M^rf and M^ff of a panel, and b_eta off eps. */
INLINE void rows_modes(const bough_points *p, int first, const int nm, const wide *g, const row_panel *panel,
                       body_work *x) {
  const int n = panel->n;
  real *F = x->rf.M, *M = x->ff.M, *e = x->f.eps;
  for (int r = 0; r < nm; r++) {
    const int moves = (int)p->moves[r];
    wide turn[3] = {wide_splat(splat(0)), wide_splat(splat(0)), wide_splat(splat(0))}, force = wide_splat(splat(0));
    for (int i = 0; i < 3; i++) {
      if (!(moves >> i & 1)) continue;
      const wide *gr = g + (3 * r + i) * n;
      const int i1 = i == 2 ? 0 : i + 1, i2 = i == 0 ? 2 : i - 1; /* L x e_i = L_i2 e_i1 - L_i1 e_i2 */
      for (int k = 0; k < n; k++) {
        turn[i1] += panel->L[k][i2] * gr[k], turn[i2] -= panel->L[k][i1] * gr[k];
        force += panel->a[k][i] * gr[k];
      }
      if (first == 0) F[6 * r + 3 + i] += p->c * wide_first(gr[0]);
    }
    for (int i = 0; i < 3; i++) F[6 * r + i] += wide_sum(turn[i]);
    e[r] -= wide_sum(force);
    for (int s = 0; s <= r; s++) {
      const int common = moves & (int)p->moves[s];
      wide sum = wide_splat(splat(0));
      for (int i = 0; i < 3; i++) {
        if (!(common >> i & 1)) continue;
        const wide *gr = g + (3 * r + i) * n, *gs = g + (3 * s + i) * n;
        for (int k = 0; k < n; k++) sum += gr[k] * gs[k];
      }
      M[LOWER(r, s)] += wide_sum(sum);
    }
  }
}

/* Full fidelity with geometric stiffening, in F: all translational inertia. Fills g and M^rf, adds to M^ff, takes b_eta off
 * eps. w is omega of F; scratch is for 3 nm panels. */
static void body_rows(const bough_body *b, const real w[3], wide *scratch, body_work *x, rigid_part *g) {
  const bough_points *p = b->points;
  const int nm = b->nm;
  row_panel panel;
  for (int i = 0; i < 6; i++) g->b[i] = splat(0), g->J[i] = splat(p->J_rest[i]);
  for (int i = 0; i < 6 * nm; i++) x->rf.M[i] = splat(0);
  for (int first = 0; first < p->rows; first += PANEL * WIDE) {
    const int left = (p->rows - first) / WIDE;
    panel.n = left < PANEL ? left : PANEL;
    rows_bend(p, first, nm, x->xi, x->xidot, scratch, &panel);
    rows_move(p, first, nm, x->xi, x->xidot, w, scratch, &panel);
    rows_rigid(p, first, &panel, g);
    rows_modes(p, first, nm, scratch, &panel, x);
  }
}

/* exp_coefficients of several points */
typedef struct {
  wide A, B, C, B1, C1;
} wide_coefficients;
#if defined(LANE_ONE) && defined(__GNUC__) && !defined(BOUGH_PLAIN_C)
/* exp_series, wide */
INLINE void wide_series(wide t, int terms, wide_coefficients *e) {
  wide A = wide_splat(0.0), B = A, C = A, B1 = A, C1 = A;
  for (int n = terms; n-- > 0;) {
    const double g = 2.0 * n;
    A = 1.0 - A * t * (1.0 / ((g + 2) * (g + 3)));
    B = 1.0 - B * t * (1.0 / ((g + 3) * (g + 4)));
    C = 1.0 - C * t * (1.0 / ((g + 4) * (g + 5)));
    B1 = (g + 2) - B1 * t * (1.0 / ((g + 5) * (g + 6)));
    C1 = (g + 2) - C1 * t * (1.0 / ((g + 6) * (g + 7)));
  }
  e->A = A, e->B = B * 0.5, e->C = C * (1.0 / 6.0), e->B1 = B1 * (-1.0 / 24.0), e->C1 = C1 * (-1.0 / 120.0);
}
INLINE void wide_exp(wide t, wide_coefficients *e) {
  double most = 0.0;
  for (int j = 0; j < WIDE; j++) most = t[j] > most ? t[j] : most;
  if (most < 0.09)
    wide_series(t, 6, e);
  else if (most < 10.0)
    wide_series(t, 18, e);
  else
    for (int j = 0; j < WIDE; j++) {
      exp_coefficients one;
      exp_map(t[j], &one);
      e->A[j] = one.A, e->B[j] = one.B, e->C[j] = one.C, e->B1[j] = one.B1, e->C1[j] = one.C1;
    }
}
#else
INLINE void wide_exp(wide t, wide_coefficients *e) {
  exp_coefficients one;
  exp_map(t, &one);
  e->A = one.A, e->B = one.B, e->C = one.C, e->B1 = one.B1, e->C1 = one.C1;
}
#endif

/* M = 1 + a x~ + b x~x~ */
INLINE void wide_rodrigues(const wide x[3], wide a, wide b, wide M[9]) {
  const wide xx = x[0] * x[0], yy = x[1] * x[1], zz = x[2] * x[2];
  const wide xy = b * x[0] * x[1], xz = b * x[0] * x[2], yz = b * x[1] * x[2];
  M[0] = 1.0 - b * (yy + zz), M[1] = xy - a * x[2], M[2] = xz + a * x[1];
  M[3] = xy + a * x[2], M[4] = 1.0 - b * (xx + zz), M[5] = yz - a * x[0];
  M[6] = xz - a * x[1], M[7] = yz + a * x[0], M[8] = 1.0 - b * (xx + yy);
}
/* y = P x for a symmetric matrix xx yy zz xy xz yz */
INLINE void wide_inertia(const wide J[6], const wide x[3], wide y[3]) {
  y[0] = J[0] * x[0] + J[3] * x[1] + J[4] * x[2];
  y[1] = J[3] * x[0] + J[1] * x[1] + J[5] * x[2];
  y[2] = J[4] * x[0] + J[5] * x[1] + J[2] * x[2];
}

/* Turning points at one place of a panel. */
typedef struct {
  wide J[6];  /* E J0 E', xx yy zz xy xz yz */
  wide Jl[9]; /* left Jacobian */
  wide T[3];  /* torque without accelerations */
} turned;

/* x, xdot and J0 to what the points of one place do. */
INLINE void turning_state(const wide x[3], const wide xd[3], const wide J0[6], const real w[3], turned *t) {
  const wide none = wide_splat(splat(0)), wide_w[3] = {wide_splat(w[0]), wide_splat(w[1]), wide_splat(w[2])};
  wide_coefficients e;
  wide E[9], JE[9];
  wide_exp(x[0] * x[0] + x[1] * x[1] + x[2] * x[2], &e);
  wide_rodrigues(x, e.A, e.B, E);
  wide_rodrigues(x, e.B, e.C, t->Jl);
  for (int i = 0; i < 3; i++) wide_inertia(J0, E + 3 * i, JE + 3 * i); /* rows of E J0 */
  static const int row[6] = {0, 1, 2, 1, 2, 2}, column[6] = {0, 1, 2, 0, 0, 1};
  for (int i = 0; i < 6; i++) {
    const wide *a = JE + 3 * row[i], *c = E + 3 * column[i];
    t->J[i] = a[0] * c[0] + a[1] * c[1] + a[2] * c[2];
  }
  wide delta[3], alpha[3], W[3], JW[3], c1[3] = {none, none, none}, c2[3] = {none, none, none};
  for (int i = 0; i < 3; i++) {
    const wide *Jl = t->Jl + 3 * i;
    delta[i] = Jl[0] * xd[0] + Jl[1] * xd[1] + Jl[2] * xd[2];
    W[i] = wide_w[i] + delta[i];
  }
  /* d(Jl)/dt xdot = (x.xdot)(B1 x x xdot + C1 x x (x x xdot)) + C xdot x (x x xdot) */
  wide_cross_add(x, xd, c1);
  wide_cross_add(x, c1, c2);
  const wide rate = x[0] * xd[0] + x[1] * xd[1] + x[2] * xd[2];
  const wide speed[3] = {e.C * xd[0], e.C * xd[1], e.C * xd[2]};
  for (int i = 0; i < 3; i++) alpha[i] = rate * (e.B1 * c1[i] + e.C1 * c2[i]);
  wide_cross_add(speed, c1, alpha);
  wide_cross_add(wide_w, delta, alpha);
  wide_inertia(t->J, alpha, t->T);
  wide_inertia(t->J, W, JW);
  wide_cross_add(W, JW, t->T);
}

/* A and J A of the points at place k of a panel of n, [nm][3][n] each, from Lam at the place. */
INLINE void turning_shapes(const double *Lam, int count, const int nm, const turned *t, int k, int n, wide *A, wide *JA) {
  wide JJ[9];
  for (int j = 0; j < 3; j++) {
    const wide column[3] = {t->Jl[j], t->Jl[3 + j], t->Jl[6 + j]};
    wide y[3];
    wide_inertia(t->J, column, y);
    for (int i = 0; i < 3; i++) JJ[3 * i + j] = y[i];
  }
  for (int r = 0; r < nm; r++) {
    const wide l0 = wide_load(Lam + 3 * r * count), l1 = wide_load(Lam + (3 * r + 1) * count),
               l2 = wide_load(Lam + (3 * r + 2) * count);
    for (int i = 0; i < 3; i++) {
      const wide *M = t->Jl + 3 * i, *P = JJ + 3 * i;
      A[(3 * r + i) * n + k] = M[0] * l0 + M[1] * l1 + M[2] * l2;
      JA[(3 * r + i) * n + k] = P[0] * l0 + P[1] * l1 + P[2] * l2;
    }
  }
}

/* M^ff, F_w and b_eta of a panel of n. */
INLINE void turning_modes(const int nm, int n, const wide *A, const wide *JA, const wide (*T)[3], body_work *x) {
  real *F = x->rf.M, *M = x->ff.M, *e = x->f.eps;
  for (int r = 0; r < nm; r++) {
    wide force = wide_splat(splat(0));
    for (int i = 0; i < 3; i++) {
      const wide *a = A + (3 * r + i) * n, *ja = JA + (3 * r + i) * n;
      wide turn = wide_splat(splat(0));
      for (int k = 0; k < n; k++) turn += ja[k], force += a[k] * T[k][i];
      F[6 * r + i] += wide_sum(turn);
    }
    e[r] -= wide_sum(force);
    const wide *a = A + 3 * r * n;
    for (int s = 0; s <= r; s++) {
      const wide *ja = JA + 3 * s * n;
      wide sum = wide_splat(splat(0));
      for (int k = 0; k < 3 * n; k++) sum += a[k] * ja[k];
      M[LOWER(r, s)] += wide_sum(sum);
    }
  }
}

/* Full fidelity, in F: rotary inertia of nodes at the present deflection, onto g, M^rf and M^ff, b_eta off eps. w is omega
 * of F; scratch is for 6 nm panels. */
static void body_turning(const bough_body *b, const real w[3], wide *scratch, body_work *x, rigid_part *g) {
  const bough_points *p = b->points;
  const int nm = b->nm, count = p->turning;
  const real *xi = x->xi, *xidot = x->xidot;
  wide J[6], T[PANEL][3];
  for (int i = 0; i < 6; i++) J[i] = wide_splat(splat(0));
  for (int first = 0; first < count; first += PANEL * WIDE) {
    const int left = (count - first) / WIDE, n = left < PANEL ? left : PANEL;
    wide *A = scratch, *JA = scratch + 3 * nm * n, torque[3];
    for (int i = 0; i < 3; i++) torque[i] = wide_splat(splat(0));
    for (int k = 0; k < n; k++) {
      const double *Lam = p->Lam + first + WIDE * k;
      turned t;
      wide angle[3], rate[3], J0[6];
      for (int i = 0; i < 3; i++) angle[i] = rate[i] = wide_splat(splat(0));
      for (int i = 0; i < 6; i++) J0[i] = wide_load(p->J + i * count + first + WIDE * k);
      for (int r = 0; r < nm; r++)
        for (int i = 0; i < 3; i++) {
          const wide lam = wide_load(Lam + (3 * r + i) * count);
          angle[i] += lam * wide_splat(xi[r]), rate[i] += lam * wide_splat(xidot[r]);
        }
      turning_state(angle, rate, J0, w, &t);
      turning_shapes(Lam, count, nm, &t, k, n, A, JA);
      for (int i = 0; i < 6; i++) J[i] += t.J[i];
      for (int i = 0; i < 3; i++) T[k][i] = t.T[i], torque[i] += t.T[i];
    }
    turning_modes(nm, n, A, JA, (const wide(*)[3])T, x);
    for (int i = 0; i < 3; i++) g->b[i] += wide_sum(torque[i]);
  }
  for (int i = 0; i < 6; i++) g->J[i] += wide_sum(J[i]);
}
