package redlock

import (
	"context"
	"errors"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"redlocksim/redlock/driver"
)

// listeners make nodes that can be listened to: each message takes half of the node's round trip.
func (n *scripted) Listen(channel string, heard func(message string)) (stop func()) {
	n.mu.Lock()
	defer n.mu.Unlock()
	l := &listener{channel, heard}
	n.listeners = append(n.listeners, l)
	return func() {
		n.mu.Lock()
		defer n.mu.Unlock()
		for i, o := range n.listeners {
			if o == l {
				n.listeners = append(n.listeners[:i:i], n.listeners[i+1:]...)
				return
			}
		}
		panic("stopped twice")
	}
}

type listener struct {
	channel string
	heard   func(message string)
}

// publish is called with the node locked.
func (n *scripted) publish(channel, message string) (listeners int) {
	if n.tell != nil {
		n.tell("  %s calls the next for %s", n.name, message)
	}
	for _, l := range n.listeners {
		if l.channel == channel {
			listeners++
			if !n.mumbles {
				time.AfterFunc(n.trip/2, func() { l.heard(message) })
			}
		}
	}
	return listeners
}

// line is who stands in the line of the node for a key.
func (n *scripted) line(key string) []string { return strings.Fields(n.get(driver.LineKey(key))) }

// A client whose attempts are ten seconds apart waits for a lock that is released after 1 s, and is called at its gate if it
// stands in line there. The nodes take 1 to 5 ms.
func TestWakeUp(t *testing.T) {
	const slow = 10 * time.Second
	turns := WithWakeUp(10 * time.Millisecond)
	for _, c := range []struct {
		name    string
		options []Option // of the waiting client
		prepare func(w *world, gate *scripted)
		at      time.Duration // when it has the lock
		listens int           // to how many channels of all nodes while it waits
		holder  []Option      // of the client that has the lock before
	}{
		// The release reaches B, the gate, after 1 ms, its call takes 1 ms, the acquire there 2 ms and the others 3 ms.
		{"called", []Option{turns}, nil, millis("1007"), 1, []Option{turns}},
		// It is refused after 3 ms. Then it asks in the same way.
		{"does not listen", nil, nil, slow + millis("8"), 0, []Option{turns}},
		// It is refused after 3 ms and by the gate 2 ms later.
		{"the call is lost", []Option{turns}, func(_ *world, gate *scripted) { gate.mumbles = true }, slow + millis("10"), 1, []Option{turns}},
		{"the holder calls nobody", []Option{turns}, nil, slow + millis("10"), 1, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			in(t, 5, func(w *world) {
				gate := w.node(w.gate([]string{"r"}, 0))
				if c.prepare != nil {
					c.prepare(w, gate)
				}
				lease, other := w.mustLock(time.Minute), w.another(append(c.options, WithRetryDelay(slow, slow))...)
				begin := w.at()
				time.AfterFunc(time.Second, func() {
					if listens := w.listening(); listens != c.listens {
						w.Errorf("listens %d times, want %d", listens, c.listens)
					}
					if err := lease.Unlock(context.Background()); err != nil {
						w.Error(err)
					}
				})
				got, err := other.Lock(w.Context(), "r", time.Minute)
				if err != nil || w.at()-begin != c.at {
					w.Errorf("after %v: %v; want %v", w.at()-begin, err, c.at)
				}
				if err := errors.Join(got.Unlock(w.Context()), other.Close(w.Context())); err != nil {
					w.Error(err)
				}
				for _, n := range w.nodes {
					if len(n.listeners) != 0 || len(n.line("r")) != 0 {
						w.Errorf("%s is still listened to, or has %q in line", n.name, n.line("r"))
					}
				}
			}, c.holder...)
		})
	}
}

// listening is how many channels of the nodes clients listen to.
func (w *world) listening() (all int) {
	for _, n := range w.nodes {
		n.mu.Lock()
		all += len(n.listeners)
		n.mu.Unlock()
	}
	return all
}

// However often a client asks a gate, it listens there once, until it is closed.
func TestListensOnce(t *testing.T) {
	turns := WithWakeUp(10 * time.Millisecond)
	in(t, 5, func(w *world) {
		other := w.another(turns)
		for range 3 {
			lease := w.mustLock(time.Minute)
			within, cancel := context.WithTimeout(w.Context(), time.Second)
			if _, err := other.Lock(within, "r", time.Minute); !errors.Is(err, ErrTaken) {
				w.Error(err)
			}
			cancel()
			if n := w.listening(); n != 1 {
				w.Errorf("listens %d times", n)
			}
			if err := lease.Unlock(w.Context()); err != nil {
				w.Error(err)
			}
		}
		if err := other.Close(w.Context()); err != nil || w.listening() != 0 {
			w.Errorf("%v; a closed client listens %d times", err, w.listening())
		}
	}, turns)
}

