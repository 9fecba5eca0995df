/* two_port.inl - modes of a ruthless body with at most one outboard hinge: (63)-(64) by the inversion lemma, (76)-(78), in
 * the form that never inverts Gamma:
 *   G~ = Gamma - Gamma Theta (1 + Theta' Gamma Theta)^-1 Theta' Gamma,    Omega = Pi Pi' = Theta Theta'
 *   P_R = Meff + Psi G~ Psi'
 *   z~ = z^+ + G~ (Pi eps_f - Omega z^+),    z_R = b + F eps_f + Psi z~
 * and outward, with the force at the port f = z~ + G~ Psi' alpha:
 *   xiddot = eps_f - F' alpha - Pi' f,    alpha_port = Psi' alpha + Pi (eps_f - Pi' f).
 * n is 5 behind a free revolute hinge (the row and column of z of Gamma vanish, since H P^+ = 0), else 6; at most `rank` =
 * nm columns of Theta are not zero. Both are constants where this is inlined: the loops unroll. */

/* the port's row of z is exactly zero: revolute, free, and nothing added to its diagonal */
INLINE int port_has_no_z(const bough_sweep *s, const bough_body *c) {
  return c->revolute && !s->held[c->u0] && s->hinge_mass[c->u0] == 0.0;
}

/* G holds Gamma, both halves; it becomes G~ there, and packed in Gt for the outward sweep */
INLINE void port_inertia(const double *Theta, const int n, const int rank, real G[6][6], real Gt[21]) {
  real U[6][6], S[6][6], inverse[6];
  for (int i = 0; i < n; i++) /* U = Gamma Theta */
    for (int j = 0; j < rank; j++) {
      real v = G[i][j] * Theta[LOWER(j, j)];
      for (int q = j + 1; q < n; q++) v += G[i][q] * Theta[LOWER(q, j)];
      U[i][j] = v;
    }
  for (int i = 0; i < rank; i++) /* S = 1 + Theta' U, lower triangle */
    for (int j = 0; j <= i; j++) {
      real v = splat(i == j);
      for (int q = i; q < n; q++) v += Theta[LOWER(q, i)] * U[q][j];
      S[i][j] = v;
    }
  for (int j = 0; j < rank; j++) { /* S = L diag L', U <- U L^-T */
    inverse[j] = 1.0 / S[j][j];
    for (int i = j + 1; i < rank; i++) {
      const real f = S[i][j] * inverse[j];
      for (int q = j + 1; q <= i; q++) S[i][q] -= f * S[q][j];
      for (int q = 0; q < n; q++) U[q][i] -= f * U[q][j];
    }
  }
  for (int i = 0; i < n; i++) /* G~ = Gamma - U diag^-1 U' */
    for (int j = 0; j <= i; j++) {
      real v = G[i][j];
      for (int q = 0; q < rank; q++) v -= (U[i][q] * inverse[q]) * U[j][q];
      G[i][j] = G[j][i] = Gt[AT(i, j)] = v;
    }
}

/* P_R = Meff + Psi G~ Psi' */
INLINE void port_congruence(const double *Meff, const double *Psi, const int n, real G[6][6], real P_R[21]) {
  real Y[6][6];
  for (int i = 0; i < 6; i++) /* Y = Psi G~ */
    for (int j = 0; j < n; j++) {
      real v = Psi[6 * i] * G[0][j];
      for (int q = 1; q < n; q++) v += Psi[6 * i + q] * G[q][j];
      Y[i][j] = v;
    }
  for (int i = 0; i < 6; i++)
    for (int j = 0; j <= i; j++) {
      real v = splat(Meff[AT(i, j)]);
      for (int q = 0; q < n; q++) v += Y[i][q] * Psi[6 * j + q];
      P_R[AT(i, j)] = v;
    }
}

/* z^+ becomes z~ = z^+ + G~ (Pi eps_f - Omega z^+) in its place */
INLINE void port_force(const double *Theta, const int n, const int rank, real G[6][6], const real Pi_eps[6],
                       port_work *port) {
  real z[6], d[6], *z_tilde = port->at.z_tilde;
  for (int i = 0; i < 6; i++) z[i] = port->at.z_plus[i], d[i] = Pi_eps[i];
  for (int j = 0; j < rank; j++) { /* Omega z = Theta (Theta' z) */
    real v = Theta[LOWER(j, j)] * z[j];
    for (int q = j + 1; q < 6; q++) v += Theta[LOWER(q, j)] * z[q];
    for (int q = j; q < n; q++) d[q] -= Theta[LOWER(q, j)] * v;
  }
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++) z_tilde[i] += G[i][j] * d[j];
}

/* the modes of b, from what its child handed over: P_R, and Psi z~ onto z_R */
INLINE void two_port(const bough_body *b, const int n, const int rank, const real Pi_eps[6], port_work *port, real P_R[21],
                     real z_R[6]) {
  const double *Psi = b->two_port->Psi, *Theta = b->two_port->Theta;
  const real *z_tilde = port->at.z_tilde;
  real G[6][6];
  for (int i = 0; i < n; i++)
    for (int j = 0; j <= i; j++) G[i][j] = G[j][i] = port->inertia.Gamma[AT(port_order[i], port_order[j])];
  port_inertia(Theta, n, rank, G, port->inertia.G);
  port_congruence(b->Meff, Psi, n, G, P_R);
  port_force(Theta, n, rank, G, Pi_eps, port);
  for (int i = 0; i < 6; i++)
    for (int q = 0; q < 6; q++) z_R[i] += Psi[6 * i + q] * z_tilde[q];
}

