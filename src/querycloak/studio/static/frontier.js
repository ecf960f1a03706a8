"use strict";
// The frontier: risk against usefulness, drawn by Vega from the data inside the page. Expressions are interpreted
// (`ast`), so the page needs no right to evaluate texts; the tip is our own, so Vega adds no styles to the page.

const section = document.getElementById("frontier");
const VERDICTS = ["RELEASE", "NEEDS A HUMAN", "DO NOT RELEASE"];
const SHAPES = ["circle", "triangle-up", "cross"];
const off = new Set(); // methods and verdicts that are filtered out
let view = null;
let data = null;

const colour = (name) => getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();
const shorten = (text, most) => (text.length > most ? `${text.slice(0, most - 1)}…` : text);

function boxes(holder, names) {
  holder.replaceChildren(...names.map((name) => {
    const label = document.createElement("label");
    const box = document.createElement("input");
    box.type = "checkbox";
    box.checked = !off.has(name);
    box.addEventListener("change", () => { if (box.checked) off.delete(name); else off.add(name); draw(); filterTable(); });
    label.append(box, ` ${name}`);
    return label;
  }));
}

function filterTable() {
  for (const row of document.querySelectorAll("#runs tbody tr")) row.hidden = off.has(row.dataset.method) || off.has(row.dataset.verdict);
}

function chosen(task) {
  return data.points
    .filter((p) => !off.has(p.method) && !off.has(p.verdict) && p.tasks[task])
    .map((p) => ({ ...p, ...p.tasks[task], tasks: undefined, label: shorten(p.name, 34), shown: p.nothing ? "nothing" : p.verdict }));
}

const PLACES = [["left", -11], ["right", -11], ["left", 13], ["right", 13]]; // of a label next to its mark, the best first

// Gives each mark a place for its label where it covers nothing, the frontier first; a mark without one has none.
function label(points, across, down, width) {
  const taken = points.map((p) => [across(p) - 8, down(p) - 8, across(p) + 8, down(p) + 8]);
  const front = points.filter((p) => p.best && !p.nothing);
  front.slice(1).forEach((p, i) => taken.push([across(front[i]) + 8, down(front[i]) - 2, across(p), down(front[i]) + 2], [across(p) - 2, down(p) + 8, across(p) + 2, down(front[i])]));
  for (const p of [...points].sort((a, b) => Number(b.best) - Number(a.best))) {
    p.at = -1;
    const long = 6.8 * p.label.length + 8;
    PLACES.some(([align, dy], i) => {
      const left = align === "left" ? across(p) + 9 : across(p) - 9 - long, top = down(p) + dy - 8;
      const box = [left, top, left + long, top + 16];
      if (left < 0 || box[2] > width || top < 0 || taken.some((t) => t[0] < box[2] && box[0] < t[2] && t[1] < box[3] && box[1] < t[3])) return false;
      taken.push(box);
      p.at = i;
      return true;
    });
  }
}

function specification(points, title, width) {
  const most = Math.max(2, ...points.map((p) => p.risk).filter((r) => r < 1000)) * 1.25;
  const placed = points.map((p) => ({ ...p, x: Math.min(p.risk, most * 0.97) }))
    .sort((a, b) => a.x - b.x);
  const low = Math.min(0, ...placed.map((p) => p.low)), high = Math.max(0.3, 1.1 * Math.max(...placed.map((p) => p.high), 0));
  const narrow = width < 560;
  const across = (p) => (width - 70) * (Math.log1p(p.x) / Math.log1p(most)), down = (p) => 370 * (1 - (p.value - low) / (high - low));
  label(placed, across, down, width - 70);
  const x = { field: "x", type: "quantitative", scale: { type: "symlog", constant: 1, domain: [0, most], nice: false },
    title: narrow ? "← safer · × the limit" : "← safer  ·  worst attack as a multiple of its limit  ·  riskier →",
    axis: { values: [0, 0.5, 1, 2, 3, 5, 10, 20, 50, 100, 200, 500].filter((v) => v <= most), format: ".3~g" } };
  const y = { field: "value", type: "quantitative", scale: { domain: [low, high], nice: false }, axis: { tickCount: 6 }, title: narrow ? "more useful →" : `more useful →  (${title}; 1 = the original log)` };
  const at = (name) => ({ ...x, field: name });
  return {
    width: "container", height: narrow ? 320 : 420, background: null,
    data: { values: placed },
    layer: [
      { data: { values: [{ from: 0, to: 1 }] }, mark: { aria: false, type: "rect", color: colour("good-card"), opacity: 0.75 }, encoding: { x: at("from"), x2: { field: "to" } } },
      { data: { values: [{ x: 1 }] }, mark: { aria: false, type: "rule", color: colour("limit"), strokeWidth: 2.5 }, encoding: { x } },
      { data: { values: [{ x: 1, value: high, text: "limit" }] }, mark: { aria: false, type: "text", align: "left", baseline: "top", dx: 5, dy: 4, color: colour("bad"), fontWeight: 600 }, encoding: { x, y, text: { field: "text" } } },
      { transform: [{ filter: "datum.best" }], mark: { aria: false, type: "line", interpolate: "step-after", color: colour("soft"), strokeDash: [5, 4], strokeWidth: 1.5 }, encoding: { x, y, order: { field: "x" } } },
      { mark: { aria: false, type: "rule", strokeWidth: 1.5, opacity: 0.45 }, encoding: { x, y: { ...y, field: "low" }, y2: { field: "high" }, color: kind("color") } },
      { mark: { type: "point", size: 150, strokeWidth: 2, cursor: "pointer" },
        encoding: { x, y, shape: kind("shape"), color: kind("color"), fill: { condition: { test: "datum.nothing", value: colour("paper") }, ...kind("color") }, description: { field: "name" } } },
      ...(narrow ? [] : PLACES.map(([align, dy], i) => ({ transform: [{ filter: `datum.at === ${i}` }],
        mark: { aria: false, type: "text", align, baseline: "middle", dx: align === "left" ? 11 : -11, dy, fontSize: 12, color: colour("ink"), limit: 260 }, encoding: { x, y, text: { field: "label" } } }))),
    ],
    config: {
      font: "system-ui, sans-serif",
      view: { stroke: colour("line") },
      axis: { labelColor: colour("soft"), titleColor: colour("ink"), gridColor: colour("line"), gridOpacity: 0.5, domainColor: colour("line"), tickColor: colour("line"), labelFontSize: 12, titleFontSize: 13, titlePadding: 10, titleFontWeight: 600 },
    },
  };
}

