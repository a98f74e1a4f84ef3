package advise

import (
	"context"
	"fmt"
	"time"

	"github.com/shopspring/decimal"

	"redlocksim/faults"
	"redlocksim/scenarios"
	"redlocksim/scenarios/protocols"
	"redlocksim/sim/network"
	"redlocksim/sweep"
)

// Advice is settings and what is to be known of them.
type Advice struct {
	// Settings are the lock's, the nodes', the network's and the budget that they are for.
	Settings *scenarios.Scenario `json:"-"`
	// Guard is how long before its lease ends a client must stop sending effects, by its own clock: its guard-time.
	Guard time.Duration `json:"guard_ns"`
	// RestartDelay is how long a node that lost its memory stays away, in true time; OnClock as counted by a clock that
	// is as fast as clocks can be.
	RestartDelay        time.Duration `json:"restart_delay_ns"`
	RestartDelayOnClock time.Duration `json:"restart_delay_on_a_fast_clock_ns"`
	// Values are the settings one by one, with what the simulator says.
	Values []Value `json:"values"`
	Costs  []Cost  `json:"costs"`
	// Limits are what no setting can prevent.
	Limits []Limit `json:"limits"`
	// YAML is the settings as a settings file has them, and Go as options of the library.
	YAML string `json:"yaml"`
	Go   string `json:"go"`
}

// Value is a setting, and both sides of it.
type Value struct {
	Setting string `json:"setting"`
	Value   string `json:"value"`
	Formula string `json:"formula"`
	// Holds and Breaks are neighbours on the axis of Path: the smallest value with which the schedule's attack fails, and
	// the next one, with which it succeeds. Breaks is empty if none does; of nodes that lose their memory, Holds is the
	// largest number.
	Schedule string `json:"schedule"`
	Path     string `json:"path"`
	Holds    string `json:"holds"`
	Breaks   string `json:"breaks"`
	// What the attack broke, at Breaks.
	What string `json:"what,omitempty"`
	Note string `json:"note,omitempty"`
}

// Cost is what the settings cost, computed and simulated.
type Cost struct {
	What      string `json:"what"`
	Computed  string `json:"computed"`
	Simulated string `json:"simulated"`
	// Confirmed says that the one is as the other: within the bound, or not farther away than chance explains (the interval
	// of 99.99 %, since of those of 95 % one in twenty misses).
	Confirmed bool `json:"confirmed"`

	whatShort, computedShort, simulatedShort string // for a reader, to three digits
}

// Limit is something that no setting can prevent.
type Limit struct {
	What string `json:"what"`
	// Shown is what the simulator showed of it; empty if it was not asked.
	Shown string `json:"shown,omitempty"`
}

// For computes the settings. The error is an [*InputError], that of the context, or an internal one, as when the simulator
// does not confirm a formula.
func For(ctx context.Context, k Known) (*Advice, error) {
	if err := k.check(); err != nil {
		return nil, err
	}
	a := &Advice{}
	if err := a.compute(k); err != nil {
		return nil, err
	}
	for _, step := range []func(context.Context, Known) error{a.confirm, a.costs, a.limits} {
		if err := step(ctx, k); err != nil {
			return nil, err
		}
		if err := ctx.Err(); err != nil {
			return nil, err
		}
	}
	return a, a.write()
}

// up rounds up to a whole number of units.
func up(d decimal.Decimal, unit time.Duration) time.Duration {
	q, r := d.QuoRem(decimal.NewFromInt(int64(unit)), 0)
	if r.IsPositive() {
		q = q.Add(decimal.NewFromInt(1))
	}
	return time.Duration(q.IntPart()) * unit
}

