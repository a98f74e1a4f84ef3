// Command run soaks locks on real redis-server processes for minutes, with hundreds of clients, while random faults are
// injected: servers are killed, paused or lose power, the network drops, delays and resets, and client processes are paused or
// killed.
//
//	go run ./live/soak/run [-duration 1h] [-clients 500] [-faults node-kill,client-kill] [-history FILE] [settings.yaml]
//
// Settings come from a scenario or settings file (lock, nodes, budget). Without one they are the library's defaults with a
// TTL of 2s, on nodes that fsync always. Package soak says what it demands after each round.
//
// Ctrl-C ends the faults early and judges what was recorded; a second one ends everything at once. Neither leaves a process
// or a file behind. The exit code is one of the table of redlocksim.
package main

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"redlocksim/internal/exitcode"
	_ "redlocksim/internal/manyruns"
	"redlocksim/live"
	"redlocksim/live/soak"
	"redlocksim/scenarios"
	"redlocksim/sim/history"
)

func main() {
	if len(os.Args) == 2 && os.Args[1] == "live-client" { // as which it starts itself
		exitIf(exitcode.Internal, live.Client(os.Stdin, os.Stdout))
		return
	}
	o := soak.Options{Settings: soak.Default()}
	flag.DurationVar(&o.Duration, "duration", 2*time.Minute, "how long to inject faults; each round takes a little longer")
	flag.DurationVar(&o.Round, "round", 20*time.Second, "length of a round, after which faults end and the history is judged")
	flag.IntVar(&o.Clients, "clients", 200, "number of clients that ask for locks at the same time")
	flag.IntVar(&o.Goroutines, "goroutines", 1, "number of goroutines of each client; they queue inside it")
	flag.IntVar(&o.Processes, "processes", 0, "number of client processes (default one per 25 clients)")
	flag.IntVar(&o.Locks, "locks", 0, "number of locks (default one per 8 goroutines)")
	flag.Uint64Var(&o.Seed, "seed", 0, "random seed of faults and work; runs on real processes still differ")
	kinds := flag.String("faults", "", fmt.Sprintf("inject only these, of %v (default all that the settings allow)", soak.Faults()))
	path := flag.String("history", "", "write the history of the first round with a problem, or else of the last, to this file")
	flag.Parse()
	if flag.NArg() > 0 {
		var err error
		o.Settings, err = scenarios.LoadSettings(flag.Arg(0))
		exitIf(exitcode.Usage, err)
	}
	for kind := range strings.SplitSeq(*kinds, ",") {
		if kind != "" {
			o.Faults = append(o.Faults, soak.Fault(kind))
		}
	}
	s := soaked(o)
	if *path != "" {
		var b bytes.Buffer
		exitIf(exitcode.NotWritten, errors.Join(history.Encode(&b, s.History), os.WriteFile(*path, b.Bytes(), 0o666)))
	}
	os.Exit(codeOf(s))
}

// soaked soaks and tells what came of it.
func soaked(o soak.Options) *soak.Result {
	ctx, kill := context.WithCancel(context.Background())
	defer kill()
	stop, signals := make(chan struct{}), make(chan os.Signal, 2)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	go func() {
		<-signals
		fmt.Fprintln(os.Stderr, "ending the faults and judging what was recorded; interrupt again to stop at once")
		close(stop)
		<-signals
		kill()
	}()
	o.Stop = stop
	begin := time.Now()
	s, err := soak.Run(ctx, o, func(s *soak.Result) {
		outcome := map[exitcode.Code]string{exitcode.OK: "as expected", exitcode.NotTested: scenarios.NothingTested}[codeOf(s)]
		if outcome == "" {
			outcome = "NOT AS EXPECTED"
		}
		fmt.Fprintf(os.Stderr, "round %d, %v: %d grants, %s\n", s.Rounds, time.Since(begin).Round(time.Second), s.Grants, outcome)
	})
	if ctx.Err() != nil || errors.Is(err, soak.ErrInvalid) || errors.Is(err, live.ErrNoServer) || errors.Is(err, live.ErrNoCompiler) {
		exitIf(exitcode.Usage, err)
	}
	exitIf(exitcode.Internal, err)
	fmt.Print(s.Report(time.Since(begin)))
	return s
}

// codeOf is the exit code for what was wrong.
func codeOf(s *soak.Result) exitcode.Code {
	code := exitcode.OK
	for class, c := range map[scenarios.Class]exitcode.Code{scenarios.Safety: exitcode.Safety, scenarios.Liveness: exitcode.Liveness, scenarios.NotTested: exitcode.NotTested} {
		if s.Has(class) {
			code = exitcode.Worst(code, c)
		}
	}
	return code
}

func exitIf(code exitcode.Code, err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(code)
	}
}
