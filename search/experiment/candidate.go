package experiment

import (
	"cmp"
	"math"
	"slices"
	"time"

	"redlocksim/faults"
	"redlocksim/scenarios"
	"redlocksim/search"
	"redlocksim/search/settings"
)

// Candidate names an experiment of a Space: how it was drawn, and how it was mutated since. It is what a search keeps in
// memory, and on disk, instead of the experiment itself.
type Candidate struct {
	// Seed is what the experiment was drawn from, and what it runs with.
	Seed uint64 `json:"seed"`
	// Mutations were made to it one after another.
	Mutations []Mutation `json:"changes,omitempty"`
}

// Mutation is one change of an experiment.
type Mutation struct {
	// Seed is what it is drawn from.
	Seed uint64 `json:"seed"`
	// Acquire, if not nil, has a client ask for the lock at a moment when it could be granted too early.
	Acquire *Acquire `json:"ask,omitempty"`
	// Without, if there are any, are families of faults that it takes out, and settings that it leaves as they are by default.
	Without []string `json:"without,omitempty"`
}

// Acquire is a client that asks for the lock, and the true time at which it does.
type Acquire struct {
	Client string        `json:"client"`
	At     time.Duration `json:"at_ns"`
}

// Scenario is the experiment.
func (c Candidate) Scenario(s Space) *scenarios.Scenario {
	drawn := s.of(c.Seed)
	x := drawn.Draw(Choices(c.Seed, "experiment", 0))
	for i, m := range c.Mutations {
		drawn.mutate(x, m, Choices(m.Seed, "change", i))
		for _, name := range m.Without {
			settings.Back(name, x, s.Base)
		}
		if m.Without != nil {
			dropGone(x)
		}
	}
	return x
}

// dropGone leaves out faults of nodes that there are not with the settings that are left, and those that wait for one.
func dropGone(x *scenarios.Scenario) {
	names := x.Processes()
	x.Timeline = slices.DeleteFunc(x.Timeline, func(i scenarios.Item) bool {
		after := i.When.After
		return i.Fault != nil && (len(faults.Check(i.Fault, names)) > 0 || after != nil && after.Node != "" && !slices.Contains(names.Nodes, after.Node))
	})
}

// With is the candidate with one more mutation.
func (c Candidate) With(m Mutation) Candidate {
	return Candidate{c.Seed, append(slices.Clip(c.Mutations), m)}
}

func (s Space) mutate(x *scenarios.Scenario, m Mutation, c faults.Choices) {
	s.times = timesOf(s)
	if a := m.Acquire; a != nil {
		item := scenarios.Item{When: faults.Trigger{At: a.At}, Client: a.Client, Repeat: 1, Do: []scenarios.Step{
			{Kind: scenarios.TryLockStep}, {Kind: scenarios.UpdateStep}, {Kind: scenarios.HoldStep, For: s.Base.Lock.TTL / 10}, {Kind: scenarios.UnlockStep}}}
		s.place(c.For("resource", 0), &item)
		x.Timeline = append(x.Timeline, item)
		return
	}
	if m.Without != nil {
		x.Timeline = slices.DeleteFunc(x.Timeline, func(i scenarios.Item) bool { return i.Fault != nil && slices.Contains(m.Without, search.Family(x, &i)) })
		return
	}
	mutations := []func(*scenarios.Scenario, faults.Choices){s.redraw, s.redraw, s.move, s.move, s.drop, s.add, s.add, s.rework}
	mutations[c.For("which", 0).Below(int64(len(mutations)))](x, c)
}

// aFault is the place of a fault in the timeline; false if there is none.
func aFault(x *scenarios.Scenario, c faults.Choices) (int, bool) {
	var places []int
	for i, item := range x.Timeline {
		if item.Fault != nil {
			places = append(places, i)
		}
	}
	if places == nil {
		return 0, false
	}
	return faults.OneOf(c.For("place", 0), places...), true
}

// redraw draws a fault anew, another of its family, at the same moment.
func (s Space) redraw(x *scenarios.Scenario, c faults.Choices) {
	at, ok := aFault(x, c)
	if !ok {
		s.add(x, c)
		return
	}
	item := &x.Timeline[at]
	k, _ := faults.Find(item.Kind) // it was drawn from the vocabulary
	if f := k.Draw(c.For("anew", 0), s.about(x, item.When)); f != nil {
		item.Fault = f
	}
}

// move places a fault at another moment: somewhat earlier or later, or at any.
func (s Space) move(x *scenarios.Scenario, c faults.Choices) {
	at, ok := aFault(x, c)
	if !ok {
		s.add(x, c)
		return
	}
	item := &x.Timeline[at]
	by := s.times.Length(c.For("by", 0), 0, s.Base.Lock.TTL/4)
	switch {
	case c.For("anywhere", 0).Below(3) == 0:
		item.When = s.moment(c.For("moment", 0), x)
	case item.When.After != nil:
		item.When.Plus += by
	case c.For("earlier", 0).Below(2) == 0:
		item.When.At = max(0, item.When.At-by)
	default:
		item.When.At += by
	}
}

func (s Space) drop(x *scenarios.Scenario, c faults.Choices) {
	if at, ok := aFault(x, c); ok {
		x.Timeline = slices.Delete(x.Timeline, at, at+1)
	}
}

func (s Space) add(x *scenarios.Scenario, c faults.Choices) {
	k := choose(c.For("word", 0), s.kinds())
	when := s.moment(c.For("moment", 0), x)
	if f := k.Draw(c.For("fault", 0), s.about(x, when)); f != nil {
		x.Timeline = append(x.Timeline, scenarios.Item{When: when, Kind: k.Name, Fault: f})
	}
}

// choose chooses a kind, each as likely as another: the one whose number is highest, which is drawn by its name. So a kind that
// joins the vocabulary moves only the choices that fall on it.
func choose(c faults.Choices, kinds []faults.Kind) faults.Kind {
	return slices.MaxFunc(kinds, func(a, b faults.Kind) int {
		return cmp.Compare(c.For(a.Name, 0).Below(math.MaxInt64), c.For(b.Name, 0).Below(math.MaxInt64))
	})
}

// rework draws anew what a client does.
func (s Space) rework(x *scenarios.Scenario, c faults.Choices) {
	who := faults.OneOf(c.For("who", 0), x.Clients...)
	x.Timeline = slices.DeleteFunc(x.Timeline, func(i scenarios.Item) bool {
		return i.Fault == nil && i.Client == who && i.Do[0].Kind != scenarios.PrepareStep
	})
	x.Timeline = append(x.Timeline, s.work(c.For("work", 0), who)...)
}
