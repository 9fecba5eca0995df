/* hinges.c - hinge types outside the sweeps: their facts, position rates, quaternions of unit length. */
#define BOUGH_ISA base
#define BOUGH_SMALL
#define LANE_ONE
#include "sweeps/lane.h"

#include "sweeps/spatial.inl"
#include "hinges.inl"

const bough_hinge_facts *bough_hinge(int type) {
  const int count = (int)(sizeof hinge_types / sizeof *hinge_types);
  return type >= 0 && type < count ? &hinge_types[type]->facts : NULL;
}

/* Qdot = Q (w, 0)/2 of a quaternion, w in outboard axes */
static void quaternion_rates(const double Q[4], const double w[3], double dQ[4]) {
  dQ[0] = 0.5 * (Q[3] * w[0] + Q[1] * w[2] - Q[2] * w[1]);
  dQ[1] = 0.5 * (Q[3] * w[1] + Q[2] * w[0] - Q[0] * w[2]);
  dQ[2] = 0.5 * (Q[3] * w[2] + Q[0] * w[1] - Q[1] * w[0]);
  dQ[3] = -0.5 * (Q[0] * w[0] + Q[1] * w[1] + Q[2] * w[2]);
}

void bough_position_rates(const bough_model *m, const double *q, const double *u, double *qdot) {
  for (int k = 0; k < m->nb; k++) {
    const bough_body *b = m->body + k;
    const int i = b->quaternion, plain = i < 0 ? b->nh : i;
    for (int j = 0; j < plain; j++) qdot[b->q0 + j] = u[b->u0 + j];
    if (i >= 0) quaternion_rates(q + b->q0 + i, u + b->u0 + i, qdot + b->q0 + i);
    for (int r = 0; r < b->nm; r++) qdot[b->qm + r] = u[b->um + r];
  }
}

void bough_position_rates_turned(const bough_model *m, const double *dq, const double *u, double *dqdot) {
  for (int k = 0; k < m->nb; k++) {
    const bough_body *b = m->body + k;
    const int i = b->quaternion;
    double dQ[4];
    if (i < 0) continue;
    quaternion_rates(dq + b->q0 + i, u + b->u0 + i, dQ);
    for (int j = 0; j < 4; j++) dqdot[b->q0 + i + j] += dQ[j];
  }
}

void bough_normalize(const bough_model *m, double *q) {
  for (int k = 0; k < m->nb; k++) {
    const bough_body *b = m->body + k;
    if (b->quaternion < 0) continue;
    double *Q = q + b->q0 + b->quaternion;
    const double n = sqrt(Q[0] * Q[0] + Q[1] * Q[1] + Q[2] * Q[2] + Q[3] * Q[3]);
    if (!(n > 0.0)) continue;
    for (int i = 0; i < 4; i++) Q[i] /= n;
  }
}
