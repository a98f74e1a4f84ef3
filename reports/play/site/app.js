// The playground: a scenario in an editor, its run beside it, and sliders for what matters.
import {open} from "./editor.js";
import {ask, forget, onFailure, stop} from "./engine.js";
import {tour} from "./tour.js";
import {pack, unpack} from "./share.js";

const $ = id => document.getElementById(id);
const state = {text: "", case: "", seed: 0, sliders: [], page: "", name: ""};

onFailure(why => { $("verdict").textContent = `The simulator does not start: ${why}`; });

function make(tag, properties = {}, ...children) {
  const e = Object.assign(document.createElement(tag), properties);
  e.append(...children);
  return e;
}

function toast(text) {
  $("toast").textContent = text;
  clearTimeout(toast.timer);
  toast.timer = setTimeout(() => { $("toast").textContent = ""; }, 3000);
}

// The editor.

const editor = open($("editor"), {
  changed(text) {
    state.text = text;
    clearTimeout(editor.timer);
    editor.timer = setTimeout(() => rerun({sliders: true}), 150);
  },
  async complete(text, offset) {
    const {ok} = await ask({do: "complete", text, offset}, {kind: "complete"});
    return ok;
  },
});

function setText(text, options) {
  state.text = text;
  editor.set(text);
  return rerun(options);
}

// setOther puts a file there with the seed of its run; without a name it is none of the catalogue's.
function setOther({text, seed, name = "", case: one = ""}) {
  Object.assign(state, {name, case: one});
  setSeed(seed);
  return setText(text, {sliders: true});
}

function setSeed(seed) {
  state.seed = seed;
  $("seed").value = seed;
}

// The run.

async function rerun({sliders = false, keep = false} = {}) {
  forget("tips");
  const {text, seed} = state;
  const answer = await ask({do: "run", text, seed, case: state.case, name: state.name}, {kind: "run"});
  if (answer.error) return showError(answer);
  const run = answer.ok;
  showMistakes(run.warnings || []);
  state.page = run.page;
  $("hash").textContent = run.history;
  showVerdict(run);
  showCases(run.cases || []);
  await showPage(run.page);
  if (sliders) await makeSliders();
  if (!keep) showTips();
}

function showVerdict(run) {
  const v = $("verdict");
  v.className = run.shown.replace(" ", "-");
  v.textContent = `${run.says}: ${run.verdict}`;
  const expected = run.asExpected ? "as the file expects" : run.problems.join("; ");
  v.append(make("small", {textContent: `${run.title} (${expected})`}));
}

function showError(answer) {
  if (answer.mistakes) {
    $("verdict").className = "";
    $("verdict").textContent = "The file has a mistake; this is the last run without.";
    return showMistakes(answer.mistakes);
  }
  $("verdict").className = "broken";
  $("verdict").textContent = answer.error;
}

function showMistakes(all) {
  editor.mistakes(all);
  $("mistakes").replaceChildren(...all.map(m => make("li", {className: m.warning ? "warning" : ""},
    `Line ${m.line}, column ${m.column}: ${m.warning ? "warning: " : ""}${m.text}`)));
}

function showCases(all) {
  $("cases-box").hidden = !all.length;
  const now = all.includes(state.case) ? state.case : all[0];
  $("cases").replaceChildren(...all.map(c => make("option", {textContent: c, selected: c === now})));
}

// A page of a run replaces the one before when it has been drawn, so that nothing flickers.
let frame;
function showPage(page) {
  return new Promise(done => {
    const next = make("iframe", {title: "The run, step by step", srcdoc: page});
    next.setAttribute("sandbox", "allow-scripts");
    next.onload = () => {
      frame?.remove();
      frame = next;
      done();
    };
    $("frames").querySelectorAll("iframe").forEach(f => { if (f !== frame) f.remove(); });
    $("frames").append(next);
    if (frame) frame.style.zIndex = 1;
  });
}

// The sliders.

async function makeSliders() {
  const {ok, error} = await ask({do: "sliders", text: state.text, case: state.case}, {kind: "sliders"});
  if (error) return;
  const focused = document.activeElement?.dataset?.path;
  state.sliders = ok;
  $("sliders").replaceChildren(...ok.map(slider));
  if (!ok.length) $("sliders").append(make("p", {className: "hint", textContent: "A file with several cases has no sliders: choose a scenario with one."}));
  if (focused) document.querySelector(`[data-path="${CSS.escape(focused)}"]`)?.focus();
}

