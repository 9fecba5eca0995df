/* soft.inl - rows of everything stiff between bodies, for implicit stages: springs, bushings, contacts and elastic shafts.
 *
 * A law's relative velocities are y = W_A V_A + W_B V_B, one to six of them, and its force on them changes by -(K dx + D dy).
 * A stage with gamma h = g adds W'(g D + g^2 K)W to M, and K dq + D du is taken off the force. With g D + g^2 K = L L' the rows
 * L' W are what constraints/soft_answer.inl asks for. K and D are those at the stage's state, symmetric; what turns the line of a
 * force, and what friction owes to the pressure, stays explicit: the methods keep their order with any such choice. */

/* Relative velocities of an element that is at work, and its stiffness and damping [n][n]. */
typedef struct {
  int n;
  real A[6][6], B[6][6];
  real K[36], D[36];
} soft_law;

/* slope of a table at x */
static real table_slope(const double *t, int n, real x) {
  int i = 0;
  while (i + 2 < n && x >= t[2 * i + 2]) i++;
  return (t[2 * i + 3] - t[2 * i + 1]) / (t[2 * i + 2] - t[2 * i]);
}

/* velocity of B from A along t, both at their origins */
static void soft_slide(soft_law *law, int i, const real t[3]) {
  for (int j = 0; j < 3; j++) law->A[i][3 + j] = -t[j], law->B[i][3 + j] = t[j];
}

static void spring_soft(element_state *x, soft_law *law) {
  const double *c = x->e->c, *tables = c + SPRING_TABLES;
  const int n1 = x->e->n1, n2 = x->e->n2, both = c[SPRING_ONLY] == 0.0;
  const real stretch = x->value[0] - c[SPRING_LENGTH];
  const real k = n1 > 0 ? table_slope(tables, n1, stretch) : c[SPRING_K];
  const real d = n2 > 0 ? table_slope(tables + 2 * n1, n2, x->value[1]) : c[SPRING_D];
  real e[3], line[3];
  if (!both && x->value[2] == 0.0) return; /* slack */
  line_between(x, e, line);
  if (c[SPRING_LENGTH] == 0.0 && n1 == 0 && both) { /* pulls back from every side, but drags along the line */
    law->n = 3;
    for (int i = 0; i < 3; i++) {
      const real t[3] = {i == 0, i == 1, i == 2};
      soft_slide(law, i, t);
      for (int j = 0; j < 3; j++) law->K[3 * i + j] = i == j ? k : 0.0, law->D[3 * i + j] = d * e[i] * e[j];
    }
    return;
  }
  law->n = 1, law->K[0] = k, law->D[0] = d;
  soft_slide(law, 0, e);
}

static void bushing_soft(const element_state *x, soft_law *law) {
  const end_frame *A = &x->A;
  real r[3];
  minus(x->B.r, A->r, r);
  law->n = 6;
  for (int i = 0; i < 3; i++) {
    const real a[3] = {A->A[i], A->A[3 + i], A->A[6 + i]};
    for (int j = 0; j < 3; j++) law->A[i][j] = -a[j], law->B[i][j] = a[j];
    soft_slide(law, 3 + i, a);
    cross(a, r, law->A[3 + i]);
  }
  for (int i = 0; i < 36; i++) law->K[i] = x->e->c[i], law->D[i] = x->e->c[36 + i];
}

/* two unit vectors across n, the first along `slip` if that is any */
static void across(const real n[3], const real slip[3], real t[2][3]) {
  const real size = dot(slip, slip);
  if (size > 0.0)
    for (int i = 0; i < 3; i++) t[0][i] = slip[i] / sqrt(size);
  else {
    const int least = fabs(n[0]) < 0.6 ? 0 : 1;
    const real axis[3] = {least == 0, least == 1, 0};
    cross(n, axis, t[0]);
    const real inverse = 1.0 / sqrt(dot(t[0], t[0]));
    for (int i = 0; i < 3; i++) t[0][i] *= inverse;
  }
  cross(n, t[0], t[1]);
}

static void contact_soft(element_state *x, soft_law *law) {
  const double *c = x->e->c, p = c[CONTACT_POWER];
  const real f = x->value[2], delta = -x->value[0];
  real n[3], touch[3], slip[3], other[3], t[2][3];
  if (!(f > 0.0)) return; /* open, or it would pull */
  contact_gap(x, n, touch);
  const real power = pow(delta, p), slope = p * power / delta;
  const int hunt = c[CONTACT_LAW] != 0.0;
  contact_slip(x, n, touch, slip);
  across(n, slip, t);
  const real size2 = dot(slip, slip) + c[CONTACT_SLIP] * c[CONTACT_SLIP], drag = c[CONTACT_MU] * f / sqrt(size2);
  law->n = c[CONTACT_MU] > 0.0 ? 3 : 1;
  for (int i = 0; i < law->n; i++) {
    const real *along = i == 0 ? n : t[i - 1];
    for (int j = 0; j < 3; j++) law->A[i][3 + j] = along[j], law->B[i][3 + j] = -along[j], other[j] = -c[CONTACT_RADIUS] * n[j];
    cross(other, along, law->A[i]), cross(along, touch, law->B[i]);
  }
  law->K[0] = hunt ? f / power * slope : c[CONTACT_K] * slope;
  law->D[0] = hunt ? c[CONTACT_D] * power : c[CONTACT_D];
  if (law->n == 3) law->D[4] = drag * c[CONTACT_SLIP] * c[CONTACT_SLIP] / size2, law->D[8] = drag;
}

