/* spatial.inl - three-vectors, rotations and symmetric 6x6 matrices on `real`.
 * A 3x3 matrix is row-major real[9]. A symmetric 6x6 matrix is its lower triangle, packed by rows: AT(i, j), i >= j.
 * It is never stored full, so it cannot lose its symmetry along a chain. */
#define LOWER(i, j) ((i) * ((i) + 1) / 2 + (j)) /* where i >= j is known */
#define AT(i, j) ((i) >= (j) ? (i) * ((i) + 1) / 2 + (j) : (j) * ((j) + 1) / 2 + (i))

INLINE void cross(const real a[3], const real b[3], real c[3]) {
  const real x = a[1] * b[2] - a[2] * b[1], y = a[2] * b[0] - a[0] * b[2], z = a[0] * b[1] - a[1] * b[0];
  c[0] = x, c[1] = y, c[2] = z;
}
/* c += a x b */
INLINE void cross_add(const real a[3], const real b[3], real c[3]) {
  c[0] += a[1] * b[2] - a[2] * b[1];
  c[1] += a[2] * b[0] - a[0] * b[2];
  c[2] += a[0] * b[1] - a[1] * b[0];
}
INLINE real dot(const real a[3], const real b[3]) { return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]; }
/* y = R x */
INLINE void rotate(const real R[9], const real x[3], real y[3]) {
  const real a = x[0], b = x[1], c = x[2];
  for (int i = 0; i < 3; i++) y[i] = R[3 * i] * a + R[3 * i + 1] * b + R[3 * i + 2] * c;
}
/* y = R' x */
INLINE void rotate_back(const real R[9], const real x[3], real y[3]) {
  const real a = x[0], b = x[1], c = x[2];
  for (int i = 0; i < 3; i++) y[i] = R[i] * a + R[3 + i] * b + R[6 + i] * c;
}
/* the same with a constant matrix */
INLINE void rotate_const(const double R[9], const real x[3], real y[3]) {
  const real a = x[0], b = x[1], c = x[2];
  for (int i = 0; i < 3; i++) y[i] = R[3 * i] * a + R[3 * i + 1] * b + R[3 * i + 2] * c;
}
/* R = Q Rz(c, s), Q constant */
INLINE void turn_z_const(const double Q[9], real c, real s, real R[9]) {
  for (int i = 0; i < 3; i++) {
    R[3 * i] = c * Q[3 * i] + s * Q[3 * i + 1];
    R[3 * i + 1] = c * Q[3 * i + 1] - s * Q[3 * i];
    R[3 * i + 2] = splat(Q[3 * i + 2]);
  }
}
/* y = Rz x and y = Rz' x */
INLINE void turn_z(real c, real s, const real x[3], real y[3]) {
  const real a = x[0], b = x[1];
  y[0] = c * a - s * b, y[1] = s * a + c * b, y[2] = x[2];
}
INLINE void turn_z_back(real c, real s, const real x[3], real y[3]) { turn_z(c, -s, x, y); }
/* T = R' */
INLINE void transpose(const real R[9], real T[9]) {
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++) T[3 * i + j] = R[3 * j + i];
}
/* C = A B */
INLINE void matmul(const real A[9], const real B[9], real C[9]) {
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++) C[3 * i + j] = A[3 * i] * B[j] + A[3 * i + 1] * B[3 + j] + A[3 * i + 2] * B[6 + j];
}
/* C = A B with constant A */
INLINE void matmul_const(const double A[9], const real B[9], real C[9]) {
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++) C[3 * i + j] = A[3 * i] * B[j] + A[3 * i + 1] * B[3 + j] + A[3 * i + 2] * B[6 + j];
}
/* products of the components of omega: xx yy zz xy xz yz */
INLINE void squares(const real w[3], real w2[6]) {
  w2[0] = w[0] * w[0], w2[1] = w[1] * w[1], w2[2] = w[2] * w[2];
  w2[3] = w[0] * w[1], w2[4] = w[0] * w[2], w2[5] = w[1] * w[2];
}
/* y += omega x (omega x x), by the symmetric matrix of squares */
INLINE void centrifugal_add(const real w2[6], const real x[3], real y[3]) {
  y[0] += w2[3] * x[1] + w2[4] * x[2] - (w2[1] + w2[2]) * x[0];
  y[1] += w2[3] * x[0] + w2[5] * x[2] - (w2[0] + w2[2]) * x[1];
  y[2] += w2[4] * x[0] + w2[5] * x[1] - (w2[0] + w2[1]) * x[2];
}

/* Coefficients of the exponential map of a rotation vector x, theta^2 = t:
 *   exp(x~) = 1 + A x~ + B x~x~,  Jl(x) = 1 + B x~ + C x~x~,  dB/dt' = B1 (x.x'), dC/dt' = C1 (x.x')
 *   A = sin th/th, B = (1-cos th)/th^2, C = (th-sin th)/th^3, B1 = B'(th)/th, C1 = C'(th)/th.
 * Power series in t: six terms for th < 0.3, eighteen up to pi, closed forms beyond. */
typedef struct {
  real A, B, C, B1, C1;
} exp_coefficients;

