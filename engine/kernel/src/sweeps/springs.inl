/* springs.inl - springs and dampers of hinges. */

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

/* How far hinge DOF j is from where its spring rests; q of the hinge */
INLINE real hinge_stretch(const bough_sweep *s, const bough_body *b, const real *q, int j) {
  const int turned = j - b->quaternion;
  if (b->quaternion < 0 || turned < 0) return q[j] - s->rest[b->u0 + j];
  real x[3];
  rotation_vector(q + b->quaternion, x);
  return x[turned];
}

/* Spring and damper force of hinge DOF j (opposes motion); q and u of the hinge */
INLINE real hinge_force(const bough_sweep *s, const bough_body *b, const real *q, const real *u, int j) {
  const int i = b->u0 + j;
  const real rate = s->damping[i] * u[j];
  if (s->stiffness[i] == 0.0) return rate;
  return rate + s->stiffness[i] * hinge_stretch(s, b, q, j);
}
