"use strict";
// What all pages share. Python has put what they show into the page as JSON; clouds come as 16-bit steps of a grid over
// their box, three a point.

const data = JSON.parse(document.getElementById("data").textContent);
const element = (id) => document.getElementById(id);
const colour = (name) => getComputedStyle(document.documentElement).getPropertyValue("--" + name).trim();
const xyz = ([x, y, z]) => ({ x, y, z });
const settings = { displaylogo: false, responsive: true };
const bare = { showgrid: false, zeroline: false, showticklabels: false };
const elevation = 0.6;  // radians

// --- clouds -------------------------------------------------------------------------------------------------------------

const bytesOf = (text) => Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0)).buffer;

function decode(points) {
  const steps = new Uint16Array(bytesOf(points.steps));
  const count = steps.length / 3;
  return [0, 1, 2].map((axis) =>
    Float64Array.from({ length: count }, (_, k) => points.low[axis] + points.step[axis] * steps[3 * k + axis]));
}

function moved(cloud, matrix) {
  return matrix.slice(0, 3).map((row) =>
    cloud[0].map((x, k) => row[0] * x + row[1] * cloud[1][k] + row[2] * cloud[2][k] + row[3]));
}

const shift = ([x, y, z]) => [[1, 0, 0, x], [0, 1, 0, y], [0, 0, 1, z]];

const still = shift([0, 0, 0]);

// WebGL has single precision only: what is far away is drawn around another place.
const zeroText = (origin) => (origin.some((part) => part !== 0) ? ` Axes count from (${origin.join(", ")}).` : "");

function segments(from, to, chosen) {
  const lines = [[], [], []];
  for (const k of chosen) {
    for (let axis = 0; axis < 3; ++axis) lines[axis].push(from[axis][k], to[axis][k], null);
  }
  return lines;
}

// Where several lists of numbers begin and end, without the few that are far from all others, but with those of marks.
function rangeOf(lists, marks = []) {
  const values = new Float64Array(lists.reduce((sum, list) => sum + list.length, 0));
  let filled = 0;
  for (const list of lists) {
    values.set(list, filled);
    filled += list.length;
  }
  if (values.length === 0) return [-1, 1];
  values.sort();
  const low = values[Math.floor(0.005 * (values.length - 1))], high = values[Math.ceil(0.995 * (values.length - 1))];
  const margin = 0.04 * (high - low) + 1e-6 * (Math.abs(low) + Math.abs(high)) + 1e-9;
  return [Math.min(low, ...marks) - margin, Math.max(high, ...marks) + margin];
}

// How far points are along a direction.
function along(cloud, direction) {
  return Float64Array.from(cloud[0], (x, k) => direction[0] * x + direction[1] * cloud[1][k] + direction[2] * cloud[2][k]);
}

const rangeAlong = (clouds, direction, marks = [[], [], []]) =>
  rangeOf(clouds.map((cloud) => along(cloud, direction)), along(marks, direction));

// Axes and camera such that the clouds fill the picture, seen from the front and from above.
function sceneOf(clouds, id, frame, marks = [[], [], []]) {
  const limits = [0, 1, 2].map((axis) => rangeOf(clouds.map((cloud) => cloud[axis]), marks[axis]));
  const size = ([low, high]) => high - low;
  const largest = Math.max(...limits.map(size));
  const ratio = limits.map((limit) => Math.max(size(limit) / largest, 0.05));
  const { right, depth, up } = frame;
  const sides = [right, depth, up].map((axis) => rangeAlong(clouds, axis, marks));
  const [width, length, height] = sides.map((side) => size(side) / largest);
  const middle = (limit) => 0.5 * (limit[0] + limit[1]);
  const off = [right, depth, up].map((axis, k) =>  // of the middle along the frame, from that of the axes
    (middle(sides[k]) - axis.reduce((sum, part, j) => sum + part * middle(limits[j]), 0)) / largest);
  const center = [0, 1, 2].map((k) => off[0] * right[k] + off[1] * depth[k] + off[2] * up[k]);
  const seen = 2 * Math.tan(Math.PI / 8);  // of plotly's camera: height of what is seen, by its distance
  const [back, above] = [Math.cos(elevation), Math.sin(elevation)];
  const needed = Math.max((width * element(id).clientHeight) / element(id).clientWidth, height * back + length * above);
  const distance = (0.9 * needed) / seen + 0.5 * (length * back + height * above);
  const eye = depth.map((part, k) => center[k] + distance * (above * up[k] - back * part));
  const axis = (k) => ({ title: { text: "xyz"[k] }, range: limits[k], showbackground: false, gridcolor: "#e4e7eb",
    zeroline: false, tickfont: { size: 10 }, showspikes: false });
  return { xaxis: axis(0), yaxis: axis(1), zaxis: axis(2), aspectmode: "manual", aspectratio: xyz(ratio),
    camera: { up: xyz(up), eye: xyz(eye), center: xyz(center) } };
}

