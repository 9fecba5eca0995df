/* revolute.inl - revolute hinge: one rotation about z. The sweeps are fastest for it: they know that H is the row of z,
 * which is therefore not stored. */
INLINE void revolute_motion(real angle, real rate, hinge_motion *h) {
  hinge_rest(h);
  hinge_turn_z(angle, rate, h);
}
static void revolute_move(const double *constants, const real *q, const real *u, hinge_motion *h, real *H) {
  (void)constants, (void)H;
  revolute_motion(q[0], u[0], h);
}
static const hinge_type hinge_revolute = {{.nq = 1, .nu = 1, .constants = 0, .quaternion = -1, .revolute = 1},
                                          revolute_move};
