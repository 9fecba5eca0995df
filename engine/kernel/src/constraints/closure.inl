/* closure.inl - the rows of a closure: what each type asks of its two frames.
 *
 * Frame A is the first, B the second; r, R, w, v, al, a are position, axes, angular and linear velocity and acceleration,
 * all in inertial axes, and d = r_B - r_A. A row is a relation of velocities W_A V_A + W_B V_B = 0 with V = (w, v) at the
 * frame's origin; its derivative is W_A Vdot_A + W_B Vdot_B + gamma. With t a unit vector of A and n one of B:
 *
 *   slide   g = t.d                      t.(v_B - v_A - w_A x d)
 *           gamma = t.(-2 w_A x (v_B - v_A) + w_A x (w_A x d))
 *   turn    g = t.log(R_A' R_B)          t.(w_B - w_A)            gamma = (w_A x t).(w_B - w_A)
 *   angle   g = t.n - c                  (n x t).(w_B - w_A)      gamma = ((w_B x n) x t + n x (w_A x t)).(w_B - w_A)
 *   rod     g = |d| - c                  e.(v_B - v_A), e = d/|d| gamma = (|v_B - v_A|^2 - (e.(v_B - v_A))^2) / |d|
 *
 * The rate of log(R_A' R_B) is the relative angular velocity where g = 0, which is where a run is; away from it the row is the
 * direction in which the projection closes the turn.
 *
 * Rolling: a disc about the axis a of A, centre r_A, touches the plane through r_B normal to n = z of B at its lowest point
 * rho = -c (n - (n.a) a)/|..| from the centre; e = r_A + rho - r_B. What slips is the disc's matter there against the plane's:
 *   slip = v_A + w_A x rho - v_B - w_B x e,      rows t.slip with t = n and two tangents, fixed in B
 *   gamma = t.(w_A x rhodot - w_B x edot) + (w_B x t).slip,      edot = v_A + rhodot - v_B
 * The row of n is the rate of g = n.e, because the lowest point moves along the rim, normal to n. The tangents have no g:
 * they are not holonomic. */

/* One end of a closure in space. */
typedef struct {
  real r[3], A[9];               /* m; its axes -> inertial axes */
  real w[3], v[3], al[3], a[3];  /* velocity and acceleration of its origin, inertial axes; without udot */
  real arm[3];                   /* from the node to its origin, m */
} end_frame;

typedef struct {
  real A[6], B[6]; /* W_A and W_B */
  real g, gamma;   /* m or rad; m/s2 or rad/s2 */
} closure_row;

INLINE void row_clear(closure_row *row) {
  for (int i = 0; i < 6; i++) row->A[i] = row->B[i] = splat(0);
  row->g = row->gamma = splat(0);
}
INLINE void axis_of(const real A[9], const double t[3], real out[3]) {
  const real x[3] = {splat(t[0]), splat(t[1]), splat(t[2])};
  rotate(A, x, out);
}
INLINE void minus(const real a[3], const real b[3], real c[3]) {
  for (int i = 0; i < 3; i++) c[i] = a[i] - b[i];
}

static void row_slide(const end_frame *A, const end_frame *B, const double *axis, closure_row *row) {
  real t[3], d[3], v[3], spin[3], bias[3] = {splat(0), splat(0), splat(0)}, twice[3];
  row_clear(row);
  axis_of(A->A, axis, t), minus(B->r, A->r, d), minus(B->v, A->v, v);
  row->g = dot(t, d);
  cross(t, d, row->A); /* -d x t */
  for (int i = 0; i < 3; i++) row->A[3 + i] = -t[i], row->B[3 + i] = t[i], twice[i] = -2.0 * v[i];
  cross(A->w, d, spin);
  cross_add(A->w, twice, bias), cross_add(A->w, spin, bias);
  row->gamma = dot(t, bias);
}

static void row_turn(const end_frame *A, const end_frame *B, const double *axis, const real turned[3], closure_row *row) {
  real t[3], w[3], tdot[3];
  row_clear(row);
  axis_of(A->A, axis, t), minus(B->w, A->w, w);
  row->g = axis[0] * turned[0] + axis[1] * turned[1] + axis[2] * turned[2];
  for (int i = 0; i < 3; i++) row->A[i] = -t[i], row->B[i] = t[i];
  cross(A->w, t, tdot);
  row->gamma = dot(tdot, w);
}

