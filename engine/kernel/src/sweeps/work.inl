/* work.inl - the workspace of a sweep: what an outward sweep leaves for the inward one, body by body.
 *
 * Three kinds of axes. O: the outboard hinge frame, which every body is referred to (its attach node's deformed
 * frame). F: the frame the modes are measured in; F = O for rigid bodies and clamped modes. Port axes: where a body's
 * hinge meets its parent: the parent's O, or the hinge's inboard axes when the parent is a two-port.
 *
 * A long chain is bound by memory: what a sweep touches of a body comes first and lies close together, and what only
 * the next body needs is passed on in a place that stays in the nearest cache. Where one array holds one quantity after
 * the other, a union has a name for each, in the order in which they come. */
#define PIVOT_MIN 1e-14 /* of its scale: a pivot below is none */

/* whether a sweep takes the frames of a body at the present deflection, or at zero deflection */
INLINE int deformed(const bough_sweep *s, const bough_body *b) { return s->kinematic || !b->ruthless; }

/* State and inputs of one call. */
typedef struct {
  const real *q, *u;  /* [nq], [nu] */
  const real *tau;    /* [nu] applied forces */
  const real *motion; /* [nu] accelerations of held DOFs; null: zero */
  const real *loads;  /* [loads][6] torque and force at load nodes, inertial axes; null: zero */
} sweep_input;

/* What the inward sweep gathers at a body, about O, in O axes. */
typedef struct {
  real P[21]; /* packed: M^rr of the body; P^rr, with what its children hand over; P_R, articulated inertia */
  real z[6];  /* b_m; z_r, likewise; z_R less P_R a_mR, so that the hinge force is P_R alpha_R + z */
} gathered;

/* What a free DOF of a hinge keeps for the outward sweep, (64): betadot = nu_R - G_R* alpha^+. */
typedef struct {
  real G[6]; /* row of G_R* */
  real nu;   /* entry of nu_R */
} hinge_gain;

/* A two-port at its outboard hinge, in the port's order: wx wy vx vy vz wz. */
typedef struct {
  union {
    real Gamma[21]; /* P_R^+ of the child, port axes; packed, in the usual order */
    real G[21];     /* G~, packed */
  } inertia;
  union {
    real z_plus[6];  /* z_R^+ of the child, port axes */
    real z_tilde[6]; /* z~, the force at the port without acceleration */
    real alpha[6];   /* acceleration of the port, less gravity */
  } at;
} port_work;

/* Node that carries a hinge: enough to make Pi of it again, see port_influence. */
typedef struct {
  real Jl[9]; /* left Jacobian of its attitude */
  real e[3];  /* from it to the O of the body that it carries, m, parent's O axes */
} port_lever;

/* Unclamped modes at full fidelity: F seen from O. */
typedef struct {
  real E[9];     /* O axes -> F axes */
  real l[3];     /* l_d: F's origin to O's, m, F axes */
  real omega[3]; /* of F, rad/s, F axes */
  real c[6];     /* c_F: acceleration of F that is there without accelerations, F axes */
  real S[];      /* [nm][6] influence of the modes on the attach node, F axes */
} unclamped_work;

/* Motion in space: for loads, nodes, energy. */
typedef struct {
  real attitude[9]; /* O -> inertial axes */
  real r[3];        /* position of O, m, inertial axes (kinematics; composite.inl: from the O of the tree's first body) */
  real V[6];        /* spatial velocity of O, O axes (kinematics only) */
  int run;          /* composite.inl: from this body to the own one each is the parent of the next, and speeds are neighbours */
  int shown;        /* composite.inl: child at whose port PhiH has the modes of this body, or -1 */
} space_work;

/* What is kept of a body where it is not passed on. */
typedef struct {
  gathered sum;
  real alpha[6];
  real xiddot[]; /* [nm] */
} kept_work;

