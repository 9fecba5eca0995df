/* soft_answer.inl - the answer of a mechanism whose inertia has grown by W' W: stiffness and damping between bodies in an
 * implicit stage.
 *
 * With X = M^-1 - M^-1 J' A^+ J M^-1, the answer of the tree with its loops closed, and x_0 = X F + ... what they do without W,
 *   (M + W' W) x = F + J' lambda   becomes   x = x_0 - X W' nu,   (1 + W X W') nu = W x_0         (Woodbury)
 * Rows of W are treated as those of J: whitened innovations Y give W M^-1 W' = Y Y' and B = W M^-1 J'. The matrix is
 * not less than one, whatever the rows are: soft and stiff, parallel to each other and to loops. */

/* A = 1 + W M^-1 W' and B; before `multipliers`, which uses the innovations of J for other things */
static void soft_products(const bough_sweep *s, sweep_work *w, constraint_work *c, const bough_soft *soft) {
  const bough_model *m = s->model;
  const size_t nu = (size_t)m->nu, most = (size_t)soft->most, rows = (size_t)m->n_rows;
  for (int i = 0; i < soft->count; i++) {
    double *A = soft->A + (size_t)i * most, *B = soft->B + (size_t)i * rows, *y = soft->Y + (size_t)i * nu;
    inward_path path = {2, {soft->body[i][0], soft->body[i][1]}};
    row_innovations(s, w, c->z, path, soft->W + (size_t)i * nu, y);
    for (int j = 0; j <= i; j++) A[j] = i == j;
    for (int j = 0; j < m->n_rows; j++) B[j] = 0.0;
    for (int k = path_next(m, &path); k >= 0; k = path_next(m, &path)) {
      for (int j = 0; j <= i; j++) A[j] += body_product(m->body + k, y, soft->Y + (size_t)j * nu);
      for (int j = 0; j < m->n_rows; j++) B[j] += body_product(m->body + k, y, c->Y + (size_t)j * nu);
    }
  }
}

/* A -= B A_J^+ B': loops stay closed. T = L^-1 B' in the order of the pivots. */
static void soft_close(const bough_model *m, constraint_work *c, const bough_soft *soft) {
  const size_t most = (size_t)soft->most, rows = (size_t)m->n_rows;
  for (int i = 0; i < soft->count; i++) {
    const double *B = soft->B + (size_t)i * rows;
    double *T = soft->T + (size_t)i * rows, *A = soft->A + (size_t)i * most;
    for (int g = 0; g < c->groups.count; g++) {
      const group_range r = group_at(c, g);
      for (int p = r.first; p < r.end; p++) T[p] = B[c->order[p]] / c->diagonal[c->order[p]];
      solve_lower(m, c, r, T);
      for (int j = 0; j <= i; j++)
        for (int p = r.first; p < r.end; p++) A[j] -= T[p] * soft->T[(size_t)j * rows + (size_t)p];
    }
  }
}

/* x <- A^-1 x by Cholesky, which leaves its factor in A */
static void soft_solve(const bough_soft *soft, double *x) {
  const size_t most = (size_t)soft->most;
  for (int i = 0; i < soft->count; i++) {
    double *Li = soft->A + (size_t)i * most;
    int first = 0; /* rows that share no body with this one come before: they fill nothing in */
    while (first < i && Li[first] == 0.0) first++;
    for (int j = first; j <= i; j++) {
      const double *Lj = soft->A + (size_t)j * most;
      double v = Li[j];
      for (int e = first; e < j; e++) v -= Li[e] * Lj[e];
      Li[j] = j < i ? v / Lj[j] : sqrt(v > 1.0 ? v : 1.0);
    }
    for (int j = first; j < i; j++) x[i] -= Li[j] * x[j];
    x[i] /= Li[i];
  }
  for (int i = soft->count; i-- > 0;) {
    for (int j = i + 1; j < soft->count; j++) x[i] -= soft->A[(size_t)j * most + (size_t)i] * x[j];
    x[i] /= soft->A[(size_t)i * most + (size_t)i];
  }
}

/* tau = -W' nu; lambda anew, such that loops stay closed under it. x: the answer of the tree. */
static void soft_forces(const bough_model *m, constraint_work *c, const bough_soft *soft, const double *x) {
  const size_t nu = (size_t)m->nu, rows = (size_t)m->n_rows;
  double *nus = soft->x;
  for (int i = 0; i < soft->count; i++) {
    const double *W = soft->W + (size_t)i * nu, *B = soft->B + (size_t)i * rows;
    nus[i] = 0.0;
    for (int j = 0; j < m->nu; j++) nus[i] += W[j] * x[j];
    for (int j = 0; j < m->n_rows; j++) nus[i] += B[j] * c->lambda[j];
  }
  soft_close(m, c, soft);
  soft_solve(soft, nus);
  for (int i = 0; i < soft->count; i++) {
    const double *W = soft->W + (size_t)i * nu, *B = soft->B + (size_t)i * rows;
    for (int j = 0; j < m->nu; j++) c->tau[j] -= W[j] * nus[i];
    for (int j = 0; j < m->n_rows; j++) c->b[j] += B[j] * nus[i];
  }
  if (m->n_rows > 0) multipliers(m, c);
}
