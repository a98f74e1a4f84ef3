//go:build linux

package testbed

import (
	"slices"
	"sync"

	"redlocksim/internal/faketime"
)

// Requests are when a client sent something to each node. The zero value, and nil, hold none; Testbed.Watch makes those that
// grow.
type Requests struct {
	mu sync.Mutex
	// At is CLOCK_MONOTONIC then, by node, ascending. It grows while the client has connections.
	At map[string][]int64
}

// Watch watches what a client sends over the links that it has so far, on connections that are opened from now on.
func (r *Testbed) Watch(client string) *Requests {
	sent := &Requests{At: map[string][]int64{}}
	for _, p := range r.proxies {
		if p.Client == client {
			p.Up.Watch(func() { sent.add(p.Node) })
		}
	}
	return sent
}

func (s *Requests) add(node string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.At[node] = append(s.At[node], faketime.MachineTime())
}

// To is when something was sent to a node, from one reading of CLOCK_MONOTONIC to another, both included. What is sent
// together, as a pipeline is, counts once.
func (s *Requests) To(node string, from, to int64) []int64 {
	if s == nil {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	all := s.At[node]
	first, _ := slices.BinarySearch(all, from)
	end, _ := slices.BinarySearch(all, to+1)
	return slices.Clone(all[first:max(first, end)])
}
