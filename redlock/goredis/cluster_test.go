//go:build unix

package goredis_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"redlocksim/internal/redisserver"
	"redlocksim/internal/stall/retry"
	"redlocksim/redlock"
	"redlocksim/redlock/goredis"
)

// disturbing is for how long a machine must hold up a test for it to be tried again, with longer times.
const disturbing = 50 * time.Millisecond

// cluster is five independent servers.
type cluster []*redisserver.Server

func startCluster(t testing.TB) (c cluster) {
	for range 5 {
		c = append(c, redisserver.Start(t))
	}
	return c
}

// open makes what one process has: connections of its own, and a lock client over them.
func (c cluster) open(t testing.TB, options ...redlock.Option) (*redlock.Client, goredis.Nodes) {
	t.Helper()
	var addrs []string
	for _, s := range c {
		addrs = append(addrs, s.Addr)
	}
	nodes, err := goredis.Open(addrs...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = nodes.Close() })
	client, err := redlock.New(nodes, options...)
	if err != nil {
		t.Fatal(err)
	}
	return client, nodes
}

const (
	clusterTTL      = time.Second
	killed, hanging = 1, 3 // the servers to which that happens
)

// protected is what a lock protects.
type protected struct {
	name    string
	holder  atomic.Pointer[redlock.Lease]
	counter atomic.Int64 // read and written in two steps
	written atomic.Int64 // increments that were written before their lease ended
	overdue atomic.Bool  // one was written by a goroutine that was held up until after: nothing can be said of the counter then
}

// work increments the counter under a lease. That another who is found there is within its lease as well is judged by a clock
// read after that, so that no delay of a goroutine can be taken for a second holder.
func (p *protected) work(t *retry.T, lease *redlock.Lease) {
	if other := p.holder.Swap(lease); other != nil {
		if now := time.Now(); now.Before(other.Until()) && now.Before(lease.Until()) {
			t.Found("two holders of %s: for %v more, and for %v more", p.name, other.Until().Sub(now), lease.Until().Sub(now))
		}
	}
	defer p.holder.CompareAndSwap(lease, nil)
	n := p.counter.Load()
	time.Sleep(rand.N(3 * time.Millisecond))
	if lease.Context().Err() != nil {
		return
	}
	p.counter.Store(n + 1)
	if time.Now().Before(lease.Until()) {
		p.written.Add(1)
	} else {
		p.overdue.Store(true)
	}
}

// crew is four processes of four goroutines, which take and release four locks until they are told to stop, as often as not
// with little patience.
type crew struct {
	*retry.T
	clients []*redlock.Client
	nodes   []goredis.Nodes
	locks   [4]protected
	grants  [16]atomic.Int64
	stop    atomic.Bool
	running sync.WaitGroup
}

func startCrew(t *retry.T, c cluster) *crew {
	w := &crew{T: t}
	for i := range w.locks {
		w.locks[i].name = fmt.Sprint("resource-", i)
	}
	for i := range w.grants {
		if i%4 == 0 {
			client, nodes := c.open(t, redlock.WithNodeTimeout(clusterTTL/10))
			w.clients, w.nodes = append(w.clients, client), append(w.nodes, nodes)
		}
		client := w.clients[i/4]
		w.running.Go(func() {
			for !w.stop.Load() {
				w.lock(client, &w.grants[i])
			}
		})
	}
	return w
}

func (w *crew) lock(client *redlock.Client, grants *atomic.Int64) {
	p := &w.locks[rand.N(len(w.locks))]
	limit := time.Minute
	if rand.N(2) == 0 {
		limit = rand.N(100 * time.Millisecond)
	}
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	lease, err := client.Lock(ctx, p.name, clusterTTL)
	if err != nil {
		if limit == time.Minute || !errors.Is(err, redlock.ErrNotAcquired) || !errors.Is(err, context.DeadlineExceeded) {
			w.Errorf("Lock within %v: %v", limit, err)
		}
		return
	}
	p.work(w.T, lease)
	if err := lease.Unlock(context.Background()); errors.Is(err, redlock.ErrLost) && time.Now().Before(lease.Until().Add(-clusterTTL/20)) {
		w.Errorf("the keys of a lease with %v left are gone: %v", time.Until(lease.Until()), err)
	}
	grants.Add(1)
}

