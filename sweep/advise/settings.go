package advise

import (
	"time"

	"redlocksim/adversary"
	"redlocksim/scenarios"
	"redlocksim/scenarios/protocols"
	"redlocksim/sim/network"
	"redlocksim/sweep"
)

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

// attacked are the settings as an adversary has them.
func (a *Advice) attacked() *adversary.Settings { return &adversary.Settings{Scenario: a.Settings} }

// forgetful says whether nodes can come back without all they knew.
func (a *Advice) forgetful() bool { return a.attacked().Forgetful() }
