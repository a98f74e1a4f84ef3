package audit

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/shopspring/decimal"

	"redlocksim/faults"
	"redlocksim/scenarios"
	"redlocksim/scenarios/protocols"
	"redlocksim/search"
	"redlocksim/search/attacks"
	"redlocksim/search/sweep"
	"redlocksim/sim/kernel"
	"redlocksim/sim/network"
	"redlocksim/sim/redis"
)

// ErrNotConfirmed: the simulator breaks the lock with settings that the formulas give. It is a defective formula, or a
// defective simulator.
var ErrNotConfirmed = errors.New("audit: the simulator does not confirm the formula")

// ErrNotTested: an attack did not take place, so that it confirms nothing.
var ErrNotTested = errors.New("audit: not tested")

// Suggest computes the settings, and has the simulator attack each at its value and below. The error matches ErrInput,
// ErrNotConfirmed or ErrNotTested, is that of the context, or an internal one.
func Suggest(ctx context.Context, a *Answers) (*Suggestion, error) {
	g := &Suggestion{Beyond: beyond(a), Assumed: slices.DeleteFunc(slices.Clone(a.Assumed), func(text string) bool {
		key, _, _ := strings.Cut(text, ":")
		return slices.Contains(suggested, key)
	})}
	for _, step := range []func(context.Context, *Answers) error{g.compute, g.confirm, g.costs} {
		if err := cmp.Or(step(ctx, a), ctx.Err()); err != nil {
			return nil, err
		}
	}
	return g, g.write()
}

// suggested are the answers that are not needed, since what is suggested takes their place.
var suggested = []string{"library", "ttl", "node-timeout", "restart-delay", "renews", "work"}

// refused is the error of answers that make no sense, or for which there are no settings.
func refused(format string, args ...any) error {
	return fmt.Errorf("%w: %w", ErrInput, fmt.Errorf(format, args...))
}

// compute sets what the formulas give.
func (g *Suggestion) compute(_ context.Context, a *Answers) error {
	if a.Library != ourLibrary || a.says("network") {
		return refused("settings are suggested for library: redlock, and a network of which rtt is known: leave library and network out")
	}
	s := a.Settings.Settings()
	s.Title = "suggested"
	if a.Failover { // on top of what the nodes lose besides
		s.Budget.MemoryLoss++
	}
	g.Settings = s
	at, lock, nodes := g.attacked(), &s.Lock, len(s.Nodes.Names)
	votes := int(sweep.Quorum(at))
	if votes > nodes {
		return refused("%d nodes cannot have %d without their memory: no quorum survives that", nodes, s.Budget.MemoryLoss)
	}
	if !a.givesTimeout() {
		lock.NodeTimeout = up(sweep.NodeTimeout(at), time.Millisecond)
	} else if least := s.Network.Latency.Min(); lock.NodeTimeout <= least {
		return refused("node timeout %v is no longer than the shortest round trip, %v: nobody would be granted the lock", lock.NodeTimeout, least)
	}

	drift := covers(at)
	protocols.Change(lock, func(own *protocols.RedlockSettings) {
		own.Quorum, own.Drift = votes, drift
		own.RetryDelay = protocols.Range{Min: lock.NodeTimeout, Max: 3 * lock.NodeTimeout}
	})

	lock.GuardTime = s.Budget.Pause + s.Budget.Suspend + s.Budget.Delay + s.Network.Latency.Max()
	needs := lock.GuardTime + lock.NodeTimeout + drift.Constant
	work := a.Work
	if a.Renews != nil && *a.Renews {
		work = 0
	}
	least := up(decimal.NewFromInt(int64(work+needs)).DivRound(decimal.NewFromInt(1).Sub(drift.Factor.Ratio()), 9).Ceil(), time.Millisecond)
	switch given := a.says("ttl") || a.says(ttlPath); {
	case !given && work == 0:
		return refused("how long locks live (ttl) or how long the work takes (work) must be given")
	case !given:
		lock.TTL = least
	case lock.TTL < least || work == 0 && lock.TTL == least:
		return refused("ttl %v is too short for work of %v: with a guard time of %v, a node timeout of %v and the drift allowance it must be %v at least",
			lock.TTL, work, lock.GuardTime, lock.NodeTimeout, least)
	}
	if err := lock.Check(nodes); err != nil {
		return refused("%w", err)
	}
	g.RestartDelay = up(sweep.RestartDelay(at), time.Millisecond)
	s.Budget.RestartDelay = &g.RestartDelay
	return nil
}

// covers is a drift allowance for what clocks can do: a part of the TTL for the rates, a constant for steps and suspensions, so
// that it holds for every TTL.
func covers(s *attacks.Settings) protocols.Drift {
	one, rho, step := decimal.NewFromInt(1), s.Rho(), decimal.NewFromInt(int64(s.Budget.ClockStep))
	kept := one.Sub(rho).DivRound(one.Add(rho), 12)
	constant := step.Mul(kept)
	switch s.Lock.Clock {
	case kernel.WallClock:
		constant = constant.Add(step)
	case kernel.Monotonic:
		constant = constant.Add(decimal.NewFromInt(int64(s.Budget.Suspend)).Mul(one.Sub(rho)))
	}
	return protocols.Drift{Factor: faults.RateOf(one.Sub(kept).RoundUp(6)), Constant: up(constant, time.Millisecond)}
}

// givesTimeout says whether the node timeout was answered.
func (a *Answers) givesTimeout() bool { return a.says("node-timeout") || a.says(nodeTimeoutPath) }

