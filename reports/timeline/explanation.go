package timeline

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"redlocksim/internal/rounded"
)

// addExplanation says in a few sentences how the violation comes about, to somebody who does not know the lock: what it
// takes to have it, who had it, what took it away without their notice, and what came of it. It tells what is in the
// picture, and is empty where that does not tell why.
func (b *builder) addExplanation() {
	v := b.t.Violation
	if v == nil || v.Kind != "lease-overlap" && v.Kind != "stale-write" || len(v.Windows) == 0 {
		return
	}
	first := v.From
	for _, w := range v.Windows {
		first = min(first, w.From)
	}
	brief := func(at Instant) string { return brief(at, v.To-first) }
	var story []sentence
	isExplained := false
	because := func(at Instant, format string, args ...any) {
		story = append(story, sentence{at, fmt.Sprintf(format, args...)})
		isExplained = true
	}
	for _, w := range v.Windows {
		l := &b.t.Lanes[w.Lane]
		if w.Grant == 0 {
			continue // an operation, which the violation's own sentence tells
		}
		gets, again := b.gets(l, w, brief)
		story = append(story, sentence{w.From, gets})
		isExplained = isExplained || again
		began := asked(l, w)
		for _, x := range b.losses {
			if x.lane == w.Lane && (x.resource == "" || x.resource == v.Resource) && x.at >= began && x.at < min(w.To, v.To) {
				believes := "still believes"
				if x.at < w.From {
					believes = "comes to believe"
				}
				because(x.at, "At %s %s%s %s in its lock", brief(x.at), b.faultsOn(x.lost, x.at), x.leaves(l.Name), believes)
			}
		}
		for i := range l.Spans {
			if s := &l.Spans[i]; (s.Kind == pausedSpan || s.Kind == suspendedSpan) && s.From < v.To && s.To > w.From {
				because(s.From, "At %s %s", brief(s.From), s.stops(l.Name))
			}
		}
		if w.To <= v.From {
			story = append(story, sentence{w.To, fmt.Sprintf("The lease of %s is over at %s", l.Name, brief(w.To))})
		}
	}
	if !isExplained {
		return
	}
	slices.SortStableFunc(story, func(x, y sentence) int { return cmp.Compare(x.at, y.at) })
	story = slices.Compact(story) // of two leases of one client, the same can be told
	b.explainVotes(v)
	for _, s := range story {
		b.explain(s.text)
	}
	if v.Kind == "lease-overlap" {
		b.explain(fmt.Sprintf("From %s to %s each of them believes that nobody else has the lock", brief(v.From), brief(v.To)))
	} else {
		b.explain(strings.TrimSuffix(v.Text, "."))
	}
}

// explainVotes says what it takes to have a lock that several nodes vote for.
func (b *builder) explainVotes(v *Violation) {
	n, q := len(b.result.Scenario.Nodes.Names), b.result.Quorum()
	if n < 2 || q < 2 {
		return
	}
	text := fmt.Sprintf("A client has the lock on %q while %d of the %d nodes keep its key. A node keeps the key of one client at a time", b.result.Defect().Resource, q, n)
	if life := b.keepsFor(v.Windows); life != "" {
		text += fmt.Sprintf(", for %s by its own clock", life)
	}
	b.explain(text)
}

// keepsFor says for how long nodes keep the keys on which these windows rest, where that is the same for all and they have a
// time to live; empty otherwise.
func (b *builder) keepsFor(windows []Witness) string {
	var lives []time.Duration
	for _, w := range windows {
		from := asked(&b.t.Lanes[w.Lane], w)
		for i := range b.t.Lanes {
			for _, s := range b.t.Lanes[i].Spans {
				if s.Kind == keySpan && s.Owner == w.Lane && s.Resource == b.t.Violation.Resource && s.From >= from && s.From <= w.From {
					lives = append(lives, time.Duration(s.Left).Truncate(time.Millisecond)) // keys expire at whole milliseconds
				}
			}
		}
	}
	slices.Sort(lives)
	if lives = slices.Compact(lives); len(lives) != 1 || lives[0] == 0 {
		return ""
	}
	return rounded.Duration(lives[0]).String()
}

