/* jacobian.inl - rows of closures and couplings onto the coordinates: J, g, J u and Jdot u at a point.
 *
 * Frames, velocities and accelerations are those of node kinematics, exact for the deformed frames at either fidelity: J is
 * the derivative of g, so that J' lambda does no work in a motion with J u = 0, whatever the dynamics drop. A wrench on a
 * node is carried inward as in (45); its work on every DOF inboard is the node's part of a row of J'. */

/* Work space of the constraints; see closure_layout for sizes. A row is scaled by `scale`, which turns rad into m. */
typedef struct {
  real *J;                  /* [rows][nu] scaled */
  real *Y;                  /* [rows][nu] whitened innovations of the rows, modes in the kernel's basis: multipliers.inl */
  real *g, *rate, *bias;    /* [rows] scaled: g; J u; Jdot u */
  real *b, *lambda;         /* [rows] right-hand side; multipliers of the scaled rows */
  real *A;                  /* [rows][rows] J M^-1 J', then its pivoted factor */
  real *null, *sorted;      /* [rows] a vector of the null space; lambda in the order of the pivots */
  double *scale, *diagonal; /* [rows] of J; root of the diagonal of A */
  double *part;             /* [rows] largest entry of a row over those of all directions at its closure: small where it is singular */
  double rank_min;          /* squared sine below which a row is dropped */
  double least;             /* smallest pivot that was taken, a squared sine: small near a singular position */
  row_groups groups;        /* of rows that meet */
  int *order;               /* [rows] rows, group by group; in each its pivots, the dependent rows last */
  int *pivots;              /* [groups] number of pivots */
  int rank;                 /* of all groups */
  real *zero;               /* [nu] */
  real *z;                  /* [nb][6] of an inward sweep; zero between two */
  real *tau, *du;           /* [nu] J' lambda; M^-1 J' lambda */
  real *y;                  /* [nu] innovations of tau */
  real *df;                 /* [nb][6] what lambda adds to the force across each hinge, O axes */
  real *wrench;             /* [nb][6] wrenches of closures on everything outboard of each hinge, at O, O axes */
  real *force, *reaction;   /* [nu], [nb][6] of the sweep without multipliers */
  end_frame *end;           /* [2*closures] */
} constraint_work;

/* `bytes` of `memory` at *offset; null while only measuring. */
static void *constraint_take(char *memory, size_t *offset, size_t bytes) {
  const size_t at = *offset;
  *offset += bough_align(bytes);
  return memory ? memory + at : NULL;
}

/* Lay the work space out from `memory`, or (null) only measure it. */
static size_t constraint_layout(const bough_model *m, void *memory_) {
  char *memory = memory_;
  const size_t rows = (size_t)m->n_rows, nu = (size_t)m->nu, nb = (size_t)m->nb;
  size_t at = bough_align(sizeof(constraint_work));
  constraint_work unused, *c = memory ? (constraint_work *)(void *)memory : &unused;
#define CARVE(count) (real *)constraint_take(memory, &at, (count) * sizeof(real))
  c->J = CARVE(rows * nu), c->Y = CARVE(rows * nu), c->A = CARVE(rows * rows);
  c->g = CARVE(rows), c->rate = CARVE(rows), c->bias = CARVE(rows), c->b = CARVE(rows), c->lambda = CARVE(rows);
  c->null = CARVE(rows), c->sorted = CARVE(rows), c->z = CARVE(6 * nb), c->df = CARVE(6 * nb), c->wrench = CARVE(6 * nb);
  c->tau = CARVE(nu), c->du = CARVE(nu), c->y = CARVE(nu), c->zero = CARVE(nu), c->force = CARVE(nu), c->reaction = CARVE(6 * nb);
#undef CARVE
  c->scale = constraint_take(memory, &at, rows * sizeof(double)), c->diagonal = constraint_take(memory, &at, rows * sizeof(double));
  c->part = constraint_take(memory, &at, rows * sizeof(double));
  c->order = constraint_take(memory, &at, rows * sizeof(int)), c->pivots = constraint_take(memory, &at, rows * sizeof(int));
  c->groups.member = constraint_take(memory, &at, rows * sizeof(int)), c->groups.of = constraint_take(memory, &at, rows * sizeof(int));
  c->groups.first = constraint_take(memory, &at, (rows + 1) * sizeof(int)), c->groups.seen = constraint_take(memory, &at, nb * sizeof(int));
  c->end = constraint_take(memory, &at, 2 * (size_t)m->n_closures * sizeof(end_frame));
  if (memory) find_groups(m, &c->groups);
  return at;
}

