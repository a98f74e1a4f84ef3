package soak

import (
	_ "embed"
	"fmt"
	"time"

	"redlocksim/faults"
	"redlocksim/scenarios"
	"redlocksim/scenarios/protocols"
	"redlocksim/sim/kernel"
)

//go:embed soak.yaml
var settings []byte

// Default is what is soaked by default.
func Default() *scenarios.Scenario {
	s, err := scenarios.ParseSettings("soak.yaml", settings)
	if err != nil {
		panic(fmt.Sprintf("soak: the embedded settings: %v", err))
	}
	return s
}

const (
	betweenUses   = 400 * time.Millisecond // the longest time from one use of locks to the next of the same client
	betweenFaults = 500 * time.Millisecond // and from one fault to the next
	shortHold     = 20 * time.Millisecond

	// machineAllowance is the time that bounds allow for a busy machine.
	machineAllowance = 2 * time.Second
)

// takeableWithin is the time within which every lock can be taken by one who asks alone, once all faults have ended and all
// votes are over: an attempt, a retry and another attempt. With the restart guard, restarted nodes are first left out for the
// largest TTL, from the first attempt on.
func takeableWithin(s *scenarios.Scenario) time.Duration {
	bound := 4*s.Lock.NodeTimeout + protocols.Of[protocols.DelaySettings](s.Lock).Span().Max + machineAllowance
	if g := protocols.Of[protocols.RedlockSettings](s.Lock).Guard; g != nil {
		bound += g.MaxTTL
	}
	return bound
}

// scenario draws a round. Until the faults are healed goroutines of all clients use locks at random moments, and faults are
// injected within the budget. When all that is over, the first client, which does not crash, takes each lock once.
func (o *Options) scenario(round int) *scenarios.Scenario {
	c := faults.Drawn{Key: kernel.Key(0).WithString("soak").With(o.Seed).With(uint64(round))}
	s := o.Settings.Settings()
	s.Name, s.Title = fmt.Sprintf("round-%d", round), fmt.Sprintf("round %d of a soak", round)
	s.Resources, s.Clients = numbered("lock", o.Locks), numbered("client", o.Clients)
	s.Heal, s.Live.Speed = &o.Round, 1
	if protocols.Of[protocols.RedlockSettings](s.Lock).Guard != nil {
		s.Timeline = append(s.Timeline, scenarios.Item{Client: s.Clients[0], Do: []scenarios.Step{{Kind: scenarios.PrepareStep}}, Repeat: 1})
	}
	for i, client := range s.Clients {
		mine := c.For("client", i)
		every(mine, betweenUses, o.Round, func(at time.Duration, c faults.Choices) {
			s.Timeline = append(s.Timeline, scenarios.Item{When: faults.Trigger{At: at}, Client: client, Repeat: 1, Goroutines: o.Goroutines,
				Resource: []string{faults.OneOf(c.For("lock", 0), s.Resources...)}, Do: use(c, s.Lock.TTL)})
		})
	}
	kinds := o.kinds(s)
	every(c.For("faults", 0), betweenFaults, o.Round, func(at time.Duration, c faults.Choices) {
		k := faults.OneOf(c.For("kind", 0), kinds...)
		f := k.Draw(c, scenarios.Limits(s, false))
		if crash, is := f.(*faults.Crash); f == nil || is && crash.Client == s.Clients[0] {
			return
		}
		s.Timeline = append(s.Timeline, scenarios.Item{When: faults.Trigger{At: at}, Kind: k.Name, Fault: f})
	})
	// A wait and what is done under the lock last for a TTL each at the most.
	over := o.Round + 2*s.Lock.TTL + s.Lock.NodeTimeout
	for _, lock := range s.Resources {
		s.Timeline = append(s.Timeline, scenarios.Item{When: faults.Trigger{At: over}, Client: s.Clients[0], Repeat: 1, Resource: []string{lock},
			Do: []scenarios.Step{{Kind: scenarios.LockStep, For: takeableWithin(s) + machineAllowance}, {Kind: scenarios.UnlockStep}}})
	}
	s.Duration = over + takeableWithin(s) + 2*machineAllowance
	s.Expect.Unavailable.AtMost = s.Duration
	return s
}

// kinds are the kinds of faults that a soak of these settings can have. A client that is stuck for ever keeps its lock as long.
func (o *Options) kinds(s *scenarios.Scenario) (kinds []faults.Kind) {
	limits := scenarios.Limits(s, false)
	for _, k := range faults.Vocabulary() {
		f := k.New()
		_, isForEver := f.(*faults.Stuck)
		on := faults.Deployment{Protocol: string(s.Lock.Protocol), Subscribes: s.Lock.Capabilities().Subscribes}
		if !isForEver && k.Applies(limits) && faults.LiveOf(f, on).Not == "" {
			kinds = append(kinds, k)
		}
	}
	return kinds
}

// every calls do for moments of a time, which are at most so far apart.
func every(c faults.Choices, most, until time.Duration, do func(at time.Duration, c faults.Choices)) {
	at := time.Duration(0)
	for i := 0; ; i++ {
		if at += upTo(c.For("apart", i), most); at >= until {
			return
		}
		do(at, c.For("one", i))
	}
}

func upTo(c faults.Choices, d time.Duration) time.Duration {
	return time.Duration(1 + c.Below(int64(d)))
}

// use draws what a goroutine does with a lock. Mostly it holds the lock for a moment; sometimes for as long as it is valid;
// sometimes it extends or renews it; and sometimes it never releases it, so that it expires.
func use(c faults.Choices, ttl time.Duration) []scenarios.Step {
	step := func(kind scenarios.StepKind, d time.Duration) scenarios.Step {
		return scenarios.Step{Kind: kind, For: d}
	}
	take, unlock := step(scenarios.LockStep, upTo(c.For("patience", 0), ttl)), step(scenarios.UnlockStep, 0)
	if c.For("once", 0).Below(10) == 0 {
		take = step(scenarios.TryLockStep, 0)
	}
	a, b := upTo(c.For("hold", 0), ttl/2), upTo(c.For("hold", 1), ttl/2)
	switch n := c.For("use", 0).Below(100); {
	case n < 2:
		return []scenarios.Step{take, step(scenarios.HoldStep, a), step(scenarios.ExtendStep, ttl), step(scenarios.HoldStep, b), unlock}
	case n < 4:
		return []scenarios.Step{take, step(scenarios.RenewStep, a+b), unlock}
	case n < 5:
		return []scenarios.Step{take, step(scenarios.HoldStep, ttl), unlock}
	case n < 6:
		return []scenarios.Step{take, step(scenarios.SleepStep, ttl)}
	case n < 80:
		return []scenarios.Step{take, step(scenarios.HoldStep, upTo(c.For("hold", 2), shortHold)), unlock}
	}
	return []scenarios.Step{take, unlock}
}

// numbered are so many names.
func numbered(word string, n int) []string {
	names := make([]string, n)
	for i := range names {
		names[i] = fmt.Sprintf("%s-%d", word, i+1)
	}
	return names
}
