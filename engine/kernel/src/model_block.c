/* model_block.c - read and check a model block.
 *
 * A block is one pointer-free, versioned run of bytes, little-endian:
 *   0  "BOUGHBLK"   8  u32 version   12  u32 0x01020304   16  u64 size in bytes   24  u32 CRC-32 of bytes 32..size
 *   32 i64 number of ints   40 i64 number of reals   48 zero   64 ints (i32), padded to 8 bytes, then reals (f64)
 * Ints:  nb nq nu n_nodes n_loads n_closures n_couplings n_terms n_elements
 * n_inputs (rows of loads that elements take) n_field (1: gravity of a point mass), then 15 per body (see read_body_ints), two per
 * node (its body, and the first node with the same tables), one per load, three per closure (type, nodes of its ends, -1 for
 * ground), one per coupling (its terms), one per term (its body), six per element (law, nodes of its ends, row of loads or -1,
 * points of its tables), three per body (rows, records of H and turning points), then two per body (the first body with the
 * same limits, its attach node, -1 of rigid ones).
 * Reals: gravity[3] damping[nu] stiffness[nu] rest[nu] armature[nu] held[nu], then per body, per two-port and per node as
 * read below, then (with constraints) the length of the mechanism, 40 per closure, offset and factors per coupling,
 * then 24 for the ends of each element, its constants and tables, and of the field mu and centre, then
 * points of flexible bodies (bough_points), then their limits (bough_limits). A body or node whose tables another one before it has got, too, does not bring them again.
 * Then friction, limits and gears: ints n_drives n_gears, three per drive (body, its DOF, kind of limit), two per gear (bodies
 * of rotor and hinge); reals 8 per drive, 5 per gear.
 * Nothing is trusted: every count, index and number is checked before it is used. */
#include <limits.h>
#include <string.h>

#include "elements/drives.h"
#include "internal.h"

enum { POINTS_MAX = 100000 };
enum { HEADER = 64, MODES_MAX = 2048, COUNT_MAX = 10000000, CONSTRAINTS_MAX = 2000 };
enum { INTS_FIXED = 11, INTS_BODY = 15, INTS_NODE = 2, INTS_CLOSURE = 3, INTS_ELEMENT = 6, INTS_LIMITS = 2, INTS_POINTS = 3 };
enum { INTS_DRIVE = 3, INTS_GEAR = 2 };
enum { TABLES_OF = 12, PORT_OF = 13 }; /* among the ints of a body */

typedef struct {
  const unsigned char *ints; /* at any address */
  const double *reals;
  int64_t n_ints, n_reals, i, r;
  int bad;
} reader;

/* int i of the block: one that was read and found good before */
static int int_again(const reader *s, int64_t i) {
  int32_t v;
  memcpy(&v, s->ints + 4 * i, 4);
  return v;
}
static int next_int(reader *s, int low, int high) {
  if (s->i >= s->n_ints) {
    s->bad = 1;
    return low;
  }
  int32_t v;
  memcpy(&v, s->ints + 4 * s->i++, 4);
  if (v < low || v > high) {
    s->bad = 1;
    return low;
  }
  return v;
}
static const double *next_reals(reader *s, int64_t count) {
  if (count < 0 || s->n_reals - s->r < count) {
    s->bad = 1;
    return s->reals;
  }
  const double *p = s->reals + s->r;
  s->r += count;
  return p;
}

static uint32_t crc32_of(const unsigned char *p, size_t n) {
  uint32_t table[256], crc = 0xffffffffu;
  for (uint32_t i = 0; i < 256; i++) {
    uint32_t c = i;
    for (int k = 0; k < 8; k++) c = (c & 1) ? 0xedb88320u ^ (c >> 1) : c >> 1;
    table[i] = c;
  }
  for (size_t i = 0; i < n; i++) crc = table[(crc ^ p[i]) & 0xff] ^ (crc >> 8);
  return crc ^ 0xffffffffu;
}

