/* types.c - facts of the laws by which forces act between nodes. */
#include "internal.h"

const bough_element_type bough_element_types[BOUGH_ELEMENT_TYPES] = {
    {4, 3, 1},   /* spring */
    {0, 3, 1},   /* actuator */
    {72, 18, 1}, /* bushing */
    {11, 3, 1},  /* contact */
    {0, 0, 1},   /* load in node axes */
    {1, 1, 0},   /* momentum of a wheel */
};

int bough_soft_rows_of_element(const bough_element *e) {
  const double *c = e->c;
  switch (e->type) {
    case ELEMENT_SPRING: return c[2] == 0.0 && c[3] == 0.0 && e->n1 == 0 ? 3 : 1; /* no free length: spring.inl */
    case ELEMENT_BUSHING: return 6;
    case ELEMENT_CONTACT: return 3;
    default: return 0;
  }
}

int bough_soft_rows_of(const bough_model *m) {
  int rows = m->n_gears;
  for (int i = 0; i < m->n_elements && rows < BOUGH_SOFT_MOST; i++) rows += bough_soft_rows_of_element(m->element + i);
  return rows < BOUGH_SOFT_MOST ? rows : BOUGH_SOFT_MOST;
}
