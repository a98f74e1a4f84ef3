package advise

import (
	"context"
	"time"

	"redlocksim/adversary"
	"redlocksim/scenarios"
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
	What adversary.Broken `json:"what,omitempty"`
	Note string           `json:"note,omitempty"`
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
