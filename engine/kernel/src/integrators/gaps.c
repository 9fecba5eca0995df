/* gaps.c - contacts and springs that only pull or push: no step passes one that is met and left again within it.
 *
 * Their laws have no memory, and a step that has a stage inside one sees it in its error. Where motion is simple, as in free
 * flight, steps are long, and a touch may fall between two stages. So after a step has met its tolerance the gap g of every such
 * element is looked at on the cubic through both ends of the step. Where it would close in between, the step is made again up to
 * the deepest place, whose stage then sees the force. */
#include <math.h>

#include "sim.h"

/* A cubic that comes nearer to zero than this part of its ends may be one that passes it: the step ends there all the same. */
static const double NEAR = 0.02;

/* What is left of a gap, from (s, v) that its element tells: positive while it exerts nothing. */
typedef struct {
  double g, g_rate; /* the gap, m */
  double p, p_rate; /* the same in squares of distances, which are smooth where two points fly past each other, m2 */
} opening;

static int opening_of(const bough_element *e, const double *value, opening *x) {
  enum { LENGTH = 2, ONLY = 3, RADIUS = 3, OTHER = 4 }; /* constants: elements/spring.inl, contact.inl */
  const int contact = e->type == ELEMENT_CONTACT, plane = contact && e->c[OTHER] < 0.0;
  if (!contact && (e->type != ELEMENT_SPRING || e->c[ONLY] == 0.0)) return 0;
  const double side = !contact && e->c[ONLY] < 0.0 ? -1.0 : 1.0; /* -1: a rope, slack while s < length */
  const double length = contact ? e->c[RADIUS] + e->c[OTHER] : e->c[LENGTH], s = contact ? value[0] + length : value[0];
  x->g = side * (s - length), x->g_rate = side * value[1];
  x->p = plane ? x->g : x->g * (s + length), x->p_rate = plane ? x->g_rate : x->g_rate * 2.0 * s;
  return 1;
}

int bough_gaps_any(const bough_model *m) {
  const double none[2] = {0.0, 0.0};
  opening x;
  for (int i = 0; i < m->n_elements; i++)
    if (opening_of(m->element + i, none, &x)) return 1;
  return 0;
}

/* lowest place in (0, 1) of the cubic with values g0, g1 and slopes a, b; 1 if it stays well above zero */
static double lowest(double g0, double g1, double a, double b) {
  const double d = g1 - g0, c2 = 3.0 * d - 2.0 * a - b, c3 = a + b - 2.0 * d, root2 = c2 * c2 - 3.0 * a * c3;
  if (!(root2 > 0.0)) return 1.0;
  const double x = c2 >= 0.0 ? -a / (c2 + sqrt(root2)) : (sqrt(root2) - c2) / (3.0 * c3); /* of a + 2 c2 x + 3 c3 x^2, the minimum */
  if (!(x > 0.0 && x < 1.0)) return 1.0;
  return g0 + x * (a + x * (c2 + x * c3)) < NEAR * (g0 + g1) ? x : 1.0;
}

double bough_gaps_passed(bough_sim *sim, double h) {
  const bough_model *m = sim->model;
  double *begin = sim->gaps, *end = begin + m->n_element_values, least = 1.0;
  if (!sim->gaps) return h;
  const bough_point first = {sim->now.t, sim->y, sim->y + sim->nq, NULL, NULL, NULL, NULL};
  const bough_point last = {sim->now.t + h, sim->stage, sim->stage + sim->nq, NULL, NULL, NULL, NULL};
  bough_elements_at(sim->data, &first, begin, NULL);
  bough_elements_at(sim->data, &last, end, NULL);
  for (int i = 0; i < m->n_elements; i++) {
    const bough_element *e = m->element + i;
    opening a, b;
    if (!opening_of(e, begin + e->value0, &a) || !opening_of(e, end + e->value0, &b) || !(a.g > 0.0 && b.g > 0.0)) continue;
    const double x = lowest(a.g, b.g, h * a.g_rate, h * b.g_rate), y = lowest(a.p, b.p, h * a.p_rate, h * b.p_rate);
    least = x < least ? x : least;
    least = y < least ? y : least;
  }
  return least * h;
}
