package audit

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/shopspring/decimal"

	"redlocksim/faults"
	"redlocksim/scenarios/protocols"
	"redlocksim/search/attacks"
	"redlocksim/sim/redis"
)

// Suggest computes settings by the formulas of the attacks, and audits them. The error matches ErrInput, is that of the
// context, or an internal one.
func Suggest(ctx context.Context, a *Answers) (*Suggestion, error) {
	g := &Suggestion{}
	if err := g.compute(a); err != nil {
		return nil, err
	}
	with := *a
	with.Settings, with.Failover = g.Settings, false // which is a node that forgets, here
	with.Assumed = slices.DeleteFunc(slices.Clone(a.Assumed), func(text string) bool {
		key, _, _ := strings.Cut(text, ":")
		return slices.Contains(suggested, key)
	})
	var err error
	if g.Audit, err = Of(ctx, &with, Options{Unmended: true}); err != nil {
		return nil, err
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
func (g *Suggestion) compute(a *Answers) error {
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
	votes := attacks.LeastQuorum(at)
	if votes > nodes {
		return refused("%d nodes cannot have %d without their memory: no quorum survives that", nodes, s.Budget.MemoryLoss)
	}
	if isGiven := a.says("node-timeout") || a.says(nodeTimeoutPath); !isGiven {
		lock.NodeTimeout = up(attacks.LeastNodeTimeout(at), time.Millisecond)
	} else if least := s.Network.Latency.Min(); lock.NodeTimeout <= least {
		return refused("node timeout %v is no longer than the shortest round trip, %v: nobody would be granted the lock", lock.NodeTimeout, least)
	}
	factor, constant := attacks.LeastDrift(at)
	drift := protocols.Drift{Factor: faults.RateOf(factor.RoundUp(6)), Constant: up(constant, time.Millisecond)}
	protocols.Change(lock, func(own *protocols.RedlockSettings) {
		own.Quorum, own.Drift = votes, drift
		own.RetryDelay = protocols.Range{Min: lock.NodeTimeout, Max: 3 * lock.NodeTimeout}
	})
	lock.GuardTime = s.Budget.Pause + s.Budget.Suspend + s.Budget.Delay + s.Network.Latency.Max()
	protocols.Change(lock, func(own *protocols.RedlockSettings) { own.LossLead = max(lock.GuardTime, time.Millisecond) })
	if err := g.lasts(a, drift); err != nil {
		return err
	}
	if err := lock.Check(nodes); err != nil {
		return refused("%w", err)
	}
	g.RestartDelay = up(attacks.LeastRestartDelay(at), time.Millisecond)
	s.Budget.RestartDelay = &g.RestartDelay
	g.values(at)
	return nil
}

// lasts sets the TTL: what is left of it must be enough for the work.
func (g *Suggestion) lasts(a *Answers, drift protocols.Drift) error {
	lock, work := &g.Settings.Lock, a.Work
	if a.Renews != nil && *a.Renews {
		work = 0
	}
	one := decimal.NewFromInt(1)
	needs := decimal.NewFromInt(int64(work)).Mul(one.Add(g.attacked().Rho())). // the client's clock may be fast
											Add(decimal.NewFromInt(int64(lock.GuardTime + lock.NodeTimeout + drift.Constant)))
	least := up(needs.DivRound(one.Sub(drift.Factor.Ratio()), 9).Ceil(), time.Millisecond)
	switch given := a.says("ttl") || a.says(ttlPath); {
	case !given && work == 0:
		return refused("how long locks live (ttl) or how long the work takes (work) must be given")
	case !given:
		lock.TTL = least
	case lock.TTL < least || work == 0 && lock.TTL == least:
		return refused("ttl %v is too short for work of %v: with a guard time of %v, a node timeout of %v and the drift allowance it must be %v at least",
			lock.TTL, work, lock.GuardTime, lock.NodeTimeout, least)
	}
	return nil
}

// up rounds up to a whole number of units.
func up(d decimal.Decimal, unit time.Duration) time.Duration {
	q, r := d.QuoRem(decimal.NewFromInt(int64(unit)), 0)
	if r.IsPositive() {
		q = q.Add(decimal.NewFromInt(1))
	}
	return time.Duration(q.IntPart()) * unit
}

// values are the settings, with what they come of.
func (g *Suggestion) values(at *attacks.Settings) {
	lock, own := &g.Settings.Lock, g.library()
	onClock := up(decimal.NewFromInt(int64(g.RestartDelay)).Mul(decimal.NewFromInt(1).Add(at.Rho())), time.Millisecond)
	delay := Value{Setting: "restart delay", Value: g.RestartDelay.String(), Formula: "(TTL − drift allowance) / (1−ρ), counted from the stop",
		Note: fmt.Sprintf("%v by a clock that may be fast; or the library's restart guard, which needs no delay", onClock)}
	switch {
	case g.Settings.Nodes.Persistence == redis.Always:
		delay.Formula, delay.Note = "none: nodes keep their memory", "with appendfsync always; not after the loss of a disk"
	case !at.Forgetful():
		delay.Formula = "none: a process that is killed keeps its memory"
		delay.Note = "with appendfsync everysec, and as long as no node loses power; not after the loss of a disk"
	}
	g.Values = []Value{
		{"drift factor", own.Drift.Factor.String(), "1 − (1−ρ)/(1+ρ), rounded up to a millionth", ""},
		{"drift constant", own.Drift.Constant.String(), "clock step × (1−ρ)/(1+ρ), and what suspensions hide", ""},
		delay,
		{"node timeout", lock.NodeTimeout.String(), "more than the longest round trip × (1+ρ), unless it is given", ""},
		{"quorum", fmt.Sprintf("%d of %d", own.Quorum, len(g.Settings.Nodes.Names)), "⌊(nodes + lost) / 2⌋ + 1", ""},
		{"guard time", lock.GuardTime.String(), "longest pause + longest message", ""},
		{"TTL", lock.TTL.String(), "work × (1+ρ) + guard time + node timeout + drift allowance, unless it is given", ""},
	}
}
