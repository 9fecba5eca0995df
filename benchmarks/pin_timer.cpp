// Times pinocchio::aba from inside C++, for `python -m benchmarks`: the peer of the C call. Compiled from Pinocchio's headers with
// the compiler and the instruction set of the kernel, so that its templates are as fast as they can be.
#include <chrono>
#include <string>

#include <pinocchio/algorithm/aba.hpp>
#include <pinocchio/multibody.hpp>

using namespace pinocchio;

namespace {
struct Timer {
  Model model;
  Data data;
  Eigen::VectorXd q, u, tau;
};
using Row = Eigen::Matrix<double, 3, 3, Eigen::RowMajor>;
}  // namespace

// `bodies`: for each one rotation (9, by rows) and position (3) of its joint about z, mass (1), mass centre (3), inertia (9).
extern "C" Timer *pin_open(int count, const double *bodies, const double *gravity, const double *q, const double *u,
                           const double *tau) {
  Model model;
  model.gravity = Motion(Eigen::Map<const Eigen::Vector3d>(gravity), Eigen::Vector3d::Zero());
  JointIndex joint = 0;
  for (int k = 0; k < count; k++, bodies += 25) {
    const SE3 place(Eigen::Map<const Row>(bodies).eval(), Eigen::Map<const Eigen::Vector3d>(bodies + 9).eval());
    joint = model.addJoint(joint, JointModelRZ(), place, "j" + std::to_string(k));
    const Symmetric3 inertia(Eigen::Map<const Row>(bodies + 16).eval());
    model.appendBodyToJoint(joint, Inertia(bodies[12], Eigen::Map<const Eigen::Vector3d>(bodies + 13).eval(), inertia));
  }
  using Vector = Eigen::Map<const Eigen::VectorXd>;
  return new Timer{model, Data(model), Vector(q, count), Vector(u, count), Vector(tau, count)};
}

extern "C" void pin_close(Timer *t) { delete t; }

// Accelerations of the state that it was opened with.
extern "C" void pin_accelerations(Timer *t, double *udot) {
  Eigen::Map<Eigen::VectorXd>(udot, t->model.nv) = aba(t->model, t->data, t->q, t->u, t->tau, Convention::LOCAL);
}

// Seconds per evaluation over `repeats` calls; the first angle moves a little, as in timer.c.
extern "C" double pin_single(Timer *t, long repeats) {
  const auto began = std::chrono::steady_clock::now();
  for (long i = 0; i < repeats; i++) {
    t->q[0] += 1e-12;
    aba(t->model, t->data, t->q, t->u, t->tau, Convention::LOCAL);
  }
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count() / double(repeats);
}
