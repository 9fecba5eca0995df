/* motor.c - DC motor with amplifier and rigid gear. fmu_src/python/motor_slave.py has the law in Python, as an example of an FMU that a user changes.
 *
 *   v = Ka u, at most u_max either way            amplifier
 *   v = R i + L di/dt + Kb N w                    winding; w is the speed of the hinge
 *   tau = N eta Kt i                              torque at the hinge
 * The amplifier keeps |i| <= i_max as far as its voltage reaches. Inputs are constant over a step, so that i approaches
 * (v - Kb N w)/R exponentially: each stretch between limits is exact. With L = 0 the current is there at once. */
#include <math.h>

#include "partner.h"

enum { U, W, TAU, I, V, POWER, ARMATURE, KA, U_MAX, R_, L_, KT, KB, N_, ETA, J_, I_MAX, QUANTITIES };

typedef struct {
  double R, L, i_max;
  double v;             /* what is asked for, V */
  double emf;           /* Kb N w, V */
  double aim;           /* current that v leads to, A */
  double least, most;   /* currents that -u_max and u_max lead to, A */
} circuit;

static circuit look(const bough_instance *f, int a) {
  const double u_max = *bough_partner_value(f, U_MAX, a);
  circuit c;
  c.R = *bough_partner_value(f, R_, a), c.L = *bough_partner_value(f, L_, a), c.i_max = *bough_partner_value(f, I_MAX, a);
  c.v = bough_clamp(*bough_partner_value(f, KA, a) * *bough_partner_value(f, U, a), -u_max, u_max);
  c.emf = *bough_partner_value(f, KB, a) * *bough_partner_value(f, N_, a) * *bough_partner_value(f, W, a);
  c.aim = (c.v - c.emf) / c.R;
  c.least = (-u_max - c.emf) / c.R, c.most = (u_max - c.emf) / c.R;
  return c;
}

/* The amplifier holds the limit, unless its voltage is too low for this emf: then the current is what the voltage that
 * opposes it most leads to. */
static double hold(const circuit *c) {
  if (c->aim > c->i_max) return c->least > c->i_max ? c->least : c->i_max;
  if (c->aim < -c->i_max) return c->most < -c->i_max ? c->most : -c->i_max;
  return c->aim;
}

static double approach(double i, double aim, double x) { return i + (aim - i) * bough_decay(x); }

/* Current after x electric time constants, from |i| <= i_max, with an aim above the limit; signs as for a positive aim. */
static double into_limit(double i, double aim, double least, double i_max, double x) {
  const double free = approach(i, aim, x);
  if (free <= i_max) return free;
  if (least <= i_max) return i_max;
  return approach(i_max, least, x - log((aim - i) / (aim - i_max))); /* pushed through the limit from outside */
}

static double current_after(const circuit *c, double i, double h) {
  double x = h * c->R / c->L;
  const double side = i < 0.0 ? -1.0 : 1.0;
  if (side * i > c->i_max) { /* beyond the limit: all voltage against it */
    const double from = side * i, against = side * (side > 0.0 ? c->least : c->most);
    const double needed = against < c->i_max ? log((from - against) / (c->i_max - against)) : x;
    if (needed >= x) return side * approach(from, against, x);
    x -= needed;
    i = side * c->i_max;
  }
  if (c->aim > c->i_max) return into_limit(i, c->aim, c->least, c->i_max, x);
  if (c->aim < -c->i_max) return -into_limit(-i, -c->aim, -c->most, c->i_max, x);
  return approach(i, c->aim, x);
}

/* Voltage at the winding, V */
static double voltage(const circuit *c, double i) {
  if (c->L == 0.0) return c->R * i + c->emf;
  if (i > c->i_max) return c->R * c->least + c->emf;
  if (i < -c->i_max) return c->R * c->most + c->emf;
  const int held = (i == c->i_max && c->aim > i) || (i == -c->i_max && c->aim < i);
  return held ? c->R * hold(c) + c->emf : c->v;
}

static bough_instance_status evaluate(bough_instance *f) {
  for (int a = 0; a < f->partner->axes; a++) {
    const circuit c = look(f, a);
    const double N = *bough_partner_value(f, N_, a), i = c.L == 0.0 ? hold(&c) : f->partner->memory[a];
    const double tau = N * *bough_partner_value(f, ETA, a) * *bough_partner_value(f, KT, a) * i;
    *bough_partner_value(f, I, a) = i;
    *bough_partner_value(f, V, a) = voltage(&c, i);
    *bough_partner_value(f, TAU, a) = tau;
    *bough_partner_value(f, POWER, a) = tau * *bough_partner_value(f, W, a);
    *bough_partner_value(f, ARMATURE, a) = *bough_partner_value(f, J_, a) * N * N;
  }
  return INSTANCE_OK;
}

static bough_instance_status advance(bough_instance *f, double end) {
  for (int a = 0; a < f->partner->axes; a++) {
    const circuit c = look(f, a);
    double *i = f->partner->memory + a;
    *i = c.L == 0.0 ? hold(&c) : current_after(&c, *i, end - f->now.time);
  }
  return INSTANCE_OK;
}

static int open(bough_instance *f) {
  f->partner->remembered = (size_t)f->partner->axes; /* current, A */
  return 1;
}
static double sample(const bough_instance *f, const double *arrays) {
  (void)f, (void)arrays;
  return 0.0;
}

const bough_partner_law bough_partner_motor = {QUANTITIES, 0, open, evaluate, advance, sample, 0};
