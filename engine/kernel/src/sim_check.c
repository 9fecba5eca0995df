/* sim_check.c - could a run be where it says it is? For states that come from outside. */
#include "sim.h"

static int count_ok(int64_t n) { return n >= 0 && n < INT64_C(1) << 53; }

bough_status bough_sim_check(const bough_sim *sim) {
  if (!sim) return BOUGH_BAD_ARGUMENT;
  const sim_clock *now = &sim->now;
  const double times[] = {now->t, now->t_old, now->h, now->reach, now->error_old};
  for (size_t i = 0; i < sizeof times / sizeof *times; i++)
    if (!bough_finite(times[i])) return BOUGH_NOT_FINITE;
  const int clock_ok = now->t_old <= now->t && now->h >= 0.0 && now->reach >= 0.0 && now->error_old >= 0.0;
  const int counts_ok = count_ok(now->steps) && count_ok(now->rejected) && count_ok(now->evaluations);
  return clock_ok && counts_ok && (now->fresh == 0 || now->fresh == 1) ? BOUGH_OK : BOUGH_BAD_ARGUMENT;
}