/* Header: sizes agree, checksum holds. Returns the counts. */
static int header_ok(const unsigned char *block, size_t size, int64_t *n_ints, int64_t *n_reals) {
  uint32_t version, endian, crc;
  uint64_t total;
  if (size < HEADER || memcmp(block, "BOUGHBLK", 8) != 0) return 0;
  memcpy(&version, block + 8, 4), memcpy(&endian, block + 12, 4);
  memcpy(&total, block + 16, 8), memcpy(&crc, block + 24, 4);
  memcpy(n_ints, block + 32, 8), memcpy(n_reals, block + 40, 8);
  if (version != BOUGH_BLOCK_VERSION || endian != 0x01020304u || total != size) return 0;
  if (*n_ints < INTS_FIXED || *n_ints > INT64_C(1) << 32 || *n_reals < 3 || *n_reals > INT64_C(1) << 40) return 0;
  const uint64_t body = (((uint64_t)*n_ints * 4 + 7) & ~UINT64_C(7)) + (uint64_t)*n_reals * 8;
  return body == size - HEADER && crc == crc32_of(block + 32, size - 32);
}

static unsigned char next_small(reader *s, int high) { return (unsigned char)next_int(s, 0, high); }

/* Code of the hinge type, and what its record says. */
static void read_hinge(reader *s, bough_body *b) {
  b->hinge = next_small(s, UCHAR_MAX);
  const bough_hinge_facts *type = bough_hinge(b->hinge);
  if (!type) {
    s->bad = 1;
    return;
  }
  b->nh = (unsigned char)type->nu, b->revolute = (unsigned char)type->revolute;
  b->slides = type->slides, b->quaternion = type->quaternion;
}

/* whether the outboard origin of a body's hinge moves in the inboard frame */
static int shifts(const bough_body *b) { return b->slides || bough_hinge(b->hinge)->advances; }

static void read_body_ints(reader *s, const bough_model *m, int k, bough_body *b) {
  b->parent = next_int(s, -1, k - 1);
  b->port_node = next_int(s, -1, m->n_nodes - 1);
  read_hinge(s, b);
  b->nm = next_int(s, 0, MODES_MAX);
  b->attach_node = next_int(s, -1, m->n_nodes - 1);
  b->user_basis = next_small(s, 1);
  b->full_damping = next_small(s, 1);
  b->rotary = next_small(s, 1);
  b->stiffened = next_small(s, 1);
  b->two_port_ok = next_small(s, 1);
  b->load_first = next_int(s, 0, m->n_loads);
  b->load_count = next_int(s, 0, m->n_loads - b->load_first);
  (void)next_int(s, 0, k); /* tables_of */
  (void)next_int(s, 0, k); /* port_of */
  b->ruthless = next_small(s, 1);
  if ((b->parent < 0) != (b->port_node < 0)) s->bad = 1;
  if (b->ruthless && b->attach_node >= 0) s->bad = 1; /* their tables are those of a clamped body */
}
/* The first body with the same tables of modes, the first with the same two-port, the first node with the same tables:
 * the place itself, or one before it. */
static int tables_of(const reader *s, int k) { return int_again(s, INTS_FIXED + (int64_t)INTS_BODY * k + TABLES_OF); }
static int port_of(const reader *s, int k) { return int_again(s, INTS_FIXED + (int64_t)INTS_BODY * k + PORT_OF); }
static int node_tables_of(const reader *s, const bough_model *m, int j) {
  return int_again(s, INTS_FIXED + (int64_t)INTS_BODY * m->nb + (int64_t)INTS_NODE * j + 1);
}

static void copy_reals(reader *s, int count, double *to) {
  const double *from = next_reals(s, count);
  if (!s->bad) memcpy(to, from, (size_t)count * sizeof *to);
}

/* the tables of the modes of an equal body */
static void share_tables(reader *s, const bough_body *from, bough_body *b) {
  if (from->nm != b->nm || from->user_basis != b->user_basis || from->full_damping != b->full_damping ||
      from->rotary != b->rotary || from->stiffened != b->stiffened || from->ruthless != b->ruthless ||
      (from->attach_node < 0) != (b->attach_node < 0)) {
    s->bad = 1;
    return;
  }
  b->k = from->k, b->d = from->d, b->T = from->T, b->Tinv = from->Tinv, b->Mff0 = from->Mff0, b->Meff = from->Meff;
  b->F0 = from->F0, b->N0 = from->N0, b->NF1 = from->NF1, b->Z = from->Z, b->E1 = from->E1;
}

