package soak

import (
	"fmt"
	"strings"
	"time"

	"redlocksim/checker"
	"redlocksim/internal/rounded"
	"redlocksim/scenarios"
)

// Report is the figures of a soak that took so long, and what was wrong, for people.
func (s *Result) Report(took time.Duration) string {
	b := &strings.Builder{}
	line := func(word, format string, args ...any) {
		fmt.Fprintf(b, "%-10s %s\n", word, fmt.Sprintf(format, args...))
	}
	o := &s.Options
	lock := &o.Settings.Lock
	line("settings", "%s: TTL %v, node timeout %v, %d nodes", o.Settings.Title, lock.TTL, lock.NodeTimeout, len(o.Settings.Nodes.Names))
	line("clients", "%d of %d goroutines in %d processes, on %d locks, seed %d", o.Clients, o.Goroutines, o.Processes, o.Locks, o.Seed)
	line("ran", "%v, %d rounds, %d events checked", rounded.Duration(took), s.Rounds, s.Events)
	injected := []string{}
	for _, x := range s.Injected {
		injected = append(injected, fmt.Sprintf("%s %d", x.Fault, x.Times))
	}
	line("faults", "%s; %d clients were killed", strings.Join(injected, ", "), s.Crashed)
	line("grants", "%d of %d calls, with %d attempts; %d extensions, %d leases expired", s.Grants, s.Calls, s.Attempts, s.Extensions, s.RanOut)
	line("waits", "p50 %v, p90 %v, p99 %v, longest %v", rounded.Duration(s.Wait(0.5)), rounded.Duration(s.Wait(0.9)), rounded.Duration(s.Wait(0.99)), rounded.Duration(s.Wait(1)))
	line("available", "clients asked for at most %v for a lock that nobody was using, faults included", rounded.Duration(s.Unavailable))
	if s.HasMargin {
		line("margin", "at least %v from the end of an expired lease to the next grant", rounded.Duration(s.Margin))
	}
	line("recovery", "%d grants after the faults ended, the last within %v (limit %v)", s.Takeable.Times, rounded.Duration(s.Takeable.Longest), s.Takeable.Within)
	line("keys", "all gone %v after all clients finished (limit %v)", rounded.Duration(s.Cleared.Longest), s.Cleared.Within)
	if s.Unconfirmed > 0 {
		line("unchecked", "%d times a lock had too many operations in a round for the second opinion (more than %d)", s.Unconfirmed, checker.DefaultMaxOperations)
	}
	if s.OK() {
		fmt.Fprintf(b, "\nas expected\n")
	}
	for _, p := range s.Problems {
		label := "NOT AS EXPECTED"
		if p.Class == scenarios.NotTested {
			label = scenarios.NothingTested
		}
		fmt.Fprintf(b, "\n%s: %s\n", label, p.Text)
	}
	return b.String()
}
