/* warnings.c - words for what watch.c finds: what, the number that was passed, and the cure. */
#include <math.h>

#include "inside.h"

void bough_warning_text(const bough_warning *w, const char *body, char *text, size_t size) {
  if (!w || !body || !text || size == 0) return;
  const double x = fabs(w->value), share = w->limit > 0.0 ? x / w->limit : 0.0;
  switch (w->kind) {
    case BOUGH_WARN_SPIN:
      bough_format(text, size, "body '%s' turns at %.3g rad/s at t = %.6g s, %.2g times its first frequency of %.3g rad/s, without "
                   "geometric stiffening: its bending is wrong, and it diverges as the two meet. Cure: geometric_stiffening: true.",
                   body, x, w->t, share, w->limit);
      break;
    case BOUGH_WARN_WHIRL:
      bough_format(text, size, "body '%s' turns at %.3g rad/s at t = %.6g s, %.2g times its first frequency of %.3g rad/s, and is "
                   "ruthless: gyroscopic terms are left out, so that whirl does not split and frequencies are wrong. Cure: fidelity: full.",
                   body, x, w->t, share, w->limit);
      break;
    case BOUGH_WARN_AXIAL:
      bough_format(text, size, "body '%s' is %s along its axis by %.3g N at t = %.6g s, %.2g times its buckling load of %.3g N, "
                   "without geometric stiffening: its bending does not feel it. Cure: geometric_stiffening: true.",
                   body, w->value > 0.0 ? "pressed" : "pulled", x, w->t, share, w->limit);
      break;
    case BOUGH_WARN_DEFLECTION:
      bough_format(text, size, "body '%s' bends by %.3g m at t = %.6g s, %.2g times its length of %.3g m: modes are linear, and err by "
                   "0.7 %% of the length at a tenth of it. Cure: cut it into several bodies (beam: {bodies: 8}).",
                   body, x, w->t, w->length > 0.0 ? x / w->length : 0.0, w->length);
      break;
    case BOUGH_WARN_INERTIA:
      bough_format(text, size, "body '%s' bends by %.3g m at t = %.6g s; beyond %.3g m its tables of inertia are not positive any more, "
                   "and the run will stop. Cure: bend it less, leave out the modes that move least mass (torsion: 0), or cut it into "
                   "several bodies.", body, x, w->t, w->limit);
      break;
    default:
      bough_format(text, size, "body '%s' is ruthless and its modes have no damping: their energy is not kept, and motion may grow "
                   "without end. Cure: damping: 0.01, or fidelity: full.", body);
  }
}

void bough_mechanism_warn(bough_instance *f) {
  bough_warning w;
  char text[1024];
  while (bough_data_warning(f->data, &w)) {
    bough_warning_text(&w, f->resource->body_name[w.body], text, sizeof text);
    bough_instance_log(f, INSTANCE_WARNING, LOG_WARNING, "%s", text);
  }
}

void bough_mechanism_kept(bough_instance *f) {
  bough_watch_state(f->data, f->now.time, f->q, f->u);
  if (f->dynamics_fresh) bough_watch_reaction(f->data, f->now.time, f->reaction);
  bough_mechanism_warn(f);
}
