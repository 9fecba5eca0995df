/* outward.inl - the outward sweep (11): frames, angular velocities, a_m (25) and b_m (37), base to tip.
 *
 * Linear velocities are not needed: with linear acceleration taken in the inertial frame they drop out.
 *
 * Two parts: frames and rates (outward_frame) must come base to tip; inertia and bias of a body (outward_body) need its
 * frame only. The forward dynamics takes them when the inward sweep arrives there, while they are near. */

/* Across any hinge: R, omega and a_mR of body x from the port and the hinge. */
INLINE void cross_hinge(const hinge_motion *h, const port_state *p, body_work *x) {
  real av[3] = {p->a[3], p->a[4], p->a[5]};
  const real twice[3] = {2.0 * p->sdot[0], 2.0 * p->sdot[1], 2.0 * p->sdot[2]};
  matmul(p->Q, h->R, x->R);
  rotate_back(x->R, p->omega, x->omega);
  rotate_back(x->R, p->a, x->a);
  for (int i = 0; i < 3; i++) x->omega[i] += h->w[i], x->a[i] += h->w_extra[i];
  cross_add(x->omega, h->w, x->a);
  cross_add(p->omega, twice, av);
  rotate_back(x->R, av, x->a + 3);
}

/* Revolute hinge on ground or on a rigid parent: the hot path of rigid chains. */
INLINE void cross_revolute(const bough_body *b, const body_work *parent, real angle, real rate, body_work *x) {
  real c, s;
  lane_sincos(angle, &s, &c);
  turn_z_const(b->Q, c, s, x->R);
  for (int i = 0; i < 3; i++) x->l[i] = splat(b->l[i]);
  for (int i = 0; i < 6; i++) x->a[i] = splat(0);
  if (parent) {
    real w2[6], av[3] = {splat(0), splat(0), splat(0)};
    rotate_back(x->R, parent->omega, x->omega);
    squares(parent->omega, w2);
    centrifugal_add(w2, x->l, av);
    rotate_back(x->R, av, x->a + 3);
  } else
    x->omega[0] = x->omega[1] = x->omega[2] = splat(0);
  x->omega[2] += rate;
  x->a[0] = x->omega[1] * rate; /* omega x (rate z) */
  x->a[1] = -x->omega[0] * rate;
}

/* Revolute hinge on a two-port: the hot path of ruthless chains. */
INLINE void cross_revolute_two(const bough_body *b, const bough_body *pb, const body_work *parent, real angle,
                               real rate, body_work *x) {
  real c, s, omega[3], a[3];
  lane_sincos(angle, &s, &c);
  port_two(b, pb, parent, omega, a);
  x->turn.cosine = c, x->turn.sine = s;
  turn_z_back(c, s, omega, x->omega);
  turn_z_back(c, s, a, x->a + 3);
  x->omega[2] += rate;
  x->a[0] = x->omega[1] * rate, x->a[1] = -x->omega[0] * rate, x->a[2] = splat(0);
}

static void attitude_update(const bough_sweep *s, int k, sweep_work *w) {
  const bough_body *b = s->model->body + k;
  body_work *x = w->body + k;
  if (b->parent < 0) {
    for (int i = 0; i < 9; i++) x->space->attitude[i] = x->R[i];
    return;
  }
  if (s->path[b->parent] == PATH_TWO_PORT) {
    real turned[9];
    if (b->revolute)
      turn_z_const(b->Q, x->turn.cosine, x->turn.sine, turned);
    else
      matmul_const(b->Q, x->R, turned);
    matmul(w->body[b->parent].space->attitude, turned, x->space->attitude);
  } else
    matmul(w->body[b->parent].space->attitude, x->R, x->space->attitude);
}

static void loads_add(const bough_sweep *s, int k, sweep_work *w, const real *loads, rigid_part *g) {
  const bough_model *m = s->model;
  const bough_body *b = m->body + k;
  body_work *x = w->body + k;
  const int full = deformed(s, b) && b->nm > 0;
  for (int i = b->load_first; i < b->load_first + b->load_count; i++) {
    real attitude[9];
    for (int j = 0; j < 9; j++) attitude[j] = x->space->attitude[j];
    if (b->attach_node >= 0) { /* F -> inertial */
      real Et[9];
      transpose(x->unclamped->E, Et);
      matmul(x->space->attitude, Et, attitude);
    }
    load_add(m->node + m->load_node[i], b->nm, full, attitude, loads + 6 * i, w->scratch.gam, x, g);
  }
}

