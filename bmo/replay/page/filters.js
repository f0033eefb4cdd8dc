// Filters: what they are set to lies in the address (#?verdict=hold), so a view can be passed on.

const VERDICTS = ["allow", "hold", "discard"];

function rulesOf(turn) {
  const rules = new Set((turn.stored || []).map(fact => fact.rule || fact.extraction_method));
  rules.add(turn.rule || (turn.extraction_method === "pattern" ? "" : turn.extraction_method));
  rules.delete("");
  rules.delete(undefined);
  return rules;
}

function searchable(turn) {
  return [
    turn.words, turn.assistant, turn.reason, turn.rule,
    ...(turn.stored || []).map(fact => fact.text),
    ...(turn.ended || []).map(end => end.text),
    ...turn.recall.memories,
    ...(turn.mismatches || []),
  ].join("\n").toLowerCase();
}

// What a filter asks of a turn, looked up once.
function facetsOf(turn) {
  return {
    verdict: turn.verdict || "undecided",
    signals: new Set(turn.signals || []),
    rules: rulesOf(turn),
    mismatch: (turn.mismatches || []).length > 0,
    recall: turn.recall.triggered,
    stored: (turn.stored || []).length > 0,
    changed: turn.changes.length > 0,
    text: searchable(turn),
  };
}

function fits(facets, wanted) {
  return (!wanted.verdicts.length || wanted.verdicts.includes(facets.verdict))
    && (!wanted.signal || facets.signals.has(wanted.signal))
    && (!wanted.rule || facets.rules.has(wanted.rule))
    && wanted.only.every(name => facets[name])
    && wanted.words.every(word => facets.text.includes(word));
}

function checkbox(name, value, label, count) {
  return el("label", { class: "chip" }, el("input", { type: "checkbox", name, value }), el("span", {}, label, el("small", {}, count.toLocaleString("en"))));
}

function fillPicker(select, rows) {
  select.replaceChildren(el("option", { value: "" }, "any"), ...rows.map(([name, count]) => el("option", { value: name }, `${name} (${count})`)));
}

function setUpFilters(turns, withDiff) {
  const facets = turns.map(turn => turn.facets);
  const verdicts = tally(facets.map(facet => facet.verdict));
  const counts = new Map(verdicts);
  byId("verdicts").append(...[...VERDICTS, "undecided"].filter(name => name !== "undecided" || counts.has(name))
    .map(name => checkbox("verdict", name, name, counts.get(name) || 0)));
  const only = [["mismatch", "differs"], ["stored", "stored"], ["recall", "recalled"], ...(withDiff ? [["changed", "changed"]] : [])];
  byId("only").append(...only.map(([value, label]) => checkbox("only", value, label, facets.filter(facet => facet[value]).length)));
  fillPicker(byId("signal"), tally(turns.flatMap(turn => turn.signals || [])));
  fillPicker(byId("rule"), tally(facets.flatMap(facet => [...facet.rules])));
}

function ticked(name) {
  return [...document.querySelectorAll(`input[name="${name}"]:checked`)].map(box => box.value);
}

function wantedNow() {
  return {
    verdicts: ticked("verdict"),
    only: ticked("only"),
    signal: byId("signal").value,
    rule: byId("rule").value,
    words: byId("search").value.toLowerCase().split(/\s+/).filter(Boolean),
  };
}

function toAddress(wanted) {
  const query = new URLSearchParams();
  for (const verdict of wanted.verdicts) query.append("verdict", verdict);
  for (const name of wanted.only) query.append("only", name);
  if (wanted.signal) query.set("signal", wanted.signal);
  if (wanted.rule) query.set("rule", wanted.rule);
  if (byId("search").value) query.set("search", byId("search").value);
  return query.size ? `#?${query}` : "";
}

function fromAddress() {
  if (!location.hash.startsWith("#?")) return;
  const query = new URLSearchParams(location.hash.slice(2));
  for (const name of ["verdict", "only"]) {
    const values = query.getAll(name);
    for (const box of document.querySelectorAll(`input[name="${name}"]`)) box.checked = values.includes(box.value);
  }
  byId("signal").value = query.get("signal") || "";
  byId("rule").value = query.get("rule") || "";
  byId("search").value = query.get("search") || "";
}

// Hides what does not fit in these rows (drawn turns), and visits and conversations left empty.
function hideUnfit(rows, wanted) {
  const visible = new Set();
  let shown = 0;
  for (const row of rows) {
    const fit = fits(row.turn.facets, wanted);
    if (row.node.hidden === fit) row.node.hidden = !fit;
    if (fit) {
      shown += 1;
      visible.add(row.visit).add(row.section);
    }
  }
  for (const row of rows) {
    for (const whole of [row.visit, row.section]) {
      if (whole.hidden === visible.has(whole)) whole.hidden = !whole.hidden;
    }
  }
  return shown;
}

// Hides what does not fit and says how much does.
function applyFilters(rows, total) {
  const wanted = wantedNow();
  const shown = hideUnfit(rows, wanted);
  const filtered = toAddress(wanted) !== "";
  document.documentElement.classList.toggle("filtered", filtered);
  byId("shown").textContent = filtered ? `${shown.toLocaleString("en")} of ${counted(total, "turn")}` : counted(total, "turn");
  byId("nothing").hidden = shown > 0 || rows.length < total;
  return wanted;
}
