//go:build linux

package soak

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"redlocksim/checker"
	"redlocksim/faults"
	"redlocksim/internal/faketime"
	"redlocksim/internal/redisproc"
	"redlocksim/live/internal/messages"
	"redlocksim/live/internal/record"
	"redlocksim/redlock/driver"
	"redlocksim/scenarios"
	"redlocksim/sim/history"
	"redlocksim/sim/redis"
)

// clear waits until no node has a lock's key any more.
func (s *run) clear(ctx context.Context) error {
	begin := faketime.MachineTime()
	for {
		var left []string
		for _, x := range s.Servers {
			known, err := x.Dump()
			if err != nil {
				return err
			}
			eternal, passing := lockKeys(known)
			for _, key := range eternal {
				s.result.problem(scenarios.Liveness, "%s on %s has no TTL: it stays for ever", key, x.Name)
				if _, err := redisproc.Ask(x.Addr, "DEL", key); err != nil {
					return err
				}
			}
			for _, key := range passing {
				left = append(left, key+" on "+x.Name)
			}
		}
		took := time.Duration(faketime.MachineTime() - begin)
		switch {
		case len(left) == 0:
			s.result.Cleared.add(took)
			return nil
		case took > s.result.Cleared.Within:
			s.result.Cleared.add(took)
			s.result.problem(scenarios.Liveness, "%v after the last client was done, there still is %s; expected none after %v",
				took, left[0], s.result.Cleared.Within)
			return nil
		}
		if err := s.Until(ctx, faketime.MachineTime()+int64(10*time.Millisecond), func() bool { return false }); err != nil {
			return err
		}
	}
}

// lockKeys are the keys of locks among those of a node, sorted: those without a TTL, and the others.
func lockKeys(known []redis.Record) (eternal, passing []string) {
	for _, r := range known {
		switch {
		case !driver.IsLockKey(r.Key):
		case r.ExpiresAt == 0:
			eternal = append(eternal, r.Key)
		default:
			passing = append(passing, r.Key)
		}
	}
	slices.Sort(eternal)
	slices.Sort(passing)
	return eternal, passing
}

// judge checks the history of the round and adds up its figures.
func (s *run) judge(ended int64) error {
	// Unless the faults kept to the budget, nothing follows from what they led to.
	if b := s.options.Settings.Budget; b.RestartDelay != nil && !guarded(s.options.Settings) {
		if over := b.Beyond(faults.Used{Lost: s.field.Used.Lost}); over != nil {
			return fmt.Errorf("live: round %d: %s", s.rounds, strings.Join(over, "; "))
		}
	}
	end := time.Duration(faketime.MachineTime() - s.start)
	h := record.Merge(s.Entries, s.start, 1, end)
	s.Entries = nil
	renumber(h)
	report, err := checker.Check(h, checker.Options{End: checker.Instant(end), Stopping: []string{}})
	if err != nil {
		return fmt.Errorf("live: round %d: %w", s.rounds, err)
	}
	s.result.add(s.rounds, h, &report, checker.Instant(ended-s.start))
	return nil
}

// renumber numbers the operations of a history from 1, in the order in which they were called.
func renumber(h history.History) {
	numbers := map[int]int{}
	number := func(op *int) {
		if *op != 0 {
			if numbers[*op] == 0 {
				numbers[*op] = len(numbers) + 1
			}
			*op = numbers[*op]
		}
	}
	for i := range h {
		number(&h[i].Op)
		number(&h[i].Grant)
	}
}

// leave makes every client process close everything, and looks for what is left: in the processes, which say so, and on the
// nodes, which count their connections.
func (s *run) leave(ctx context.Context) error {
	s.orderAll(messages.Order{Leave: true})
	haveLeft := func() bool {
		return !slices.ContainsFunc(s.slots, func(p *slot) bool { return p.left == nil })
	}
	if err := s.Until(ctx, faketime.MachineTime()+int64(3*messages.LeaveTimeout), haveLeft); err != nil {
		return err
	}
	for _, p := range s.slots {
		switch l := p.left; {
		case l == nil:
			s.result.problem(scenarios.Liveness, "%s did not close everything within %v", p.role.Name, 3*messages.LeaveTimeout)
		case l.Goroutines > 0 || l.Connections > 0 || l.Stacks != "":
			s.result.problem(scenarios.Liveness, "%s has closed everything and has %d goroutines and %d connections left\n%s",
				p.role.Name, l.Goroutines, l.Connections, l.Stacks)
		}
	}
	for _, x := range s.Servers {
		connections := 0
		for deadline := time.Now().Add(messages.LeaveTimeout); ; time.Sleep(10 * time.Millisecond) {
			info, err := redisproc.Ask(x.Addr, "INFO", "clients")
			if err != nil {
				return err
			}
			_, rest, _ := strings.Cut(info, "connected_clients:")
			if _, err := fmt.Sscan(rest, &connections); err != nil {
				return fmt.Errorf("live: %s: INFO clients: %w", x.Name, err)
			}
			// One is that of INFO itself.
			if connections <= 1 || time.Now().After(deadline) {
				break
			}
		}
		if connections > 1 {
			s.result.problem(scenarios.Liveness, "%s has %d connections left after all clients have closed theirs",
				x.Name, connections-1)
		}
	}
	return nil
}
