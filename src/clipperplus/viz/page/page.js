"use strict";
// Draws what Python has put into the page as JSON. Clouds come as 16-bit steps of a grid over their box, three a point.

const data = JSON.parse(document.getElementById("data").textContent);
const element = (id) => document.getElementById(id);
const colour = (name) => getComputedStyle(document.documentElement).getPropertyValue("--" + name).trim();
const xyz = ([x, y, z]) => ({ x, y, z });
const settings = { displaylogo: false, responsive: true };
const elevation = 0.6;  // radians

// --- clouds and matches -------------------------------------------------------------------------------------------------

function decode(points) {
  const bytes = Uint8Array.from(atob(points.steps), (letter) => letter.charCodeAt(0));
  const steps = new Uint16Array(bytes.buffer);
  const count = steps.length / 3;
  return [0, 1, 2].map((axis) =>
    Float64Array.from({ length: count }, (_, k) => points.low[axis] + points.step[axis] * steps[3 * k + axis]));
}

// Where a matrix moves a cloud to, seen from the origin of the pictures: WebGL has single precision only.
function moved(cloud, matrix) {
  return matrix.slice(0, 3).map((row, axis) =>
    cloud[0].map((x, k) => row[0] * x + row[1] * cloud[1][k] + row[2] * cloud[2][k] + (row[3] - data.origin[axis])));
}

const shift = ([x, y, z]) => [[1, 0, 0, x], [0, 1, 0, y], [0, 0, 1, z]];

const zero = data.origin.some((part) => part !== 0) ? ` Axes count from (${data.origin.join(", ")}).` : "";

function segments(from, to, chosen) {
  const lines = [[], [], []];
  for (const k of chosen) {
    for (let axis = 0; axis < 3; ++axis) lines[axis].push(from[axis][k], to[axis][k], null);
  }
  return lines;
}

// The range of each axis, without the few points that lie far from all others.
function ranges(clouds) {
  return [0, 1, 2].map((axis) => {
    const values = Float64Array.from(clouds.flatMap((cloud) => Array.from(cloud[axis]))).sort();
    if (values.length === 0) return [-1, 1];
    const low = values[Math.floor(0.005 * (values.length - 1))], high = values[Math.ceil(0.995 * (values.length - 1))];
    const margin = 0.04 * (high - low) + 1e-6 * (Math.abs(low) + Math.abs(high)) + 1e-9;
    return [low - margin, high + margin];
  });
}

// Axes and camera such that the clouds fill the picture, seen from the front and from above.
function sceneOf(clouds, id) {
  const limits = ranges(clouds);
  const extents = limits.map(([low, high]) => high - low);
  const ratio = extents.map((extent) => Math.max(extent / Math.max(...extents), 0.05));
  const along = (direction) => Math.abs(direction.reduce((sum, part, k) => sum + part * ratio[k], 0));
  const { right, depth, up } = data.frame;
  const [width, length, height] = [right, depth, up].map(along);
  const seen = 2 * Math.tan(Math.PI / 8);  // of plotly's camera: height of what is seen, by its distance
  const [back, above] = [Math.cos(elevation), Math.sin(elevation)];
  const needed = Math.max((width * element(id).clientHeight) / element(id).clientWidth, height * back + length * above);
  const distance = (0.85 * needed) / seen + 0.5 * (length * back + height * above);
  const eye = depth.map((part, k) => distance * (above * up[k] - back * part));
  const axis = (k) => ({ title: { text: "xyz"[k] }, range: limits[k], showbackground: false, gridcolor: "#e4e7eb",
    zeroline: false, tickfont: { size: 10 }, showspikes: false });
  return { xaxis: axis(0), yaxis: axis(1), zaxis: axis(2), aspectmode: "manual", aspectratio: xyz(ratio),
    camera: { up: xyz(up), eye: xyz(eye) } };
}

// Points are the lighter the higher they are: surfaces of one colour would hide their shape.
function dots(cloud, name) {
  const { up } = data.frame;
  const heights = cloud[0].map((x, k) => up[0] * x + up[1] * cloud[1][k] + up[2] * cloud[2][k]);
  const [[cmin, cmax]] = ranges([[heights, [], []]]);
  const shades = [[0, mixed(colour(name), "#000000", 0.45)], [1, mixed(colour(name), "#ffffff", 0.35)]];
  return { type: "scatter3d", mode: "markers", name, ...xyz(cloud), hoverinfo: "skip",
    marker: { size: cloud[0].length > 10000 ? 1 : 2, color: heights, colorscale: shades, cmin, cmax } };
}

function mixed(colour, other, share) {
  const parts = (text) => [1, 3, 5].map((k) => parseInt(text.slice(k, k + 2), 16));
  const mix = parts(colour).map((part, k) => Math.round(part + share * (parts(other)[k] - part)));
  return `rgb(${mix})`;
}

const lines = (ends, name, opacity) => ({ type: "scatter3d", mode: "lines", name, ...xyz(ends), hoverinfo: "skip", opacity,
  line: { width: 2, color: colour(name) } });

