//go:build unix

package goredis_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"redlocksim/internal/redisserver"
	"redlocksim/redlock"
	"redlocksim/redlock/driver"
	"redlocksim/redlock/goredis"
	"redlocksim/redlock/single"
)

// migration is a slot that goes from one server of a cluster to another, and a client that locks what is in it.
type migration struct {
	*testing.T
	from, to *redisserver.Server
	slot     string
	node     *goredis.Single
	client   *redlock.Client
}

// tag is in the names of the slot, and otherTag in those of another.
const tag, otherTag = "{orders}", "{invoices}"

func newMigration(t *testing.T) *migration {
	from, bus := redisserver.StartMember(t, "--cluster-require-full-coverage", "no")
	to, _ := redisserver.StartMember(t, "--cluster-require-full-coverage", "no")
	x := &migration{T: t, from: from, to: to, slot: from.Ask("CLUSTER", "KEYSLOT", tag)}
	from.Ask("CLUSTER", "ADDSLOTS", x.slot)
	host, port, _ := strings.Cut(from.Addr, ":")
	to.Ask("CLUSTER", "MEET", host, port, bus)
	x.gossiped("the servers are a cluster", from, x.slot)
	eventually(t, patience, "it is well", func() bool {
		return strings.Contains(from.Ask("CLUSTER", "INFO"), "cluster_state:ok") && strings.Contains(to.Ask("CLUSTER", "INFO"), "cluster_state:ok")
	})
	connection := clustered([]*redisserver.Server{from}, 0).connect()
	t.Cleanup(func() { _ = connection.Close() })
	var err error
	if x.node, err = goredis.NewSingle(connection); err != nil {
		t.Fatal(err)
	}
	if x.client, err = single.New(x.node, single.Failover{Waived: true}, redlock.WithNodeTimeout(time.Second)); err != nil {
		t.Fatal(err)
	}
	return x
}

// gossiped waits until both servers know that one of them has a slot.
func (x *migration) gossiped(what string, owner *redisserver.Server, slot string) {
	x.Helper()
	eventually(x, patience, what, func() bool {
		for _, s := range []*redisserver.Server{x.from, x.to} {
			is := false
			for line := range strings.Lines(s.Ask("CLUSTER", "NODES")) {
				of, slots, linked := strings.Cut(strings.TrimSpace(line), " connected")
				is = is || linked && strings.Contains(of, owner.Addr+"@") && strings.Contains(slots+" ", " "+slot+" ")
			}
			if !is {
				return false
			}
		}
		return true
	})
}

// begins has the migration begin, and ends end it.
func (x *migration) begins() {
	x.to.Ask("CLUSTER", "SETSLOT", x.slot, "IMPORTING", x.from.Ask("CLUSTER", "MYID"))
	x.from.Ask("CLUSTER", "SETSLOT", x.slot, "MIGRATING", x.to.Ask("CLUSTER", "MYID"))
}

func (x *migration) ends() {
	x.to.Ask("CLUSTER", "SETSLOT", x.slot, "NODE", x.to.Ask("CLUSTER", "MYID"))
	x.gossiped("the slot has moved", x.to, x.slot)
}

func (x *migration) lock(name string) *redlock.Lease {
	x.Helper()
	lease, err := x.client.TryLock(x.Context(), name, time.Minute)
	if err != nil {
		x.Fatal(err)
	}
	return lease
}

func (x *migration) unlock(lease *redlock.Lease) {
	x.Helper()
	if err := lease.Extend(x.Context(), time.Minute); err != nil {
		x.Error(err)
	}
	if err := lease.Unlock(x.Context()); err != nil {
		x.Error(err)
	}
}

func (x *migration) keys(want string) {
	x.Helper()
	if got := fmt.Sprint(x.from.Ask("DBSIZE"), " and ", x.to.Ask("DBSIZE")); got != want {
		x.Errorf("%s keys, want %s", got, want)
	}
}

// The locks of a slot that is migrated can be taken, extended and released all the time: on the server to which the one that
// has the slot sends those who ask for them. Nothing is kept of a server that has no slot any more.
func TestMigratedSlot(t *testing.T) {
	t.Parallel()
	x := newMigration(t)
	stays, moves := x.lock(tag+"stays"), x.lock(tag+"moves")
	x.begins()
	host, port, _ := strings.Cut(x.to.Addr, ":")
	x.from.Ask("MIGRATE", host, port, tag+"moves", "0", "5000")
	taken := x.lock(tag + "new")
	x.keys("1 and 2")
	for _, name := range []string{"new", "moves", "stays"} {
		if _, err := x.client.TryLock(t.Context(), tag+name, time.Minute); !errors.Is(err, redlock.ErrTaken) {
			t.Errorf("%s, which is held: %v", name, err)
		}
	}
	x.unlock(taken)
	x.keys("1 and 1")
	for _, op := range []string{"acquire ", "release "} {
		for i, reply := range do(t, x.node.Node(), command(t, op+tag+"a", ttl), command(t, op+tag+"b", ttl)) {
			if reply.Outcome != driver.Accepted {
				t.Errorf("%s %d of two: %v", op, i, reply)
			}
		}
	}
	x.unlock(stays)
	x.unlock(moves)
	x.keys("0 and 0")
	x.ends()
	x.unlock(x.lock(tag + "after"))
	eventually(t, patience, "only the new primary is kept", func() bool { return x.node.Primaries() == 1 })
}

// The server to which a slot is migrated may be one that is asked for others.
func TestMigratedSlotBetweenPrimaries(t *testing.T) {
	t.Parallel()
	x := newMigration(t)
	other := x.to.Ask("CLUSTER", "KEYSLOT", otherTag)
	x.to.Ask("CLUSTER", "ADDSLOTS", other)
	x.gossiped("both have a slot", x.to, other)
	x.unlock(x.lock(otherTag))
	x.begins()
	x.unlock(x.lock(tag + "new"))
	x.ends()
	x.unlock(x.lock(tag + "after"))
}
