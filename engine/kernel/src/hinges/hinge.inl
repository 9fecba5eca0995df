/* hinge.inl - what a hinge type is, and the motions that the types are made of.
 *
 * A hinge joins the inboard axes I, on the parent, to the outboard axes O of its body: x_I = R_h x_O. Translations come
 * first, along axes fixed in I, then rotations; the axes are chosen (bough_body.axes) so that the last rotation axis is
 * z. Each type is one record in a file of its own; hinges.inl lists them. */

/* Motion of O relative to I. */
typedef struct {
  real R[9];       /* R_h */
  real s[3];       /* origin of O from that of I, m, I axes */
  real sdot[3];    /* its rate, m/s, I axes */
  real w[3];       /* angular velocity, rad/s, O axes */
  real w_extra[3]; /* part of its derivative in O that udot does not give: of axes that move in O */
} hinge_motion;

/* A hinge type: the facts that all the kernel knows, and its kinematics. `move` fills h and the joint map H, a row of six
 * for each speed (angular, linear; O axes), from the type's constants, its own coordinates and speeds. */
typedef struct {
  bough_hinge_facts facts;
  void (*move)(const double *constants, const real *q, const real *u, hinge_motion *h, real *H);
} hinge_type;

static const double hinge_identity[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1};

/* no motion at all */
INLINE void hinge_rest(hinge_motion *h) {
  for (int i = 0; i < 9; i++) h->R[i] = splat(hinge_identity[i]);
  for (int i = 0; i < 3; i++) h->s[i] = h->sdot[i] = h->w[i] = h->w_extra[i] = splat(0);
}

/* s = sum of axis_j q_j over n axes, one in each row */
INLINE void hinge_slide(const int n, const double *axes, const real *q, const real *u, hinge_motion *h) {
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < n; j++) {
      h->s[i] += axes[3 * j + i] * q[j];
      h->sdot[i] += axes[3 * j + i] * u[j];
    }
}
/* rows of H that belong to them, once R_h is there */
INLINE void hinge_slide_rows(const int n, const double *axes, const hinge_motion *h, real *H) {
  for (int j = 0; j < n; j++) {
    const real axis[3] = {splat(axes[3 * j]), splat(axes[3 * j + 1]), splat(axes[3 * j + 2])};
    for (int i = 0; i < 3; i++) H[6 * j + i] = splat(0);
    rotate_back(h->R, axis, H + 6 * j + 3);
  }
}

/* rotation about z */
INLINE void hinge_turn_z(real angle, real rate, hinge_motion *h) {
  real c, s;
  lane_sincos(angle, &s, &c);
  turn_z_const(hinge_identity, c, s, h->R);
  h->w[2] = rate;
}
/* rotation given by a quaternion x y z w; w in O axes */
INLINE void hinge_turn_free(const real Q[4], const real w[3], hinge_motion *h) {
  quaternion_matrix(Q, h->R);
  for (int i = 0; i < 3; i++) h->w[i] = w[i];
}
/* row of H of a rotation about axis i of O */
INLINE void hinge_turn_row(int i, real H[6]) {
  for (int j = 0; j < 6; j++) H[j] = splat(j == i);
}
