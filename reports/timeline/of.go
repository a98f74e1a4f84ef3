package timeline

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"redlocksim/checker"
	"redlocksim/faults"
	"redlocksim/history"
	"redlocksim/redlock/observe"
	"redlocksim/reports/story"
	"redlocksim/scenarios"
	"redlocksim/sim"
)

// Of makes the timeline of a judged run; repeat is the command that makes the run again. The messages, keys, clocks and
// links are those of r.Recording, which r.Record makes. The error is an internal one: the history is not one.
func Of(r *scenarios.Result, repeat string) (*Timeline, error) {
	b := builder{result: r, end: Instant(r.Scenario.Duration), lanes: map[string]int{},
		t: &Timeline{Name: r.Scenario.Name, Title: r.Scenario.Title, Source: r.Scenario.Source, Verdict: r.Verdict(),
			Expected: r.Scenario.Expect.String(), OK: r.OK(), Repeat: repeat, Run: fmt.Sprintf("tier %s, seed %d", r.Tier, r.Seed), History: r.HistoryHash,
			Notes: []string{}, Arrows: []Arrow{}, Story: []Step{}}}
	if r.Tier == scenarios.Live {
		b.t.Run = "tier live"
	}
	if n := len(r.History); n > 0 {
		b.end = max(b.end, Instant(r.History[n-1].Time))
	}
	b.addResources()
	b.addLanes()
	if err := b.addWindows(); err != nil {
		return nil, err
	}
	b.addActs()
	b.addMarks()
	if r.Recording != nil {
		b.addStates()
		b.addObstacles()
		b.addKeys()
		b.addArrows()
	} else {
		b.t.Notes = append(b.t.Notes, "Messages, keys and clocks were not recorded: this shows what the history tells.")
	}
	b.addStory()
	b.addViolation()
	b.arrange()
	b.crop()
	return b.t, nil
}

// builder makes a Timeline.
type builder struct {
	t      *Timeline
	result *scenarios.Result
	end    Instant        // of the run
	lanes  map[string]int // by the process's name, from 0; only those there are
}

// addResources lists what was used, if it is more than one.
func (b *builder) addResources() {
	var used []string
	for _, name := range b.result.Scenario.Resources {
		if slices.ContainsFunc(b.result.History, func(e history.Event) bool { return e.Kind == history.Call && e.Resource == name }) {
			used = append(used, name)
		}
	}
	if len(used) > 1 {
		b.t.Resources = used
	}
}

// named is a resource where the run has more than one.
func (b *builder) named(resource string) string {
	if b.t.Resources == nil {
		return ""
	}
	return resource
}

// behind is a word and a resource, where it is named.
func (b *builder) behind(word, resource string) string {
	if name := b.named(resource); name != "" {
		return word + name
	}
	return ""
}

// addLanes makes a lane for each client, for each node that has to do with the run, and for the storage if it was used.
func (b *builder) addLanes() {
	s := b.result.Scenario
	add := func(kind LaneKind, name string) {
		if (kind == Client) || b.takesPart(name) {
			b.lanes[name] = len(b.t.Lanes)
			b.t.Lanes = append(b.t.Lanes, Lane{Name: name, Kind: kind, Spans: []Span{}, Marks: []Mark{}, Clocks: []Reading{}})
		}
	}
	for _, name := range s.Clients {
		add(Client, name)
	}
	add(Storage, sim.StorageName)
	for _, name := range s.Nodes.Names {
		add(Node, name)
		for _, of := range s.Nodes.Replicas {
			if of.Key == name {
				for _, replica := range of.Value {
					add(Replica, replica)
				}
			}
		}
	}
}

// takesPart says whether there is anything to show of a process that is no client.
func (b *builder) takesPart(name string) bool {
	if r := b.result.Recording; r != nil && slices.ContainsFunc(r.Messages, func(m sim.Message) bool { return m.From == name || m.To == name }) {
		return true
	}
	return slices.ContainsFunc(b.result.History, func(e history.Event) bool {
		return e.Node == name || name == sim.StorageName && e.Kind == history.Effect && e.Node == ""
	})
}

