//go:build linux

package soak

import (
	"slices"
	"time"

	"redlocksim/faults"
	"redlocksim/internal/faketime"
	"redlocksim/sim/history"
	"redlocksim/sim/network"
)

// pauseBetweenFaults is the longest time from one fault to the next.
const pauseBetweenFaults = 500 * time.Millisecond

func (s *run) upTo(d time.Duration) time.Duration {
	return time.Duration(s.random.Int64N(int64(d) + 1))
}

// injectNext injects a random fault and plans the next one.
func (s *run) injectNext() {
	if s.field.IsHealed() {
		return
	}
	s.After(faketime.MachineTime(), s.upTo(pauseBetweenFaults), s.injectNext)
	if len(s.options.Faults) == 0 {
		return
	}
	ttl := s.options.Settings.Lock.TTL
	kind := s.options.Faults[s.random.IntN(len(s.options.Faults))]
	injected := false
	inject := func(f faults.Fault) {
		if f.Inject(s.field) == nil {
			injected = true
		}
	}
	var names []string
	for _, p := range s.slots {
		names = append(names, p.role.Name)
	}
	process := names[s.random.IntN(len(names))]
	links := faults.Links{Clients: s.some(names), Nodes: s.some(s.options.Settings.Nodes.Names),
		Direction: []network.Direction{network.Both, network.Requests, network.Replies}[s.random.IntN(3)]}
	switch kind {
	case NodeKill, PowerLoss:
		for _, node := range s.some(s.options.Settings.Nodes.Names) {
			back := s.upTo(ttl / 2)
			if delay := s.options.Settings.Budget.RestartDelay; forgetting(s.options.Settings, kind) && !guarded(s.options.Settings) {
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
		for _, node := range s.some(s.options.Settings.Nodes.Names) {
			if !s.ServerNamed(node).Paused {
				inject(&faults.Pause{Process: node, For: 1 + s.upTo(3*ttl/2)})
			}
		}
	case Cut:
		inject(&faults.Partition{Links: links, For: 1 + s.upTo(ttl)})
	case Slow:
		inject(&faults.Delay{Links: links, By: 1 + s.upTo(2*s.options.Settings.Lock.NodeTimeout), For: 1 + s.upTo(ttl)})
	case Reset:
		inject(&faults.Reset{Links: links})
	case ClientPause:
		if !s.ClientNamed(process).Stopped {
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
func (s *run) some(names []string) []string {
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

// killClient kills a process for good, and with it all its clients. Another process takes its place a while later.
func (s *run) killClient(name string) bool {
	c := s.ClientNamed(name)
	if !c.IsUp() {
		return false
	}
	i := slices.Index(s.Clients, c)
	p := s.slots[i]
	now, err := c.Crash()
	if err != nil {
		s.Fail(err)
		return false
	}
	c.Stopped = false
	s.Happened(now, history.Event{Kind: history.Fault, Name: "client-kill", Detail: p.life() + " is killed"})
	for _, worker := range p.role.Workers(p.life()) {
		s.Happened(now, history.Event{Kind: history.Crash, Process: worker})
	}
	s.After(now, s.upTo(s.options.Settings.Lock.TTL), func() {
		s.Retire(c)
		if s.Failed == nil {
			s.Fail(s.enter(i))
		}
	})
	return true
}
