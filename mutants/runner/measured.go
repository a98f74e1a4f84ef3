package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"os/signal"
	"slices"
	"strconv"
	"sync"
	"syscall"
	"time"

	"redlocksim/internal/exitcode"
	"redlocksim/mutants"
	"redlocksim/scenarios"
	"redlocksim/search/experiment"
	"redlocksim/search/random"
)

const (
	// scenarioLimit and chunkLimit are how much processor time a scenario or a chunk of a search may take: ten times as much as
	// any does.
	scenarioLimit = 20 * time.Second
	chunkLimit    = 30 * time.Second
	// chunk is how many experiments a search makes with one seed and one of several settings before it goes on with the next:
	// fewer if they take more than a fair share of its time.
	chunk = 500
)

// suite runs the scenarios, or those that are named, as the command of that name does, one after the other.
func suite(names ...string) {
	all := scenarios.Catalogue()
	if len(names) > 0 {
		all = slices.DeleteFunc(slices.Clone(all), func(s *scenarios.Scenario) bool { return !slices.Contains(names, s.Name) })
		if len(all) != len(names) {
			fail(misused, fmt.Sprintf("no such scenario: %v", names))
		}
	}
	for _, s := range all {
		fmt.Println(s.Name) // the last line is what a process was doing that ended in any way
		limit(scenarioLimit)
		results, err := scenarios.Suite(context.Background(), []*scenarios.Scenario{s}, scenarios.Tiers(), nil, scenarios.Options{}, nil)
		if err != nil {
			failed(err)
		}
		for _, r := range results {
			if len(r.Problems) == 0 {
				continue
			}
			if r.Err != nil {
				failed(r.Err)
			}
			fmt.Printf("%s on %s\n", s.Name, r.Tier)
			fail(code(r), r.Problems)
		}
	}
}

// code is the exit code for what a scenario came to.
func code(r *scenarios.Result) exitcode.Code {
	switch {
	case r.Has(scenarios.Safety):
		return exitcode.Safety
	case r.Has(scenarios.Liveness):
		return exitcode.Liveness
	case len(r.Problems) > 0:
		return exitcode.NotTested
	}
	return exitcode.OK
}

// explore searches for so many seconds of processor time: with all settings in turn, and a seed for each round, or without
// settings as the command does.
func explore(seconds string) {
	n, err := strconv.Atoi(seconds)
	if err != nil {
		fail(misused, err)
	}
	enough := time.Duration(n) * time.Second
	text, err := io.ReadAll(os.Stdin)
	if err != nil {
		fail(misused, err)
	}
	if len(text) == 0 {
		swarm(enough)
		return
	}
	var all []mutants.Settings
	if err := json.Unmarshal(text, &all); err != nil {
		fail(misused, err)
	}
	var bases []*scenarios.Scenario
	for _, s := range all {
		base, err := scenarios.ParseSettings("settings", []byte(s.Text))
		if err != nil {
			fail(misused, err)
		}
		bases = append(bases, base)
	}
	share := enough / time.Duration(len(all))
	for seed := uint64(0); ; seed++ {
		for i, base := range bases {
			if used() >= enough {
				return
			}
			fmt.Printf("%s, seed %d\n", all[i].Name, seed)
			limit(chunkLimit)
			hit, err := random.First(until(min(enough, used()+share)), experiment.NewSpace(base), seed, chunk, all[i].Known...)
			if !errors.Is(err, errEnough) {
				told(hit, err, fmt.Sprintf("%s, seed %d, run %d", all[i].Name, seed, hit.Run))
			}
		}
	}
}

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

// swarm makes one search, which learns from its runs until its time is up.
func swarm(enough time.Duration) {
	limit(enough + chunkLimit)
	space := experiment.NewSpace(experiment.DefaultBase())
	space.Swarm = true
	fmt.Println("a run")
	hit, err := random.First(until(enough), space, 0, math.MaxInt)
	if errors.Is(err, errEnough) {
		return
	}
	told(hit, err, fmt.Sprintf("run %d", hit.Run))
}

var errEnough = errors.New("the search has had its time")

// told ends the process if a search has found something, in a run that is named.
func told(hit random.FirstViolation, err error, run string) {
	if err != nil {
		failed(err)
	}
	if hit.Run > 0 {
		fmt.Printf("%s: %v\n", run, hit.Kinds)
		fail(exitcode.Safety, hit.Kinds)
	}
}

// used is the processor time that this process has used.
func used() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		failed(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// limit ends the process when it uses more than so much processor time from now on.
func limit(more time.Duration) {
	endOverLimit()
	var l syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_CPU, &l); err != nil {
		failed(err)
	}
	l.Cur = min(uint64((used()+more)/time.Second)+1, l.Max)
	if err := syscall.Setrlimit(syscall.RLIMIT_CPU, &l); err != nil {
		failed(err)
	}
}

// endOverLimit ends the process when the kernel says that it is over its limit, which Go's runtime does not by itself.
var endOverLimit = sync.OnceFunc(func() {
	over := make(chan os.Signal, 1)
	signal.Notify(over, syscall.SIGXCPU)
	go func() {
		<-over
		fail(exitcode.Internal, "SIGXCPU: it spins")
	}()
})
