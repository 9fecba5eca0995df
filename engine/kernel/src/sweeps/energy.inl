/* energy.inl - kinetic, gravitational, elastic and spring energy, and momentum. */
enum { KINETIC, GRAVITATIONAL, ELASTIC, SPRINGS };

/* Body k: its energies onto E [4], its momentum about the inertial origin onto p [6].
 * T = 1/2 V.(M^rr V + M^rf xidot) + 1/2 xidot.(M^fr V + M^ff xidot) */
static void energy_body(const bough_sweep *s, const sweep_work *w, int k, real E[4], real p[6]) {
  const bough_body *b = s->model->body + k;
  const body_work *x = w->body + k;
  const space_work *space = x->space;
  const int nm = b->nm;
  real h[6] = {splat(0), splat(0), splat(0), splat(0), splat(0), splat(0)}, mp[3], g[6], arm[3]; /* h: momentum about O */
  symmetric_add(x->sum->P, space->V, h);
  first_moment(x->sum->P, mp);
  for (int r = 0; r < nm; r++) {
    const real *F = x->rf.M + 6 * r;
    real t = splat(0);
    for (int i = 0; i < 6; i++) h[i] += F[i] * x->xidot[r], t += F[i] * space->V[i];
    for (int c = 0; c < nm; c++) t += x->ff.M[AT(r, c)] * x->xidot[c];
    E[KINETIC] += 0.5 * x->xidot[r] * t;
    E[ELASTIC] += 0.5 * b->k[r] * x->xi[r] * x->xi[r];
    for (int i = 0; b->ruthless && i < 3; i++) /* weight works on ruthless modes too */
      mp[i] += 0.5 * (b->F0[6 * r + 3 + i] + F[3 + i]) * x->xi[r];
  }
  for (int i = 0; i < 6; i++) E[KINETIC] += 0.5 * space->V[i] * h[i];
  for (int i = 0; i < 3; i++) h[i] += b->wheel[i];
  rotate(space->attitude, h, g), rotate(space->attitude, h + 3, g + 3);
  cross_add(space->r, g + 3, g);
  for (int i = 0; i < 6; i++) p[i] += g[i];
  rotate(space->attitude, mp, arm);
  for (int i = 0; i < 3; i++) E[GRAVITATIONAL] -= s->gravity[i] * (s->inertia[k].m * space->r[i] + arm[i]);
}

/* Kinetic, gravitational, elastic, spring energy [4] and momentum about the inertial origin [6]. */
static void energy(const bough_sweep *s, void *work, const void *q_, const void *u_, void *energy_, void *momentum_) {
  sweep_work *w = work;
  const bough_model *m = s->model;
  const real *q = q_, *u = u_;
  real *E = energy_, *p = momentum_;
  for (int i = 0; i < 4; i++) E[i] = splat(0);
  for (int i = 0; i < 6; i++) p[i] = splat(0);
  for (int k = 0; k < m->nb; k++) {
    const bough_body *b = m->body + k;
    outward_frame(s, w, k, q, u, NULL);
    attitude_update(s, k, w);
    outward_body(s, w, k, NULL, NULL);
    kinematic_motion(s, w, k, u);
    energy_body(s, w, k, E, p);
    for (int j = 0; j < b->nh; j++) {
      const int i0 = b->u0 + j;
      const real stretch = hinge_stretch(s, b, q + b->q0, j);
      E[SPRINGS] += 0.5 * s->stiffness[i0] * stretch * stretch;
      E[KINETIC] += 0.5 * s->hinge_mass[i0] * u[i0] * u[i0];
    }
  }
}
