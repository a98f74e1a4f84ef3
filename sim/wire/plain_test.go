package wire_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"redlocksim/internal/rediscmd"
	"redlocksim/sim"
	"redlocksim/sim/kernel"
	"redlocksim/sim/model"
	"redlocksim/sim/network"
	"redlocksim/sim/redis"
	"redlocksim/sim/wire"
)

var backends = map[string]func() redis.Tier{"model": model.New, "wire": wire.New}

// plainWorld is one node and two clients, with 1 ms from one to the other.
func plainWorld(backend redis.Tier) *sim.World {
	return sim.NewWorld(sim.Config{Nodes: []string{"A"}, Persistence: redis.Always, Latency: network.Constant(time.Millisecond),
		Clients: []sim.ClientConfig{{Name: "c1"}, {Name: "c2"}}}, backend)
}

// caller sends commands of a client to the only node, one after the other.
func caller(w *sim.World, client string) func(text string) rediscmd.Reply {
	p, n := w.Client(client), uint64(0)
	return func(text string) rediscmd.Reply {
		n++
		return w.Conns(p)[0].Do(w.Kernel.Draw("test").WithString(client).With(n), p.ProgramClock().Now().Add(time.Second), rediscmd.Request{Args: strings.Fields(text)})
	}
}

func TestPublishReachesSubscribers(t *testing.T) {
	for _, test := range []struct {
		name   string
		inject func(w *sim.World) // at 10 ms; the message is published at 20 ms
		want   string
	}{
		{"nothing goes wrong", func(*sim.World) {}, "1 receivers, c1 hears m at 22ms"},
		{"the link is cut", func(w *sim.World) { w.Network.Link("c1", "A").Cut(network.Replies) }, "1 receivers, c1 hears no reply before the deadline at 100ms"},
		{"the link is slow", func(w *sim.World) { w.Network.Link("c1", "A").Delay(network.Replies, 5*time.Millisecond) }, "1 receivers, c1 hears m at 27ms"},
		{"the link holds it back", func(w *sim.World) {
			l := w.Network.Link("c1", "A")
			l.Hold(network.Both)
			w.Kernel.After(40*time.Millisecond, func() { l.Release(network.Both) })
		}, "1 receivers, c1 hears m at 50ms"},
		{"the client is paused", func(w *sim.World) {
			w.Client("c1").Pause()
			w.Kernel.After(50*time.Millisecond, func() { w.Client("c1").Resume() })
		}, "1 receivers, c1 hears m at 60ms"},
		{"the connection is reset", func(w *sim.World) { w.Network.Link("c1", "A").Reset() }, "0 receivers, c1 hears " + rediscmd.ErrReset.Error() + " at 10ms"},
		{"the node is killed and comes back", func(w *sim.World) {
			if w.Server("A").Kill() != nil || w.Server("A").Restart() != nil {
				panic("kill and restart")
			}
		}, "0 receivers, c1 hears " + rediscmd.ErrReset.Error() + " at 11ms"},
		{"the node loses power and comes back", func(w *sim.World) {
			if w.Server("A").LosePower() != nil || w.Server("A").Restart() != nil {
				panic("power loss and restart")
			}
		}, "0 receivers, c1 hears no reply before the deadline at 100ms"},
	} {
		for name, backend := range backends {
			t.Run(test.name+"/"+name, func(t *testing.T) {
				w := plainWorld(backend())
				defer w.Close()
				var receivers any
				heard, then := "", time.Duration(0)
				w.Client("c1").Go(func() {
					deadline := w.Client("c1").ProgramClock().Now().Add(100 * time.Millisecond)
					s := w.Subscribe(w.Client("c1"), "A", w.Kernel.Draw("subscribe"), "channel")
					defer s.Close()
					if err := s.Confirm(context.Background(), deadline); err != nil {
						t.Error(err)
					}
					message, err := s.Next(context.Background(), deadline)
					if heard, then = message, time.Duration(w.Kernel.Now()); err != nil {
						heard = err.Error()
					}
				})
				w.Kernel.After(10*time.Millisecond, func() { test.inject(w) })
				w.Kernel.After(20*time.Millisecond, func() {
					w.Client("c2").Go(func() { receivers = caller(w, "c2")("PUBLISH channel m").Value })
				})
				w.Kernel.Run(kernel.True(200 * time.Millisecond))
				if got := fmt.Sprintf("%v receivers, c1 hears %s at %v", receivers, heard, then); got != test.want {
					t.Errorf("got  %s\nwant %s", got, test.want)
				}
				var after any
				w.Client("c2").Go(func() { after = caller(w, "c2")("PUBLISH channel again").Value })
				w.Kernel.Run(kernel.True(400 * time.Millisecond))
				if after != any(int64(0)) {
					t.Errorf("%v receivers after the subscription was closed", after)
				}
			})
		}
	}
}

// TestKeysThatScriptsNameExpire: the name of a key need not be among the words of the script's call.
func TestKeysThatScriptsNameExpire(t *testing.T) {
	w := plainWorld(wire.New())
	defer w.Close()
	p, n := w.Client("c1"), uint64(0)
	var got []any
	call := func(args ...string) {
		n++
		reply := w.Conns(p)[0].Do(w.Kernel.Draw("test").With(n), p.ProgramClock().Now().Add(time.Second), rediscmd.Request{Args: args})
		got = append(got, reply.Value)
	}
	const set = "local key = KEYS[1] .. ':lock' redis.call('SET', key, ARGV[1], 'PX', 1000) return redis.call('PTTL', key)"
	p.Go(func() { call("EVAL", set, "1", "k", "v") })
	for _, later := range []time.Duration{300, 900, 1800} {
		w.Kernel.After(later*time.Millisecond, func() {
			p.Go(func() { call("EVAL", "return redis.call('PTTL', KEYS[1] .. ':lock')", "1", "k") })
		})
	}
	w.Kernel.After(600*time.Millisecond, func() {
		p.Go(func() { call("EVAL", "return redis.call('PEXPIRE', KEYS[1] .. ':lock', 1000)", "1", "k") })
	})
	w.Kernel.Run(kernel.True(3 * time.Second))
	want := []any{int64(1000), int64(700), int64(1), int64(700), int64(-2)}
	if !slices.Equal(got, want) || len(w.Server("A").Dump()) > 0 {
		t.Errorf("%v, want %v; left %v", got, want, w.Server("A").Dump())
	}
}