const still = shift([0, 0, 0]);
const source = decode(data.source.points), target = moved(decode(data.target.points), still);
const matched = [decode(data.matches.source), moved(decode(data.matches.target), still)];
let chosen = 0;  // which of the transforms is shown

function inliersAndOutliers() {
  const fits = new Set(data.transforms.length ? data.transforms[chosen].inliers : []);
  const all = Array.from(matched[0][0].keys());
  return [all.filter((k) => fits.has(k)), all.filter((k) => !fits.has(k))];
}

function layoutOf(clouds, id, uirevision) {
  return { uirevision, margin: { l: 0, r: 0, t: 0, b: 0 }, showlegend: false, scene: { ...sceneOf(clouds, id), uirevision } };
}

function drawBefore() {
  const apart = element("apart").checked;
  const matrix = apart ? shift(data.apart) : still;
  const shifted = moved(source, matrix), from = moved(matched[0], matrix);
  const [inliers, outliers] = inliersAndOutliers();
  const traces = [];
  if (element("show-target").checked) traces.push(dots(target, "target"));
  if (element("show-source").checked) traces.push(dots(shifted, "source"));
  if (element("show-outliers").checked) traces.push(lines(segments(from, matched[1], outliers), "outlier", 0.35));
  if (element("show-inliers").checked) traces.push(lines(segments(from, matched[1], inliers), "inlier", 0.9));
  element("before-caption").textContent = "As given" + (apart ? ", but the source set apart" : "") +
    ": each line joins two points that look alike. " + data.matches.text + zero;
  return Plotly.react("before", traces, layoutOf([shifted, target], "before", `apart ${apart}`), settings);
}

function drawAfter() {
  const traces = [];
  const placed = data.transforms.length ? moved(source, data.transforms[chosen].matrix) : [[], [], []];
  if (element("show-target").checked) traces.push(dots(target, "target"));
  if (element("show-source").checked) traces.push(dots(placed, "source"));
  element("after-caption").textContent = (data.transforms.length
    ? `The source moved by ${chosen ? `alternative ${chosen}` : "the transform"}. `
    : "There is no transform: the target alone. ") + data.shown + zero;
  return Plotly.react("after", traces, layoutOf([placed, target], "after", chosen + 1), settings);
}

// Counts in the page how often all was drawn, for those who wait for it.
async function draw() {
  const support = data.transforms.length ? data.transforms[chosen].support : 0;
  element("num-inliers").textContent = support;
  element("num-outliers").textContent = data.matches.total - support;
  await Promise.all([drawBefore(), drawAfter()]);
  document.body.dataset.drawn = Number(document.body.dataset.drawn || 0) + 1;
}

// --- numbers ------------------------------------------------------------------------------------------------------------

function addRow(table, cells, tag = "td") {
  const row = table.insertRow();
  for (const cell of cells) row.appendChild(document.createElement(tag)).append(cell);
  return row;
}

function fillNumbers() {
  document.title = `${data.source.name} onto ${data.target.name}: ${data.status}`;
  for (const name of ["status", "verdict", "command", "versions", "seconds"]) element(name).textContent = data[name];
  element("source-name").textContent = data.source.name;
  element("target-name").textContent = data.target.name;
  element("status").className = data.trusted ? "ok" : "";
  for (const name of ["doubts", "facts"]) {
    for (const [label, text] of data[name]) {
      const row = element(name).insertRow();
      row.appendChild(document.createElement("th")).textContent = label;
      row.insertCell().textContent = text;
    }
  }
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

function fillStages() {
  addRow(element("stages"), ["stage", "result", "ms"], "th");
  data.stages.forEach(({ name, result, ms }, k) => {
    const paint = `hsl(${(205 + 47 * k) % 360} 45% 45%)`;
    const part = element("stages-bar").appendChild(document.createElement("div"));
    part.style.cssText = `flex: ${Math.max(ms, 0)} 0 0; background: ${paint}`;
    part.title = `${name}: ${ms.toFixed(1)} ms`;
    const swatch = document.createElement("span");
    swatch.className = "swatch";
    swatch.style.background = paint;
    const label = document.createElement("span");
    label.append(swatch, name);
    addRow(element("stages"), [label, result, ms.toFixed(1)]);
  });
  data.stages.forEach(({ name }, k) => {  // widths are known once all parts are there
    const part = element("stages-bar").children[k];
    if (part.offsetWidth > 8 * name.length) part.textContent = name;
  });
}

// --- the consistency graph ----------------------------------------------------------------------------------------------

const bare = { showgrid: false, zeroline: false, showticklabels: false };

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
fillStages();
element("graph-text").textContent = data.graph;
for (const id of ["show-source", "show-target", "show-inliers", "show-outliers", "apart"]) {
  element(id).addEventListener("change", draw);
}
element("transform").addEventListener("change", (event) => { chosen = Number(event.target.value); draw(); });
drawAdjacency();
drawSpring();
draw();
