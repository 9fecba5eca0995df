/* field.inl - gravity of a point mass, with its gradient over each body.
 *
 * A body of mass m, mass centre R from the attracting point (r = |R|, e = R/r) and inertia J about its mass centre has
 *   V = -mu m / r + 1/2 tr(G J),      G = mu/r^3 (3 e e' - 1),
 * terms of third order in its size over r left out. Everything follows from that V, so that energy is kept to rounding:
 *   force   -mu m e / r^2 + 3 mu/(2 r^4) (5 (e'Je) e - tr(J) e - 2 J e)
 *   torque  3 mu/r^3 e x J e, about the mass centre
 *   mode r  E_r.(force/m - G c) - 1/2 tr(G dJ/dxi_r),   E_r = d(m c)/dxi_r, J about the origin of F; what a turn about an axis w
 *           does to modes that rest is 1/2 d(w'Jw)/dxi_r, so four of them tell dJ/dxi_r
 * all in F axes. A part without mass (a wheel whose mass is that of the body that carries it) is expanded about its origin:
 * its first moment mp has V = -mp.g, g = -mu e / r^2. */

/* First moment, inertia about F and M^rf of a body that turns about `axis` while its modes rest: x->f.eps gets what turns them,
 * 1/2 d(axis' J axis)/dxi. */
static void field_turn(const bough_sweep *s, sweep_work *w, element_work *ew, int k, const real axis[3], rigid_part *g) {
  const bough_body *b = s->model->body + k;
  const bough_points *points = b->points;
  body_work *x = w->body + k;
  const real *rate = x->xidot;
  for (int r = 0; r < b->nm; r++) x->f.eps[r] = splat(0);
  modes_mass(s, b, k, x);
  x->xidot = ew->zero;
  if (points && points->rows > 0)
    body_rows(b, axis, w->points, x, g);
  else
    body_full(b, s->inertia + k, axis, w->scratch.terms, x, g);
  if (points && points->turning > 0) body_turning(b, axis, w->points, x, g);
  x->xidot = rate;
}

/* first moment and inertia about F; where there are modes, M^rf onto x->rf.M and 1/2 d tr(J)/dxi onto ew->trace */
static void field_moments(const bough_sweep *s, sweep_work *w, element_work *ew, int k, rigid_part *g) {
  const bough_body *b = s->model->body + k;
  const bough_inertia *inertia = s->inertia + k;
  body_work *x = w->body + k;
  for (int i = 0; i < 3; i++) g->mp[i] = splat(inertia->mp[i]);
  for (int i = 0; i < 6; i++) g->J[i] = splat(inertia->J[i]);
  for (int r = 0; r < b->nm; r++) ew->trace[r] = splat(0);
  for (int i = 0; b->nm > 0 && !b->ruthless && i < 3; i++) {
    const real axis[3] = {splat(i == 0), splat(i == 1), splat(i == 2)};
    field_turn(s, w, ew, k, axis, g);
    for (int r = 0; r < b->nm; r++) ew->trace[r] += x->f.eps[r];
  }
  for (int r = 0; b->ruthless && r < b->nm; r++) { /* at zero deflection, of first order beyond */
    const double *F0 = b->F0 + 6 * r, *N0 = b->N0 + 6 * r;
    for (int i = 0; i < 6; i++) x->rf.M[6 * r + i] = splat(F0[i]);
    for (int i = 0; i < 3; i++) g->mp[i] += F0[3 + i] * x->xi[r];
    for (int i = 0; i < 6; i++) g->J[i] -= (i < 3 ? 2.0 : 1.0) * N0[i] * x->xi[r];
    ew->trace[r] = splat(-(N0[0] + N0[1] + N0[2]));
  }
}

/* 1/2 d(e' J e)/dxi of every mode onto x->f.eps */
static void field_along(const bough_sweep *s, sweep_work *w, element_work *ew, int k, const real e[3]) {
  const bough_body *b = s->model->body + k;
  body_work *x = w->body + k;
  rigid_part unused;
  real e2[6];
  if (!b->ruthless) {
    field_turn(s, w, ew, k, e, &unused);
    return;
  }
  squares(e, e2);
  for (int r = 0; r < b->nm; r++) {
    x->f.eps[r] = splat(0);
    for (int i = 0; i < 6; i++) x->f.eps[r] -= b->N0[6 * r + i] * e2[i];
  }
}