static void read_body_reals(reader *s, const bough_model *m, int k, const bough_points *points, bough_body *b) {
  const int64_t nm = b->nm;
  const int rows = points->rows > 0;
  const int first = tables_of(s, k);
  copy_reals(s, 9, b->Q);
  b->r = next_reals(s, 3);
  b->hinge_constants = next_reals(s, bough_hinge(b->hinge)->constants);
  b->axes = next_reals(s, 9);
  b->inertia = (const bough_inertia *)(const void *)next_reals(s, sizeof(bough_inertia) / sizeof(double));
  copy_reals(s, 3, b->wheel);
  if (nm == 0) return;
  if (first != k) {
    share_tables(s, m->body + first, b);
    return;
  }
  b->k = next_reals(s, nm);
  b->d = next_reals(s, b->full_damping ? nm * nm : nm);
  if (b->user_basis) b->T = next_reals(s, nm * nm), b->Tinv = next_reals(s, nm * nm);
  if (!rows && (b->attach_node >= 0 || points->turning > 0)) b->Mff0 = next_reals(s, nm * nm);
  b->F0 = next_reals(s, 6 * nm);
  b->N0 = next_reals(s, 6 * nm);
  if (b->ruthless) b->Meff = next_reals(s, 21);
  const int64_t F1 = b->rotary || b->stiffened ? 3 : 0; /* that is not known from its mirror image */
  if (!rows && (!b->ruthless || b->stiffened)) b->NF1 = next_reals(s, nm * (nm - 1) / 2 * (9 + F1) + nm * (6 + F1));
  if (!b->ruthless && b->rotary) b->Z = next_reals(s, nm * (nm * (nm + 1) / 2));
  if (!rows && b->stiffened) b->E1 = next_reals(s, 3 * nm * nm);
}

static void read_point_ints(reader *s, bough_model *m, bough_points *points) {
  for (int k = 0; k < m->nb; k++) {
    const bough_body *b = m->body + k;
    bough_points *p = points + k;
    p->rows = next_int(s, 0, POINTS_MAX), p->bends = next_int(s, 0, COUNT_MAX), p->turning = next_int(s, 0, POINTS_MAX);
    if (p->rows % 4 || p->turning % 4 || (p->bends > 0 && p->rows == 0)) s->bad = 1;
    if (p->rows + p->turning == 0) continue;
    if (b->ruthless || b->nm == 0 || b->rotary || (p->rows == 0) != !b->stiffened) s->bad = 1;
    if (b->nm > m->nm_points) m->nm_points = b->nm;
  }
}

/* what of the block is an index must be one */
static int is_index(double x, int end) { return x >= 0.0 && x < end && (double)(int)x == x; }

static void read_rows(reader *s, int64_t nm, bough_points *p) {
  const double *c = next_reals(s, 1);
  p->L0 = next_reals(s, 3 * (int64_t)p->rows);
  p->moves = next_reals(s, nm);
  p->G = next_reals(s, 3 * nm * p->rows);
  p->H = next_reals(s, (int64_t)p->bends * (3 + p->rows));
  if (s->bad) return;
  p->c = *c;
  for (int64_t r = 0; r < nm; r++)
    if (!is_index(p->moves[r], 8)) s->bad = 1;
  for (int64_t j = 0; j < p->bends; j++) {
    const double *record = p->H + j * (3 + p->rows);
    if (!is_index(record[0], (int)nm) || !is_index(record[1], (int)nm) || !is_index(record[2], 3)) s->bad = 1;
  }
}

static void read_points(reader *s, const bough_model *m, bough_body *body, bough_points *points) {
  for (int k = 0; k < m->nb; k++) {
    const int first = tables_of(s, k);
    bough_points *p = points + k;
    const bough_points *from = points + first;
    if (p->rows != from->rows || p->bends != from->bends || p->turning != from->turning) s->bad = 1;
    if (s->bad || p->rows + p->turning == 0) continue;
    body[k].points = p;
    if (first != k) {
      *p = *from; /* share_tables has compared the modes */
      continue;
    }
    copy_reals(s, 6, p->J_rest);
    if (p->rows > 0) read_rows(s, body[k].nm, p);
    p->Lam = next_reals(s, 3 * (int64_t)body[k].nm * p->turning);
    p->J = next_reals(s, 6 * (int64_t)p->turning);
  }
}

