/* cylindrical.inl - cylindrical hinge: one translation, then a rotation about z. Constants: the axis [3] of the
 * translation in I. */
static void cylindrical_move(const double *axis, const real *q, const real *u, hinge_motion *h, real *H) {
  hinge_rest(h);
  hinge_slide(1, axis, q, u, h);
  hinge_turn_z(q[1], u[1], h);
  hinge_slide_rows(1, axis, h, H);
  hinge_turn_row(2, H + 6);
}
static const hinge_type hinge_cylindrical = {{.nq = 2, .nu = 2, .constants = 3, .slides = 1, .quaternion = -1},
                                             cylindrical_move};