INLINE void exp_series(real t, int terms, exp_coefficients *e) {
  real A = splat(0), B = splat(0), C = splat(0), B1 = splat(0), C1 = splat(0);
  for (int n = terms; n-- > 0;) {
    /* Horner: the coefficient of t^n is (-1)^n/(2n+k)!, k = 1, 2, 3; of B1 and C1, n+1 further with 2(n+1) */
    const double g = 2.0 * n;
    A = 1.0 - A * t * (1.0 / ((g + 2) * (g + 3)));
    B = 1.0 - B * t * (1.0 / ((g + 3) * (g + 4)));
    C = 1.0 - C * t * (1.0 / ((g + 4) * (g + 5)));
    B1 = (g + 2) - B1 * t * (1.0 / ((g + 5) * (g + 6)));
    C1 = (g + 2) - C1 * t * (1.0 / ((g + 6) * (g + 7)));
  }
  e->A = A;
  e->B = B * 0.5;
  e->C = C * (1.0 / 6.0);
  e->B1 = B1 * (-1.0 / 24.0);
  e->C1 = C1 * (-1.0 / 120.0);
}

INLINE void exp_closed(real t, exp_coefficients *e) {
  const real th = lane_sqrt(t);
  real s, c;
  lane_sincos(th, &s, &c);
  e->A = s / th;
  e->B = (1.0 - c) / t;
  e->C = (th - s) / (t * th);
  e->B1 = (th * s - 2.0 * (1.0 - c)) / (t * t);
  e->C1 = (3.0 * s - 2.0 * th - th * c) / (t * t * th);
}

INLINE void exp_map(real t, exp_coefficients *e) {
  double largest = 0.0;
  for (int i = 0; i < LANES; i++) largest = lane_get(t, i) > largest ? lane_get(t, i) : largest;
  if (largest < 0.09)
    exp_series(t, 6, e);
  else if (largest < 10.0)
    exp_series(t, 18, e);
  else {
    exp_closed(t, e);
#if LANES > 1
    exp_coefficients small;
    exp_series(lane_min(t, splat(10.0)), 18, &small);
    const lane_bits near = t < 10.0;
    e->A = lane_pick(near, small.A, e->A), e->B = lane_pick(near, small.B, e->B);
    e->C = lane_pick(near, small.C, e->C), e->B1 = lane_pick(near, small.B1, e->B1);
    e->C1 = lane_pick(near, small.C1, e->C1);
#endif
  }
}

/* M = 1 + a x~ + b x~x~ */
INLINE void rodrigues(const real x[3], real a, real b, real M[9]) {
  const real xx = x[0] * x[0], yy = x[1] * x[1], zz = x[2] * x[2];
  const real xy = b * x[0] * x[1], xz = b * x[0] * x[2], yz = b * x[1] * x[2];
  M[0] = 1.0 - b * (yy + zz), M[1] = xy - a * x[2], M[2] = xz + a * x[1];
  M[3] = xy + a * x[2], M[4] = 1.0 - b * (xx + zz), M[5] = yz - a * x[0];
  M[6] = xz - a * x[1], M[7] = yz + a * x[0], M[8] = 1.0 - b * (xx + yy);
}

/* rotation matrix of a quaternion x y z w of any length */
INLINE void quaternion_matrix(const real Q[4], real R[9]) {
  const real x = Q[0], y = Q[1], z = Q[2], w = Q[3];
  const real n = 2.0 / (x * x + y * y + z * z + w * w);
  R[0] = 1.0 - n * (y * y + z * z), R[1] = n * (x * y - z * w), R[2] = n * (x * z + y * w);
  R[3] = n * (x * y + z * w), R[4] = 1.0 - n * (x * x + z * z), R[5] = n * (y * z - x * w);
  R[6] = n * (x * z - y * w), R[7] = n * (y * z + x * w), R[8] = 1.0 - n * (x * x + y * y);
}

