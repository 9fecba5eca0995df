(function () {
  "use strict";
  const narrow = window.matchMedia("(max-width: 700px)");
  const fold = document.querySelector("nav details");

  // In a narrow window the names of the curves stand below the chart: beside it they would leave it no room.
  function arrange() {
    document.querySelectorAll("section .js-plotly-plot:not(#scene)").forEach((plot) => {
      const { l, r } = (plot.margins ||= { ...plot.layout.margin }); // as the page was written
      const below = { "legend.orientation": "h", "legend.x": 0, "legend.y": -0.2, "legend.yanchor": "top", "margin.l": 52, "margin.r": 20, "margin.autoexpand": true };
      const beside = { "legend.orientation": "v", "legend.x": 1.02, "legend.y": 0.92, "legend.yanchor": "auto", "margin.l": l, "margin.r": r, "margin.autoexpand": false };
      const height = narrow.matches ? 340 + 21 * plot.data.length : 380;
      // A height by itself would pin the width too.
      Plotly.relayout(plot, { ...(narrow.matches ? below : beside), height, width: null, autosize: true });
    });
  }

  if (narrow.matches) arrange();
  narrow.addEventListener("change", arrange);
  if (fold) fold.addEventListener("click", (event) => { if (event.target.tagName === "A") fold.open = false; });
})();
