/* kinematics.inl - pose, velocity and acceleration of nodes.
 *
 * The general path's frames, with linear velocity added: V = R'(phi* V(parent) + Pi xidot(parent)) + H* beta, (11). */

/* position and velocity of O */
static void kinematic_motion(const bough_sweep *s, sweep_work *w, int k, const real *u) {
  const bough_body *b = s->model->body + k;
  body_work *x = w->body + k;
  real V[6] = {splat(0), splat(0), splat(0), splat(0), splat(0), splat(0)}, *r = x->space->r, *own = x->space->V;
  if (b->parent < 0)
    for (int i = 0; i < 3; i++) r[i] = x->l[i];
  else {
    const body_work *p = w->body + b->parent;
    const int nm = s->model->body[b->parent].nm;
    rotate(p->space->attitude, x->l, r);
    for (int i = 0; i < 3; i++) r[i] += p->space->r[i];
    for (int i = 0; i < 6; i++) V[i] = p->space->V[i];
    if (nm > 0) port_motion_add(s, b, x, p->xidot, V);
    cross_add(p->space->V, x->l, V + 3);
  }
  rotate_back(x->R, V, own), rotate_back(x->R, V + 3, own + 3);
  for (int j = 0; j < b->nh; j++) {
    real H[6];
    joint_row(b, x, j, H);
    for (int i = 0; i < 6; i++) own[i] += H[i] * u[b->u0 + j];
  }
}

