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

	"redlocksim/checker"
	"redlocksim/internal/exitcode"
	"redlocksim/live"
	"redlocksim/scenarios"
)

var soakHelp = `Take locks with hundreds of clients on real redis-server processes, for minutes,
while servers are killed, lose power and are stopped, the network loses, delays
and breaks, and client processes are stopped and killed, at random.

The settings are those of a scenario or settings file (lock, nodes, budget);
without one, the library's defaults with a TTL of 2s, on nodes that fsync always.
Faults stay within what the settings allow: a node that forgets comes back after
budget restart-delay, or at once where lock has the restart guard; pauses, lost
messages and killed clients cost a lock nothing but time.

The clients share some processes, and in each one connection pool a node, as in
services: a process that is stopped or killed takes many of them with it. With
--goroutines each client has several callers, which queue inside it.

It goes in rounds. When the faults of a round have ended:
  - the checkers must find no two holders in its history;
  - one client for each lock must be granted it within TTL + 1ms
    + 4 node timeouts + the longest retry delay + 2s: what was asked for last
    arrives a node timeout after the end and lasts for a TTL, and 1ms as Redis
    counts; an attempt that meets it fails and releases, a node timeout each;
    the delay passes; the next attempt is answered in a node timeout. 2s are for
    a busy machine. The restart guard adds the largest TTL and 1ms, and another
    attempt and delay;
  - no lock's key must be left on any node a TTL + 1ms + a node timeout + 2s after
    everybody was done, and none without a time to live.
When all is over, clients close what they have: no goroutine and no connection
must be left. A soak in which too little happened is not tested.

Ctrl-C ends the faults early, and what there is is judged; a second one ends
everything at once. Neither leaves a process or a file.

` + keepsFiles + `

` + exitcode.Help(exitcode.Specifics{
	exitSafety:    "two held a lock at once",
	exitUsage:     "also if there is no redis-server here",
	exitLiveness:  "a lock was not free in time, or something was left: a key, goroutine, connection",
	exitNotTested: "nothing happened that could show that two held a lock at once",
})

func newSoak() *cobra.Command {
	var o live.SoakOptions
	var servers int
	var kinds []string
	var files outputs
	var force bool
	cmd := &cobra.Command{
		Use:   "soak [FILE]",
		Short: "Take locks on real redis-servers for minutes, while everything fails at random",
		Long:  soakHelp,
		Example: `  redlocksim soak
  redlocksim soak our-settings.yaml --duration 1h --clients 500
  redlocksim soak --faults node-kill,client-kill --history last-round.jsonl`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			o.Settings = live.DefaultSoak()
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
				o.Faults = []live.Adversity{}
				for _, k := range kinds {
					o.Faults = append(o.Faults, live.Adversity(k))
				}
			}
			files.sink = newSink(cmd, force, args...)
			if err := files.check("", 1); err != nil {
				return err
			}
			return soak(cmd, o, &files)
		},
	}
	f := cmd.Flags()
	f.DurationVar(&o.Duration, "duration", 2*time.Minute, "how long faults strike; each round takes a little longer")
	f.DurationVar(&o.Round, "round", 20*time.Second, "after how long the faults end and everything is looked at, to begin again")
	f.IntVar(&servers, "servers", 5, "how many redis-servers; as many as the file says if there is one")
	f.IntVar(&o.Clients, "clients", 200, "how many clients ask for locks at the same time")
	f.IntVar(&o.Goroutines, "goroutines", 1, "how many goroutines of each client ask for locks; they queue inside it")
	f.IntVar(&o.Processes, "processes", 0, "how many processes they are in; one for 25 clients unless given")
	f.IntVar(&o.Locks, "locks", 0, "how many locks there are; one for 8 goroutines unless given")
	f.Uint64Var(&o.Seed, "seed", 0, "what faults and work are drawn from; real processes do not repeat a run")
	f.StringSliceVar(&kinds, "faults", nil, "only these: "+list(live.Adversities())+"; all that the settings allow unless given")
	addForce(f, &force)
	f.StringVar(&files.history, "history", "", "write the history of the first round with a problem, or of the last one, to this file, as JSON Lines")
	return cmd
}