/* f of a frame that sits on a node by p, Q; ground: node -1 */
static void end_in_space(const bough_sweep *s, sweep_work *w, const bough_end *e, end_frame *f) {
  real Q[9];
  for (int i = 0; i < 9; i++) Q[i] = splat(e->Q[i]), f->A[i] = Q[i];
  for (int i = 0; i < 3; i++) f->r[i] = splat(e->p[i]), f->w[i] = f->v[i] = f->al[i] = f->a[i] = f->arm[i] = splat(0);
  if (e->node < 0) return;
  const bough_node *n = s->model->node + e->node;
  const body_work *x = w->body + n->body;
  const int nm = s->model->body[n->body].nm;
  real *gam = w->scratch.gam, pose[7], V[6], alpha[6], A[9], w2[6], arm[3] = {f->r[0], f->r[1], f->r[2]};
  space_frame frame;
  node_state d;
  modal_frame(s, n->body, w, &frame);
  node_deform(n, nm, nm > 0, x->xi, x->xidot, gam, &d);
  node_pose(n, &frame, &d, pose), node_velocity(&frame, &d, V);
  node_acceleration(n, nm, &frame, &d, gam, x->xiddot, alpha);
  node_attitude(n, &frame, &d, A);
  matmul(A, Q, f->A), rotate(A, arm, f->arm);
  for (int i = 0; i < 3; i++)
    f->r[i] = pose[i] + f->arm[i], f->w[i] = V[i], f->v[i] = V[3 + i], f->al[i] = alpha[i], f->a[i] = alpha[3 + i];
  squares(f->w, w2);
  cross_add(f->w, f->arm, f->v), cross_add(f->al, f->arm, f->a), centrifugal_add(w2, f->arm, f->a);
}

enum { MODES_AT_ONCE = 32 };

/* forces f on modes first .. first + count - 1, kernel's basis, onto the modal entries of a row, the user's basis */
static void modal_row_add(const bough_body *b, int first, int count, const real *f, real *row) {
  for (int r = 0; r < count; r++)
    if (!b->user_basis)
      row[first + r] += f[r];
    else
      for (int e = 0; e < b->nm; e++) row[e] += b->Tinv[(first + r) * b->nm + e] * f[r];
}

/* T' of a wrench X at O of body k, O axes, on every DOF inboard of it; what passes each hinge onto `through` unless null */
static void carry_row(const bough_sweep *s, int k, sweep_work *w, real X[6], real *row, real *through) {
  const bough_model *m = s->model;
  for (;;) {
    const bough_body *b = m->body + k;
    const body_work *x = w->body + k;
    for (int i = 0; through && i < 6; i++) through[6 * k + i] += X[i];
    for (int j = 0; row && j < b->nh; j++) {
      real H[6];
      joint_row(b, x, j, H);
      for (int i = 0; i < 6; i++) row[b->u0 + j] += H[i] * X[i];
    }
    if (b->parent < 0) return;
    const bough_body *p = m->body + b->parent;
    rotate(x->R, X, X), rotate(x->R, X + 3, X + 3);
    if (p->nm > 0 && row) {
      real *f = w->scratch.modal;
      port_forces(s, b, x, X, f);
      modal_row_add(p, 0, p->nm, f, row + p->um);
    }
    cross_add(x->l, X + 3, X);
    k = b->parent;
  }
}

