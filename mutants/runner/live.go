package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"redlocksim/internal/exitcode"
	"redlocksim/live"
	"redlocksim/live/soak"
	"redlocksim/scenarios"
	"redlocksim/scenarios/verdict"
)

// lively are the scenarios that are run on tier live: a few short ones, with which the library waits, is woken, renews and ends
// contexts on the system's clock and goroutines instead of the simulator's, and some in which many goroutines share a client or
// a semaphore.
var lively = []string{"09-contention", "12-holder-dies/crash", "66-wake-up/told", "82-with-lock/cancelled", "111-everything-at-once",
	"119-semaphore/contention", "121-read-write/contention"}

// aSoak is what stands for the soak among them.
const aSoak = "soak"

// dataRace is what a race detector writes.
const dataRace = "DATA RACE"

// liveLimit is how much time a scenario may take on tier live: several times as much as any of them does.
const liveLimit = time.Minute

// soakTime is for how long a short soak injects faults.
const soakTime = 6 * time.Second

// onLive runs scenarios on tier live, and then a short soak, whose clients are made as by a user of the library, with neither
// clock nor connections of ours. The machine may be busy, so what fails is run once more, a scenario at its own speed, and
// counts if it fails again, or by a data race, which is no matter of chance.
func onLive() {
	go watch(2 * liveLimit) // what waits longer than its limit is ended by that
	for _, name := range append(lively, aSoak) {
		begin(name, scenarioLimit)
		ended, why := inRealTime(name, 0)
		if ended != exitcode.OK && !strings.Contains(fmt.Sprint(why), dataRace) {
			ended, why = inRealTime(name, 1)
		}
		if ended != exitcode.OK {
			fmt.Printf("%s on live\n", name)
			fail(ended, why)
		}
	}
}

// inRealTime runs a scenario on tier live, so many times as fast as it is written, or the soak.
func inRealTime(name string, speed int) (exitcode.Code, any) {
	ctx, stop := context.WithTimeoutCause(context.Background(), liveLimit, errors.New("test timed out: a scenario hangs"))
	defer stop()
	if name != aSoak {
		s, known := scenarios.Find(name)
		if !known {
			return misused, "no such scenario: " + name
		}
		r, err := live.Run(ctx, s, live.Options{Speed: speed})
		if err != nil {
			return broken(err)
		}
		return code(r), r.Problems
	}
	r, err := soak.Run(ctx, soak.Options{Duration: soakTime, Round: soakTime, Clients: 2, Goroutines: 20, Locks: 10, Seed: 1}, nil)
	switch {
	case err != nil:
		return broken(err)
	case r.Has(verdict.Safety):
		return exitcode.Safety, r.Problems
	case r.Has(verdict.Liveness):
		return exitcode.Liveness, r.Problems
	}
	return exitcode.OK, nil // also if too little happened: the machine may be busy
}

// broken is the end of a run on tier live that comes to no verdict.
func broken(err error) (exitcode.Code, any) {
	if errors.Is(err, live.ErrNoServer) {
		return misused, err
	}
	return exitcode.Internal, err
}