// soak soaks and tells what came of it.
func soak(cmd *cobra.Command, o live.SoakOptions, files *outputs) error {
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
			fmt.Fprintln(cmd.ErrOrStderr(), "redlocksim: the faults end, and what there is is judged; once more ends everything at once")
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
	o.Progress = func(s *live.Soaked) {
		fmt.Fprintf(cmd.ErrOrStderr(), "round %d, %v: %d grants, %s\n", s.Rounds, time.Since(begin).Round(time.Second), s.Grants, outcome(s))
	}
	s, err := live.Soak(ctx, o)
	switch {
	case ctx.Err() != nil:
		return &failure{exitUsage, errInterrupted}
	case errors.Is(err, live.ErrSoak) || errors.Is(err, live.ErrNoServer) || errors.Is(err, live.ErrNoCompiler):
		return &failure{exitUsage, err}
	case err != nil:
		return &failure{exitInternal, fmt.Errorf("internal error: %w", err)}
	}
	if err := tellSoak(files.report(cmd), s, time.Since(begin)); err != nil {
		return &failure{exitInternal, err}
	}
	if err := files.write(cmd, &scenarios.Result{Outcome: &scenarios.Outcome{History: s.History}}, ""); err != nil {
		return err
	}
	if code := codeOf(s); code != exitOK {
		return &failure{code: code}
	}
	return nil
}

func outcome(s *live.Soaked) string {
	switch codeOf(s) {
	case exitOK:
		return "as expected"
	case exitNotTested:
		return "not tested"
	}
	return "NOT AS EXPECTED"
}

// tellSoak writes the figures of a soak and what was wrong.
func tellSoak(w io.Writer, s *live.Soaked, took time.Duration) error {
	b := &strings.Builder{}
	o := &s.Options
	lock := &o.Settings.Lock
	fmt.Fprintf(b, "settings   %s: TTL %v, node timeout %v, %d nodes\n", o.Settings.Title, lock.TTL, lock.NodeTimeout, len(o.Settings.Nodes.Names))
	clients := fmt.Sprintf("%d", o.Clients)
	if o.Goroutines > 1 {
		clients += fmt.Sprintf(" of %d goroutines", o.Goroutines)
	}
	fmt.Fprintf(b, "clients    %s in %d processes, on %d locks, seed %d\n", clients, o.Processes, o.Locks, o.Seed)
	fmt.Fprintf(b, "ran        %v, %d rounds, %d events judged\n", took.Round(100*time.Millisecond), s.Rounds, s.Events)
	var struck []string
	for _, x := range s.Struck {
		struck = append(struck, fmt.Sprintf("%s %d", x.Adversity, x.Times))
	}
	if struck == nil {
		struck = []string{"none"}
	}
	fmt.Fprintf(b, "faults     %s; %d clients were killed\n", strings.Join(struck, ", "), s.Crashed)
	fmt.Fprintf(b, "grants     %d of %d calls, with %d attempts; %d extensions, %d leases ran out\n", s.Grants, s.Calls, s.Attempts, s.Extensions, s.RanOut)
	round := func(d time.Duration) time.Duration { return d.Round(100 * time.Microsecond) }
	fmt.Fprintf(b, "waits      half within %v, 90 %% within %v, 99 %% within %v, all within %v\n", round(s.Wait(0.5)), round(s.Wait(0.9)), round(s.Wait(0.99)), round(s.Wait(1)))
	fmt.Fprintf(b, "available  somebody asked in vain for at most %v, faults and all\n", round(s.Unavailable))
	if s.HasMargin {
		fmt.Fprintf(b, "margin     %v from the end of a lease that ran out to the next grant\n", round(s.Margin))
	}
	fmt.Fprintf(b, "after      %d times a lock was taken again, within %v of the end of the faults, expected within %v\n", s.Takeable.Times, round(s.Takeable.Longest), s.Takeable.Within)
	fmt.Fprintf(b, "keys       none was left %v after everybody was done, expected within %v\n", round(s.Cleared.Longest), s.Cleared.Within)
	if s.Unconfirmed > 0 {
		fmt.Fprintf(b, "unchecked  %d times a lock had too many operations in a round for a second opinion (more than %d)\n", s.Unconfirmed, checker.DefaultMaxOperations)
	}
	if s.OK() {
		fmt.Fprintf(b, "\nas expected\n")
	}
	for _, p := range s.Problems {
		label := "NOT AS EXPECTED"
		if p.Class == scenarios.NotTested {
			label = "not tested"
		}
		fmt.Fprintf(b, "\n%s: %s\n", label, p.Text)
	}
	_, err := io.WriteString(w, b.String())
	return err
}
