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
	"redlocksim/sim/network"
)

// conditions are what keeps processes from running, in words.
var conditions = map[SpanKind]string{pausedSpan: "is paused", suspendedSpan: "is suspended with its machine", crashedSpan: "has crashed",
	downSpan: "is down and refuses connections", offSpan: "is off and answers nobody"}

// addStates adds what keeps processes from running, and how wrong their clocks are.
func (b *builder) addStates() {
	for i, s := range b.rec.states {
		lane, ok := b.lanes[s.process]
		if !ok {
			continue
		}
		l := &b.t.Lanes[lane]
		if s.Wall != 0 || s.Mono != 0 || s.Rate != 0 || s.Stopped || len(l.Clocks) > 0 {
			l.Clocks = append(l.Clocks, s.Reading)
		}
		if s.kind == "" {
			continue
		}
		from, until := s.At, forever
		if next := slices.IndexFunc(b.rec.states[i+1:], func(o state) bool { return o.process == s.process }); next >= 0 {
			until = b.rec.states[i+1+next].At
		}
		// One that is the same as the last is the last, made longer: a clock was changed meanwhile.
		if n := len(l.Spans) - 1; n >= 0 && l.Spans[n].Kind == s.kind && l.Spans[n].To == from {
			from = l.Spans[n].From
			l.Spans = l.Spans[:n]
		}
		label, words := string(s.kind), conditions[s.kind]
		if (s.kind == pausedSpan || s.kind == suspendedSpan) && until <= b.end {
			label = fmt.Sprintf("%s %s for %v", s.process, words, rounded.Duration(time.Duration(until-from)))
		}
		b.span(s.process, Span{Kind: s.kind, From: from, Owner: -1, Label: label, Short: string(s.kind), Text: fmt.Sprintf("%s %s %s", s.process, words, b.during(from, until))}, until)
	}
}

// addObstacles adds what links suffer, to the lanes of their servers: those of several clients with equal times together,
// and the two directions of the same links.
func (b *builder) addObstacles() {
	clients := map[obstacle][]string{}
	var together []obstacle
	for _, o := range b.rec.obstacles {
		client := o.client
		if o.client = ""; o.from == o.to {
			continue
		}
		if clients[o] == nil {
			together = append(together, o)
		}
		clients[o] = append(clients[o], client)
	}
	for _, o := range together {
		other := o
		other.direction = map[network.Direction]network.Direction{network.Requests: network.Replies, network.Replies: network.Requests}[o.direction]
		both := clients[o] != nil && slices.Equal(clients[o], clients[other])
		if clients[o] == nil {
			continue // it was told with the other direction
		}
		who := strings.Join(clients[o], ", ")
		if len(clients[o]) == len(b.result.Scenario.Clients) && len(clients[o]) > 2 {
			who = "all clients"
		}
		way := who + " → " + o.server
		if both {
			delete(clients, other)
			way = who + " ↔ " + o.server
		} else if o.direction == network.Replies {
			way = o.server + " → " + who
		}
		what := map[SpanKind]string{cutSpan: "are lost", heldSpan: "are held back", slowSpan: fmt.Sprintf("take %v longer", rounded.Duration(o.by))}[o.kind]
		b.span(o.server, Span{Kind: o.kind, From: o.from, Owner: -1, Label: way + " " + map[SpanKind]string{cutSpan: "lost", heldSpan: "held", slowSpan: "slow"}[o.kind],
			Text: fmt.Sprintf("messages %s %s %s", way, what, b.during(o.from, o.to))}, o.to)
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
	var held []kept
	for _, k := range b.rec.kept {
		if locks[k.key] && !k.isCopy {
			held = append(held, k)
		}
		if k.from == k.to {
			continue // a node that votes and forgets in the same instant has voted, and has no bar
		}
		s := Span{Kind: otherSpan, From: k.from, Owner: b.owner(k.owner), Key: k.key, Left: int64(k.left), Rate: k.rate, Label: k.owner}
		if s.Owner < 0 {
			s.Label = k.key
		}
		if locks[k.key] {
			s.Kind, s.Resource = keySpan, b.named(k.key)
			if s.Resource != "" && s.Owner >= 0 {
				s.Label += ": " + k.key
			}
		}
		left := "without a time to live"
		if k.left > 0 {
			left = fmt.Sprintf("with %v to live", k.left.Round(time.Millisecond))
		}
		s.Text = fmt.Sprintf("%s keeps %q of %s, %s, %s", k.node, k.key, cmp.Or(k.owner, "nobody"), left, b.during(k.from, k.to))
		b.span(k.node, s, k.to)
	}
	b.addVotes(held)
}

// addArrows adds the messages.
func (b *builder) addArrows() {
	answers := b.answers()
	for i, m := range b.rec.messages {
		from, okFrom := b.lanes[m.from]
		to, okTo := b.lanes[m.to]
		if !okFrom || !okTo {
			continue
		}
		a := Arrow{From: from, To: to, Sent: m.sent, Ended: min(m.ended, b.end), Fate: fates[m.fate], IsReply: m.kind != network.RequestMessage, Why: m.why}
		a.What = map[network.MessageKind]string{network.RequestMessage: "request", network.ReplyMessage: "reply", network.RefusalMessage: "refusal"}[m.kind]
		if m.purpose != "" {
			a.What = m.purpose + " " + a.What
		}
		if answers[i] != "" {
			a.What += fmt.Sprintf(" (%s)", answers[i])
		}
		b.t.Arrows = append(b.t.Arrows, a)
	}
}

// answers are what the library made of replies, by their places in the recording. It reports an answer when it next runs,
// which may be later than the reply: the answer is that of the last reply of the node since the one before.
func (b *builder) answers() map[int]string {
	type pair struct{ client, node string }
	replies := map[pair]int{} // the last that nobody has reported
	messages := b.rec.messages
	var arrived []int
	for i, m := range messages {
		if m.kind == network.ReplyMessage && m.fate == network.Arrived {
			arrived = append(arrived, i)
		}
	}
	slices.SortStableFunc(arrived, func(x, y int) int { return cmp.Compare(messages[x].ended, messages[y].ended) })
	answers := map[int]string{}
	for _, e := range b.result.History {
		if e.Kind != history.Step || e.Name != observe.NodeAnswered.String() {
			continue
		}
		for ; len(arrived) > 0 && messages[arrived[0]].ended <= Instant(e.Time); arrived = arrived[1:] {
			m := &messages[arrived[0]]
			replies[pair{m.to, m.from}] = arrived[0]
		}
		p := pair{e.Process, e.Node}
		if i, is := replies[p]; is {
			answers[i] = e.Detail
		}
		delete(replies, p)
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
		Text: fmt.Sprintf("%s makes %s and is not granted the lock, %s", call.Process, label, b.during(s.From, s.To))}, s.To)
	for i := range b.t.Arrows {
		if a := &b.t.Arrows[i]; a.client() == lane && a.Sent >= s.From && a.Sent < s.To {
			a.Folded = true
		}
	}
}
