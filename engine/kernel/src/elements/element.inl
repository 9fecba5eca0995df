/* element.inl - what the forces of a mechanism share: work space, wrenches on nodes, and how they reach the coordinates.
 *
 * An element acts between two frames on nodes. Its law gives a wrench (torque, force) on each, in inertial axes; they are
 * carried inward as in (45), all bodies in one pass, and enter the dynamics as the generalized forces tau = sum J' F.
 * Frames and J are those of node kinematics, exact at either fidelity, so that the power of a force is F . V of its nodes
 * whatever the dynamics drop. */

/* Work space of the elements. */
typedef struct {
  real *tau;     /* [nu] generalized forces of all elements, user's modal basis */
  real *modal;   /* [nm_max] forces on the modes of one body, kernel's basis */
  real *trace;   /* [nm_max] of a field: 1/2 d tr(J)/dxi of one body */
  real *zero;    /* [nm_max] */
  real *through; /* [nb][6] wrench of all elements on everything outboard of each hinge, about O, O axes */
} element_work;

/* One element at work. */
typedef struct {
  const bough_element *e;
  end_frame A, B;      /* first and second frame */
  real on_A[6], on_B[6]; /* torque and force at their origins, inertial axes */
  real potential;      /* J */
  real value[BOUGH_ELEMENT_VALUES];
} element_state;

static size_t element_layout(const bough_model *m, void *memory_) {
  char *memory = memory_;
  size_t at = bough_align(sizeof(element_work));
  element_work unused, *w = memory ? (element_work *)(void *)memory : &unused;
  w->tau = constraint_take(memory, &at, (size_t)m->nu * sizeof(real));
  w->through = constraint_take(memory, &at, 6 * (size_t)m->nb * sizeof(real));
  w->modal = constraint_take(memory, &at, (size_t)m->nm_max * sizeof(real));
  w->trace = constraint_take(memory, &at, (size_t)m->nm_max * sizeof(real));
  w->zero = constraint_take(memory, &at, (size_t)m->nm_max * sizeof(real));
  return at;
}

INLINE real lane_power(real x, double n) { /* x > 0 */
#if defined(LANE_TANGENT)
  const double r = pow(creal(x), n);
  return r + I * (n * r / creal(x) * cimag(x));
#else
  return pow(x, n);
#endif
}

/* A force along a unit vector e from A to B: positive pushes the ends apart. */
static void push_along(element_state *x, const real e[3], real f) {
  for (int i = 0; i < 3; i++) x->on_B[3 + i] += f * e[i], x->on_A[3 + i] -= f * e[i];
}

/* A wrench X about F, F axes, on body k: onto its modes and, about O, onto `through`. f [nm]: forces on the
 * modes in F, kernel's basis. */
static void body_wrench_add(const bough_sweep *s, sweep_work *w, element_work *ew, int k, const real X[6], const real *f) {
  const bough_body *b = s->model->body + k;
  const body_work *x = w->body + k;
  const int unclamped = b->attach_node >= 0;
  real at[6] = {X[0], X[1], X[2], X[3], X[4], X[5]};
  if (unclamped) { /* about the attach node */
    real less[3];
    cross(x->unclamped->l, X + 3, less);
    minus(at, less, at);
  }
  for (int r = 0; r < b->nm; r++) {
    real v = f[r];
    for (int i = 0; unclamped && i < 6; i++) v -= x->unclamped->S[6 * r + i] * at[i];
    modal_row_add(b, r, 1, &v, ew->tau + b->um);
  }
  if (unclamped) rotate_back(x->unclamped->E, at, at), rotate_back(x->unclamped->E, at + 3, at + 3);
  for (int i = 0; i < 6; i++) ew->through[6 * k + i] += at[i];
}

/* a wrench at an end, inertial axes */
static void end_wrench_add(const bough_sweep *s, sweep_work *w, element_work *ew, const bough_end *e, const end_frame *end,
                           const real given[6]) {
  if (e->node < 0) return;
  const bough_node *n = s->model->node + e->node;
  const body_work *x = w->body + n->body;
  const int nm = s->model->body[n->body].nm;
  real *gam = w->scratch.gam, *f = ew->modal, torque[3] = {given[0], given[1], given[2]}, X[6], bent[3];
  space_frame frame;
  node_state d;
  cross_add(end->arm, given + 3, torque);
  modal_frame(s, n->body, w, &frame);
  node_deform(n, nm, nm > 0, x->xi, x->xidot, gam, &d);
  rotate_back(frame.A, torque, X), rotate_back(frame.A, given + 3, X + 3);
  rotate_back(d.Jl, X, bent);
  for (int r = 0; r < nm; r++) {
    f[r] = splat(0);
    for (int i = 0; i < 3; i++) f[r] += n->Lam[3 * r + i] * bent[i] + gam[3 * r + i] * X[3 + i];
  }
  cross_add(d.l, X + 3, X);
  body_wrench_add(s, w, ew, n->body, X, f);
}

/* all wrenches inward: onto hinges and onto the modes of parents */
static void wrenches_inward(const bough_sweep *s, sweep_work *w, element_work *ew) {
  const bough_model *m = s->model;
  for (int k = m->nb; k-- > 0;) {
    const bough_body *b = m->body + k;
    const body_work *x = w->body + k;
    const real *X = ew->through + 6 * k;
    real f[6];
    for (int j = 0; j < b->nh; j++) {
      real H[6];
      joint_row(b, x, j, H);
      for (int i = 0; i < 6; i++) ew->tau[b->u0 + j] += H[i] * X[i];
    }
    if (b->parent < 0) continue;
    const bough_body *p = m->body + b->parent;
    rotate(x->R, X, f), rotate(x->R, X + 3, f + 3);
    if (p->nm > 0) {
      port_forces(s, b, x, f, w->scratch.modal);
      modal_row_add(p, 0, p->nm, w->scratch.modal, ew->tau + p->um);
    }
    for (int i = 0; i < 6; i++) ew->through[6 * b->parent + i] += f[i];
    cross_add(x->l, f + 3, ew->through + 6 * b->parent);
  }
}
