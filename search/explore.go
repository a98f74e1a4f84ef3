package search

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync/atomic"
	"time"

	"redlocksim/faults"
	"redlocksim/history"
	"redlocksim/internal/jobs"
	"redlocksim/internal/outfile"
	"redlocksim/scenarios"
	"redlocksim/scenarios/protocols"
)

// Options say how to search. The zero value is a search with seed 0 that goes on until its context ends and keeps
// nothing.
type Options struct {
	// Seed decides every choice.
	Seed uint64
	// Runs is how many experiments are run, by all shards together; without a limit if zero.
	Runs int
	// For is the time after which no generation is begun; without a limit if zero. What waits to be shrunk then still is.
	// What such a search has found when it ends depends on how fast the machine is.
	For time.Duration
	// Jobs is how many runs are made at a time; one a core if zero. It does not change what is found.
	Jobs int
	// Shard is this search's number, from 0, among Shards that share the Runs; Shards 0 is 1.
	Shard, Shards int
	// Generation is how many experiments there are between two looks at what they showed; DefaultGeneration if zero.
	Generation int
	// Blind turns the guidance by margins off: every experiment is drawn anew.
	Blind bool
	// Dir is a directory for findings and for the state of the search; none are kept if it is empty.
	Dir string
	// Rules say which files that are there may be replaced.
	Rules outfile.Rules
	// Resume goes on with the search in Dir.
	Resume bool
	// Progress, if not nil, is called after each generation.
	Progress func(*Summary)

	// canary replaces the lock that must be caught, in a test of the alarm, and shrinkRuns bounds the runs that shrinking
	// a finding takes.
	canary     *scenarios.Scenario
	shrinkRuns int
}

const (
	// DefaultGeneration is the size of a generation: some tenths of a second.
	DefaultGeneration = 1000
	// elite is how many narrow escapes are kept for mutation.
	elite = 32
	// siblings bounds how many of them come from the same drawing.
	siblings = 4
	// repeatEvery is the share of runs that are made twice.
	repeatEvery = 1000
)

// Escape is a run in which the lock got away narrowly.
type Escape struct {
	Candidate Candidate `json:"candidate"`
	// Client is the holder whose belief ran out at Expiry, and Free when a quorum was or would have been free.
	Client string        `json:"client"`
	Expiry time.Duration `json:"expiry_ns"`
	Free   time.Duration `json:"free_ns"`
}

// Slack is the true time that was left.
func (e Escape) Slack() time.Duration { return e.Free - e.Expiry }

// explorer is a search under way.
type explorer struct {
	space   Space
	options Options
	*state
	raw atomic.Int32 // files with findings that are not shrunk yet
}

// Explore searches until all runs are made, ctx ends, or something is wrong with the search itself: a run that does not
// repeat (scenarios.ErrNotRepeated), a canary that is not caught (ErrBlind), a directory that cannot be written. That ctx
// ends is no error. The summary is of all whole generations, but for Unfinished; it is there with an error, too, unless the
// search did not start.
func Explore(ctx context.Context, space Space, o Options) (*Summary, error) {
	o = o.whole()
	x := &explorer{space: space, options: o}
	if o.Dir != "" {
		unlock, err := lockDir(o.Dir, o.Rules)
		if err != nil {
			return nil, err
		}
		defer unlock()
	}
	var err error
	if x.state, err = open(space, o); err != nil {
		return nil, err
	}
	for start := time.Now(); ; {
		n := o.Generation
		if o.Runs > 0 {
			n = min(n, x.Search.share(o.Shard)-x.Summary.Runs)
		}
		if n <= 0 || o.For > 0 && time.Since(start) >= o.For {
			return &x.Summary, x.finish(ctx)
		}
		if ctx.Err() != nil {
			return &x.Summary, nil
		}
		if done, err := x.generation(ctx, n); err != nil || !done {
			return &x.Summary, err
		}
		if o.Progress != nil {
			o.Progress(&x.Summary)
		}
	}
}

// whole is the options with what zero stands for.
func (o Options) whole() Options {
	o.Shards = max(o.Shards, 1)
	if o.Generation <= 0 {
		o.Generation = DefaultGeneration
	}
	if o.shrinkRuns <= 0 {
		o.shrinkRuns = shrinkRuns
	}
	return o
}

// generation makes n runs and takes in what they show; not done if ctx ended before.
func (x *explorer) generation(ctx context.Context, n int) (done bool, err error) {
	before, trials := x.Summary.clone(), make([]trial, n)
	defer func() {
		if done {
			return
		}
		x.Summary = before
		for i := range trials {
			if x.counts(&trials[i]) {
				x.Summary.Unfinished++
			}
		}
	}()
	if err := x.canary(ctx); err != nil || ctx.Err() != nil {
		return false, err
	}
	first := x.Summary.Runs
	all := x.candidates(first, n)
	found := make([][]pending, n)
	err = x.each(ctx, n, func(i int, buffer *history.History) (err error) {
		if trials[i], err = x.space.try(all[i], buffer); err != nil {
			return err
		}
		if (first+i)%repeatEvery == 0 {
			if err := x.space.again(all[i]); err != nil {
				return err
			}
		}
		t := &trials[i]
		if !x.counts(t) {
			return nil
		}
		isNew := false
		for _, kind := range t.kinds {
			p, err := x.reduce(pending{Run: first + i, Candidate: t.candidate, Kind: kind, Families: t.families, Beyond: t.beyond}, buffer)
			if err != nil {
				return err
			}
			found[i] = append(found[i], p)
			isNew = isNew || p.Known == 0
		}
		if isNew {
			return x.keepRaw(t, first+i)
		}
		return nil
	})
	if err != nil || ctx.Err() != nil {
		return false, err
	}
	for i := range trials {
		x.add(&trials[i])
		x.Pending = append(x.Pending, found[i]...)
	}
	x.Summary.Orders = x.orders.Estimate()
	if err := x.effects(trials); err != nil {
		return false, err
	}
	x.Pool = x.narrowest(trials)
	if err := x.settle(ctx, shrinksPerGeneration); err != nil || ctx.Err() != nil {
		return false, err
	}
	return true, x.save()
}

