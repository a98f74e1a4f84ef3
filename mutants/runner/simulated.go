package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"slices"
	"time"

	"redlocksim/checker"
	"redlocksim/internal/exitcode"
	"redlocksim/mutants"
	"redlocksim/scenarios"
	"redlocksim/scenarios/verdict"
	"redlocksim/search/experiment"
	"redlocksim/search/random"
)

// suite runs the scenarios, or those that are named, as the command of that name does, one after the other.
func suite(tier scenarios.Tier, names []string) {
	tiers := scenarios.Tiers()
	if tier != "" {
		tiers = slices.DeleteFunc(tiers, func(t scenarios.Tier) bool { return t != tier })
	}
	all := scenarios.Catalogue()
	if len(names) > 0 {
		all = slices.DeleteFunc(slices.Clone(all), func(s *scenarios.Scenario) bool { return !slices.Contains(names, s.Name) })
	}
	if len(names) > 0 && len(all) != len(names) || len(tiers) == 0 {
		fail(misused, fmt.Sprintf("no such scenario or tier: %v, %s", names, tier))
	}
	go watch(patience)
	for _, s := range all {
		begin(s.Name, scenarioLimit)
		results, err := verdict.Suite(context.Background(), []*scenarios.Scenario{s}, tiers, nil, scenarios.Options{}, nil)
		if err != nil {
			failed(err)
		}
		for _, r := range results {
			if r.Err != nil {
				failed(r.Err)
			}
			if c := code(r); c != exitcode.OK {
				fmt.Printf("%s on %s\n", s.Name, r.Tier)
				fail(c, r.Problems)
			}
		}
	}
}

// code is the exit code for what a scenario came to.
func code(r *verdict.Result) exitcode.Code {
	switch {
	case r.Has(verdict.Safety):
		return exitcode.Safety
	case r.Has(verdict.Liveness):
		return exitcode.Liveness
	case len(r.Problems) > 0:
		return exitcode.NotTested
	}
	return exitcode.OK
}

// turn is how many experiments a search makes with one of several settings before it goes on with the next.
const turn = 50

// searched is what a search is made with.
type searched struct {
	name  string
	space experiment.Space
	known []checker.Kind
}

// search searches for so much processor time: with all settings in turn, and a seed for each round, or without settings as the
// command does, which learns from its runs until its time is up.
func search(cpu time.Duration) {
	all, runs := spaces(), turn
	if len(all) == 0 {
		space := experiment.NewSpace(experiment.DefaultBase())
		space.Swarm = true
		all, runs = []searched{{"each run draws its settings", space, nil}}, math.MaxInt
	}
	go watch(patience)
	for seed := uint64(0); ; seed++ {
		for _, s := range all {
			if used() >= cpu {
				return
			}
			begin(fmt.Sprintf("%s, seed %d", s.name, seed), cpu+searchLimit)
			hit, err := random.First(until(cpu), s.space, seed, runs, s.known...)
			switch {
			case errors.Is(err, errEnough):
			case err != nil:
				failed(err)
			case hit.Run > 0:
				fmt.Printf("%s, seed %d, run %d: %v\n", s.name, seed, hit.Run, hit.Kinds)
				fail(exitcode.Safety, hit.Kinds)
			}
		}
	}
}

// spaces are those of the settings on the standard input.
func spaces() (all []searched) {
	text, err := io.ReadAll(os.Stdin)
	if err != nil {
		fail(misused, err)
	}
	if len(text) == 0 {
		return nil
	}
	var settings []mutants.Settings
	if err := json.Unmarshal(text, &settings); err != nil {
		fail(misused, err)
	}
	for _, s := range settings {
		base, err := scenarios.ParseSettings("settings", []byte(s.Text))
		if err != nil {
			fail(misused, err)
		}
		all = append(all, searched{s.Name, experiment.NewSpace(base), s.Known})
	}
	return all
}

// errEnough ends a search that has had its time.
var errEnough = errors.New("the search has had its time")

// until is a context that ends when this process has used so much processor time.
func until(enough time.Duration) context.Context {
	ctx, stop := context.WithCancelCause(context.Background())
	go func() {
		for used() < enough {
			time.Sleep(10 * time.Millisecond)
		}
		stop(errEnough)
	}()
	return ctx
}
