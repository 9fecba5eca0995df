/* port.inl - where a body's hinge meets its parent: frame, rates and bias acceleration of the port, (5), (12), (25), and
 * the influence Pi of the parent's modes on it. */

/* the order of a two-port's port, the hinge axis last: wx wy vx vy vz wz */
static const int port_order[6] = {0, 1, 3, 4, 5, 2};

/* What the port hands to the hinge, in port axes, at the outboard origin. */
typedef struct {
  real Q[9];        /* inboard axes -> port axes */
  real omega[3];    /* of the inboard frame */
  real a[6];        /* bias acceleration of the point of the inboard frame that is at the outboard origin */
  real sdot[3];     /* translation rate */
} port_state;

/* Port on ground or on a rigid parent: x->l and bias omega x (omega x l). */
INLINE void port_rigid(const bough_body *b, const body_work *parent, const hinge_motion *h,
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
  const double *turn = bough_port_turns(pb);
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

/* Influence of the parent's modes on the port, Pi = (Jl Lam, gam - e~ Jl Lam), e from the node to own O: stored, or made
 * here. Long chains keep Jl and e alone, 12 numbers instead of 6 nm, where that is enough: gam = Gam, and the parent's O is
 * its F. */
static const real *port_influence(const bough_sweep *s, const bough_body *b, const body_work *x, real *made) {
  if (b->port_stored) return x->influence.Pi;
  const int nm = s->model->body[b->parent].nm;
  const bough_node *n = s->model->node + b->port_node;
  const double *Lam = n->Lam, *Gam = n->Gam;
  const real *Jl = x->influence.lever->Jl, *e = x->influence.lever->e;
  for (int r = 0; r < nm; r++) {
    const real lam[3] = {splat(Lam[3 * r]), splat(Lam[3 * r + 1]), splat(Lam[3 * r + 2])};
    real pi[6];
    rotate(Jl, lam, pi);
    cross(pi, e, pi + 3);
    for (int i = 0; i < 3; i++) made[6 * r + i] = pi[i], made[6 * r + 3 + i] = Gam[3 * r + i] + pi[3 + i];
  }
  return made;
}
/* f = Pi' X: what a force X at own O, in the parent's axes, is on the parent's modes */
INLINE void port_forces(const bough_sweep *s, const bough_body *b, const body_work *x, const real X[6], real *f) {
  const int nm = s->model->body[b->parent].nm;
  if (b->port_stored) {
    for (int r = 0; r < nm; r++) {
      f[r] = splat(0);
      for (int i = 0; i < 6; i++) f[r] += x->influence.Pi[6 * r + i] * X[i];
    }
    return;
  }
  const bough_node *n = s->model->node + b->port_node;
  const real *Jl = x->influence.lever->Jl, *e = x->influence.lever->e;
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
    const real *Pi = x->influence.Pi;
    for (int r = 0; r < nm; r++)
      for (int i = 0; i < 6; i++) A[i] += Pi[6 * r + i] * rate[r];
    return;
  }
  const bough_node *n = s->model->node + b->port_node;
  const double *Lam = n->Lam, *Gam = n->Gam;
  const real *Jl = x->influence.lever->Jl, *e = x->influence.lever->e;
  real turn[3] = {splat(0), splat(0), splat(0)};
  for (int r = 0; r < nm; r++)
    for (int i = 0; i < 3; i++) turn[i] += Lam[3 * r + i] * rate[r], A[3 + i] += Gam[3 * r + i] * rate[r];
  rotate(Jl, turn, turn);
  for (int i = 0; i < 3; i++) A[i] += turn[i];
  cross_add(turn, e, A + 3);
}

/* Bias acceleration of the point at the outboard origin, e from the node, which moves with d in F; wF: omega of F. */
INLINE void port_bias(const node_state *d, const real wF[3], const real wt[3], const real e[3], real a[6]) {
  const real twice[3] = {2.0 * d->ldot[0], 2.0 * d->ldot[1], 2.0 * d->ldot[2]};
  real w2[6], wt2[6];
  squares(wF, w2);
  for (int i = 0; i < 3; i++) a[i] = d->ddelta[i], a[3 + i] = d->lddot[i];
  cross_add(wF, d->delta, a);
  centrifugal_add(w2, d->l, a + 3);
  cross_add(wF, twice, a + 3);
  squares(wt, wt2);
  centrifugal_add(wt2, e, a + 3);
  cross_add(a, e, a + 3);
}

