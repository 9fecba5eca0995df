/* contact.inl - a sphere on the first node against a plane of the second, or against a sphere there.
 *
 * Gap s (negative: pressed in by delta = -s), its rate v, unit normal n towards A:
 *   plane   s = n.(r_A - r_B) - R_A              n fixed in B
 *   sphere  s = |r_A - r_B| - R_A - R_B          n along the line of centres
 *   f = k delta^p - d v                          linear damping, or
 *   f = (k - d v) delta^p                        Hunt & Crossley (1975), which begins and ends at zero
 * never below zero. Friction, regularized: mu f against the slip, times |slip|/sqrt(slip^2 + v_s^2). It acts at the point of
 * A's surface on the line of n, where the other body is touched: both get the same force there.
 * Constants: normal (3), R_A, R_B (-1: plane), k, d, p, law (0 linear, 1 Hunt-Crossley), mu, v_s. */
enum { CONTACT_NORMAL, CONTACT_RADIUS = 3, CONTACT_OTHER, CONTACT_K, CONTACT_D, CONTACT_POWER, CONTACT_LAW, CONTACT_MU, CONTACT_SLIP };

/* gap, its rate and the normal; touch: from r_B to the point where both meet */
static void contact_gap(element_state *x, real n[3], real touch[3]) {
  const double *c = x->e->c;
  const end_frame *A = &x->A, *B = &x->B;
  real d[3], v[3], turn[3];
  minus(A->r, B->r, d), minus(A->v, B->v, v);
  if (c[CONTACT_OTHER] < 0.0) {
    axis_of(B->A, c + CONTACT_NORMAL, n);
    x->value[0] = dot(n, d) - c[CONTACT_RADIUS];
    cross(B->w, d, turn), minus(v, turn, v);
  } else {
    const real size = lane_sqrt(dot(d, d)), inverse = 1.0 / size;
    for (int i = 0; i < 3; i++) n[i] = d[i] * inverse;
    x->value[0] = size - c[CONTACT_RADIUS] - c[CONTACT_OTHER];
  }
  x->value[1] = dot(n, v);
  for (int i = 0; i < 3; i++) touch[i] = d[i] - c[CONTACT_RADIUS] * n[i];
}

/* velocity of A's matter against B's where they meet, across n */
static void contact_slip(const element_state *x, const real n[3], const real touch[3], real slip[3]) {
  const double *c = x->e->c;
  const end_frame *A = &x->A, *B = &x->B;
  real other[3];
  for (int i = 0; i < 3; i++) slip[i] = A->v[i] - B->v[i], other[i] = -c[CONTACT_RADIUS] * n[i];
  cross_add(A->w, other, slip);
  cross(B->w, touch, other), minus(slip, other, slip);
  const real along = dot(slip, n);
  for (int i = 0; i < 3; i++) slip[i] -= along * n[i];
}

static void contact_act(element_state *x) {
  const double *c = x->e->c;
  real n[3], touch[3], force[3], slip[3], other[3];
  contact_gap(x, n, touch);
  if (!(lane_get(x->value[0], 0) < 0.0)) return;
  const real delta = -x->value[0], v = x->value[1], power = lane_power(delta, c[CONTACT_POWER]);
  real f = c[CONTACT_LAW] != 0.0 ? (c[CONTACT_K] - c[CONTACT_D] * v) * power : c[CONTACT_K] * power - c[CONTACT_D] * v;
  x->potential = c[CONTACT_K] / (c[CONTACT_POWER] + 1.0) * power * delta;
  if (lane_get(f, 0) < 0.0) f = splat(0);
  x->value[2] = f;
  contact_slip(x, n, touch, slip);
  const real drag = c[CONTACT_MU] * f / lane_sqrt(dot(slip, slip) + c[CONTACT_SLIP] * c[CONTACT_SLIP]);
  for (int i = 0; i < 3; i++) force[i] = f * n[i] - drag * slip[i], other[i] = -c[CONTACT_RADIUS] * n[i];
  cross(other, force, x->on_A);
  cross(force, touch, x->on_B); /* touch x (-force) */
  for (int i = 0; i < 3; i++) x->on_A[3 + i] = force[i], x->on_B[3 + i] = -force[i];
}
