// A map: its components in 3-D, the graph of its pairs, a card for each scan, and every pair to look at.
// The points of a scan are relative to their middle; poses and motions are those of such points.

const { scans, edges, components } = data;
const kinds = {
  believed: { paint: "inlier", dash: "solid", dashes: 1 },
  refused: { paint: "outlier", dash: "dash", dashes: 7 },
  doubted: { paint: "edge", dash: "dot", dashes: 16 },
};
const poses = matrices(data.poses), motions = matrices(data.edges.motions);
const clouds = new Map();  // decoded where they are needed
let chosenScan = null;  // only its pairs are listed, and it stands out in the map
let chosenEdge = edges.source.length ? 0 : null;

function matrices(text) {
  const numbers = new Float32Array(bytesOf(text));
  return Array.from({ length: numbers.length / 12 }, (_, k) =>
    (Number.isNaN(numbers[12 * k]) ? null : [0, 4, 8].map((row) => Array.from(numbers.slice(12 * k + row, 12 * k + row + 4)))));
}

function cloudOf(scan) {
  if (!clouds.has(scan)) clouds.set(scan, decode(scans[scan].points));
  return clouds.get(scan);
}

const placeOf = (scan) => moved(scans[scan].place.map((part) => [part]), poses[scan]).map(([part]) => part);

// Names may have signs that mean something to plotly.
const plain = (text) => text.replace(/&/g, "&amp;").replace(/</g, "&lt;").replace(/>/g, "&gt;");

const numbersOf = (kind) => Array.from(edges.status.keys()).filter((k) => edges.status[k] === kind);

const shows = (kind) => element(`show-${kind}`).checked;

// --- the map ------------------------------------------------------------------------------------------------------------

// Several clouds as one; of each, points that are too high are left out.
function merged(parts, up, limit) {
  const kept = parts.map((cloud) => {
    const heights = along(cloud, up);
    return cloud.map((axis) => axis.filter((_, k) => heights[k] <= limit));
  });
  return [0, 1, 2].map((axis) => Float64Array.from(kept.flatMap((cloud) => Array.from(cloud[axis]))));
}

// The scans of each colour: browsers are slow with many traces.
function byColour(component) {
  const groups = new Map();
  for (const scan of component.scans) {
    const paint = chosenScan === null || chosenScan === scan ? scans[scan].colour : "#c9ced6";
    groups.set(paint, [...(groups.get(paint) || []), scan]);
  }
  return groups;
}

// A line in pieces: plotly's own dashes are as long as all lines together are short.
function addDashes(ends, from, to, count) {
  const parts = 2 * count - 1;
  for (let k = 0; k < parts; k += 2) {
    for (let axis = 0; axis < 3; ++axis) {
      const step = (to[axis] - from[axis]) / parts;
      ends[axis].push(from[axis] + k * step, from[axis] + (k + 1) * step, null);
    }
  }
}

function drawMap() {
  const component = components[Number(element("component").value)];
  if (!component) {
    element("map-caption").textContent = "There is no component: no two scans belong together.";
    return Plotly.react("map", [], { scene: { xaxis: bare, yaxis: bare, zaxis: bare } }, settings);
  }
  const { up } = component.frame;
  const inside = new Set(component.scans);
  const sizes = component.scans.map((scan) => cloudOf(scan)[0].length);
  const total = sizes.reduce((sum, size) => sum + size, 0);
  const share = Math.min(1, data.most / Math.max(total, 1));
  const placed = new Map(component.scans.map((scan, k) => [scan,
    moved(cloudOf(scan).map((axis) => axis.subarray(0, Math.ceil(share * sizes[k]))), poses[scan])]));
  const all = Array.from(placed.values());
  const [low, high] = rangeAlong(all, up);
  const cut = Number(element("cut").value);
  const limit = cut < 100 ? low + (cut / 100) * (high - low) : Infinity;
  const traces = [];
  if (element("show-points").checked) {
    for (const [paint, group] of byColour(component)) {
      traces.push(dots(merged(group.map((scan) => placed.get(scan)), up, limit), "scans", paint, up, total < 60000 ? 2 : 1.5));
    }
  }
  const places = [0, 1, 2].map((axis) => component.scans.map((scan) => placeOf(scan)[axis]));
  for (const [kind, { paint, dashes }] of Object.entries(kinds).filter(([kind]) => shows(kind))) {
    const within = numbersOf(kind).filter((k) => inside.has(edges.source[k]) && inside.has(edges.target[k]));
    const ends = [[], [], []];
    for (const k of within) addDashes(ends, placeOf(edges.source[k]), placeOf(edges.target[k]), dashes);
    traces.push(lines(ends, paint, 0.9, { width: 4 }));
  }
  if (element("show-places").checked) {
    traces.push({ type: "scatter3d", mode: "markers", ...xyz(places),
      text: component.scans.map((scan) => plain(scans[scan].name)), hoverinfo: "text",
      marker: { size: 5, color: component.scans.map((scan) => scans[scan].colour), line: { width: 2, color: "#1c2430" } } });
  }
  element("map-caption").textContent = "Each scan has a colour; dots are where sensors stood, or the origins of scans; " +
    `lines are pairs. Shown: ${Math.round(share * total)} points.` + zeroText(component.origin);
  const layout = layoutOf(all, "map", component.frame, element("component").value, places);
  return Plotly.react("map", traces, layout, settings);
}