// span adds a span to the lane of a process. to is the end of a span that is over, or a time later than any in the run.
func (b *builder) span(process string, s Span, to int64) {
	lane, ok := b.lanes[process]
	if !ok {
		return
	}
	if s.To = Instant(to); s.To > b.end {
		s.To, s.Open = b.end, true
	}
	l := &b.t.Lanes[lane]
	l.Spans = append(l.Spans, s)
}

// owner is the lane of a client; -1 if it is none.
func (b *builder) owner(process string) int {
	lane, ok := b.lanes[process]
	if !ok || b.t.Lanes[lane].Kind != Client {
		return -1
	}
	return lane
}

// addWindows adds the believed windows, which the checker finds, and the times in which clients ask.
func (b *builder) addWindows() error {
	h := b.result.History
	windows, err := checker.Windows(h, b.result.Scenario.CheckOptions())
	if err != nil {
		return fmt.Errorf("timeline: %w", err)
	}
	resources := map[int]string{} // by grant
	for i := range h {
		if h[i].Kind == history.Call && h[i].Func == history.Acquire {
			resources[h[i].Op] = h[i].Resource
		}
	}
	for _, w := range windows {
		to, until, why := int64(w.To), seconds(Instant(w.To)), ""
		if w.ToSeq == 0 {
			to, until = int64(sim.Forever), "the end of the run"
		} else {
			why = ": " + story.Ended(&h[w.ToSeq-1])
		}
		on := resources[w.Grant]
		b.span(w.Process, Span{Kind: Believed, From: Instant(w.From), Owner: b.owner(w.Process), Grant: w.Grant, Resource: b.named(on),
			Label: fmt.Sprintf("believes%s (grant %d)", b.behind(" in ", on), w.Grant),
			Text:  fmt.Sprintf("%s believes in its lock%s (grant %d) from %s to %s, for %v%s", w.Process, b.behind(" on ", on), w.Grant, seconds(Instant(w.From)), until, w.To.Since(w.From), why)}, to)
	}
	calls := map[int]int64{}
	for i := range h {
		e := &h[i]
		switch {
		case e.Func == history.Acquire && e.Kind == history.Call:
			calls[e.Op] = e.Time
		case e.Func == history.Acquire && e.Kind == history.Return:
			b.asking(e.Process, resources[e.Op], calls[e.Op], e.Time, e.Outcome)
			delete(calls, e.Op)
		case e.Kind == history.Crash:
			for j := range h[:i] { // in the order of the calls
				if from, open := calls[h[j].Op]; open && h[j].Process == e.Process && h[j].Kind == history.Call {
					b.asking(e.Process, h[j].Resource, from, e.Time, "")
					delete(calls, h[j].Op)
				}
			}
		}
	}
	for i := range h {
		if from, open := calls[h[i].Op]; open && h[i].Kind == history.Call && h[i].Func == history.Acquire {
			b.asking(h[i].Process, h[i].Resource, from, int64(sim.Forever), "")
		}
	}
	return nil
}

func (b *builder) asking(process, resource string, from, to int64, outcome history.Outcome) {
	became := map[history.Outcome]string{history.OK: "and is granted it", history.Failed: "and is not granted it"}[outcome]
	until := seconds(Instant(to))
	if to > int64(b.end) {
		until = "the end of the run"
	}
	b.span(process, Span{Kind: Asking, From: Instant(from), Owner: b.owner(process), Resource: b.named(resource), Label: "asks",
		Text: strings.TrimSpace(fmt.Sprintf("%s asks for the lock%s from %s to %s %s", process, b.behind(" on ", resource), seconds(Instant(from)), until, became))}, to)
}