/* A wrench (torque, force; inertial axes) at a closure's end onto a row of J; `through` as in carry_row */
static void end_row_add(const bough_sweep *s, sweep_work *w, const bough_end *e, const end_frame *end, const real given[6],
                        real *row, real *through) {
  if (e->node < 0) return;
  const bough_node *n = s->model->node + e->node;
  const bough_body *b = s->model->body + n->body;
  const body_work *x = w->body + n->body;
  const int nm = b->nm;
  real *gam = w->scratch.gam, torque[3] = {given[0], given[1], given[2]}, X[6], bent[3];
  real f[MODES_AT_ONCE];
  space_frame frame;
  node_state d;
  cross_add(end->arm, given + 3, torque);
  modal_frame(s, n->body, w, &frame);
  node_deform(n, nm, nm > 0, x->xi, x->xidot, gam, &d);
  rotate_back(frame.A, torque, X), rotate_back(frame.A, given + 3, X + 3);
  rotate_back(d.Jl, X, bent);
  const int unclamped = b->attach_node >= 0;
  real at[6] = {X[0], X[1], X[2], X[3], X[4], X[5]}; /* about F, then about the attach node */
  cross_add(d.l, X + 3, at);
  if (unclamped) {
    real less[3];
    cross(x->unclamped->l, X + 3, less);
    minus(at, less, at);
  }
  for (int first = 0; row && first < nm; first += MODES_AT_ONCE) {
    const int count = nm - first < MODES_AT_ONCE ? nm - first : MODES_AT_ONCE;
    for (int r = 0; r < count; r++) {
      f[r] = splat(0);
      for (int i = 0; i < 3; i++) f[r] += n->Lam[3 * (first + r) + i] * bent[i] + gam[3 * (first + r) + i] * X[3 + i];
      for (int i = 0; unclamped && i < 6; i++) f[r] -= x->unclamped->S[6 * (first + r) + i] * at[i];
    }
    modal_row_add(b, first, count, f, row + b->um);
  }
  if (unclamped) rotate_back(x->unclamped->E, at, at), rotate_back(x->unclamped->E, at + 3, at + 3);
  carry_row(s, n->body, w, at, row, through);
}

static real six(const real a[6], const real w[3], const real v[3]) { return dot(a, w) + dot(a + 3, v); }

/* largest entry of a row */
static double row_size(const bough_model *m, const real *J) {
  double size = 0.0;
  for (int i = 0; i < m->nu; i++) {
    const double v = fabs(lane_get(J[i], 0));
    size = v > size ? v : size;
  }
  return size;
}

/* A row whose entries are rounding of what its two ends do, or of the mechanism's length, moves nothing: it is zero. */
#define ROUNDING 1e-12

/* A closure's slides are measured against the motion of its second origin from the first in any direction, turns against each
 * other: where one of them is small, its direction is about to vanish from J. That is so where a linkage passes through a line,
 * and what is left of the row is then the error of the position. */
static void closure_parts(const bough_sweep *s, sweep_work *w, constraint_work *c, int index) {
  const bough_closure *closure = s->model->closure + index;
  const bough_closure_type *type = bough_closure_types + closure->type;
  const end_frame *A = c->end + 2 * index, *B = A + 1;
  real *J = c->du; /* free until the answer */
  double reach[2] = {0.0, 0.0};
  int slides = 0;
  for (int i = 0; i < type->rows; i++) {
    const int turns = type->row[i].turns;
    const double size = row_size(s->model, c->J + (size_t)(closure->row0 + i) * (size_t)s->model->nu);
    reach[turns] = size > reach[turns] ? size : reach[turns];
    c->part[closure->row0 + i] = size;
    slides += !turns;
  }
  for (int i = 0; i < 3 && slides > 0 && slides < 3; i++) {
    real a[6], b[6];
    for (int j = 0; j < 6; j++) b[j] = splat(j == 3 + i), a[j] = -b[j];
    memset(J, 0, (size_t)s->model->nu * sizeof(real));
    end_row_add(s, w, &closure->a, A, a, J, NULL), end_row_add(s, w, &closure->b, B, b, J, NULL);
    const double size = row_size(s->model, J);
    reach[0] = size > reach[0] ? size : reach[0];
  }
  for (int i = 0; i < type->rows; i++) {
    const double most = reach[type->row[i].turns];
    c->part[closure->row0 + i] = most > 0.0 ? c->part[closure->row0 + i] / most : 0.0;
  }
}