// --- the graph of pairs -------------------------------------------------------------------------------------------------

function drawGraph() {
  const { x, y, caption } = data.graph;
  const number = new Map(data.graph.scans.map((scan, k) => [scan, k]));
  element("graph-caption").textContent = caption;
  const strokes = Object.entries(kinds).filter(([kind]) => shows(kind)).map(([kind, { paint, dash }]) => {
    const ends = { x: [], y: [] };
    for (const k of numbersOf(kind)) {
      const [a, b] = [number.get(edges.source[k]), number.get(edges.target[k])];
      if (a === undefined || b === undefined) continue;
      ends.x.push(x[a], x[b], null);
      ends.y.push(y[a], y[b], null);
    }
    return { type: "scatter", mode: "lines", ...ends, hoverinfo: "skip", line: { width: 1.4, dash, color: colour(paint) } };
  });
  const cards = data.graph.scans.map((scan) => scans[scan]);
  const vertices = { type: "scatter", mode: "markers", x, y, hoverinfo: "text",
    text: cards.map((card) => `${plain(card.name)}: ${card.status}`),
    marker: { size: 11, symbol: cards.map((card) => (card.component === null ? "circle-open" : "circle")),
      color: cards.map((card) => card.colour), line: { width: 2, color: cards.map((card) => card.colour) } } };
  return Plotly.react("graph", [...strokes, vertices], { margin: { l: 10, r: 10, t: 10, b: 10 }, showlegend: false,
    xaxis: bare, yaxis: { ...bare, scaleanchor: "x" }, hovermode: "closest" }, settings);
}

// --- cards --------------------------------------------------------------------------------------------------------------

function fillCards() {
  scans.forEach((scan, number) => {
    const card = element("cards").appendChild(document.createElement("button"));
    card.className = "card";
    card.style.borderLeftColor = scan.colour;
    const line = (text, name = "", tag = "span") => {
      if (!text) return;
      const part = card.appendChild(document.createElement(tag));
      part.className = name;
      part.textContent = text;
    };
    line(scan.name, "", "b");
    line(scan.component === null ? scan.status : `${scan.status}, component ${scan.component}`);
    if (scan.component !== null) line(`confidence ${scan.confidence.toFixed(2)}`);
    line(scan.deviation);
    const counts = Object.keys(kinds).map((kind, k) => `${scan.pairs[k]} ${kind}`).filter((_, k) => scan.pairs[k]);
    line(`pairs: ${counts.join(", ") || "none"}`);
    line(scan.reason, "why");
    card.addEventListener("click", () => chooseScan(chosenScan === number ? null : number));
  });
}

function chooseScan(scan) {
  chosenScan = scan;
  Array.from(element("cards").children).forEach((card, k) => card.classList.toggle("chosen", k === scan));
  element("chosen-scan").hidden = scan === null;
  element("chosen-name").textContent = scan === null ? "" : scans[scan].name;
  const component = scan === null ? null : scans[scan].component;
  if (component !== null) element("component").value = component;
  fillEdges();
  return drawn(drawMap());
}

// --- the table of pairs -------------------------------------------------------------------------------------------------

const scanName = (scan) => scans[scan].name;
const fixed = (digits) => (value) => (value === null ? "" : value.toFixed(digits));
const columns = [
  { name: "source", value: (k) => scanName(edges.source[k]) },
  { name: "target", value: (k) => scanName(edges.target[k]) },
  { name: "status", value: (k) => edges.status[k] },
  { name: "origin", value: (k) => edges.origin[k] },
  { name: "confidence", value: (k) => edges.confidence[k], text: fixed(2) },
  { name: "overlap", value: (k) => edges.overlap[k], text: fixed(2) },
  { name: "shift (m)", value: (k) => edges.shift[k], text: fixed(3) },
  { name: "reason", value: (k) => edges.reasons[edges.reason[k]] },
];
const order = new Intl.Collator("en", { numeric: true });
let sorting = { column: null, descending: false };
let most = 300;  // rows: browsers are slow with many thousands