function slider(s, number) {
  const id = `slider-${number}`;
  const value = make("output", {textContent: s.value, htmlFor: id});
  const box = make("div", {className: "slider"}, make("label", {htmlFor: id}, make("span", {textContent: s.label}), value));
  const change = async word => {
    value.textContent = s.value = word;
    const {ok, error} = await ask({do: "set", text: state.text, path: s.path, word}, {kind: "set"});
    if (error) return showError({error: `${s.label} cannot be ${word}: ${error}`});
    await setText(ok, {keep: true});
  };
  let input;
  if (s.choice) {
    value.remove(); // it stands in the box below
    input = make("select", {id, onchange: () => change(input.value)}, ...s.values.map(v => make("option", {textContent: v, selected: v === s.value})));
  } else {
    input = make("input", {id, type: "range", min: 0, max: s.values.length - 1, step: 1, value: s.values.indexOf(s.value)});
    input.setAttribute("aria-valuetext", s.value);
    input.oninput = () => {
      input.setAttribute("aria-valuetext", s.values[input.value]);
      change(s.values[input.value]);
    };
  }
  // What other sliders show depends on this one's value.
  input.addEventListener("change", () => showTips());
  input.dataset.path = s.path;
  s.track = make("div", {className: "track"});
  s.note = make("p", {className: "note"});
  box.append(input, s.track, s.note);
  s.box = box;
  return box;
}

// shown is at most so many values of a slider, with which its track is coloured.
const shown = 25;

async function showTips() {
  forget("tips");
  const {text, seed} = state;
  for (const s of state.sliders) {
    const every = Math.ceil(s.values.length / shown);
    const values = s.values.filter((_, i) => i % every === 0 || i === s.values.length - 1);
    const {ok, error} = await ask({do: "tips", text, seed, case: state.case, path: s.path, values}, {kind: "tips", later: true});
    if (text !== state.text || seed !== state.seed) return;
    if (error) continue;
    paint(s, values, ok);
  }
}

const colours = {safe: "var(--safe)", broken: "var(--broken)"};

function paint(s, values, tip) {
  const last = s.values.length - 1;
  const at = values.map(v => 100 * s.values.indexOf(v) / last);
  const stops = values.flatMap((v, i) => {
    const colour = colours[tip.shown[i]] || "var(--untested)";
    const from = i ? (at[i - 1] + at[i]) / 2 : 0, to = i < values.length - 1 ? (at[i] + at[i + 1]) / 2 : 100;
    return [`${colour} ${from}%`, `${colour} ${to}%`];
  });
  s.track.style.background = `linear-gradient(to right, ${stops.join(", ")})`;
  s.note.textContent = tip.note + (s.formula ? `. The literature: ${s.formula}` : "");
}

// The gallery.

async function openGallery() {
  if (!$("themes").children.length) {
    const {ok} = await ask({do: "catalogue"});
    $("themes").replaceChildren(...ok.map(theme => make("section", {},
      make("h3", {textContent: theme.title}),
      make("ul", {}, ...theme.entries.map(e => make("li", {}, make("button", {onclick: () => choose(e.name)},
        make("b", {textContent: e.name}),
        make("span", {className: e.breaks ? "breaks" : "holds", textContent: e.expected}),
        make("small", {textContent: e.title}),
        make("small", {textContent: e.explanation}))))))));
  }
  $("gallery").showModal();
  $("find").focus();
}

$("find").oninput = () => {
  const words = $("find").value.toLowerCase().split(/\s+/).filter(Boolean);
  for (const section of $("themes").children) {
    let some = false;
    for (const item of section.querySelectorAll("li")) {
      item.hidden = !words.every(w => (section.firstChild.textContent + item.textContent).toLowerCase().includes(w));
      some ||= !item.hidden;
    }
    section.hidden = !some;
  }
};

async function choose(name) {
  $("gallery").close();
  await load(name);
}

async function load(name) {
  const {ok, error} = await ask({do: "file", name});
  if (error) return showError({error});
  history.replaceState(null, "", `#n=${encodeURIComponent(name)}`);
  await setOther({text: ok, seed: 0, name});
}

// A worse one.

const searchedRuns = 40;

$("worse").onclick = async () => {
  $("stop").hidden = false;
  $("searching").textContent = `Searching ${searchedRuns} runs…`;
  const {ok, error} = await ask({do: "worse", text: state.text, case: state.case, seed: state.seed, runs: searchedRuns});
  $("stop").hidden = true;
  if (error) return void ($("searching").textContent = error);
  if (!ok.text) return void ($("searching").textContent = `Nothing found in ${ok.runs} runs, which proves nothing. Another seed tries others.`);
  $("searching").textContent = ok.beyond ? "Found one; its faults are more than the file's budget allows." : "Found one within the file's budget.";
  await setOther(ok);
};

