/* resource.c - read and check resources/model.bough.
 *
 *   0 "BOUGHFMU"  8 u32 version  12 u32 0x01020304  16 u64 size  24 u32 CRC-32 of bytes 32..size
 *   32 i64 ints  40 i64 reals  48 i64 string bytes  56 i64 block bytes
 *   64 ints (i32, padded to 8), reals (f64), strings (zero-terminated, padded to 8), kernel block
 * Ints: variables, bodies, sensors, token, model name, slots, partner, axes (0, 0: a mechanism); then sensors' nodes; then per variable kind, index, type,
 * role, count, name; then per body its name and its hinge's. Names are offsets into the strings. Reals: start values, then
 * nominal ones. */
#include <stdlib.h>
#include <string.h>

#include "inside.h"

enum { HEADER = 64, INTS_FIXED = 8, INTS_VARIABLE = 6, MOST = 50000000, VERSION = 2 };

uint32_t bough_crc32(const unsigned char *p, size_t n) {
  uint32_t table[256], crc = 0xffffffffu;
  for (uint32_t i = 0; i < 256; i++) {
    uint32_t c = i;
    for (int k = 0; k < 8; k++) c = (c & 1) ? 0xedb88320u ^ (c >> 1) : c >> 1;
    table[i] = c;
  }
  for (size_t i = 0; i < n; i++) crc = table[(crc ^ p[i]) & 0xff] ^ (crc >> 8);
  return crc ^ 0xffffffffu;
}

typedef struct {
  int64_t ints, reals, strings, block;
} sizes;

static const char *check_header(const unsigned char *b, size_t size, sizes *n) {
  uint32_t version, endian, crc;
  uint64_t total;
  if (size < HEADER || memcmp(b, "BOUGHFMU", 8) != 0) return "it is not a bough resource";
  memcpy(&version, b + 8, 4), memcpy(&endian, b + 12, 4), memcpy(&total, b + 16, 8), memcpy(&crc, b + 24, 4);
  if (version != VERSION || endian != 0x01020304u) return "it is of another version";
  if (total != size) return "it is cut short or has grown";
  if (crc != bough_crc32(b + 32, size - 32)) return "its checksum does not hold";
  memcpy(n, b + 32, sizeof *n);
  if (n->ints < INTS_FIXED || n->ints > MOST || n->reals < 0 || n->reals > MOST || n->strings < 1 ||
      n->strings > MOST || n->block < 0 || n->block > INT64_C(1) << 40)
    return "its sizes are out of range";
  const uint64_t sum = (((uint64_t)n->ints * 4 + 7) & ~UINT64_C(7)) + (uint64_t)n->reals * 8 +
                       (((uint64_t)n->strings + 7) & ~UINT64_C(7)) + (uint64_t)n->block;
  return sum == size - HEADER ? NULL : "its sizes do not add up";
}

/* Names are of ASCII letters, as the model file asks for: anything else could not be logged as text. */
static int printable(const char *strings, int64_t count) {
  for (int64_t i = 0; i < count; i++)
    if (strings[i] != 0 && (strings[i] < 0x20 || strings[i] > 0x7e)) return 0;
  return 1;
}

static const char *fill(bough_resource *r, const sizes *n, const int32_t *ints, const double *start, const char *strings,
                        bough_variable *variable, int *sensor, const char **names) {
  const int32_t *p = ints + INTS_FIXED;
  int64_t slots = 0;
  if (!printable(strings, n->strings)) return "a name in it is not text";
  for (int i = 0; i < r->n_sensors; i++) sensor[i] = *p++;
  for (int i = 0; i < r->n_variables; i++, p += INTS_VARIABLE) {
    bough_variable *v = variable + i;
    v->kind = p[0], v->index = p[1], v->type = p[2], v->role = p[3], v->count = p[4];
    if (!bough_type_of(r->partner)->kind_ok(v->kind, v->type, v->role) || v->index < 0 || v->count < 1 || v->count > MOST || p[5] < 0 ||
        p[5] >= n->strings)
      return "a variable in it makes no sense";
    v->name = strings + p[5];
    v->start = (int)slots;
    slots += v->count;
    if (2 * slots > n->reals) return "its start values are missing";
  }
  if (slots != r->n_slots || 2 * slots != n->reals) return "its start values are missing";
  for (int i = 0; i < 2 * r->n_bodies; i++, p++) {
    if (*p < 0 || *p >= n->strings) return "a name in it is missing";
    names[(i % 2) * r->n_bodies + i / 2] = strings + *p;
  }
  for (int64_t i = 0; i < n->reals; i++)
    if (!bough_finite(start[i])) return "a start value in it is not finite";
  for (int64_t i = slots; i < n->reals; i++)
    if (!(start[i] > 0.0)) return "a nominal value in it is not positive";
  return NULL;
}

bough_resource *bough_resource_read(const unsigned char *bytes, size_t size, const char **why) {
  sizes n;
  *why = check_header(bytes, size, &n);
  if (*why) return NULL;
  const int32_t *ints = (const int32_t *)(const void *)(bytes + HEADER);
  const double *reals = (const double *)(const void *)(bytes + HEADER + (((size_t)n.ints * 4 + 7) & ~(size_t)7));
  const char *strings = (const char *)(reals + n.reals);
  const int64_t need = (int64_t)INTS_FIXED + ints[2] + (int64_t)INTS_VARIABLE * ints[0] + 2 * (int64_t)ints[1];
  *why = "its counts are out of range";
  if (ints[0] < 1 || ints[1] < 0 || ints[2] < 0 || ints[0] > MOST || ints[1] > MOST || need != n.ints ||
      ints[3] < 0 || ints[3] >= n.strings || ints[4] < 0 || ints[4] >= n.strings || strings[n.strings - 1] != 0)
    return NULL;
  const size_t variables = sizeof(bough_variable) * (size_t)ints[0], names = 2 * sizeof(char *) * (size_t)ints[1];
  char *memory = malloc(sizeof(bough_resource) + variables + names + sizeof(int) * (size_t)(ints[2] + 1));
  *why = NULL;
  if (!memory) return NULL;
  bough_resource *r = (bough_resource *)(void *)memory;
  bough_variable *variable = (bough_variable *)(void *)(memory + sizeof *r);
  const char **name = (const char **)(void *)((char *)variable + variables);
  int *sensor = (int *)(void *)((char *)name + names);
  r->n_variables = ints[0], r->n_bodies = ints[1], r->n_sensors = ints[2], r->n_slots = ints[5];
  r->partner = ints[6], r->axes = ints[7];
  r->variable = variable, r->sensor = sensor, r->start = reals, r->nominal = reals + r->n_slots;
  r->body_name = name, r->hinge_name = name + r->n_bodies;
  r->token = strings + ints[3], r->model_name = strings + ints[4];
  r->block = bytes + (size - (size_t)n.block);
  r->block_size = (size_t)n.block;
  *why = fill(r, &n, ints, reals, strings, variable, sensor, name);
  if (!*why) return r;
  free(memory);
  return NULL;
}
