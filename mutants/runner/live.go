package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"redlocksim/internal/exitcode"
	"redlocksim/live"
	"redlocksim/live/soak"
	"redlocksim/scenarios"
)

// onLive are the scenarios that are run on tier live: a few short ones, with which the library waits, is woken, renews and ends
// contexts on the system's clock and goroutines instead of the simulator's, and some in which many goroutines share a client or
// a semaphore.
var onLive = []string{"09-contention", "12-holder-dies/crash", "66-wake-up/told", "82-with-lock/cancelled", "111-everything-at-once",
	"119-semaphore/contention", "121-read-write/contention"}

// dataRace is what a race detector writes.
const dataRace = "DATA RACE"

// liveLimit is how much time a scenario may take on tier live: several times as much as any of them does.
const liveLimit = time.Minute

// soakTime is for how long a short soak injects faults.
const soakTime = 6 * time.Second

// suiteLive runs scenarios on tier live, and then a short soak, whose clients are made as by a user of the library, with
// neither clock nor connections of ours. The machine may be busy, so what fails is run once more, a scenario at its own speed,
// and counts if it fails again.
func suiteLive() {
	for _, name := range onLive {
		s, known := scenarios.Find(name)
		if !known {
			fail(misused, fmt.Sprintf("no such scenario: %s", name))
		}
		twice(name, func() (exitcode.Code, any) { return inRealTime(s, 0) }, func() (exitcode.Code, any) { return inRealTime(s, 1) })
	}
	twice("soak", soaked, soaked)
}

// twice runs something, and once more if it fails: if it fails again, or by a data race, it has failed.
func twice(name string, first, second func() (exitcode.Code, any)) {
	fmt.Println(name)
	limit(scenarioLimit)
	ended, why := first()
	if ended == exitcode.OK {
		return
	}
	if !strings.Contains(fmt.Sprint(why), dataRace) { // which is no matter of chance, and need not come again
		ended, why = second()
	}
	if ended != exitcode.OK {
		fmt.Printf("%s on live\n", name)
		fail(ended, why)
	}
}

// soaked makes a short soak.
func soaked() (exitcode.Code, any) {
	ctx, stop := context.WithTimeoutCause(context.Background(), liveLimit, errHangs)
	defer stop()
	r, err := soak.Run(ctx, soak.Options{Duration: soakTime, Round: soakTime, Clients: 40, Processes: 2, Goroutines: 2, Seed: 1}, nil)
	switch {
	case errors.Is(err, live.ErrNoServer):
		return misused, err
	case err != nil:
		return exitcode.Internal, err
	case r.Has(scenarios.Safety):
		return exitcode.Safety, r.Problems
	case r.Has(scenarios.Liveness):
		return exitcode.Liveness, r.Problems
	}
	return exitcode.OK, nil // also if too little happened: the machine may be busy
}

// inRealTime runs a scenario on tier live, so many times as fast as it is written.
func inRealTime(s *scenarios.Scenario, speed int) (exitcode.Code, any) {
	ctx, stop := context.WithTimeoutCause(context.Background(), liveLimit, errHangs)
	defer stop()
	r, err := live.Run(ctx, s, live.Options{Speed: speed})
	switch {
	case errors.Is(err, live.ErrNoServer):
		return misused, err
	case err != nil:
		return exitcode.Internal, err
	}
	return code(r), r.Problems
}

var errHangs = errors.New("test timed out: a scenario hangs")

// liveClient is what tier live starts for each client.
func liveClient() {
	if err := live.Client(os.Stdin, os.Stdout); err != nil {
		fail(exitcode.Internal, err)
	}
}