// A lease that is released calls who stands in line, and an attempt that was refused does not when it releases its votes.
func TestRefusedCallNobody(t *testing.T) {
	in(t, 3, func(w *world) {
		gate := w.node(1)
		var heard atomic.Int32
		defer gate.Listen(driver.WakeChannel("x"), func(string) { heard.Add(1) })()
		gate.set(driver.LineKey("r"), " x ")
		w.script(driver.OpAcquire, "no:1 ok:2 no:3")
		if _, err := w.TryLock(w.Context(), "r", time.Minute); !errors.Is(err, ErrTaken) {
			w.Error(err)
		}
		w.atTime(time.Second)
		if w.holders("r") != "" || heard.Load() != 0 {
			w.Errorf("%q have it, and somebody was called %d times", w.holders("r"), heard.Load())
		}
		if err := w.mustLock(time.Minute).Unlock(w.Context()); err != nil {
			w.Error(err)
		}
		w.atTime(2 * time.Second)
		if heard.Load() != 1 {
			w.Errorf("called %d times", heard.Load())
		}
	}, WithWakeUp(10*time.Millisecond))
}

// Two clients with the option and one without want one lock all the time, each for 5 ms. None starves. The one without polls,
// and finds the lock free about each third time, since the others need some milliseconds for a handover: a hundred retry delays
// are more than anybody should wait.
func TestWakeUpBesideOthers(t *testing.T) {
	turns, full := WithWakeUp(10*time.Millisecond), WithRetryDelay(50*time.Millisecond, 150*time.Millisecond)
	in(t, 5, func(w *world) {
		var all sync.WaitGroup
		for i, c := range []*Client{w.another(turns, full), w.another(turns, full), w.another(full)} {
			all.Go(func() {
				for range 100 {
					begin := w.at()
					lease, err := c.Lock(w.Context(), "r", time.Minute)
					if err != nil {
						w.Error(err)
						return
					}
					if took := w.at() - begin; took > 10*time.Second {
						w.Errorf("client %d waits for %v", i, took)
					}
					time.Sleep(5 * time.Millisecond)
					if err := lease.Unlock(w.Context()); err != nil {
						w.Error(err)
					}
				}
			})
		}
		all.Wait()
	})
}

func TestWakeUpArguments(t *testing.T) {
	for _, turn := range []time.Duration{0, -1, 1500 * time.Microsecond} {
		if _, err := New(fakes(3), WithWakeUp(turn)); matches(err) != "Invalid" {
			t.Errorf("%v: %v", turn, err)
		}
	}
	type deaf struct{ driver.Node }
	nodes := fakes(3)
	nodes[1] = deaf{nodes[1]}
	if _, err := New(nodes, WithWakeUp(time.Second)); matches(err) != "Invalid" || !strings.Contains(text(err), `"node1" is no Listener`) {
		t.Error(err)
	}
}

// A thousand clients that want one lock for a millisecond each all get it. A grant takes at least 4 ms, the work and three
// nodes. In 10 ms each client that waits asks its gate 0.1 times, and all five nodes every 16th time: with 500 that wait on the
// average these are 62 commands, and a grant takes ten beside.
func TestThousandClients(t *testing.T) {
	clients := 1000
	if testing.Short() {
		clients = 100 // the race detector's own memory of stacks has ended with a fault after so many goroutines
	}
	for _, c := range []struct {
		name    string
		options []Option
	}{{"polling", nil}, {"in line", []Option{WithWakeUp(10 * time.Millisecond)}}} {
		t.Run(c.name, func(t *testing.T) {
			in(t, 5, func(w *world) {
				var nodes []driver.Node
				for _, n := range w.nodes {
					nodes = append(nodes, n)
				}
				var all sync.WaitGroup
				var longest atomic.Int64
				for range clients {
					all.Go(func() {
						client, err := New(nodes, c.options...)
						if err != nil {
							w.Error(err)
							return
						}
						lease, err := client.Lock(w.Context(), "r", time.Minute)
						if err != nil {
							w.Error(err)
							return
						}
						longest.Store(int64(w.at()))
						time.Sleep(time.Millisecond)
						if err := errors.Join(lease.Unlock(w.Context()), client.Close(w.Context())); err != nil {
							w.Error(err)
						}
					})
				}
				all.Wait()
				sent := 0
				for _, n := range w.nodes {
					sent += len(n.got)
					if len(n.listeners)+len(n.line("r")) != 0 {
						w.Errorf("%s is left with %d listeners and %d in line", n.name, len(n.listeners), len(n.line("r")))
					}
				}
				if took := time.Duration(longest.Load()); took > time.Duration(clients)*10*time.Millisecond || sent > clients*85 {
					w.Errorf("the last was granted the lock after %v, and %d commands were sent for each grant", took, sent/clients)
				}
			}, silent)
		})
	}
}

