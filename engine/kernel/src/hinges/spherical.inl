/* spherical.inl - spherical hinge: any rotation, as a quaternion; its speeds are the angular velocity in O axes. */
static void spherical_move(const double *constants, const real *q, const real *u, hinge_motion *h, real *H) {
  (void)constants;
  hinge_rest(h);
  hinge_turn_free(q, u, h);
  for (int i = 0; i < 3; i++) hinge_turn_row(i, H + 6 * i);
}
static const hinge_type hinge_spherical = {{.nq = 4, .nu = 3, .constants = 0, .quaternion = 0}, spherical_move};
