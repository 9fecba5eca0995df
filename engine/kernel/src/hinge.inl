/* hinge.inl - kinematics across a hinge.
 *
 * Inboard axes I, outboard axes O, x_I = R_h x_O. The offset s = sum of axis_i s_i is fixed in I. The relative
 * angular velocity w is in O axes; `w_extra` is the part of its derivative in O that udot does not give (only the
 * first axis of a universal hinge moves in O). */
typedef struct {
  real R[9];         /* R_h */
  real s[3], sdot[3];/* I axes */
  real w[3], w_extra[3];
  real first[3];     /* first rotation axis of TURN_TWO, O axes */
} hinge_state;

/* R = Q Rz(c, s), Q constant */
INLINE void turn_z_const(const double Q[9], real c, real s, real R[9]) {
  for (int i = 0; i < 3; i++) {
    R[3 * i] = c * Q[3 * i] + s * Q[3 * i + 1];
    R[3 * i + 1] = c * Q[3 * i + 1] - s * Q[3 * i];
    R[3 * i + 2] = splat(Q[3 * i + 2]);
  }
}

/* y = Rz x and y = Rz' x */
INLINE void turn_z(real c, real s, const real x[3], real y[3]) {
  const real a = x[0], b = x[1];
  y[0] = c * a - s * b, y[1] = s * a + c * b, y[2] = x[2];
}
INLINE void turn_z_back(real c, real s, const real x[3], real y[3]) { turn_z(c, -s, x, y); }

INLINE void hinge_rotation(const bough_body *b, const real *q, const real *u, hinge_state *h) {
  static const double one[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1};
  const real *angle = q + b->n_lin, *rate = u + b->n_lin;
  real c, s;
  for (int i = 0; i < 3; i++) h->w[i] = h->w_extra[i] = splat(0);
  switch (b->turn) {
    case TURN_Z:
      lane_sincos(angle[0], &s, &c);
      turn_z_const(one, c, s, h->R);
      h->w[2] = rate[0];
      break;
    case TURN_TWO: { /* R_h = R(first, phi1) Rz(phi2), w = Rz' first w1 + z w2 */
      real R1[9], Rz[9];
      const real first[3] = {splat(b->rot1[0]), splat(b->rot1[1]), splat(b->rot1[2])};
      lane_sincos(angle[0], &s, &c);
      rodrigues(first, s, 1.0 - c, R1);
      lane_sincos(angle[1], &s, &c);
      turn_z_const(one, c, s, Rz);
      matmul(R1, Rz, h->R);
      rotate_back(Rz, first, h->first);
      for (int i = 0; i < 3; i++) h->w[i] = h->first[i] * rate[0];
      h->w_extra[0] = rate[1] * h->w[1]; /* -w2 z x (first w1) */
      h->w_extra[1] = -rate[1] * h->w[0];
      h->w[2] += rate[1];
      break;
    }
    case TURN_FREE:
      quaternion_matrix(angle, h->R);
      for (int i = 0; i < 3; i++) h->w[i] = rate[i];
      break;
    default:
      for (int i = 0; i < 9; i++) h->R[i] = splat(one[i]);
  }
}

INLINE void hinge_translation(const bough_body *b, const real *q, const real *u, hinge_state *h) {
  for (int i = 0; i < 3; i++) {
    h->s[i] = h->sdot[i] = splat(0);
    for (int j = 0; j < b->n_lin; j++) {
      h->s[i] += b->lin[3 * j + i] * q[j];
      h->sdot[i] += b->lin[3 * j + i] * u[j];
    }
  }
}

/* H, one row of six per DOF in O axes: translations first, then rotations */
INLINE void hinge_map(const bough_body *b, const hinge_state *h, real *H) {
  for (int j = 0; j < 6 * (b->n_lin + b->n_rot); j++) H[j] = splat(0);
  for (int j = 0; j < b->n_lin; j++) {
    const real axis[3] = {splat(b->lin[3 * j]), splat(b->lin[3 * j + 1]), splat(b->lin[3 * j + 2])};
    rotate_back(h->R, axis, H + 6 * j + 3);
  }
  real *rot = H + 6 * b->n_lin;
  switch (b->turn) {
    case TURN_Z: rot[2] = splat(1); break;
    case TURN_TWO:
      for (int i = 0; i < 3; i++) rot[i] = h->first[i];
      rot[6 + 2] = splat(1);
      break;
    case TURN_FREE:
      for (int i = 0; i < 3; i++) rot[6 * i + i] = splat(1);
      break;
    default: break;
  }
}

/* Rotation vector of a quaternion, in (-pi, pi]: the coordinate that a spherical spring pulls on. */
INLINE void rotation_vector(const real Q[4], real x[3]) {
  /* x = 2 atan2(|v|, w)/|v| v on the short way; per lane, because atan2 is */
  real factor = splat(0);
  for (int i = 0; i < LANES; i++) {
    const double vx = lane_get(Q[0], i), vy = lane_get(Q[1], i), vz = lane_get(Q[2], i), w = lane_get(Q[3], i);
    const double n = sqrt(vx * vx + vy * vy + vz * vz), sign = w < 0 ? -1.0 : 1.0;
    const double f = n > 1e-8 * fabs(w) ? 2.0 * sign * atan2(n, sign * w) / n : 2.0 / w;
#if defined(LANE_TANGENT)
    /* df = (dn/df, dw/df) by hand: f = g(n, w), n dn = v.dv */
    const double size2 = n * n + w * w, dw = cimag(Q[3]);
    const double vdv = vx * cimag(Q[0]) + vy * cimag(Q[1]) + vz * cimag(Q[2]);
    const double by_n_over_n = n > 1e-4 * fabs(w) ? (2.0 * w / size2 - f) / (n * n) : -4.0 / (3.0 * w * w * w);
    factor = f + I * (by_n_over_n * vdv - 2.0 / size2 * dw);
#else
    lane_set(&factor, i, f);
#endif
  }
  for (int i = 0; i < 3; i++) x[i] = factor * Q[i];
}

/* Spring and damper force of hinge DOF j (opposes motion) */
INLINE real hinge_force(const bough_sweep *s, const bough_body *b, const real *q, const real *u, int j) {
  const int i = b->u0 + j, turned = j - b->n_lin;
  const real rate = s->damping[i] * u[j];
  if (s->stiffness[i] == 0.0) return rate;
  if (b->turn == TURN_FREE && turned >= 0) {
    real x[3];
    rotation_vector(q + b->n_lin, x);
    return rate + s->stiffness[i] * x[turned];
  }
  return rate + s->stiffness[i] * (q[j] - s->rest[i]);
}
