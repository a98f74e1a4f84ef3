//go:build linux

package live

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"redlocksim/faults"
	"redlocksim/internal/faketime"
	"redlocksim/internal/redisproc"
)

// Soak lets many clients take locks on redis-servers while servers, clients and the network fail at random, within the
// settings. It goes in rounds. After each the faults end, every lock must be takeable within a bound, the nodes must be left
// without any lock's key, and the history of the round is checked. At the end the client processes close everything, and no
// goroutine and no connection may be left.
//
// It returns early, with an error that matches ctx's, when ctx ends; Stop ends it in order. Whatever happens, no process and
// no file is left. For what cannot be soaked the error matches ErrSoak, ErrNoServer or ErrNoCompiler; any other is an internal
// error.
func Soak(ctx context.Context, o SoakOptions) (result *Soaked, err error) {
	if o, err = o.filled(); err != nil {
		return nil, err
	}
	on, err := newTestbed(1, o.Client)
	if err != nil {
		return nil, err
	}
	s := &soak{testbed: on, SoakOptions: o, lives: make([]int, o.Processes), result: &Soaked{
		Options:  o,
		Takeable: Bounded{Within: takeableWithin(o.Settings)},
		Cleared:  Bounded{Within: votesEnd(o.Settings)},
	}}
	defer func() { err = errors.Join(err, s.close()) }()
	if err := s.setUp(ctx); err != nil {
		return nil, err
	}
	for left := o.Duration; left > 0 && !s.isStopped(); left -= o.Round {
		if err := s.round(ctx, min(o.Round, left)); err != nil {
			return nil, err
		}
		if o.Progress != nil {
			o.Progress(s.result)
		}
	}
	if err := s.leave(ctx); err != nil {
		return nil, err
	}
	s.result.finish()
	return s.result, nil
}

// soak is a soak under way.
type soak struct {
	*testbed
	SoakOptions
	roles  []*soakRole
	lives  []int // how many processes each role has had
	random *rand.Rand
	start  int64 // CLOCK_MONOTONIC at the beginning of the round
	rounds int
	result *Soaked
}

func (s *soak) isStopped() bool {
	select {
	case <-s.Stop:
		return true
	default:
		return false
	}
}

// setUp starts everything.
func (s *soak) setUp(ctx context.Context) error {
	settings, err := asScenario(s.Settings)
	if err != nil {
		return err
	}
	nodes := s.Settings.Nodes
	if err := s.addServers(ctx, nodes.Names, nodes.Persistence, slices.Contains(s.Faults, PowerLoss)); err != nil {
		return err
	}
	var locks []string
	for i := range s.Locks {
		locks = append(locks, fmt.Sprintf("lock-%d", i+1))
	}
	for i := range s.Processes {
		r := &soakRole{Name: fmt.Sprintf("P%d", i+1), Clients: s.Clients / s.Processes, Goroutines: s.Goroutines, Locks: locks,
			Settings: settings, Seed: s.Seed}
		if i < s.Clients%s.Processes {
			r.Clients++
		}
		for _, x := range s.servers {
			addr, err := s.link(r.Name, x.name, x.addr)
			if err != nil {
				return err
			}
			r.Nodes = append(r.Nodes, addr)
		}
		s.roles = append(s.roles, r)
		s.clients = append(s.clients, nil)
		if i == 0 {
			s.start = faketime.MachineTime()
		}
		if err := s.enter(i); err != nil {
			return err
		}
		if err := s.ready(ctx, s.clients[i]); err != nil {
			return err
		}
	}
	return nil
}

// round injects faults for a while, ends them, and checks what came of it.
func (s *soak) round(ctx context.Context, length time.Duration) error {
	s.rounds++
	s.random = rand.New(rand.NewPCG(s.Seed, uint64(s.rounds)))
	s.field = faults.NewField(ground{s.testbed})
	if s.rounds > 1 { // in the first one the clients work as soon as they start
		s.start = faketime.MachineTime()
		s.orderAll(order{Work: true})
	}
	s.after(faketime.MachineTime(), s.upTo(pauseBetweenFaults), s.injectNext)
	if err := s.until(ctx, faketime.MachineTime()+int64(length), s.isStopped); err != nil {
		return err
	}
	s.field.Heal()
	forever := faketime.MachineTime() + int64(time.Hour)
	// Servers that were to stay down for a while do, and clients that were killed are replaced.
	if err := s.until(ctx, forever, s.isWhole); err != nil {
		return err
	}
	ended := faketime.MachineTime()
	s.orderAll(order{Rest: true})
	within := s.result.Takeable.Within + machineAllowance // to measure by how much the bound is missed
	for i := range s.Locks {
		c := s.clients[i%s.Processes]
		c.taking++
		c.send(order{Take: s.roles[0].Locks[i], Within: within})
	}
	if err := s.until(ctx, faketime.MachineTime()+int64(within+s.Settings.Lock.TTL+redisproc.Patience), s.isAtRest); err != nil {
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

// orderAll sends an order to all processes.
func (s *soak) orderAll(o order) {
	for _, c := range s.clients {
		c.rested = false
		c.send(o)
	}
}

// isWhole reports that every server and every client process runs.
func (s *soak) isWhole() bool {
	for _, x := range s.servers {
		if x.process == nil {
			return false
		}
	}
	for _, c := range s.clients {
		if c.process == nil {
			return false
		}
	}
	return true
}

func (s *soak) isAtRest() bool {
	for _, c := range s.clients {
		if !c.rested || c.taking > 0 {
			return false
		}
	}
	return true
}

// enter starts a process for a role. Each process of a role has clients of other names.
func (s *soak) enter(i int) error {
	s.lives[i]++
	r := *s.roles[i]
	r.Index = s.lives[i]*s.Processes + i
	r.Name = lifeName(r.Name, s.lives[i])
	c, err := s.startClient(s.roles[i].Name, order{Soak: &r})
	if err != nil {
		return err
	}
	s.clients[i] = c
	return nil
}