// sentence is one of an explanation, and the instant that it is about.
type sentence struct {
	at   Instant
	text string
}

func (b *builder) explain(sentence string) { b.t.Explanation = append(b.t.Explanation, sentence+".") }

// leaves says that votes are gone, and with what that leaves a client.
func (x *change) leaves(client string) string {
	if x.isOnOne {
		return x.sentence() + ", and " + client
	}
	return fmt.Sprintf("%s: %s is left with %s votes, and", x.sentence(), client, x.left)
}

// sentence says that votes are gone.
func (x *change) sentence() string {
	switch {
	case x.hasForgotten:
		return does(x.lost, "forget")
	case x.isOnOne:
		return "the key on " + x.lost[0] + " is gone"
	case len(x.lost) > 1:
		return "the votes of " + strings.Join(x.lost, ", ") + " are gone"
	}
	return "the vote of " + x.lost[0] + " is gone"
}

// gets says with which votes a client gets the lock, and until when it believes in it. isAgain says that some of them had voted
// for the other client.
func (b *builder) gets(l *Lane, w Witness, brief func(Instant) string) (text string, isAgain bool) {
	until := "until " + brief(w.To)
	switch {
	case w.To >= b.end:
		until = "to the end"
	case until == "until "+brief(w.From): // at this scale it ends as it begins
		until = "for " + rounded.Duration(time.Duration(w.To-w.From)).String()
	}
	var on, now *Span // the last that were a quorum before it believes, and those that it has when it begins to
	again := ""       // which of them vote though they have voted
	for i := range l.Spans {
		s := &l.Spans[i]
		if s.Kind != votesSpan || s.Resource != b.t.Violation.Resource || s.From > w.From {
			continue
		}
		if s.Quorum {
			again, on = s.again, s
		}
		if s.To > w.From {
			now = s
		}
	}
	switch {
	case on == nil:
		text = fmt.Sprintf("%s believes in its lock from %s %s", l.Name, brief(w.From), until)
	case b.result.IsOnOne():
		text = fmt.Sprintf("%s gets the lock at %s, and believes in it %s", l.Name, brief(w.From), until)
	case on.To <= w.From && (now == nil || now.From != on.To): // it lost more than one vote while it waited for the replies
		return fmt.Sprintf("%s believes in its lock from %s %s, though it has not had enough votes since %s", l.Name, brief(w.From), until, brief(on.To)), true
	default:
		text = fmt.Sprintf("%s gets the lock at %s with the votes of %s (%s), and believes in it %s", l.Name, brief(w.From), on.voters, on.Short, until)
	}
	if again != "" {
		return text + "; " + again, true
	}
	return text, false
}

// stops says that a process stops, and for how long if that is known.
func (s *Span) stops(process string) string {
	if s.Label != s.Short {
		return s.Label
	}
	return process + " is " + s.Short
}

// asked is when a client called for a lock that it came to believe in.
func asked(l *Lane, w Witness) Instant {
	for i := range l.Spans {
		if s := &l.Spans[i]; s.Kind == askingSpan && s.To == w.From {
			return s.From
		}
	}
	return w.From
}

// faultsOn begins a sentence with the faults at an instant of some nodes; it is empty if there were none.
func (b *builder) faultsOn(nodes []string, at Instant) string {
	var all []string
	for i := range b.t.Lanes {
		for _, m := range b.t.Lanes[i].Marks {
			if b.t.Lanes[i].Kind == nodeLane && slices.Contains(nodes, b.t.Lanes[i].Name) && m.Kind == faultMark && m.At == at {
				all = append(all, m.Sentence)
			}
		}
	}
	if len(all) == 0 {
		return ""
	}
	return strings.Join(all, ", ") + "; "
}
