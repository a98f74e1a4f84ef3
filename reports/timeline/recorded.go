package timeline

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"redlocksim/internal/plural"
	"redlocksim/internal/rounded"
	"redlocksim/redlock/observe"
	"redlocksim/sim/history"
	"redlocksim/sim/kernel"
	"redlocksim/sim/network"
	"redlocksim/sim/recording"
)

// addStates adds what keeps processes from running, and how wrong their clocks are.
func (b *builder) addStates() {
	kinds := map[recording.Condition]SpanKind{recording.Paused: pausedSpan, recording.Suspended: suspendedSpan, recording.Crashed: crashedSpan, recording.Down: downSpan, recording.Off: offSpan}
	words := map[recording.Condition]string{recording.Paused: "is paused", recording.Suspended: "is suspended with its machine", recording.Crashed: "has crashed",
		recording.Down: "is down and refuses connections", recording.Off: "is off and answers nobody"}
	states := b.result.Recording.States
	for i, s := range states {
		until := int64(kernel.Forever)
		for _, next := range states[i+1:] {
			if next.Process == s.Process {
				until = int64(next.At)
				break
			}
		}
		if lane, ok := b.lanes[s.Process]; ok {
			l := &b.t.Lanes[lane]
			if s.Wall != 0 || s.Mono != 0 || s.Rate != 0 || s.Condition == recording.Suspended || len(l.Clocks) > 0 {
				l.Clocks = append(l.Clocks, Reading{At: Instant(s.At), Wall: int64(s.Wall), Mono: int64(s.Mono), Rate: s.Rate, Stopped: s.Condition == recording.Suspended})
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
	label := string(kind)
	if (kind == pausedSpan || kind == suspendedSpan) && until <= int64(b.end) {
		label = fmt.Sprintf("%s %s for %v", process, words, rounded.Duration(time.Duration(until-int64(from))))
	}
	b.span(process, Span{Kind: kind, From: from, Owner: -1, Label: label, Short: string(kind), Text: fmt.Sprintf("%s %s %s", process, words, b.during(from, until))}, until)
}

// addObstacles adds what links suffer, to the lanes of their servers: those with equal times together.
func (b *builder) addObstacles() {
	type group struct {
		recording.Obstacle
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
			return m.Kind == g.Kind && m.Server == g.Server && m.From == g.From && m.To == g.To && m.By == g.By && m.Direction != g.Direction && m.Direction != network.Both && slices.Equal(m.clients, g.clients)
		})
		if i >= 0 {
			merged[i].Direction = network.Both
			continue
		}
		merged = append(merged, g)
	}
	for _, g := range merged {
		kind := map[recording.ObstacleKind]SpanKind{recording.Cut: cutSpan, recording.Held: heldSpan, recording.Delayed: slowSpan}[g.Kind]
		what := map[recording.ObstacleKind]string{recording.Cut: "are lost", recording.Held: "are held back", recording.Delayed: fmt.Sprintf("take %v longer", rounded.Duration(g.By))}[g.Kind]
		who := strings.Join(g.clients, ", ")
		if len(g.clients) == len(b.result.Scenario.Clients) && len(g.clients) > 2 {
			who = "all clients"
		}
		way := map[network.Direction]string{network.Requests: who + " → " + g.Server, network.Replies: g.Server + " → " + who, network.Both: who + " ↔ " + g.Server}[g.Direction]
		b.span(g.Server, Span{Kind: kind, From: Instant(g.From), Owner: -1, Label: way + " " + map[SpanKind]string{cutSpan: "lost", heldSpan: "held", slowSpan: "slow"}[kind],
			Text: fmt.Sprintf("messages %s %s %s", way, what, b.during(Instant(g.From), int64(g.To)))}, int64(g.To))
	}
}

// addKeys adds what the nodes keep, and how many of them keep a client's value.
func (b *builder) addKeys() {
	locks := map[string]bool{}
	for _, e := range b.result.History {
		if e.Kind == history.Call && e.Func == history.Acquire {
			locks[e.Resource] = true
		}
	}
	var held []recording.Kept
	for _, k := range b.result.Recording.Kept {
		owner, kind := b.owner(k.Owner), otherSpan
		if locks[k.Key] {
			kind = keySpan
			if !k.Copy {
				held = append(held, k)
			}
		}
		if k.From == k.To {
			continue // a node that votes and forgets in the same instant has voted, and has no bar
		}
		label := k.Owner
		if owner < 0 {
			label = k.Key
		}
		left := "without a time to live"
		if k.Left > 0 {
			left = fmt.Sprintf("with %v to live", k.Left.Round(time.Millisecond))
		}
		on := ""
		if kind == keySpan {
			on = b.named(k.Key)
			if on != "" && owner >= 0 {
				label += ": " + k.Key
			}
		}
		b.span(k.Node, Span{Kind: kind, Resource: on, From: Instant(k.From), Owner: owner, Key: k.Key, Left: int64(k.Left), Rate: k.Rate, Label: label,
			Text: fmt.Sprintf("%s keeps %q of %s, %s, %s", k.Node, k.Key, cmp.Or(k.Owner, "nobody"), left, b.during(Instant(k.From), int64(k.To)))}, int64(k.To))
	}
	b.addVotes(held)
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
		a := Arrow{From: from, To: to, Sent: Instant(m.Sent), Ended: min(Instant(m.Ended), b.end), Fate: fates[m.Fate], IsReply: m.Kind != network.RequestMessage}
		what := map[network.MessageKind]string{network.RequestMessage: "request", network.ReplyMessage: "reply", network.RefusalMessage: "refusal"}[m.Kind]
		if m.Purpose != "" {
			what = m.Purpose + " " + what
		}
		if answers[i] != "" {
			what += fmt.Sprintf(" (%s)", answers[i])
		}
		a.What, a.Why = what, m.Why
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
		if m.Kind == network.ReplyMessage && m.Fate == network.Arrived {
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

// fewestFolded is how many attempts in a row are drawn as one band; fewer are drawn one by one.
const fewestFolded = 4

// foldPolling draws the failed attempts of a call as one band with their number, and marks their messages as folded. The
// first attempt and the last are drawn as they are. A lock that does not tell of its attempts has requests.
func (b *builder) foldPolling() {
	tries := map[int][]Instant{} // by the call
	returned := map[int]Instant{}
	var calls []history.Event
	for _, e := range b.result.History {
		switch {
		case e.Kind == history.Step && e.Name == observe.AttemptStarted.String():
			tries[e.Op] = append(tries[e.Op], Instant(e.Time))
		case e.Kind == history.Call && e.Func == history.Acquire:
			calls = append(calls, e)
		case e.Kind == history.Return:
			returned[e.Op] = Instant(e.Time)
		}
	}
	for _, call := range calls {
		lane := b.owner(call.Process)
		at, what := tries[call.Op], "attempt"
		if at == nil {
			at, what = b.requests(lane, Instant(call.Time), cmp.Or(returned[call.Op], math.MaxInt64)), "request"
		}
		if folded := len(at) - 2; folded >= fewestFolded && lane >= 0 {
			b.fold(lane, call, Stretch{at[1], at[len(at)-1]}, folded, what)
		}
	}
}

// requests is when a client sends something during a stretch: once for all that goes to several nodes at an instant.
func (b *builder) requests(lane int, from, to Instant) (at []Instant) {
	for i := range b.t.Arrows {
		if a := &b.t.Arrows[i]; a.client() == lane && !a.IsReply && from <= a.Sent && a.Sent < to {
			at = append(at, a.Sent)
		}
	}
	slices.Sort(at)
	return slices.Compact(at)
}

// fold draws attempts as a band, unless the client has something else to do meanwhile: the messages may be of that.
func (b *builder) fold(lane int, call history.Event, s Stretch, tries int, what string) {
	asking := 0
	for _, o := range b.t.Lanes[lane].Spans {
		if o.From < s.To && s.From < o.To {
			switch o.Kind {
			case believedSpan:
				return
			case askingSpan:
				asking++
			}
		}
	}
	if asking != 1 {
		return
	}
	label := plural.Count(tries, "more "+what)
	b.span(call.Process, Span{Kind: pollingSpan, From: s.From, Owner: lane, Resource: b.named(call.Resource), Label: label, Short: fmt.Sprintf("%d×", tries),
		Text: fmt.Sprintf("%s makes %s and is not granted the lock, %s", call.Process, label, b.during(s.From, int64(s.To)))}, int64(s.To))
	for i := range b.t.Arrows {
		if a := &b.t.Arrows[i]; a.client() == lane && a.Sent >= s.From && a.Sent < s.To {
			a.Folded = true
		}
	}
}
