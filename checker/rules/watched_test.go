package rules_test

import (
	"fmt"
	"testing"
	"time"

	"redlocksim/checker"
	"redlocksim/checker/rules"
	"redlocksim/internal/lockkeys"
	_ "redlocksim/internal/nofailfile"
	"redlocksim/internal/rediscmd"
	"redlocksim/scenarios/protocols"
	"redlocksim/sim"
	"redlocksim/sim/history"
	"redlocksim/sim/kernel"
	"redlocksim/sim/model"
)

// watched is a world with five nodes, A to E, and two clients, a and b, whose messages take no time, as monitors see it.
// What happens in it is said by hand.
type watched struct {
	*sim.World
	run  *rules.Run
	sent uint64
}

func watch(t *testing.T, cfg sim.Config, lock protocols.Settings) *watched {
	t.Helper()
	if cfg.Nodes == nil {
		cfg.Nodes = []string{"A", "B", "C", "D", "E"}
	}
	cfg.Clients = []sim.ClientConfig{{Name: "a"}, {Name: "b"}}
	w := sim.NewWorld(cfg, model.New())
	t.Cleanup(func() {
		if err := w.Close(); err != nil {
			t.Error(err)
		}
	})
	run := &rules.Run{World: w, Lock: lock, Resources: []string{"r", "s"}}
	w.LockOf = lockkeys.Of(nil, run.Resources).Of
	run.Watch()
	return &watched{World: w, run: run}
}

// at lets time pass up to a moment.
func (w *watched) at(t time.Duration) { w.Kernel.Run(kernel.True(t)) }

// send has a client send a command to nodes.
func (w *watched) send(client, nodes string, args ...string) {
	p := w.Client(client)
	for _, node := range nodes {
		for _, c := range w.Conns(p) {
			if c.Node() == string(node) {
				w.sent++
				key := w.Kernel.Draw("test").With(w.sent)
				p.Go(func() { c.Do(key, p.ProgramClock().Now().Add(time.Hour), rediscmd.Request{Args: args}) })
			}
		}
	}
	w.at(time.Duration(w.Kernel.Now()))
}

// set has a client set a key to its own name on nodes.
func (w *watched) set(client, nodes, key string, ttl time.Duration) {
	w.send(client, nodes, "SET", key, client, "NX", "PX", fmt.Sprint(ttl.Milliseconds()))
}

func (w *watched) del(client, nodes, key string) { w.send(client, nodes, "DEL", key) }

// granted and released are what client a is told and asks about the lock of an operation.
func (w *watched) granted(op int, resource string) {
	w.Record(history.Event{Kind: history.Return, Func: history.Acquire, Outcome: history.OK, Process: "a", Op: op, Grant: op, Resource: resource})
}

func (w *watched) released(grant int) {
	w.Record(history.Event{Kind: history.Call, Func: history.Release, Process: "a", Op: 100 + grant, Grant: grant, Resource: "r"})
}

func (w *watched) step(name string, grant int) {
	w.Record(history.Event{Kind: history.Step, Name: name, Process: "a", Grant: grant, Resource: "r"})
}

func (w *watched) expired(grant int) {
	w.Record(history.Event{Kind: history.Expire, Process: "a", Grant: grant, Resource: "r"})
}

// fault notes that something happened to a node.
func (w *watched) fault(name, node string) {
	w.Record(history.Event{Kind: history.Fault, Name: name, Node: node})
}

// found are the findings of a kind, with the stretch of time.
func (w *watched) found(kind checker.Kind) (all []string) {
	for _, f := range w.run.Findings() {
		if f.Kind == kind {
			all = append(all, fmt.Sprintf("%s %v-%v", f.Resource, f.From, f.To))
		}
	}
	return all
}