/* Two-ports lie together: of the general path's tables beside them the sweeps want F0, N0 and Meff only. */
static void read_two_port(reader *s, const bough_model *m, int k, bough_body *b) {
  const int64_t nm = b->nm, fixed = (int64_t)(sizeof(bough_two_port) / sizeof(double));
  const int first = port_of(s, k);
  if (first != k) {
    const bough_body *from = m->body + first;
    if (from->nm != b->nm || !from->two_port_ok) s->bad = 1;
    b->two_port = from->two_port;
    return;
  }
  b->two_port = (const bough_two_port *)(const void *)next_reals(s, fixed + 9 * nm);
}

/* children, coordinates, and the conditions between bodies */
static void link_bodies(reader *s, bough_model *m, bough_body *body) {
  int q = 0, u = 0;
  for (int k = 0; k < m->nb; k++) body[k].only_child = -1;
  for (int k = 0; k < m->nb; k++) {
    bough_body *b = body + k;
    b->q0 = q, b->u0 = u;
    b->last_child = -1;
    q += bough_hinge(b->hinge)->nq;
    u += b->nh;
    b->qm = q, b->um = u;
    q += b->nm, u += b->nm;
    if (b->nm > m->nm_max) m->nm_max = b->nm;
    if (b->parent >= 0) {
      bough_body *p = body + b->parent;
      p->only_child = p->children++ == 0 ? k : -1;
      p->last_child = k;
    }
    if (q > COUNT_MAX) {
      s->bad = 1;
      return;
    }
  }
  if (q != m->nq || u != m->nu) s->bad = 1;
  for (int k = 0; k < m->nb; k++) {
    const bough_body *p = body[k].parent < 0 ? NULL : body + body[k].parent;
    body[k].in_passing = body[k].children == 0 || body[k].only_child == k + 1;
    body[k].port_stored = p && (p->stiffened || p->attach_node >= 0);
  }
  for (int k = 0; k < m->nb; k++) /* a two-port has at most one hinge outboard, without translations */
    if (body[k].two_port_ok && (!body[k].ruthless || body[k].stiffened || body[k].nm == 0 || body[k].children > 1 ||
                                (body[k].only_child >= 0 && shifts(body + body[k].only_child))))
      s->bad = 1;
}

static void read_nodes(reader *s, const bough_model *m, const bough_body *body, bough_node *node) {
  for (int j = 0; j < m->n_nodes; j++) {
    const bough_body *b = body + node[j].body;
    const int64_t nm = b->nm;
    const int first = node_tables_of(s, m, j);
    if (first != j) {
      const bough_node *from = node + first;
      if (body[from->body].nm != b->nm || body[from->body].stiffened != b->stiffened) s->bad = 1;
      node[j].l0 = from->l0, node[j].R0 = from->R0;
      node[j].Lam = from->Lam, node[j].Gam = from->Gam, node[j].H = from->H;
      continue;
    }
    node[j].l0 = next_reals(s, 3);
    node[j].R0 = next_reals(s, 9);
    node[j].Lam = next_reals(s, 3 * nm);
    node[j].Gam = next_reals(s, 3 * nm);
    if (b->stiffened) node[j].H = next_reals(s, 3 * nm * nm);
  }
}

static void read_end(reader *s, bough_end *e) {
  e->p = next_reals(s, 3);
  e->Q = next_reals(s, 9);
}

static void read_constraint_ints(reader *s, bough_model *m, bough_closure *closure, bough_coupling *coupling, int n_terms) {
  for (int i = 0; i < m->n_closures; i++) {
    closure[i].type = next_int(s, 0, BOUGH_CLOSURE_TYPES - 1);
    closure[i].a.node = next_int(s, -1, m->n_nodes - 1), closure[i].b.node = next_int(s, -1, m->n_nodes - 1);
    closure[i].row0 = m->n_rows;
    m->n_rows += bough_closure_types[closure[i].type].rows;
    if (bough_closure_types[closure[i].type].rows == 0) s->bad = 1;
  }
  int terms = 0;
  for (int i = 0; i < m->n_couplings; i++) {
    coupling[i].terms = next_int(s, 1, BOUGH_TERMS_MAX);
    coupling[i].row = m->n_rows++;
    terms += coupling[i].terms;
  }
  if (terms != n_terms) s->bad = 1;
  for (int i = 0; i < m->n_couplings && !s->bad; i++)
    for (int j = 0; j < coupling[i].terms; j++) coupling[i].body[j] = next_int(s, 0, m->nb - 1);
}