// addActs adds the acting windows, and a mark for each effect.
func (b *builder) addActs() {
	h := b.result.History
	type act struct {
		process  string
		resource string
		from, to int64
		effects  int
	}
	acts := map[int]*act{}
	var order []int
	for i := range h {
		e := &h[i]
		if e.Kind != history.Effect {
			continue
		}
		at := e.Node
		if at == "" {
			at = sim.StorageName
		}
		m := Mark{Kind: Accepted, At: Instant(e.Time), Label: string(e.Func)}
		verb := "takes"
		if e.Outcome != history.OK {
			m.Kind, verb = Refused, "turns down"
		}
		what := string(e.Func)
		if e.Func == history.Write {
			what = fmt.Sprintf("%s of %d", e.Func, e.Number)
		}
		m.Text = fmt.Sprintf("%s %s %s's %s%s at %s", at, verb, e.Process, what, b.behind(" on ", e.Resource), seconds(m.At))
		if e.Token != 0 {
			m.Text += fmt.Sprintf(" (token %d)", e.Token)
		}
		b.mark(e.Process, m)
		m.Label = e.Process + b.behind(" on ", e.Resource) + ": " + strings.ReplaceAll(what, " of", "")
		b.mark(at, m)
		if e.Outcome != history.OK || e.Grant == 0 {
			continue
		}
		a := acts[e.Grant]
		if a == nil {
			a = &act{process: e.Process, resource: e.Resource, from: e.Time}
			acts[e.Grant] = a
			order = append(order, e.Grant)
		}
		a.to = e.Time
		a.effects++
	}
	for _, grant := range order {
		a := acts[grant]
		b.span(a.process, Span{Kind: Acting, From: Instant(a.from), Owner: b.owner(a.process), Grant: grant, Resource: b.named(a.resource), Label: "acts",
			Text: fmt.Sprintf("%s acts under grant %d from %s to %s: the resource%s takes %s", a.process, grant, seconds(Instant(a.from)), seconds(Instant(a.to)), b.behind(" ", a.resource), counted(a.effects, "effect"))}, a.to)
	}
}

