//go:build linux

package testbed

import (
	"time"

	"redlocksim/faults"
	"redlocksim/internal/faketime"
	"redlocksim/sim/history"
	"redlocksim/sim/kernel"
)

// ground is the testbed as faults see it. True time is CLOCK_MONOTONIC times the speed of the run. An error of the machine ends
// the run.
type ground struct {
	*Testbed
	byWall map[string][]*wallWait // by the node
}

// NewField is a field of faults that are injected into the testbed.
func NewField(t *Testbed) *faults.Field { return faults.NewField(newGround(t)) }

func newGround(t *Testbed) ground { return ground{t, map[string][]*wallWait{}} }

// wallWait waits for a reading of a node's wall clock.
type wallWait struct{ look func() }

func (g ground) Now() kernel.True                { return kernel.True(faketime.MachineTime() * g.Speed) }
func (g ground) After(d time.Duration, f func()) { g.Loop.After(faketime.MachineTime(), d, f) }
func (g ground) Grain() time.Duration            { return time.Millisecond }
func (g ground) Record(e history.Event)          { g.Happened(faketime.MachineTime(), e) }

func (g ground) Clients() []string {
	names := make([]string, len(g.Testbed.Clients))
	for i, c := range g.Testbed.Clients {
		names[i] = c.name
	}
	return names
}

func (g ground) Nodes() []string {
	return g.serversThat(func(name string) bool { return !g.IsReplica(name) })
}
func (g ground) Replicas() []string { return g.serversThat(g.IsReplica) }

func (g ground) serversThat(are func(string) bool) (names []string) {
	for _, s := range g.Servers {
		if are(s.Name) {
			names = append(names, s.Name)
		}
	}
	return names
}

// failing ends the run with an error of the machine, if it is one.
func (g ground) failing(err error) error {
	g.fail(err)
	return err
}
