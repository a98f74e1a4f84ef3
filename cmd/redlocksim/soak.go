package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"redlocksim/history"
	"redlocksim/internal/exitcode"
	"redlocksim/live"
	"redlocksim/live/soak"
	soakreport "redlocksim/reports/soak"
	"redlocksim/scenarios"
)

var soakHelp = `Run locks on real redis-server processes for minutes, with hundreds of clients,
while random faults are injected: servers are killed, paused or lose power, the
network drops, delays and resets, and client processes are paused or killed.

Settings come from a scenario or settings file (lock, nodes, budget). Without
one, soak uses the library's defaults with a TTL of 2s, on nodes that fsync
always. Faults stay within what the settings allow: a node that lost its memory
comes back after the budget's restart-delay, or at once if the lock uses the
restart guard. Pauses, lost messages and killed clients only cost time.

Clients share processes, and in each process one connection pool per node, as in
a service: a process that is paused or killed takes many of them with it. With
--goroutines each client has several callers, which queue inside it.

A soak runs in rounds. When the faults of a round have ended:
  - the checkers must find no two holders at once in its history;
  - on every lock, one client must be granted it within TTL + 1ms + 4 node
    timeouts + the longest retry delay + 2s. A request sent at the end of the
    faults arrives within a node timeout, and its key lives for the TTL and 1ms
    that Redis rounds up. An attempt that meets the key fails and releases, in a
    node timeout each. After the retry delay, the next attempt is answered in a
    node timeout. 2s allow for a busy machine. The restart guard adds the
    largest TTL, 1ms, and one more attempt and delay;
  - no key of a lock may be left on any node TTL + 1ms + a node timeout + 2s
    after all clients finished, and no key may lack a TTL.
In the end the clients close everything, and no goroutine and no connection may
be left. A soak in which too little happened counts as not tested.

Ctrl-C ends the faults early and judges what was recorded; a second Ctrl-C ends
everything at once. Neither leaves a process or a file behind.

` + keepsFiles + `

` + exitcode.Help(exitcode.Specifics{
	exitSafety:    "two clients held a lock at once",
	exitUsage:     "also if redis-server is not installed",
	exitLiveness:  "a lock was not granted in time, or a key, goroutine or connection was left",
	exitNotTested: "nothing happened that could have broken a lock",
})

// soakReports are the files that soak writes besides its report.
var soakReports = []fileReport[*judged]{
	{"history", "write the history of the first round with a problem, or else of the last, to this file, as JSON Lines", func(w io.Writer, j *judged) error {
		return history.Encode(w, j.History)
	}},
}

func newSoak() *cobra.Command {
	var o soak.Options
	var servers int
	var kinds []string
	files := outputs{fileReports: fileReportsOf(soakReports)}
	var force bool
	cmd := &cobra.Command{
		Use:   "soak [FILE]",
		Short: "Run locks on real redis-servers for minutes, under random faults",
		Long:  soakHelp,
		Example: `  redlocksim soak
  redlocksim soak our-settings.yaml --duration 1h --clients 500
  redlocksim soak --faults node-kill,client-kill --history last-round.jsonl`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			o.Settings = soak.Default()
			if len(args) > 0 {
				var err error
				if o.Settings, err = scenarios.LoadSettings(args[0]); err != nil {
					return &failure{exitUsage, err}
				}
			}
			if cmd.Flags().Changed("servers") || len(args) == 0 {
				o.Settings.Nodes.Names = strings.Split("ABCDEFGHIJKLMNOPQRSTUVWXYZ"[:servers], "")
			}
			if cmd.Flags().Changed("faults") {
				o.Faults = []soak.Fault{}
				for _, k := range kinds {
					o.Faults = append(o.Faults, soak.Fault(k))
				}
			}
			files.sink = newSink(cmd, force, args...)
			if err := files.sink.check(files.targets()...); err != nil {
				return err
			}
			return runSoak(cmd, o, &files)
		},
	}
	f := cmd.Flags()
	f.DurationVar(&o.Duration, "duration", 2*time.Minute, "how long to inject faults; each round takes a little longer")
	f.DurationVar(&o.Round, "round", 20*time.Second, "length of a round, after which faults end and the history is judged")
	f.IntVar(&servers, "servers", 5, "number of redis-servers, unless the settings file says")
	f.IntVar(&o.Clients, "clients", 200, "number of clients that ask for locks at the same time")
	f.IntVar(&o.Goroutines, "goroutines", 1, "number of goroutines of each client; they queue inside it")
	f.IntVar(&o.Processes, "processes", 0, "number of client processes (default one per 25 clients)")
	f.IntVar(&o.Locks, "locks", 0, "number of locks (default one per 8 goroutines)")
	f.Uint64Var(&o.Seed, "seed", 0, "random seed of faults and work; runs on real processes still differ")
	f.StringSliceVar(&kinds, "faults", nil, "inject only these: "+list(soak.Faults())+" (default all that the settings allow)")
	addForce(f, &force)
	files.addFlags(f)
	return cmd
}

// soak soaks and tells what came of it.
func runSoak(cmd *cobra.Command, o soak.Options, files *outputs) error {
	ctx, kill := context.WithCancel(cmd.Context())
	defer kill()
	stop := make(chan struct{})
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	defer signal.Stop(signals)
	go func() {
		select {
		case <-signals:
			close(stop)
			fmt.Fprintln(cmd.ErrOrStderr(), "redlocksim: ending the faults and judging what was recorded; interrupt again to stop at once")
		case <-ctx.Done():
			return
		}
		select {
		case <-signals:
			kill()
		case <-ctx.Done():
		}
	}()
	o.Stop = stop
	begin := time.Now()
	s, err := soak.Run(ctx, o, func(s *soak.Result) {
		fmt.Fprintf(cmd.ErrOrStderr(), "round %d, %v: %d grants, %s\n", s.Rounds, time.Since(begin).Round(time.Second), s.Grants, outcome(s))
	})
	switch {
	case ctx.Err() != nil:
		return &failure{exitUsage, errInterrupted}
	case errors.Is(err, soak.ErrInvalid) || errors.Is(err, live.ErrNoServer) || errors.Is(err, live.ErrNoCompiler):
		return &failure{exitUsage, err}
	case err != nil:
		return wrap(err)
	}
	if err := soakreport.Write(files.report(cmd), s, time.Since(begin)); err != nil {
		return wrap(err)
	}
	if err := files.write(&judged{Result: &scenarios.Result{Outcome: &scenarios.Outcome{History: s.History}}}); err != nil {
		return err
	}
	return ending(codeOf(s))
}

func outcome(s *soak.Result) string {
	switch codeOf(s) {
	case exitOK:
		return "as expected"
	case exitNotTested:
		return "not tested"
	}
	return "NOT AS EXPECTED"
}
