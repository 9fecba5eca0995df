// Where the camera stands so that a box fits the picture, whatever the shape of either.
//
// Plotly draws a scene in perspective with a vertical opening of 45 degrees, z up. Seen along a given direction, a point
// with the coordinates (x, y, z) to the right, up and towards the eye is inside the picture's right edge if
// x - ex <= k (ez - z), with the eye at (ex, ey, ez) and k the slope of that edge: the corners of the box bound the eye
// by ex + k ez >= max(x + k z), and likewise at the other three edges.
const BoughView = (function () {
  "use strict";
  const SLOPE = Math.tan(Math.PI / 8);
  const dot = (a, b) => a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
  const cross = (a, b) => [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]];
  const unit = (a) => a.map((x) => x / Math.hypot(...a));

  // Room for ticks and titles of the axes, which stand outside the box, pixels.
  function margins(width, height) {
    const side = Math.min(64, 0.15 * width);
    return { left: side, right: side, top: Math.min(28, 0.06 * height), bottom: Math.min(60, 0.2 * height) };
  }

  // Least distance at which all points are between two opposite edges of slopes `up` and `down`, and the middle of the
  // places across that allow a distance.
  function between(across, towards, up, down) {
    const most = (sign, k) => Math.max(...across.map((x, i) => sign * x + k * towards[i]));
    const a = most(1, up), b = most(-1, down);
    return { distance: (a + b) / (up + down), place: (ez) => 0.5 * (a - up * ez + down * ez - b) };
  }

  // box: extents along x, y, z in plotly's units, about the origin; direction: from the box to the eye; pixels.
  function fit(box, direction, width, height) {
    const d = unit(direction), right = unit(cross([0, 0, 1], d)), up = cross(d, right), m = margins(width, height);
    const corners = [];
    for (let i = 0; i < 8; i++) corners.push([0, 1, 2].map((a) => ((i >> a) & 1 ? 0.5 : -0.5) * box[a]));
    const along = (axis) => corners.map((p) => dot(p, axis));
    const wide = (SLOPE * width) / height, z = along(d);
    const x = between(along(right), z, wide * (1 - (2 * m.right) / width), wide * (1 - (2 * m.left) / width));
    const y = between(along(up), z, SLOPE * (1 - (2 * m.top) / height), SLOPE * (1 - (2 * m.bottom) / height));
    const distance = Math.max(x.distance, y.distance), ex = x.place(distance), ey = y.place(distance);
    const center = [0, 1, 2].map((a) => ex * right[a] + ey * up[a]);
    const eye = center.map((c, a) => c + distance * d[a]);
    const named = (v) => ({ x: v[0], y: v[1], z: v[2] });
    return { eye: named(eye), center: named(center), up: { x: 0, y: 0, z: 1 } };
  }

  return { fit };
})();