// goOn waits until every worker was granted five more locks, which one that hangs is not, and a TTL has passed.
func (w *crew) goOn(when string) {
	w.Helper()
	var want [len(w.grants)]int64
	for i := range want {
		want[i] = w.grants[i].Load() + 5
	}
	time.Sleep(clusterTTL)
	eventually(w, time.Minute, "five more locks for each worker "+when, func() bool {
		for i := range want {
			if w.grants[i].Load() < want[i] {
				return false
			}
		}
		return true
	})
}

// One server is killed and one hangs for a while: never two holders, the work goes on, and afterwards no key and no connection
// is left.
func TestCluster(t *testing.T) {
	t.Parallel()
	retry.Test(t, disturbing, func(t *retry.T) {
		c := startCluster(t)
		w := startCrew(t, c)
		defer w.stop.Store(true) // if the test ends early
		w.goOn("at first")
		c[killed].Kill()
		c[hanging].Pause()
		w.goOn("with one server killed and one hanging")
		c[hanging].Resume()
		w.goOn("with one server killed")
		w.stop.Store(true)
		w.running.Wait()
		for _, client := range w.clients {
			closeWithin(t, time.Minute, client)
		}
		alive := []int{0, 2, 3, 4}
		time.Sleep(clusterTTL + 10*time.Millisecond) // for what is left to its TTL; Redis rounds to 1 ms
		for _, i := range alive {
			if n := c[i].Ask("DBSIZE"); n != "0" {
				t.Errorf("server %d has %s keys after one TTL", i, n)
			}
		}
		for i := range w.locks {
			p := &w.locks[i]
			if n, written := p.counter.Load(), p.written.Load(); n != written && !p.overdue.Load() {
				t.Found("%s: the counter is %d after %d increments under the lock", p.name, n, written)
			}
		}
		for _, nodes := range w.nodes {
			if err := nodes.Close(); err != nil {
				t.Error(err)
			}
		}
		eventually(t, patience, "only the test's own connections are left", func() bool {
			return !slices.ContainsFunc(alive, func(i int) bool { return strings.Count(c[i].Ask("CLIENT", "LIST"), "id=") > 1 })
		})
	})
}

// Work that takes three times the TTL is covered on real servers, and a holder whose servers hang is told before the lease
// is over.
func TestHold(t *testing.T) {
	t.Parallel()
	retry.Test(t, disturbing, func(t *retry.T) {
		c := startCluster(t)
		client, _ := c.open(t, redlock.WithNodeTimeout(200*time.Millisecond*t.Slower))
		ttl := time.Second * t.Slower
		err := client.Hold(t.Context(), "r", ttl, redlock.Renewal{}, func(ctx context.Context, l *redlock.Lease) error {
			for end := time.Now().Add(3 * ttl); time.Now().Before(end); time.Sleep(50 * time.Millisecond) {
				if ctx.Err() != nil {
					return context.Cause(ctx)
				}
				if _, err := client.TryLock(ctx, "r", ttl); !errors.Is(err, redlock.ErrTaken) {
					t.Errorf("somebody else asks: %v", err)
				}
			}
			return nil
		})
		if err != nil {
			t.Error(err)
		}
		var told, until time.Time
		err = client.Hold(t.Context(), "r", ttl, redlock.Renewal{}, func(ctx context.Context, l *redlock.Lease) error {
			for _, s := range c {
				s.Pause()
			}
			<-ctx.Done()
			told, until = time.Now(), l.Until()
			for _, s := range c {
				s.Resume()
			}
			return nil
		})
		if !errors.Is(err, redlock.ErrLost) || !told.Before(until) {
			t.Errorf("told at %v, the lease ended at %v: %v", told, until, err)
		}
		closeWithin(t, patience, client)
	})
}
