// Charts: inline SVG in percentages, so that they fit any width without scaling their letters.

const ROW = 30;
const LATENCY_ROW = 76;
const BINS = 36;
const LONGEST = 30;
// The logarithmic scale of all times, in milliseconds.
const FASTEST = 0.01;
const SLOWEST = 1000;

function onScale(value) {
  const place = Math.log10(Math.max(value, FASTEST) / FASTEST) / Math.log10(SLOWEST / FASTEST);
  return Math.min(1, place);
}

function chart(title, note, drawing, description) {
  drawing.setAttribute("role", "img");
  drawing.setAttribute("aria-label", `${title}: ${description}`);
  return el("figure", { class: "chart" }, el("figcaption", {}, title, note && el("span", { class: "muted" }, " ", note)), drawing);
}

// A label and its number share a line of a narrow chart.
function shortened(name) {
  const label = name.replaceAll("_", " ");
  return label.length > LONGEST ? `${label.slice(0, LONGEST - 1)}…` : label;
}

// Horizontal bars, a label above each: [[label, count, class], ...].
function barChart(title, rows, note) {
  const total = rows.reduce((sum, row) => sum + row[1], 0);
  const most = Math.max(1, ...rows.map(row => row[1]));
  const drawing = svg("svg", { width: "100%", height: Math.max(1, rows.length) * ROW });
  rows.forEach(([label, count, kind], place) => {
    const top = place * ROW;
    drawing.append(
      svg("text", { x: 0, y: top + 12, class: "chart-label" }, shortened(label), svg("title", {}, label)),
      svg("text", { x: "100%", y: top + 12, class: "chart-number", "text-anchor": "end" }, `${count.toLocaleString("en")} · ${share(count, total)}`),
      svg("rect", { x: 0, y: top + 18, width: "100%", height: 5, rx: 2.5, class: "chart-track" }),
      svg("rect", { x: 0, y: top + 18, width: `${100 * count / most}%`, height: 5, rx: 2.5, class: `chart-bar ${kind || ""}` }),
    );
  });
  if (!rows.length) drawing.append(svg("text", { x: 0, y: 14, class: "chart-number" }, "none"));
  return chart(title, note, drawing, rows.map(row => `${row[0]} ${row[1]}`).join(", ") || "none");
}

function topRows(rows, limit) {
  const rest = rows.slice(limit);
  const sum = rest.reduce((total, row) => total + row[1], 0);
  return rest.length > 1 ? [...rows.slice(0, limit), [`${rest.length} others`, sum]] : rows;
}

function percentile(sorted, part) {
  return sorted[Math.min(sorted.length - 1, Math.round(part * (sorted.length - 1)))];
}

// A histogram per time on one logarithmic axis, with median and p95.
function latencyChart(times) {
  const rows = times.filter(([, values]) => values.length);
  const drawing = svg("svg", { width: "100%", height: rows.length * LATENCY_ROW + 16 });
  const said = [];
  rows.forEach(([name, values], place) => {
    const sorted = [...values].sort((a, b) => a - b);
    const [median, p95] = [percentile(sorted, 0.5), percentile(sorted, 0.95)];
    const bins = new Array(BINS).fill(0);
    for (const value of sorted) bins[Math.min(BINS - 1, Math.floor(onScale(value) * BINS))] += 1;
    const most = Math.max(...bins);
    const top = place * LATENCY_ROW;
    const floor = top + 60;
    drawing.append(
      svg("text", { x: 0, y: top + 12, class: "chart-label" }, name),
      svg("text", { x: "100%", y: top + 12, class: "chart-number", "text-anchor": "end" }, `median ${milliseconds(median)}, p95 ${milliseconds(p95)}`),
      svg("line", { x1: 0, x2: "100%", y1: floor, y2: floor, class: "chart-axis" }),
    );
    bins.forEach((count, bin) => {
      if (!count) return;
      const height = Math.max(1.5, 36 * count / most);
      drawing.append(svg("rect", { x: `${100 * bin / BINS}%`, y: floor - height, width: `${100 / BINS - 0.4}%`, height, class: `chart-bar time-${name}` }));
    });
    drawing.append(svg("line", { x1: `${100 * onScale(p95)}%`, x2: `${100 * onScale(p95)}%`, y1: top + 20, y2: floor, class: "chart-mark" }));
    said.push(`${name} median ${milliseconds(median)}, p95 ${milliseconds(p95)}`);
  });
  const axis = rows.length * LATENCY_ROW + 6;
  for (let value = FASTEST; value <= SLOWEST * 1.001; value *= 10) {
    const place = onScale(value);
    const anchor = place < 0.05 ? "start" : place > 0.95 ? "end" : "middle";
    const label = value < 1 ? String(Number(value.toFixed(2))) : value >= 1000 ? "1 s" : String(Math.round(value));
    drawing.append(svg("text", { x: `${100 * place}%`, y: axis, class: "chart-tick", "text-anchor": anchor }, label));
  }
  return chart("Time", "ms, logarithmic; line: p95", drawing, said.join("; "));
}

function drawCharts(turns) {
  const verdicts = tally(turns.map(turn => turn.verdict || "undecided"));
  const stored = turns.flatMap(turn => (turn.stored || []).filter(fact => !fact.confirmed));
  const held = tally(turns.filter(turn => turn.verdict === "hold").map(turn => turn.reason || "no reason"));
  byId("charts").replaceChildren(
    barChart("Verdicts", verdicts.map(([name, count]) => [name, count, name])),
    barChart("Stored, by category", tally(stored.map(fact => fact.category))),
    barChart("Why turns were held", topRows(held, 6).map(([name, count]) => [name, count, "hold"])),
    latencyChart([
      ["hook", turns.map(turn => turn.hook_ms)],
      ["gate", turns.map(turn => turn.gate_ms).filter(value => value !== undefined)],
      ["recall", turns.filter(turn => turn.recall.triggered).map(turn => turn.recall.elapsed_ms).filter(value => value !== undefined)],
    ]),
  );
}
