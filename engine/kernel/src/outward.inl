/* outward.inl - the outward sweep (11): frames, angular velocities, a_m (25) and b_m (37), base to tip.
 *
 * Linear velocities are not needed: with linear acceleration taken in the inertial frame they drop out.
 *
 * Two parts: frames and rates (outward_frame) must come base to tip; inertia and bias of a body (outward_body) need its
 * frame only. The forward dynamics takes them when the inward sweep arrives there, while they are near. */

/* What the port hands to the hinge, in port axes, at the outboard origin. */
typedef struct {
  real Q[9];        /* inboard axes -> port axes */
  real omega[3];    /* of the inboard frame */
  real a[6];        /* bias acceleration of the point of the inboard frame that is at the outboard origin */
  real sdot[3];     /* translation rate */
} port_state;

/* Port on ground or on a rigid parent: x->l and bias omega x (omega x l). */
INLINE void port_rigid(const bough_body *b, const body_work *parent, const hinge_state *h,
                       body_work *x, port_state *p) {
  for (int i = 0; i < 9; i++) p->Q[i] = splat(b->Q[i]);
  for (int i = 0; i < 3; i++) x->l[i] = splat(b->l[i]);
  real Qs[3];
  rotate(p->Q, h->s, Qs);
  rotate(p->Q, h->sdot, p->sdot);
  for (int i = 0; i < 3; i++) x->l[i] += Qs[i];
  for (int i = 0; i < 6; i++) p->a[i] = splat(0);
  for (int i = 0; i < 3; i++) p->omega[i] = parent ? parent->omega[i] : splat(0);
  if (!parent) return;
  real w2[6];
  squares(p->omega, w2);
  centrifugal_add(w2, x->l, p->a + 3);
}

/* Port on a two-port parent, in inboard axes: its angular velocity, and omega x (omega x l). */
INLINE void port_two(const bough_body *b, const bough_body *pb, const body_work *parent, real omega[3], real a[3]) {
  const int nm = pb->nm;
  const double *turn = pb->two_port->Pi + 6 * nm;
  const real *xidot = parent->xidot;
  const real l[3] = {splat(b->l[0]), splat(b->l[1]), splat(b->l[2])};
  real Q[9], w2[6], c[3] = {splat(0), splat(0), splat(0)};
  for (int i = 0; i < 9; i++) Q[i] = splat(b->Q[i]);
  rotate_back(Q, parent->omega, omega);
  for (int r = 0; r < nm; r++)
    for (int i = 0; i < 3; i++) omega[i] += turn[3 * r + i] * xidot[r];
  squares(parent->omega, w2);
  centrifugal_add(w2, l, c);
  rotate_back(Q, c, a);
}

/* Influence of the parent's modes on the port, Pi = (Jl Lam, gam - e~ Jl Lam), e from the node to own O. Long chains keep
 * Jl and e alone, 12 numbers instead of 6 nm, where that is enough: gam = Gam, and the parent's O is its F. */