func counted(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

func (b *builder) mark(process string, m Mark) {
	if lane, ok := b.lanes[process]; ok {
		b.t.Lanes[lane].Marks = append(b.t.Lanes[lane].Marks, m)
	}
}

// spells are faults that show as spans.
var spells = []string{"pause", "suspend", "resume"}

// addMarks adds the faults that affect a process, and the crashes of clients.
func (b *builder) addMarks() {
	for _, e := range b.result.History {
		switch e.Kind {
		case history.Crash:
			b.mark(e.Process, Mark{Kind: Crash, At: Instant(e.Time), Label: "crash", Text: fmt.Sprintf("%s crashes at %s", e.Process, seconds(Instant(e.Time)))})
		case history.Fault:
			process := cmp.Or(e.Process, e.Node)
			if e.Detail == "" || process == "" || b.result.Recording != nil && slices.Contains(spells, e.Name) {
				continue
			}
			b.mark(process, Mark{Kind: Fault, At: Instant(e.Time), Label: faultLabel(&e), Text: fmt.Sprintf("%s: %s", seconds(Instant(e.Time)), e.Detail)})
		}
	}
}

// faultLabel is a word or two for a fault.
func faultLabel(e *history.Event) string {
	if e.Name == "clock-step" {
		return fmt.Sprintf("clock %+gs", time.Duration(e.Span).Seconds())
	}
	if how, ok := strings.CutPrefix(e.Detail, "the clocks of "+cmp.Or(e.Process, e.Node)+" run "); ok {
		return "clocks " + how
	}
	return strings.ReplaceAll(faults.EventName(e), "-", " ")
}

// addStates adds what keeps processes from running, and how wrong their clocks are.
func (b *builder) addStates() {
	kinds := map[sim.Condition]SpanKind{sim.Paused: Paused, sim.Suspended: Suspended, sim.Crashed: Crashed, sim.Down: Down, sim.Off: Off}
	words := map[sim.Condition]string{sim.Paused: "is paused", sim.Suspended: "is suspended with its machine", sim.Crashed: "has crashed",
		sim.Down: "is down and refuses connections", sim.Off: "is off and answers nobody"}
	states := b.result.Recording.States
	for i, s := range states {
		until := int64(sim.Forever)
		for _, next := range states[i+1:] {
			if next.Process == s.Process {
				until = int64(next.At)
				break
			}
		}
		if lane, ok := b.lanes[s.Process]; ok {
			l := &b.t.Lanes[lane]
			if s.Wall != 0 || s.Mono != 0 || s.Rate != 0 || s.Condition == sim.Suspended || len(l.Clocks) > 0 {
				l.Clocks = append(l.Clocks, Reading{At: Instant(s.At), Wall: int64(s.Wall), Mono: int64(s.Mono), Rate: s.Rate, Stopped: s.Condition == sim.Suspended})
			}
		}
		if kind, ok := kinds[s.Condition]; ok {
			b.condition(s.Process, kind, words[s.Condition], Instant(s.At), until)
		}
	}
}

// condition adds a span of a process's condition, or makes the last one longer that is the same: a clock was changed
// meanwhile.
func (b *builder) condition(process string, kind SpanKind, words string, from Instant, until int64) {
	if lane, ok := b.lanes[process]; ok {
		spans := b.t.Lanes[lane].Spans
		if n := len(spans) - 1; n >= 0 && spans[n].Kind == kind && spans[n].To == from {
			from = spans[n].From
			b.t.Lanes[lane].Spans = spans[:n]
		}
	}
	b.span(process, Span{Kind: kind, From: from, Owner: -1, Label: string(kind), Text: fmt.Sprintf("%s %s %s", process, words, b.during(from, until))}, until)
}

// during says from when to when.
func (b *builder) during(from Instant, until int64) string {
	if until > int64(b.end) {
		return fmt.Sprintf("from %s on", seconds(from))
	}
	return fmt.Sprintf("from %s to %s, for %v", seconds(from), seconds(Instant(until)), time.Duration(until-int64(from)))
}

// addObstacles adds what links suffer, to the lanes of their servers: those with equal times together.
func (b *builder) addObstacles() {
	type group struct {
		sim.Obstacle
		clients []string
	}
	var groups []*group
	for _, o := range b.result.Recording.Obstacles {
		if o.From == o.To {
			continue
		}
		i := slices.IndexFunc(groups, func(g *group) bool {
			return g.Kind == o.Kind && g.Server == o.Server && g.From == o.From && g.To == o.To && g.By == o.By && g.Direction == o.Direction
		})
		if i < 0 {
			i = len(groups)
			groups = append(groups, &group{Obstacle: o})
		}
		groups[i].clients = append(groups[i].clients, o.Client)
	}
	// The two directions of the same links make one.
	var merged []*group
	for _, g := range groups {
		i := slices.IndexFunc(merged, func(m *group) bool {
			return m.Kind == g.Kind && m.Server == g.Server && m.From == g.From && m.To == g.To && m.By == g.By && m.Direction != g.Direction && m.Direction != sim.Both && slices.Equal(m.clients, g.clients)
		})
		if i >= 0 {
			merged[i].Direction = sim.Both
			continue
		}
		merged = append(merged, g)
	}
	for _, g := range merged {
		kind := map[sim.ObstacleKind]SpanKind{sim.Cut: Cut, sim.Held: Held, sim.Delayed: Slow}[g.Kind]
		what := map[sim.ObstacleKind]string{sim.Cut: "are lost", sim.Held: "are held back", sim.Delayed: fmt.Sprintf("take %v longer", g.By)}[g.Kind]
		who := strings.Join(g.clients, ", ")
		if len(g.clients) == len(b.result.Scenario.Clients) && len(g.clients) > 2 {
			who = "all clients"
		}
		way := map[sim.Direction]string{sim.Requests: who + " → " + g.Server, sim.Replies: g.Server + " → " + who, sim.Both: who + " ↔ " + g.Server}[g.Direction]
		b.span(g.Server, Span{Kind: kind, From: Instant(g.From), Owner: -1, Label: way + " " + map[SpanKind]string{Cut: "lost", Held: "held", Slow: "slow"}[kind],
			Text: fmt.Sprintf("messages %s %s %s", way, what, b.during(Instant(g.From), int64(g.To)))}, int64(g.To))
	}
}

// addArrows adds the messages.
func (b *builder) addArrows() {
	answers := b.answers()
	for i, m := range b.result.Recording.Messages {
		from, okFrom := b.lanes[m.From]
		to, okTo := b.lanes[m.To]
		if !okFrom || !okTo {
			continue
		}
		a := Arrow{From: from, To: to, Client: from, Sent: Instant(m.Sent), Ended: min(Instant(m.Ended), b.end), Fate: fates[m.Fate], IsReply: m.Kind != sim.RequestMessage}
		if a.IsReply {
			a.Client = to
		}
		what := map[sim.MessageKind]string{sim.RequestMessage: "request", sim.ReplyMessage: "reply", sim.RefusalMessage: "refusal"}[m.Kind]
		if m.Purpose != "" {
			what = m.Purpose + " " + what
		}
		if answers[i] != "" {
			what += fmt.Sprintf(" (%s)", answers[i])
		}
		a.Text = fmt.Sprintf("%s %s → %s, sent at %s, ", what, m.From, m.To, seconds(a.Sent))
		switch m.Fate {
		case sim.Arrived:
			a.Text += fmt.Sprintf("arrived at %s after %v", seconds(a.Ended), time.Duration(a.Ended-a.Sent))
		case sim.TooLate:
			a.Text += fmt.Sprintf("came too late at %s after %v", seconds(a.Ended), time.Duration(a.Ended-a.Sent))
		case sim.Lost:
			a.Text += fmt.Sprintf("lost at %s to %s", seconds(a.Ended), m.Why)
		default:
			a.Text += "under way when the run ended"
		}
		b.t.Arrows = append(b.t.Arrows, a)
	}
}

// answers are what the library made of replies, by their places in the recording. It reports an answer when it next runs,
// which may be later than the reply: the answer is that of the last reply of the node since the one before.
func (b *builder) answers() map[int]string {
	type pair struct{ client, node string }
	replies := map[pair][]int{} // that nobody has reported, in the order of their arrival
	messages := b.result.Recording.Messages
	var arrived []int
	for i, m := range messages {
		if m.Kind == sim.ReplyMessage && m.Fate == sim.Arrived {
			arrived = append(arrived, i)
		}
	}
	slices.SortStableFunc(arrived, func(x, y int) int { return cmp.Compare(messages[x].Ended, messages[y].Ended) })
	answers := map[int]string{}
	next := 0
	for _, e := range b.result.History {
		if e.Kind != history.Step || e.Name != observe.NodeAnswered.String() {
			continue
		}
		for ; next < len(arrived) && int64(messages[arrived[next]].Ended) <= e.Time; next++ {
			m := &messages[arrived[next]]
			replies[pair{m.To, m.From}] = append(replies[pair{m.To, m.From}], arrived[next])
		}
		p := pair{e.Process, e.Node}
		if n := len(replies[p]); n > 0 {
			answers[replies[p][n-1]] = e.Detail
		}
		replies[p] = nil
	}
	return answers
}

func (b *builder) addStory() {
	for i, l := range story.Of(b.result.History) {
		b.t.Story = append(b.t.Story, Step{Number: i + 1, At: Instant(l.Time), Text: l.Text})
	}
}

func (b *builder) addViolation() {
	f := b.result.Witness()
	if f == nil {
		return
	}
	v := &Violation{Kind: string(f.Kind), Text: f.Text, Resource: b.named(f.Resource), From: Instant(f.From), To: Instant(f.To), Windows: []Witness{}}
	for _, w := range f.Windows {
		if lane, ok := b.lanes[w.Process]; ok {
			v.Windows = append(v.Windows, Witness{Lane: lane, Grant: w.Grant, From: Instant(w.From), To: Instant(w.To)})
		}
	}
	b.t.Violation = v
}

// arrange orders spans and marks, and gives those that overlap rows of their own.
func (b *builder) arrange() {
	for i := range b.t.Lanes {
		l := &b.t.Lanes[i]
		slices.SortStableFunc(l.Spans, func(x, y Span) int { return cmp.Compare(x.From, y.From) })
		slices.SortStableFunc(l.Marks, func(x, y Mark) int { return cmp.Compare(x.At, y.At) })
		ends := map[SpanKind][]Instant{}
		for j := range l.Spans {
			s := &l.Spans[j]
			shared := s.Kind
			if s.Resource != "" {
				// Rows of their own for each resource, in the resources' order.
				s.Row = slices.Index(b.used(l), s.Resource)
				continue
			}
			if shared == Held || shared == Slow {
				shared = Cut
			}
			rows := ends[shared]
			row := slices.IndexFunc(rows, func(end Instant) bool { return end <= s.From })
			if row < 0 {
				row = len(rows)
				rows = append(rows, 0)
			}
			rows[row], s.Row = s.To, row
			ends[shared] = rows
		}
	}
}

// used are the resources that a lane has something on.
func (b *builder) used(l *Lane) []string {
	var used []string
	for _, name := range b.t.Resources {
		if slices.ContainsFunc(l.Spans, func(s Span) bool { return s.Resource == name }) {
			used = append(used, name)
		}
	}
	return used
}

// seconds is an instant as the story has it.
func seconds(t Instant) string { return fmt.Sprintf("%.4fs", time.Duration(t).Seconds()) }
