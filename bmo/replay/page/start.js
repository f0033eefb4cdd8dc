// Reads the data, draws a few conversations at a time, and listens.

const DATA = JSON.parse(byId("data").textContent);
const TURNS = DATA.conversations.flatMap(conversation => conversation.turns);
const TITLES = DATA.diff ? DATA.diff.titles : {};
const ROWS = [];
// Longest time the page is busy drawing before it looks at clicks and keys again.
const SLICE_MS = 50;
const THEMES = ["system", "light", "dark"];

// What the rest looks up at each turn: what changed there, and what filters ask.
function prepare() {
  for (const conversation of DATA.conversations) {
    for (const turn of conversation.turns) {
      turn.changes = conversation.changes.filter(change => change.session === turn.session && change.turn === turn.turn);
      turn.facets = facetsOf(turn);
    }
  }
}

function provenance() {
  const versions = tally(TURNS.map(turn => turn.gate_version).filter(Boolean)).map(([name]) => name);
  // Where only rules spoke the version is theirs alone: "rules-a" says nothing beside "rules-a+b".
  const gates = versions.filter(name => !versions.some(other => other.startsWith(`${name}+`)));
  const modes = tally(DATA.conversations.map(conversation => conversation.mode).filter(Boolean)).map(([name]) => `mode ${name}`);
  return [DATA.version && `BMO ${DATA.version}`, ...modes, ...gates].filter(Boolean).join(" · ");
}

function tallies() {
  const stored = TURNS.flatMap(turn => turn.stored || []).filter(fact => !fact.confirmed).length;
  const ended = TURNS.flatMap(turn => turn.ended || []).length;
  const recalls = TURNS.filter(turn => turn.recall.triggered).length;
  const differing = TURNS.filter(turn => (turn.mismatches || []).length).length;
  const rows = [
    [DATA.conversations.length, "conversations"], [TURNS.length, "turns"], [stored, "memories stored"],
    [ended, "replaced or ended"], [recalls, "recalls"], [differing, "turns that differ", differing ? "bad" : "good"],
  ];
  byId("tallies").replaceChildren(...rows.map(([number, label, kind]) =>
    el("div", { class: kind }, el("dt", {}, label), el("dd", {}, number.toLocaleString("en")))));
}

function contents() {
  byId("contents").replaceChildren(...DATA.conversations.map((conversation, number) => {
    const differing = conversation.turns.filter(turn => (turn.mismatches || []).length).length + conversation.mismatches.length;
    return el("li", { id: `n${number}` }, el("a", { href: `#c${number}` },
      el("span", {}, conversation.id), differing > 0 && el("span", { class: "count", title: `${differing} that differ` }, differing), strip(conversation.turns)));
  }));
}

function refresh(remember) {
  const wanted = applyFilters(ROWS, TURNS.length);
  DATA.conversations.forEach((_, number) => {
    const section = byId(`c${number}`);
    byId(`n${number}`).hidden = section !== null && section.hidden;
  });
  if (remember) {
    const address = toAddress(wanted);
    // A page from disk may not rewrite its path, only what follows "#".
    history.replaceState(null, "", address || "#");
  }
}

function drawAll(number) {
  const began = performance.now();
  const fresh = [];
  while (number < DATA.conversations.length && performance.now() - began < SLICE_MS) {
    const { section, drawn } = drawConversation(DATA.conversations[number], number, TITLES);
    byId("timeline").append(section);
    fresh.push(...drawn);
    number += 1;
  }
  // What is filtered out is hidden before it is seen; the counts come with the last.
  hideUnfit(fresh, wantedNow());
  ROWS.push(...fresh);
  if (number < DATA.conversations.length) {
    setTimeout(drawAll, 0, number);
    return;
  }
  refresh(false);
  const target = location.hash.length > 1 && !location.hash.startsWith("#?") && byId(location.hash.slice(1));
  if (target) target.scrollIntoView();
  document.documentElement.dataset.ready = String(Math.round(performance.now()));
}

function theme(name) {
  if (name === "system") delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = name;
  byId("theme").textContent = `Theme: ${name}`;
  byId("theme").dataset.theme = name;
}

function nextTheme() {
  theme(THEMES[(THEMES.indexOf(byId("theme").dataset.theme) + 1) % THEMES.length]);
}

function visibleRows(differingOnly) {
  return ROWS.filter(row => !row.node.hidden && (!differingOnly || row.turn.facets.mismatch));
}

function step(direction, differingOnly) {
  const rows = visibleRows(differingOnly);
  if (!rows.length) return;
  const current = document.activeElement && document.activeElement.closest(".turn");
  const order = current ? ROWS.findIndex(row => row.node === current) : -1;
  const places = rows.map(row => ROWS.indexOf(row));
  const next = direction > 0 ? places.find(place => place > order) : places.findLast(place => order >= 0 && place < order);
  if (next === undefined) return;
  ROWS[next].node.focus({ preventScroll: true });
  ROWS[next].node.scrollIntoView({ block: "center", behavior: matchMedia("(prefers-reduced-motion: reduce)").matches ? "auto" : "smooth" });
}

function toggleBox(name, value) {
  const box = document.querySelector(`input[name="${name}"][value="${value}"]`);
  box.checked = !box.checked;
  refresh(true);
}

function toggleRecall(turn) {
  const fold = turn.querySelector("details.recall");
  if (fold) fold.open = !fold.open;
}

const KEYS = {
  j: () => step(1, false), k: () => step(-1, false), n: () => step(1, true), p: () => step(-1, true),
  m: () => toggleBox("only", "mismatch"), r: () => byId("filters").reset(), t: nextTheme,
  "/": () => byId("search").focus(), "?": () => byId("help").showModal(),
};

function onKey(event) {
  const typing = event.target.closest("input[type=search], select, textarea");
  if (event.key === "Escape" && event.target === byId("search")) byId("search").blur();
  if (event.ctrlKey || event.metaKey || event.altKey || typing || byId("help").open) return;
  if (event.key === "Enter" && event.target.matches(".turn")) toggleRecall(event.target);
  else if (Object.hasOwn(KEYS, event.key)) {
    event.preventDefault();
    KEYS[event.key]();
  }
}

function listen() {
  const filters = byId("filters");
  filters.addEventListener("submit", event => event.preventDefault());
  filters.addEventListener("input", () => refresh(true));
  // The form's own reset comes after its event.
  filters.addEventListener("reset", () => setTimeout(refresh, 0, true));
  byId("more").addEventListener("click", () => {
    const open = filters.classList.toggle("open");
    byId("more").setAttribute("aria-expanded", String(open));
  });
  byId("theme").addEventListener("click", nextTheme);
  byId("keys").addEventListener("click", () => byId("help").showModal());
  document.addEventListener("keydown", onKey);
  addEventListener("hashchange", () => {
    if (location.hash.startsWith("#?")) {
      fromAddress();
      refresh(false);
    }
  });
  const wide = matchMedia("(min-width: 64rem)");
  const unfold = () => { byId("contents-fold").open = wide.matches; };
  wide.addEventListener("change", unfold);
  unfold();
}

function start() {
  prepare();
  byId("provenance").textContent = provenance();
  if (DATA.diff) {
    byId("difference").textContent = DATA.diff.summary.replaceAll("->", "→");
    byId("difference").hidden = false;
  }
  theme("system");
  tallies();
  drawCharts(TURNS);
  contents();
  setUpFilters(TURNS, DATA.diff !== null);
  fromAddress();
  listen();
  drawAll(0);
}

start();