$("stop").onclick = () => { stop(); };

// Sharing and downloads.

const shared = () => ({text: state.text, seed: state.seed, case: state.case, name: state.name});

$("share").onclick = async () => {
  location.hash = await pack(shared());
  try {
    await navigator.clipboard.writeText(location.href);
    toast("The link is in the clipboard.");
  } catch {
    toast("The link is in the address bar.");
  }
};

function save(name, type, data) {
  const url = URL.createObjectURL(new Blob([data], {type}));
  make("a", {href: url, download: name}).click();
  setTimeout(() => URL.revokeObjectURL(url), 1000);
}

for (const button of document.querySelectorAll("[data-save]")) {
  button.onclick = async () => {
    const name = (state.name || "scenario").replaceAll("/", "-");
    const {text, seed} = state;
    switch (button.dataset.save) {
      case "yaml": return save(`${name}.yaml`, "application/yaml", text);
      case "html": return save(`${name}.html`, "text/html", state.page);
      case "svg": {
        const {ok, error} = await ask({do: "drawing", text, seed, case: state.case, name: state.name});
        return error ? showError({error}) : save(`${name}.svg`, "image/svg+xml", ok);
      }
    }
  };
}

// Settings of one's own.

$("run-audit").onclick = async () => {
  $("auditing").textContent = "Attacking…";
  const answer = await ask({do: "audit", text: $("answers").value});
  $("auditing").textContent = "";
  if (answer.error) {
    const text = answer.mistakes ? answer.mistakes.map(m => `Line ${m.line}: ${m.text}`).join("\n") : answer.error;
    return $("assumptions").replaceChildren(...text.split("\n").map(t => make("p", {textContent: t})));
  }
  const {assumptions, beyond, assumed, summary, shown: runs} = answer.ok;
  const list = (title, all) => all?.length ? [make("h3", {textContent: title}), make("ul", {}, ...all.map(textContent => make("li", {textContent})))] : [];
  $("assumptions").replaceChildren(make("h3", {textContent: summary}),
    ...["UNSAFE", "NOT TESTED", "SAFE"].flatMap(v => assumptions.map((a, i) => [a, i]).filter(([a]) => a.verdict === v)).map(([a, i]) => make("div", {className: `assumption ${a.verdict.toLowerCase()}`},
      make("p", {}, make("b", {textContent: `${a.verdict}: ${a.name}`})),
      make("p", {textContent: a.text}),
      ...(a.fix ? [make("p", {textContent: `Fix: ${a.fix}`})] : []),
      ...(runs[i].text ? [make("button", {textContent: "Show the run", onclick: () => {
        $("audit").close();
        setOther({...runs[i], seed: 0});
      }})] : []))),
    ...list("What no setting mends", beyond), ...list("Assumed", assumed));
};

// The rest.

$("open-gallery").onclick = openGallery;
$("open-audit").onclick = () => $("audit").showModal();
$("seed").onchange = () => {
  setSeed(Math.min(Math.max(0, Math.floor(+$("seed").value || 0)), Number.MAX_SAFE_INTEGER));
  rerun();
};
$("cases").onchange = () => {
  state.case = $("cases").value;
  rerun({sliders: true});
};

tour({
  show: text => setOther({text, seed: 0, name: "17-clock-jump"}),
  load,
  point(path) {
    document.querySelectorAll(".pointed").forEach(e => e.classList.remove("pointed"));
    const s = state.sliders.find(s => s.path === path);
    s?.box.classList.add("pointed");
    s?.box.scrollIntoView({block: "nearest"});
  },
  audit: () => $("audit").showModal(),
});

// openAddress shows what the address says: a file in it, a scenario's name, or else Kleppmann's clock jump.
async function openAddress() {
  const hash = location.hash.slice(1);
  if (hash.startsWith("s=")) {
    const shared = await unpack(hash).catch(() => null);
    if (shared) return setOther(shared);
    toast("This link is damaged; here is the clock jump instead.");
  }
  return load(hash.startsWith("n=") ? decodeURIComponent(hash.slice(2)) : "17-clock-jump");
}

addEventListener("hashchange", async () => {
  const hash = location.hash.slice(1);
  if (hash !== await pack(shared()) && hash !== `n=${encodeURIComponent(state.name)}`) openAddress();
});

if ("serviceWorker" in navigator && location.protocol !== "file:") navigator.serviceWorker.register("offline.js").catch(() => {});
await openAddress();
