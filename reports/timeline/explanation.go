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
// picture, and is empty where that does not tell it.
func (b *builder) addExplanation() {
	v := b.t.Violation
	if v == nil || v.Kind != "lease-overlap" && v.Kind != "stale-write" || len(v.Windows) == 0 {
		return
	}
	type told struct {
		at   Instant
		text string
	}
	var story []told
	for _, w := range v.Windows {
		l := &b.t.Lanes[w.Lane]
		if w.Grant == 0 {
			continue // an operation, which the violation's own sentence tells
		}
		story = append(story, told{w.From, b.gets(l, w)})
		began := asked(l, w)
		for i := range l.Spans {
			s := &l.Spans[i]
			switch {
			case s.Resource != "" && s.Resource != v.Resource:
			case s.change != "" && !s.isAgain && s.From >= began && s.From < min(w.To, v.To):
				believes := "still believes"
				if s.From < w.From {
					believes = "comes to believe"
				}
				story = append(story, told{s.From, fmt.Sprintf("%s%s: %s is left with %s votes, and "+believes+" in its lock", b.faultAt(s.From, s.change), inSentence(s.change), l.Name, s.Short)})
			case (s.Kind == pausedSpan || s.Kind == suspendedSpan) && s.From < v.To && s.To > w.From:
				story = append(story, told{s.From, fmt.Sprintf("At %s %s", roughly(s.From), s.stops(l.Name))})
			}
		}
		if w.To < v.From {
			story = append(story, told{w.To, fmt.Sprintf("The lease of %s is over at %s", l.Name, roughly(w.To))})
		}
	}
	slices.SortStableFunc(story, func(x, y told) int { return cmp.Compare(x.at, y.at) })
	if n, q := len(b.result.Scenario.Nodes.Names), votesNeeded(b.result.Scenario); n > 1 && q > 1 {
		b.explain(fmt.Sprintf("A client has this lock while %d of the %d nodes keep its key, and a node keeps the key of one client at a time", q, n))
	}
	for _, s := range story {
		b.explain(s.text)
	}
	if v.Kind == "lease-overlap" {
		b.explain(fmt.Sprintf("From %s to %s each of them believes that nobody else has the lock", roughly(v.From), roughly(v.To)))
	} else {
		b.explain(strings.TrimSuffix(v.Text, "."))
	}
}

func (b *builder) explain(sentence string) { b.t.Explanation = append(b.t.Explanation, sentence+".") }

// inSentence says a change of votes in full.
func inSentence(change string) string {
	who, isGone := strings.CutPrefix(change, "without ")
	switch {
	case !isGone:
		return change
	case strings.Contains(who, ", "):
		return "the votes of " + who + " are gone"
	}
	return "the vote of " + who + " is gone"
}

// gets says with which votes a client gets the lock, and until when it believes in it.
func (b *builder) gets(l *Lane, w Witness) string {
	until := "until " + roughly(w.To)
	if w.To >= b.end {
		until = "to the end"
	}
	began := asked(l, w)
	for i := range slices.Backward(l.Spans) {
		// The last ones before it believes: it may have lost some while it waited for the replies.
		if s := &l.Spans[i]; s.Kind == votesSpan && s.Quorum && s.From <= w.From && (s.To > began || s.From >= began) && s.Resource == b.t.Violation.Resource && s.Short != "1 of 1" {
			text := fmt.Sprintf("%s gets the lock at %s with the votes of %s (%s), and believes in it %s", l.Name, roughly(w.From), s.voters, s.Short, until)
			if s.isAgain {
				text += "; " + s.change
			}
			return text
		}
	}
	return fmt.Sprintf("%s believes in its lock from %s %s", l.Name, roughly(w.From), until)
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

// faultAt begins a sentence with the faults at an instant of the nodes that a change of votes names.
func (b *builder) faultAt(at Instant, change string) string {
	named := strings.Fields(strings.ReplaceAll(change, ",", " "))
	var all []string
	for i := range b.t.Lanes {
		for _, m := range b.t.Lanes[i].Marks {
			if b.t.Lanes[i].Kind == nodeLane && slices.Contains(named, b.t.Lanes[i].Name) && m.Kind == faultMark && m.At == at {
				all = append(all, m.Sentence)
			}
		}
	}
	if len(all) == 0 {
		return fmt.Sprintf("At %s ", roughly(at))
	}
	return fmt.Sprintf("At %s %s; ", roughly(at), strings.Join(all, ", "))
}

// roughly is an instant for people.
func roughly(at Instant) string { return rounded.Duration(time.Duration(at)).String() }
