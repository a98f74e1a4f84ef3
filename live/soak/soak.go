// Package soak lets many goroutines take locks on redis-server processes for minutes, while faults are injected at random
// within the budget of the settings. It goes in rounds, each of which is a scenario that is drawn and then run on tier live:
// the checkers must find nothing in its history, and when the faults have ended every lock must be granted in time. A program
// that uses Run must call Client of package live when it is started as its Options say.
package soak

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"redlocksim/faults"
	"redlocksim/internal/rounded"
	"redlocksim/live"
	"redlocksim/scenarios"
	"redlocksim/scenarios/verdict"
	"redlocksim/sim/history"
)

// Options say what to soak. The zero value of each number is the default.
type Options struct {
	// Settings are the lock, the nodes and the budget; nil is Default.
	Settings *scenarios.Scenario
	// Duration is for how long faults are injected, without what follows in each round; 2m. Round is for how long they are in
	// one; 20s.
	Duration, Round time.Duration
	// Clients is how many client processes there are; 8. Goroutines is how many goroutines of a client use a lock at a time; 8.
	// Locks is how many locks there are; 16.
	Clients, Goroutines, Locks int
	// Seed is what rounds are drawn from. Runs with the same seed still differ, as live runs are not deterministic.
	Seed uint64
	// Live is how rounds are run; their speed is 1.
	Live live.Options
}

// Result is what came of the rounds so far.
type Result struct {
	Rounds, Grants, Events int
	// Injected is how often each kind of fault was injected.
	Injected map[string]int
	// Recovery is the longest time for which a lock was asked for when the faults had ended, and Within what it may be.
	Recovery, Within time.Duration
	// Unavailable is the longest time for which somebody asked for a lock and nobody held it, faults included.
	Unavailable time.Duration
	// Problems is empty if nothing is wrong, and enough happened to show it.
	Problems []verdict.Problem
	// History is that of the first round with a problem, or of the last one.
	History history.History
}

// Run runs rounds until faults were injected for the whole duration. progress, if not nil, is called after each. When ctx ends
// it returns the rounds that are over, and an error that matches that of ctx; other errors are those of live.Run.
func Run(ctx context.Context, o Options, progress func(*Result)) (*Result, error) {
	o.Settings = cmp.Or(o.Settings, Default())
	o.Duration, o.Round = cmp.Or(o.Duration, 2*time.Minute), cmp.Or(o.Round, 20*time.Second)
	o.Clients, o.Goroutines, o.Locks = cmp.Or(o.Clients, 8), cmp.Or(o.Goroutines, 8), cmp.Or(o.Locks, 16)
	o.Live.Speed = 1
	r := &Result{Injected: map[string]int{}, Within: takeableWithin(o.Settings)}
	for left := o.Duration; left > 0; left -= o.Round {
		o.Round = min(o.Round, left)
		round, err := live.Run(ctx, o.scenario(r.Rounds+1), o.Live)
		if err != nil {
			return r, err
		}
		r.add(round)
		if progress != nil {
			progress(r)
		}
	}
	if len(r.Injected) == 0 {
		r.problem(verdict.NotTested, "no fault was injected")
	}
	return r, nil
}

// OK reports that nothing is wrong, and that enough happened to show it.
func (r *Result) OK() bool { return len(r.Problems) == 0 }

// Has reports whether there is a problem of the class.
func (r *Result) Has(c verdict.Class) bool {
	return slices.ContainsFunc(r.Problems, func(p verdict.Problem) bool { return p.Class == c })
}

func (r *Result) problem(c verdict.Class, format string, args ...any) {
	r.Problems = append(r.Problems, verdict.Problem{Class: c, Text: fmt.Sprintf(format, args...)})
}

// add adds a round. That a fault which was drawn could not be injected any more, or a client had crashed that was to do
// something, is no problem of a soak; that nobody was granted anything is.
func (r *Result) add(round *verdict.Result) {
	r.Rounds++
	wasOK := r.OK()
	for _, p := range round.Problems {
		if p.Class != verdict.NotTested {
			r.problem(p.Class, "round %d: %s", r.Rounds, p.Text)
		}
	}
	if round.Report.Grants == 0 {
		r.problem(verdict.NotTested, "round %d: nobody was granted a lock", r.Rounds)
	}
	r.Grants += round.Report.Grants
	r.Events += len(round.History)
	r.Unavailable = max(r.Unavailable, round.Measured().Unavailable.For)
	for i := range round.History {
		e := &round.History[i]
		if _, isFault := faults.Find(e.Name); e.Kind == history.Crash || e.Kind == history.Fault && isFault {
			r.Injected[cmp.Or(e.Name, "crash")]++
		}
	}
	class := verdict.Liveness
	if round.Disturbed {
		class = verdict.NotTested
	}
	recovered := recovery(round)
	for _, lock := range round.Scenario.Resources {
		took, asked := recovered[lock]
		r.Recovery = max(r.Recovery, took)
		switch {
		case !asked:
			r.problem(verdict.NotTested, "round %d: nobody asked for %s when the faults had ended", r.Rounds, lock)
		case took > r.Within:
			r.problem(class, "round %d: %s was asked for for %v when the faults had ended, expected to be granted within %v",
				r.Rounds, lock, took, r.Within)
		}
	}
	if wasOK {
		r.History = round.History
	}
}

// recovery is for how long the first client asked for each lock when all was over, granted or not.
func recovery(round *verdict.Result) map[string]time.Duration {
	s := round.Scenario
	over, took := s.Timeline[len(s.Timeline)-1].When.At, map[string]time.Duration{}
	asked := map[int]int64{} // by operation
	for i := range round.History {
		switch e := &round.History[i]; {
		case e.Process != s.Clients[0] || e.Func != history.Acquire:
		case e.Kind == history.Call && time.Duration(e.Time) >= over:
			asked[e.Op], took[e.Resource] = e.Time, s.Duration-time.Duration(e.Time)
		case e.Kind == history.Return && asked[e.Op] != 0:
			if took[e.Resource] = time.Duration(e.Time - asked[e.Op]); e.Outcome != history.OK {
				took[e.Resource] = s.Duration
			}
		}
	}
	return took
}

// String is the figures, and what was wrong, for people.
func (r *Result) String() string {
	var injected []string
	for _, k := range faults.Vocabulary() {
		if n := r.Injected[k.Name]; n > 0 {
			injected = append(injected, fmt.Sprintf("%s %d", k.Name, n))
		}
	}
	b := &strings.Builder{}
	fmt.Fprintf(b, "rounds     %d, with %d events and %d grants\n", r.Rounds, r.Events, r.Grants)
	fmt.Fprintf(b, "faults     %s\n", strings.Join(injected, ", "))
	fmt.Fprintf(b, "available  clients asked for at most %v for a lock that nobody was using, faults included\n", rounded.Duration(r.Unavailable))
	fmt.Fprintf(b, "recovery   locks were granted within %v when the faults had ended (limit %v)\n", rounded.Duration(r.Recovery), r.Within)
	if r.OK() {
		fmt.Fprintf(b, "\nas expected\n")
	}
	for _, p := range r.Problems {
		label := "NOT AS EXPECTED"
		if p.Class == verdict.NotTested {
			label = verdict.NothingTested
		}
		fmt.Fprintf(b, "\n%s: %s\n", label, p.Text)
	}
	return b.String()
}