function layoutOf(clouds, id, frame, uirevision, marks) {
  return { uirevision, margin: { l: 0, r: 0, t: 0, b: 0 }, showlegend: false,
    scene: { ...sceneOf(clouds, id, frame, marks), uirevision } };
}

// Points are the lighter the higher they are: surfaces of one colour would hide their shape.
function dots(cloud, name, paint, up, size = cloud[0].length > 10000 ? 1 : 2) {
  const heights = along(cloud, up);
  const [cmin, cmax] = rangeOf([heights]);
  const shades = [[0, mixed(paint, "#000000", 0.45)], [1, mixed(paint, "#ffffff", 0.35)]];
  return { type: "scatter3d", mode: "markers", name, ...xyz(cloud), hoverinfo: "skip",
    marker: { size, color: heights, colorscale: shades, cmin, cmax } };
}

function mixed(colour, other, share) {
  const parts = (text) => [1, 3, 5].map((k) => parseInt(text.slice(k, k + 2), 16));
  const mix = parts(colour).map((part, k) => Math.round(part + share * (parts(other)[k] - part)));
  return `rgb(${mix})`;
}

const lines = (ends, name, opacity, line = { width: 2 }) => ({ type: "scatter3d", mode: "lines", name, ...xyz(ends),
  hoverinfo: "skip", opacity, line: { color: colour(name), ...line } });

const nextFrame = () => new Promise(requestAnimationFrame);

// Counts in the page how often all was drawn, for those who wait for it; what WebGL draws is seen two frames later.
async function drawn(...drawings) {
  await Promise.all(drawings);
  await nextFrame();
  await nextFrame();
  document.body.dataset.drawn = Number(document.body.dataset.drawn || 0) + 1;
}

// --- numbers ------------------------------------------------------------------------------------------------------------

function addRow(table, cells, tag = "td") {
  const row = table.insertRow();
  for (const cell of cells) row.appendChild(document.createElement(tag)).append(cell);
  return row;
}

function fillTexts(...names) {
  for (const name of names) element(name).textContent = data[name];
}

// Tables of which each row has a heading.
function fillLabelled(...names) {
  for (const name of names) {
    for (const [label, text] of data[name]) {
      const row = element(name).insertRow();
      row.appendChild(document.createElement("th")).textContent = label;
      row.insertCell().textContent = text;
    }
  }
}

function fillStages(unit, perSecond, digits) {
  addRow(element("stages"), ["stage", "result", unit], "th");
  data.stages.forEach(({ name, result, ms }, k) => {
    const paint = `hsl(${(205 + 47 * k) % 360} 45% 45%)`;
    const time = ((ms * perSecond) / 1e3).toFixed(digits);
    const part = element("stages-bar").appendChild(document.createElement("div"));
    part.style.cssText = `flex: ${Math.max(ms, 0)} 0 0; background: ${paint}`;
    part.title = `${name}: ${time} ${unit}`;
    const swatch = document.createElement("span");
    swatch.className = "swatch";
    swatch.style.background = paint;
    const label = document.createElement("span");
    label.append(swatch, name);
    addRow(element("stages"), [label, result, time]);
  });
  data.stages.forEach(({ name }, k) => {  // widths are known once all parts are there
    const part = element("stages-bar").children[k];
    if (part.offsetWidth > 8 * name.length) part.textContent = name;
  });
}
