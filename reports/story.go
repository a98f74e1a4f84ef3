package reports

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"redlocksim/faults"
	"redlocksim/history"
	"redlocksim/redlock"
	"redlocksim/scenarios/protocols"
)

// Line is one sentence of a story.
type Line struct {
	Seq  int // the event it tells of
	Time time.Duration
	Text string
}

func (l Line) String() string { return fmt.Sprintf("%10s  %s", seconds(l.Time), l.Text) }

func seconds(d time.Duration) string { return fmt.Sprintf("%.4fs", d.Seconds()) }

// Story tells a history in the words of the literature: who acquires on which nodes, what goes wrong, who writes.
func Story(h history.History) []Line {
	t := teller{attempts: map[int]*attempt{}}
	for i := range h {
		if text := t.tell(&h[i]); text != "" {
			t.lines = append(t.lines, Line{Seq: h[i].Seq, Time: time.Duration(h[i].Time), Text: text})
		}
	}
	return t.lines
}

// teller goes through a history and keeps what the sentences to come need.
type teller struct {
	lines    []Line
	attempts map[int]*attempt // by operation
}

// attempt is what the nodes have answered in the round under way.
type attempt struct {
	number   int64
	answers  []answer
	validity time.Duration
}

type answer struct{ node, outcome string }

func (t *teller) tell(e *history.Event) string {
	who := e.Process
	switch e.Kind {
	case history.Call:
		return t.call(e)
	case history.Return:
		return t.ret(e)
	case history.Step:
		return t.step(e)
	case history.Expire:
		if e.Detail != "" {
			return fmt.Sprintf("%s's lease ends: %s", who, e.Detail)
		}
		return fmt.Sprintf("%s's lease ends by its own clock", who)
	case history.Crash:
		return who + " crashes"
	case history.Fault:
		return e.Detail
	case history.Effect:
		switch {
		case e.Func == history.Write && e.Outcome == history.OK:
			return fmt.Sprintf("%s takes %s's write of %d%s", place(e), who, e.Number, token(e))
		case e.Func == history.Mark && e.Outcome == history.OK:
			return fmt.Sprintf("the storage takes %s's mark", who)
		case e.Outcome != history.OK:
			if e.Node != "" {
				return fmt.Sprintf("%s rolls %s's %s back", e.Node, who, e.Func)
			}
			return fmt.Sprintf("the storage turns %s's %s down%s", who, e.Func, token(e))
		}
	}
	return ""
}

func (t *teller) call(e *history.Event) string {
	t.attempts[e.Op] = &attempt{}
	switch e.Func {
	case history.Acquire:
		return e.Process + " asks for the lock"
	case history.Release:
		return e.Process + " releases the lock"
	case history.Extend:
		return e.Process + " extends its lease"
	case history.Write:
		return fmt.Sprintf("%s sends a write of %d to %s", e.Process, e.Number, place(e))
	}
	return ""
}

// place is where a read or write goes: the storage, or a node that keeps the resource itself.
func place(e *history.Event) string {
	if e.Node != "" {
		return e.Node
	}
	return "the storage"
}

func (t *teller) step(e *history.Event) string {
	a := t.attempts[e.Op]
	switch e.Name {
	case faults.Checked:
		if e.Span == math.MaxInt64 {
			return fmt.Sprintf("%s makes sure: it knows of no end of its lease", e.Process)
		}
		return fmt.Sprintf("%s makes sure: its lease is good for %v", e.Process, round(time.Duration(e.Span)))
	case faults.Prepared:
		return e.Process + " declares the nodes fit to vote"
	case faults.NotPrepared:
		return fmt.Sprintf("%s cannot declare the nodes fit to vote: %s", e.Process, e.Detail)
	case faults.Stopped:
		return fmt.Sprintf("%s finds too little of its lease left, and does not write", e.Process)
	case redlock.Lost.String():
		return fmt.Sprintf("%s is told that its lease is about to end", e.Process)
	case redlock.TakenBack.String():
		return fmt.Sprintf("a late vote of %s for %s is released again", e.Node, e.Process)
	}
	if slices.Contains(protocols.Told(), e.Name) {
		return e.Process + " " + e.Detail
	}
	if a == nil {
		return ""
	}
	switch e.Name {
	case redlock.AttemptStarted.String():
		*a = attempt{number: e.Number}
	case redlock.NodeAnswered.String():
		a.answers = append(a.answers, answer{e.Node, e.Detail})
	case redlock.ValidityComputed.String():
		a.validity = time.Duration(e.Span)
	case redlock.QuorumLost.String():
		if e.Number == 1 {
			return fmt.Sprintf("%s has no quorum: %s", e.Process, a.describe())
		}
	case redlock.Denied.String():
		if a.validity < 0 {
			return fmt.Sprintf("%s reads its clock again: no validity is left (%v), it gives the lock up", e.Process, round(a.validity))
		}
	}
	return ""
}

func (t *teller) ret(e *history.Event) string {
	a := t.attempts[e.Op]
	if a == nil {
		a = &attempt{}
	}
	delete(t.attempts, e.Op)
	ok := e.Outcome == history.OK
	switch {
	case e.Func == history.Acquire && ok && a.answers == nil:
		return fmt.Sprintf("%s is granted the lock%s", e.Process, token(e))
	case e.Func == history.Acquire && ok:
		text := fmt.Sprintf("%s acquires on %s", e.Process, a.nodes(redlock.Accepted.Of(redlock.OpAcquire)))
		if others := a.others(redlock.Accepted.Of(redlock.OpAcquire)); others != "" {
			text += " (" + others + ")"
		}
		text += fmt.Sprintf(": granted, valid for %v", round(a.validity))
		text += token(e)
		if a.number > 1 {
			text += fmt.Sprintf(", at attempt %d", a.number)
		}
		return text
	case e.Func == history.Acquire:
		return fmt.Sprintf("%s is not granted the lock: %s", e.Process, e.Detail)
	case e.Func == history.Extend && ok:
		return fmt.Sprintf("%s's lease is extended, valid for %v", e.Process, round(a.validity))
	case e.Func == history.Extend:
		return fmt.Sprintf("%s's lease is not extended: %s", e.Process, e.Detail)
	case e.Func == history.Release && !ok:
		return fmt.Sprintf("%s learns that its release came to nothing: %s", e.Process, e.Detail)
	case e.Func == history.Read && ok:
		return fmt.Sprintf("%s reads %d from %s", e.Process, e.Number, place(e))
	}
	return ""
}

// token says which fencing token an event carries.
func token(e *history.Event) string {
	if e.Token == 0 {
		return ""
	}
	return fmt.Sprintf(" (token %d)", e.Token)
}

// nodes lists the nodes with an outcome.
func (a *attempt) nodes(outcome string) string {
	var names []string
	for _, x := range a.answers {
		if x.outcome == outcome {
			names = append(names, x.node)
		}
	}
	slices.Sort(names)
	return strings.Join(names, ", ")
}

// others lists the nodes with any other outcome, by outcome.
func (a *attempt) others(outcome string) string {
	var parts []string
	seen := map[string]bool{outcome: true}
	for _, x := range a.answers {
		if !seen[x.outcome] {
			seen[x.outcome] = true
			parts = append(parts, a.nodes(x.outcome)+" "+x.outcome)
		}
	}
	return strings.Join(parts, "; ")
}

func (a *attempt) describe() string {
	if text := a.others(""); text != "" {
		return text
	}
	return "no node answered"
}

// round keeps what a reader can use.
func round(d time.Duration) time.Duration { return d.Round(100 * time.Microsecond) }
