// The time line: conversations, their visits, their turns.

const PARTS = ["semantic", "recency", "domain", "usage", "kind"];

function spoken(text) {
  return el("bdi", { dir: "auto" }, text);
}

function turnId(conversation, session, turn) {
  return `c${conversation}-${session}-${turn}`;
}

function placeLink(conversation, said, from) {
  if (!said) return null;
  const where = said[0] === from.session ? `turn ${said[1] + 1}` : `visit ${said[0] + 1}, turn ${said[1] + 1}`;
  return el("a", { class: "place", href: `#${turnId(conversation, said[0], said[1])}` }, `said in ${where}`);
}

function moment(iso, form) {
  const date = iso && new Date(iso);
  if (!date || Number.isNaN(date.getTime())) return "";
  // As the scenario has it: everything is in UTC.
  return new Intl.DateTimeFormat("en-GB", { ...form, timeZone: "UTC" }).format(date);
}

function ruling(turn) {
  const verdict = turn.verdict || "undecided";
  const by = turn.rule || (turn.extraction_method !== "pattern" && turn.extraction_method) || "";
  const sure = turn.confidence === undefined || turn.confidence === null ? null : `${Math.round(100 * turn.confidence)}% sure`;
  return el("div", { class: "ruling" },
    el("span", { class: `verdict ${verdict}` }, verdict),
    el("span", { class: "reason" }, turn.reason ? turn.reason.replaceAll("_", " ") : "the turn never reached the gate"),
    el("span", { class: "facts muted" },
      (turn.signals || []).length > 0 && el("span", {}, turn.signals.join(", ").replaceAll("_", " ")),
      by && el("code", { title: "the rule or judge that decided" }, by),
      sure && el("span", {}, sure),
      turn.fallback && el("span", { class: "warn" }, "fallback")));
}

function effects(turn, conversation) {
  const rows = [];
  for (const fact of turn.stored || []) {
    const by = fact.rule || fact.extraction_method || "";
    rows.push(el("li", { class: fact.confirmed ? "known" : "stored" },
      el("span", { class: "sign", "aria-label": fact.confirmed ? "known already" : "stored" }, fact.confirmed ? "=" : "+"),
      el("span", {}, spoken(fact.text),
        el("span", { class: "facts muted" },
          el("span", {}, fact.category.replace("_", " ")),
          fact.kind !== "fact" && fact.kind !== fact.category && el("span", {}, fact.kind.replace("_", " ")),
          fact.slot && el("span", {}, fact.slot),
          fact.confirmed && el("span", {}, "known already"),
          by && by !== turn.rule && el("code", {}, by)))));
  }
  for (const end of turn.ended || []) {
    rows.push(el("li", { class: "ended" },
      el("span", { class: "sign", "aria-label": "ended" }, "−"),
      el("span", {}, el("s", {}, spoken(end.text)),
        el("span", { class: "facts muted" },
          el("span", {}, end.why),
          end.replaced_by && el("span", {}, "now: ", spoken(end.replaced_by)),
          placeLink(conversation, end.said, turn)))));
  }
  return rows.length > 0 && el("ul", { class: "effects" }, rows);
}

function scoreBar(memory) {
  const parts = PARTS.filter(name => memory.parts && memory.parts[name]);
  const said = parts.map(name => `${name} ${memory.parts[name].toFixed(2)}`).join(", ");
  return el("span", { class: "score" },
    el("span", { class: "score-bar", role: "img", "aria-label": `score ${memory.score.toFixed(2)}: ${said}`, title: said },
      scoreDrawing(memory, parts)),
    el("span", { class: "muted" }, memory.score.toFixed(2), parts.length > 0 && el("small", {}, said)));
}

