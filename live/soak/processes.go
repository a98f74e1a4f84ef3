//go:build linux

package soak

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"redlocksim/faults"
	"redlocksim/live/internal/messages"
	"redlocksim/live/internal/testbed"
)

// run is a soak under way.
type run struct {
	*testbed.Testbed
	options Options
	field   *faults.Field // of the round
	slots   []*slot       // for client processes, in the order of Clients
	random  *rand.Rand
	start   int64 // CLOCK_MONOTONIC at the beginning of the round
	rounds  int
	result  *Result
}

// slot is where a client process runs. Another one is started in it when that is killed.
type slot struct {
	role   *messages.SoakRole
	lives  int                // how many processes there have been
	rested bool               // its clients are at rest
	taking int                // how many locks it is about to take
	left   *messages.Leftover // what was left when it had closed everything
}

// life is the name of the process that runs. Each has clients of other names.
func (p *slot) life() string {
	if p.lives == 1 {
		return p.role.Name
	}
	return fmt.Sprintf("%s.%d", p.role.Name, p.lives)
}

// enter starts a process in a slot.
func (s *run) enter(i int) error {
	p := s.slots[i]
	*p = slot{role: p.role, lives: p.lives + 1}
	r := *p.role
	r.Index = p.lives*s.options.Processes + i
	r.Name = p.life()
	c, err := s.StartClient(p.role.Name, messages.Order{Soak: &r})
	if err != nil {
		return err
	}
	s.Clients[i] = c
	return nil
}

// notice takes down what a process says of itself.
func (s *run) notice(c *testbed.Client, n messages.Notice) {
	i := slices.Index(s.Clients, c)
	if i < 0 { // it was replaced
		return
	}
	switch p := s.slots[i]; {
	case n.Rested:
		p.rested = true
	case n.Taken != "":
		p.taking--
	case n.Left != nil:
		p.left = n.Left
	}
}

// orderAll sends an order to all processes.
func (s *run) orderAll(o messages.Order) {
	for i, c := range s.Clients {
		s.slots[i].rested = false
		c.Send(o)
	}
}

// orderTakes has the processes take every lock once, within that time.
func (s *run) orderTakes(within time.Duration) {
	for i := range s.options.Locks {
		at := i % s.options.Processes
		s.slots[at].taking++
		s.Clients[at].Send(messages.Order{Take: s.slots[at].role.Locks[i], Within: within})
	}
}

// isWhole reports that every server and every client process runs.
func (s *run) isWhole() bool {
	for _, x := range s.Servers {
		if !x.IsUp() {
			return false
		}
	}
	for _, c := range s.Clients {
		if !c.IsUp() {
			return false
		}
	}
	return true
}

func (s *run) isAtRest() bool {
	for _, p := range s.slots {
		if !p.rested || p.taking > 0 {
			return false
		}
	}
	return true
}
