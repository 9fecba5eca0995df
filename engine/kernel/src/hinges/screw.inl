/* screw.inl - screw hinge: one rotation about z that carries the body along z. Constants: the lead [1], m/rad. */
static void screw_move(const double *lead, const real *q, const real *u, hinge_motion *h, real *H) {
  hinge_rest(h);
  hinge_turn_z(q[0], u[0], h);
  h->s[2] = lead[0] * q[0];
  h->sdot[2] = lead[0] * u[0];
  hinge_turn_row(2, H);
  H[5] = splat(lead[0]);
}
static const hinge_type hinge_screw = {{.nq = 1, .nu = 1, .constants = 1, .quaternion = -1, .advances = 1}, screw_move};