static const real *port_influence(const bough_sweep *s, const bough_body *b, const body_work *x, real *scratch) {
  if (b->port_stored) return x->Pi;
  const int nm = s->model->body[b->parent].nm;
  const bough_node *n = s->model->node + b->port_node;
  const double *Lam = n->Lam, *Gam = n->Gam;
  const real *Jl = x->Pi, *e = Jl + 9;
  for (int r = 0; r < nm; r++) {
    const real lam[3] = {splat(Lam[3 * r]), splat(Lam[3 * r + 1]), splat(Lam[3 * r + 2])};
    real pi[6];
    rotate(Jl, lam, pi);
    cross(pi, e, pi + 3);
    for (int i = 0; i < 3; i++) scratch[6 * r + i] = pi[i], scratch[6 * r + 3 + i] = Gam[3 * r + i] + pi[3 + i];
  }
  return scratch;
}
/* f = Pi' X: what a force X at own O, in the parent's axes, is on the parent's modes */
INLINE void port_forces(const bough_sweep *s, const bough_body *b, const body_work *x, const real X[6], real *f) {
  const int nm = s->model->body[b->parent].nm;
  if (b->port_stored) {
    for (int r = 0; r < nm; r++) {
      f[r] = splat(0);
      for (int i = 0; i < 6; i++) f[r] += x->Pi[6 * r + i] * X[i];
    }
    return;
  }
  const bough_node *n = s->model->node + b->port_node;
  const real *Jl = x->Pi, *e = Jl + 9;
  real torque[3] = {X[0], X[1], X[2]};
  cross_add(e, X + 3, torque);
  rotate_back(Jl, torque, torque);
  for (int r = 0; r < nm; r++) {
    f[r] = splat(0);
    for (int i = 0; i < 3; i++) f[r] += n->Lam[3 * r + i] * torque[i] + n->Gam[3 * r + i] * X[3 + i];
  }
}
/* A += Pi x: velocity or acceleration of the port by the parent's modes */
INLINE void port_motion_add(const bough_sweep *s, const bough_body *b, const body_work *x, const real *rate, real A[6]) {
  const int nm = s->model->body[b->parent].nm;
  if (b->port_stored) {
    const real *Pi = x->Pi;
    for (int r = 0; r < nm; r++)
      for (int i = 0; i < 6; i++) A[i] += Pi[6 * r + i] * rate[r];
    return;
  }
  const bough_node *n = s->model->node + b->port_node;
  const double *Lam = n->Lam, *Gam = n->Gam;
  const real *Jl = x->Pi, *e = Jl + 9;
  real turn[3] = {splat(0), splat(0), splat(0)};
  for (int r = 0; r < nm; r++)
    for (int i = 0; i < 3; i++) turn[i] += Lam[3 * r + i] * rate[r], A[3 + i] += Gam[3 * r + i] * rate[r];
  rotate(Jl, turn, turn);
  for (int i = 0; i < 3; i++) A[i] += turn[i];
  cross_add(turn, e, A + 3);
}

/* Port on a flexible parent, general path: influence Pi, the deformed frame, and all its bias terms. */
static void port_general(const bough_sweep *s, const bough_body *b, const bough_body *pb, const body_work *parent,
                         const hinge_state *h, real *scratch, body_work *x, port_state *p) {
  const int nm = pb->nm, full = s->full;
  const bough_node *n = s->model->node + b->port_node;
  const real *wF = pb->attach_node >= 0 && full ? parent->unclamped + 12 : parent->omega;
  node_state d;
  const double *Lam = n->Lam;
  real *Pi = x->Pi, *gam = b->port_stored ? scratch : NULL;
  node_deform(n, nm, full, parent->xi, parent->xidot, gam, &d);
  real offset[3], e[3], w2[6], wt2[6], wt[3];
  const real r[3] = {splat(b->r[0]), splat(b->r[1]), splat(b->r[2])};
  rotate_const(b->Q, h->s, offset);
  for (int i = 0; i < 3; i++) offset[i] += r[i];
  rotate(d.E, offset, e); /* from the node to the outboard origin */
  real Qc[9];
  for (int i = 0; i < 9; i++) Qc[i] = splat(b->Q[i]);
  matmul(d.E, Qc, p->Q);
  rotate(p->Q, h->sdot, p->sdot);
  for (int i = 0; i < 3; i++) x->l[i] = d.l[i] + e[i], wt[i] = wF[i] + d.delta[i];
  for (int i = 0; i < 6; i++) p->a[i] = splat(0);
  squares(wF, w2);
  if (full) {
    const real twice[3] = {2.0 * d.ldot[0], 2.0 * d.ldot[1], 2.0 * d.ldot[2]};
    for (int i = 0; i < 3; i++) p->a[i] = d.ddelta[i], p->a[3 + i] = d.lddot[i];
    cross_add(wF, d.delta, p->a);
    centrifugal_add(w2, d.l, p->a + 3);
    cross_add(wF, twice, p->a + 3);
    squares(wt, wt2);
    centrifugal_add(wt2, e, p->a + 3);
    cross_add(p->a, e, p->a + 3);
  } else
    centrifugal_add(w2, x->l, p->a + 3);
  for (int i = 0; i < 3; i++) p->omega[i] = wt[i];
  if (!b->port_stored) {
    for (int i = 0; i < 9; i++) Pi[i] = d.Jl[i];
    for (int i = 0; i < 3; i++) Pi[9 + i] = e[i];
    return;
  }
  for (int c = 0; c < nm; c++) {
    const real lam[3] = {splat(Lam[3 * c]), splat(Lam[3 * c + 1]), splat(Lam[3 * c + 2])};
    real *pi = Pi + 6 * c;
    rotate(d.Jl, lam, pi);
    cross(pi, e, pi + 3);
    for (int i = 0; i < 3; i++) pi[3 + i] += gam[3 * c + i];
  }
}