static void row_angle(const end_frame *A, const end_frame *B, const double *first, const double *second, double value,
                      closure_row *row) {
  real t[3], n[3], w[3], turn[3], tdot[3], ndot[3], rate[3];
  row_clear(row);
  axis_of(A->A, first, t), axis_of(B->A, second, n), minus(B->w, A->w, w);
  row->g = dot(t, n) - value;
  cross(n, t, turn);
  for (int i = 0; i < 3; i++) row->A[i] = -turn[i], row->B[i] = turn[i];
  cross(A->w, t, tdot), cross(B->w, n, ndot);
  cross(ndot, t, rate), cross_add(n, tdot, rate);
  row->gamma = dot(rate, w);
}

static void row_rod(const end_frame *A, const end_frame *B, double length, closure_row *row) {
  real d[3], v[3], e[3];
  row_clear(row);
  minus(B->r, A->r, d), minus(B->v, A->v, v);
  const real size = lane_sqrt(dot(d, d)), inverse = 1.0 / size;
  for (int i = 0; i < 3; i++) e[i] = d[i] * inverse, row->A[3 + i] = -e[i], row->B[3 + i] = e[i];
  const real along = dot(e, v);
  row->g = size - length;
  row->gamma = (dot(v, v) - along * along) * inverse;
}

/* lowest point of a disc and its rate, from the centre */
static void disc_bottom(const end_frame *A, const end_frame *B, const double *axis, double radius, real rho[3], real rate[3]) {
  static const double z[3] = {0, 0, 1};
  real a[3], n[3], adot[3], ndot[3], down[3], ddot[3];
  axis_of(A->A, axis, a), axis_of(B->A, z, n);
  cross(A->w, a, adot), cross(B->w, n, ndot);
  const real c = dot(n, a), cdot = dot(ndot, a) + dot(n, adot);
  for (int i = 0; i < 3; i++) down[i] = c * a[i] - n[i], ddot[i] = cdot * a[i] + c * adot[i] - ndot[i];
  const real inverse = 1.0 / lane_sqrt(dot(down, down));
  for (int i = 0; i < 3; i++) down[i] *= inverse;
  const real along = dot(down, ddot);
  for (int i = 0; i < 3; i++) rho[i] = radius * down[i], rate[i] = radius * inverse * (ddot[i] - along * down[i]);
}

static void row_roll(const end_frame *A, const end_frame *B, const double *axis, double radius, int i0, closure_row *row) {
  const double e0[3] = {i0 == 0, i0 == 1, i0 == 2};
  real rho[3], rhodot[3], e[3], edot[3], t[3], tdot[3], slip[3], bias[3], other[3];
  row_clear(row);
  disc_bottom(A, B, axis, radius, rho, rhodot);
  axis_of(B->A, e0, t);
  for (int i = 0; i < 3; i++) {
    e[i] = A->r[i] + rho[i] - B->r[i], edot[i] = A->v[i] + rhodot[i] - B->v[i];
    slip[i] = A->v[i] - B->v[i], row->A[3 + i] = t[i], row->B[3 + i] = -t[i];
  }
  cross_add(A->w, rho, slip), cross(B->w, e, other), minus(slip, other, slip);
  cross(rho, t, row->A), cross(t, e, row->B);
  cross(A->w, rhodot, bias), cross(B->w, edot, other), minus(bias, other, bias);
  cross(B->w, t, tdot);
  row->g = i0 == 2 ? dot(t, e) : splat(0);
  row->gamma = dot(t, bias) + dot(tdot, slip);
}

/* Row `which` of a closure of this type. */
static void closure_row_of(const bough_closure *c, const end_frame *A, const end_frame *B, int which, closure_row *row) {
  const bough_row_kind kind = bough_closure_types[c->type].row[which];
  const double *axis = c->T + 3 * kind.axis;
  switch (kind.kind) {
    case ROW_SLIDE: row_slide(A, B, axis, row); return;
    case ROW_ANGLE: row_angle(A, B, axis, c->T + 6, 0.0, row); return;
    case ROW_UNIVERSAL: row_angle(A, B, c->first, c->second, c->value, row); return;
    case ROW_ROD: row_rod(A, B, c->value, row); return;
    case ROW_ROLL: row_roll(A, B, c->T + 6, c->value, kind.axis, row); return;
    default: break;
  }
  real At[9], relative[9], Q[4], turned[3];
  transpose(A->A, At), matmul(At, B->A, relative);
  matrix_quaternion(relative, Q), rotation_vector(Q, turned);
  row_turn(A, B, axis, turned, row);
}
