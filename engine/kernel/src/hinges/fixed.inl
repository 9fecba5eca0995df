/* fixed.inl - fixed hinge: no motion. */
static void fixed_move(const double *constants, const real *q, const real *u, hinge_motion *h, real *H) {
  (void)constants, (void)q, (void)u, (void)H;
  hinge_rest(h);
}
static const hinge_type hinge_fixed = {{.nq = 0, .nu = 0, .constants = 0, .quaternion = -1}, fixed_move};
