package redis_test

import (
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

// TestReplication: on both tiers a master tells its replicas what changed and WAIT counts them, a replica refuses to
// write, and a master in whose place another was promoted comes back as a replica of that one.
func TestReplication(t *testing.T) {
	for name, backend := range map[string]redis.Tier{"model": model.New(), "wire": wire.New()} {
		w := sim.NewWorld(sim.Config{Nodes: []string{"M"}, Replicas: map[string][]string{"M": {"M2", "M3"}}, Persistence: redis.Always,
			Latency: network.Constant(time.Millisecond), Clients: []sim.ClientConfig{{Name: "told"}, {Name: "not-told"}}}, backend)
		requests := uint64(0)
		do := func(client string, args ...string) any {
			var reply rediscmd.Reply
			p := w.Client(client)
			requests++
			key := w.Kernel.Draw("test").With(requests)
			p.Go(func() {
				reply = w.Conns(p)[0].Do(key, p.ProgramClock().Now().Add(time.Second), rediscmd.Request{Args: args})
			})
			w.Kernel.Run(w.Kernel.Now() + kernel.True(2*time.Second))
			if reply.Err != nil {
				return reply.Err
			}
			return reply.Value
		}
		want := func(what string, got, want any) {
			t.Helper()
			if got != want {
				t.Errorf("%s, %s: %v, want %v", name, what, got, want)
			}
		}
		m, m2 := w.Server("M"), w.Server("M2")
		want("set", do("told", "SET", "k", "1", "PX", "60000"), any("OK"))
		want("wait", do("told", "WAIT", "2", "100"), any(int64(2)))
		want("a replica that is behind", len(m2.Missing(m)) > 0, any(false))
		w.Network.Link("M", "M3").Cut(network.Both)
		want("set again", do("told", "SET", "k", "2", "PX", "60000"), any("OK"))
		want("wait in vain", do("told", "WAIT", "2", "100"), any(int64(1)))
		want("one that is cut off", len(w.Server("M3").Missing(m)) > 0, any(true))
		w.Network.Link("M", "M3").Mend(network.Both)
		w.Kernel.Run(w.Kernel.Now() + kernel.True(2*time.Second))
		want("and no longer", len(w.Server("M3").Missing(m)) > 0, any(false))

		want("kill", m.Kill(), any(nil))
		want("promote", w.Promote(m2), any(nil))
		w.Lead(w.Client("told"), "M", "M2")
		want("set on the new master", do("told", "SET", "k", "3", "PX", "60000"), any("OK"))
		want("restart", m.Restart(), any(nil))
		want("set on the old one", do("not-told", "SET", "k", "4"), any(rediscmd.ServerError("READONLY You can't write against a read only replica.")))
		want("wait on the old one", do("not-told", "WAIT", "1", "100"), any(rediscmd.ServerError("ERR WAIT cannot be used with replica instances.")))
		want("what the old one knows", do("not-told", "GET", "k"), any("3"))
		w.Close()
	}
}
