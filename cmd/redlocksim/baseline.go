package main

import (
	"encoding/json"
	"errors"
	"fmt"

	"redlocksim/internal/exitcode"
	"redlocksim/internal/input"
	"redlocksim/reports"
	"redlocksim/scenarios"
	"redlocksim/scenarios/verdict"
)

// maxBaseline bounds what is read of a baseline, in bytes. That of the catalogue has one megabyte.
const maxBaseline = 64 << 20

// readBaseline reads the baseline of a suite of somebody's lock, if there is one.
func (s *suite) readBaseline(on scenarios.Tier) error {
	switch {
	case s.baseline == "":
		return nil
	case !s.lock.isGiven():
		return &failure{exitUsage, errors.New("--baseline compares the grades of a lock: name one with --lock")}
	}
	wrong := func(format string, args ...any) error {
		return &failure{exitUsage, fmt.Errorf("--baseline: "+format, args...)}
	}
	data, err := input.ReadRegular(s.baseline, maxBaseline)
	if err != nil {
		return wrong("%w", err)
	}
	s.before = &reports.Document{}
	err = json.Unmarshal(data, s.before)
	const anew = "make it anew with suite --lock LOCK --json FILE"
	switch before := s.before; {
	case err != nil:
		return wrong("%s is not what a suite writes with --json: %w; %s", s.baseline, err, anew)
	case before.Scenarios == nil:
		return wrong("%s is not what a suite writes with --json: it has no scenarios; %s", s.baseline, anew)
	case before.Lock == nil:
		return wrong("%s does not say of which lock it is: it is of the library, or an older redlocksim wrote it; %s", s.baseline, anew)
	case before.Lock.Library != s.lock.about.Library:
		return wrong("%s is of the lock %s, and --lock is %s", s.baseline, before.Lock.Library, s.lock.about.Library)
	}
	for i := range s.before.Scenarios {
		c := &s.before.Scenarios[i]
		if c.Tier != string(on) {
			return wrong("%s is of tier %s, and --lock runs on tier %s", s.baseline, c.Tier, on)
		}
		for _, one := range s.chosen {
			if seed := one.Seed(s.asked); one.Name == c.Name && on != scenarios.Live && seed != c.Seed {
				return wrong("%s has %s with seed %d, and this runs it with %d", s.baseline, c.Name, c.Seed, seed)
			}
		}
	}
	return nil
}

// compare compares what came out with the baseline.
func (s *suite) compare(args []string) {
	if s.before == nil {
		return
	}
	matches, _ := namePattern(s.filter) // it was looked at before
	s.compared = reports.Compare(s.before, s.cases[:len(s.cases)-s.unrun], func(name string) bool {
		for i := range s.cases {
			if s.cases[i].Name == name {
				return false // an interrupt left it over
			}
		}
		return len(args) == 0 && s.shard == "" && matches.MatchString(name)
	})
}

// comparedCode is the exit code for what differs from the baseline.
func comparedCode(x *reports.Comparison) exitcode.Code {
	code := exitOK
	for _, c := range x.Worse {
		code = exitcode.Worst(code, gradeCode(c.Grade))
	}
	if len(x.Gone) > 0 {
		code = exitcode.Worst(code, exitNotTested)
	}
	return code
}

// gradeCode is the exit code for a grade.
func gradeCode(g verdict.Grade) exitcode.Code {
	switch g {
	case verdict.Failed:
		return exitUsage
	case verdict.Weaker:
		return exitSafety
	case verdict.LessAvailable, verdict.LeavesKeys, verdict.BusyWaits:
		return exitLiveness
	}
	return exitOK
}
