/* drives.h - what acts in a hinge DOF beyond spring and damper: friction, limits, geared rotors. The laws (drives.c), and who
 * sticks, rests or moves on (settle.c).
 *
 * A drive is a DOF with friction, with a limit, or with both. Its mode is what the laws remember:
 *   slip     direction of motion that friction opposes, -1 or 1; 0: at rest, or no friction
 *   contact  limit that it touches, -1 lower, 1 upper, 0 none; -2 and 2: latched there
 *   hold     1: the recursion holds the DOF at zero acceleration, and its force is read off the sweep
 *   carry    force of a DOF at rest that is not held, because others that are held keep it there (closed loops)
 *   worst    largest speed at which it has hit a limit so far
 *   speed, way, force   largest speed, distance from the nearer limit and force while held so far: what is small is so
 *            against them
 * A gear is an elastic shaft with play between a rotor's DOF and a hinge's; its mode is the flank that touches. */
#ifndef BOUGH_DRIVES_H
#define BOUGH_DRIVES_H

#include "internal.h"

typedef struct {
  double slip, contact, hold, carry, worst, speed, way, force;
} bough_drive_mode;
enum { BOUGH_DRIVE_NUMBERS = (int)(sizeof(bough_drive_mode) / sizeof(double)) };

static inline bough_drive_mode *bough_drive_modes(double *mode) { return (bough_drive_mode *)(void *)mode; }
static inline double *bough_gear_modes(const bough_model *m, double *mode) { return mode + BOUGH_DRIVE_NUMBERS * m->n_drives; }

/* What counts as at rest, as touching, and as a force at its bound: far below what any step is accurate to. Each is a part of what
 * the drive has done so far, so that mechanisms of any size are treated alike; at most as if that were 1 rad or m (per
 * second), and never less than the rounding of coordinates and of time leaves. */
static const double DRIVE_REST = 1e-10;  /* of the largest speed */
static const double DRIVE_TOUCH = 1e-13; /* of the largest distance from a limit; of the play of a gear */
static const double DRIVE_SLACK = 1e-10; /* of the static friction ... */
static const double DRIVE_FORCE = 1e-11; /* ... and of the largest force besides */
static const double DRIVE_LEAST = 1e-6;  /* of the fastest drive, and rad or m (per second): no drive counts as smaller */

static inline double bough_drive_size(double seen) { return seen > 1.0 ? 1.0 : seen < DRIVE_LEAST ? DRIVE_LEAST : seen; }
/* largest speed of all drives so far */
double bough_drive_fastest(const bough_data *d);
/* rad/s or m/s; below: at rest */
static inline double bough_drive_rest(const bough_drive_mode *s, double fastest) {
  return DRIVE_REST * bough_drive_size(s->speed > DRIVE_LEAST * fastest ? s->speed : DRIVE_LEAST * fastest);
}
/* rad or m; nearer: touching. `seen`: the size above, x and v coordinate and speed at time t */
static inline double bough_drive_touch(double seen, double t, double x, double v) {
  return DRIVE_TOUCH * bough_drive_size(seen) + 8.9e-16 * ((x < 0.0 ? -x : x) + (v * t < 0.0 ? -v * t : v * t));
}
/* N.m or N; nearer: at its bound */
static inline double bough_drive_slack(const bough_drive *x, const bough_drive_mode *s) {
  return DRIVE_SLACK * x->still + DRIVE_FORCE * s->force;
}

static inline int bough_drive_rubs(const bough_drive *x) { return x->still > 0.0; }
static inline int bough_drive_hard(const bough_drive *x) { return x->stop == STOP_HARD || x->stop == STOP_LATCH; }

/* derivative of the friction of a drive that is not held, along a change dw of its speed w */
double bough_drive_friction_rate(const bough_drive *x, const bough_drive_mode *s, double w, double dw);
/* force of static friction and limit within which a held drive stays: bounds of what is needed to hold it */
void bough_drive_bounds(const bough_drive *x, const bough_drive_mode *s, double *low, double *high);
/* penetration of the nearer limit, positive inside it, how fast it grows, and which one; x the coordinate, v its rate */
typedef struct {
  double depth, rate, side;
} bough_approach;
bough_approach bough_approach_of(double low, double high, double x, double v);
/* rotation across a gear's shaft at the hinge, rad or m, and its rate */
void bough_gear_twist(const bough_gear *g, const double *q, const double *u, double *x, double *v);
/* one of them: of friction and of what rests on a limit; of a limit; of a gear's play */
double bough_grip_indicator(const bough_drive *x, const bough_drive_mode *s, double w, double need, double rest);
double bough_gap_indicator(const bough_drive *x, const bough_drive_mode *s, double q, double w);
double bough_flank_indicator(const bough_gear *g, double flank, double x, double v);
/* Event functions [2 drives + gears]: positive until something changes; `need` [drives] is what the held ones take. */
void bough_drive_indicators(const bough_data *d, const double *mode, const double *q, const double *u, const double *need,
                            double *z);
/* derivatives of the event functions along `dir`; drive_need and drive_need_rate are set */
void bough_drive_indicator_rates(const bough_data *d, const bough_point *at, const bough_point *dir, double *dz);
/* largest speeds and distances so far: the modes' `speed` and `way` */
void bough_drives_follow_sizes(bough_data *d, const double *q, const double *u);
/* without memory: modes as the point asks for them */
bough_status bough_drives_follow(bough_data *d, const bough_point *at);
/* a forward sweep with friction, limits and gears in their present modes */
bough_status bough_drives_forward(bough_data *d, const bough_sweep *s, const bough_point *at, const bough_values *values);
/* tau [nu] += forces of the laws at (q, u), held drives apart; dtau (may be null) += their derivative along dq, du (null: 0) */
void bough_drive_forces(const bough_data *d, const double *q, const double *u, double *tau, const double *dq, const double *du,
                        double *dtau);
/* held [nu]: what the caller holds, and what friction and limits hold */
void bough_drive_held(const bough_data *d, const unsigned char *given, unsigned char *held);
/* At a point: what has come to rest, touches, or is pushed beyond its bounds changes its mode; speeds jump where a limit is
 * hit, and q is set back to it. *changed: a mode, q or u is another. `from_state`: modes follow from the state alone, speeds
 * stay. */
bough_status bough_drives_settle(bough_data *d, const bough_point *at, double *q, double *u, int from_state, int *changed);
/* tau less the forces of the laws: what has to be applied so that udot comes about. Friction opposes the motion, or at rest the
 * motion that begins; where nothing moves or begins to, it exerts nothing. */
void bough_drives_inverse(bough_data *d, const double *q, const double *u, const double *udot, double *tau);
/* energy in limits that give and in the shafts of gears, J */
double bough_drive_energy(const bough_model *m, const double *q);
/* What was needed to hold each held drive [drives], at the last evaluation. */
const double *bough_drives_need(const bough_data *d);

#endif