typedef struct {
  gathered *sum;          /* passed on, or kept */
  real *alpha;            /* [6] alpha_R: spatial acceleration of O, gravity removed, O axes; passed on, or kept */
  const real *xi, *xidot; /* [nm] modes of this body: the state itself, or its transform in xi_own */
  union {
    real *eps;   /* [nm] eps_f = T_f - z_f: what drives the modes without accelerations */
    real *eps_L; /* L^-1 eps_f, general path */
  } f;
  port_work *port; /* two-ports only */
  union {
    real *M;    /* [nm][6] M^rf of the body */
    real *mu;   /* mu: with what its children hand over */
    real *mu_L; /* mu L^-T, so that g mu* = mu_L mu_L* */
  } rf;             /* general path */
  hinge_gain *gain; /* [nh] of the free DOFs, in their order */
  /* from here to a: in an order in which no vector crosses a line of the cache, where `real` is a double */
  struct {
    real cosine, sine;
  } turn;        /* about z, of a revolute hinge on a two-port */
  real omega[3]; /* angular velocity of O, rad/s, O axes */
  real l[3];     /* parent's O to own O, m, parent's O axes (not on a two-port) */
  real R[9];     /* O -> port axes (not of a revolute hinge on a two-port: there the turn is enough) */
  real a[6];     /* a_mR: acceleration of O that is there without accelerations, O axes */
  union {
    real *M; /* [nm*(nm+1)/2] packed M^ff of the body */
    real *D; /* D_f: with what its children hand over */
    real *L; /* lower Cholesky factor of D_f, inverse diagonal */
  } ff;           /* general path */
  real *xiddot;   /* [nm] passed on, or kept */
  union {
    real *Pi;          /* [modes of the parent][6], where bough_body.port_stored */
    port_lever *lever; /* elsewhere */
  } influence;         /* of the parent's modes on the port, parent's O axes (parents on the general path only) */
  real *H;             /* [nh][6] joint map, O axes (not for revolute hinges) */
  real *D_R;           /* [nh*(nh+1)/2] lower Cholesky factor of D_R, packed, inverse diagonal (likewise) */
  real *xi_own;        /* [2][nm] xi and xidot (only if eta is not xi) */
  unclamped_work *unclamped;
  kept_work *kept;
  space_work *space;
} body_work;

/* The modes of one body at the present deflection. */
typedef struct {
  real *NF;  /* [nm][9] N (6), centrifugal force on a mode N . w2; and F_w (3), its column of the angular rows of M^rf */
  real *cor; /* [nm][3] Coriolis force on a mode: omega . cor, or twice that where F1 is antisymmetric */
} modal_terms;

typedef struct {
  body_work *body; /* [nb] */
  union {
    modal_terms terms; /* for nm_max modes: body_full, body_ruthless */
    real *Pi;          /* [nm_max][6] port_influence */
    real *gam;         /* [nm_max][3] node_deform */
    real *modal;       /* [nm_max] a number for each mode of one body */
  } scratch;             /* of one function at a time */
  real *PhiH;            /* [6][nu] composite.inl: motion of the reference by each speed, inertial axes */
  void *points;          /* panels of points.inl: 6 nm of them, for the most modes of a body with points */
  gathered *sum;         /* [2] passing places of two neighbours */
  real *alpha, *xiddot;  /* [2][6] and [2][nm_max], likewise */
  real D_min, D_scale;   /* of the body at hand: smallest pivot met and the size it is judged by */
  real failed;           /* 1 + the first body, tip to base, whose pivot was not positive beyond rounding; -1: a NaN */
} sweep_work;

/* Where the sweep has P, z and accelerations of body k. A body without children, or whose only child comes next,
 * hands on to its neighbour: then nobody asks for them again, unless forces are wanted. Accelerations of held modes are
 * given, and stay from the inward sweep on. */
INLINE void choose_places(const bough_sweep *s, sweep_work *w, int k) {
  const bough_body *b = s->model->body + k;
  body_work *x = w->body + k;
  const int passing = b->in_passing && !s->keep, odd = k & 1;
  x->sum = passing ? w->sum + odd : &x->kept->sum;
  x->alpha = passing ? w->alpha + 6 * odd : x->kept->alpha;
  if (s->path[k] != PATH_GENERAL) return;
  x->xiddot = passing && !s->held[b->um] ? w->xiddot + s->model->nm_max * odd : x->kept->xiddot;
}

#ifdef SWEEP_FORWARD
/* `bytes` of `memory` at *offset; null while only measuring. */
INLINE void *carve(char *memory, size_t *offset, size_t bytes) {
  const size_t at = *offset;
  *offset += (bytes + 31) & ~(size_t)31; /* small arrays lie close together: long chains stay in cache */
  return memory ? memory + at : NULL;
}
INLINE real *carve_reals(char *memory, size_t *offset, size_t count) {
  return carve(memory, offset, count * sizeof(real));
}