/* acceleration of O, ground at rest */
static void kinematic_acceleration(const bough_sweep *s, sweep_work *w, int k, const real *udot) {
  const bough_body *b = s->model->body + k;
  body_work *x = w->body + k;
  for (int i = 0; i < 6; i++) x->alpha[i] = splat(0);
  if (b->parent >= 0) port_acceleration(s, b, w, x, x->alpha);
  for (int i = 0; i < 6; i++) x->alpha[i] += x->a[i];
  for (int j = 0; j < b->nh; j++) {
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

/* A frame in space. */
typedef struct {
  real r[3], A[9];      /* position, inertial axes; its axes -> inertial axes */
  real V[6], alpha[6];  /* spatial velocity and acceleration, its own axes */
} space_frame;

/* where the modes of body k are measured: F (O for clamped modes) */
static void modal_frame(const bough_sweep *s, int k, const sweep_work *w, space_frame *f) {
  const bough_body *b = s->model->body + k;
  const body_work *x = w->body + k;
  real *V = f->V, *alpha = f->alpha;
  for (int i = 0; i < 9; i++) f->A[i] = x->space->attitude[i];
  for (int i = 0; i < 3; i++) f->r[i] = x->space->r[i];
  for (int i = 0; i < 6; i++) V[i] = x->space->V[i], alpha[i] = x->alpha[i];
  if (b->attach_node < 0) return;
  const int nm = b->nm;
  const real *E = x->unclamped->E, *ld = x->unclamped->l, *cF = x->unclamped->c, *S = x->unclamped->S;
  real Et[9], back[3];
  transpose(E, Et);
  matmul(x->space->attitude, Et, f->A);
  rotate(f->A, ld, back);
  for (int i = 0; i < 3; i++) f->r[i] -= back[i];
  rotate(E, V, V), rotate(E, V + 3, V + 3), rotate(E, alpha, alpha), rotate(E, alpha + 3, alpha + 3);
  for (int i = 0; i < 6; i++)
    for (int c = 0; c < nm; c++) V[i] -= S[6 * c + i] * x->xidot[c], alpha[i] -= S[6 * c + i] * x->xiddot[c];
  cross_add(ld, V, V + 3), cross_add(ld, alpha, alpha + 3);
  for (int i = 0; i < 6; i++) alpha[i] += cF[i];
}

/* axes of a node that d deforms in the frame f -> inertial axes */
static void node_attitude(const bough_node *n, const space_frame *f, const node_state *d, real A[9]) {
  real B[9], R0[9];
  for (int i = 0; i < 9; i++) R0[i] = splat(n->R0[i]);
  matmul(f->A, d->E, B);
  matmul(B, R0, A);
}

/* its pose [7], inertial axes */
static void node_pose(const bough_node *n, const space_frame *f, const node_state *d, real pose[7]) {
  real arm[3], turned[9];
  rotate(f->A, d->l, arm);
  node_attitude(n, f, d, turned);
  for (int i = 0; i < 3; i++) pose[i] = f->r[i] + arm[i];
  matrix_quaternion(turned, pose + 3);
}

/* its velocity [6] */
static void node_velocity(const space_frame *f, const node_state *d, real velocity[6]) {
  real v[6];
  for (int i = 0; i < 3; i++) v[i] = f->V[i] + d->delta[i], v[3 + i] = f->V[3 + i] + d->ldot[i];
  cross_add(f->V, d->l, v + 3);
  rotate(f->A, v, velocity), rotate(f->A, v + 3, velocity + 3);
}

/* its acceleration [6]; gam [nm][3] as node_deform leaves it */
static void node_acceleration(const bough_node *n, int nm, const space_frame *f, const node_state *d, const real *gam,
                              const real *xiddot, real acceleration[6]) {
  const real twice[3] = {2.0 * d->ldot[0], 2.0 * d->ldot[1], 2.0 * d->ldot[2]};
  real a[6], w2[6], turn[3] = {splat(0), splat(0), splat(0)};
  for (int i = 0; i < 3; i++) {
    a[i] = f->alpha[i] + d->ddelta[i], a[3 + i] = f->alpha[3 + i] + d->lddot[i];
    for (int e = 0; e < nm; e++) {
      turn[i] += n->Lam[3 * e + i] * xiddot[e];
      a[3 + i] += gam[3 * e + i] * xiddot[e];
    }
  }
  rotate(d->Jl, turn, turn);
  for (int i = 0; i < 3; i++) a[i] += turn[i];
  cross_add(f->V, d->delta, a);
  squares(f->V, w2);
  cross_add(f->alpha, d->l, a + 3), centrifugal_add(w2, d->l, a + 3), cross_add(f->V, twice, a + 3);
  rotate(f->A, a, acceleration), rotate(f->A, a + 3, acceleration + 3);
}

/* what gyro and accelerometer at a node read, in its axes [9]: velocity, angular velocity, specific force a - g */
static void node_local(const bough_sweep *s, const bough_node *n, const space_frame *f, const node_state *d, const real V[6],
                       const real alpha[6], real local[9]) {
  real A[9], r[3], a[3];
  node_attitude(n, f, d, A);
  rotate(f->A, d->l, r);
  for (int i = 0; i < 3; i++) r[i] += f->r[i], a[i] = alpha[3 + i] - s->gravity[i];
  if (s->model->field) { /* g = -mu R/|R|^3 */
    const double *field = s->model->field;
    for (int i = 0; i < 3; i++) r[i] -= field[1 + i];
    const real r2 = dot(r, r), pull = field[0] / (r2 * lane_sqrt(r2));
    for (int i = 0; i < 3; i++) a[i] += pull * r[i];
  }
  rotate_back(A, V + 3, local), rotate_back(A, V, local + 3), rotate_back(A, a, local + 6);
}

/* how far the modes move and turn a node, user's body axes [6]: translation (m), then rotation (rad) */
static void node_deflection(const bough_body *b, const bough_node *n, const node_state *d, const real *xi, real out[6]) {
  real moved[3], turned[3] = {splat(0), splat(0), splat(0)};
  for (int i = 0; i < 3; i++) moved[i] = d->l[i] - n->l0[i];
  for (int r = 0; r < b->nm; r++)
    for (int i = 0; i < 3; i++) turned[i] += n->Lam[3 * r + i] * xi[r];
  rotate_const(b->axes, moved, out), rotate_const(b->axes, turned, out + 3);
}

static void node_motion(const bough_sweep *s, void *work, const void *q, const void *u, const void *udot, int count,
                        const int *nodes, const bough_motions *out) {
  sweep_work *w = work;
  const bough_model *m = s->model;
  real *pose = out->pose, *velocity = out->velocity, *acceleration = out->acceleration, *local = out->local;
  const int accelerates = acceleration || local;
  for (int k = 0; k < m->nb; k++) {
    outward_frame(s, w, k, q, u, NULL);
    attitude_update(s, k, w);
    kinematic_motion(s, w, k, u);
    if (accelerates) kinematic_acceleration(s, w, k, udot);
  }
  for (int c = 0; c < count; c++) {
    const bough_node *n = m->node + nodes[c];
    const body_work *x = w->body + n->body;
    const int nm = m->body[n->body].nm;
    real *gam = w->scratch.gam;
    space_frame f;
    node_state d;
    modal_frame(s, n->body, w, &f);
    node_deform(n, nm, nm > 0, x->xi, x->xidot, gam, &d);
    if (pose) node_pose(n, &f, &d, pose + 7 * c);
    if (velocity) node_velocity(&f, &d, velocity + 6 * c);
    if (acceleration) node_acceleration(n, nm, &f, &d, gam, x->xiddot, acceleration + 6 * c);
    if (local) {
      real V[6], alpha[6];
      node_velocity(&f, &d, V), node_acceleration(n, nm, &f, &d, gam, x->xiddot, alpha);
      node_local(s, n, &f, &d, V, alpha, local + 9 * c);
    }
    if (out->deflection) node_deflection(m->body + n->body, n, &d, x->xi, (real *)out->deflection + 6 * c);
  }
}