INLINE void eliminate_two_port(const bough_sweep *s, const bough_body *b, body_work *x) {
  const int nm = b->nm;
  const double *F0 = b->F0, *Pi = b->two_port->Pi, *Meff = b->Meff;
  const real *eps = x->f.eps;
  real F_eps[6], Pi_eps[6], *P_R = x->sum->P, *z_R = x->sum->z;
  port_work *port = x->port;
  for (int i = 0; i < 6; i++) F_eps[i] = Pi_eps[i] = splat(0);
  for (int r = 0; r < nm; r++)
    for (int i = 0; i < 6; i++) F_eps[i] += F0[6 * r + i] * eps[r], Pi_eps[i] += Pi[6 * r + i] * eps[r];
  for (int i = 0; i < 6; i++) z_R[i] += F_eps[i];
  if (b->only_child < 0) {
    for (int i = 0; i < 21; i++) P_R[i] = splat(Meff[i]);
    return;
  }
  if (port_has_no_z(s, s->model->body + b->only_child)) {
    switch (nm) {
      case 1: two_port(b, 5, 1, Pi_eps, port, P_R, z_R); break;
      case 2: two_port(b, 5, 2, Pi_eps, port, P_R, z_R); break;
      case 3: two_port(b, 5, 3, Pi_eps, port, P_R, z_R); break;
      case 4: two_port(b, 5, 4, Pi_eps, port, P_R, z_R); break;
      default: two_port(b, 5, 5, Pi_eps, port, P_R, z_R);
    }
  } else if (nm >= 6)
    two_port(b, 6, 6, Pi_eps, port, P_R, z_R);
  else
    two_port(b, 6, nm, Pi_eps, port, P_R, z_R);
}

/* P_R^+ and z_R^+ of the child b to the port of its parent */
INLINE void hand_to_port(const bough_body *b, const real P_plus[21], const real z_plus[6], const body_work *x,
                         port_work *port) {
  real f[6];
  if (b->revolute) {
    const real c = x->turn.cosine, sine = x->turn.sine;
    inertia_turn_z(c, sine, P_plus, port->inertia.Gamma);
    turn_z(c, sine, z_plus, f), turn_z(c, sine, z_plus + 3, f + 3);
  } else {
    inertia_rotate(x->R, P_plus, port->inertia.Gamma);
    rotate(x->R, z_plus, f), rotate(x->R, z_plus + 3, f + 3);
  }
  for (int i = 0; i < 6; i++) port->at.z_plus[i] = f[port_order[i]];
}

/* v = Psi' alpha, and the force at the port, f = z~ + G~ v */
INLINE void unfold_port(const bough_body *b, const int n, const body_work *x, real v[6], real f[6]) {
  const double *Psi = b->two_port->Psi;
  const real *z = x->port->at.z_tilde, *G = x->port->inertia.G, *alpha = x->alpha;
  for (int i = 0; i < 6; i++) v[i] = splat(0), f[i] = z[i];
  for (int j = 0; j < 6; j++)
    for (int i = 0; i < 6; i++) v[i] += Psi[6 * j + i] * alpha[j];
  for (int i = 0; i < n; i++) { /* row by row of the triangle */
    const real *row = G + AT(i, 0);
    real sum = f[i] + row[i] * v[i];
    for (int j = 0; j < i; j++) f[j] += row[j] * v[i], sum += row[j] * v[j];
    f[i] = sum;
  }
}

/* xiddot of the modes of b from alpha, and the acceleration of the port, which its child takes from there */
INLINE void unfold_two_port(const bough_sweep *s, const bough_body *b, body_work *x, real *xiddot) {
  const real *eps = x->f.eps, *alpha = x->alpha;
  const double *F0 = b->F0, *Pi0 = b->two_port->Pi;
  real v[6], f[6]; /* in the port's order */
  for (int i = 0; i < 6; i++) v[i] = f[i] = splat(0);
  if (b->only_child >= 0) {
    if (port_has_no_z(s, s->model->body + b->only_child))
      unfold_port(b, 5, x, v, f);
    else
      unfold_port(b, 6, x, v, f);
  }
  for (int r = 0; r < b->nm; r++) {
    const double *F = F0 + 6 * r, *Pi = Pi0 + 6 * r;
    real own = splat(0), pull = splat(0);
    for (int i = 0; i < 6; i++) own += F[i] * alpha[i], pull += Pi[i] * f[i];
    const real pushed = eps[r] - pull;
    for (int i = 0; i < 6; i++) v[i] += Pi[i] * pushed;
    xiddot[r] = pushed - own;
  }
  real *port_alpha = x->port->at.alpha;
  for (int i = 0; i < 6; i++) port_alpha[i] = v[i];
}