static void closure_rows(const bough_sweep *s, sweep_work *w, constraint_work *c, int index) {
  const bough_closure *closure = s->model->closure + index;
  const bough_closure_type *type = bough_closure_types + closure->type;
  const end_frame *A = c->end + 2 * index, *B = A + 1;
  for (int i = 0; i < type->rows; i++) {
    closure_row row;
    const int at = closure->row0 + i;
    const double scale = type->row[i].turns ? s->model->length : 1.0;
    closure_row_of(closure, A, B, i, &row);
    for (int j = 0; j < 6; j++) row.A[j] *= scale, row.B[j] *= scale;
    c->scale[at] = scale;
    c->g[at] = scale * row.g;
    c->rate[at] = six(row.A, A->w, A->v) + six(row.B, B->w, B->v);
    c->bias[at] = six(row.A, A->al, A->a) + six(row.B, B->al, B->a) + scale * row.gamma;
    real *J = c->J + (size_t)at * (size_t)s->model->nu;
    end_row_add(s, w, &closure->a, A, row.A, J, NULL);
    const double one_end = row_size(s->model, J), least = one_end > s->model->length ? one_end : s->model->length;
    end_row_add(s, w, &closure->b, B, row.B, J, NULL);
    if (!(row_size(s->model, J) > ROUNDING * least)) memset(J, 0, (size_t)s->model->nu * sizeof(real));
  }
}

/* frames, velocities and bias accelerations of all bodies */
static void constraint_frames(const bough_sweep *s, sweep_work *w, const constraint_work *c, const real *q, const real *u) {
  for (int k = 0; k < s->model->nb; k++) {
    outward_frame(s, w, k, q, u, NULL);
    attitude_update(s, k, w);
    kinematic_motion(s, w, k, u);
    kinematic_acceleration(s, w, k, c->zero);
  }
}

/* J, g, J u and Jdot u of all constraints */
static void constraint_rows(const bough_sweep *s, void *work, void *constraints, const void *q_, const void *u_) {
  sweep_work *w = work;
  constraint_work *c = constraints;
  const bough_model *m = s->model;
  const real *q = q_, *u = u_;
  constraint_frames(s, w, c, q, u);
  memset(c->J, 0, (size_t)m->n_rows * (size_t)m->nu * sizeof(real));
  for (int i = 0; i < m->n_closures; i++) {
    end_in_space(s, w, &m->closure[i].a, c->end + 2 * i), end_in_space(s, w, &m->closure[i].b, c->end + 2 * i + 1);
    closure_rows(s, w, c, i), closure_parts(s, w, c, i);
  }
  for (int i = 0; i < m->n_couplings; i++) {
    const bough_coupling *coupling = m->coupling + i;
    const int at = coupling->row;
    c->scale[at] = c->part[at] = 1.0;
    c->g[at] = splat(-coupling->offset), c->rate[at] = c->bias[at] = splat(0);
    for (int j = 0; j < coupling->terms; j++) {
      const bough_body *b = m->body + coupling->body[j];
      c->J[(size_t)at * (size_t)m->nu + (size_t)b->u0] = splat(coupling->factor[j]);
      c->g[at] += coupling->factor[j] * q[b->q0], c->rate[at] += coupling->factor[j] * u[b->u0];
    }
  }
}