// The scores are drawn to 1.2, about the most one can have.
function scoreDrawing(memory, parts) {
  const drawing = svg("svg", { width: "100%", height: 6, "aria-hidden": "true" });
  let from = 0;
  for (const name of parts) {
    const width = Math.min(100 - from, 100 * memory.parts[name] / 1.2);
    drawing.append(svg("rect", { x: `${from}%`, width: `${Math.max(0, width)}%`, y: 0, height: 6, class: `part-${name}` }));
    from += width;
  }
  return drawing;
}

function memoryRow(memory, turn, conversation) {
  return el("li", {}, el("span", { class: "memory" }, spoken(memory.text),
    el("span", { class: "facts muted" }, el("span", {}, memory.why), placeLink(conversation, memory.said, turn))),
  scoreBar(memory));
}

function recalled(turn, conversation) {
  const recall = turn.recall;
  if (!recall.triggered) return null;
  const given = recall.selected || recall.memories.map(text => ({ text, why: "", score: 0, parts: {} }));
  const left = recall.left_out || [];
  const size = recall.tokens ? `, ${recall.tokens} of ${counted(recall.budget_tokens || 0, "token")}` : "";
  const fold = el("details", { class: "recall" },
    el("summary", {}, el("strong", {}, given.length ? `Given ${counted(given.length, "memory", "memories")}` : "Asked, nothing given"),
      el("span", { class: "muted" }, ` ${recall.trigger.replaceAll("_", " ")}${size}`),
      recall.fallback && el("span", { class: "warn" }, " fallback"),
      given.length > 0 && el("span", { class: "preview" }, given.map(memory => memory.text).join(" · "))));
  // What is inside is made when it is first opened: most are never looked at.
  fold.addEventListener("toggle", () => {
    if (fold.open && fold.children.length === 1) fold.append(...recallDetails(turn, given, left, conversation));
  });
  return fold;
}

function recallDetails(turn, given, left, conversation) {
  return [
    given.length > 0 && el("ul", { class: "memories" }, given.map(memory => memoryRow(memory, turn, conversation))),
    left.length > 0 && el("details", { class: "left" },
      el("summary", {}, `Left out: ${left.length}`),
      el("ul", { class: "memories" }, left.map(memory => memoryRow(memory, turn, conversation)))),
    turn.recall.context && el("details", { class: "block" },
      el("summary", {}, "The block the model got"),
      el("pre", { tabindex: 0, dir: "auto" }, turn.recall.context)),
    given.length > 0 && el("p", { class: "legend muted" }, PARTS.map(name => el("span", {}, el("i", { class: `key-${name}` }), name))),
  ].filter(Boolean);
}

// The last line of a turn: why memory was not asked, and its times.
function foot(turn) {
  const rows = [["hook", turn.hook_ms], ["gate", turn.gate_ms], ["recall", turn.recall.triggered ? turn.recall.elapsed_ms : null]]
    .filter(([, value]) => value !== undefined && value !== null);
  return el("div", { class: "foot muted" },
    !turn.recall.triggered && turn.recall.trigger && el("span", { class: "idle" }, "no recall: ", turn.recall.trigger.replaceAll("_", " ")),
    rows.map(([name, value]) =>
    el("span", { class: "time", title: `${name}: ${milliseconds(value)}` }, name,
      svg("svg", { width: 44, height: 5, "aria-hidden": "true" },
        svg("rect", { width: 44, height: 5, rx: 2.5, class: "chart-track" }),
        svg("rect", { width: Math.max(2, 44 * onScale(value)), height: 5, rx: 2.5, class: `chart-bar time-${name}` })),
      milliseconds(value))));
}

function profileOf(turn) {
  if (!turn.profile || !turn.profile.length) return null;
  return el("details", { class: "profile" },
    el("summary", {}, `Profile: ${counted(turn.profile.length, "memory", "memories")}`),
    turn.profile_context ? el("pre", { tabindex: 0, dir: "auto" }, turn.profile_context) : el("ul", {}, turn.profile.map(text => el("li", {}, spoken(text)))));
}

function mismatchList(mismatches) {
  return mismatches.length > 0 && el("ul", { class: "mismatches", "aria-label": "Differs from the scenario" }, mismatches.map(text => el("li", {}, spoken(text))));
}

