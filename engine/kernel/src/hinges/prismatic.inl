/* prismatic.inl - prismatic hinge: one translation. Constants: its axis [3] in I. */
static void prismatic_move(const double *axis, const real *q, const real *u, hinge_motion *h, real *H) {
  hinge_rest(h);
  hinge_slide(1, axis, q, u, h);
  hinge_slide_rows(1, axis, h, H);
}
static const hinge_type hinge_prismatic = {{.nq = 1, .nu = 1, .constants = 3, .slides = 1, .quaternion = -1},
                                           prismatic_move};
