/* kinematics.inl - pose, velocity and acceleration of nodes; energy and momentum.
 *
 * The general path's frames, with linear velocity added: V = R'(phi* V(parent) + Pi xidot(parent)) + H* beta, (11). */

/* position and velocity of O; kept in x->r, and x->sum->z (V) */
static void kinematic_motion(const bough_sweep *s, sweep_work *w, int k, const real *u) {
  const bough_body *b = s->model->body + k;
  body_work *x = w->body + k;
  real V[6] = {splat(0), splat(0), splat(0), splat(0), splat(0), splat(0)};
  if (b->parent < 0)
    for (int i = 0; i < 3; i++) x->r[i] = x->l[i];
  else {
    const body_work *p = w->body + b->parent;
    const int nm = s->model->body[b->parent].nm;
    rotate(p->attitude, x->l, x->r);
    for (int i = 0; i < 3; i++) x->r[i] += p->r[i];
    for (int i = 0; i < 6; i++) V[i] = p->sum->z[i];
    if (nm > 0) port_motion_add(s, b, x, p->xidot, V);
    cross_add(p->sum->z, x->l, V + 3);
  }
  rotate_back(x->R, V, x->sum->z), rotate_back(x->R, V + 3, x->sum->z + 3);
  for (int j = 0; j < b->n_lin + b->n_rot; j++) {
    real H[6];
    joint_row(b, x, j, H);
    for (int i = 0; i < 6; i++) x->sum->z[i] += H[i] * u[b->u0 + j];
  }
}

/* acceleration of O, ground at rest */
static void kinematic_acceleration(const bough_sweep *s, sweep_work *w, int k, const real *udot) {
  const bough_body *b = s->model->body + k;
  body_work *x = w->body + k;
  for (int i = 0; i < 6; i++) x->alpha[i] = splat(0);
  if (b->parent >= 0) port_acceleration(s, b, w, x, x->alpha);
  for (int i = 0; i < 6; i++) x->alpha[i] += x->a[i];
  for (int j = 0; j < b->n_lin + b->n_rot; j++) {
    real H[6];
    joint_row(b, x, j, H);
    for (int i = 0; i < 6; i++) x->alpha[i] += H[i] * udot[b->u0 + j];
  }
  if (b->nm > 0) modes_gather(b, b->Tinv, udot + b->um, x->xiddot);
}

/* quaternion x y z w, w >= 0, of a rotation matrix: the largest of four candidates by value */
static void matrix_quaternion(const real R[9], real Q[4]) {
  const double t[4] = {lane_get(R[0] - R[4] - R[8], 0), lane_get(R[4] - R[0] - R[8], 0),
                       lane_get(R[8] - R[0] - R[4], 0), lane_get(R[0] + R[4] + R[8], 0)};
  int i = 0;
  for (int j = 1; j < 4; j++)
    if (t[j] > t[i]) i = j;
  if (i == 3) {
    const real n = lane_sqrt(1.0 + R[0] + R[4] + R[8]), h = 0.5 / n;
    Q[0] = h * (R[7] - R[5]), Q[1] = h * (R[2] - R[6]), Q[2] = h * (R[3] - R[1]), Q[3] = 0.5 * n;
    return;
  }
  const int j = (i + 1) % 3, k = (i + 2) % 3;
  const real n = lane_sqrt(1.0 + R[4 * i] - R[4 * j] - R[4 * k]), h = 0.5 / n;
  Q[i] = 0.5 * n;
  Q[j] = h * (R[3 * i + j] + R[3 * j + i]);
  Q[k] = h * (R[3 * i + k] + R[3 * k + i]);
  Q[3] = h * (R[3 * k + j] - R[3 * j + k]);
  if (lane_get(Q[3], 0) < 0)
    for (int c = 0; c < 4; c++) Q[c] = -Q[c];
}

/* where the modes are measured: F's position, attitude, velocity and acceleration (O's for clamped modes) */
static void modal_frame(const bough_sweep *s, int k, const sweep_work *w, real r[3], real A[9], real V[6],
                        real alpha[6]) {
  const bough_body *b = s->model->body + k;
  const body_work *x = w->body + k;
  for (int i = 0; i < 9; i++) A[i] = x->attitude[i];
  for (int i = 0; i < 3; i++) r[i] = x->r[i];
  for (int i = 0; i < 6; i++) V[i] = x->sum->z[i], alpha[i] = x->alpha[i];
  if (b->attach_node < 0 || !s->full) return;
  const int nm = b->nm;
  const real *E = x->unclamped, *ld = E + 9, *cF = E + 15, *S = E + 21;
  real Et[9], back[3];
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++) Et[3 * i + j] = E[3 * j + i];
  matmul(x->attitude, Et, A);
  rotate(A, ld, back);
  for (int i = 0; i < 3; i++) r[i] -= back[i];
  rotate(E, V, V), rotate(E, V + 3, V + 3), rotate(E, alpha, alpha), rotate(E, alpha + 3, alpha + 3);
  for (int i = 0; i < 6; i++)
    for (int c = 0; c < nm; c++) V[i] -= S[6 * c + i] * x->xidot[c], alpha[i] -= S[6 * c + i] * x->xiddot[c];
  cross_add(ld, V, V + 3), cross_add(ld, alpha, alpha + 3);
  for (int i = 0; i < 6; i++) alpha[i] += cF[i];
}

