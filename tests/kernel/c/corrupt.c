/* corrupt.c - damaged model blocks are refused, or make a model that can be evaluated; nothing ever crashes. */
#include "blocks.h"
#include "check.h"

static uint32_t crc_table[256];
static void crc_init(void) {
  for (uint32_t i = 0; i < 256; i++) {
    uint32_t c = i;
    for (int k = 0; k < 8; k++) c = (c & 1) ? 0xedb88320u ^ (c >> 1) : c >> 1;
    crc_table[i] = c;
  }
}

/* make size and checksum right again: what is wrong with the content must be found by itself */
static void seal(unsigned char *p, size_t size) {
  const uint64_t total = size;
  uint32_t crc = 0xffffffffu;
  for (size_t i = 32; i < size; i++) crc = crc_table[(crc ^ p[i]) & 0xff] ^ (crc >> 8);
  crc ^= 0xffffffffu;
  memcpy(p + 16, &total, 8), memcpy(p + 24, &crc, 4);
}

/* create; if accepted, evaluate: numbers may be nonsense, memory may not */
static int try_block(const void *block, size_t size, int evaluate) {
  bough_model *m = NULL;
  bough_data *d;
  const bough_status status = bough_model_create(block, size, &m);
  CHECK(status == BOUGH_OK || (status == BOUGH_BAD_BLOCK && m == NULL));
  if (status == BOUGH_OK && evaluate) {
    buffers b;
    double energy[4];
    OK(bough_data_create(m, BOUGH_LANES_BATCH, &d));
    buffers_make(&b, m);
    const double *loads = b.loads ? b.load : NULL;
    const bough_point at = point(&b);
    const bough_values all = {b.qdot, b.udot, b.force, b.reaction, b.pose, b.velocity, b.acceleration};
    bough_evaluate(m, d, &at, b.nodes, b.node, &all);
    bough_inverse_dynamics(m, d, 1, b.q, b.u, b.tau, loads, b.back);
    bough_forward_dynamics_batch(m, d, 2, b.batch_q, b.batch_u, b.batch_tau, b.batch_udot);
    bough_mass_matrix(m, d, 1, b.q, b.M);
    bough_mass_factors(m, d, 1, b.q, b.L, b.D);
    const bough_point given = {.q = b.q, .u = b.u, .udot = b.tau}; /* the sweeps above may have failed */
    const bough_values motion = {.pose = b.pose, .velocity = b.velocity, .acceleration = b.acceleration};
    bough_evaluate(m, d, &given, b.nodes, b.node, &motion);
    bough_energy(m, d, 1, b.q, b.u, energy, NULL);
    buffers_free(&b);
    bough_data_free(d);
  }
  bough_model_free(m);
  return status == BOUGH_OK;
}

static void flip_every_byte(const test_block *block, unsigned char *copy) {
  for (size_t i = 0; i < block->size; i++) {
    copy[i] ^= (unsigned char)(1u << (i % 8));
    const int accepted = try_block(copy, block->size, 0);
    CHECK(!accepted || (i >= 28 && i < 32)); /* four bytes after the checksum mean nothing */
    copy[i] ^= (unsigned char)(1u << (i % 8));
  }
}

static void truncate_everywhere(const test_block *block, unsigned char *copy) {
  for (size_t size = 0; size < block->size; size++) CHECK(!try_block(block->words, size, 0));
  for (size_t size = 64; size < block->size; size += 8) {
    seal(copy, size);
    CHECK(!try_block(copy, size, 0));
    int64_t reals; /* and with a count of reals that fits */
    memcpy(&reals, block->words + 5, 8);
    reals -= (int64_t)(block->size - size) / 8;
    memcpy(copy + 40, &reals, 8);
    seal(copy, size);
    CHECK(!try_block(copy, size, 1));
    memcpy(copy, block->words, 64);
  }
}

static void change_every_int(const test_block *block, unsigned char *copy) {
  static const int32_t wrong[] = {-2147483647 - 1, -1, 0, 1, 3, 1000, 2147483647};
  int64_t ints;
  memcpy(&ints, block->words + 4, 8);
  for (int64_t i = 0; i < ints; i++) {
    unsigned char *place = copy + 64 + 4 * i;
    int32_t value;
    memcpy(&value, place, 4);
    for (size_t w = 0; w < sizeof wrong / sizeof wrong[0] + 2; w++) {
      const int32_t v = w < sizeof wrong / sizeof wrong[0] ? wrong[w] : value + (w % 2 ? 1 : -1);
      memcpy(place, &v, 4);
      seal(copy, block->size);
      try_block(copy, block->size, 1);
    }
    memcpy(place, &value, 4);
  }
}