// confirm has the simulator attack each setting at its value and below. Formulas are exact in a network whose messages take no
// time.
func (g *Suggestion) confirm(ctx context.Context, a *Answers) error {
	x := &auditing{ctx: ctx, answers: a, failed: failed{all: &search.Failures{}}}
	instant := *g.Settings
	instant.Network = scenarios.Network{Latency: scenarios.Latency{Latency: network.Latency{}}}
	g.Values = g.values(a)
	for i := range g.Values {
		v := &g.Values[i]
		if v.Path == "" {
			continue
		}
		world := &instant
		if v.network {
			world = g.Settings
		}
		e, err := x.frontier([]string{v.Schedule}, world, v.Path, []string{v.lowest, v.highest}, v.changes...)
		switch {
		case err != nil:
			return err
		case e.why != "":
			return fmt.Errorf("%w: %s: %s", ErrNotTested, v.Path, e.why)
		case e.holds == "" || e.row.Agrees == sweep.Disagrees:
			return fmt.Errorf("%w: %s %s, schedule %s: %q holds, %q breaks, the formula gives %s", ErrNotConfirmed, v.Setting, v.Value, v.Schedule, e.holds, e.breaks, e.row.Formula)
		}
		v.Holds, v.Breaks, v.What = e.holds, e.breaks, e.what
		if v.Breaks == "" && v.Note == "" {
			v.Note = "there is no smaller value to try"
		}
	}
	return nil
}

// values are the settings, with what attacks each.
func (g *Suggestion) values(a *Answers) []Value {
	s, text := g.Settings, time.Duration.String
	lock, drift := &s.Lock, g.library().Drift
	all := []Value{{Setting: "drift factor", Value: drift.Factor.String(), Formula: "1 − (1−ρ)/(1+ρ), rounded up to a millionth",
		Schedule: "clocks", Path: "lock." + factorKey, lowest: "0%", highest: drift.Factor.String()}}
	if drift.Constant > 0 {
		all = append(all, Value{Setting: "drift constant", Value: text(drift.Constant), Formula: "clock step × (1−ρ)/(1+ρ), and what suspensions hide",
			Schedule: "clocks", Path: "lock." + constantKey, lowest: "0s", highest: text(drift.Constant)})
	}
	all = append(all, g.restart())
	if s.Nodes.Persistence == redis.EverySecond && !s.Budget.NoPowerLoss {
		all = append(all, Value{Setting: "after a kill", Value: "0s", Formula: "none: a process that is killed keeps its memory",
			Schedule: "restart", Path: "budget.restart-delay", lowest: "0s", highest: "0s", changes: []sweep.Setting{{Path: "budget.no-power-loss", Word: "true"}},
			Note: "the restart delay is for nodes that lost power: they lose what was not fsynced, up to a second of it"})
	}
	timeout := Value{Setting: "node timeout", Value: text(lock.NodeTimeout), Formula: "more than the longest round trip × (1+ρ)",
		Schedule: "timeout", Path: nodeTimeoutPath, lowest: "1ms", highest: text(lock.NodeTimeout), network: true}
	if a.givesTimeout() {
		timeout.Path, timeout.Schedule, timeout.Formula, timeout.Note = "", "", "as given", "answers that come later count as no vote: see the costs"
	}
	// Messages take no time but the holder's to the resource, which takes the longest. The library's own lead is left out.
	return append(all, timeout, g.votes(), Value{Setting: "guard time", Value: text(lock.GuardTime), Formula: "longest pause + longest message",
		Schedule: "pause", Path: guardTimePath, lowest: "0s", highest: text(lock.GuardTime),
		changes: []sweep.Setting{{Path: "lock.protocol", Word: "redlock-plain"}, {Path: "budget.delay", Word: text(s.Budget.Delay + s.Network.Latency.Max())}}})
}

// restart is how long a node that lost its memory stays away.
func (g *Suggestion) restart() Value {
	delay := g.RestartDelay.String()
	v := Value{Setting: "restart delay", Value: delay, Formula: "(TTL − drift allowance) / (1−ρ), counted from the stop",
		Schedule: "restart", Path: "budget.restart-delay", lowest: "0s", highest: delay}
	switch at := g.attacked(); {
	case g.Settings.Nodes.Persistence == redis.Always:
		v.Formula, v.Note = "none: nodes keep their memory", "with appendfsync always; not after the loss of a disk"
	case !at.Forgetful():
		v.Formula, v.Note = "none: a process that is killed keeps its memory", "with appendfsync everysec, and as long as no node loses power; not after the loss of a disk"
	default:
		onClock := up(decimal.NewFromInt(int64(g.RestartDelay)).Mul(decimal.NewFromInt(1).Add(at.Rho())), time.Millisecond)
		v.Note = fmt.Sprintf("%v by a clock that may be fast; or the library's restart guard, which needs no delay", onClock)
	}
	return v
}

// votes is the quorum.
func (g *Suggestion) votes() Value {
	n, q := len(g.Settings.Nodes.Names), g.library().Quorum
	v := Value{Setting: "quorum", Value: fmt.Sprintf("%d of %d", q, n), Formula: "⌊(nodes + lost) / 2⌋ + 1", Schedule: "memory-loss"}
	if q > n/2+1 {
		v.Path, v.lowest, v.highest = "lock.quorum", fmt.Sprint(n/2+1), fmt.Sprint(q)
		return v
	}
	// The library takes no smaller quorum. What breaks is one node more.
	tolerated := 2*q - n - 1
	v.Path, v.lowest, v.highest = "budget.memory-loss", fmt.Sprint(tolerated+1), fmt.Sprint(tolerated)
	v.Note = "the library accepts no smaller quorum, so what is varied is how many nodes lose their locks early, as by an eviction"
	return v
}
