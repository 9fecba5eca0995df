/* sim.h - a time integration in progress: what the walk from one time to the next (sim.c), the measure of errors
 * (tolerance.c) and the integrators (one file each) share. */
#ifndef BOUGH_SIM_H
#define BOUGH_SIM_H

#include "internal.h"

/* An integrator. `attempt` makes one step of length h from (t, y): `stage` gets the new state, `error` an estimate of its
 * error (untouched by fixed steps); y, t and everything else that the run remembers stay, so that a shorter attempt can
 * follow. */
typedef struct {
  bough_method_facts facts;
  double alpha, beta;     /* next step over this one: 0.9 e^-alpha e_old^beta, e the error over the tolerance ... */
  double grow;            /* ... and at most this */
  bough_status (*attempt)(bough_sim *sim, double h);
  void (*keep)(bough_sim *sim, double h);                     /* an attempt is accepted: prepare dense output; set `fresh` if
                                                               * `rate` is that of the new state. Or null */
  void (*dense)(const bough_sim *sim, double t, double *y);   /* state between t_old and t, or null */
} bough_integrator;

/* Where a run is, apart from its arrays. */
typedef struct {
  double t, t_old;    /* s; the last step went from t_old to t */
  double h;           /* s, next step of an adaptive method; zero: to be chosen */
  double reach;       /* s, longest step worth a try where it is the last one to a limit */
  double error_old;   /* of the last accepted step, for the step-size control */
  double error_stuck; /* three attempts ago: does a shorter step help? */
  double target;      /* s, the last time that a result was asked for ... */
  double spacing;     /* ... and how long after the one before, s */
  double input_t;     /* s, origin of the inputs' polynomials */
  double grid_from, grid_to;     /* s: equal steps from here to there ... */
  int64_t grid_count, grid_next; /* ... so many, this one next */
  int64_t input_order;           /* of the polynomials; -1: no inputs */
  int64_t fresh;                 /* rate holds f(t, y) */
  int64_t tries;                 /* attempts at this step that were rejected */
  int64_t steps, rejected, evaluations, noise_count;
  int64_t method, maker;         /* that makes the next step, and that made the last one: bough_method, never BOUGH_AUTO */
  /* BOUGH_AUTO */
  int64_t trial;                 /* these steps try the other method out */
  int64_t calm, wait;            /* steps since the last change, and before the next trial */
  int64_t mark_evaluations;      /* where the pace is measured from ... */
  double mark_t;                 /* ... s */
  double pace, h_own;            /* of the method that is not on trial: time per work, step length, s */
  /* friction, limits and gears: events.c */
  int64_t unsettled;             /* 1: inputs, parameters or the state may ask for other modes; 2: there are none yet */
  int64_t off_grid;              /* an event ended a fixed step before its time */
  int64_t events, at_once;       /* so far; of these without time between them ... */
  int64_t blind;                 /* ... after which a step looks at none */
  int64_t turned, inside;        /* the last step ended in an event; modes are those before it */
  double event_t;                /* s, of the first of those at once */
} sim_clock;