function changeList(changes, titles) {
  return changes.length > 0 && el("ul", { class: "changes", "aria-label": "Changed against the baseline" }, changes.map(change =>
    el("li", {}, el("span", { class: "sign" }, change.sign === "-" ? "−" : change.sign),
      el("span", {}, el("b", {}, titles[change.kind].toLowerCase()), " ", spoken(change.text),
        el("span", { class: "facts muted" }, el("code", {}, change.cause), change.note && el("span", {}, change.note))))));
}

function drawTurn(turn, conversation, titles) {
  const id = turnId(conversation, turn.session, turn.turn);
  return el("article", { class: `turn ${turn.verdict || "undecided"}`, id, tabindex: -1, "aria-label": `Turn ${turn.turn + 1} of visit ${turn.session + 1}` },
    el("div", { class: "said" },
      el("p", { class: "when muted" }, el("a", { href: `#${id}` }, `${turn.turn + 1}`), " ", moment(turn.at, { hour: "2-digit", minute: "2-digit", second: "2-digit" })),
      el("p", { class: "words", dir: "auto" }, turn.words),
      turn.assistant && el("p", { class: "reply muted", dir: "auto" }, turn.assistant)),
    el("div", { class: "did" },
      ruling(turn), effects(turn, conversation), recalled(turn, conversation),
      mismatchList(turn.mismatches || []), changeList(turn.changes, titles), foot(turn)));
}

function strip(turns) {
  const drawing = svg("svg", { class: "strip", width: "100%", height: 4, "aria-hidden": "true" });
  turns.forEach((turn, place) => drawing.append(svg("rect", {
    x: `${100 * place / turns.length}%`, width: `${Math.max(0.3, 100 / turns.length - 0.35)}%`, height: 4, class: (turn.mismatches || []).length ? "differs" : turn.verdict || "undecided" })));
  return drawing;
}

// Draws one conversation; tells of each turn's element, so that filters can hide it.
function drawConversation(conversation, number, titles) {
  const section = el("section", { class: "conversation", id: `c${number}`, "aria-labelledby": `t${number}` },
    el("header", {},
      el("h2", { id: `t${number}` }, conversation.id),
      conversation.about && el("p", { class: "about", dir: "auto" }, conversation.about),
      el("p", { class: "facts muted" }, conversation.language && el("span", {}, conversation.language), el("span", {}, counted(conversation.turns.length, "turn")), conversation.mode && el("span", {}, `mode ${conversation.mode}`))));
  const drawn = [];
  const visits = new Map();
  for (const turn of conversation.turns) {
    if (!visits.has(turn.session)) {
      const visit = el("section", { class: "visit", "aria-label": `Visit ${turn.session + 1}` },
        el("h3", {}, `Visit ${turn.session + 1}`, el("span", { class: "muted" }, " ", moment(turn.at, { day: "numeric", month: "long", year: "numeric", hour: "2-digit", minute: "2-digit" }))),
        profileOf(turn));
      visits.set(turn.session, visit);
      section.append(visit);
    }
    const node = drawTurn(turn, number, titles);
    visits.get(turn.session).append(node);
    drawn.push({ node, visit: visits.get(turn.session), section, turn });
  }
  section.append(drawEnd(conversation, titles));
  // What is far from the window is not laid out; this is about the height it will have.
  section.style.containIntrinsicSize = `auto ${9 * conversation.turns.length + 12}rem`;
  return { section, drawn };
}

function drawEnd(conversation, titles) {
  const changes = conversation.changes.filter(change => change.session === null);
  return el("div", { class: "end" },
    el("details", {}, el("summary", {}, `Remembered at the end: ${conversation.live.length}`),
      el("ul", {}, conversation.live.map(text => el("li", {}, spoken(text))))),
    mismatchList(conversation.mismatches), changeList(changes, titles));
}
