/* work.inl - the workspace of a sweep: what an outward sweep leaves for the inward one, body by body.
 *
 * Three kinds of axes. O: the outboard hinge frame, which every body is referred to (its attach node's deformed
 * frame). F: the frame the modes are measured in; F = O for rigid bodies and clamped modes. Port axes: where a body's
 * hinge meets its parent: the parent's O, or the hinge's inboard axes when the parent is a two-port.
 *
 * A long chain is bound by memory: what a sweep touches of a body comes first and lies close together, and what only
 * the next body needs is passed on in a place that stays in the nearest cache. */
enum { GATHERED = 21 + 6 };
#define PIVOT_MIN 1e-14 /* of its scale: a pivot below is none */

typedef struct {
  real R[9];       /* O -> port axes; a turn about z behind a two-port: R[0] = cos and R[3] = sin alone are there */
  real l[3];       /* parent's O to own O, m, parent's O axes (not for two-port parents) */
  real omega[3];   /* angular velocity of O, rad/s, O axes */
  real a[6];       /* a_mR: acceleration of O that is there without accelerations, O axes */
  real alpha[6];   /* spatial acceleration of O, gravity removed, O axes */
  real D_min, D_scale; /* smallest pivot met and the size it is judged by */
  real *P; /* [21] M^rr of the body alone; inward: P_R, articulated inertia about O */
  real *z; /* [6] rigid part of b_m; inward: z_R less P_R a_mR, so that the hinge force is P_R alpha_R + z */
  /* hinge */
  real *H;  /* [6*n] joint map, one row per DOF, O axes (not for revolute hinges) */
  real *G;  /* [6*n] G_R: Kalman gain, one row per DOF */
  real *D;  /* [n*n] lower Cholesky factor of D_R with inverse diagonal (not for revolute hinges) */
  real *nu; /* [n] */
  real *Gamma; /* [21] P_R^+ carried to the port, port axes; then G~ in the port's order (two-port parents only) */
  /* modes of this body */
  const real *xi, *xidot; /* [nm] the state itself, or its transform in xi_own */
  real *xi_own;         /* [2*nm] (only if eta is not xi) */
  real *e;              /* [nm] modal force that is there without accelerations; then L^-1 eps_f */
  real *F;              /* [6*nm] M^rf; then mu L^-T (general path) */
  real *L;              /* [nm*(nm+1)/2] M^ff, packed; then the Cholesky factor of D_f, inverse diagonal */
  real *xiddot;         /* [nm] */
  real *Pi;             /* [6*nm of the parent] port influence, parent's O axes (general parents only) */
  real *port_z; /* [6] two-port: z_R^+ of the child at the port; then z~, the force there without acceleration; then
                 * the port's acceleration. In the port's order */
  /* unclamped modes, full fidelity: F seen from O */
  real *unclamped; /* E_d [9], l_d [3], omega_F [3], c_F [6], then S [6*nm] */
  /* not in every sweep */
  real *Pz;        /* [GATHERED] where P and z are when they are kept */
  real *attitude;  /* [9] O -> inertial axes (only with loads) */
  real *r;         /* [3] position of O, inertial axes (kinematics only) */
} body_work;

typedef struct {
  body_work *body;
  real *scratch; /* [12*nm_max + 8] */
  real *passing; /* [2][GATHERED] P and z of two neighbours, when nobody will ask for them again */
  real margin;   /* of all pivots D_min the least, beyond the rounding of its D_scale */
} sweep_work;

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
  const int behind_two_port = b->parent >= 0 && m->body[b->parent].two_port_ok;
  x->G = carve(memory, at, 7 * n), x->nu = memory ? x->G + 6 * n : NULL;
  x->H = carve(memory, at, 6 * general), x->D = carve(memory, at, general * general);
  x->Gamma = carve(memory, at, behind_two_port ? 21 : 0);
  x->e = carve(memory, at, nm), x->port_z = carve(memory, at, b->two_port_ok ? 6 : 0);
  x->xi_own = carve(memory, at, b->user_basis ? 2 * nm : 0);
}
/* what the general path touches */
static void carve_modes(const bough_model *m, int k, char *memory, size_t *at, body_work *x) {
  const bough_body *b = m->body + k;
  const size_t nm = (size_t)b->nm, nmp = b->parent < 0 ? 0 : (size_t)m->body[b->parent].nm;
  x->F = carve(memory, at, 6 * nm), x->L = carve(memory, at, nm * (nm + 1) / 2);
  x->xiddot = carve(memory, at, nm), x->Pi = carve(memory, at, 6 * nmp);
  x->unclamped = carve(memory, at, b->attach_node >= 0 ? 21 + 6 * nm : 0);
}
/* what is there for reactions, loads and kinematics */
static void carve_kept(char *memory, size_t *at, body_work *x) {
  x->Pz = carve(memory, at, GATHERED), x->attitude = carve(memory, at, 9), x->r = carve(memory, at, 3);
}

/* Lay the workspace out from `memory`, or (null) only measure it. */
static size_t carve_all(const bough_model *m, char *memory) {
  const size_t bodies = bough_align(sizeof(body_work) * (size_t)m->nb);
  size_t at = bough_align(sizeof(sweep_work)) + bodies;
  sweep_work *w = (sweep_work *)(void *)memory;
  body_work unused;
  real *scratch = carve(memory, &at, (size_t)(12 * m->nm_max + 8)), *passing = carve(memory, &at, 2 * GATHERED);
  if (memory) {
    w->body = (body_work *)(void *)(memory + bough_align(sizeof(sweep_work)));
    w->scratch = scratch;
    w->passing = passing;
  }
  for (int k = 0; k < m->nb; k++) carve_body(m, k, memory, &at, memory ? w->body + k : &unused);
  for (int k = 0; k < m->nb; k++) carve_modes(m, k, memory, &at, memory ? w->body + k : &unused);
  for (int k = 0; k < m->nb; k++) carve_kept(memory, &at, memory ? w->body + k : &unused);
  return at;
}

static size_t work_size(const bough_model *m) { return carve_all(m, NULL); }
static void work_layout(const bough_model *m, void *work) { (void)carve_all(m, work); }

/* The body whose pivot was the first, tip to base, not to be positive beyond rounding; -1 if there is none, or if a NaN
 * came before it: inboard of either, pivots mean nothing. */
static int singular_body(const bough_model *m, const void *work, int lane) {
  const sweep_work *w = work;
  if (lane_get(w->margin, lane) > 0.0) return -1;
  for (int k = m->nb; k-- > 0;) {
    const double d = lane_get(w->body[k].D_min, lane), scale = lane_get(w->body[k].D_scale, lane);
    if (!(d > PIVOT_MIN * scale)) return d != d || scale != scale ? -1 : k;
  }
  return -1;
}
#endif
