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