/* Spatial inertia (lower triangle) of mass m, first moment mp and inertia J (xx yy zz xy xz yz) at a point. */
INLINE void inertia_set(double m, const real mp[3], const real J[6], real P[21]) {
  P[AT(0, 0)] = J[0], P[AT(1, 0)] = J[3], P[AT(1, 1)] = J[1];
  P[AT(2, 0)] = J[4], P[AT(2, 1)] = J[5], P[AT(2, 2)] = J[2];
  P[AT(3, 0)] = splat(0), P[AT(3, 1)] = mp[2], P[AT(3, 2)] = -mp[1], P[AT(3, 3)] = splat(m);
  P[AT(4, 0)] = -mp[2], P[AT(4, 1)] = splat(0), P[AT(4, 2)] = mp[0], P[AT(4, 3)] = splat(0), P[AT(4, 4)] = splat(m);
  P[AT(5, 0)] = mp[1], P[AT(5, 1)] = -mp[0], P[AT(5, 2)] = splat(0), P[AT(5, 3)] = splat(0);
  P[AT(5, 4)] = splat(0), P[AT(5, 5)] = splat(m);
}
/* the first moment in it */
INLINE void first_moment(const real P[21], real mp[3]) {
  mp[0] = P[AT(4, 2)], mp[1] = P[AT(5, 0)], mp[2] = P[AT(3, 1)];
}
/* y += P x for a packed symmetric matrix */
INLINE void symmetric_add(const real P[21], const real x[6], real y[6]) {
  for (int i = 0; i < 6; i++) {
    real v = y[i];
    for (int j = 0; j < 6; j++) v += P[AT(i, j)] * x[j];
    y[i] = v;
  }
}
/* G = R P R' on both three-vectors: a change of axes of a packed spatial inertia */
INLINE void inertia_rotate(const real R[9], const real P[21], real G[21]) {
  for (int bi = 0; bi < 2; bi++)
    for (int bj = 0; bj <= bi; bj++) {
      real M[9];
      for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
          M[3 * i + j] = R[3 * i] * P[AT(3 * bi + 0, 3 * bj + j)] + R[3 * i + 1] * P[AT(3 * bi + 1, 3 * bj + j)] +
                         R[3 * i + 2] * P[AT(3 * bi + 2, 3 * bj + j)];
      for (int i = 0; i < 3; i++)
        for (int j = 0; j < (bi == bj ? i + 1 : 3); j++)
          G[AT(3 * bi + i, 3 * bj + j)] = M[3 * i] * R[3 * j] + M[3 * i + 1] * R[3 * j + 1] + M[3 * i + 2] * R[3 * j + 2];
    }
}
/* G = Rz P Rz': only rows and columns x, y of each block move */
INLINE void inertia_turn_z(real c, real s, const real P[21], real G[21]) {
  real T[21];
  for (int i = 0; i < 21; i++) T[i] = P[i];
  for (int a = 0; a < 2; a++) {
    const int x = 3 * a, y = 3 * a + 1;
    for (int j = 0; j < 6; j++) {
      if (j == x || j == y) continue;
      const real px = T[AT(x, j)], py = T[AT(y, j)];
      T[AT(x, j)] = c * px - s * py;
      T[AT(y, j)] = s * px + c * py;
    }
    const real xx = T[AT(x, x)], yy = T[AT(y, y)], xy = T[AT(x, y)];
    const real cs = c * s, turn = 2.0 * cs * xy, cc = c * c, ss = s * s;
    T[AT(x, x)] = cc * xx - turn + ss * yy;
    T[AT(y, y)] = ss * xx + turn + cc * yy;
    T[AT(x, y)] = cs * (xx - yy) + (cc - ss) * xy;
  }
  for (int i = 0; i < 21; i++) G[i] = T[i];
}
/* S += phi(l) G phi(l)': carry a spatial inertia from the point l away to the origin.
 * With G = [A C; C' D]:  A + l~C' + C l~' + l~D l~',  C + l~D,  D. Only the lower triangle is written. */
INLINE void inertia_shift_add(const real l[3], const real G[21], real S[21]) {
  real U[9]; /* U = C + l~ D, rows angular, columns linear */
  for (int j = 0; j < 3; j++) {
    const real d[3] = {G[AT(3, 3 + j)], G[AT(4, 3 + j)], G[AT(5, 3 + j)]};
    U[j] = G[AT(3 + j, 0)] + l[1] * d[2] - l[2] * d[1];
    U[3 + j] = G[AT(3 + j, 1)] + l[2] * d[0] - l[0] * d[2];
    U[6 + j] = G[AT(3 + j, 2)] + l[0] * d[1] - l[1] * d[0];
  }
  for (int i = 0; i < 3; i++) {
    const real *u = U + 3 * i;
    /* row i of U l~' + (l~ C')_ij */
    const real ul[3] = {l[1] * u[2] - l[2] * u[1], l[2] * u[0] - l[0] * u[2], l[0] * u[1] - l[1] * u[0]};
    for (int j = 0; j <= i; j++) {
      const int a = (i + 1) % 3, b = (i + 2) % 3;
      const real lc = l[a] * G[AT(3 + b, j)] - l[b] * G[AT(3 + a, j)];
      S[AT(i, j)] += G[AT(i, j)] + ul[j] + lc;
    }
    for (int j = 0; j < 3; j++) S[AT(3 + j, i)] += u[j];
  }
  for (int i = 3; i < 6; i++)
    for (int j = 3; j <= i; j++) S[AT(i, j)] += G[AT(i, j)];
}

/* Cholesky factor of a packed n x n matrix in place, inverse diagonal; returns the smallest pivot met. */
INLINE real cholesky_packed(real *L, int n) {
  real least = splat(1e300);
  for (int j = 0; j < n; j++) {
    real d = L[AT(j, j)];
    for (int q = 0; q < j; q++) d -= L[AT(j, q)] * L[AT(j, q)];
    least = lane_min(d, least);
    const real inverse = 1.0 / lane_sqrt(d);
    L[AT(j, j)] = inverse;
    for (int i = j + 1; i < n; i++) {
      real v = L[AT(i, j)];
      for (int q = 0; q < j; q++) v -= L[AT(i, q)] * L[AT(j, q)];
      L[AT(i, j)] = v * inverse;
    }
  }
  return least;
}
