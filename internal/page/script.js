"use strict";
// Moves what is drawn: zoom, pan, the cursor, the filter. It draws nothing itself but the axis and the cursor.
(async () => {
	const byId = (id) => document.getElementById(id);
	const view = byId("view"), picture = byId("picture"), tip = byId("tip"), cursor = byId("cursor");
	// The data is a timeline, how it is laid out, and the elements of its picture: JSON, packed by gzip and written in base64.
	const packed = Uint8Array.from(atob(byId("data").textContent), (c) => c.charCodeAt(0));
	const unpacked = new Blob([packed]).stream().pipeThrough(new DecompressionStream("gzip"));
	const { timeline: t, points, layout, picture: drawn } = await new Response(unpacked).json();
	cursor.insertAdjacentHTML("beforebegin", drawn);
	const all = (selector, root = picture) => [...root.querySelectorAll(selector)];
	const edge = 8, whole = t.to - t.from;

	// Places are from 0 to 1 along the timeline. On the even scale they go with time; on the other one a stretch between
	// two points is as wide as the fourth root of its length.
	const stretched = points.map(() => 0);
	for (let i = 1; i < points.length; i++) stretched[i] = stretched[i - 1] + Math.sqrt(Math.sqrt(points[i] - points[i - 1]));
	stretched.forEach((s, i) => { stretched[i] = s / stretched[points.length - 1]; });
	let even = false;
	const between = (from, to, value) => {
		let low = 0, high = from.length - 1;
		if (value <= from[low]) return to[low];
		if (value >= from[high]) return to[high];
		while (high - low > 1) {
			const middle = (low + high) >> 1;
			if (from[middle] <= value) low = middle; else high = middle;
		}
		return to[low] + (value - from[low]) / (from[high] - from[low]) * (to[high] - to[low]);
	};
	const place = (at) => even ? (at - t.from) / whole : between(points, stretched, at);
	const instant = (p) => Math.round(even ? t.from + p * whole : between(stretched, points, p));

	let left = place(t.focus.from), over = place(t.focus.to) - left; // what the plot shows
	let width = picture.viewBox.baseVal.width, gutter = layout.gutter;
	let at = null, step = -1; // of the cursor; no step before the first
	const plot = () => width - gutter - edge;
	const x = (time) => gutter + Math.min(Math.max((place(time) - left) / over, -1), 2) * plot();
	const timeAt = (px) => instant(Math.min(Math.max(left + (px - gutter) / plot() * over, 0), 1));

	const labels = all(".labels"), labelled = (lane, kind) => new Map(all(`.label[data-${kind}]`, labels[lane]).map((e) => [e.dataset[kind], e]));
	const lanes = all(".lane").map((g, i) => ({
		g, labels: labels[i], shown: true, top: 0, data: t.lanes[i], wire: layout.wires[i], height: +g.dataset.height, ground: g.querySelector(".ground"), name: g.querySelector(".name"),
		spans: (of => all(".span", g).map((e) => ({ data: t.lanes[i].spans[e.dataset.i], rect: e.querySelector("rect"), text: of.get(e.dataset.i)?.firstChild })))(labelled(i, "span")),
		marks: (of => all(".mark", g).map((e) => ({ e, data: t.lanes[i].marks[e.dataset.i], top: +e.dataset.top, label: of.get(e.dataset.i) })))(labelled(i, "mark")),
	}));
	const arrows = all(".arrow").map((e) => ({ e, data: t.arrows[e.dataset.i] }));
	const steps = all(".step").map((e) => ({ e, data: t.story[e.dataset.i] }));
	const band = picture.querySelector(".violation"), witnesses = all(".witness");
	const items = all("#story li[data-i]", document);

	// Browsers show titles late and small: they become tips of our own.
	all("title").forEach((title) => {
		if (title.parentNode === picture) return;
		title.parentNode.dataset.tip = title.textContent;
		title.remove();
	});
	for (const { g, data } of lanes) all(".span", g).forEach((e) => { e.dataset.tip = data.spans[e.dataset.i].text; });

	const seconds = (ns, digits = 4) => (ns / 1e9).toFixed(digits) + "s";
	// For people: to three digits, or to more where these would not tell apart what is shown.
	const length = (ns) => {
		const size = Math.abs(ns), unit = size < 1e3 ? [1, "ns"] : size < 1e6 ? [1e3, "µs"] : size < 1e9 ? [1e6, "ms"] : [1e9, "s"];
		if (ns === 0) return "0s";
		if (size < 6e10) return +(ns / unit[0]).toFixed(9) + unit[1];
		const rest = size % 6e10, minutes = Math.floor(size / 6e10), hours = Math.floor(minutes / 60);
		return (ns < 0 ? "-" : "") + (hours ? hours + "h" : "") + minutes % 60 + "m" + +(rest / 1e9).toFixed(9) + "s";
	};
	const brief = (ns, over = Infinity) => {
		const to = (unit) => Math.round(ns / unit) * unit, size = Math.abs(ns) || 1;
		const three = to(size >= 6e10 ? 1e9 : Math.max(10 ** (Math.floor(Math.log10(size)) - 2), 1)), more = to(10 ** Math.max(Math.floor(Math.log10(over / 200)), 0));
		return length(Math.abs(three - ns) <= Math.abs(more - ns) || over === Infinity ? three : more);
	};
	const set = (element, attributes) => { for (const name in attributes) element.setAttribute(name, attributes[name]); };
	const show = (element, is) => { if (is) element.removeAttribute("display"); else element.setAttribute("display", "none"); };
	const round = (value) => Math.round(value * 10) / 10;
	const create = (name, attributes, text) => {
		const e = document.createElementNS("http://www.w3.org/2000/svg", name);
		set(e, attributes);
		if (text !== undefined) e.textContent = text;
		return e;
	};

	function render() {
		let y = layout.lanes;
		for (const lane of lanes) {
			for (const g of [lane.g, lane.labels]) g.classList.toggle("hidden", !lane.shown);
			if (!lane.shown) continue;
			lane.top = y;
			y += lane.height + layout.gap;
			for (const g of [lane.g, lane.labels]) g.setAttribute("transform", `translate(0 ${lane.top})`);
			lane.ground.setAttribute("width", width);
			renderLane(lane);
		}
		set(picture, { width, height: y, viewBox: `0 0 ${width} ${y}` });
		set(picture.querySelector("#clip rect"), { x: gutter - 2, width: plot() + 6, height: y + 8 });
		renderArrows();
		renderSteps();
		renderAxis();
		renderViolation(y);
		renderCursor(y);
		const from = timeAt(gutter), to = timeAt(width - edge);
		byId("part").textContent = over === 1 ? `all ${brief(whole)}` : `${brief(from, to - from)} – ${brief(to, to - from)} of ${brief(whole)}`;
	}

	function renderLane(lane) {
		for (const s of lane.spans) {
			const from = x(s.data.from), to = x(s.data.to), least = s.data.kind === "acting" ? 2 : .8;
			set(s.rect, { x: round(from), width: round(Math.max(to - from, least)) });
			if (!s.text) continue;
			const start = Math.max(from, gutter), visible = Math.min(to, width - edge) - start;
			const fits = (label) => label.length * layout.char + 6 <= visible, label = fits(s.data.label) ? s.data.label : s.data.short ?? s.data.label;
			s.text.textContent = label;
			show(s.text, fits(label));
			s.text.setAttribute("x", round(start + 4));
		}
		let last = -Infinity;
		const sizeOf = (text) => text.length * layout.small + 14;
		lane.marks.forEach((m, i) => {
			const px = x(m.data.at);
			for (const e of [m.e, m.label]) e?.setAttribute("transform", `translate(${round(px)} ${m.top})`);
			if (!m.label) return;
			const text = m.label.firstChild, { label, sentence } = text.dataset, following = lane.marks.slice(i + 1).find((o) => o.e.classList.contains("fault"));
			const next = Math.min(following ? x(following.data.at) : width, width), isFault = m.e.classList.contains("fault");
			text.textContent = sentence && px >= last && sizeOf(sentence) <= next - px ? sentence : label;
			const size = sizeOf(text.textContent), back = px + size > width;
			const end = back ? px : px + size, fits = px >= gutter - .5 && px <= width && end - size >= last && (back || !isFault || end <= next + layout.flag);
			text.classList.toggle("back", back);
			show(text, fits);
			if (fits) last = end;
		});
	}

	function renderArrows() {
		const on = byId("messages").checked, polling = byId("polling")?.checked, isOn = (a) => on && (polling || !a.data.folded);
		for (const a of arrows) {
			const { from, to, sent, ended, fate } = a.data, x1 = x(sent), x2 = x(ended);
			a.shown = isOn(a) && lanes[from].shown && lanes[to].shown && x2 >= gutter && x1 <= width;
			show(a.e, a.shown);
			if (!a.shown) continue;
			const y1 = lanes[from].top + lanes[from].wire, reach = fate === "under-way" ? .85 : 1;
			a.line = [round(x1), y1, round(x2), round(y1 + reach * (lanes[to].top + lanes[to].wire - y1))];
			set(a.e, { x1: a.line[0], y1: a.line[1], x2: a.line[2], y2: a.line[3] });
		}
	}

	function renderSteps() {
		let last = -Infinity;
		for (const s of steps) {
			const px = x(s.data.at), half = String(s.data.number).length * layout.small / 2 + 4, current = s.data === t.story[step];
			const fits = px >= gutter - .5 && px + half <= width && (px - half >= last);
			s.e.setAttribute("transform", `translate(${round(px)})`);
			show(s.e, fits);
			s.e.classList.toggle("current", current);
			if (fits) last = px + half;
		}
	}

	// The axis has the times of what happens, the violation's first, and round times where there is room left.
	function renderAxis() {
		const axis = picture.querySelector(".axis"), labels = [], base = layout.axis;
		const add = (time, text) => {
			const px = x(time), half = text.length * layout.small / 2 + 5;
			if (px < gutter - .5 || px > width || px + half > width + 2) return;
			if (labels.every((o) => o.text !== text && Math.abs(o.px - px) >= half + o.half)) labels.push({ px, half, text });
		};
		const from = timeAt(gutter), to = timeAt(width - edge), unit = 10 ** Math.floor(Math.log10(Math.max(to - from, 1) / 4));
		const name = (time) => add(time, brief(time, to - from));
		if (t.violation) [t.violation.from, t.violation.to].forEach(name);
		if (!even) [...t.story.map((s) => s.at), ...points].forEach(name);
		if (even || labels.length < 4) {
			for (let time = Math.ceil(from / unit) * unit, n = 0; time <= to && n < 100; time += unit, n++) name(time);
		}
		axis.replaceChildren(create("line", { x1: gutter, x2: width - edge, y1: base + 18, y2: base + 18 }), ...breaks().map((px) => create("path", { class: "break", d: `M${round(px - 5)} ${base + 22}l4-8M${round(px)} ${base + 22}l4-8` })),
			...labels.flatMap((l) => [create("path", { d: `M${round(l.px)} ${base + 16}v4` }), create("text", { x: round(l.px), y: base + 11 }, l.text)]));
	}

	// Where the axis runs much faster than where it is slowest.
	function breaks() {
		if (even) return [];
		const gaps = [];
		for (let i = 1; i < points.length; i++) {
			const from = x(points[i - 1]), to = x(points[i]);
			if (to - from >= 24 && from >= gutter - .5 && to <= width) gaps.push({ middle: (from + to) / 2, length: points[i] - points[i - 1] });
		}
		const shortest = Math.min(...gaps.map((g) => g.length));
		return gaps.filter((g) => g.length >= 20 * shortest).map((g) => g.middle);
	}

	function renderViolation(bottom) {
		if (!band) return;
		const from = x(t.violation.from), to = x(t.violation.to), top = layout.overlap, flag = picture.querySelector(".flag");
		set(band.querySelector(".band"), { x: round(from), width: round(Math.max(to - from, 1.5)), height: bottom - top });
		band.querySelector(".bounds").setAttribute("d", `M${round(from)} ${top}V${bottom}M${round(to)} ${top}V${bottom}`);
		const text = flag.querySelector("text"), { full, short } = text.dataset, room = (name) => name.length * layout.bold + 12;
		text.textContent = room(full) <= plot() ? full : short;
		const half = room(text.textContent) / 2;
		set(flag.querySelector("rect"), { x: -half, width: 2 * half });
		const middle = (Math.max(from, gutter) + Math.min(to, width - edge)) / 2;
		flag.setAttribute("transform", `translate(${round(Math.min(Math.max(middle, gutter + half), width - edge - half))} ${top})`);
		show(flag, to >= gutter && from <= width);
		for (const w of witnesses) {
			const { lane, from, to } = t.violation.windows[w.dataset.i];
			show(w, lanes[lane].shown);
			set(w, { x: round(x(from)), y: lanes[lane].top + +w.dataset.top, width: round(Math.max(x(to) - x(from), 2)) });
		}
	}

	function renderCursor(bottom) {
		const px = at === null ? -1 : x(at), visible = at !== null && px >= gutter - 1 && px <= width - edge + 1;
		cursor.setAttribute("visibility", visible ? "visible" : "hidden");
		if (!visible) return;
		const text = cursor.querySelector("text"), half = seconds(at).length * 3.2 + 5;
		const middle = Math.min(Math.max(px, gutter + half - 10), width - half);
		cursor.querySelector("path").setAttribute("d", `M${round(px)} ${layout.axis + 15}V${bottom}`);
		set(cursor.querySelector("rect"), { x: round(middle - half), width: 2 * half });
		text.setAttribute("x", round(middle));
		text.textContent = seconds(at);
	}

	// What holds at the cursor, in words.
	function tell() {
		byId("at").textContent = seconds(at);
		const under = (s) => s.from <= at && (at < s.to || s.open);
		byId("state").replaceChildren(...lanes.filter((l) => l.shown).map(({ data }) => {
			const parts = data.spans.filter(under).map(describe).filter(Boolean);
			const clock = data.clocks.findLast((c) => c.at <= at);
			if (clock) parts.push(...deviations(clock));
			const li = document.createElement("li"), name = document.createElement("b");
			name.textContent = data.name;
			li.append(name, parts.join("; ") || "–");
			return li;
		}));
		const flying = t.arrows.filter((a) => a.sent <= at && at < a.ended).length;
		if (flying) {
			const li = document.createElement("li");
			li.textContent = flying === 1 ? "1 message is on its way" : `${flying} messages are on their way`;
			byId("state").append(li);
		}
	}
	const left_ = (s) => s.left - (at - s.from) * (1 + (s.rate || 0) / 1e9);
	const ttl = (s) => s.left ? `${seconds(Math.max(left_(s), 0), 3)} to live` : "without a time to live";
	function describe(s) {
		switch (s.kind) {
		case "believed": return `believes it has the lock (grant ${s.grant}), ` + (s.open ? "without an end" : `for ${seconds(s.to - at)} more`);
		case "votes": return t.isOnOne ? "the node grants it" : `votes: ${s.short}, ${s.quorum ? "a" : "no"} quorum`;
		case "asking": return "requests the lock";
		case "acting": return `acts under grant ${s.grant}`;
		case "key": case "other": return `keeps “${s.key}”` + (s.owner >= 0 ? ` of ${t.lanes[s.owner].name}` : "") + ", " + ttl(s);
		default: return s.label;
		}
	}
	function deviations(c) {
		const drift = (at - c.at) * c.rate / 1e9, sign = (ns) => (ns < 0 ? "−" : "+") + brief(Math.abs(ns)), parts = [];
		const wall = c.wall + drift, mono = c.stopped ? c.mono - (at - c.at) : c.mono + drift;
		if (Math.abs(wall) >= 5e4) parts.push(`wall clock ${sign(wall)}`);
		if (Math.abs(mono) >= 5e4) parts.push(`monotonic clock ${sign(mono)}`);
		if (c.rate) parts.push(`clocks ${Math.abs(c.rate / 1e7)}% ${c.rate > 0 ? "fast" : "slow"}`);
		return parts;
	}

	function moveTo(time, number) {
		isMoved = true;
		at = Math.min(Math.max(time, t.from), t.to);
		step = number ?? t.story.findLastIndex((s) => s.at <= at);
		const p = place(at);
		if (p < left || p > left + over) look(p - over / 2, over);
		items.forEach((li, i) => { if (i === step) li.setAttribute("aria-current", "step"); else li.removeAttribute("aria-current"); });
		const list = byId("story"), item = items[step];
		if (item && list.scrollHeight > list.clientHeight) list.scrollTop = item.offsetTop - list.clientHeight / 3;
		const s = t.story[step];
		byId("now").textContent = s ? `Step ${s.number} of ${t.story.at(-1).number}, ${seconds(s.at)}: ${s.text}` : seconds(at);
		tell();
		render();
	}
	function goTo(number) {
		if (t.story.length === 0) return;
		const n = Math.min(Math.max(number, 0), t.story.length - 1);
		moveTo(t.story[n].at, n);
	}

	// No closer than a microsecond across the plot.
	function look(from, span) {
		over = Math.min(Math.max(span, 1e-7), 1);
		left = Math.min(Math.max(from, 0), 1 - over);
	}
	function zoom(by, px = gutter + plot() / 2) {
		isMoved = true;
		const fixed = (px - gutter) / plot(), p = left + fixed * over, span = Math.min(Math.max(over / by, 1e-7), 1);
		look(p - fixed * span, span);
		render();
	}
	function pan(dx) {
		isMoved = true;
		look(left - dx / plot() * over, over);
		render();
	}
	// A narrow page begins with the stretch around the violation, or from the start, whose moments have room beside each other.
	let isMoved = false;
	function begin() {
		look(place(t.focus.from), place(t.focus.to) - place(t.focus.from));
		const most = Math.max(12, plot() / 27), inFocus = t.story.filter((s, i) => s.at >= t.focus.from && s.at <= t.focus.to && s.at !== t.story[i - 1]?.at);
		if (inFocus.length <= 1.5 * most) return; // to leave out a few would show little more
		const v = t.violation, windows = v ? [v, ...v.windows] : [{ from: t.focus.from, to: t.focus.from }];
		const earliest = Math.min(...windows.map((w) => w.from)), latest = v ? v.to : earliest;
		let first = inFocus.findIndex((s) => s.at >= earliest), last = inFocus.findLastIndex((s) => s.at <= latest);
		if (first < 0) first = inFocus.length;
		while (last - first + 1 < most && (first > 0 || last < inFocus.length - 1)) {
			if (first > 0) first--;
			if (last < inFocus.length - 1) last++;
		}
		const middle = (i, end) => inFocus[i - 1] && inFocus[i] ? (place(inFocus[i - 1].at) + place(inFocus[i].at)) / 2 : place(end);
		const from = Math.min(middle(first, t.focus.from), place(earliest)), to = Math.max(middle(last + 1, t.focus.to), place(latest));
		look(from, to - from);
	}
	function lookAt(from, to, margin) {
		isMoved = true;
		const a = place(from), b = place(to), room = Math.max(b - a, 1e-6) * margin;
		look(a - room, b - a + 2 * room);
		render();
	}

	const center = () => at !== null && place(at) >= left && place(at) <= left + over ? x(at) : undefined;
	const acts = {
		next: () => goTo(step + 1), previous: () => goTo(step - 1), in: () => zoom(1.6, center()), out: () => zoom(1 / 1.6, center()),
		all: () => { isMoved = true; look(0, 1); render(); }, overlap: () => t.violation && lookAt(t.violation.from, t.violation.to, .6),
	};
	for (const id in acts) byId(id)?.addEventListener("click", acts[id]);
	const keys = { ArrowRight: acts.next, ArrowLeft: acts.previous, n: acts.next, p: acts.previous, "+": acts.in, "=": acts.in, "-": acts.out, 0: acts.all, v: acts.overlap,
		Home: () => goTo(0), End: () => goTo(t.story.length - 1) };
	document.addEventListener("keydown", (e) => {
		if (e.ctrlKey || e.metaKey || e.altKey || e.target.matches("select, textarea, input:not([type=checkbox])")) return;
		if (keys[e.key]) {
			e.preventDefault();
			keys[e.key]();
		}
	});
	items.forEach((li, i) => li.firstChild.addEventListener("click", () => goTo(i)));
	all(".filter input", document).forEach((box) => box.addEventListener("change", () => {
		lanes[box.dataset.lane].shown = box.checked;
		if (at !== null) tell();
		render();
	}));
	for (const id of ["messages", "polling"]) byId(id)?.addEventListener("change", render);
	byId("even").addEventListener("change", (e) => {
		const from = timeAt(gutter), to = timeAt(width - edge);
		even = e.target.checked;
		look(place(from), place(to) - place(from));
		render();
	});
	byId("theme").addEventListener("change", (e) => { document.documentElement.dataset.theme = e.target.value; });

	// One pointer drags or chooses a place, two zoom.
	const pointers = new Map();
	let moved = false;
	const inside = (e) => { const box = picture.getBoundingClientRect(); return [e.clientX - box.left, e.clientY - box.top]; };
	view.addEventListener("pointerdown", (e) => {
		if (e.button !== 0) return;
		if (pointers.size === 0) moved = false;
		pointers.set(e.pointerId, inside(e)[0]);
	});
	const near = (px, py) => {
		let best = null, least = 6;
		for (const a of arrows) {
			if (!a.shown) continue;
			const [x1, y1, x2, y2] = a.line, dx = x2 - x1, dy = y2 - y1;
			const along = Math.min(Math.max(((px - x1) * dx + (py - y1) * dy) / (dx * dx + dy * dy || 1), 0), 1);
			const distance = Math.hypot(px - x1 - along * dx, py - y1 - along * dy);
			if (distance < least) [best, least] = [a, distance];
		}
		return best;
	};
	const message = ({ what, from, to, sent, ended, fate, why }) => `${what} ${t.lanes[from].name} → ${t.lanes[to].name}, sent at ${seconds(sent)}, ` + {
		arrived: `arrived at ${seconds(ended)} after ${brief(ended - sent)}`, "too-late": `came too late at ${seconds(ended)} after ${brief(ended - sent)}`,
		lost: `lost at ${seconds(ended)} to ${why}`, "under-way": "under way when the run ended" }[fate];
	let marked = null;
	function hover(e) {
		const [px, py] = inside(e), own = e.target.closest?.("[data-tip]"), isBand = own === band;
		const arrow = own && !isBand ? null : near(px, py);
		marked?.e.classList.remove("near");
		marked = arrow;
		arrow?.e.classList.add("near");
		let text = arrow ? message(arrow.data) : own?.dataset.tip;
		const lane = own?.closest(".lane"), span = own?.matches(".key") && lanes[lane.dataset.lane].data.spans[own.dataset.i];
		if (span && !arrow && span.left) {
			const time = timeAt(px);
			text += `; ${seconds(Math.max(span.left - (time - span.from) * (1 + (span.rate || 0) / 1e9), 0), 3)} left at ${seconds(time)}`;
		}
		tip.hidden = !text;
		if (!text) return;
		tip.textContent = text;
		const room = view.clientWidth - tip.offsetWidth - 4;
		tip.style.left = Math.max(Math.min(px + 12, room), 2) + "px";
		tip.style.top = (py + 18 + tip.offsetHeight > view.clientHeight ? Math.max(py - tip.offsetHeight - 10, 0) : py + 18) + "px";
	}
	view.addEventListener("pointermove", (e) => {
		const before = pointers.get(e.pointerId), [px] = inside(e);
		if (before === undefined) {
			hover(e);
			return;
		}
		if (pointers.size === 2) {
			const other = [...pointers].find(([id]) => id !== e.pointerId)[1];
			pointers.set(e.pointerId, px);
			moved = true;
			if (Math.abs(before - other) > 8) zoom(Math.abs(px - other) / Math.abs(before - other) || 1, (px + other) / 2);
		} else if (moved || Math.abs(px - before) > 4) {
			if (!moved) {
				moved = true;
				view.setPointerCapture(e.pointerId);
				view.classList.add("drag");
				tip.hidden = true;
			}
			pointers.set(e.pointerId, px);
			pan(px - before);
		}
	});
	view.addEventListener("pointerup", (e) => {
		if (!pointers.delete(e.pointerId)) return;
		view.classList.remove("drag");
		const [px] = inside(e);
		if (!moved && px >= gutter) {
			moveTo(timeAt(px));
			hover(e);
		}
	});
	view.addEventListener("pointercancel", (e) => { pointers.delete(e.pointerId); view.classList.remove("drag"); });
	view.addEventListener("pointerleave", () => { tip.hidden = true; marked?.e.classList.remove("near"); marked = null; });
	view.addEventListener("wheel", (e) => {
		if (e.ctrlKey) {
			e.preventDefault();
			zoom(Math.exp(-e.deltaY / 200), inside(e)[0]);
		} else if (e.shiftKey || Math.abs(e.deltaX) > Math.abs(e.deltaY)) {
			e.preventDefault();
			pan(-(e.deltaX || e.deltaY));
		}
	}, { passive: false });

	function resize() {
		width = Math.max(view.clientWidth, 280);
		const narrow = width < 600;
		picture.classList.toggle("narrow", narrow);
		gutter = narrow ? Math.min(layout.gutter, 74) : layout.gutter;
		for (const { name } of lanes) {
			const inset = narrow ? 3 : 16;
			name.removeAttribute("textLength");
			set(name, { x: inset });
			const room = (narrow ? gutter : layout.names) - inset - 4;
			if (name.getComputedTextLength() > room) set(name, { textLength: room, lengthAdjust: "spacingAndGlyphs" });
		}
		all(".row:not(.resource)").forEach((row) => row.setAttribute("x", narrow ? 3 : 16));
		all(".row.resource").forEach((row) => show(row, !narrow));
		if (!isMoved) begin(); // also when a phone is turned
		render();
	}
	view.style.overflowX = "hidden";
	new ResizeObserver(resize).observe(view);
	resize();
	document.documentElement.dataset.drawn = "";
})();
