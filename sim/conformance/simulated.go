//go:build linux

package conformance

import (
	"context"
	"slices"
	"time"

	"redlocksim/internal/rediscmd"
	"redlocksim/redlock/driver"
	"redlocksim/sim"
	"redlocksim/sim/kernel"
	"redlocksim/sim/network"
	"redlocksim/sim/redis"
)

// simulated is a node of the simulator. Messages take no time.
type simulated struct {
	world       *sim.World
	asked       uint64
	trips       int
	subscribers map[string][]*redis.Subscription
}

func newSimulated(backend redis.Tier, of redis.Software, p redis.Persistence) *simulated {
	n := &simulated{subscribers: map[string][]*redis.Subscription{}}
	n.world = sim.NewWorld(sim.Config{
		Nodes:       []string{"A"},
		Software:    map[string]redis.Software{"A": of},
		Persistence: p,
		Clients:     []sim.ClientConfig{{Name: "c"}},
		Trace: func(s kernel.TraceStep) {
			if s.Kind == network.StepRequest {
				n.trips++
			}
		},
	}, backend)
	return n
}

func (n *simulated) client() *kernel.Process { return n.world.Clients[0] }
func (n *simulated) server() *redis.Server   { return n.world.Servers[0] }

// now is what the node's wall clock reads.
func (n *simulated) now() kernel.Wall { return n.server().Clock().Wall() }

func (n *simulated) pass(d time.Duration) { n.world.Kernel.Run(n.world.Kernel.Now().Add(d)) }

// key is one that no other request has.
func (n *simulated) key() kernel.Key {
	n.asked++
	return n.world.Kernel.Draw("conformance").With(n.asked)
}

// do runs a program of the client to its end, in no time.
func (n *simulated) do(program func(deadline time.Time)) {
	ended := false
	n.client().Go(func() {
		program(n.client().ProgramClock().Now().Add(time.Hour))
		ended = true
	})
	n.pass(0)
	if !ended {
		panic("the simulated node did not answer at once")
	}
}

func (n *simulated) request(r rediscmd.Request) (reply rediscmd.Reply) {
	n.do(func(deadline time.Time) { reply = n.world.Conns(n.client())[0].Do(n.key(), deadline, r) })
	return reply
}

func (n *simulated) call(args []string) rediscmd.Reply {
	return n.request(rediscmd.Request{Args: args})
}

func (n *simulated) script(args []string) rediscmd.Reply {
	return n.request(callingScript(args))
}

func (n *simulated) ask(c driver.Command) (reply driver.Reply, trips int) {
	n.asked++
	n.trips = 0
	c.Round, c.Deadline = int(n.asked), n.client().ProgramClock().Now().Add(time.Hour)
	c.Done = func(_ *driver.Command, r driver.Reply) { reply = r }
	n.world.Nodes(n.client())[0].Do([]*driver.Command{&c})
	n.pass(0)
	return reply, n.trips
}

func (n *simulated) subscribe(channel string) {
	n.do(func(deadline time.Time) {
		s := n.world.Subscribe(n.client(), "A", n.key(), channel)
		if err := s.Confirm(context.Background(), deadline); err != nil {
			panic(err)
		}
		n.subscribers[channel] = append(n.subscribers[channel], s)
	})
}

func (n *simulated) unsubscribe(channel string) {
	n.subscribers[channel][0].Close()
	n.subscribers[channel] = n.subscribers[channel][1:]
	n.pass(0)
}

func (n *simulated) heard(channel, last string) (all [][]string) {
	for _, s := range n.subscribers[channel] {
		n.do(func(deadline time.Time) {
			var messages []string
			for !slices.Contains(messages, last) {
				m, err := s.Next(context.Background(), deadline)
				if err != nil {
					panic(err)
				}
				messages = append(messages, m)
			}
			all = append(all, messages)
		})
	}
	return all
}

func (n *simulated) runID() string { return n.server().RunID() }

func (n *simulated) restart() {
	if err := n.server().Kill(); err != nil {
		panic(err)
	}
	if err := n.server().Restart(); err != nil {
		panic(err)
	}
	clear(n.subscribers)
	n.pass(0)
}
