/* status.c - the message table of bough_status. */
#include "internal.h"

const char *bough_status_text(bough_status status) {
  static const char *const text[] = {
      "no error",
      "out of memory",
      "not a model block of this version, or a damaged one",
      "an argument is null or out of range",
      "an inertia that the hinge or the modes must accelerate is zero or not positive",
      "a value is not finite",
      "the step size became too small: the tolerance cannot be met",
      "stopped by the input function",
      "paused: call again to go on",
      "a loop or a coupling cannot be kept closed",
  };
  const int count = (int)(sizeof text / sizeof *text), i = (int)status;
  return i >= 0 && i < count ? text[i] : "unknown status";
}