func (a *Advice) compute(k Known) error {
	s := scenarios.Default()
	s.Title = "advised"
	s.Nodes = scenarios.Nodes{Names: sweep.NodeNames(k.Nodes), Persistence: k.Persistence}
	s.Network = scenarios.Network{Latency: k.RTT.Latency, Replies: &scenarios.Latency{}}
	s.Budget = faults.Budget{ClockRate: k.ClockError.Rate, ClockStep: k.ClockStep, Pause: k.Pause, MemoryLoss: k.MemoryLoss, NoPowerLoss: !k.PowerLoss}
	a.Settings = s.Settings()
	at := &sweep.Settings{Scenario: a.Settings, Pause: k.Pause}
	lock := &a.Settings.Lock

	quorum := int(sweep.Quorum(at))
	if quorum > k.Nodes || k.Down > k.Nodes-quorum {
		return wrong("%d nodes cannot have %d down and %d without their memory: %d would do", k.Nodes, k.Down, k.MemoryLoss, enough(k))
	}

	lock.NodeTimeout = up(sweep.NodeTimeout(at), time.Millisecond)
	if k.NodeTimeout != nil {
		lock.NodeTimeout = *k.NodeTimeout
	}

	// The part of the TTL for the rates, a constant for steps, so that they hold for every TTL.
	one, rho := decimal.NewFromInt(1), k.ClockError.Ratio()
	kept := one.Sub(rho).DivRound(one.Add(rho), 12)
	factor := one.Sub(kept).RoundUp(6)
	drift := protocols.Drift{Factor: faults.RateOf(factor), Constant: up(decimal.NewFromInt(int64(k.ClockStep)).Mul(kept), time.Millisecond)}
	protocols.Change(lock, func(own *protocols.RedlockSettings) {
		own.Quorum, own.Drift = quorum, drift
		own.RetryDelay = protocols.Range{Min: lock.NodeTimeout, Max: 3 * lock.NodeTimeout}
	})

	a.Guard = k.Pause + k.RTT.Max()
	lock.GuardTime = a.Guard
	needs := a.Guard + lock.NodeTimeout + drift.Constant
	if lock.TTL = k.TTL; lock.TTL == 0 {
		lock.TTL = up(decimal.NewFromInt(int64(k.Work+needs)).DivRound(one.Sub(factor), 9).Ceil(), time.Millisecond)
	}
	least := up(decimal.NewFromInt(int64(k.Work+needs)).DivRound(one.Sub(factor), 9).Ceil(), time.Millisecond)
	if lock.TTL < least || k.Work == 0 && lock.TTL == least {
		return wrong("ttl %v is too short for work of %v: with a guard time of %v, a node timeout of %v and the drift allowance it must be %v at least",
			lock.TTL, k.Work, a.Guard, lock.NodeTimeout, least)
	}
	if err := lock.Check(k.Nodes); err != nil {
		return wrong("%w", err)
	}

	a.RestartDelay = up(sweep.RestartDelay(at), time.Millisecond)
	a.RestartDelayOnClock = up(decimal.NewFromInt(int64(a.RestartDelay)).Mul(one.Add(rho)), time.Millisecond)
	a.Settings.Budget.RestartDelay = &a.RestartDelay
	return nil
}

// enough is the smallest number of nodes with which as many can be down, and as many lose their memory.
func enough(k Known) int {
	for n := k.Nodes; ; n++ {
		if q := (n+k.MemoryLoss)/2 + 1; q+k.Down <= n {
			return n
		}
	}
}

// library is what the settings say of the library alone.
func (a *Advice) library() protocols.RedlockSettings {
	return protocols.Of[protocols.RedlockSettings](a.Settings.Lock)
}

// drift is the allowance for the TTL.
func (a *Advice) drift() time.Duration {
	return a.library().Drift.For(a.Settings.Lock.TTL)
}

// instant is the settings in a network whose messages take no time, in which the formulas are exact.
func (a *Advice) instant() (sweep.Base, error) {
	s := *a.Settings
	s.Network = scenarios.Network{}
	s.Network.Latency.Latency = network.Latency{}
	return sweep.SettingsOf(&s)
}

// edge looks for both sides of a setting.
func (a *Advice) edge(ctx context.Context, base sweep.Base, schedule, path, lowest, value string, changes ...sweep.Setting) (sweep.Row, []sweep.Cell, error) {
	base, err := base.With(changes...)
	if err != nil {
		return sweep.Row{}, nil, err
	}
	ends := lowest + "," + value
	if lowest == value {
		ends = value
	}
	axis, err := sweep.ParseAxis(path + "=" + ends)
	if err != nil {
		return sweep.Row{}, nil, err
	}
	schedules, err := sweep.FindSchedules(schedule)
	if err != nil {
		return sweep.Row{}, nil, err
	}
	chart, err := sweep.Run(ctx, sweep.Spec{Base: base, Axes: []sweep.Axis{axis}, Schedules: schedules, Bisect: lowest != value, Jobs: 1})
	if err != nil {
		return sweep.Row{}, nil, fmt.Errorf("advise: %s: %w", path, err)
	}
	if n, why := chart.Untested(); n > 0 {
		return sweep.Row{}, nil, fmt.Errorf("%w: %s: %s", ErrNotTested, path, why)
	}
	if chart.Partial || len(chart.Frontier) == 0 {
		return sweep.Row{}, nil, context.Canceled
	}
	return chart.Frontier[0], chart.Cells, nil
}