static void read_constraint_reals(reader *s, bough_model *m, bough_closure *closure, bough_coupling *coupling, int *owner) {
  if (m->n_rows == 0) return;
  const double *length = next_reals(s, 1);
  if (s->bad) return;
  m->length = *length;
  if (!(m->length > 0.0)) s->bad = 1;
  for (int i = 0; i < m->n_closures && !s->bad; i++) {
    bough_closure *c = closure + i;
    read_end(s, &c->a), read_end(s, &c->b);
    c->T = next_reals(s, 9), c->first = next_reals(s, 3), c->second = next_reals(s, 3);
    const double *value = next_reals(s, 1);
    if (!s->bad) c->value = *value;
    for (int r = 0; r < bough_closure_types[c->type].rows; r++) owner[c->row0 + r] = i;
  }
  for (int i = 0; i < m->n_couplings && !s->bad; i++) {
    const double *offset = next_reals(s, 1);
    if (!s->bad) coupling[i].offset = *offset;
    coupling[i].factor = next_reals(s, coupling[i].terms);
    owner[coupling[i].row] = m->n_closures + i;
    for (int j = 0; j < coupling[i].terms; j++) /* one DOF, and its rate is its speed */
      if (m->body[coupling[i].body[j]].nh != 1) s->bad = 1;
  }
}

static void read_element_ints(reader *s, bough_model *m, bough_element *element) {
  for (int i = 0; i < m->n_elements && !s->bad; i++) {
    bough_element *e = element + i;
    e->type = next_int(s, 0, BOUGH_ELEMENT_TYPES - 1);
    e->a.node = next_int(s, -1, m->n_nodes - 1), e->b.node = next_int(s, -1, m->n_nodes - 1);
    e->input = next_int(s, -1, m->n_load_rows - 1);
    e->n1 = next_int(s, 0, COUNT_MAX), e->n2 = next_int(s, 0, COUNT_MAX);
    if (e->type == ELEMENT_SPRING ? e->n1 == 1 || e->n2 == 1 : e->n2 != 0) s->bad = 1;
    if (e->type == ELEMENT_WHEEL ? e->n1 >= m->nb || e->a.node >= 0 || e->b.node >= 0 : e->type != ELEMENT_SPRING && e->n1 != 0)
      s->bad = 1;
    if (e->type == ELEMENT_WHEEL && !s->bad && m->body[e->n1].nh != 1) s->bad = 1;
    e->value0 = m->n_element_values;
    m->n_element_values += bough_element_types[e->type].values;
    m->acting |= bough_element_types[e->type].acts;
  }
}

/* steps of a table's first column are positive */
static int table_ok(const double *t, int n) {
  for (int i = 0; i + 1 < n; i++)
    if (!(t[2 * i + 2] > t[2 * i])) return 0;
  return 1;
}

static void read_element_reals(reader *s, bough_model *m, bough_element *element) {
  for (int i = 0; i < m->n_elements && !s->bad; i++) {
    bough_element *e = element + i;
    const int tables = e->type == ELEMENT_SPRING ? e->n1 + e->n2 : 0, fixed = bough_element_types[e->type].constants;
    read_end(s, &e->a), read_end(s, &e->b);
    e->c = next_reals(s, fixed + (int64_t)2 * tables);
    if (!s->bad && tables > 0 && (!table_ok(e->c + fixed, e->n1) || !table_ok(e->c + fixed + 2 * e->n1, e->n2))) s->bad = 1;
  }
}

