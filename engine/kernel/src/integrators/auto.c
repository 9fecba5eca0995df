/* auto.c - a run that chooses between dopri5 and radau5 as it goes.
 *
 * An explicit step that stability binds is shorter than accuracy asks for, and an implicit one gains more than its rounds
 * cost; elsewhere it is the other way round. Which of the two holds is tried out: after CALM steps the other method goes
 * on for a while, and the one with the better pace, time over work, stays. After a trial that fails the next one waits
 * twice as long, so that a run far from the border pays some percent. Steps of either method are held to the same
 * tolerance.
 *  - An explicit method at its limit of stability leaves the stiff modes ringing, at the size of the tolerance, and an
 *    implicit one has to follow until they fade. So its trial is long; it ends early where there is little hope.
 *  - The trial of the explicit method ends at the first step that fails, before it sets anything ringing.
 *  - A run begins implicit where a step from one result to the next would take the fastest mode beyond all stability. */
#include "sim.h"

enum { CALM = 20, MOST_CALM = 2560, GLANCE = 6, TRIAL = 50 };
static const double BETTER = 1.15; /* a change pays only if the pace gains so much */
static const double HOPE = 0.4;    /* of the pace so far: below it a trial ends at the first glance ... */
static const double BOUND = 0.3;   /* ... unless the explicit step was so many rad of the fastest mode: near its limit, 1 */
static const double STIFF = 3.0;   /* rad from one result to the next */

/* Work of an evaluation, in plain forward sweeps. Implicit stages take the general path, and the modes of a two-port are
 * then eliminated at every evaluation: measured 7 times a plain sweep at 20 modes and 31 times at 50. Rows of stiff forces
 * cost a pass over the frames, and a sweep along their path each: measured 2.2 sweeps in all with one row, 1.7 with six. */
static double work_of(const bough_sim *sim) {
  const bough_model *m = sim->model;
  double sum = 0.0;
  if (sim->now.method == BOUGH_DOPRI5) return 1.0;
  for (int k = 0; k < m->nb; k++) {
    const double nm = m->body[k].nm;
    sum += sim->data->path[k] == PATH_TWO_PORT ? 1.0 + nm * nm / 80.0 : 1.2;
  }
  return sum / m->nb + (sim->data->soft.most > 0 ? 0.5 + 0.1 * sim->data->soft.most : 0.0);
}

static double pace(const bough_sim *sim) {
  const double count = (double)(sim->now.evaluations - sim->now.mark_evaluations);
  return count > 0.0 ? (sim->now.t - sim->now.mark_t) / (count * work_of(sim)) : 0.0;
}

static void mark(bough_sim *sim) {
  sim->now.mark_t = sim->now.t, sim->now.mark_evaluations = sim->now.evaluations;
}

/* from here on with the other method, steps of h at first */
static void change(bough_sim *sim, double h) {
  bough_sim_use(sim, sim->now.method == BOUGH_DOPRI5 ? BOUGH_RADAU5 : BOUGH_DOPRI5);
  sim->now.h = sim->now.reach = h;
  sim->now.calm = 0;
}

void bough_auto_start(bough_sim *sim) {
  if (sim->now.steps == 0 && sim->fastest * sim->now.spacing > STIFF) bough_sim_use(sim, BOUGH_RADAU5);
  sim->now.wait = sim->now.method == BOUGH_RADAU5 ? CALM : 4 * CALM; /* nothing has hinted at a stiff run so far */
  mark(sim);
}

static void give_up(bough_sim *sim) {
  sim_clock *now = &sim->now;
  now->trial = 0;
  now->wait = now->wait < MOST_CALM ? 2 * now->wait : MOST_CALM;
  change(sim, now->h_own);
  mark(sim);
}

static void watch_trial(bough_sim *sim) {
  sim_clock *now = &sim->now;
  const int length = now->method == BOUGH_DOPRI5 ? 2 * GLANCE : TRIAL;
  if (now->calm == length) {
    if (pace(sim) < BETTER * now->pace) {
      give_up(sim);
      return;
    }
    now->trial = now->calm = 0, now->wait = CALM;
  } else if (now->calm == GLANCE && pace(sim) < HOPE * now->pace && !(sim->fastest * now->h_own > BOUND)) {
    give_up(sim);
    return;
  }
  if (now->calm == 0 || 2 * now->calm == GLANCE || 2 * now->calm == length) mark(sim); /* later steps count */
}

void bough_auto_follow(bough_sim *sim) {
  sim_clock *now = &sim->now;
  now->calm++;
  if (now->trial) {
    watch_trial(sim);
    return;
  }
  if (now->calm == now->wait - CALM) mark(sim);
  if (now->calm < now->wait) return;
  now->pace = pace(sim), now->h_own = now->h;
  now->trial = 1;
  change(sim, now->method == BOUGH_DOPRI5 ? now->h : now->h / 2.5);
  mark(sim);
}

int bough_auto_rejected(bough_sim *sim) {
  const int over = sim->now.trial && sim->now.method == BOUGH_DOPRI5;
  if (over) give_up(sim);
  return over;
}

int bough_auto_ok(const sim_clock *now) {
  const int method = now->method == BOUGH_DOPRI5 || now->method == BOUGH_RADAU5;
  const int maker = now->maker == BOUGH_DOPRI5 || now->maker == BOUGH_RADAU5;
  return method && maker && (now->trial == 0 || now->trial == 1) && now->calm >= 0 && now->calm <= MOST_CALM &&
         now->wait >= 0 && now->wait <= MOST_CALM && now->mark_evaluations >= 0 &&
         now->mark_evaluations <= now->evaluations && bough_finite(now->mark_t) && now->pace >= 0.0 &&
         bough_finite(now->pace) && now->h_own >= 0.0 && bough_finite(now->h_own);
}

const bough_integrator bough_auto = {{"auto", "chooses dopri5 or radau5", 4, BOUGH_STEP_ADAPTIVE}, 0, 0, 0, NULL, NULL, NULL};