/* The parent's modes are unclamped: from its F to its O. */
static void port_unclamped(const bough_body *pb, const body_work *parent, body_work *x, port_state *p) {
  const int nm = pb->nm;
  const real *E = parent->unclamped, *ld = E + 9, *cF = E + 15, *S = E + 21;
  const real arm[3] = {x->l[0] - ld[0], x->l[1] - ld[1], x->l[2] - ld[2]};
  for (int c = 0; c < nm; c++) {
    const real *Sc = S + 6 * c;
    real *pi = x->Pi + 6 * c, v[3];
    cross(Sc, arm, v);
    for (int i = 0; i < 3; i++) pi[i] -= Sc[i], pi[3 + i] -= Sc[3 + i] + v[i];
    rotate_back(E, pi, pi), rotate_back(E, pi + 3, pi + 3);
  }
  real Et[9], Q[9];
  for (int i = 0; i < 6; i++) p->a[i] += cF[i];
  cross_add(cF, x->l, p->a + 3);
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++) Et[3 * i + j] = E[3 * j + i];
  for (int i = 0; i < 9; i++) Q[i] = p->Q[i];
  matmul(Et, Q, p->Q);
  rotate(Et, arm, x->l);
  rotate(Et, p->omega, p->omega);
  rotate(Et, p->sdot, p->sdot);
  rotate(Et, p->a, p->a), rotate(Et, p->a + 3, p->a + 3);
}

/* Across any hinge: R, omega and a_mR of body x from the port and the hinge. */
INLINE void cross_hinge(const hinge_state *h, const port_state *p, body_work *x) {
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
  x->l[1] = c, x->l[2] = s;
  turn_z_back(c, s, omega, x->omega);
  turn_z_back(c, s, a, x->a + 3);
  x->omega[2] += rate;
  x->a[0] = x->omega[1] * rate, x->a[1] = -x->omega[0] * rate, x->a[2] = splat(0);
}

static void attitude_update(const bough_sweep *s, int k, sweep_work *w) {
  const bough_body *b = s->model->body + k;
  body_work *x = w->body + k;
  if (b->parent < 0) {
    for (int i = 0; i < 9; i++) x->attitude[i] = x->R[i];
    return;
  }
  if (s->path[b->parent] == PATH_TWO_PORT) {
    real turned[9];
    if (bough_is_revolute(b))
      turn_z_const(b->Q, x->l[1], x->l[2], turned);
    else
      matmul_const(b->Q, x->R, turned);
    matmul(w->body[b->parent].attitude, turned, x->attitude);
  } else
    matmul(w->body[b->parent].attitude, x->R, x->attitude);
}

static void loads_add(const bough_sweep *s, int k, sweep_work *w, const real *loads, rigid_part *g) {
  const bough_model *m = s->model;
  const bough_body *b = m->body + k;
  body_work *x = w->body + k;
  const int full = s->full && b->nm > 0;
  for (int i = b->load_first; i < b->load_first + b->load_count; i++) {
    real attitude[9];
    for (int j = 0; j < 9; j++) attitude[j] = x->attitude[j];
    if (full && b->attach_node >= 0) { /* F -> inertial */
      real Et[9];
      for (int r = 0; r < 3; r++)
        for (int c = 0; c < 3; c++) Et[3 * r + c] = x->unclamped[3 * c + r];
      matmul(x->attitude, Et, attitude);
    }
    load_add(m->node + m->load_node[i], b->nm, full, attitude, loads + 6 * i, w->scratch, x, g);
  }
}

