package attacks

import (
	"fmt"
	"time"

	"github.com/shopspring/decimal"

	"redlocksim/internal/quorum"
	"redlocksim/internal/strictyaml"
	"redlocksim/scenarios"
	"redlocksim/scenarios/protocols"
	"redlocksim/scenarios/variant"
	"redlocksim/sim/network"
)

// Settings are a lock and the world that it may assume.
type Settings struct {
	// Scenario has the lock, the nodes, the network and the budget.
	*scenarios.Scenario
	// Pause is how long the holder is paused, which may be longer than the budget says.
	Pause time.Duration
	// Work is how long the holder works under its lock before it writes, in true time.
	Work time.Duration
	// Renews has the holder renew its lock while it works.
	Renews bool
	// Extends has the holder extend its lock once, half-way, unless the lock renews itself; the attack begins after that.
	Extends bool
	// Joint has the holder lock all resources as one, and the second client only the last of them. Otherwise both lock the
	// first.
	Joint bool

	// options are those of the runs.
	options scenarios.Options
}

// What a file has beside the keys of a settings file, for attacks.
const (
	// ActualPause is how long the holder is paused; the budget's pause unless given.
	ActualPause = adversary + ".pause"
	// Work is how long the holder works before it writes; 0 unless given.
	Work = adversary + ".work"
	// Renews is whether the holder renews its lock while it works; false unless given.
	Renews = adversary + ".renews"

	adversary = "adversary"
)

// MaxLength bounds times of which an attack takes several.
const MaxLength = 24 * time.Hour

// Read reads the settings that a file stands for. The error says what is wrong with them, or that the protocol refuses them.
func Read(f variant.File) (*Settings, error) {
	rest, extra, err := f.Cut(adversary)
	if err != nil {
		return nil, err
	}
	var own struct {
		Pause  *time.Duration `yaml:"pause"`
		Work   time.Duration  `yaml:"work"`
		Renews bool           `yaml:"renews"`
	}
	if extra != nil {
		if err := strictyaml.DecodeNode(adversary, extra, &own); err != nil {
			return nil, variant.Short(err)
		}
	}
	s := &Settings{Work: own.Work, Renews: own.Renews}
	if s.Scenario, err = rest.Scenario(); err != nil {
		return nil, err
	}
	s.Pause = s.Budget.Pause
	if own.Pause != nil {
		s.Pause = *own.Pause
	}
	longest := max(s.Work, s.Pause, s.Lock.TTL, s.Budget.ClockStep, s.Budget.Suspend, s.Budget.Delay, s.Requests().Max(), s.Replies().Max())
	if s.Budget.RestartDelay != nil {
		longest = max(longest, *s.Budget.RestartDelay)
	}
	if s.Pause < 0 || s.Work < 0 || longest > MaxLength {
		return nil, fmt.Errorf("a pause, work, suspension, TTL, clock step, latency, delay and restart delay are from 0s to %v", MaxLength)
	}
	return s, nil
}

// CanJoin says whether there are several resources, and the protocol can lock them as one.
func (s *Settings) CanJoin() bool {
	return len(s.Resources) > 1 && s.Lock.Capabilities().LocksAll
}

// contended is the resource that both clients want; empty if there is but one.
func (s *Settings) contended() string {
	switch {
	case len(s.Resources) < 2:
		return ""
	case s.Joint:
		return s.Resources[len(s.Resources)-1]
	}
	return s.Resources[0]
}

// Quorum is how many nodes must agree.
func (s *Settings) Quorum() int {
	nodes := len(s.Nodes.Names)
	if needed, voted := s.Lock.Votes(nodes); voted {
		return needed
	}
	return quorum.Majority(nodes)
}

// Rho bounds the rate error of all clocks.
func (s *Settings) Rho() decimal.Decimal { return s.Budget.ClockRate.Ratio() }

// Requests is how long requests take.
func (s *Settings) Requests() network.Latency { return s.Network.Latency.Latency }

// Replies is how long replies take.
func (s *Settings) Replies() network.Latency {
	if s.Network.Replies != nil {
		return s.Network.Replies.Latency
	}
	return s.Requests()
}

// slowest is by how much a request can be later than the fastest.
func (s *Settings) slowest() time.Duration { return s.Requests().Max() - s.Requests().Min() }

// renewsItself says whether the lock is renewed by a watchdog or the like, without the holder.
func (s *Settings) renewsItself() bool {
	return s.options.Foreign != nil && s.options.Foreign.Renews || protocols.Of[protocols.RedissonSettings](s.Lock).Watchdog
}

// guarded says whether nodes vote under the library's restart guard, which other protocols do not have.
func (s *Settings) guarded() bool {
	return protocols.Of[protocols.RedlockSettings](s.Lock).Guard != nil
}

// trusting says whether that guard lets the node's clock alone end a quarantine.
func (s *Settings) trusting() bool {
	return s.guarded() && protocols.Of[protocols.RedlockSettings](s.Lock).Guard.TrustNodeClock
}

// Forgetful says whether a node that stops can come back, and vote, without all it knew. Under the restart guard a
// node that lost its memory does not vote.
func (s *Settings) Forgetful() bool {
	return s.Forgets() && (!s.guarded() || s.trusting())
}

// LosesCounters says whether a node that stops can come back without its fencing counters, which no restart guard brings back.
func (s *Settings) LosesCounters() bool {
	return protocols.Of[protocols.RedlockSettings](s.Lock).Fencing && s.Forgets()
}
