/* state.c - serialized FMU states, damaged behind a right checksum: refused with nothing changed, or restored; and whatever
 * was restored, Reset brings back the instance as it was made.
 *
 * The first byte says what state the instance is in, the second what size the host names; the snapshot follows. With
 * BOUGH_SEEDS in the environment the program writes snapshots of every kind into that folder. */
#include <stdint.h>

#include "fmi.h"
#include "mutate.h"

enum { HEAD = 2, PHASES = 4 };
static double reference_run[KINDS][PROBES];

/* u64 size at 8, u64 CRC at 24 of what follows byte 32 */
static void seal(unsigned char *data, size_t size) {
  if (size < HEAD + 32) return;
  const uint64_t total = size - HEAD, crc = crc32_of(data + HEAD + 32, size - HEAD - 32);
  memcpy(data + HEAD + 8, &total, 8), memcpy(data + HEAD + 24, &crc, 8);
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t most, unsigned seed) {
  return mutate(data, size, most, seed, HEAD + 32);
}

/* 0 instantiated, 1 initialization, 2 after steps (or in continuous time), 3 terminated */
static void bring_to(handle it, int me, int phase) {
  double reached;
  if (phase == 0) return;
  if (enter(it, 0, 0.0, 0.0, 0, 0.0) != OK) fail("cannot enter initialization");
  if (phase == 1) return;
  if (F(ExitInitializationMode)(it) != OK) fail("cannot exit initialization");
  if (me)
    (void)update_discrete(it), (void)F(EnterContinuousTimeMode)(it);
  else if (step(it, 0.0, 0.004, &reached) != OK)
    fail("a legal step failed");
  if (phase == 3) (void)F(Terminate)(it);
}

static void use(handle it, int me) {
  double x[PROBES], reached, seed = 1.0;
  reference vr[PROBES];
  for (reference i = 0; i < PROBES; i++) vr[i] = i;
  (void)F(ExitInitializationMode)(it);
  internal_steps = 0;
  if (get_real(it, vr, PROBES, x) == OK && !me) (void)step(it, x[0], 1e-5, &reached); /* the first variable is time */
  (void)directional(it, vr + 2, 3, vr + 1, 1, &seed, x);
  (void)update_discrete(it), (void)F(EnterContinuousTimeMode)(it);
}

static void attack(handle it, int me, const unsigned char *bytes, size_t size, unsigned named) {
  snapshot s = NULL;
  size_t before_size, after_size;
  unsigned char *before = state_of(it, &before_size);
  /* a host whose size has wrapped; a header is there, for without one no library could tell */
  const size_t given = named < 240 || size < 256 ? size : SIZE_MAX - (named - 240);
  const long told = messages;
  int status = deserialize(it, bytes, given, &s);
  if (status == OK) status = (int)STATE(Set, )(it, s);
  if (status != OK) {
    if (status != ERROR || messages == told) fail("not refused with a reason");
    unsigned char *after = state_of(it, &after_size);
    if (before_size != after_size || memcmp(before, after, after_size) != 0) fail("a refused state changed the instance");
    free(after);
  } else
    use(it, me);
  free(before);
  if (STATE(Free, )(it, &s) != OK || s) fail("a state is not freed");
}

static void write_seeds(const char *folder) {
  for (int me = 0; me < KINDS; me++)
    for (int phase = 0; phase < PHASES; phase++) {
      char path[1000];
      size_t size;
      handle it = create(me, token, resources, 0);
      bring_to(it, me, phase);
      unsigned char *bytes = state_of(it, &size);
      snprintf(path, sizeof path, "%s/%d%d", folder, me, phase);
      FILE *out = fopen(path, "wb");
      if (!out) fail(path);
      fputc(phase + PHASES * me, out), fputc(0, out), fwrite(bytes, 1, size, out);
      fclose(out), free(bytes), F(FreeInstance)(it);
    }
}

int LLVMFuzzerInitialize(int *count, char ***argument) {
  (void)count, (void)argument;
  read_environment();
  want_early = after_some;
  for (int me = 0; me < KINDS; me++) {
    handle it = create(me, token, resources, 0);
    if (!it) fail("no instance");
    standard_run(it, me, reference_run[me]);
    F(FreeInstance)(it);
  }
  if (getenv("BOUGH_SEEDS")) {
    write_seeds(getenv("BOUGH_SEEDS"));
    exit(0);
  }
  return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  double out[PROBES];
  if (size < HEAD) return 0;
  const int me = (data[0] / PHASES) % KINDS;
  handle it = create(me, token, resources, 1);
  internal_steps = -1000; /* what is legal ends by itself */
  bring_to(it, me, data[0] % PHASES);
  attack(it, me, data + HEAD, size - HEAD, data[1]);
  if (F(Reset)(it) != OK) fail("reset failed");
  internal_steps = -1000;
  standard_run(it, me, out);
  if (memcmp(out, reference_run[me], sizeof out) != 0) fail("a reset instance runs differently");
  F(FreeInstance)(it);
  return 0;
}
