package scenarios

import (
	"slices"

	"go.yaml.in/yaml/v3"

	"redlocksim/internal/strictyaml"
	"redlocksim/sim"
	"redlocksim/sim/storage"
)

// Lint is Parse, and looks for what can be run and cannot be meant: what is sure to have no effect, and what is too much for a
// run. The warnings are in the order of the file.
func Lint(path string, data []byte) (found []*Scenario, warnings strictyaml.Errors, err error) {
	if found, err = Parse(path, data); err != nil {
		return nil, nil, err
	}
	l := linter{path: path, all: found}
	for _, s := range found {
		l.s, l.n = s, s.node
		l.look()
	}
	sorted, _ := l.found.Err().(strictyaml.Errors) // nil if there are none
	return found, sorted, nil
}

// linter looks at one scenario after the other.
type linter struct {
	path  string
	all   []*Scenario
	s     *Scenario
	n     *yaml.Node
	found strictyaml.Errors
}

// warn adds a warning, once for a place that several cases share.
func (l *linter) warn(n *yaml.Node, word, format string, args ...any) {
	l.found.Add(strictyaml.Errorf(l.path, n.Line, n.Column, word, nil, format, args...))
}

func (l *linter) look() {
	s := l.s
	refused := s.refused()
	for i := range s.Timeline {
		if why := refused[i]; why != nil {
			item := &s.Timeline[i]
			l.warn(item.body, "", "this %s cannot happen, and the run will be not tested: %v", item.Kind, why)
		}
		if item := &s.Timeline[i]; item.When.After == nil && item.When.At >= s.Duration {
			l.warn(child(item.node, "at"), item.When.At.String(), "is not before the end of the run, after %v, and never comes", s.Duration)
		}
	}
	for i, name := range s.Clients {
		if !l.acts(name) {
			n := child(l.n, "clients")
			if i < len(n.Content) {
				n = n.Content[i]
			}
			l.warn(n, name, "does nothing in the timeline")
		}
	}
	if n := leastEvents(s); n > sim.DefaultMaxEvents {
		l.warn(child(l.n, "timeline"), "", "its steps, repeated, are %d events, and a run may record %d: it ends with an error unless its duration, %v, is over first", n, sim.DefaultMaxEvents, s.Duration)
	}
	if contenders(s) < 2 && s.CheckOptions().MinClients == 0 {
		l.warn(child(l.n, "timeline"), "", "fewer than two clients ask for the lock, so that nothing can be seen to break: the run will be not tested")
	}
	l.checksNothing()
	if u := s.Expect.Unavailable; !u.Unbounded && u.AtLeast == 0 && u.AtMost >= s.Duration {
		l.warn(child(child(l.n, "expect"), "unavailable"), u.AtMost.String(), "is as long as the run, %v, and so is always kept; for without end say %q", s.Duration, unbounded)
	}
}

// checksNothing looks for a resource that can tell nothing of what it is declared to check.
func (l *linter) checksNothing() {
	marks := l.s.hasStep(func(step *Step) bool { return step.Kind == MarkStep })
	n, kind := child(l.n, "storage"), l.s.Storage
	switch {
	case kind == storage.Register:
	case !l.s.writes():
		l.warn(n, kind.String(), "checks requests, and no step writes to the resource: the run will be not tested; leave storage out")
	case kind == storage.CompareAndSet && !marks:
		l.warn(n, kind.String(), "takes a write only of the client whose mark it has, and no step sets one (mark): it refuses every write, and the run will be not tested")
	case kind == storage.Versioned && !l.s.hasStep(func(step *Step) bool { return step.is(reads | inOneCall) }):
		l.warn(n, kind.String(), "takes a write only with the version that its client knows, and no step reads it (update, read): it refuses every write, and the run will be not tested")
	case kind == storage.Table && !l.s.Lock.Capabilities().Tokens:
		l.warn(n, kind.String(), "takes a write only with a fencing token, and the lock (protocol %s) gives none: it refuses every write, and the run will be not tested", l.s.Lock.Protocol)
	case kind.Needs() == "token" && !l.s.Lock.Capabilities().Tokens:
		l.warn(n, kind.String(), "goes by fencing tokens, and the lock (protocol %s) gives none: it accepts everything, and unless a late write does harm the run will be not tested", l.s.Lock.Protocol)
	}
}

// acts says whether a client does something in any of the cases.
func (l *linter) acts(client string) bool {
	return slices.ContainsFunc(l.all, func(s *Scenario) bool {
		return slices.ContainsFunc(s.Timeline, func(item Item) bool { return item.Client == client })
	})
}

// leastEvents is how many events the clients' steps are if all are done: a call and a return each, but for those that only let
// time pass. A step can be more.
func leastEvents(s *Scenario) int {
	n := 0
	for _, item := range s.Timeline {
		for _, step := range item.Do {
			if step.is(takes) || step.is(effect) || step.Kind == ExtendStep || step.Kind == UnlockStep {
				n += 2 * max(item.Repeat, 1) * max(item.Goroutines, 1)
			}
		}
	}
	return n
}

// contenders is how many clients ask for the lock.
func contenders(s *Scenario) int {
	asking := map[string]bool{}
	for _, item := range s.Timeline {
		for _, step := range item.Do {
			if step.is(takes) {
				asking[item.Client] = true
			}
		}
	}
	return len(asking)
}
