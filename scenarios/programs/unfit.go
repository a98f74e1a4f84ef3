package programs

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"redlocksim/faults"
	"redlocksim/lockprogram/lines"
	"redlocksim/scenarios"
	"redlocksim/scenarios/protocols"
	"redlocksim/sim/kernel"
)

// ErrUnfit is what Unfit's errors match.
var ErrUnfit = errors.New("does not apply to the lock")

// protocolsOfOneLock are those whose scenarios ask no more of a lock than mutual exclusion, whatever it is.
var protocolsOfOneLock = []protocols.Name{"redlock", "single", "one-redis"}

// Unfit is why a scenario says nothing about the lock, as an error that matches ErrUnfit; nil if it does.
func (a *About) Unfit(s *scenarios.Scenario) error {
	why := a.unfit(s)
	back := s.Budget.RestartDelay
	why.add(s.Recorded == nil && back != nil && 0 < *back && *back < s.Lock.TTL && s.Claim == scenarios.Holds,
		"its nodes forget and are back sooner than a TTL, as the library's arithmetic alone allows")
	return why.err(s)
}

// UnfitAtAnyBudget is Unfit for somebody who answers for the budget, however little of it the lock can bear.
func (a *About) UnfitAtAnyBudget(s *scenarios.Scenario) error { return a.unfit(s).err(s) }

// unfit is why a scenario says nothing about the lock, but for its budget.
func (a *About) unfit(s *scenarios.Scenario) (why reasons) {
	isIts := slices.Contains(protocolsOfOneLock, s.Lock.Protocol) || slices.Contains(a.Protocols, string(s.Lock.Protocol))
	why.add(!isIts, "it is about protocol %s", s.Lock.Protocol)
	why.add(s.Lock.Preset != "", "it is about preset %s", s.Lock.Preset)
	why.add(s.Lock.Clock != kernel.Monotonic, "it has clients that measure validity by another clock than the monotonic one")
	why.add(s.StepTime.Max() > 0, "it has code take time, which a program's does not in the simulator")
	var own map[string]any
	if text := s.Lock.JSON(1); text != nil {
		_ = json.Unmarshal(text, &own) // it is an object
	}
	for _, key := range slices.Sorted(maps.Keys(own)) {
		why.add(!a.Reads(key), "it sets %s, which the program does not read", key)
	}
	a.unable(s, &why)
	return why
}

// Unable is why the lock cannot do what the clients of a scenario do, as an error that matches ErrUnfit; nil if it can.
func (a *About) Unable(s *scenarios.Scenario) error {
	var why reasons
	a.unable(s, &why)
	return why.err(s)
}

// Reads says whether the program reads a key of a scenario's lock.
func (a *About) Reads(key string) bool {
	return slices.Contains([]string{"ttl", "node-timeout"}, key) || slices.Contains(a.Settings, key)
}

// reasons are why a scenario does not apply.
type reasons []string

func (r *reasons) add(is bool, format string, args ...any) {
	if text := fmt.Sprintf(format, args...); is && !slices.Contains(*r, text) {
		*r = append(*r, text)
	}
}

func (r reasons) err(s *scenarios.Scenario) error {
	if r == nil {
		return nil
	}
	return fmt.Errorf("%s %w: %s", s.Name, ErrUnfit, strings.Join(r, "; "))
}

// unable adds why the moments of a scenario do not come, or its steps cannot be made.
func (a *About) unable(s *scenarios.Scenario, why *reasons) {
	library, _ := protocols.Find(s.Lock.Protocol)
	moment := func(m *faults.Moment) {
		why.add(m != nil && slices.Contains(library.Steps, m.Event), "it waits for %s, a step that the program does not tell of", momentName(m))
	}
	inTransaction := protocols.Of[protocols.DBRowSettings](s.Lock).Effects == protocols.InTransaction
	why.add(inTransaction && !a.can(lines.Transact), "it reads and writes in the transaction that has the lock, which the program does not do")
	for i := range s.Expect.Reached {
		r := &s.Expect.Reached[i]
		moment(&r.Moment)
		moment(r.After)
		moment(r.Before)
	}
	for i := range s.Timeline {
		item := &s.Timeline[i]
		moment(item.When.After)
		if item.Fault != nil {
			_, starves := item.Fault.(*faults.Entropy)
			why.add(starves, "it takes the random bytes away, which ends a WebAssembly program")
		}
		for j := range item.Do {
			a.cannot(s, item, &item.Do[j], why.add)
		}
	}
}

func momentName(m *faults.Moment) string {
	if m == nil {
		return ""
	}
	return m.Event
}

// cannot adds why a step cannot be made.
func (a *About) cannot(s *scenarios.Scenario, item *scenarios.Item, step *scenarios.Step, add func(is bool, format string, args ...any)) {
	c := &step.Calling
	extends := step.Kind == scenarios.ExtendStep || step.Kind == scenarios.RenewStep && !a.Renews()
	add(extends && !a.can(lines.Extend), "it extends leases, which the lock cannot")
	add(step.Kind == scenarios.LingerStep && a.can(lines.Warn), "it stops a moment before the lock warns, which nobody knows before")
	add(step.Kind == scenarios.PrepareStep && !a.can(lines.Prepare), "it prepares the nodes, which the lock does not do")
	add(step.Kind == scenarios.CloseStep && !a.can(lines.Close), "it closes the client, which the lock cannot")
	add(step.Kind == scenarios.WithLockStep || c.Period != 0 || c.Limit != 0 || c.MaxTime != 0 || c.Meanwhile != 0 || c.Panics, "it has the lock renew itself")
	add((c.Within != nil || c.Cancel != nil) && !a.can(lines.Cancel), "it gives calls up, which the lock cannot")
	add(c.LeaseContext, "it makes calls in the context of a lease")
	add(step.AsksReleased(), "it uses a lock that was released")
	add(len(item.Taken(step, s.Resources)) > 1, "it takes one lock on several resources")
	add(s.TakesPermits(), "it takes permits of a semaphore")
}