function kind(channel) {
  const colours = [colour("good"), colour("open"), colour("bad"), colour("soft")];
  const range = channel === "shape" ? [...SHAPES, "circle"] : colours;
  return { field: "shown", type: "nominal", legend: null, scale: { domain: [...VERDICTS, "nothing"], range } };
}

function tip(_, event, item, value) {
  const box = document.getElementById("tip");
  const p = item && item.datum && item.datum.verdict ? item.datum : null;
  box.hidden = !p;
  if (!p) return;
  const lines = [
    ["b", p.name], ["span", p.nothing ? "Published nothing" : p.verdict, p.mark],
    ["span", p.nothing ? "" : `worst attack: ${p.worst || "none"}, ${p.risk.toFixed(2)} × its limit`],
    ["span", `useful: ${p.value.toFixed(2)} (${p.low.toFixed(2)} to ${p.high.toFixed(2)})`],
    ["span", `${p.rows.toLocaleString("en")} rows · ${p.guarantee === "none" ? "no formal guarantee" : p.guarantee}`, "soft"],
  ];
  box.replaceChildren(...lines.filter(([, text]) => text).map(([tag, text, name]) => {
    const line = document.createElement(tag);
    line.textContent = text;
    if (name) line.className = name;
    return line;
  }));
  const frame = box.parentElement.getBoundingClientRect();
  const left = Math.min(event.clientX - frame.left + 14, frame.width - box.offsetWidth - 8);
  box.style.left = `${Math.max(4, left)}px`;
  box.style.top = `${event.clientY - frame.top + 16}px`;
}

async function draw() {
  const select = document.getElementById("task");
  const task = data.tasks.find((t) => t.name === select.value) ?? data.tasks[0];
  const holder = document.getElementById("chart");
  const points = chosen(task.name);
  const made = await vegaEmbed(holder, specification(points, task.title.toLowerCase(), holder.clientWidth), {
    actions: false, ast: true, defaultStyle: false, renderer: "svg", tooltip: tip, hover: true,
  });
  if (view) view.finalize();
  view = made.view;
  view.tooltip(tip);
  view.addEventListener("mousemove", (event, item) => tip(null, event, item));
  view.addEventListener("mouseout", () => tip(null, null, null));
  view.addEventListener("click", (_, item) => { if (item && item.datum && item.datum.href) location.href = item.datum.href; });
  holder.setAttribute("aria-label", `Risk against usefulness for ${task.title}: ${points.length} runs, ${points.filter((p) => p.risk <= 1 && !p.nothing).length} of them within the limits of all attacks. The table has the same figures.`);
}

// Vega is put together when the studio starts for the first time: until then its script is empty.
let asking = false;
function askAgain() {
  if (asking) return;
  asking = true;
  setTimeout(() => {
    const script = document.createElement("script");
    script.src = document.querySelector("script[src*='/static/vega.js']").src.split("?")[0] + `?${Date.now()}`;
    script.addEventListener("load", () => { asking = false; show(); });
    script.addEventListener("error", () => { asking = false; });
    document.head.append(script);
  }, 1000);
}

function show() {
  data = JSON.parse(document.getElementById("frontier-data").textContent);
  section.hidden = !(data.points.length && data.tasks.length);
  if (section.hidden) return;
  if (typeof vegaEmbed === "undefined") { section.hidden = true; askAgain(); return; }
  const select = document.getElementById("task");
  const before = select.value;
  select.replaceChildren(...data.tasks.map((t) => new Option(t.title, t.name)));
  if (data.tasks.some((t) => t.name === before)) select.value = before;
  boxes(document.getElementById("verdicts"), VERDICTS.filter((v) => data.points.some((p) => p.verdict === v)));
  boxes(document.getElementById("method-boxes"), [...new Set(data.points.map((p) => p.method))].sort());
  filterTable();
  draw();
}

document.getElementById("task").addEventListener("change", draw);
document.getElementById("filters").addEventListener("submit", (event) => event.preventDefault());
document.addEventListener("studio:swapped", show);
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => { if (data && !section.hidden) draw(); });
let width = document.getElementById("chart").clientWidth;
new ResizeObserver(([entry]) => { const now = Math.round(entry.contentRect.width); if (data && !section.hidden && Math.abs(now - width) > 20) { width = now; draw(); } else width = width || now; }).observe(document.getElementById("chart"));
show();
