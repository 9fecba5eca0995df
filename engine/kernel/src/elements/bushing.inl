/* bushing.inl - six linear springs and dampers between two frames, which rest where the frames coincide.
 *
 * In the axes of the first frame: theta, the rotation vector of R_A' R_B, and d = R_A'(r_B - r_A), with the potential
 * 1/2 x' K x of x = (theta, d). The relative angular velocity is Jl(theta) theta_dot, so that on B
 *   force = -(K x)_d - (D y)_d,   torque = -Jl^-T (K x)_theta - (D y)_theta,   y = (w_B - w_A, d_dot) in the axes of A
 * and A gets the opposite, about its own origin. Jl^-1 = 1 - 1/2 theta~ + c theta~ theta~.
 * Constants: K (6 x 6), D (6 x 6). */

/* c of Jl^-1 as a function of theta^2: 1/t2 - (1 + cos t)/(2 t sin t), finite up to a whole turn */
static real inverse_left_coefficient(real t2) {
  if (lane_get(t2, 0) < 0.01) return 1.0 / 12 + t2 * (1.0 / 720 + t2 * (1.0 / 30240 + t2 * (1.0 / 1209600)));
  real sine, cosine;
  const real t = lane_sqrt(t2);
  lane_sincos(0.5 * t, &sine, &cosine);
  return (1.0 - 0.5 * t * cosine / sine) / t2;
}

static void bushing_act(element_state *x) {
  const double *K = x->e->c, *D = K + 36;
  const end_frame *A = &x->A, *B = &x->B;
  real At[9], relative[9], Q[4], r[3], rate[3], spin[3], y[6], p[6], f[6], back[3];
  real *d = x->value, *d_dot = d + 3, *theta = d + 9, *w = d + 12;
  transpose(A->A, At), matmul(At, B->A, relative);
  matrix_quaternion(relative, Q), rotation_vector(Q, theta);
  minus(B->r, A->r, r), minus(B->v, A->v, rate), minus(B->w, A->w, spin);
  rotate(At, r, d), rotate(At, spin, w);
  cross(A->w, r, back), minus(rate, back, rate);
  rotate(At, rate, d_dot);
  for (int i = 0; i < 3; i++) p[i] = theta[i], p[3 + i] = d[i], y[i] = w[i], y[3 + i] = d_dot[i];
  x->potential = splat(0);
  for (int i = 0; i < 6; i++) {
    f[i] = splat(0);
    for (int j = 0; j < 6; j++) f[i] -= K[6 * i + j] * p[j];
    x->potential -= 0.5 * f[i] * p[i];
  }
  real turned[3], twice[3]; /* Jl^-T f = f + 1/2 theta x f + c theta x (theta x f) */
  const real c = inverse_left_coefficient(dot(theta, theta));
  cross(theta, f, turned), cross(theta, turned, twice);
  for (int i = 0; i < 3; i++) f[i] += 0.5 * turned[i] + c * twice[i];
  for (int i = 0; i < 6; i++)
    for (int j = 0; j < 6; j++) f[i] -= D[6 * i + j] * y[j];
  for (int i = 0; i < 3; i++) x->value[6 + i] = f[3 + i], x->value[15 + i] = f[i];
  rotate(A->A, f, x->on_B), rotate(A->A, f + 3, x->on_B + 3);
  for (int i = 0; i < 6; i++) x->on_A[i] = -x->on_B[i];
  cross(r, x->on_B + 3, back);
  minus(x->on_A, back, x->on_A);
}
