//go:build linux

package live

import (
	"slices"
	"time"

	"redlocksim/faults"
	"redlocksim/history"
	"redlocksim/internal/faketime"
	"redlocksim/sim/network"
)

// pauseBetweenFaults is the longest time from one fault to the next.
const pauseBetweenFaults = 500 * time.Millisecond

func (s *soak) upTo(d time.Duration) time.Duration {
	return time.Duration(s.random.Int64N(int64(d) + 1))
}

// injectNext injects a random fault and plans the next one.
func (s *soak) injectNext() {
	if s.field.IsHealed() {
		return
	}
	s.after(faketime.MachineTime(), s.upTo(pauseBetweenFaults), s.injectNext)
	if len(s.Faults) == 0 {
		return
	}
	ttl := s.Settings.Lock.TTL
	kind := s.Faults[s.random.IntN(len(s.Faults))]
	injected := false
	inject := func(f faults.Fault) {
		if f.Inject(s.field) == nil {
			injected = true
		}
	}
	process := s.roles[s.random.IntN(len(s.roles))].Name
	links := faults.Links{Clients: s.some(s.roleNames()), Nodes: s.some(s.Settings.Nodes.Names),
		Direction: []network.Direction{network.Both, network.Requests, network.Replies}[s.random.IntN(3)]}
	switch kind {
	case NodeKill, PowerLoss:
		for _, node := range s.some(s.Settings.Nodes.Names) {
			back := s.upTo(ttl / 2)
			if delay := s.Settings.Budget.RestartDelay; forgetting(s.Settings, kind) && !guarded(s.Settings) {
				back = *delay + s.upTo(*delay/10)
			}
			o := faults.Outage{Node: node, RestartAfter: &back}
			if kind == NodeKill {
				inject(&faults.Kill{Outage: o})
			} else {
				inject(&faults.PowerLoss{Outage: o})
			}
		}
	case NodePause:
		for _, node := range s.some(s.Settings.Nodes.Names) {
			if !s.server(node).paused {
				inject(&faults.Pause{Process: node, For: 1 + s.upTo(3*ttl/2)})
			}
		}
	case Cut:
		inject(&faults.Partition{Links: links, For: 1 + s.upTo(ttl)})
	case Slow:
		inject(&faults.Delay{Links: links, By: 1 + s.upTo(2*s.Settings.Lock.NodeTimeout), For: 1 + s.upTo(ttl)})
	case Reset:
		inject(&faults.Reset{Links: links})
	case ClientPause:
		if !s.client(process).stopped {
			inject(&faults.Pause{Process: process, For: 1 + s.upTo(2*ttl)})
		}
	case ClientKill:
		injected = s.killClient(process)
	}
	if injected {
		s.result.injected(kind)
	}
}

// some draws names: mostly one, two in a quarter of all cases, and sometimes any number.
func (s *soak) some(names []string) []string {
	n := 1
	switch p := s.random.IntN(20); {
	case p < 5:
		n = min(2, len(names))
	case p < 8:
		n = 1 + s.random.IntN(len(names))
	}
	chosen := slices.Clone(names)
	s.random.Shuffle(len(chosen), func(i, j int) { chosen[i], chosen[j] = chosen[j], chosen[i] })
	chosen = chosen[:n]
	slices.Sort(chosen)
	return chosen
}

func (s *soak) roleNames() []string {
	var names []string
	for _, r := range s.roles {
		names = append(names, r.Name)
	}
	return names
}

// killClient kills a process for good, and with it all its clients. Another process takes its place a while later.
func (s *soak) killClient(name string) bool {
	c := s.client(name)
	if c.process == nil {
		return false
	}
	i := slices.Index(s.clients, c)
	c.crash()
	c.stopped = false
	now := faketime.MachineTime()
	s.happened(now, history.Event{Kind: history.Fault, Name: "client-kill", Detail: lifeName(name, s.lives[i]) + " is killed"})
	for _, worker := range s.roles[i].workers(lifeName(name, s.lives[i])) {
		s.happened(now, history.Event{Kind: history.Crash, Process: worker})
	}
	s.after(now, s.upTo(s.Settings.Lock.TTL), func() {
		_ = c.orders.Close()
		s.gone = append(s.gone, c)
		if s.failed == nil {
			s.failed = s.enter(i)
		}
	})
	return true
}
