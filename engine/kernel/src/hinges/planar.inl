/* planar.inl - planar hinge: two translations, then a rotation about z. Constants: the axes [2][3] of the translations
 * in I. */
static void planar_move(const double *axes, const real *q, const real *u, hinge_motion *h, real *H) {
  hinge_rest(h);
  hinge_slide(2, axes, q, u, h);
  hinge_turn_z(q[2], u[2], h);
  hinge_slide_rows(2, axes, h, H);
  hinge_turn_row(2, H + 12);
}
static const hinge_type hinge_planar = {{.nq = 3, .nu = 3, .constants = 6, .slides = 2, .quaternion = -1}, planar_move};
