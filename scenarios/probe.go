package scenarios

import (
	"context"
	"errors"
	"time"

	"redlocksim/scenarios/protocols"
	"redlocksim/sim/kernel"
	"redlocksim/sim/network"
)

// prober is the client that asks. No file can name one so.
const prober = "(probe)"

// Probe makes the run again up to a moment, and then has one more client ask for a lock over links that take no time. The error
// is why it was refused.
func (s *Scenario) Probe(o Options, resource string, at kernel.True) error {
	o = Options{Tier: o.Tier, Seed: o.Seed, Unhashed: true}
	w, err := s.newWorld(&o)
	if err != nil {
		return err
	}
	defer w.Close()
	if _, err := s.start(w, o); err != nil {
		return err
	}
	w.Kernel.Run(at)
	p := w.Kernel.NewProcess(prober, s.Lock.Clock)
	w.Connect(p)
	w.Network.Each(func(l *network.Link) {
		if l.Client() == p {
			l.SetLatency(network.Both, network.Latency{})
		}
	})
	lock := s.asks()
	protocol, _ := protocols.Find(lock.Protocol)
	locker, err := protocol.New(protocols.Env{Host: protocols.Simulate(w, p), Settings: lock,
		Step:       func(context.Context, protocols.Step) {},
		Believe:    func(context.Context, time.Time) {},
		Disbelieve: func(context.Context, string) {},
		Thread:     func(context.Context) int { return 1 },
		Attempt:    func(context.Context, int) {}})
	if err != nil {
		return err
	}
	err = errNoAnswer
	p.Go(func() { _, err = locker.TryLock(context.Background(), resource, lock.TTL) })
	w.Kernel.Run(at.Add(time.Duration(2*len(w.Servers)) * lock.NodeTimeout))
	return err
}

var errNoAnswer = errors.New("no answer")

// asks is the lock with which a probe asks: one that needs as many votes as the scenario's, and has no habit of its own. Only
// the library knows how to ask nodes with a restart guard. Since its links take no time it does not wait for nodes that are
// down: one that did could come too late, where the timeout is as long as the TTL.
func (s *Scenario) asks() protocols.Settings {
	if protocols.Of[protocols.RedlockSettings](s.Lock).Guard != nil {
		lock := s.Lock
		lock.NodeTimeout = time.Millisecond
		return lock
	}
	quorum, votes := s.Lock.Votes(len(s.Nodes.Names))
	lock := protocols.Default().With("redlock-plain")
	if !votes {
		lock = lock.With("single")
	}
	lock.TTL, lock.NodeTimeout = s.Lock.TTL, time.Millisecond
	protocols.Change(&lock, func(own *protocols.QuorumSettings) { own.Quorum = quorum })
	protocols.Change(&lock, func(own *protocols.DriftSettings) { own.Drift = protocols.Drift{} })
	return lock
}