/* limits of flexible bodies, watch.c */
static void read_limits(reader *s, bough_model *m, const bough_limits **limits, int *attach) {
  const int64_t fixed = (int64_t)(sizeof(bough_limits) / sizeof(double));
  int any = 0;
  for (int k = 0; k < m->nb && !s->bad; k++) {
    const int first = next_int(s, 0, k);
    attach[k] = next_int(s, -1, m->n_nodes - 1);
    limits[k] = NULL;
    if ((m->body[k].nm > 0) != (attach[k] >= 0)) s->bad = 1;
    if (s->bad || m->body[k].nm == 0) continue;
    any = 1;
    if (m->node[attach[k]].body != k || m->body[first].nm != m->body[k].nm) s->bad = 1;
    limits[k] = first < k ? limits[first] : (const bough_limits *)(const void *)next_reals(s, fixed + 3 * BOUGH_WATCHED * m->body[k].nm);
  }
  if (any) m->limits = limits, m->attach = attach;
}

/* Friction, limits and gears come last; how many, and whether the ints end with them. */
static int read_drive_counts(const reader *s, int64_t at, bough_model *m) {
  if (s->n_ints < at + 2) return 0;
  m->n_drives = int_again(s, at), m->n_gears = int_again(s, at + 1);
  if (m->n_drives < 0 || m->n_drives > CONSTRAINTS_MAX || m->n_gears < 0 || m->n_gears > CONSTRAINTS_MAX) return 0;
  m->n_modes = BOUGH_DRIVE_NUMBERS * m->n_drives + m->n_gears;
  return s->n_ints == at + 2 + (int64_t)INTS_DRIVE * m->n_drives + (int64_t)INTS_GEAR * m->n_gears;
}

/* DOF j of body b: its speed, and its coordinate if it has one */
static void place_dof(const bough_body *b, int j, int *dof, int *q) {
  *dof = b->u0 + j;
  *q = b->quaternion >= 0 && j >= b->quaternion ? -1 : b->q0 + j;
}

static void read_drive(reader *s, const bough_model *m, bough_drive *x) {
  const bough_body *b = m->body + next_int(s, 0, m->nb - 1);
  const int j = next_int(s, 0, 5);
  x->stop = next_int(s, 0, STOP_COUNT - 1);
  const double *v = next_reals(s, 8);
  if (s->bad || j >= b->nh) {
    s->bad = 1;
    return;
  }
  place_dof(b, j, &x->dof, &x->q);
  x->coulomb = v[0], x->still = v[1], x->stribeck = v[2], x->lower = v[3], x->upper = v[4];
  x->k = v[5], x->d = v[6], x->e = v[7];
  if (!(x->coulomb >= 0.0 && x->still >= x->coulomb && x->stribeck >= 0.0)) s->bad = 1;
  if (x->stop == STOP_NONE) return;
  if (x->q < 0 || !(x->lower < x->upper) || !(x->e >= 0.0 && x->e <= 1.0) || !(x->d >= 0.0)) s->bad = 1;
  if (x->stop == STOP_GIVES && !(x->k > 0.0)) s->bad = 1;
}

static void read_gear(reader *s, const bough_model *m, bough_gear *g) {
  for (int i = 0; i < 2; i++) {
    const bough_body *b = m->body + next_int(s, 0, m->nb - 1);
    place_dof(b, 0, g->dof + i, g->q + i);
    if (b->nh != 1) s->bad = 1;
  }
  const double *v = next_reals(s, 5);
  if (s->bad) return;
  g->ratio = v[0], g->k = v[1], g->d = v[2], g->play = v[3], g->offset = v[4];
  if (g->ratio == 0.0 || !(g->k > 0.0 && g->d >= 0.0 && g->play >= 0.0)) s->bad = 1;
}

static void read_drives(reader *s, const bough_model *m, bough_drive *drive, bough_gear *gear) {
  s->i += 2; /* the counts */
  for (int j = 0; j < m->n_drives && !s->bad; j++) read_drive(s, m, drive + j);
  for (int j = 0; j < m->n_gears && !s->bad; j++) read_gear(s, m, gear + j);
}

/* undeformed positions of the hinges: constants of rigid parents and two-ports */
static void place_hinges(const bough_model *m, bough_body *body) {
  for (int k = 0; k < m->nb; k++)
    for (int i = 0; i < 3; i++)
      body[k].l[i] = body[k].r[i] + (body[k].port_node < 0 ? 0.0 : m->node[body[k].port_node].l0[i]);
}

