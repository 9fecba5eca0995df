/* threads.c - thirty-two instances on eight threads, under the thread sanitizer: instances share nothing.
 *
 * Every instance goes from thread to thread from round to round. Whatever two instances both touch is reported as a data
 * race; besides, each must end with the very bits of its serial run. */
#include <pthread.h>

#include "fmi.h"

enum { INSTANCES = 32, THREADS = 8, ROUNDS = 6 };
static struct {
  handle it;
  double time, out[PROBES];
} slot[INSTANCES];

static void begin(int i) {
  slot[i].it = create(0, token, resources, i % 2);
  slot[i].time = 0.0;
  if (!slot[i].it || enter(slot[i].it, i % 3 == 0, 1e-4, 0.0, 0, 0.0) != OK || F(ExitInitializationMode)(slot[i].it) != OK)
    fail("no instance");
}

static void work(int i) {
  const reference vr[] = {0, 1, 2, 3};
  double x[4], seed = 1.0, not_a_number = NAN;
  snapshot box = NULL;
  handle it = slot[i].it;
  if (step(it, slot[i].time, 0.001 * (1 + i % 5), &slot[i].time) != OK) fail("a step failed");
  (void)set_real(it, vr + 1, 1, &not_a_number); /* refused, with a message */
  (void)directional(it, vr + 2, 2, vr + 1, 1, &seed, x);
  if (get_real(it, vr, 1, x) != OK || STATE(Get, )(it, &box) != OK || STATE(Set, )(it, box) != OK || STATE(Free, )(it, &box) != OK)
    fail("a call failed");
}

static void end(int i, double *out) {
  reference vr[PROBES];
  for (reference k = 0; k < PROBES; k++) vr[k] = k;
  if (get_real(slot[i].it, vr, PROBES, out) != OK) fail("no values");
  F(FreeInstance)(slot[i].it);
}

typedef struct {
  int thread, round; /* round -1: instantiate */
} job;

static void *on_thread(void *given) {
  const job *j = given;
  for (int i = 0; i < INSTANCES; i++) {
    if ((i + j->round + 1) % THREADS != j->thread) continue;
    if (j->round < 0)
      begin(i);
    else
      work(i);
  }
  return NULL;
}

int main(void) {
  static double serial[INSTANCES][PROBES];
  double out[PROBES];
  read_environment();
  for (int i = 0; i < INSTANCES; i++) {
    begin(i);
    for (int round = 0; round < ROUNDS; round++) work(i);
    end(i, serial[i]);
  }
  for (int round = -1; round < ROUNDS; round++) {
    pthread_t thread[THREADS];
    job jobs[THREADS];
    for (int t = 0; t < THREADS; t++) {
      jobs[t].thread = t, jobs[t].round = round;
      if (pthread_create(thread + t, NULL, on_thread, jobs + t) != 0) fail("no thread");
    }
    for (int t = 0; t < THREADS; t++) pthread_join(thread[t], NULL);
  }
  for (int i = 0; i < INSTANCES; i++) {
    end(i, out);
    if (memcmp(out, serial[i], sizeof out) != 0) fail("an instance among threads runs differently");
  }
  printf("%d instances, %d threads, %d rounds\n", INSTANCES, THREADS, ROUNDS);
  return 0;
}