// The numbers of the pairs to list, in their order; what is not known comes last.
function listedEdges() {
  const only = element("only").value;
  const listed = Array.from(edges.status.keys()).filter((k) => (!only || edges.status[k] === only) &&
    (chosenScan === null || edges.source[k] === chosenScan || edges.target[k] === chosenScan));
  if (sorting.column === null) return listed;
  const { value } = columns[sorting.column];
  const sign = sorting.descending ? -1 : 1;
  const compare = (a, b) => {
    const [left, right] = [value(a), value(b)];
    if (left === null || right === null) return (left === null) - (right === null) || a - b;
    return sign * (typeof left === "number" ? left - right : order.compare(left, right)) || a - b;
  };
  return listed.sort(compare);
}

function fillEdges() {
  const listed = listedEdges();
  const body = element("edges").tBodies[0];
  body.replaceChildren();
  for (const k of listed.slice(0, most)) {
    const row = addRow(body, columns.map(({ value, text }) => (text || String)(value(k))));
    row.cells[2].className = edges.status[k];
    row.classList.toggle("chosen", k === chosenEdge);
    row.addEventListener("click", () => chooseEdge(k, row));
  }
  element("more").hidden = listed.length <= most;
  element("more").textContent = `show all ${listed.length}`;
  element("count").textContent = `${listed.length} pairs. ${data.listed}`;
}

function fillHead() {
  const head = addRow(element("edges").tHead, columns.map(({ name }) => name), "th");
  Array.from(head.cells).forEach((cell, k) => {
    cell.addEventListener("click", () => {
      sorting = { column: k, descending: sorting.column === k && !sorting.descending };
      for (const other of head.cells) other.removeAttribute("aria-sort");
      cell.setAttribute("aria-sort", sorting.descending ? "descending" : "ascending");
      fillEdges();
    });
  });
}

// --- a pair -------------------------------------------------------------------------------------------------------------

function chooseEdge(edge, row) {
  chosenEdge = edge;
  for (const other of row.parentElement.rows) other.classList.toggle("chosen", other === row);
  return drawn(drawPair());
}

function drawPair() {
  element("pair").hidden = chosenEdge === null;
  if (chosenEdge === null) return null;
  const [source, target] = [edges.source[chosenEdge], edges.target[chosenEdge]];
  const motion = motions[chosenEdge], { frame } = scans[target];
  const fixedCloud = cloudOf(target), placed = moved(cloudOf(source), motion || still);
  const [[left], [, right]] = [fixedCloud, placed].map((cloud) => rangeAlong([cloud], frame.right));
  const away = left - right;
  const apart = moved(placed, shift(frame.right.map((part) => part * away)));
  const paint = (cloud, name) => dots(cloud, name, colour(name), frame.up);
  const title = element("pair-title");
  title.replaceChildren(swatched("source"), scanName(source), " onto ", swatched("target"), scanName(target),
    `: ${edges.status[chosenEdge]}, ${edges.reasons[edges.reason[chosenEdge]]}`);
  element("beside-caption").textContent = motion ? "Beside each other, turned as the transform says."
    : "Beside each other, as they are: no transform was found.";
  element("together-caption").textContent = motion ? "Laid on each other by the transform." : "The target alone.";
  const view = (clouds, id) => layoutOf(clouds, id, frame, chosenEdge + 1);
  return Promise.all([
    Plotly.react("beside", [paint(fixedCloud, "target"), paint(apart, "source")], view([fixedCloud, apart], "beside"), settings),
    Plotly.react("together", motion ? [paint(fixedCloud, "target"), paint(placed, "source")] : [paint(fixedCloud, "target")],
      view(motion ? [fixedCloud, placed] : [fixedCloud], "together"), settings),
  ]);
}

function swatched(name) {
  const dot = document.createElement("i");
  dot.className = `dot ${name}`;
  return dot;
}

// --- all of it ----------------------------------------------------------------------------------------------------------

document.title = `Map of ${scans.length} scans: ${data.headline}`;
element("num-scans").textContent = scans.length;
element("status").textContent = data.complete ? "complete" : "incomplete";
element("status").className = data.complete ? "ok" : "";
fillTexts("headline", "seconds", "command", "versions");
fillLabelled("doubts", "facts");
fillStages("s", 1, 2);
for (const kind of Object.keys(kinds)) {
  element(`num-${kind}`).textContent = numbersOf(kind).length;
  element("only").add(new Option(kind, kind));
  element(`show-${kind}`).addEventListener("change", () => drawn(drawMap(), drawGraph()));
}
components.forEach((component, k) => element("component").add(new Option(`${k}: ${component.scans.length} scans`, k)));
element("component").disabled = components.length < 2;
for (const id of ["show-points", "show-places", "cut", "component"]) {
  element(id).addEventListener("change", () => drawn(drawMap()));
}
element("only").addEventListener("change", fillEdges);
element("all-scans").addEventListener("click", () => chooseScan(null));
element("more").addEventListener("click", () => { most = Infinity; fillEdges(); });
fillCards();
fillHead();
fillEdges();
// What takes longest comes last, when all else can be read.
addEventListener("load", () => setTimeout(() => drawn(drawMap(), drawGraph(), drawPair())));
