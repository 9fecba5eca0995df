/* universal.inl - universal hinge: a rotation about `first`, fixed in I, then one about z, fixed in O.
 *   R_h = R(first, q1) Rz(q2),   w = Rz' first u1 + z u2,   and -u2 z x (Rz' first u1) in its derivative.
 * Constants: first [3] in I. */
static void universal_move(const double *constants, const real *q, const real *u, hinge_motion *h, real *H) {
  const real first[3] = {splat(constants[0]), splat(constants[1]), splat(constants[2])};
  real R1[9], Rz[9], c, s;
  hinge_rest(h);
  lane_sincos(q[0], &s, &c);
  rodrigues(first, s, 1.0 - c, R1);
  lane_sincos(q[1], &s, &c);
  turn_z_const(hinge_identity, c, s, Rz);
  matmul(R1, Rz, h->R);
  rotate_back(Rz, first, H); /* first, in O axes */
  for (int i = 0; i < 3; i++) h->w[i] = H[i] * u[0], H[3 + i] = splat(0);
  hinge_turn_row(2, H + 6);
  h->w_extra[0] = u[1] * h->w[1];
  h->w_extra[1] = -u[1] * h->w[0];
  h->w[2] += u[1];
}
static const hinge_type hinge_universal = {{.nq = 2, .nu = 2, .constants = 3, .quaternion = -1}, universal_move};