// counts says whether a run is a finding of this search: within the assumptions what exceeds them is none.
func (x *explorer) counts(t *trial) bool {
	return len(t.kinds) > 0 && (x.space.Beyond || !t.beyond)
}

// candidates are the experiments of a generation: half of them drawn anew, half mutations of narrow escapes.
func (x *explorer) candidates(first, n int) []Candidate {
	all := make([]Candidate, n)
	for i := range all {
		c := draw(x.options.Seed, "shard", x.options.Shard).For("run", first+i)
		all[i] = Candidate{Seed: uint64(c.For("seed", 0).Below(1 << 53))}
		if x.options.Blind || len(x.Pool) == 0 || c.For("anew", 0).Below(2) == 0 {
			continue
		}
		// The narrower, the more often.
		parent := x.Pool[c.For("parent", 0).Below(1+c.For("among", 0).Below(int64(len(x.Pool))))]
		if len(parent.Candidate.Changes) >= maxChanges {
			continue
		}
		change := Change{Seed: all[i].Seed}
		if parent.Slack() < 0 && c.For("ask", 0).Below(2) == 0 {
			change.Ask = x.ask(c, parent)
		}
		all[i] = parent.Candidate.then(change)
	}
	return all
}

// ask has somebody else ask for the lock when it could be had too early.
func (x *explorer) ask(c faults.Choices, parent Escape) *Ask {
	clients := slices.DeleteFunc(parent.Candidate.Scenario(x.space).Clients, func(name string) bool { return name == parent.Client })
	return &Ask{
		Client: faults.OneOf(c.For("who", 0), clients...),
		At:     parent.Free + time.Duration(c.For("at", 0).Below(int64(-parent.Slack()))),
	}
}

// narrowest are the narrowest escapes of those known and of a generation: of runs that violated nothing, and within the
// assumptions if the search is to stay there.
func (x *explorer) narrowest(trials []trial) []Escape {
	pool := slices.Clone(x.Pool)
	for i := range trials {
		if t := &trials[i]; t.margin != nil && len(t.kinds) == 0 && (x.space.Beyond || !t.beyond) {
			pool = append(pool, t.escape())
		}
	}
	// Stable: of equals those found first.
	slices.SortStableFunc(pool, func(a, b Escape) int { return cmp.Compare(a.Slack(), b.Slack()) })
	of := map[uint64]int{}
	kept := pool[:0]
	for _, e := range pool {
		if of[e.Candidate.Seed]++; of[e.Candidate.Seed] <= siblings && len(kept) < elite {
			kept = append(kept, e)
		}
	}
	return kept
}

// each calls f for 0 to n−1, several at a time, each with a buffer of its worker's. It stops early at an error or when ctx
// ends, and returns the error of the lowest number.
func (x *explorer) each(ctx context.Context, n int, f func(i int, buffer *history.History) error) error {
	_, err := jobs.Set[history.History, struct{}]{
		N: n, Workers: x.options.Jobs,
		Do: func(_ context.Context, buffer *history.History, i int) (struct{}, error) {
			return struct{}{}, f(i, buffer)
		},
	}.Run(ctx)
	return err
}

// again makes a run twice more, once with and once without measuring, and compares.
func (s Space) again(c Candidate) error {
	x := c.Scenario(s)
	out, err := scenarios.Run(x, scenarios.Options{Seed: c.Seed, Margins: true})
	if err != nil {
		return err
	}
	return scenarios.Again(x, scenarios.Options{Seed: c.Seed}, out)
}

// ErrBlind: a lock that is known to be broken was not caught, so that to find nothing means nothing.
var ErrBlind = errors.New("the search is blind: a lock with a planted bug was not caught")

// canaryTries bounds how many experiments a generation draws for the broken lock.
const canaryTries = 50

// broken is a lock that deletes whatever is there when it was not granted, which is wrong without any fault.
func broken(base *scenarios.Scenario) *scenarios.Scenario {
	x := *base
	x.Lock.Protocol, x.Lock.Cleanup = "redlock-plain", protocols.CleanupDel
	x.Lock.Guard, x.Lock.Fencing = nil, false
	return &x
}

// canary draws experiments for the broken lock until it is caught, with what all others are judged with.
func (x *explorer) canary(ctx context.Context) error {
	s := x.space
	s.Base = broken(s.Base)
	if x.options.canary != nil {
		s.Base = x.options.canary
	}
	var buffer history.History
	for i := 0; i < canaryTries && ctx.Err() == nil; i++ {
		seed := draw(x.options.Seed, "canary", x.Summary.Runs).For("try", i).Below(1 << 53)
		t, err := s.try(Candidate{Seed: uint64(seed)}, &buffer)
		if err != nil {
			return err
		}
		if len(t.kinds) > 0 {
			x.Summary.Canaries++
			return nil
		}
	}
	if ctx.Err() != nil {
		return nil
	}
	return fmt.Errorf("%w in %d runs", ErrBlind, canaryTries)
}