/* Frame and rates of body k's hinge from its parent's. */
INLINE void outward_hinge(const bough_sweep *s, sweep_work *w, int k, const real *q, const real *u) {
  const bough_model *m = s->model;
  const bough_body *b = m->body + k;
  body_work *x = w->body + k;
  const body_work *parent = b->parent < 0 ? NULL : w->body + b->parent;
  const int path = parent ? s->path[b->parent] : PATH_RIGID;
  if (path == PATH_RIGID && b->revolute) {
    cross_revolute(b, parent, q[b->q0], u[b->u0], x);
    return;
  }
  if (path == PATH_TWO_PORT && b->revolute) {
    cross_revolute_two(b, m->body + b->parent, parent, q[b->q0], u[b->u0], x);
    return;
  }
  hinge_motion h;
  port_state p;
  if (b->revolute)
    revolute_motion(q[b->q0], u[b->u0], &h);
  else
    hinge_types[b->hinge]->move(b->hinge_constants, q + b->q0, u + b->u0, &h, x->H);
  if (path == PATH_RIGID)
    port_rigid(b, parent, &h, x, &p);
  else if (path == PATH_TWO_PORT) { /* no translations across such a hinge */
    port_two(b, m->body + b->parent, parent, p.omega, p.a + 3);
    for (int i = 0; i < 3; i++) p.a[i] = p.sdot[i] = splat(0);
    for (int i = 0; i < 9; i++) p.Q[i] = splat(i % 4 == 0);
  } else {
    port_general(s, b, m->body + b->parent, parent, &h, w->scratch.gam, x, &p);
    if (m->body[b->parent].attach_node >= 0) port_unclamped(m->body + b->parent, parent, x, &p);
  }
  cross_hinge(&h, &p, x);
}

/* Frames and rates of body k from its parent's: of its hinge, its modes, and (loads) in space. */
INLINE void outward_frame(const bough_sweep *s, sweep_work *w, int k, const real *q, const real *u, const real *loads) {
  const bough_body *b = s->model->body + k;
  body_work *x = w->body + k;
  choose_places(s, w, k);
  outward_hinge(s, w, k, q, u);
  if (loads) attitude_update(s, k, w);
  if (b->nm == 0) return;
  x->xi = modes_of(b, q + b->qm, x->xi_own);
  x->xidot = modes_of(b, u + b->um, x->xi_own + b->nm);
  if (b->attach_node >= 0) unclamped_frame(b, s->model->node + b->attach_node, w->scratch.gam, x);
}

/* Rigid or ruthless body: inertia at zero deflection. */
INLINE void outward_constant(const bough_sweep *s, sweep_work *w, int k, rigid_part *g) {
  const bough_body *b = s->model->body + k;
  const bough_inertia *inertia = s->inertia + k;
  body_work *x = w->body + k;
  real w2[6];
  squares(x->omega, w2);
  rigid_bias(inertia, b->wheel, x->omega, w2, g->b);
  for (int i = 0; i < 3; i++) g->mp[i] = splat(inertia->mp[i]);
  for (int i = 0; i < 6; i++) g->J[i] = splat(inertia->J[i]);
  real *e = x->f.eps;
  if (s->path[k] == PATH_TWO_PORT)
    for (int r = 0; r < b->nm; r++) {
      const double *N = b->N0 + 6 * r;
      e[r] -= (N[0] * w2[0] + N[1] * w2[1] + N[2] * w2[2]) + (N[3] * w2[3] + N[4] * w2[4] + N[5] * w2[5]);
    }
  else if (b->nm > 0) {
    body_ruthless(b, w2, w->scratch.terms, x);
    modes_mass(s, b, k, x);
  }
}

/* Inertia and bias of body k: M^rf, M^ff and eps of its modes; M^rr (not for two-ports) and b_m start the inward sweep. */
static void outward_body(const bough_sweep *s, sweep_work *w, int k, const real *tau, const real *loads) {
  const bough_body *b = s->model->body + k;
  const bough_inertia *inertia = s->inertia + k;
  body_work *x = w->body + k;
  const int nm = b->nm, unclamped = b->attach_node >= 0;
  rigid_part g;
  if (nm > 0) modes_force(s, b, k, tau && !s->held[b->um] ? tau + b->um : NULL, x);
  if (nm == 0 || b->ruthless)
    outward_constant(s, w, k, &g);
  else {
    const bough_points *points = b->points;
    const real *omega = unclamped ? x->unclamped->omega : x->omega;
    modes_mass(s, b, k, x);
    if (points && points->rows > 0)
      body_rows(b, omega, w->points, x, &g);
    else {
      body_full(b, inertia, omega, w->scratch.terms, x, &g);
      if (b->stiffened) body_stiffened(b, x, &g);
      if (b->rotary) body_rotary(b, x);
    }
    if (points && points->turning > 0) body_turning(b, omega, w->points, x, &g);
  }
  if (loads && b->load_count > 0) loads_add(s, k, w, loads, &g);
  if (nm > 0 && unclamped) unclamped_to_attach(b, inertia->m, x, &g);
  real *P = x->sum->P, *z = x->sum->z;
  if (s->path[k] != PATH_TWO_PORT) inertia_set(inertia->m, g.mp, g.J, P);
  for (int i = 0; i < 6; i++) z[i] = g.b[i];
}
