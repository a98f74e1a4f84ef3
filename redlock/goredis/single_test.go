//go:build unix

package goredis_test

import (
	"context"
	"errors"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"redlocksim/internal/longest"
	"redlocksim/internal/redisserver"
	"redlocksim/redlock"
	"redlocksim/redlock/driver"
	"redlocksim/redlock/goredis"
	"redlocksim/redlock/single"
)

var _ single.Redis = (*goredis.Single)(nil)

// topology is one logical Redis that can fail over.
type topology struct {
	connect  func() redis.UniversalClient
	primary  *redisserver.Server // of the resource
	resource string

	isCluster bool
}

func sentinels(t *testing.T) topology {
	primary := redisserver.Start(t)
	redisserver.StartReplica(t, primary)
	sentinel := redisserver.StartSentinel(t, "locks", primary, 1)
	return topology{primary: primary, resource: "invoices", connect: func() redis.UniversalClient {
		return goredis.NewSentinelClient(&redis.FailoverOptions{MasterName: "locks", SentinelAddrs: []string{sentinel.Addr}})
	}}
}

// clustered is one of the three primaries of a cluster.
func clustered(all []*redisserver.Server, primary int) topology {
	inThirdOfSlots := [...]string{"{b}", "{c}", "{a}"}
	return topology{primary: all[primary], resource: inThirdOfSlots[primary] + "invoices", isCluster: true, connect: func() redis.UniversalClient {
		var addrs []string
		for _, s := range all {
			addrs = append(addrs, s.Addr)
		}
		return goredis.NewClusterClient(&redis.ClusterOptions{Addrs: addrs})
	}}
}

// client makes what one process has.
func (p topology) client(t *testing.T, f single.Failover, opts ...redlock.Option) *redlock.Client {
	t.Helper()
	connection := p.connect()
	t.Cleanup(func() { _ = connection.Close() })
	node, err := goredis.NewSingle(connection)
	if err != nil {
		t.Fatal(err)
	}
	client, err := single.New(node, f, append([]redlock.Option{redlock.WithNodeTimeout(time.Second)}, opts...)...)
	if err != nil {
		t.Fatal(err)
	}
	return client
}

// sequence is a source of tokens that nothing sets back.
type sequence struct{ last atomic.Int64 }

func (s *sequence) Token(context.Context, []string) (int64, error) { return s.last.Add(1), nil }

// storage rejects a lower token than it has seen.
type storage struct{ highest int64 }

func (s *storage) write(l *redlock.Lease) bool {
	token, _ := l.Token()
	if token < s.highest {
		return false
	}
	s.highest = token
	return true
}

// failing is a topology of which the primary dies, without its replica knowing of the lock that a first client has.
type failing struct {
	topology
	*testing.T
	ctx context.Context
}

func newFailing(t *testing.T, p topology) failing {
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	t.Cleanup(cancel)
	return failing{p, t, ctx}
}

// failingTTL is longer than a failover takes.
const failingTTL = 12 * time.Second

func (p failing) lock(f single.Failover, opts ...redlock.Option) *redlock.Lease {
	p.Helper()
	lease, err := p.client(p.T, f, opts...).Lock(p.ctx, p.resource, failingTTL)
	if err != nil {
		p.Fatal(err)
	}
	return lease
}

// lockAndFail gives the lock to the first client.
func (p failing) lockAndFail(f single.Failover, opts ...redlock.Option) *redlock.Lease {
	p.Helper()
	p.primary.Abandon()
	lease := p.lock(f, opts...)
	p.primary.Kill()
	return lease
}

// lockAfter gives the lock to a client that was not there before the failover.
func (p failing) lockAfter(f single.Failover, opts ...redlock.Option) *redlock.Lease {
	p.Helper()
	for p.ctx.Err() == nil {
		if lease, err := p.client(p.T, f, opts...).TryLock(p.ctx, p.resource, failingTTL); err == nil {
			return lease
		}
		time.Sleep(100 * time.Millisecond)
	}
	p.Fatal("no failover")
	return nil
}

// both says whether both leases are still believed.
func (p failing) both(first, second *redlock.Lease) {
	p.Helper()
	if left := time.Until(first.Until()); left <= 0 || second.Context().Err() != nil {
		p.Fatalf("the failover took so long that it proves nothing: the first lease ended %v ago", -left)
	}
}

