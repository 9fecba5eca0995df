/* model_controller.h - what the files of the model-controller share: its table, its mechanics.
 *
 * n counts the degrees of freedom that the controller looks at: H axes (hinges that torques drive) and m modes. A floating
 * base comes before them in the model's q and u (BASE_Q and BASE_U numbers). Nothing drives it, and without gravity and with
 * zero momentum its speed follows from the others': see model_motion.c. So x = (q, u) has 2n numbers, base or not. */
#ifndef BOUGH_MODEL_CONTROLLER_H
#define BOUGH_MODEL_CONTROLLER_H

#include "partner.h"

enum { BASE_Q = 7, BASE_U = 6 };

/* The table of the resource; engine/bough/partners/model_controller.py writes it.
 *   sample, s; substeps; n; modes; stations; floating (0, 1); law (0 state feedback, 1 accelerations); reach
 *   axis [H], mode [m]: places among the n; scale [H]: rad or m that count as one
 *   then for each station along the move: angles theta [H]; K_ee^-1 [m][m]; K [H][2n]; L [2n][2H]; K_z [H][H];
 *   law 1: also G [n][2n], W [n] in the order of axis and mode */
enum { SAMPLE, SUBSTEPS, DOFS, MODES, STATIONS, FLOATING, LAW, REACH, FIXED };

typedef struct {
  int H, m, n, stations, base, law; /* base: BASE_U or 0 */
  double sample, reach;
  const double *axis, *mode, *scale, *station;
  size_t gains;       /* numbers of a station after its angles */
  const double *Kinv; /* [m][m], [H][2n], [2n][2H], [H][H], [n][2n], [n]: gains of the present pose, made by bough_gains_at */
  const double *K, *L, *Kz, *G, *W;
} bough_plan;

/* ---- model_gains.c */
int bough_plan_fits(const bough_instance *f);
bough_plan bough_read_plan(const bough_instance *f);
/* Gains for the angles theta [H] into room [p->gains]: those of the nearest point of the line through the stations. Returns
 * how far away that point is, in units of scale. */
double bough_gains_at(bough_plan *p, const double *theta, double *room);

/* ---- model_motion.c: work of n + base numbers and the like is the caller's; see bough_motion_room */
size_t bough_motion_room(const bough_plan *p);
/* Generalized forces tau [n] that accelerations a [n] take at q, u [n]. */
bough_status bough_model_forces(bough_instance *f, const bough_plan *p, const double *q, const double *u, const double *a,
                                double *tau, double *work);
/* Mass matrix M [n][n], a floating base eliminated. */
bough_status bough_model_mass(bough_instance *f, const bough_plan *p, const double *q, double *M, double *work);
/* Accelerations udot [n] under forces tau [n] at x [2n]. */
bough_status bough_model_accelerations(bough_instance *f, const bough_plan *p, const double *x, const double *tau, double *udot,
                                       double *work);
/* x [2n] one sample on with forces tau [n] held, by RK4. */
bough_status bough_model_predict(bough_instance *f, const bough_plan *p, double *x, const double *tau, double *work);
/* L D L' in place of a symmetric positive definite matrix: the rows and columns `place` [count] of A [size][size]. */
void bough_factor_places(double *A, int size, const double *place, int count);
/* y -> A^-1 y [count] with these factors, y in the order of `place`. */
void bough_solve_places(const double *A, int size, const double *place, int count, double *y);

/* ---- model_accelerations.c */
typedef struct {
  const double *q, *u, *a, *z; /* [n] positions, speeds, accelerations that are desired; [H] integral of the hinges' error */
} bough_desired;
size_t bough_compare_room(const bough_plan *p); /* beside the motion's */
/* tau [H], the torques of the last sample, corrected. */
bough_status bough_compare_accelerations(bough_instance *f, const bough_plan *p, const double *x, const bough_desired *d,
                                         double *tau, double *work);

#endif
