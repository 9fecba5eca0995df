(function () {
  "use strict";
  const data = JSON.parse(document.getElementById("scene-data").textContent);
  const scene = document.getElementById("scene");
  const play = document.getElementById("scene-play");
  const slider = document.getElementById("scene-time");
  const clock = document.getElementById("scene-clock");
  const speed = document.getElementById("scene-speed");
  const factor = document.getElementById("scene-factor");
  const times = data.times, last = times.length - 1, GAP = -1;
  const digits = Math.min(6, Math.max(0, 3 - Math.floor(Math.log10(Math.max(times[last] - times[0], 1e-9)))));
  const sets = data.sets.map(decode);
  const moved = data.moved.map((m) => m.trace);
  let frame = 0, playing = false, drawing = false, stale = false, anchor = 0, began = 0, heldUntil = 0;

  function decode(text) {
    const raw = atob(text), bytes = new Uint8Array(raw.length);
    for (let i = 0; i < raw.length; i++) bytes[i] = raw.charCodeAt(i);
    const view = new DataView(bytes.buffer), out = new Float64Array(raw.length / 2);
    for (let i = 0; i < out.length; i++) out[i] = data.low[i % 3] + data.step[i % 3] * view.getUint16(2 * i, true);
    return out;
  }

  // Coordinates of every moving trace at a frame, as Plotly.restyle takes them.
  function coordinates(k) {
    const points = sets[factor ? Number(factor.value) : 0], stride = 3 * data.points;
    const out = { x: [], y: [], z: [] };
    for (const m of data.moved) {
      const places = [];
      if (m.trail === undefined) for (const i of m.index) places.push(i === GAP ? GAP : k * stride + 3 * i);
      else for (let f = 0; f <= k; f++) places.push(f * stride + 3 * m.trail);
      ["x", "y", "z"].forEach((axis, a) => out[axis].push(places.map((p) => (p === GAP ? null : points[p + a]))));
    }
    return out;
  }

  // Plotly sets the camera of its layout at every restyle, and learns of the user's only after the mouse is let go:
  // frames wait while the user turns the scene, and go on from the camera as it is then.
  function keepCamera() {
    const inner = scene._fullLayout && scene._fullLayout.scene._scene;
    if (inner && inner.getCamera) scene.layout.scene.camera = inner.getCamera();
  }

  function draw() {
    slider.value = frame;
    clock.textContent = times[frame].toFixed(digits) + " s";
    if (drawing) { stale = true; return; }
    drawing = true;
    keepCamera();
    Plotly.restyle(scene, coordinates(frame), moved).then(() => {
      drawing = false;
      scene.dataset.frame = frame;
      if (stale) { stale = false; draw(); }
    });
  }

  // The frame at or before a time: frames need not be evenly spaced.
  function at(time) {
    let low = 0, high = last;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if (times[middle] <= time) low = middle; else high = middle - 1;
    }
    return low;
  }

  function tick(now) {
    if (!playing) return;
    if (now < heldUntil) restart();
    else if (!drawing) {
      let time = anchor + ((now - began) / 1000) * Number(speed.value);
      if (time > times[last] + 0.5 * Number(speed.value)) { anchor = time = times[0]; began = now; }
      const next = at(time);
      if (next !== frame) { frame = next; draw(); }
    }
    requestAnimationFrame(tick);
  }

  function restart() { anchor = times[frame]; began = performance.now(); }

  function run(on) {
    playing = on && last > 0;
    play.textContent = playing ? "Pause" : "Play";
    play.setAttribute("aria-pressed", String(playing));
    if (!playing) return;
    if (frame === last) frame = 0;
    restart();
    requestAnimationFrame(tick);
  }

  const start = coordinates(0);
  data.moved.forEach((m, i) => {
    Object.assign(data.traces[m.trace], { x: start.x[i], y: start.y[i], z: start.z[i] });
  });
  Plotly.newPlot(scene, data.traces, data.layout, { displaylogo: false, responsive: true }).then(() => {
    scene.dataset.frame = 0;
  });
  const hold = (seconds) => { heldUntil = performance.now() + 1000 * seconds; };
  scene.addEventListener("pointerdown", () => hold(Infinity), true);
  window.addEventListener("pointerup", () => hold(0.1), true);
  window.addEventListener("pointercancel", () => hold(0.1), true);
  scene.addEventListener("wheel", () => hold(0.3), { capture: true, passive: true });
  play.addEventListener("click", () => run(!playing));
  slider.addEventListener("input", () => { frame = Number(slider.value); restart(); draw(); });
  speed.addEventListener("change", restart);
  if (factor) factor.addEventListener("change", draw);
  document.addEventListener("visibilitychange", () => { if (playing) restart(); });
  clock.textContent = times[0].toFixed(digits) + " s";
})();
