package experiment

import (
	"slices"
	"strings"
	"sync"
	"time"

	"redlocksim/faults"
	"redlocksim/scenarios"
	"redlocksim/scenarios/protocols"
)

// moment draws a time, a step of the algorithm, so that faults are injected between any two of them, or a message.
func (s Space) moment(c faults.Choices, x *scenarios.Scenario) faults.Trigger {
	kind, steps := c.For("kind", 0).Below(5), s.steps()
	switch {
	case kind < 2:
		return faults.Trigger{At: s.instant(c)}
	case kind == 2 && s.Base.Lock.Capabilities().Service == "":
		t := s.after(c, messages(), x.Clients)
		if c.For("any node", 0).Below(4) > 0 {
			t.After.Node = faults.OneOf(c.For("node", 0), x.Nodes.Names...)
		}
		return t
	case kind == 3 || len(steps) == 0:
		events := []string{"acquire-called", "acquire-done", "release-called", faults.Checked, "write-called", "write-effect", "belief-ended"}
		return s.after(c, events, x.Clients)
	}
	return s.after(c, steps, x.Clients)
}

// messages are the moments of commands that need no other fault.
var messages = sync.OnceValue(func() []string {
	return slices.DeleteFunc(faults.CommandMoments(), func(name string) bool { return strings.HasSuffix(name, "-broken") })
})

// steps are those that the lock tells of: nobody knows any of somebody's.
func (s Space) steps() []string {
	if s.Foreign != nil {
		return nil
	}
	return stepsOf()[s.Base.Lock.Protocol]
}

// stepsOf are the steps of each protocol.
var stepsOf = sync.OnceValue(func() map[protocols.Name][]string {
	of := map[protocols.Name][]string{}
	for _, p := range protocols.All() {
		of[p.Name] = p.Steps
	}
	return of
})

func (s Space) after(c faults.Choices, events, clients []string) faults.Trigger {
	m := &faults.Moment{Event: faults.OneOf(c.For("event", 0), events...), Client: faults.OneOf(c.For("client", 0), clients...)}
	if nth := 1 + c.For("nth", 0).Below(1+c.For("late", 0).Below(20)); nth > 1 {
		m.Nth = int(nth)
	}
	t := faults.Trigger{After: m}
	if c.For("plus", 0).Below(5) > 2 {
		t.Plus = s.times.Length(c.For("by", 0), 0, s.Base.Lock.TTL)
	}
	return t
}

// instant is a moment in the first two thirds of the run, so that there is time for consequences; often a round one, and
// then the same as others', and now and then the very beginning, before any client has asked any node for anything.
func (s Space) instant(c faults.Choices) time.Duration {
	n := int64(s.Duration * 2 / 3)
	at := time.Duration(c.For("at", 0).Below(n))
	switch c.For("round", 0).Below(16) {
	case 0, 1, 2, 3:
		at = at.Truncate(time.Second)
	case 4:
		at = 0
	}
	return at
}

// about is the limits of a fault at a moment, which is mostly about the client whose step that is, or the node of the message.
func (s Space) about(x *scenarios.Scenario, when faults.Trigger) *faults.Limits {
	l := scenarios.Limits(x, s.Beyond)
	l.Times, l.Strict = s.times, l.Strict && !s.Own
	if when.After != nil {
		l.Focus = []string{when.After.Client}
		if when.After.Node != "" {
			l.Focus = append(l.Focus, when.After.Node)
		}
	}
	return l
}