static void node_motion(const bough_sweep *s, void *work, const void *q, const void *u, const void *udot, int count,
                        const int *nodes, void *pose_, void *velocity_, void *acceleration_) {
  sweep_work *w = work;
  const bough_model *m = s->model;
  real *pose = pose_, *velocity = velocity_, *acceleration = acceleration_;
  for (int k = 0; k < m->nb; k++) {
    outward_frame(s, w, k, q, u, NULL);
    attitude_update(s, k, w);
    kinematic_motion(s, w, k, u);
    if (acceleration) kinematic_acceleration(s, w, k, udot);
  }
  for (int c = 0; c < count; c++) {
    const bough_node *n = m->node + nodes[c];
    const bough_body *b = m->body + n->body;
    const body_work *x = w->body + n->body;
    const int nm = b->nm;
    real r[3], A[9], V[6], alpha[6], arm[3], B[9], R0[9], turned[9];
    node_state d;
    modal_frame(s, n->body, w, r, A, V, alpha);
    real *gam = w->scratch;
    node_deform(n, nm, nm > 0, x->xi, x->xidot, gam, &d);
    rotate(A, d.l, arm);
    for (int i = 0; i < 9; i++) R0[i] = splat(n->R0[i]);
    matmul(A, d.E, B);
    matmul(B, R0, turned);
    for (int i = 0; i < 3; i++) pose[7 * c + i] = r[i] + arm[i];
    matrix_quaternion(turned, pose + 7 * c + 3);
    real v[6], a[6], w2[6];
    for (int i = 0; i < 3; i++) v[i] = V[i] + d.delta[i], v[3 + i] = V[3 + i] + d.ldot[i];
    cross_add(V, d.l, v + 3);
    rotate(A, v, velocity + 6 * c), rotate(A, v + 3, velocity + 6 * c + 3);
    if (!acceleration) continue;
    const real twice[3] = {2.0 * d.ldot[0], 2.0 * d.ldot[1], 2.0 * d.ldot[2]};
    real turn[3] = {splat(0), splat(0), splat(0)};
    for (int i = 0; i < 3; i++) {
      a[i] = alpha[i] + d.ddelta[i], a[3 + i] = alpha[3 + i] + d.lddot[i];
      for (int e = 0; e < nm; e++) {
        turn[i] += n->Lam[3 * e + i] * x->xiddot[e];
        a[3 + i] += gam[3 * e + i] * x->xiddot[e];
      }
    }
    rotate(d.Jl, turn, turn);
    for (int i = 0; i < 3; i++) a[i] += turn[i];
    cross_add(V, d.delta, a);
    squares(V, w2);
    cross_add(alpha, d.l, a + 3), centrifugal_add(w2, d.l, a + 3), cross_add(V, twice, a + 3);
    rotate(A, a, acceleration + 6 * c), rotate(A, a + 3, acceleration + 6 * c + 3);
  }
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
    body_work *x = w->body + k;
    const int nm = b->nm;
    outward_frame(s, w, k, q, u, NULL);
    attitude_update(s, k, w);
    outward_body(s, w, k, NULL, NULL);
    kinematic_motion(s, w, k, u);
    /* momentum about O, and T = 1/2 V.(M V + F xidot) + 1/2 xidot.(F' V + Mff xidot) */
    real h[6] = {splat(0), splat(0), splat(0), splat(0), splat(0), splat(0)}, f[6], mp[3];
    symmetric_add(x->sum->P, x->sum->z, h);
    first_moment(x->sum->P, mp);
    for (int r = 0; r < nm; r++) {
      real t = splat(0);
      for (int i = 0; i < 6; i++) f[i] = x->F[6 * r + i];
      for (int i = 0; i < 6; i++) h[i] += f[i] * x->xidot[r], t += f[i] * x->sum->z[i];
      for (int c = 0; c < nm; c++) t += x->L[AT(r, c)] * x->xidot[c];
      E[0] += 0.5 * x->xidot[r] * t;
      E[2] += 0.5 * b->k[r] * x->xi[r] * x->xi[r];
      for (int i = 0; !s->full && i < 3; i++) /* weight works on ruthless modes too */
        mp[i] += 0.5 * (b->F0[6 * r + 3 + i] + f[3 + i]) * x->xi[r];
    }
    for (int i = 0; i < 6; i++) E[0] += 0.5 * x->sum->z[i] * h[i];
    for (int i = 0; i < 3; i++) h[i] += b->wheel[i];
    real g[6], arm[3];
    rotate(x->attitude, h, g), rotate(x->attitude, h + 3, g + 3);
    cross_add(x->r, g + 3, g);
    for (int i = 0; i < 6; i++) p[i] += g[i];
    rotate(x->attitude, mp, arm);
    for (int i = 0; i < 3; i++) E[1] -= s->gravity[i] * (s->inertia[10 * k] * x->r[i] + arm[i]);
    real turned[3] = {splat(0), splat(0), splat(0)};
    if (b->turn == TURN_FREE) rotation_vector(q + b->q0 + b->n_lin, turned);
    for (int j = 0; j < b->n_lin + b->n_rot; j++) {
      const int i0 = b->u0 + j;
      const real stretch = b->turn == TURN_FREE && j >= b->n_lin ? turned[j - b->n_lin] : q[b->q0 + j] - s->rest[i0];
      E[3] += 0.5 * s->stiffness[i0] * stretch * stretch;
      E[0] += 0.5 * s->hinge_mass[i0] * u[i0] * u[i0];
    }
  }
}
