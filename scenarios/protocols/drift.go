package protocols

import (
	"fmt"
	"time"

	"redlocksim/faults"
	"redlocksim/redlock"
)

// DriftSettings are those of protocols that allow for clock drift.
type DriftSettings struct {
	// Drift is the allowance for clock drift, which is subtracted from the validity. Default: {factor: 1%, constant: 2ms}.
	// Example: {factor: 2%}
	Drift Drift `yaml:"drift"`
}

// defaultDrift is that of the library.
func defaultDrift() DriftSettings {
	drift := redlock.DefaultDrift()
	var factor faults.Rate
	if err := factor.UnmarshalScalar(drift.Factor); err != nil {
		panic(err)
	}
	return DriftSettings{Drift{Factor: factor, Constant: drift.Constant}}
}

// check refuses what package redlock refuses, and an allowance that leaves nothing of a TTL.
func (s DriftSettings) check(ttl time.Duration) error {
	allowance, err := s.Drift.Library().For(ttl)
	switch {
	case err != nil:
		return unprefixed(err)
	case ttl <= allowance:
		return fmt.Errorf("TTL %v is not larger than its drift allowance %v, no grant could be valid", ttl, allowance)
	}
	return nil
}

// Drift is the allowance for clock drift: a percentage of the TTL plus a constant.
type Drift struct {
	// Factor is the percentage of the TTL. Default: 1%. Example: 0.5%
	Factor faults.Rate `yaml:"factor"`
	// Constant is added to it. Default: 2ms. Example: 0s
	Constant time.Duration `yaml:"constant" faster:"drift"`
}

// Library is the allowance as package redlock takes it.
func (d Drift) Library() redlock.Drift {
	return redlock.Drift{Factor: d.Factor.String(), Constant: d.Constant}
}

// For is the allowance for a TTL, as package redlock computes it, of settings that were checked.
func (d Drift) For(ttl time.Duration) time.Duration {
	allowance, err := d.Library().For(ttl)
	if err != nil {
		panic(err) // the settings were not checked
	}
	return allowance
}