/* y = (q, u). The clock, and the arrays from y on, are all that a run has to remember to be resumed bit for bit. */
struct bough_sim {
  const bough_model *model;
  bough_data *data;
  const bough_integrator *method;
  bough_sim_options options;
  double stop;     /* s, no step goes beyond it */
  double fastest;  /* rad/s, of the modes */
  double horizon;  /* s, H of tolerance.c; zero unless shorter steps do not help */
  int64_t budget;  /* attempts left in this call; negative: no bound */
  int nq, nu, ny, n_inputs;
  sim_clock now;
  size_t array_bytes;
  double *y, *rate;     /* [ny] state and its rate at t */
  double *y_old;        /* [ny] state at t_old */
  double *y_start;      /* [ny] state at the start of the run */
  double *size;         /* [ny] largest distance from y_start so far */
  double *noise;        /* [ny] what rounding does to the rate, per second */
  double *root_mass;    /* [ny] modes: root of the modal mass, which makes modes of a body comparable; hinges: 1 */
  double *dense;        /* [4*ny] coefficients of the dense output over the last step */
  double *k;            /* [12*ny] stages */
  double *stage;        /* [ny] state that an attempt reached */
  double *error;        /* [ny] estimate of its error */
  double *size_now;     /* [ny] what an attempt's errors are measured by: tolerance.c */
  double *probe, *probe_rate; /* [ny] a state near by, and its rate: tolerance.c */
  double *inputs;       /* [BOUGH_INPUT_ORDERS+1][n_inputs] value of tau, motion, loads at input_t, then derivatives */
  double *tau, *motion; /* [nu] inputs of the stage; loads follow */
  double *loads;        /* [6*loads] */
  double *inputs_new;   /* [n_inputs] inputs as they become at t: do they jump? */
  /* linearly implicit stages, all in speeds' coordinates */
  double *implicit_force;             /* [nu] applied forces, less what stiffness and damping do */
  double *implicit_dq, *implicit_du;  /* [nu] what stiffness and damping act on */
  double *implicit_xi, *implicit_f;   /* [nu] modes of a body, and the forces on them */
  double *slide;                      /* [nu] change of positions over a step */
  double *gaps;         /* [2][element values] at both ends of an attempt, or null: gaps.c */
  /* events.c */
  double *mode_step, *mode_kept; /* [modes] of the last step if it ended in an event; those after it while the former are shown */
  double *event_end, *event_rate, *event_y, *event_spare; /* [ny] end of an attempt and its rate; a place in it, and its rate */
  double *event_first, *event_last, *event_here, *event_z; /* [indicators] at the beginning and the end; in between; of a probe */
  double event_z0, event_h0;     /* the event's function at the end of the step before it was cut */
  int64_t event_evaluations;     /* made when the attempt ended */
  int end_known;                 /* event_rate is that of the state that the step reaches */
  bough_input_fn input;
  void *user;
  bough_where where;
};

/* f(t, y): rates of q and u */
bough_status bough_sim_rate(bough_sim *sim, double t, const double *y, double *rate);
/* inputs at time t and state y into tau, motion, loads */
bough_status bough_sim_inputs(bough_sim *sim, double t, const double *y);

/* the method of the next step */
void bough_sim_use(bough_sim *sim, int64_t method);

/* ---- auto.c */
/* the first step is about to be made */
void bough_auto_start(bough_sim *sim);
/* a step has been accepted: is the other method worth a trial, or has the trial shown enough? */
void bough_auto_follow(bough_sim *sim);
/* a step has been rejected; is this the end of a trial, and the step to be made by the method before? */
int bough_auto_rejected(bough_sim *sim);
/* could a run have left this? */
int bough_auto_ok(const sim_clock *now);

/* loops and couplings of the state y at time t are closed */
bough_status bough_sim_close(bough_sim *sim, double t, double *y);

/* ---- events.c; without friction, limits and gears nothing happens */
/* before a step: modes fit the state, the inputs and the parameters; `rate` is that of the state */
bough_status bough_events_begin(bough_sim *sim);
/* the longest step from here that misses nothing of the friction between rest and motion */
double bough_events_longest(const bough_sim *sim);
/* An attempt of length *h has met its tolerance. *found: something happens in it; *h is where, and `stage` the state there;
 * zero: at once, and there is no step. */
bough_status bough_events_find(bough_sim *sim, double *h, int *found);
/* it happens, at (t, y) */
bough_status bough_events_happen(bough_sim *sim);
/* modes that evaluations see: those of the last step, or those after it */
void bough_events_show(bough_sim *sim, int inside);

/* ---- gaps.c */
/* is there a contact, or a spring that only pulls or pushes? */
int bough_gaps_any(const bough_model *model);
/* how far the attempt of length h, in `stage`, may go: h, or less where it passed a gap that closes and opens again */
double bough_gaps_passed(bough_sim *sim, double h);

/* ---- implicit.c */
/* ku with (M + gh D + gh^2 K) ku = F(t, y) - K dq - D du. dq and du are in speeds' coordinates; there is room for them in
 * implicit_dq and implicit_du. */
bough_status bough_sim_implicit(bough_sim *sim, double t, double gh, const double *y, const double *dq, const double *du,
                                double *ku);

/* ---- tolerance.c */
void bough_tolerance_start(bough_sim *sim);
/* weighted root-mean-square of `error` of a step of length h that reached `stage`: at most one is good enough */
double bough_tolerance_norm(const bough_sim *sim, double h);
/* y has moved on */
void bough_tolerance_follow(bough_sim *sim);
/* shorter steps do not help: judge small beginnings by what they can become soon */
bough_status bough_tolerance_relieve(bough_sim *sim);
/* measure what rounding does to the rates at (t, y), for steps of about h */
bough_status bough_tolerance_measure_noise(bough_sim *sim, double h);

#endif
