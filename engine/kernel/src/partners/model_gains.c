/* model_gains.c - gains along the move. Between two stations of the table they are interpolated; the pose that counts is the
 * measured one, or better the point nearest to it on the line through the stations. */
#include <math.h>
#include <string.h>

#include "model_controller.h"

/* a list of different numbers from 0 to n - 1 */
static int is_index(const double *list, int count, int n) {
  for (int i = 0; i < count; i++) {
    if (!(list[i] >= 0.0 && list[i] < n && list[i] == (int)list[i])) return 0;
    for (int j = 0; j < i; j++)
      if (list[j] == list[i]) return 0;
  }
  return 1;
}

static size_t gains_size(int H, int m, int n, int law) {
  const size_t sH = (size_t)H, sm = (size_t)m, sn = (size_t)n;
  return sm * sm + 6 * sH * sn + sH * sH + (law ? 2 * sn * sn + sn : 0);
}

bough_plan bough_read_plan(const bough_instance *f) {
  const double *t = f->partner->table;
  bough_plan p;
  memset(&p, 0, sizeof p);
  p.H = f->partner->axes, p.m = (int)t[MODES], p.n = (int)t[DOFS], p.stations = (int)t[STATIONS];
  p.base = t[FLOATING] != 0.0 ? BASE_U : 0, p.law = t[LAW] != 0.0;
  p.sample = t[SAMPLE], p.reach = t[REACH];
  p.axis = t + FIXED, p.mode = p.axis + p.H, p.scale = p.mode + p.m, p.station = p.scale + p.H;
  p.gains = gains_size(p.H, p.m, p.n, p.law);
  return p;
}

int bough_plan_fits(const bough_instance *f) {
  const struct partner *s = f->partner;
  const bough_sizes sizes = bough_model_sizes(f->model);
  const double *t = s->table;
  if (s->table_size < FIXED || (t[FLOATING] != 0.0 && t[FLOATING] != 1.0) || (t[LAW] != 0.0 && t[LAW] != 1.0)) return 0;
  const int base = t[FLOATING] != 0.0, n = sizes.nu - base * BASE_U, H = s->axes, m = n - H;
  if (sizes.nq != n + base * BASE_Q || sizes.bodies != f->resource->n_bodies || m < 0) return 0;
  if (t[DOFS] != n || t[MODES] != m || !(t[SAMPLE] > 0.0) || !(t[SUBSTEPS] >= 1.0 && t[SUBSTEPS] <= 1e4)) return 0;
  if (!(t[STATIONS] >= 1.0 && t[STATIONS] <= 1e4 && t[STATIONS] == (int)t[STATIONS]) || !(t[REACH] >= 0.0)) return 0;
  const size_t sH = (size_t)H, each = sH + gains_size(H, m, n, t[LAW] != 0.0);
  if (s->table_size != FIXED + (size_t)n + sH + (size_t)t[STATIONS] * each || !is_index(t + FIXED, n, n)) return 0;
  for (size_t i = 0; i < sH; i++)
    if (!(t[FIXED + (size_t)n + i] > 0.0)) return 0;
  return 1;
}

/* part of the way from station k to the next at which the line is nearest to theta, and how far away that is, squared */
static double nearest(const bough_plan *p, int k, const double *theta, double *away) {
  const size_t each = (size_t)p->H + p->gains;
  const double *from = p->station + (size_t)k * each, *to = k + 1 < p->stations ? from + each : from;
  double along = 0.0, length = 0.0, s = 0.0;
  for (int i = 0; i < p->H; i++) {
    const double d = (to[i] - from[i]) / p->scale[i], r = (theta[i] - from[i]) / p->scale[i];
    along += d * r, length += d * d;
  }
  if (length > 0.0) s = bough_clamp(along / length, 0.0, 1.0);
  *away = 0.0;
  for (int i = 0; i < p->H; i++) {
    const double r = (theta[i] - from[i] - s * (to[i] - from[i])) / p->scale[i];
    *away += r * r;
  }
  return s;
}

double bough_gains_at(bough_plan *p, const double *theta, double *room) {
  const size_t each = (size_t)p->H + p->gains;
  double least, s = nearest(p, 0, theta, &least);
  int at = 0;
  for (int k = 1; k + 1 < p->stations; k++) {
    double away;
    const double part = nearest(p, k, theta, &away);
    if (away < least) at = k, s = part, least = away;
  }
  const double *from = p->station + (size_t)at * each + p->H, *to = at + 1 < p->stations ? from + each : from;
  for (size_t i = 0; i < p->gains; i++) room[i] = from[i] + s * (to[i] - from[i]);
  p->Kinv = room, p->K = p->Kinv + p->m * p->m, p->L = p->K + p->H * 2 * p->n, p->Kz = p->L + 2 * p->n * 2 * p->H;
  p->G = p->Kz + p->H * p->H, p->W = p->G + 2 * p->n * p->n;
  return sqrt(least);
}
