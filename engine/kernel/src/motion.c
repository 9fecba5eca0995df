/* motion.c - kinematics and energy: the public calls. */
#include "internal.h"

static bough_sweep kinematic_sweep(const bough_data *d) {
  bough_sweep s = bough_data_sweep(d);
  s.path = d->path_general;
  s.full = 1; /* deformed frames at either fidelity */
  return s;
}

bough_status bough_node_motion(const bough_model *m, bough_data *d, const double *q, const double *u,
                               const double *udot, int count, const int *nodes, double *pose, double *velocity,
                               double *acceleration) {
  if (!m || !d || d->model != m || !q || !u || count < 0 || (acceleration && !udot)) return BOUGH_BAD_ARGUMENT;
  if (count > 0 && (!nodes || !pose || !velocity)) return BOUGH_BAD_ARGUMENT;
  for (int i = 0; i < count; i++)
    if (nodes[i] < 0 || nodes[i] >= m->n_nodes) return BOUGH_BAD_ARGUMENT;
  const bough_sweep s = kinematic_sweep(d);
  bough_other_ops_one_base.node_motion(&s, d->work_one, q, u, udot, count, nodes, pose, velocity, acceleration);
  return BOUGH_OK;
}

bough_status bough_node_pose(const bough_model *m, bough_data *d, const double *q, int node, double position[3],
                             double quaternion[4]) {
  double pose[7], velocity[6];
  if (!m || !d || !position || !quaternion) return BOUGH_BAD_ARGUMENT;
  const bough_status status = bough_node_motion(m, d, q, d->zero, NULL, 1, &node, pose, velocity, NULL);
  if (status != BOUGH_OK) return status;
  for (int i = 0; i < 3; i++) position[i] = pose[i];
  for (int i = 0; i < 4; i++) quaternion[i] = pose[3 + i];
  return BOUGH_OK;
}

static bough_status energy_and_momentum(const bough_model *m, bough_data *d, const double *q, const double *u,
                                        double energy[4], double momentum[6]) {
  if (!m || !d || d->model != m || !q || !u) return BOUGH_BAD_ARGUMENT;
  bough_sweep s = bough_data_sweep(d);
  s.path = d->path_general;
  bough_other_ops_one_base.energy(&s, d->work_one, q, u, energy, momentum);
  return BOUGH_OK;
}
bough_status bough_energy(const bough_model *m, bough_data *d, const double *q, const double *u, double energy[4]) {
  double momentum[6];
  return energy ? energy_and_momentum(m, d, q, u, energy, momentum) : BOUGH_BAD_ARGUMENT;
}
bough_status bough_momentum(const bough_model *m, bough_data *d, const double *q, const double *u,
                            double momentum[6]) {
  double energy[4];
  return momentum ? energy_and_momentum(m, d, q, u, energy, momentum) : BOUGH_BAD_ARGUMENT;
}
