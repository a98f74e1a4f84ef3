package consensus_test

import (
	"context"
	"testing"
	"time"

	"redlocksim/sim"
	"redlocksim/sim/consensus"
	"redlocksim/sim/kernel"
	"redlocksim/sim/model"
	"redlocksim/sim/network"
)

const ttl = 5 * time.Second

// trio is the service on A, which leads at first, B and C, with a client that does what do says.
func trio(t *testing.T, do func(w *sim.World, ask func(node int, r consensus.Request) (consensus.Answer, error), sleep func(time.Duration))) {
	t.Helper()
	w := sim.NewWorld(sim.Config{Nodes: []string{"A", "B", "C"}, Clients: []sim.ClientConfig{{Name: "client"}},
		Latency: network.Uniform(time.Millisecond, 5*time.Millisecond)}, model.New())
	defer w.Close()
	s, p := consensus.Of(w), w.Client("client")
	requests, done := uint64(0), false
	p.Go(func() {
		do(w, func(node int, r consensus.Request) (consensus.Answer, error) {
			requests++
			return s.Ask(p, node, kernel.Key(requests), p.ProgramClock().Now().Add(100*time.Millisecond), r)
		}, func(d time.Duration) { p.Sleep(context.Background(), d) })
		done = true
	})
	w.Kernel.Run(kernel.True(time.Minute))
	if !done {
		t.Error("the client did not come to its end")
	}
}

func acquire(session string) consensus.Request {
	return consensus.Request{Kind: consensus.Acquire, Session: session, Resource: "r", TTL: ttl}
}

// leader asks B and C until one of them leads.
func leader(ask func(int, consensus.Request) (consensus.Answer, error), sleep func(time.Duration)) int {
	for {
		for _, node := range []int{1, 2} {
			a, err := ask(node, consensus.Request{Kind: consensus.KeepAlive, Session: "nobody"})
			if err == nil && a.Status != consensus.NotLeader {
				return node
			}
		}
		sleep(100 * time.Millisecond)
	}
}

func TestLeaderThatIsCutOffAnswersNothing(t *testing.T) {
	trio(t, func(w *sim.World, ask func(int, consensus.Request) (consensus.Answer, error), sleep func(time.Duration)) {
		sleep(100 * time.Millisecond)
		if a, err := ask(0, acquire("one")); err != nil || a.Status != consensus.Done {
			t.Fatalf("acquire: %+v, %v", a, err)
		}
		var links []*network.Link
		for _, other := range []string{"B", "C"} {
			links = append(links, w.Network.Link("A", other), w.Network.Link(other, "A"))
		}
		for _, l := range links {
			l.Cut(network.Both)
		}
		if a, err := ask(0, consensus.Request{Kind: consensus.KeepAlive, Session: "one"}); err == nil {
			t.Errorf("a leader that is cut off answers %+v", a)
		}
		since := w.Kernel.Now()
		next := leader(ask, sleep)
		if took := w.Kernel.Now().Sub(since); took > 3*time.Second {
			t.Errorf("a new leader after %v", took)
		}
		promoted := w.Kernel.Now()
		for {
			a, err := ask(next, acquire("two"))
			if err == nil && a.Status == consensus.Done {
				if a.Revision != 2 {
					t.Errorf("revision %d, want 2", a.Revision)
				}
				break
			}
			sleep(50 * time.Millisecond)
		}
		// It is asked up to 200 ms after it began to lead.
		if took := w.Kernel.Now().Sub(promoted); took < ttl-300*time.Millisecond || took > ttl+time.Second {
			t.Errorf("the session ended %v after the new leader began, want its time to live of %v", took, ttl)
		}
		for _, l := range links {
			l.Mend(network.Both)
		}
		sleep(time.Second)
		if a, err := ask(0, consensus.Request{Kind: consensus.KeepAlive, Session: "one"}); err != nil || a.Status != consensus.NotLeader || a.Leader != next {
			t.Errorf("the old leader answers %+v, %v; want that %d leads", a, err, next)
		}
		if a, err := ask(next, consensus.Request{Kind: consensus.KeepAlive, Session: "one"}); err != nil || a.Status != consensus.Gone {
			t.Errorf("keep-alive of the old session: %+v, %v", a, err)
		}
	})
}

func TestStateSurvivesTheRestartOfAllNodes(t *testing.T) {
	trio(t, func(w *sim.World, ask func(int, consensus.Request) (consensus.Answer, error), sleep func(time.Duration)) {
		sleep(100 * time.Millisecond)
		if a, err := ask(0, acquire("one")); err != nil || a.Status != consensus.Done {
			t.Fatalf("acquire: %+v, %v", a, err)
		}
		for _, s := range w.Servers {
			if err := s.LosePower(); err != nil {
				t.Fatal(err)
			}
		}
		if a, err := ask(0, acquire("one")); err == nil {
			t.Errorf("a node that is down answers %+v", a)
		}
		for _, s := range w.Servers[1:] {
			if err := s.Restart(); err != nil {
				t.Fatal(err)
			}
		}
		next := leader(ask, sleep)
		if a, err := ask(next, acquire("two")); err != nil || a.Status != consensus.Taken {
			t.Errorf("after the restart another session gets %+v, %v", a, err)
		}
		if a, err := ask(next, acquire("one")); err != nil || a.Status != consensus.Done || a.Revision != 1 {
			t.Errorf("after the restart the owner gets %+v, %v", a, err)
		}
	})
}