/* what every sweep touches */
static void carve_body(const bough_model *m, int k, char *memory, size_t *at, body_work *x) {
  const bough_body *b = m->body + k;
  const size_t nm = (size_t)b->nm, n = b->nh, stored = b->revolute ? 0 : n;
  x->gain = carve(memory, at, n * sizeof *x->gain);
  x->H = carve_reals(memory, at, 6 * stored), x->D_R = carve_reals(memory, at, stored * (stored + 1) / 2);
  x->f.eps = carve_reals(memory, at, nm), x->port = carve(memory, at, b->two_port_ok ? sizeof *x->port : 0);
  x->xi_own = carve_reals(memory, at, b->user_basis ? 2 * nm : 0);
}
/* what the general path touches */
static void carve_modes(const bough_model *m, int k, char *memory, size_t *at, body_work *x) {
  const bough_body *b = m->body + k;
  const size_t nm = (size_t)b->nm, nmp = b->parent < 0 ? 0 : (size_t)m->body[b->parent].nm;
  x->rf.M = carve_reals(memory, at, 6 * nm), x->ff.M = carve_reals(memory, at, nm * (nm + 1) / 2);
  if (b->port_stored)
    x->influence.Pi = carve_reals(memory, at, 6 * nmp);
  else
    x->influence.lever = carve(memory, at, nmp > 0 ? sizeof *x->influence.lever : 0);
  x->unclamped = carve(memory, at, b->attach_node >= 0 ? sizeof *x->unclamped + 6 * nm * sizeof(real) : 0);
}
/* what is there for reactions, loads, kinematics, and for trees */
static void carve_kept(const bough_model *m, int k, char *memory, size_t *at, body_work *x) {
  x->kept = carve(memory, at, sizeof *x->kept + (size_t)m->body[k].nm * sizeof(real));
  x->space = carve(memory, at, sizeof *x->space);
}

/* Lay the workspace out from `memory`, or (null) only measure it. */
static size_t carve_all(const bough_model *m, char *memory) {
  const size_t bodies = bough_align(sizeof(body_work) * (size_t)m->nb), nm_max = (size_t)m->nm_max;
  size_t at = bough_align(sizeof(sweep_work)) + bodies;
  sweep_work unused_work, *w = memory ? (sweep_work *)(void *)memory : &unused_work;
  body_work unused;
  w->scratch.terms.NF = carve_reals(memory, &at, 9 * nm_max);
  w->scratch.terms.cor = carve_reals(memory, &at, 3 * nm_max);
  w->PhiH = carve_reals(memory, &at, LANES == 1 ? 6 * (size_t)m->nu : 0);
  w->points = carve(memory, &at, 6 * 8 * (size_t)m->nm_points * 32); /* 6 nm panels of 8 numbers of 32 bytes at most */
  w->sum = carve(memory, &at, 2 * sizeof *w->sum);
  w->alpha = carve_reals(memory, &at, 2 * 6), w->xiddot = carve_reals(memory, &at, 2 * nm_max);
  if (memory) w->body = (body_work *)(void *)(memory + bough_align(sizeof(sweep_work)));
  for (int k = 0; k < m->nb; k++) carve_body(m, k, memory, &at, memory ? w->body + k : &unused);
  for (int k = 0; k < m->nb; k++) carve_modes(m, k, memory, &at, memory ? w->body + k : &unused);
  for (int k = 0; k < m->nb; k++) carve_kept(m, k, memory, &at, memory ? w->body + k : &unused);
  return at;
}

static size_t work_size(const bough_model *m) { return carve_all(m, NULL); }
static void work_layout(const bough_model *m, void *work) { (void)carve_all(m, work); }

/* The body whose pivot was the first, tip to base, not to be positive beyond rounding; -1 if there is none, or if a NaN
 * came before it: inboard of either, pivots mean nothing. */
static int singular_body(const void *work, int lane) {
  const sweep_work *w = work;
  const double failed = lane_get(w->failed, lane);
  return failed > 0.0 ? (int)failed - 1 : -1;
}
#endif