// A node that does not answer who leaves its line is not suspected: an observer could not tell why.
func TestLeavingALineSuspectsNobody(t *testing.T) {
	in(t, 3, func(w *world) {
		gate, holder := w.gate([]string{"r"}, 0), w.another(WithWakeUp(time.Second))
		lease, err := holder.Lock(w.Context(), "r", time.Minute)
		if err != nil {
			w.Fatal(err)
		}
		w.contended()
		ctx, cancel := context.WithTimeout(w.Context(), millis("20"))
		defer cancel()
		time.AfterFunc(millis("19"), func() { w.silence(w.node(gate)) })
		if _, err := w.Lock(ctx, "r", time.Minute); err == nil {
			w.Fatal("it has the lock")
		}
		time.Sleep(time.Second)
		if len(w.node(gate).line("r")) != 1 || w.peers[gate].suspected.Load() {
			w.Errorf("%v stand in line, and the gate is suspected: %v", w.node(gate).line("r"), w.peers[gate].suspected.Load())
		}
		if err := errors.Join(lease.Unlock(w.Context()), holder.Close(w.Context())); err != nil {
			w.Error(err)
		}
	}, WithWakeUp(time.Second))
}

// Who has the lock stands in no line, however it was granted: else its own release would call it, and others would have to wait
// for its turn to end.
func TestHolderStandsInNoLine(t *testing.T) {
	for _, c := range []struct {
		name    string
		granted func(w *world, gate int) // makes the last attempt another one than that to the gate
	}{
		{"by the attempt that asks all nodes", func(w *world, gate int) {
			for range 100 {
				time.Sleep(millis("10"))
				if w.contention.isTimeForAll(setOf([]string{"r"})) {
					for range allEvery {
						w.contention.refused(setOf([]string{"r"}), w.clock.Now())
					}
					break
				}
			}
			for _, n := range w.nodes {
				n.forget()
			}
		}},
		{"by another gate", func(w *world, gate int) {
			time.Sleep(millis("200"))
			w.peers[gate].suspected.Store(true)
			for _, n := range w.nodes {
				n.forget()
			}
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			in(t, 3, func(w *world) {
				gates := w.contended()
				for _, n := range w.nodes {
					n.hold("r", time.Hour)
				}
				go c.granted(w, gates[0])
				lease, err := w.Lock(w.Context(), "r", time.Minute)
				if err != nil {
					w.Fatal(err)
				}
				time.Sleep(millis("200"))
				for _, i := range gates {
					if line := w.node(i).line("r"); len(line) != 0 {
						w.Errorf("in the line of %s is %q", w.node(i).name, line)
					}
				}
				if err := lease.Unlock(w.Context()); err != nil {
					w.Error(err)
				}
			}, WithWakeUp(millis("10")))
		})
	}
}

// The gate is asked for a second token by the same waiter, whom it takes out of its line.
func TestSecondTokenInLine(t *testing.T) {
	in(t, 3, func(w *world) {
		for _, i := range w.contended() {
			w.node(i).next(driver.OpAcquire, "behind7:1")
		}
		if err := w.mustWait().Unlock(w.Context()); err != nil {
			w.Error(err)
		}
		inLine := 0
		for _, n := range w.nodes {
			for _, r := range n.received(driver.OpAcquire) {
				if r.Line != nil {
					inLine++
				}
			}
		}
		if inLine != 2 {
			w.Errorf("%d acquires with a place in line, want 2", inLine)
		}
	}, WithWakeUp(millis("10")), WithFencing(Fencing{}))
}

