/* spring.inl - springs, dampers and actuators along the line between two points.
 *
 * d = r_B - r_A, s = |d|, e = d/s, v = e.(v_B - v_A). The force f on B along e, and on A against it, pushes the ends apart:
 *   f = -K(s - c) - D(v)
 * K and D are linear or piecewise linear through the points of a table, continued beyond its ends; K is what pulls back.
 * One that only pulls (tension) is slack while s < c, and never pushes; one that only pushes is the mirror image.
 * Constants: k, d, c, only (0, -1 tension, 1 compression), then the tables (x, f) of K and D. */
enum { SPRING_K, SPRING_D, SPRING_LENGTH, SPRING_ONLY, SPRING_TABLES };

/* value of a table at x, and its integral from zero */
static real table_at(const double *t, int n, real x, real *integral) {
  const double at = lane_get(x, 0);
  int i = 0, o = 0; /* the pieces that hold x and zero; the last one from its second last point on */
  while (i + 2 < n && at >= t[2 * i + 2]) i++;
  while (o + 2 < n && 0.0 >= t[2 * o + 2]) o++;
#define SLOPE(j) ((t[2 * (j) + 3] - t[2 * (j) + 1]) / (t[2 * (j) + 2] - t[2 * (j)]))
  const real f = t[2 * i + 1] + SLOPE(i) * (x - t[2 * i]);
  if (integral) { /* trapezoids from zero to x; backwards they count negative */
    const double f0 = t[2 * o + 1] - SLOPE(o) * t[2 * o];
    double from = 0.0, value = f0, sum = 0.0;
    for (int j = o; j < i; j++) {
      sum += 0.5 * (t[2 * j + 2] - from) * (value + t[2 * j + 3]);
      from = t[2 * j + 2], value = t[2 * j + 3];
    }
    for (int j = o; j > i; j--) {
      sum += 0.5 * (t[2 * j] - from) * (value + t[2 * j + 1]);
      from = t[2 * j], value = t[2 * j + 1];
    }
    *integral = sum + 0.5 * (x - from) * (value + f);
  }
#undef SLOPE
  return f;
}

/* distance, unit vector and rate; where both ends are at one point there is no direction, and e is zero */
static void line_between(element_state *x, real e[3], real d[3]) {
  real v[3];
  minus(x->B.r, x->A.r, d), minus(x->B.v, x->A.v, v);
  const real size2 = dot(d, d);
  const int apart = lane_get(size2, 0) > 0.0;
  const real s = apart ? lane_sqrt(size2) : splat(0), inverse = apart ? 1.0 / s : splat(0);
  for (int i = 0; i < 3; i++) e[i] = d[i] * inverse;
  x->value[0] = s, x->value[1] = dot(e, v);
}

static void spring_act(element_state *x) {
  const double *c = x->e->c, *tables = c + SPRING_TABLES;
  const int n1 = x->e->n1, n2 = x->e->n2, only = (c[SPRING_ONLY] > 0.0) - (c[SPRING_ONLY] < 0.0);
  real e[3], d[3], potential = splat(0);
  line_between(x, e, d);
  const real stretch = x->value[0] - c[SPRING_LENGTH], v = x->value[1];
  const double taut = lane_get(stretch, 0);
  if ((only < 0 && taut <= 0.0) || (only > 0 && taut >= 0.0)) return; /* slack */
  const real pull = n1 > 0 ? table_at(tables, n1, stretch, &potential) : c[SPRING_K] * stretch;
  const real drag = n2 > 0 ? table_at(tables + 2 * n1, n2, v, NULL) : c[SPRING_D] * v;
  x->potential = n1 > 0 ? potential : 0.5 * c[SPRING_K] * stretch * stretch;
  real f = -pull - drag;
  if ((only < 0 && lane_get(f, 0) > 0.0) || (only > 0 && lane_get(f, 0) < 0.0)) f = splat(0);
  x->value[2] = f;
  if (c[SPRING_LENGTH] == 0.0 && n1 == 0 && only == 0) { /* smooth where the ends meet: -k d needs no direction */
    for (int i = 0; i < 3; i++) x->on_B[3 + i] = -c[SPRING_K] * d[i], x->on_A[3 + i] = c[SPRING_K] * d[i];
    f = -drag;
  }
  push_along(x, e, f);
}

static void actuator_act(element_state *x, const real *input) {
  real e[3], d[3];
  line_between(x, e, d);
  x->value[2] = input ? input[0] : splat(0);
  push_along(x, e, x->value[2]);
}
