/* partner.h - FMUs that work beside a mechanism: motor, controller, model-controller.
 *
 * A partner is an instance with another record of functions, bough_partner_type, than a mechanism. All its variables are
 * numbers in one array, in the order of the resource's table: a quantity of the description (engine/bough/partners) has one
 * number, or one per axis. What it remembers besides follows in the same array, so that snapshots hold everything. */
#ifndef BOUGH_PARTNER_H
#define BOUGH_PARTNER_H

#include "instance/inside.h"

enum { PARTNER_MOTOR = 1, PARTNER_CONTROLLER = 2, PARTNER_MODEL_CONTROLLER = 3 };
/* Kind of all variables but time; their index is quantity * PARTNER_AXES + axis. */
enum { PARTNER_AXES = 1000, PARTNER_QUANTITIES = 40 };

typedef struct {
  int quantities;
  int modal;                                    /* so many of them, the last, are missing where there are no modes */
  int (*open)(bough_instance *f);                 /* check the resource, say how much is to be remembered; logs; 1 if well */
  bough_instance_status (*evaluate)(bough_instance *f);      /* outputs, from parameters, inputs and memory */
  bough_instance_status (*advance)(bough_instance *f, double end); /* memory from now to `end`, inputs held */
  double (*sample)(const bough_instance *f, const double *arrays); /* s; the first number in memory is then that of the next
                                                                  * sample. 0: this partner does not sample */
  int exchange;                                 /* whether it is for Model Exchange too: samples are time events there */
} bough_partner_law;
extern const bough_partner_law bough_partner_motor, bough_partner_controller, bough_partner_model_controller;

struct partner {
  const bough_partner_law *law;
  int first[PARTNER_QUANTITIES], count[PARTNER_QUANTITIES]; /* slots of each quantity */
  int axes;
  size_t remembered;   /* numbers in memory */
  double *memory;
  const double *range; /* [slots][2] least and greatest value */
  const double *table; /* further numbers of the resource */
  size_t table_size;
  const unsigned char *block; /* the kernel's, if there is one */
  size_t block_size;
  double *work;        /* not saved */
};

/* the number of a quantity for an axis; the only one if all axes share it */
static inline double *bough_partner_value(const bough_instance *f, int quantity, int axis) {
  const struct partner *p = f->partner;
  return f->arrays + p->first[quantity] + (p->count[quantity] == 1 ? 0 : axis);
}
static inline double bough_clamp(double x, double least, double most) { return x < least ? least : x > most ? most : x; }

/* ---- shapes.c */
/* 1 - exp(-x) for x >= 0, with the same digits everywhere */
double bough_decay(double x);
/* a move from 0 to 1 that begins at t = 0 and takes `duration`: position, speed and acceleration at t */
void bough_quintic(double t, double duration, double s[3]);
/* When sample `k` is due: multiples of the sample time, never a sum of steps. */
static inline double bough_sample_time(double start, double k, double sample) { return start + k * sample; }
/* Communication points are sums in many hosts: a sample this much ahead, in sample times, is due. */
#define SAMPLE_SLACK 1e-5
#define SAMPLES_MOST 1e6 /* in one communication step; more are a mistake */
#define COUNT_MOST 9e15  /* numbers of samples are whole doubles, below 2^53 */
/* Whether a sample at t is to be shown: it is due, and inputs of this instant are here. Before, what a host reads would be
 * made of new references and old measurements. */
static inline int bough_sample_due(const bough_instance *f, double t, double sample) {
  if (f->event_mode && (f->now.state & (AT_STEP | AT_CONTINUOUS))) return 0; /* it is taken in event mode */
  return (f->now.changed & CHANGED_INPUTS) && t <= f->now.time + SAMPLE_SLACK * sample;
}
/* Would a step to `end` take more than `most` samples, from number `next` on? Logs. */
int bough_too_many_samples(bough_instance *f, double next, double end, double sample, double most);
/* Could `next` be the number of the next sample at this clock? */
int bough_sample_fits(const bough_clock *now, double next, double sample);

#endif
