package random

import (
	"cmp"
	"time"

	"redlocksim/internal/jobs"
	"redlocksim/internal/outfile"
	"redlocksim/scenarios"
	"redlocksim/scenarios/verdict"
)

// Options say how to search. The zero value searches with seed 0 until its context ends, and writes nothing.
type Options struct {
	// Seed decides every choice.
	Seed uint64
	// Runs is how many experiments are drawn and run, after the worst schedules of the budget; 0 is no limit.
	Runs int
	// For is the time after which no generation starts; 0 is no limit. Pending violations are still shrunk. What such a search
	// finds depends on the speed of the machine.
	For time.Duration
	// Jobs is the number of parallel runs; 0 is one per core. It does not change what is found.
	Jobs int
	// Elsewhere, if not nil, makes the runs on other machines, and what is found is the same.
	Elsewhere jobs.Elsewhere
	// Generation is after how many experiments the search checks itself, shrinks what it found and saves its state; 0 is
	// DefaultGeneration.
	Generation int
	// Dir is the directory for findings and for the checkpoint; if empty, nothing is written.
	Dir string
	// Rules say which existing files may be replaced.
	Rules outfile.Rules
	// With is what commands add that repeat a run of somebody's lock.
	With string
	// Resume continues the search in Dir.
	Resume bool
	// Progress, if not nil, is called after each generation.
	Progress func(*Summary)

	// For tests: canary replaces the known-broken lock, shrinkRuns bounds the runs for shrinking a finding, and onWire replaces
	// the run on tier wire.
	canary     *scenarios.Scenario
	shrinkRuns int
	onWire     func(*verdict.Result) error
}

const (
	// DefaultGeneration is the default size of a generation, and ForeignGeneration that of somebody's lock, whose runs take far
	// longer.
	DefaultGeneration = 1000
	ForeignGeneration = 50
	// shrinkRuns bounds the runs for shrinking a violation, and shrinkForeign those for one of somebody's lock.
	shrinkRuns    = 3000
	shrinkForeign = 400
)

// whole is the options with the defaults in place of zeros, for the library or for somebody's lock.
func (o Options) whole(foreign bool) Options {
	size, shrinks := DefaultGeneration, shrinkRuns
	if foreign {
		size, shrinks = ForeignGeneration, shrinkForeign
	}
	o.Generation, o.shrinkRuns = cmp.Or(o.Generation, size), cmp.Or(o.shrinkRuns, shrinks)
	if o.onWire == nil {
		o.onWire = onWire
	}
	return o
}
