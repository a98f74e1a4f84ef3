// Command runner is built with a bug, without those parts of the project that would only take time to build. It does what may
// notice the bug, and its exit code is the result.
//
//	runner suite [-tier TIER] [NAME...]
//	runner search [-cpu DURATION] < settings.json
//	runner live
//
// Suite runs every scenario, or some, on tiers model and wire, or on one. Search makes random searches with each of some
// [mutants.Settings] in turn, or as redlocksim explore does if there are none. Live runs a few scenarios on tier live, and a
// short soak. All print what they do and stop at the first finding; a run that spins or waits for ever is ended.
//
// It exits with 0 if the verdict is as expected or nothing is found, with 1 or 3 if a safety or liveness verdict is not as
// expected, with 4 if the run is not deterministic, with 5 if there is no verdict, and with 64 for wrong arguments. A search
// that finds something exits with 1 and prints the number of the run.
package main

import (
	"flag"
	"os"

	"redlocksim/internal/exitcode"
	_ "redlocksim/internal/manyruns"
	"redlocksim/live"
	"redlocksim/scenarios"
)

func main() {
	if len(os.Args) < 2 {
		fail(misused, "usage: runner suite, runner search, or runner live")
	}
	flags := flag.NewFlagSet(os.Args[1], flag.ExitOnError)
	switch os.Args[1] {
	case "suite":
		tier := flags.String("tier", "", "")
		arguments(flags)
		suite(scenarios.Tier(*tier), flags.Args())
	case "search":
		cpu := flags.Duration("cpu", 0, "")
		arguments(flags)
		search(*cpu)
	case "live":
		onLive()
	case "live-client": // which tier live starts for each client
		if err := live.Client(os.Stdin, os.Stdout); err != nil {
			fail(exitcode.Internal, err)
		}
	default:
		fail(misused, "no such command: "+os.Args[1])
	}
}

// arguments parses those of a command.
func arguments(flags *flag.FlagSet) {
	if err := flags.Parse(os.Args[2:]); err != nil {
		fail(misused, err)
	}
}
