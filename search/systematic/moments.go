package systematic

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"redlocksim/faults"
	"redlocksim/scenarios"
	"redlocksim/scenarios/reach"
	"redlocksim/scenarios/verdict"
	"redlocksim/search"
	"redlocksim/sim/history"
	"redlocksim/sim/kernel"
)

// Base is the run that faults are placed in.
type Base struct {
	scenario *scenarios.Scenario
	seed     uint64
	// moments are those at which a fault can be placed, in the order of the run: before everything that happens at a true
	// time, and after every event of the history.
	moments []faults.Trigger
	// faults are what is placed there, each an item without its moment.
	faults []scenarios.Item

	tally        reach.Tally // of its own run
	fingerprint  kernel.Key
	usesResource bool
	kinds        scenarios.Findings
}

// NewBase runs a scenario with its own timeline and lists what can be placed in it, with beyond also faults that exceed its
// budget. The error is an internal one.
func NewBase(s *scenarios.Scenario, seed uint64, beyond bool) (*Base, error) {
	x := *s
	// Its expectations do not matter here, and must not cost further runs.
	x.Expect = scenarios.Expect{Unavailable: scenarios.Unavailable{Bounds: scenarios.Bounds{AtMost: x.Duration}}}
	b := &Base{scenario: &x, seed: seed}
	var times []kernel.True
	r, err := verdict.Judge(&x, scenarios.Options{Seed: seed, Trace: func(t kernel.TraceStep) { times = append(times, t.At) }})
	if err != nil {
		return nil, err
	}
	b.fingerprint, b.kinds = fingerprint(r.History), r.Findings
	b.moments = moments(times, r.History, len(x.Resources) > 1)
	if err := b.reach(r); err != nil {
		return nil, err
	}
	b.usesResource = slices.ContainsFunc(r.History, func(e history.Event) bool { return e.Kind == history.Effect })
	b.faults = b.enumerate(beyond)
	return b, nil
}

// reach tallies what the base's own run reached, and which of its own faults made a difference.
func (b *Base) reach(r *verdict.Result) error {
	run := r.Reached()
	b.tally.TurnOn(b.scenario.Features()...)
	b.tally.Add(reach.Of(run), run)
	return search.Effects(&b.tally, []search.Injected{{Kinds: run.Injected, Scenario: func() *scenarios.Scenario { return b.scenario }, Seed: b.seed}})
}

// moments puts times and events in the order of the run. If there are several resources, moments name the one that the event is
// about.
func moments(times []kernel.True, h history.History, several bool) []faults.Trigger {
	type placed struct {
		at   kernel.True
		when faults.Trigger
	}
	var all []placed
	for _, at := range slices.Compact(times) {
		all = append(all, placed{at, faults.Trigger{At: time.Duration(at)}})
	}
	seen := map[faults.Moment]int{}
	for i := range h {
		e := &h[i]
		m := faults.Moment{Event: faults.EventName(e), Client: e.Process, Node: e.Node}
		var on []string // what it is about, of several resources
		if several && e.Resource != "" {
			on = strings.Split(e.Resource, ", ")
			m.Resource = on[0]
		}
		// A moment that names no client counts the events of all, and so with nodes and resources.
		for _, looser := range looser(m, on) {
			seen[looser]++
		}
		if m.Event == "" {
			continue
		}
		nth := m
		if seen[m] > 1 {
			nth.Nth = seen[m]
		}
		all = append(all, placed{kernel.True(e.Time), faults.Trigger{After: &nth}})
	}
	slices.SortStableFunc(all, func(a, b placed) int { return cmp.Compare(a.at, b.at) })
	triggers := make([]faults.Trigger, len(all))
	for i := range all {
		triggers[i] = all[i].when
	}
	return triggers
}

// looser are the moments that count an event about these resources: m, and those that leave out its client, node or resource.
func looser(m faults.Moment, resources []string) []faults.Moment {
	var all []faults.Moment
	for _, resource := range append(slices.Clip(resources), "") {
		for _, node := range slices.Compact([]string{m.Node, ""}) {
			for _, client := range slices.Compact([]string{m.Client, ""}) {
				all = append(all, faults.Moment{Event: m.Event, Client: client, Node: node, Resource: resource})
			}
		}
	}
	return all
}

// fingerprint stands for what happened to clients and the resource, and when: the history without the faults themselves.
func fingerprint(h history.History) kernel.Key {
	var k kernel.Key
	for i := range h {
		if e := &h[i]; e.Kind != history.Fault {
			k = k.With(uint64(e.Time)).WithString(string(e.Kind)).WithString(e.Process).WithString(e.Resource).With(uint64(e.Op)).WithString(string(e.Func)).With(uint64(e.Grant)).
				WithString(string(e.Outcome)).WithString(e.Name).WithString(e.Node).With(uint64(e.Number)).With(uint64(e.Span)).WithString(e.Detail).With(uint64(e.Token))
		}
	}
	return k
}

// enumerate lists the faults of the vocabulary with significant parameters: every process, every link, all links of a
// client or a node, each direction; as large as the budget allows and, beyond it, about the time to live and twice that.
func (b *Base) enumerate(beyond bool) []scenarios.Item {
	l := scenarios.Limits(b.scenario, beyond)
	l.Resource = b.usesResource
	var all []scenarios.Item
	for _, k := range faults.Vocabulary() {
		for _, f := range k.Place(l) {
			if len(faults.Check(f, l.Names)) == 0 {
				all = append(all, scenarios.Item{Kind: k.Name, Fault: f})
			}
		}
	}
	return all
}

// fault is the one of a placement, by its number.
func (b *Base) fault(number uint64) scenarios.Item { return b.faults[number%uint64(len(b.faults))] }

// place is the base with the placement of a number.
func (b *Base) place(number uint64) *scenarios.Scenario {
	s := *b.scenario
	item := b.fault(number)
	item.When = b.moments[number/uint64(len(b.faults))]
	s.Timeline = append(slices.Clip(s.Timeline), item)
	return &s
}
