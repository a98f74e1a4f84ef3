//go:build unix

package adaptertest

import (
	"errors"
	"testing"
	"time"

	"redlocksim/internal/redisserver"
	"redlocksim/redlock/driver"
)

// A server whose replicas confirm what it is asked accepts it, and one without replicas does not, in time for its answer.
// Others do not wait for that.
func replicas(t *testing.T, a Adapter) {
	primary := redisserver.Start(t, "--repl-diskless-sync-delay", "0")
	node, admin := a.node(t, primary.Addr, Config{}), Admin(t, primary.Addr)
	batch := func() []*driver.Command {
		asks, asksNot := Command(t, "acquire a", TTL), Command(t, "acquire b", TTL)
		asks.Replicas = 1
		for _, c := range []*driver.Command{asks, asksNot} {
			c.Deadline = time.Now().Add(time.Second)
		}
		return []*driver.Command{asks, asksNot}
	}
	waiting, answered := batch(), make(chan driver.Reply, 1)
	others := Command(t, "acquire c", TTL)
	others.Deadline = time.Now().Add(time.Second / 2)
	others.Done = func(_ *driver.Command, r driver.Reply) { answered <- r }
	time.AfterFunc(Short, func() { node.Do([]*driver.Command{others}) }) // while the server waits for replicas
	replies := Do(t, node, waiting...)
	expect(t, "what is sent meanwhile", <-answered, driver.Accepted)
	if e := (*driver.ReplicasError)(nil); replies[0].Outcome != driver.Failed || !errors.As(replies[0].Err, &e) || e.Confirmed != 0 || e.Asked != 1 {
		t.Errorf("without a replica: %v", replies[0])
	}
	expect(t, "what asks no replica", replies[1], driver.Accepted)

	replica := Admin(t, redisserver.StartReplica(t, primary).Addr)
	if replica.Exists(t.Context(), "b").Val() != 1 {
		t.Error("the replica does not have what the server has")
	}
	Eventually(t, Patience, "the replica confirms", func() bool { // it may still be busy with what it has just received
		setState(t, admin, "")
		replies := Do(t, node, batch()...)
		expect(t, "with a replica, what asks none", replies[1], driver.Accepted)
		return replies[0].Outcome == driver.Accepted
	})
}