/* S = L L' of a semi-definite matrix, lower triangle in place; a pivot that is rounding is zero. 0: it is not definite. */
static int soft_root(int n, real *S) {
  real largest = 0.0;
  for (int i = 0; i < n; i++) largest = S[n * i + i] > largest ? S[n * i + i] : largest;
  for (int j = 0; j < n; j++) {
    if (S[n * j + j] < -1e-12 * largest) return 0;
    const real root = S[n * j + j] > 1e-14 * largest ? sqrt(S[n * j + j]) : 0.0;
    for (int i = j; i < n; i++) S[n * i + j] = root > 0.0 ? S[n * i + j] / root : 0.0;
    for (int i = j + 1; i < n; i++)
      for (int e = j + 1; e <= i; e++) S[n * i + e] -= S[n * i + j] * S[n * e + j];
  }
  return 1;
}

/* The last n rows of W: f -= W'(K W dq + D W du), then L' W in their place. What pushes away stays explicit. */
static void soft_take(bough_soft *soft, int nu, int n, const real *K, const real *D, double gh, const real *dq, const real *du, real *f) {
  real *W = soft->W + (size_t)soft->count * (size_t)nu, S[36], x[6], y[6];
  for (int i = 0; i < n * n; i++) S[i] = gh * (D[i] + gh * K[i]);
  if (!soft_root(n, S)) return;
  for (int i = 0; i < n; i++) {
    const real *row = W + i * nu;
    x[i] = y[i] = 0.0;
    for (int j = 0; j < nu; j++) x[i] += row[j] * dq[j], y[i] += row[j] * du[j];
  }
  for (int i = 0; i < n; i++) {
    real force = 0.0;
    for (int e = 0; e < n; e++) force += K[n * i + e] * x[e] + D[n * i + e] * y[e];
    for (int j = 0; j < nu; j++) f[j] -= W[i * nu + j] * force;
  }
  for (int e = 0; e < n; e++) /* row e of L' needs rows from e on */
    for (int j = 0; j < nu; j++) {
      real v = 0.0;
      for (int i = e; i < n; i++) v += S[n * i + e] * W[i * nu + j];
      W[e * nu + j] = v;
    }
  soft->count += n;
}

static int end_body(const bough_model *m, const bough_end *e) { return e->node < 0 ? -1 : m->node[e->node].body; }

/* Room for n rows, clear, between two bodies; null: there is none. */
static real *soft_room(bough_soft *soft, int nu, int n, int first, int second) {
  if (soft->count + n > soft->most) return NULL;
  real *W = soft->W + (size_t)soft->count * (size_t)nu;
  memset(W, 0, (size_t)(n * nu) * sizeof(real));
  for (int i = 0; i < n; i++) soft->body[soft->count + i][0] = first, soft->body[soft->count + i][1] = second;
  return W;
}

static void soft_shafts(bough_soft *soft, const bough_model *m, const double *flank, double gh, const real *dq, const real *du, real *f) {
  for (int j = 0; j < m->n_gears; j++) {
    const bough_gear *g = m->gear + j;
    if (g->play > 0.0 && flank[j] == 0.0) continue;
    real *W = soft_room(soft, m->nu, 1, bough_body_of_speed(m, g->dof[0]), bough_body_of_speed(m, g->dof[1]));
    if (!W) return;
    W[g->dof[0]] = 1.0 / g->ratio, W[g->dof[1]] = -1.0;
    soft_take(soft, m->nu, 1, &g->k, &g->d, gh, dq, du, f);
  }
}

static void soft_element(bough_soft *soft, const bough_sweep *s, sweep_work *w, element_state *x, double gh, const real *dq,
                         const real *du, real *f) {
  const bough_model *m = s->model;
  const bough_element *e = x->e;
  soft_law law = {0};
  if (e->type == ELEMENT_SPRING) spring_soft(x, &law);
  if (e->type == ELEMENT_BUSHING) bushing_soft(x, &law);
  if (e->type == ELEMENT_CONTACT) contact_soft(x, &law);
  real *W = law.n > 0 ? soft_room(soft, m->nu, law.n, end_body(m, &e->a), end_body(m, &e->b)) : NULL;
  if (!W) return;
  for (int i = 0; i < law.n; i++) {
    end_row_add(s, w, &e->a, &x->A, law.A[i], W + i * m->nu, NULL);
    end_row_add(s, w, &e->b, &x->B, law.B[i], W + i * m->nu, NULL);
  }
  soft_take(soft, m->nu, law.n, law.K, law.D, gh, dq, du, f);
}

void bough_soft_rows(bough_soft *soft, const bough_sweep *kin, void *work, const double *flank, double gh, const double *q,
                     const double *u, const double *dq, const double *du, double *f) {
  const bough_model *m = kin->model;
  int framed = 0;
  soft->count = 0;
  soft_shafts(soft, m, flank, gh, dq, du, f);
  for (int i = 0; i < m->n_elements; i++) {
    element_state x = {0};
    x.e = m->element + i;
    if (bough_soft_rows_of_element(x.e) == 0) continue;
    if (!framed) element_frames(kin, work, q, u), framed = 1;
    element_act(kin, work, &x, u, NULL);
    soft_element(soft, kin, work, &x, gh, dq, du, f);
  }
}