/* Frame and rates of body k's hinge from its parent's. */
INLINE void outward_hinge(const bough_sweep *s, sweep_work *w, int k, const real *q, const real *u) {
  const bough_model *m = s->model;
  const bough_body *b = m->body + k;
  body_work *x = w->body + k;
  const body_work *parent = b->parent < 0 ? NULL : w->body + b->parent;
  const int path = parent ? s->path[b->parent] : PATH_RIGID;
  if (path == PATH_RIGID && bough_is_revolute(b)) {
    cross_revolute(b, parent, q[b->q0], u[b->u0], x);
    return;
  }
  if (path == PATH_TWO_PORT && bough_is_revolute(b)) {
    cross_revolute_two(b, m->body + b->parent, parent, q[b->q0], u[b->u0], x);
    return;
  }
  hinge_state h;
  port_state p;
  hinge_rotation(b, q + b->q0, u + b->u0, &h);
  hinge_translation(b, q + b->q0, u + b->u0, &h);
  if (path == PATH_RIGID)
    port_rigid(b, parent, &h, x, &p);
  else if (path == PATH_TWO_PORT) { /* no translations across such a hinge */
    port_two(b, m->body + b->parent, parent, p.omega, p.a + 3);
    for (int i = 0; i < 3; i++) p.a[i] = p.sdot[i] = splat(0);
    for (int i = 0; i < 9; i++) p.Q[i] = splat(i % 4 == 0);
  } else {
    port_general(s, b, m->body + b->parent, parent, &h, w->scratch, x, &p);
    if (s->full && m->body[b->parent].attach_node >= 0) port_unclamped(m->body + b->parent, parent, x, &p);
  }
  cross_hinge(&h, &p, x);
  if (!bough_is_revolute(b)) hinge_map(b, &h, x->H);
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
  if (b->attach_node >= 0 && s->full) unclamped_frame(b, s->model->node + b->attach_node, w->scratch, x);
}

/* Inertia and bias of body k: F, L, e of its modes; P (not for two-ports) and z start the inward sweep. */
static void outward_body(const bough_sweep *s, sweep_work *w, int k, const real *tau, const real *loads) {
  const bough_model *m = s->model;
  const bough_body *b = m->body + k;
  const double *inertia = s->inertia + 10 * k;
  body_work *x = w->body + k;
  const int nm = b->nm, unclamped = b->attach_node >= 0 && s->full;
  real w2[6];
  rigid_part g;
  squares(x->omega, w2);
  if (nm > 0) modes_force(s, b, k, tau && !s->held[b->um] ? tau + b->um : NULL, x);
  if (nm == 0 || !s->full) {
    rigid_bias(inertia, b->wheel, x->omega, w2, g.b);
    for (int i = 0; i < 3; i++) g.mp[i] = splat(inertia[1 + i]);
    for (int i = 0; i < 6; i++) g.J[i] = splat(inertia[4 + i]);
    real *e = x->e;
    if (s->path[k] == PATH_TWO_PORT)
      for (int r = 0; r < nm; r++) {
        const double *N = b->N0 + 6 * r;
        e[r] -= (N[0] * w2[0] + N[1] * w2[1] + N[2] * w2[2]) + (N[3] * w2[3] + N[4] * w2[4] + N[5] * w2[5]);
      }
    else if (nm > 0) {
      body_ruthless(b, w2, w->scratch, x);
      modes_mass(s, b, k, x);
    }
  } else {
    modes_mass(s, b, k, x);
    body_full(b, inertia, unclamped ? x->unclamped + 12 : x->omega, w->scratch, x, &g);
    if (b->stiffened) body_stiffened(b, x, &g);
    if (b->rotary) body_rotary(b, x);
  }
  if (loads && b->load_count > 0) loads_add(s, k, w, loads, &g);
  if (nm > 0 && unclamped) unclamped_to_attach(b, inertia[0], x, &g);
  real *P = x->sum->P, *z = x->sum->z;
  if (s->path[k] != PATH_TWO_PORT) inertia_set(inertia[0], g.mp, g.J, P);
  for (int i = 0; i < 6; i++) z[i] = g.b[i];
}
