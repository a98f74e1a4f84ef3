// Package story tells a history in sentences: who acquires the lock on which nodes, what goes wrong, who writes.
package story

import (
	"fmt"
	"time"

	"redlocksim/checker"
	"redlocksim/faults"
	"redlocksim/internal/rounded"
	"redlocksim/redlock/observe"
	"redlocksim/sim/history"
)

// Line is one sentence of a story.
type Line struct {
	Seq  int // the event it tells of
	Time time.Duration
	Text string
}

func (l Line) String() string { return fmt.Sprintf("%10s  %s", Seconds(l.Time), l.Text) }

// Seconds is an instant or a length as stories have it, to a tenth of a millisecond.
func Seconds(d time.Duration) string { return fmt.Sprintf("%.4fs", d.Seconds()) }

// Of tells a history, with what monitors found on the way. Where more than one resource is used it names them.
func Of(h history.History, monitored ...checker.Finding) []Line {
	t := teller{attempts: map[int]*attempt{}, joined: map[int][]string{}, fails: map[int]string{}, failed: map[int]string{},
		over: map[int]string{}, late: map[string][]string{}, resources: newResources(h)}
	asked := map[string]bool{}
	for _, e := range h {
		switch {
		case e.Kind == history.Step && e.Name == observe.NodeAnswered.String():
			asked[e.Node] = true
		case e.Kind == history.Step && e.Name == observe.Joined.String():
			t.joined[e.Grant] = append(t.joined[e.Grant], e.Node)
		case e.Kind == history.Return && e.Func == history.Extend && e.Outcome != history.OK:
			t.fails[e.Op] = e.Detail
		}
	}
	t.isOnOne = len(asked) == 1
	for i := range h {
		if text := t.tell(&h[i]); text != "" {
			t.lines = append(t.lines, Line{Seq: h[i].Seq, Time: time.Duration(h[i].Time), Text: rounded.Text(text)})
		}
		for _, f := range monitored {
			if f.FromSeq == h[i].Seq {
				t.lines = append(t.lines, Line{Seq: f.FromSeq, Time: time.Duration(f.From), Text: rounded.Text(f.Kind.Says() + ": " + f.Text)})
			}
		}
	}
	return t.lines
}

// teller goes through a history and keeps what the sentences to come need.
type teller struct {
	lines    []Line
	attempts map[int]*attempt    // by operation
	joined   map[int][]string    // nodes whose votes came after the decision and count, by grant
	fails    map[int]string      // why an extend is going to fail, by operation
	failed   map[int]string      // why the last extend failed, by grant
	over     map[int]string      // what a client learns of a lease that is over, by grant
	late     map[string][]string // nodes whose late votes for a client have been told since its last call
	isOnOne  bool                // no more than one node has a vote
	resources
}

func (t *teller) tell(e *history.Event) string {
	if t.isPart(e) {
		return ""
	}
	switch e.Kind {
	case history.Call:
		return t.call(e)
	case history.Return:
		return t.ret(e)
	case history.Step:
		return t.step(e)
	case history.Expire:
		t.over[e.Grant] = "only now that its lease has ended"
		if e.Detail != "" {
			return fmt.Sprintf("%s's lease%s ends: %s", e.Process, t.on(e), e.Detail)
		}
		return fmt.Sprintf("%s's lease%s expires by its own clock", e.Process, t.on(e))
	case history.Crash:
		return e.Process + " crashes"
	case history.Fault:
		return e.Detail
	case history.Effect:
		return t.effect(e)
	}
	return ""
}

// Ended says what ended the time in which a client believed in a lease, given the event that did.
func Ended(e *history.Event) string {
	switch {
	case e.Kind == history.Expire:
		return "its clock read the end of the lease"
	case e.Kind == history.Crash:
		return "it crashed"
	case e.Func == history.Release:
		return "it released"
	}
	return faults.EventName(e)
}
