/* groups.inl - which bodies a row of J touches, and which rows touch each other.
 *
 * A row touches the bodies from its ends to the base. A(i, j) = J_i M^-1 J_j' is zero where no body with a DOF is on both paths,
 * and paths end at the base: so rows meet if and only if they meet at the innermost such body of a branch, their anchor. Loops
 * that stand apart on the ground are groups of their own; those on a base that moves are one. A is factorized group by group:
 * the work is cubic in the rows of a group only. */

/* The bodies from some bodies to the base, outermost first, each once. */
typedef struct {
  int count, body[BOUGH_TERMS_MAX];
} inward_path;
static int path_next(const bough_model *m, inward_path *p) {
  int k = -1;
  for (int i = 0; i < p->count; i++) k = p->body[i] > k ? p->body[i] : k;
  for (int i = 0; i < p->count; i++)
    if (p->body[i] == k && k >= 0) p->body[i] = m->body[k].parent;
  return k;
}
static inward_path path_of_row(const bough_model *m, int row) {
  const int owner = m->row_owner[row];
  inward_path p = {2, {-1, -1}};
  if (owner < m->n_closures) {
    const bough_closure *closure = m->closure + owner;
    if (closure->a.node >= 0) p.body[0] = m->node[closure->a.node].body;
    if (closure->b.node >= 0) p.body[1] = m->node[closure->b.node].body;
    return p;
  }
  const bough_coupling *coupling = m->coupling + (owner - m->n_closures);
  p.count = coupling->terms;
  for (int j = 0; j < coupling->terms; j++) p.body[j] = coupling->body[j];
  return p;
}

typedef struct {
  int count;      /* groups */
  int *member;    /* [rows] rows, group by group */
  int *first;     /* [rows + 1] where a group begins in it */
  int *of, *seen; /* [rows] group of a row; [nb] union-find over anchors */
} row_groups;

static int anchor_of(const bough_model *m, int k) {
  int anchor = -1;
  for (; k >= 0; k = m->body[k].parent)
    if (m->body[k].nh + m->body[k].nm > 0) anchor = k;
  return anchor;
}
static int group_root(const int *seen, int k) {
  while (seen[k] != k) k = seen[k];
  return k;
}
/* what stands for the anchors of the row, which become one; -1 if nothing can move */
static int row_anchor(const bough_model *m, int row, int *seen) {
  const inward_path path = path_of_row(m, row);
  int one = -1;
  for (int i = 0; i < path.count; i++) {
    const int anchor = anchor_of(m, path.body[i]);
    if (anchor < 0) continue;
    if (one >= 0) seen[group_root(seen, anchor)] = group_root(seen, one);
    one = anchor;
  }
  return one < 0 ? -1 : group_root(seen, one);
}

static void find_groups(const bough_model *m, row_groups *g) {
  const int n = m->n_rows;
  for (int k = 0; k < m->nb; k++) g->seen[k] = k;
  for (int i = 0; i < n; i++) row_anchor(m, i, g->seen);
  for (int i = 0; i < n; i++) g->member[i] = row_anchor(m, i, g->seen);
  g->count = 0;
  for (int i = 0; i < n; i++) { /* the group of the first row with this anchor, or a new one */
    g->of[i] = -1;
    for (int j = 0; g->member[i] >= 0 && j < i && g->of[i] < 0; j++)
      if (g->member[j] == g->member[i]) g->of[i] = g->of[j];
    if (g->of[i] < 0) g->of[i] = g->count++;
  }
  int at = 0;
  for (int e = 0; e < g->count; e++) {
    g->first[e] = at;
    for (int i = 0; i < n; i++)
      if (g->of[i] == e) g->member[at++] = i;
  }
  g->first[g->count] = at;
}