// mustWait is mustLock with Lock.
func (w *world) mustWait() *Lease {
	w.Helper()
	lease, err := w.Lock(w.Context(), "r", time.Minute)
	if err != nil {
		w.Fatal(err)
	}
	return lease
}

// Who is called and waits no longer lets the next have its turn at once. It came into the line after it had left it: its
// acquire was slow, and the call had ended by then.
func TestCallToNobody(t *testing.T) {
	in(t, 3, func(w *world) {
		gate, turn := w.gate([]string{"r"}, 0), WithWakeUp(time.Second)
		holder, next := w.another(turn), w.another(turn, WithRetryDelay(10*time.Second, 10*time.Second))
		lease, err := holder.Lock(w.Context(), "r", time.Minute)
		if err != nil {
			w.Fatal(err)
		}
		w.contended()
		w.node(gate).next(driver.OpAcquire, "ok:30")
		ctx, cancel := context.WithTimeout(w.Context(), millis("5"))
		_, _ = w.Lock(ctx, "r", time.Minute)
		cancel()
		time.Sleep(millis("100"))
		if len(w.node(gate).line("r")) != 1 {
			w.Fatal("it has left the line")
		}
		time.AfterFunc(millis("100"), func() { _ = lease.Unlock(context.Background()) })
		begin := w.at()
		got, err := next.Lock(w.Context(), "r", time.Minute)
		if took := w.at() - begin; err != nil || took > millis("120") {
			w.Fatalf("the next had the lock after %v: %v", took, err)
		}
		if err := errors.Join(got.Unlock(w.Context()), holder.Close(w.Context()), next.Close(w.Context())); err != nil {
			w.Error(err)
		}
	}, WithWakeUp(time.Second))
}

// Who stands in line is served before those of the holder's client that come later, although these hold the lock for long, and
// the release learns of the line when the next of them may ask already.
func TestOwnCallersStandBehind(t *testing.T) {
	in(t, 3, func(w *world) {
		w.node(w.gate([]string{"r"}, 0)).trip = 2 * w.node(2).trip
		other := w.another(WithWakeUp(millis("10")), WithRetryDelay(millis("50"), millis("50")))
		lease := w.mustLock(time.Hour)
		served := make(chan time.Duration, 1)
		go func() {
			got, err := other.Lock(context.Background(), "r", time.Hour)
			if served <- w.at(); err != nil {
				w.Error(err)
				return
			}
			if err := errors.Join(got.Unlock(context.Background()), other.Close(context.Background())); err != nil {
				w.Error(err)
			}
		}()
		time.Sleep(millis("100"))
		var own sync.WaitGroup
		before := atomic.Int32{}
		for range 20 {
			own.Go(func() {
				lease, err := w.Lock(context.Background(), "r", time.Hour)
				if err != nil {
					w.Error(err)
					return
				}
				if len(served) == 0 {
					before.Add(1)
				}
				time.Sleep(2 * time.Second)
				_ = lease.Unlock(context.Background())
			})
		}
		time.Sleep(2 * time.Second)
		_ = lease.Unlock(w.Context())
		own.Wait()
		if n := before.Load(); n > 2 {
			w.Errorf("%d that came later had the lock before", n)
		}
	}, WithWakeUp(millis("10")))
}

// Who is called, and gives up when the gate has voted for it, lets the next have its turn at once.
func TestGivesUpWhenTheGateHasVoted(t *testing.T) {
	in(t, 3, func(w *world) {
		turn, slow := WithWakeUp(time.Second), WithRetryDelay(10*time.Second, 10*time.Second)
		first, next := w.another(turn, slow), w.another(turn, slow)
		lease := w.mustLock(time.Minute)
		begin := w.at()
		// The gate, A, does the release at 100.5 ms, its call comes at 101 ms, and its vote at 102 ms.
		ctx, cancel := context.WithTimeout(w.Context(), millis("102.2"))
		defer cancel()
		go func() { _, _ = first.Lock(ctx, "r", time.Minute) }()
		time.AfterFunc(millis("100"), func() { _ = lease.Unlock(context.Background()) })
		time.Sleep(millis("20"))
		got, err := next.Lock(w.Context(), "r", time.Minute)
		if took := w.at() - begin; err != nil || took > millis("115") {
			w.Fatalf("the next had the lock after %v: %v", took, err)
		}
		if err := errors.Join(got.Unlock(w.Context()), first.Close(w.Context()), next.Close(w.Context())); err != nil {
			w.Error(err)
		}
	}, WithWakeUp(time.Second))
}
