// Command runner runs a mutant, without those parts of the project that would only take time to build. It runs one scenario, or
// a search with the settings on its standard input, and its exit code is the result.
//
//	runner run NAME TIER
//	runner search RUNS < settings.yaml
//	runner suite [NAME]
//	runner live
//	runner explore SECONDS < settings.json
//	runner first guided|blind SEED RUNS
//
// Suite runs every scenario, or one, on tiers model and wire, and live runs a few on tier live, and a short soak. Explore
// searches with each of some [mutants.Settings], or with those of redlocksim explore if there are none, for so much processor
// time. All print what they do, stop at the first finding, and give up a run that spins. First searches as
// redlocksim explore does, with or without guidance.
//
// It exits with 0 if the verdict is as expected or nothing is found, with 1 or 3 if a safety or liveness verdict is not as
// expected, with 4 if the run is not deterministic, with 5 if there is no verdict, and with 64 for wrong arguments. A search
// that finds something exits with 1 and prints the number of the run.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"

	"redlocksim/checker"
	"redlocksim/internal/exitcode"
	_ "redlocksim/internal/manyruns"
	"redlocksim/scenarios"
	"redlocksim/search/experiment"
	"redlocksim/search/random"
)

// misused is neither an exit code of the project nor of Go: what causes it is the command line, or a bug that has the library
// refuse settings that are right.
const misused exitcode.Code = 64

func main() {
	switch args := os.Args[1:]; {
	case len(args) == 3 && args[0] == "run":
		run(args[1], args[2])
	case len(args) == 2 && args[0] == "search":
		find(args[1])
	case (len(args) == 1 || len(args) == 2) && args[0] == "suite":
		suite(args[1:]...)
	case len(args) == 1 && args[0] == "live":
		suiteLive()
	case len(args) == 1 && args[0] == "live-client":
		liveClient()
	case len(args) == 2 && args[0] == "explore":
		explore(args[1])
	case len(args) == 4 && args[0] == "first":
		first(args[1], args[2], args[3])
	default:
		fail(misused, "usage: runner run NAME TIER, runner search RUNS, runner suite [NAME], runner live, runner explore SECONDS, or runner first guided|blind SEED RUNS")
	}
}

func run(name, on string) {
	s, known := scenarios.Find(name)
	tier, err := scenarios.ParseTier(on)
	if !known || err != nil {
		fail(misused, fmt.Sprintf("no such scenario or tier: %s, %s", name, on))
	}
	r, err := scenarios.Verify(s, scenarios.Options{Tier: tier})
	switch {
	case err != nil:
		failed(err)
	case r.Has(scenarios.Safety):
		fail(exitcode.Safety, r.Problems)
	case r.Has(scenarios.Liveness):
		fail(exitcode.Liveness, r.Problems)
	}
}

func find(number string) {
	runs, err := strconv.Atoi(number)
	text, readErr := io.ReadAll(os.Stdin)
	base, parseErr := scenarios.ParseSettings("settings", text)
	if err := errors.Join(err, readErr, parseErr); err != nil {
		fail(misused, err)
	}
	tell(random.First(context.Background(), experiment.NewSpace(base), 0, runs))
}

// first searches with all settings, guided by what the runs before showed, or blind.
func first(how, seed, number string) {
	search, known := map[string]func(context.Context, experiment.Space, uint64, int, ...checker.Kind) (random.FirstViolation, error){"guided": random.First, "blind": random.FirstBlind}[how]
	from, err := strconv.ParseUint(seed, 10, 64)
	runs, runsErr := strconv.Atoi(number)
	if err := errors.Join(err, runsErr); err != nil || !known {
		fail(misused, fmt.Sprintf("no such search: %s, %v", how, err))
	}
	space := experiment.NewSpace(experiment.DefaultBase())
	space.Swarm = true
	tell(search(context.Background(), space, from, runs))
}

// tell tells what a search has found.
func tell(hit random.FirstViolation, err error) {
	if err != nil {
		failed(err)
	}
	if hit.Run > 0 {
		fmt.Println(hit.Run)
		fail(exitcode.Safety, hit.Kinds)
	}
}
