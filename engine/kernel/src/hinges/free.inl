/* free.inl - free hinge: translations along the axes of I, then any rotation, as a quaternion. Speeds: their rates, and
 * the angular velocity in O axes. */
static void free_move(const double *constants, const real *q, const real *u, hinge_motion *h, real *H) {
  (void)constants;
  hinge_rest(h);
  hinge_slide(3, hinge_identity, q, u, h);
  hinge_turn_free(q + 3, u + 3, h);
  hinge_slide_rows(3, hinge_identity, h, H);
  for (int i = 0; i < 3; i++) hinge_turn_row(i, H + 6 * (3 + i));
}
static const hinge_type hinge_free = {{.nq = 7, .nu = 6, .constants = 0, .slides = 3, .quaternion = 3}, free_move};