/* Port on a flexible parent, general path: influence Pi, the deformed frame, and all its bias terms. */
static void port_general(const bough_sweep *s, const bough_body *b, const bough_body *pb, const body_work *parent,
                         const hinge_motion *h, real *scratch, body_work *x, port_state *p) {
  const int nm = pb->nm, full = deformed(s, pb);
  const bough_node *n = s->model->node + b->port_node;
  const real *wF = pb->attach_node >= 0 ? parent->unclamped->omega : parent->omega;
  node_state d;
  real *gam = b->port_stored ? scratch : NULL;
  node_deform(n, nm, full, parent->xi, parent->xidot, gam, &d);
  real offset[3], e[3], wt[3], Qc[9];
  const real r[3] = {splat(b->r[0]), splat(b->r[1]), splat(b->r[2])};
  rotate_const(b->Q, h->s, offset);
  for (int i = 0; i < 3; i++) offset[i] += r[i];
  rotate(d.E, offset, e); /* from the node to the outboard origin */
  for (int i = 0; i < 9; i++) Qc[i] = splat(b->Q[i]);
  matmul(d.E, Qc, p->Q);
  rotate(p->Q, h->sdot, p->sdot);
  for (int i = 0; i < 3; i++) x->l[i] = d.l[i] + e[i], wt[i] = wF[i] + d.delta[i];
  if (full)
    port_bias(&d, wF, wt, e, p->a);
  else {
    real w2[6];
    squares(wF, w2);
    for (int i = 0; i < 6; i++) p->a[i] = splat(0);
    centrifugal_add(w2, x->l, p->a + 3);
  }
  for (int i = 0; i < 3; i++) p->omega[i] = wt[i];
  if (!b->port_stored) {
    port_lever *lever = x->influence.lever;
    for (int i = 0; i < 9; i++) lever->Jl[i] = d.Jl[i];
    for (int i = 0; i < 3; i++) lever->e[i] = e[i];
    return;
  }
  for (int c = 0; c < nm; c++) {
    const real lam[3] = {splat(n->Lam[3 * c]), splat(n->Lam[3 * c + 1]), splat(n->Lam[3 * c + 2])};
    real *pi = x->influence.Pi + 6 * c;
    rotate(d.Jl, lam, pi);
    cross(pi, e, pi + 3);
    for (int i = 0; i < 3; i++) pi[3 + i] += gam[3 * c + i];
  }
}

/* The parent's modes are unclamped: from its F to its O. */
static void port_unclamped(const bough_body *pb, const body_work *parent, body_work *x, port_state *p) {
  const int nm = pb->nm;
  const unclamped_work *F = parent->unclamped;
  const real *E = F->E, *ld = F->l, *cF = F->c, *S = F->S;
  const real arm[3] = {x->l[0] - ld[0], x->l[1] - ld[1], x->l[2] - ld[2]};
  for (int c = 0; c < nm; c++) {
    const real *Sc = S + 6 * c;
    real *pi = x->influence.Pi + 6 * c, v[3];
    cross(Sc, arm, v);
    for (int i = 0; i < 3; i++) pi[i] -= Sc[i], pi[3 + i] -= Sc[3 + i] + v[i];
    rotate_back(E, pi, pi), rotate_back(E, pi + 3, pi + 3);
  }
  real Et[9], Q[9];
  for (int i = 0; i < 6; i++) p->a[i] += cF[i];
  cross_add(cF, x->l, p->a + 3);
  transpose(E, Et);
  for (int i = 0; i < 9; i++) Q[i] = p->Q[i];
  matmul(Et, Q, p->Q);
  rotate(Et, arm, x->l);
  rotate(Et, p->omega, p->omega);
  rotate(Et, p->sdot, p->sdot);
  rotate(Et, p->a, p->a), rotate(Et, p->a + 3, p->a + 3);
}

/* (64), outward: alpha^+ of body b, what its parent's acceleration is at its O; O axes */
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
    const real *port_alpha = p->port->at.alpha, c = x->turn.cosine, sine = x->turn.sine;
    for (int i = 0; i < 6; i++) A[port_order[i]] = port_alpha[i];
    if (b->revolute)
      turn_z_back(c, sine, A, alpha), turn_z_back(c, sine, A + 3, alpha + 3);
    else
      rotate_back(x->R, A, alpha), rotate_back(x->R, A + 3, alpha + 3);
    return;
  }
  for (int i = 0; i < 6; i++) A[i] = p->alpha[i];
  cross_add(p->alpha, x->l, A + 3);
  if (s->path[b->parent] == PATH_GENERAL) port_motion_add(s, b, x, p->xiddot, A);
  rotate_back(x->R, A, alpha), rotate_back(x->R, A + 3, alpha + 3);
}