static int nodes_fit(const bough_model *m) {
  for (int k = 0; k < m->nb; k++) {
    const bough_body *b = m->body + k;
    if (b->port_node >= 0 && m->node[b->port_node].body != b->parent) return 0;
    if (b->attach_node >= 0 && m->node[b->attach_node].body != k) return 0;
    for (int i = 0; i < b->load_count; i++)
      if (m->node[m->load_node[b->load_first + i]].body != k) return 0;
  }
  return 1;
}

bough_status bough_model_create(const void *block, size_t size, bough_model **out) {
  int64_t n_ints, n_reals;
  if (!block || !out) return BOUGH_BAD_ARGUMENT;
  *out = NULL;
  if (!header_ok(block, size, &n_ints, &n_reals)) return BOUGH_BAD_BLOCK;
  reader s = {(const unsigned char *)block + HEADER, NULL, n_ints, n_reals, 0, 0, 0};
  bough_model head = {0};
  head.nb = next_int(&s, 1, COUNT_MAX), head.nq = next_int(&s, 0, COUNT_MAX), head.nu = next_int(&s, 0, COUNT_MAX);
  head.n_nodes = next_int(&s, 0, COUNT_MAX), head.n_loads = next_int(&s, 0, COUNT_MAX);
  head.n_closures = next_int(&s, 0, CONSTRAINTS_MAX), head.n_couplings = next_int(&s, 0, CONSTRAINTS_MAX);
  const int n_terms = next_int(&s, 0, BOUGH_TERMS_MAX * CONSTRAINTS_MAX);
  const int64_t constraint_ints = (int64_t)INTS_CLOSURE * head.n_closures + head.n_couplings + n_terms;
  head.n_elements = next_int(&s, 0, COUNT_MAX);
  head.n_load_rows = head.n_loads + next_int(&s, 0, head.n_elements);
  const int n_field = next_int(&s, 0, 1);
  head.acting = n_field;
  const int64_t element_ints = (int64_t)INTS_ELEMENT * head.n_elements;
  const int64_t other_ints = (int64_t)INTS_BODY * head.nb + (int64_t)INTS_NODE * head.n_nodes + head.n_loads + INTS_FIXED +
                             ((int64_t)INTS_LIMITS + INTS_POINTS) * head.nb;
  if (s.bad || !read_drive_counts(&s, other_ints + constraint_ints + element_ints, &head)) return BOUGH_BAD_BLOCK;

  const size_t bodies = bough_align(sizeof(bough_body) * (size_t)head.nb);
  const size_t nodes = bough_align(sizeof(bough_node) * (size_t)head.n_nodes);
  const size_t loads = bough_align(sizeof(int) * (size_t)head.n_loads);
  const size_t reals = bough_align(sizeof(double) * (size_t)n_reals);
  const size_t closures = bough_align(sizeof(bough_closure) * (size_t)head.n_closures);
  const size_t couplings = bough_align(sizeof(bough_coupling) * (size_t)head.n_couplings);
  const size_t owners = bough_align(sizeof(int) * (6 * (size_t)head.n_closures + (size_t)head.n_couplings));
  const size_t elements = bough_align(sizeof(bough_element) * (size_t)head.n_elements);
  const size_t limits = bough_align(sizeof(bough_limits *) * (size_t)head.nb);
  const size_t attaches = bough_align(sizeof(int) * (size_t)head.nb);
  const size_t clouds = bough_align(sizeof(bough_points) * (size_t)head.nb);
  const size_t drives = bough_align(sizeof(bough_drive) * (size_t)head.n_drives);
  const size_t gears = bough_align(sizeof(bough_gear) * (size_t)head.n_gears);
  const size_t total =
      bough_align(sizeof(bough_model)) + bodies + nodes + loads + reals + closures + couplings + owners + elements +
      limits + attaches + clouds + drives + gears;
  char *memory = bough_allocate(total);
  if (!memory) return BOUGH_NO_MEMORY;
  bough_model *m = (bough_model *)(void *)memory;
  *m = head;
  m->memory = total;
  bough_body *body = (bough_body *)(void *)(memory + bough_align(sizeof *m));
  bough_node *node = (bough_node *)(void *)((char *)body + bodies);
  int *load_node = (int *)(void *)((char *)node + nodes);
  double *copy = (double *)(void *)((char *)load_node + loads);
  bough_closure *closure = (bough_closure *)(void *)((char *)copy + reals);
  bough_coupling *coupling = (bough_coupling *)(void *)((char *)closure + closures);
  int *row_owner = (int *)(void *)((char *)coupling + couplings);
  bough_element *element = (bough_element *)(void *)((char *)row_owner + owners);
  const bough_limits **limit = (const bough_limits **)(void *)((char *)element + elements);
  int *attach = (int *)(void *)((char *)limit + limits);
  bough_points *points = (bough_points *)(void *)((char *)attach + attaches);
  bough_drive *drive = (bough_drive *)(void *)((char *)points + clouds);
  bough_gear *gear = (bough_gear *)(void *)((char *)drive + drives);
  memcpy(copy, (const char *)block + HEADER + (((size_t)n_ints * 4 + 7) & ~(size_t)7), (size_t)n_reals * 8);
  s.reals = copy;
  m->body = body, m->node = node, m->load_node = load_node;
  m->closure = closure, m->coupling = coupling, m->row_owner = row_owner, m->element = element;
  m->drive = drive, m->gear = gear;

  for (int64_t i = 0; i < n_reals; i++)
    if (!bough_finite(copy[i])) s.bad = 1;
  for (int k = 0; k < m->nb; k++) read_body_ints(&s, m, k, body + k);
  for (int j = 0; j < m->n_nodes; j++) {
    node[j].body = next_int(&s, 0, m->nb - 1);
    (void)next_int(&s, 0, j); /* node_tables_of */
  }
  for (int j = 0; j < m->n_loads; j++) load_node[j] = next_int(&s, 0, m->n_nodes - 1);
  if (!s.bad) read_constraint_ints(&s, m, closure, coupling, n_terms);
  if (!s.bad) read_element_ints(&s, m, element);
  if (!s.bad) read_point_ints(&s, m, points);
  if (!s.bad) link_bodies(&s, m, body);
  if (!s.bad) {
    m->gravity = next_reals(&s, 3);
    m->damping = next_reals(&s, m->nu), m->stiffness = next_reals(&s, m->nu), m->rest = next_reals(&s, m->nu);
    m->armature = next_reals(&s, m->nu), m->held = next_reals(&s, m->nu);
    for (int k = 0; k < m->nb; k++) read_body_reals(&s, m, k, points + k, body + k);
    for (int k = 0; k < m->nb; k++)
      if (body[k].two_port_ok) read_two_port(&s, m, k, body + k);
    read_nodes(&s, m, body, node);
    read_constraint_reals(&s, m, closure, coupling, row_owner);
    read_element_reals(&s, m, element);
    if (n_field) m->field = next_reals(&s, 4);
    read_points(&s, m, body, points);
    if (!s.bad) read_limits(&s, m, limit, attach);
    if (!s.bad) read_drives(&s, m, drive, gear);
  }
  if (s.bad || s.r != n_reals || !nodes_fit(m)) {
    bough_release(memory);
    return BOUGH_BAD_BLOCK;
  }
  place_hinges(m, body);
  *out = m;
  return BOUGH_OK;
}

void bough_model_free(bough_model *model) { bough_release(model); }
bough_sizes bough_model_sizes(const bough_model *m) {
  bough_sizes sizes = {0};
  if (!m) return sizes;
  sizes.nq = m->nq, sizes.nu = m->nu, sizes.bodies = m->nb, sizes.nodes = m->n_nodes, sizes.loads = m->n_load_rows;
  sizes.elements = m->n_elements, sizes.element_values = m->n_element_values;
  sizes.loops = m->n_closures, sizes.couplings = m->n_couplings, sizes.rows = m->n_rows;
  sizes.drives = m->n_drives, sizes.modes = m->n_modes;
  sizes.indicators = 2 * m->n_drives + m->n_gears;
  sizes.memory = m->memory;
  return sizes;
}
bough_range bough_model_hinge(const bough_model *model, int body) {
  bough_range r = {0, 0, 0, 0};
  if (!model || body < 0 || body >= model->nb) return r;
  const bough_body *b = model->body + body;
  r.q0 = b->q0, r.nq = b->qm - b->q0, r.u0 = b->u0, r.nu = b->um - b->u0;
  return r;
}
