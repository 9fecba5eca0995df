/* work.inl - the workspace of a sweep: what an outward sweep leaves for the inward one, body by body.
 *
 * Three kinds of axes. O: the outboard hinge frame, which every body is referred to (its attach node's deformed
 * frame). F: the frame the modes are measured in; F = O for rigid bodies and clamped modes. Port axes: where a body's
 * hinge meets its parent: the parent's O, or the hinge's inboard axes when the parent is a two-port.
 *
 * A long chain is bound by memory: what a sweep touches of a body comes first and lies close together, and what only
 * the next body needs is passed on in a place that stays in the nearest cache. */
#define PIVOT_MIN 1e-14 /* of its scale: a pivot below is none */

/* What the inward sweep gathers at a body from all that is outboard of it. */
typedef struct {
  real P[21]; /* M^rr of the body alone (two-port: Gamma of its child); then P_R, articulated inertia about O */
  real z[6];  /* rigid part of b_m; then z_R less P_R a_mR, so that the hinge force is P_R alpha_R + z */
} gathered;

typedef struct {
  gathered *sum;          /* passed on, or kept */
  real *alpha;            /* [6] spatial acceleration of O, gravity removed, O axes; passed on, or kept */
  const real *xi, *xidot; /* [nm] modes of this body: the state itself, or its transform in xi_own */
  real *e;    /* [nm] modal force that is there without accelerations; general path, then: L^-1 eps_f */
  real *port; /* two-port, [27] in the port's order: z_R^+ of the child, then z~, the force there without acceleration,
               * then the port's acceleration [6]; and G~ [21] */
  real *F;    /* [nm][6] M^rf; general path, then: mu L^-T */
  real *G;    /* hinge, [6*n] G_R: Kalman gain, one row per DOF; and nu_R [n] */
  real R[9];     /* O -> port axes; a turn about z behind a two-port: cos and sin alone are there, in l[1] and l[2] */
  real l[3];     /* parent's O to own O, m, parent's O axes (not behind a two-port) */
  real omega[3]; /* angular velocity of O, rad/s, O axes */
  real a[6];     /* a_mR: acceleration of O that is there without accelerations, O axes */
  real *L;      /* [nm*(nm+1)/2] M^ff, packed; then the Cholesky factor of D_f, inverse diagonal */
  real *xiddot; /* [nm] passed on, or kept */
  real *Pi;     /* influence of the parent's modes on the port, parent's O axes (general parents only): port_influence */
  real *H;      /* [6*n] joint map, one row per DOF, O axes (not for revolute hinges) */
  real *D;      /* [n*n] lower Cholesky factor of D_R with inverse diagonal (not for revolute hinges) */
  real *xi_own; /* [2*nm] (only if eta is not xi) */
  real *unclamped; /* full fidelity, F seen from O: E_d [9], l_d [3], omega_F [3], c_F [6], then S [nm][6] */
  gathered *sum_kept;
  real *alpha_kept, *xiddot_kept;
  real *attitude;  /* [9] O -> inertial axes (only with loads) */
  real *r;         /* [3] position of O, inertial axes (kinematics only) */
} body_work;

typedef struct {
  body_work *body;
  real *scratch;         /* [12*nm_max + 8] */
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
  x->sum = passing ? w->sum + odd : x->sum_kept;
  x->alpha = passing ? w->alpha + 6 * odd : x->alpha_kept;
  if (s->path[k] != PATH_GENERAL) return;
  x->xiddot = passing && !s->held[b->um] ? w->xiddot + s->model->nm_max * odd : x->xiddot_kept;
}

#ifdef SWEEP_FORWARD
/* The next `count` reals of `memory` at *offset; null while only measuring. */
INLINE real *carve(char *memory, size_t *offset, size_t count) {
  const size_t at = *offset;
  *offset += (count * sizeof(real) + 31) & ~(size_t)31; /* small arrays lie close together: long chains stay in cache */
  return memory ? (real *)(void *)(memory + at) : NULL;
}

/* what every sweep touches */
static void carve_body(const bough_model *m, int k, char *memory, size_t *at, body_work *x) {
  const bough_body *b = m->body + k;
  const size_t nm = (size_t)b->nm, n = (size_t)(b->n_lin + b->n_rot), general = bough_is_revolute(b) ? 0 : n;
  x->G = carve(memory, at, 7 * n);
  x->H = carve(memory, at, 6 * general), x->D = carve(memory, at, general * general);
  x->e = carve(memory, at, nm), x->port = carve(memory, at, b->two_port_ok ? 27 : 0);
  x->xi_own = carve(memory, at, b->user_basis ? 2 * nm : 0);
}
/* what the general path touches */
static void carve_modes(const bough_model *m, int k, char *memory, size_t *at, body_work *x) {
  const bough_body *b = m->body + k;
  const size_t nm = (size_t)b->nm, nmp = b->parent < 0 ? 0 : (size_t)m->body[b->parent].nm;
  x->F = carve(memory, at, 6 * nm), x->L = carve(memory, at, nm * (nm + 1) / 2);
  x->Pi = carve(memory, at, nmp == 0 ? 0 : b->port_stored ? 6 * nmp : 12);
  x->unclamped = carve(memory, at, b->attach_node >= 0 ? 21 + 6 * nm : 0);
}
/* what is there for reactions, loads, kinematics, and for trees */
static void carve_kept(const bough_model *m, int k, char *memory, size_t *at, body_work *x) {
  const size_t nm = (size_t)m->body[k].nm;
  x->sum_kept = (gathered *)(void *)carve(memory, at, sizeof(gathered) / sizeof(real));
  x->alpha_kept = carve(memory, at, 6), x->xiddot_kept = carve(memory, at, nm);
  x->attitude = carve(memory, at, 9), x->r = carve(memory, at, 3);
}

/* Lay the workspace out from `memory`, or (null) only measure it. */
static size_t carve_all(const bough_model *m, char *memory) {
  const size_t bodies = bough_align(sizeof(body_work) * (size_t)m->nb);
  size_t at = bough_align(sizeof(sweep_work)) + bodies;
  sweep_work unused_work, *w = memory ? (sweep_work *)(void *)memory : &unused_work;
  body_work unused;
  w->scratch = carve(memory, &at, (size_t)(12 * m->nm_max + 8));
  w->sum = (gathered *)(void *)carve(memory, &at, 2 * sizeof(gathered) / sizeof(real));
  w->alpha = carve(memory, &at, 2 * 6), w->xiddot = carve(memory, &at, 2 * (size_t)m->nm_max);
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
