/* resource.c - resources/model.bough, damaged behind right checksums: no instance and a reason, or an instance that can be
 * used and freed. Linked with --wrap=fmu_read_file: the input is the file. */
#include <stdint.h>

#include "fmi.h"
#include "mutate.h"

enum { STRINGS = 48, BLOCK = 56, REFERENCES = 400 };
static const unsigned char *file;
static size_t file_size;

unsigned char *__wrap_fmu_read_file(const char *path, size_t *size);
unsigned char *__wrap_fmu_read_file(const char *path, size_t *size) {
  (void)path;
  unsigned char *bytes = malloc(file_size);
  if (bytes) memcpy(bytes, file, file_size);
  *size = file_size;
  return bytes;
}

/* the kernel's block comes last, in partners too, and has a checksum of its own */
static void seal(unsigned char *data, size_t size) {
  for (size_t at = 64; at + 64 <= size; at += 8)
    if (memcmp(data + at, "BOUGHBLK", 8) == 0) seal_file(data + at, size - at);
  seal_file(data, size);
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t most, unsigned seed) {
  return mutate(data, size, most, seed, 32);
}

/* the token that the file itself names, if it does: a host has it from modelDescription.xml */
static void find_token(char *out, size_t room) {
  int64_t ints, reals, strings;
  int32_t at;
  out[0] = 0;
  if (file_size < 96) return;
  memcpy(&ints, file + 32, 8), memcpy(&reals, file + 40, 8), memcpy(&strings, file + STRINGS, 8), memcpy(&at, file + 76, 4);
  if (ints < 8 || ints > 100000 || reals < 0 || reals > 100000 || strings < 1 || at < 0 || at >= strings) return;
  const size_t first = 64 + ((4 * (size_t)ints + 7) & ~(size_t)7) + 8 * (size_t)reals + (size_t)at;
  for (size_t i = 0; i + 1 < room && first + i < file_size && file[first + i]; i++) out[i] = (char)file[first + i], out[i + 1] = 0;
}

static void use(handle it, int me) {
  double x = 0.0, seed = 1.0, reached;
  const reference first = 1;
  for (reference vr = 0; vr < REFERENCES; vr++) (void)get_real(it, &vr, 1, &x);
  if (enter(it, 0, 0.0, 0.0, 0, 0.0) != OK || F(ExitInitializationMode)(it) != OK) return;
  for (reference vr = 0; vr < REFERENCES; vr++) {
    if (get_real(it, &vr, 1, &x) == OK) (void)set_real(it, &vr, 1, &x);
    (void)directional(it, &vr, 1, &first, 1, &seed, &x);
  }
  if (me) {
    (void)update_discrete(it), (void)F(EnterContinuousTimeMode)(it);
  } else {
    internal_steps = 0;
    (void)step(it, 0.0, 1e-5, &reached), (void)step(it, reached, 1e-5, &reached);
  }
  size_t size;
  free(state_of(it, &size));
  (void)F(Reset)(it);
}

int LLVMFuzzerInitialize(int *count, char ***argument) {
  (void)count, (void)argument;
  want_early = after_some;
  return 0;
}

/* Messages show names of the file, and "(null)" in one is taken for a slip of the formatting: not where the file says so. */
static int says_null(const uint8_t *data, size_t size) {
  for (size_t i = 0; i + 6 <= size; i++)
    if (memcmp(data + i, "(null)", 6) == 0) return 1;
  return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  char named[100];
  if (says_null(data, size)) return 0;
  file = data, file_size = size;
  find_token(named, sizeof named);
  const int me = KINDS > 1 && (crc32_of(data, size) & 1);
  const long told = messages;
  handle it = create(me, named, "/here", 1);
  if (!it && messages == told) fail("no instance, and no reason");
  if (!it) return 0;
  use(it, me);
  F(FreeInstance)(it);
  return 0;
}
