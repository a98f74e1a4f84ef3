//go:build linux

package soak

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"redlocksim/internal/faketime"
	"redlocksim/internal/redisproc"
	"redlocksim/live/internal/messages"
	"redlocksim/live/internal/testbed"
)

// Run lets many clients take locks on redis-servers while servers, clients and the network fail at random, within the
// settings. It goes in rounds. After each the faults end, every lock must be takeable within a bound, the nodes must be left
// without any lock's key, and the history of the round is checked. At the end the client processes close everything, and no
// goroutine and no connection may be left. progress, if not nil, is called when a round is over.
//
// It returns early, with an error that matches ctx's, when ctx ends; Stop ends it in order. Whatever happens, no process and
// no file is left. For what cannot be soaked the error matches ErrInvalid, or ErrNoServer or ErrNoCompiler of package live;
// any other is an internal error.
func Run(ctx context.Context, o Options, progress func(*Result)) (result *Result, err error) {
	if o, err = o.filled(); err != nil {
		return nil, err
	}
	on, err := testbed.New(1, o.Client)
	if err != nil {
		return nil, err
	}
	s := &run{Testbed: on, options: o, result: &Result{
		Options:  o,
		Takeable: Bounded{Within: takeableWithin(o.Settings)},
		Cleared:  Bounded{Within: votesEnd(o.Settings)},
	}}
	on.OnNotice = s.notice
	defer func() { err = errors.Join(err, s.Close()) }()
	if err := s.setUp(ctx); err != nil {
		return nil, err
	}
	for left := o.Duration; left > 0 && !s.isStopped(); left -= o.Round {
		if err := s.round(ctx, min(o.Round, left)); err != nil {
			return nil, err
		}
		if progress != nil {
			progress(s.result)
		}
	}
	if err := s.leave(ctx); err != nil {
		return nil, err
	}
	s.result.finish()
	return s.result, nil
}

func (s *run) isStopped() bool {
	select {
	case <-s.options.Stop:
		return true
	default:
		return false
	}
}

// setUp starts everything.
func (s *run) setUp(ctx context.Context) error {
	o := &s.options
	settings, err := asScenario(o.Settings)
	if err != nil {
		return err
	}
	nodes := o.Settings.Nodes
	if err := s.AddServers(ctx, nodes.Names, nodes.Persistence, string(nodes.Forbidden), slices.Contains(o.Faults, PowerLoss)); err != nil {
		return err
	}
	var locks []string
	for i := range o.Locks {
		locks = append(locks, fmt.Sprintf("lock-%d", i+1))
	}
	for i := range o.Processes {
		r := &messages.SoakRole{Name: fmt.Sprintf("P%d", i+1), Clients: o.Clients / o.Processes, Goroutines: o.Goroutines,
			Locks: locks, Settings: settings, Seed: o.Seed}
		if i < o.Clients%o.Processes {
			r.Clients++
		}
		for _, x := range s.Servers {
			addr, err := s.Link(r.Name, x.Name, x.Addr)
			if err != nil {
				return err
			}
			r.Nodes = append(r.Nodes, addr)
		}
		s.slots = append(s.slots, &slot{role: r})
		s.Clients = append(s.Clients, nil)
		if i == 0 {
			s.start = faketime.MachineTime()
		}
		if err := s.enter(i); err != nil {
			return err
		}
		if err := s.Clients[i].Ready(ctx); err != nil {
			return err
		}
	}
	return nil
}

// round injects faults for a while, ends them, and checks what came of it.
func (s *run) round(ctx context.Context, length time.Duration) error {
	s.rounds++
	s.random = rand.New(rand.NewPCG(s.options.Seed, uint64(s.rounds)))
	s.field = testbed.NewField(s.Testbed)
	if s.rounds > 1 { // in the first one the clients work as soon as they start
		s.start = faketime.MachineTime()
		s.orderAll(messages.Order{Work: true})
	}
	s.After(faketime.MachineTime(), s.upTo(pauseBetweenFaults), s.injectNext)
	if err := s.Until(ctx, faketime.MachineTime()+int64(length), s.isStopped); err != nil {
		return err
	}
	s.field.Heal()
	forever := faketime.MachineTime() + int64(time.Hour)
	// Servers that were to stay down for a while do, and clients that were killed are replaced.
	if err := s.Until(ctx, forever, s.isWhole); err != nil {
		return err
	}
	ended := faketime.MachineTime()
	s.orderAll(messages.Order{Rest: true})
	within := s.result.Takeable.Within + machineAllowance // to measure by how much the bound is missed
	s.orderTakes(within)
	end := faketime.MachineTime() + int64(within+s.options.Settings.Lock.TTL+redisproc.Patience)
	if err := s.Until(ctx, end, s.isAtRest); err != nil {
		return err
	}
	if !s.isAtRest() {
		return errors.New("live: clients that were told to rest still work")
	}
	if err := s.clear(ctx); err != nil {
		return err
	}
	return s.judge(ended)
}
