(function () {
  "use strict";
  const data = JSON.parse(document.getElementById("scene-data").textContent);
  const scene = document.getElementById("scene");
  const play = document.getElementById("scene-play");
  const slider = document.getElementById("scene-time");
  const clock = document.getElementById("scene-clock");
  const speed = document.getElementById("scene-speed");
  const factor = document.getElementById("scene-factor");
  const legend = document.getElementById("scene-legend");
  const times = data.times, last = times.length - 1, GAP = -1;
  const digits = Math.min(6, Math.max(0, 3 - Math.floor(Math.log10(Math.max(times[last] - times[0], 1e-9)))));
  const sets = data.sets.map(decode);
  const moved = data.moved.map((m) => m.trace);
  let frame = 0, playing = false, drawing = false, stale = false, anchor = 0, began = 0, heldUntil = 0, placed = null;
  let fittedTo = "", unfitted = false;

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
  const inner = () => scene._fullLayout && scene._fullLayout.scene._scene;

  function liveCamera() {
    const live = inner();
    return live && live.getCamera ? live.getCamera() : null;
  }

  function keepCamera() {
    const camera = liveCamera();
    if (camera) scene.layout.scene.camera = camera;
  }

  // The whole box in the picture; a picture of another shape needs another place of the camera.
  const size = () => scene.clientWidth + " " + scene.clientHeight;

  function fitted() {
    fittedTo = size();
    const ratio = data.layout.scene.aspectratio;
    placed = BoughView.fit([ratio.x, ratio.y, ratio.z], data.direction, scene.clientWidth, scene.clientHeight);
    return placed;
  }

  // The size that counts is the one at the last fit: a window may get its final size while the page is still drawn.
  function refit() {
    if (size() === fittedTo || !scene.clientWidth || !scene.clientHeight) return;
    if (drawing) { unfitted = true; return; }
    const camera = liveCamera();
    if (!camera) return;
    const turned = ["x", "y", "z"].some((a) => Math.abs(camera.eye[a] - placed.eye[a]) > 1e-6);
    const place = fitted();
    drawing = true;
    // What the user has chosen to look at stays.
    Plotly.relayout(scene, turned ? { autosize: true } : { autosize: true, "scene.camera": place }).then(() => {
      // Now and not in the next frame: a picture of the window may be taken as soon as it has its size.
      inner().glplot.redraw();
      drawn();
    });
  }

  // Frames and fits take turns: each would undo the camera of the other. What was asked for meanwhile comes now.
  function drawn() {
    drawing = false;
    if (unfitted) { unfitted = false; refit(); }
    if (stale && !drawing) { stale = false; draw(); }
  }

  // Names below the scene, where they hide nothing; one press hides or shows what they stand for.
  function buildLegend() {
    data.traces.forEach((trace, i) => {
      if (trace.showlegend === false || !trace.name) return;
      const own = data.traces.map((t, j) => (j === i || t.legendgroup === (trace.legendgroup || null) ? j : -1));
      const places = own.filter((j) => j >= 0), entry = document.createElement("button");
      const swatch = document.createElement("span"), line = trace.line || trace.marker.line || trace.marker;
      entry.type = "button";
      entry.setAttribute("aria-pressed", "true");
      const style = { dash: "dashed", longdash: "dashed", dot: "dotted", dashdot: "dashed" };
      swatch.style.borderTop = (line.width > 3 ? 5 : 3) + "px " + (style[line.dash] || "solid") + " " + line.color;
      entry.append(swatch, trace.name);
      entry.addEventListener("click", () => {
        const on = entry.getAttribute("aria-pressed") !== "true";
        entry.setAttribute("aria-pressed", String(on));
        keepCamera();
        Plotly.restyle(scene, { visible: on }, places);
      });
      legend.append(entry);
    });
  }

  function draw() {
    slider.value = frame;
    clock.textContent = times[frame].toFixed(digits) + " s";
    if (drawing) { stale = true; return; }
    drawing = true;
    keepCamera();
    const shown = frame;
    Plotly.restyle(scene, coordinates(shown), moved).then(() => {
      scene.dataset.frame = shown;
      drawn();
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
  buildLegend();
  data.layout.scene.camera = fitted();
  Plotly.newPlot(scene, data.traces, data.layout, { displaylogo: false }).then(() => {
    scene.dataset.frame = 0;
    // It reports the size as soon as it observes, and at every change.
    new ResizeObserver(refit).observe(scene);
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
