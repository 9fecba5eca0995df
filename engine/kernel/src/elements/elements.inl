/* elements.inl - all forces of a mechanism at a point: generalized forces, values, potential. */

static void element_act(const bough_sweep *s, sweep_work *w, element_state *x, const real *u, const real *loads) {
  const bough_element *e = x->e;
  const real *input = loads && e->input >= 0 ? loads + 6 * e->input : NULL;
  for (int i = 0; i < 6; i++) x->on_A[i] = x->on_B[i] = splat(0);
  for (int i = 0; i < BOUGH_ELEMENT_VALUES; i++) x->value[i] = splat(0);
  x->potential = splat(0);
  if (e->type == ELEMENT_WHEEL) { /* exerts nothing: its momentum is told */
    x->value[0] = e->c[0] * u[s->model->body[e->n1].u0];
    return;
  }
  end_in_space(s, w, &e->a, &x->A), end_in_space(s, w, &e->b, &x->B);
  switch (e->type) {
    case ELEMENT_SPRING: spring_act(x); break;
    case ELEMENT_ACTUATOR: actuator_act(x, input); break;
    case ELEMENT_BUSHING: bushing_act(x); break;
    case ELEMENT_CONTACT: contact_act(x); break;
    default: /* a load in node axes */
      if (input) rotate(x->A.A, input, x->on_A), rotate(x->A.A, input + 3, x->on_A + 3);
  }
}

/* frames and velocities of all bodies */
static void element_frames(const bough_sweep *s, sweep_work *w, const real *q, const real *u) {
  for (int k = 0; k < s->model->nb; k++) {
    outward_frame(s, w, k, q, u, NULL);
    attitude_update(s, k, w);
    kinematic_motion(s, w, k, u);
    for (int i = 0; i < 6; i++) w->body[k].alpha[i] = splat(0);
    for (int r = 0; r < s->model->body[k].nm; r++) w->body[k].xiddot[r] = splat(0);
  }
}

/* tau and through of everything that acts; value [element_values] and energy [2] (gravity of the field, springs) unless null */
static void elements(const bough_sweep *s, void *work, void *elements_, const void *q_, const void *u_, const void *loads,
                     void *value, void *energy_) {
  sweep_work *w = work;
  element_work *ew = elements_;
  const bough_model *m = s->model;
  const real *q = q_, *u = u_;
  real *energy = energy_;
  memset(ew->tau, 0, (size_t)m->nu * sizeof(real)), memset(ew->through, 0, 6 * (size_t)m->nb * sizeof(real));
  element_frames(s, w, q, u);
  for (int i = 0; i < m->n_elements; i++) {
    element_state x = {0};
    x.e = m->element + i;
    element_act(s, w, &x, u, loads);
    end_wrench_add(s, w, ew, &x.e->a, &x.A, x.on_A), end_wrench_add(s, w, ew, &x.e->b, &x.B, x.on_B);
    for (int j = 0; value && j < bough_element_types[x.e->type].values; j++) ((real *)value)[x.e->value0 + j] = x.value[j];
    if (energy) energy[1] += x.potential;
  }
  for (int k = 0; m->field && k < m->nb; k++) {
    const real V = field_body(s, w, ew, k);
    if (energy) energy[0] += V;
  }
  wrenches_inward(s, w, ew);
}

static bough_element_view element_view(const void *elements_) {
  const element_work *w = elements_;
  const bough_element_view v = {w->tau, w->through};
  return v;
}
