/* sim.h - a time integration in progress, shared by the integrators. */
#ifndef BOUGH_SIM_H
#define BOUGH_SIM_H

#include "internal.h"

/* Where a run is, apart from its arrays. */
typedef struct {
  double t, t_old;  /* the last step went from t_old to t */
  double h;         /* next step of an adaptive method; zero: to be chosen */
  double reach;     /* longest step worth a try where it is the last one to a limit */
  double error_old; /* of the last accepted step, for the step-size control */
  int64_t fresh;    /* rate holds f(t, y) */
  int64_t steps, rejected, evaluations;
} sim_clock;

/* y = (q, u). The clock, and the arrays from y on, are all that a run has to remember to be resumed bit for bit. */
struct bough_sim {
  const bough_model *model;
  bough_data *data;
  bough_sim_options options;
  double stop; /* s, no step goes beyond it */
  int nq, nu, ny;
  sim_clock now;
  size_t array_bytes;
  double *y, *rate;     /* [ny] state and its rate at t */
  double *y_old;        /* [ny] state at t_old */
  double *dense;        /* [4*ny] coefficients of the dense output over the last step */
  double *k;            /* [7*ny] stages */
  double *stage;        /* [ny] */
  double *tau, *motion; /* [nu] */
  double *loads;        /* [6*loads] */
  double *extra;        /* [3*nu] Rosenbrock */
  bough_input_fn input;
  void *user;
  bough_where where;
};

/* f(t, y): rates of q and u */
bough_status bough_sim_rate(bough_sim *sim, double t, const double *y, double *rate);
/* inputs at time t into tau, motion, loads */
bough_status bough_sim_inputs(bough_sim *sim, double t);
/* one step of length h from t, into y; the caller looks after sizes and time */
bough_status bough_rk4_step(bough_sim *sim, double h);
/* one accepted step of at most `limit`; y, t, h move on */
bough_status bough_dopri5_step(bough_sim *sim, double limit);
void bough_dopri5_dense(const bough_sim *sim, double t, double *y);
/* one step of length h; *error gets the weighted norm of the embedded error */
bough_status bough_rosenbrock_step(bough_sim *sim, double h, double *y_new, double *error);
/* weighted root-mean-square of an error between states a and b */
double bough_sim_norm(const bough_sim *sim, const double *error, const double *a, const double *b);

#endif
