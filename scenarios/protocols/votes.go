package protocols

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"redlocksim/faults"
	"redlocksim/redlock"
)

// QuorumSettings are those of protocols that count votes.
type QuorumSettings struct {
	// Quorum is how many nodes must vote for a lock; 0 is the majority. Default: 0. Example: 4
	Quorum int `yaml:"quorum" range:"0.."`
}

func (q QuorumSettings) quorum(nodes int) int {
	if q.Quorum == 0 {
		return majority(nodes)
	}
	return q.Quorum
}

// majority is computed here and not by the library, whose quorum is judged by it.
func majority(nodes int) int { return nodes/2 + 1 }

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

// unprefixed is an error of package redlock as the error of a file, in which its prefix would say nothing.
func unprefixed(err error) error {
	return errors.New(strings.TrimPrefix(err.Error(), redlock.ErrInvalid.Error()+": "))
}
