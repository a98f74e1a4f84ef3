// Command run soaks locks on real redis-server processes for minutes, while random faults are injected within the budget:
// servers are killed, paused or lose power, the network drops, delays and resets, and client processes are paused or killed.
//
//	go run ./live/soak/run [-duration 1h] [-clients 20] [-history FILE] [settings.yaml]
//
// Settings come from a scenario or settings file (lock, nodes, budget). Without one they are the library's defaults with a TTL
// of 2s, on nodes that fsync always. Ctrl-C tells of the rounds that are over. The exit code is one of the table of redlocksim.
package main

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"syscall"
	"time"

	"redlocksim/internal/exitcode"
	_ "redlocksim/internal/manyruns"
	"redlocksim/live"
	"redlocksim/live/soak"
	"redlocksim/scenarios"
	"redlocksim/scenarios/verdict"
	"redlocksim/sim/history"
)

func main() {
	if len(os.Args) == 2 && os.Args[1] == "live-client" { // as which it starts itself
		exitIf(exitcode.Internal, live.Client(os.Stdin, os.Stdout))
		return
	}
	var o soak.Options
	flag.DurationVar(&o.Duration, "duration", 2*time.Minute, "how long to inject faults; each round takes a little longer")
	flag.DurationVar(&o.Round, "round", 20*time.Second, "length of a round, after which faults end and the history is judged")
	flag.IntVar(&o.Clients, "clients", 8, "number of client processes")
	flag.IntVar(&o.Goroutines, "goroutines", 8, "number of goroutines of a client that ask for a lock at the same time")
	flag.IntVar(&o.Locks, "locks", 16, "number of locks")
	flag.Uint64Var(&o.Seed, "seed", 0, "random seed of faults and work; runs on real processes still differ")
	path := flag.String("history", "", "write the history of the first round with a problem, or else of the last, to this file")
	flag.Parse()
	if flag.NArg() > 0 {
		var err error
		o.Settings, err = scenarios.LoadSettings(flag.Arg(0))
		exitIf(exitcode.Usage, err)
	}
	if o.Duration <= 0 || o.Round <= 0 || o.Clients < 2 || o.Goroutines < 1 || o.Locks < 1 {
		exitIf(exitcode.Usage, errors.New("durations and numbers must be positive, and clients two at least"))
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	r, err := soak.Run(ctx, o, func(r *soak.Result) {
		fmt.Fprintf(os.Stderr, "round %d: %d grants, %d problems\n", r.Rounds, r.Grants, len(r.Problems))
	})
	if r.Rounds > 0 {
		fmt.Print(r)
	}
	if *path != "" {
		var b bytes.Buffer
		exitIf(exitcode.NotWritten, errors.Join(history.Encode(&b, r.History), os.WriteFile(*path, b.Bytes(), 0o666)))
	}
	if ctx.Err() != nil || errors.Is(err, live.ErrUnfit) || errors.Is(err, live.ErrNoServer) || errors.Is(err, live.ErrNoCompiler) {
		exitIf(exitcode.Usage, err)
	}
	exitIf(exitcode.Internal, err)
	code := exitcode.OK
	for class, c := range map[verdict.Class]exitcode.Code{verdict.Safety: exitcode.Safety, verdict.Liveness: exitcode.Liveness,
		verdict.NotTested: exitcode.NotTested} {
		if r.Has(class) {
			code = exitcode.Worst(code, c)
		}
	}
	os.Exit(code)
}

func exitIf(code exitcode.Code, err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(code)
	}
}