INLINE void symmetric_rotate(const real J[6], const real x[3], real y[3]) {
  y[0] = J[0] * x[0] + J[3] * x[1] + J[4] * x[2];
  y[1] = J[3] * x[0] + J[1] * x[1] + J[5] * x[2];
  y[2] = J[4] * x[0] + J[5] * x[1] + J[2] * x[2];
}
/* J - m (c c 1 - c c') */
static void inertia_about_centre(double m, const real c[3], real J[6]) {
  const real c2 = dot(c, c);
  for (int i = 0; i < 3; i++) J[i] -= m * (c2 - c[i] * c[i]);
  J[3] += m * c[0] * c[1], J[4] += m * c[0] * c[2], J[5] += m * c[1] * c[2];
}

/* body k: its wrench and modal forces; returns its potential */
static real field_body(const bough_sweep *s, sweep_work *w, element_work *ew, int k) {
  const bough_body *b = s->model->body + k;
  const body_work *x = w->body + k;
  const double m = s->inertia[k].m, mu = s->model->field[0], *centre = s->model->field + 1;
  rigid_part g;
  space_frame F;
  real c[3], R[3], e[3], Je[3], Gc[3], X[6], G[6], mass_force[3];
  field_moments(s, w, ew, k, &g);
  modal_frame(s, k, w, &F);
  for (int i = 0; i < 3; i++) c[i] = m > 0.0 ? g.mp[i] / m : splat(0), R[i] = F.r[i] - centre[i];
  rotate_back(F.A, R, R);
  for (int i = 0; i < 3; i++) R[i] += c[i];
  if (m > 0.0) inertia_about_centre(m, c, g.J);
  const real round = g.J[0]; /* a part of J that is the same about all axes does nothing: no torque on a ball, to the last digit */
  for (int i = 0; i < 3; i++) g.J[i] -= round;
  const real r2 = dot(R, R), r = lane_sqrt(r2), g1 = mu / (r2 * r);
  for (int i = 0; i < 3; i++) e[i] = R[i] / r, G[i] = g1 * (3.0 * e[i] * e[i] - 1.0);
  G[3] = 3.0 * g1 * e[0] * e[1], G[4] = 3.0 * g1 * e[0] * e[2], G[5] = 3.0 * g1 * e[1] * e[2];
  symmetric_rotate(g.J, e, Je);
  const real eJe = dot(e, Je), trace = g.J[0] + g.J[1] + g.J[2];
  real *force = X + 3, V = 0.5 * g1 * (3.0 * eJe - trace);
  for (int i = 0; i < 3; i++) force[i] = 1.5 * g1 / r * ((5.0 * eJe - trace) * e[i] - 2.0 * Je[i]);
  cross(e, Je, X);
  for (int i = 0; i < 3; i++) X[i] *= 3.0 * g1, mass_force[i] = -g1 * r * e[i];
  if (m > 0.0) {
    V -= m * g1 * r2;
    for (int i = 0; i < 3; i++) force[i] += m * mass_force[i];
    cross_add(c, force, X);
  } else {
    real pull[3];
    symmetric_rotate(G, g.mp, pull);
    V -= dot(g.mp, mass_force);
    for (int i = 0; i < 3; i++) force[i] += pull[i];
    cross_add(g.mp, mass_force, X);
  }
  real *f = ew->modal;
  symmetric_rotate(G, c, Gc);
  if (b->nm > 0) field_along(s, w, ew, k, e);
  for (int q = 0; q < b->nm; q++) { /* -1/2 tr(G dJ/dxi) = g1 (1/2 d tr(J) - 3/2 d(e'Je)) */
    const real *E = x->rf.M + 6 * q + 3;
    f[q] = g1 * (ew->trace[q] - 3.0 * x->f.eps[q]);
    for (int i = 0; i < 3; i++) f[q] += E[i] * (force[i] / m - Gc[i]);
  }
  body_wrench_add(s, w, ew, k, X, f);
  return V;
}