// testMovedSlots has a primary and its replica change places, and back. A client that knows the old place is told so by a
// server that has carried nothing out, and goes to the new one within the same attempt.
func testMovedSlots(p failing, primary, replica *redisserver.Server) {
	c := p.client(p.T, single.Failover{Waived: true})
	lease, err := c.TryLock(p.ctx, p.resource, failingTTL)
	if err != nil {
		p.Fatal(err)
	}
	last := primary
	for _, next := range []*redisserver.Server{replica, primary} {
		eventually(p, patience, "the replica knows the lock", func() bool { return next.Ask("DBSIZE") == "1" })
		next.Ask("CLUSTER", "FAILOVER", "TAKEOVER")
		eventually(p, patience, "they have changed places", func() bool {
			return strings.Contains(last.Ask("INFO", "replication"), "master_link_status:up")
		})
		last = next
		if err := lease.Unlock(p.ctx); err != nil {
			p.Errorf("the release of a lock whose slot has moved: %v", err)
		}
		if lease, err = c.TryLock(p.ctx, p.resource, failingTTL); err != nil {
			p.Fatalf("a lock whose slot has moved: %v", err)
		}
	}
	if err := lease.Unlock(p.ctx); err != nil {
		p.Error(err)
	}
}

// A failover to a replica that knows nothing of the lock gives it to a second client. What is done about that does what it
// says.
func TestFailover(t *testing.T) {
	longest.Only(t, "waits for failovers of Sentinel and of a cluster")
	fenced := redlock.WithFencing(redlock.Fencing{})
	tests := map[string]func(p failing){
		"waived": func(p failing) {
			f := single.Failover{Waived: true}
			first := p.lockAndFail(f)
			second := p.lock(f) // follows by itself
			p.both(first, second)
			if err := second.Unlock(p.ctx); err != nil {
				p.Error(err)
			}
		},
		"fencing on the same Redis": func(p failing) {
			f := single.Failover{Waived: true}
			first := p.lockAndFail(f, fenced)
			second := p.lockAfter(f, fenced)
			p.both(first, second)
			var s storage
			if !s.write(second) || !s.write(first) {
				p.Error("the counter was not set back")
			}
		},
		"tokens from elsewhere": func(p failing) {
			f := single.Failover{Tokens: new(sequence)}
			first := p.lockAndFail(f)
			second := p.lockAfter(f)
			p.both(first, second)
			var s storage
			if !s.write(second) || s.write(first) {
				p.Error("the storage accepts the write of a holder after that of a later one")
			}
		},
		"replicas": func(p failing) {
			c := p.client(p.T, single.Failover{Replicas: 1})
			lease, err := c.Lock(p.ctx, p.resource, failingTTL)
			if err != nil {
				p.Fatal(err)
			}
			if err := lease.Unlock(p.ctx); err != nil {
				p.Error(err)
			}
			p.primary.Abandon()
			lease, err = c.TryLock(p.ctx, p.resource, failingTTL)
			if e := (*driver.ReplicasError)(nil); lease != nil || !errors.As(err, &e) || e.Confirmed != 0 || e.Asked != 1 {
				p.Errorf("without a replica: %v, %v", lease, err)
			}
		},
		"guard": func(p failing) {
			f := single.Failover{Guard: &redlock.Guard{MaxTTL: failingTTL}}
			if p.isCluster {
				lease, err := p.client(p.T, f).TryLock(p.ctx, p.resource, failingTTL)
				if lease != nil || !errors.Is(err, goredis.ErrSlot) {
					p.Errorf("the guard's record is in another slot: %v, %v", lease, err)
				}
				return
			}
			if err := p.client(p.T, f).PrepareGuard(p.ctx); err != nil {
				p.Fatal(err)
			}
			first := p.lockAndFail(f)
			p.lock(f)
			if left := time.Until(first.Until()); left > 0 {
				p.Errorf("granted again while the first lease has %v left", left)
			}
		},
	}
	for what, test := range tests {
		t.Run("sentinel/"+what, func(t *testing.T) {
			t.Parallel()
			test(newFailing(t, sentinels(t)))
		})
	}
	t.Run("cluster", func(t *testing.T) {
		t.Parallel()
		all := redisserver.StartCluster(t)
		t.Run("slots that move", func(t *testing.T) { testMovedSlots(newFailing(t, clustered(all, 0)), all[0], all[3]) })
		for i, what := range []string{"guard", "replicas", "waived", "fencing on the same Redis", "tokens from elsewhere"} {
			t.Run(what, func(t *testing.T) { tests[what](newFailing(t, clustered(all, max(i-2, 0)))) })
		}
	})
}