/* as model_block.c reads them; of the ints of a body, where some are */
enum { INTS_FIXED = 11, INTS_BODY = 15, INTS_NODE = 2, PORT_NODE = 1, MODES = 3, TWO_PORT = 9, TABLES_OF = 12, PORT_OF = 13 };

/* a node that carries a hinge must belong to the body that carries it */
static void give_nodes_away(const test_block *block, unsigned char *copy) {
  int32_t nb, port, owner;
  memcpy(&nb, copy + 64, 4);
  for (int32_t k = 1; k < nb; k++) {
    memcpy(&port, copy + 64 + 4 * (INTS_FIXED + INTS_BODY * k + PORT_NODE), 4);
    if (port < 0) continue; /* on the ground, as rotors are */
    unsigned char *place = copy + 64 + 4 * (INTS_FIXED + INTS_BODY * nb + INTS_NODE * port);
    memcpy(&owner, place, 4);
    const int32_t other = (owner + 1) % nb;
    memcpy(place, &other, 4);
    seal(copy, block->size);
    CHECK(!try_block(copy, block->size, 0));
    memcpy(place, &owner, 4);
  }
}

/* tables are shared by bodies of one kind only, and from one that came before */
static void share_with_others(const test_block *block, unsigned char *copy) {
  int32_t nb;
  memcpy(&nb, copy + 64, 4);
  for (int32_t k = 1; k < nb; k++)
    for (int32_t other = 0; other < nb; other++) {
      int32_t modes[2];
      memcpy(modes, copy + 64 + 4 * (INTS_FIXED + INTS_BODY * k + MODES), 4);
      memcpy(modes + 1, copy + 64 + 4 * (INTS_FIXED + INTS_BODY * other + MODES), 4);
      if (modes[0] == 0 || (modes[0] == modes[1] && other <= k)) continue;
      int32_t two_port;
      memcpy(&two_port, copy + 64 + 4 * (INTS_FIXED + INTS_BODY * k + TWO_PORT), 4);
      for (int what = TABLES_OF; what <= (two_port ? PORT_OF : TABLES_OF); what++) {
        unsigned char *place = copy + 64 + 4 * (INTS_FIXED + INTS_BODY * k + what);
        int32_t value;
        memcpy(&value, place, 4);
        memcpy(place, &other, 4);
        seal(copy, block->size);
        CHECK(!try_block(copy, block->size, 0));
        memcpy(place, &value, 4);
      }
    }
}

static void change_every_real(const test_block *block, unsigned char *copy) {
  static const double wrong[] = {NAN, INFINITY, 1e300, -1.0, 0.0};
  int64_t ints, reals;
  memcpy(&ints, block->words + 4, 8), memcpy(&reals, block->words + 5, 8);
  unsigned char *first = copy + 64 + ((ints * 4 + 7) & ~(int64_t)7);
  for (int64_t i = 0; i < reals; i++) {
    double value;
    memcpy(&value, first + 8 * i, 8);
    const int w = (int)(i % 5);
    memcpy(first + 8 * i, wrong + w, 8);
    seal(copy, block->size);
    /* not finite: refused; numbers of friction, limits and gears have a range besides, records of points name modes and
     * components, and tables of springs rise */
    const int taken = try_block(copy, block->size, i % 9 == 0);
    const int ranged = strcmp(block->name, "drives") == 0 || strncmp(block->name, "forced", 6) == 0 ||
                       strcmp(block->name, "stiffened") == 0;
    CHECK(taken == (w > 1) || (!taken && ranged));
    memcpy(first + 8 * i, &value, 8);
  }
}

int main(void) {
  crc_init();
  for (int i = 0; i < BLOCKS; i++) {
    unsigned char *copy = malloc(blocks[i].size + 1);
    CHECK(copy != NULL);
    memcpy(copy + 1, blocks[i].words, blocks[i].size);
    CHECK(try_block(copy + 1, blocks[i].size, 1)); /* a block may lie at any address */
    memcpy(copy, blocks[i].words, blocks[i].size);
    seal(copy, blocks[i].size);
    CHECK(memcmp(copy, blocks[i].words, blocks[i].size) == 0); /* our checksum is the kernel's */
    if (i == 0) flip_every_byte(blocks + i, copy);
    truncate_everywhere(blocks + i, copy);
    memcpy(copy, blocks[i].words, blocks[i].size);
    change_every_int(blocks + i, copy);
    give_nodes_away(blocks + i, copy);
    share_with_others(blocks + i, copy);
    change_every_real(blocks + i, copy);
    free(copy);
  }
  return 0;
}
