// A registration: two clouds before and after, their matches, and the graph of those that agree.

// --- clouds and matches -------------------------------------------------------------------------------------------------

const zero = zeroText(data.origin);
const fromOrigin = (matrix) => matrix.slice(0, 3).map((row, axis) => [...row.slice(0, 3), row[3] - data.origin[axis]]);

const source = decode(data.source.points), target = moved(decode(data.target.points), fromOrigin(still));
const matched = [decode(data.matches.source), moved(decode(data.matches.target), fromOrigin(still))];
let chosen = 0;  // which of the transforms is shown

function inliersAndOutliers() {
  const fits = new Set(data.transforms.length ? data.transforms[chosen].inliers : []);
  const all = Array.from(matched[0][0].keys());
  return [all.filter((k) => fits.has(k)), all.filter((k) => !fits.has(k))];
}

const cloudDots = (cloud, name) => dots(cloud, name, colour(name), data.frame.up);

function drawBefore() {
  const apart = element("apart").checked;
  const matrix = fromOrigin(apart ? shift(data.apart) : still);
  const shifted = moved(source, matrix), from = moved(matched[0], matrix);
  const [inliers, outliers] = inliersAndOutliers();
  const traces = [];
  if (element("show-target").checked) traces.push(cloudDots(target, "target"));
  if (element("show-source").checked) traces.push(cloudDots(shifted, "source"));
  if (element("show-outliers").checked) traces.push(lines(segments(from, matched[1], outliers), "outlier", 0.35));
  if (element("show-inliers").checked) traces.push(lines(segments(from, matched[1], inliers), "inlier", 0.9));
  element("before-caption").textContent = "As given" + (apart ? ", but the source set apart" : "") +
    ": each line joins two points that look alike. " + data.matches.text + zero;
  return Plotly.react("before", traces, layoutOf([shifted, target], "before", data.frame, `apart ${apart}`), settings);
}

function drawAfter() {
  const traces = [];
  const placed = data.transforms.length ? moved(source, fromOrigin(data.transforms[chosen].matrix)) : [[], [], []];
  if (element("show-target").checked) traces.push(cloudDots(target, "target"));
  if (element("show-source").checked) traces.push(cloudDots(placed, "source"));
  element("after-caption").textContent = (data.transforms.length
    ? `The source moved by ${chosen ? `alternative ${chosen}` : "the transform"}. `
    : "There is no transform: the target alone. ") + data.shown + zero;
  return Plotly.react("after", traces, layoutOf([placed, target], "after", data.frame, chosen + 1), settings);
}

function draw() {
  const support = data.transforms.length ? data.transforms[chosen].support : 0;
  element("num-inliers").textContent = support;
  element("num-outliers").textContent = data.matches.total - support;
  return drawn(drawBefore(), drawAfter());
}

// --- numbers ------------------------------------------------------------------------------------------------------------

function fillNumbers() {
  document.title = `${data.source.name} onto ${data.target.name}: ${data.status}`;
  fillTexts("status", "verdict", "command", "versions", "seconds");
  element("source-name").textContent = data.source.name;
  element("target-name").textContent = data.target.name;
  element("status").className = data.trusted ? "ok" : "";
  fillLabelled("doubts", "facts");
  element("matrix").textContent = data.matrix;
  if (data.alternatives.rows.length) {
    addRow(element("alternatives"), data.alternatives.heading, "th");
    for (const row of data.alternatives.rows) addRow(element("alternatives"), row);
  }
  element("no-alternatives").textContent = data.alternatives.rows.length ? "" : "There are none.";
  const select = element("transform");
  data.transforms.forEach((transform, k) => select.add(new Option(transform.name, k)));
  select.disabled = data.transforms.length < 2;
}

// --- the consistency graph ----------------------------------------------------------------------------------------------

function drawAdjacency() {
  const { png, vertices, pixels, caption } = data.adjacency;
  element("adjacency-caption").textContent = caption;
  const step = vertices / Math.max(pixels, 1);
  const axis = { zeroline: false, showgrid: false, range: [0, vertices], constrain: "domain" };
  const image = { type: "image", source: "data:image/png;base64," + png, x0: step / 2, y0: step / 2, dx: step, dy: step,
    hoverinfo: "skip" };
  return Plotly.react("adjacency", [image], { margin: { l: 45, r: 10, t: 10, b: 30 }, xaxis: axis,
    yaxis: { ...axis, range: [vertices, 0], scaleanchor: "x" } }, settings);
}

function drawSpring() {
  const { x, y, names, clique, edges, caption } = data.spring;
  element("spring-caption").textContent = caption;
  const inside = clique.map((k) => k > 0);
  const stroke = (name, within, opacity) => {
    const ends = { x: [], y: [] };
    for (const [a, b] of edges) {
      if ((inside[a] && inside[b]) !== within) continue;
      ends.x.push(x[a], x[b], null);
      ends.y.push(y[a], y[b], null);
    }
    return { type: "scatter", mode: "lines", ...ends, hoverinfo: "skip", opacity, line: { width: 0.6, color: colour(name) } };
  };
  const vertices = { type: "scatter", mode: "markers", x, y, text: names, hoverinfo: "text",
    marker: { size: 7, color: inside.map((yes) => (yes ? colour("inlier") : colour("edge"))), line: { width: 0.5, color: "#fff" } } };
  return Plotly.react("spring", [stroke("edge", false, 0.2), stroke("inlier", true, 0.25), vertices],
    { margin: { l: 10, r: 10, t: 10, b: 10 }, showlegend: false, xaxis: bare, yaxis: { ...bare, scaleanchor: "x" },
      hovermode: "closest" }, settings);
}

// --- all of it ----------------------------------------------------------------------------------------------------------

fillNumbers();
fillStages("ms", 1e3, 1);
element("graph-text").textContent = data.graph;
for (const id of ["show-source", "show-target", "show-inliers", "show-outliers", "apart"]) {
  element(id).addEventListener("change", draw);
}
element("transform").addEventListener("change", (event) => { chosen = Number(event.target.value); draw(); });
drawAdjacency();
drawSpring();
draw();
