//go:build unix

package goredis_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime/pprof"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"redlocksim/internal/redisserver"
	"redlocksim/internal/stall/retry"
	"redlocksim/redlock"
	"redlocksim/redlock/driver"
	"redlocksim/redlock/goredis"
	"redlocksim/redlock/observe"
)

// disturbing is for how long a machine must hold up a test for it to be tried again, with longer times.
const disturbing = 50 * time.Millisecond

var everyServer = []int{0, 1, 2, 3, 4}

// cluster is five independent servers, and a connection of the test's own to look into each.
type cluster struct {
	servers []*redisserver.Server
	views   []*redis.Client
}

func startCluster(t testing.TB) *cluster {
	t.Helper()
	c := &cluster{}
	for range 5 {
		s := redisserver.Start(t)
		c.servers = append(c.servers, s)
		c.views = append(c.views, newClient(t, s.Addr, func(o *redis.Options) { o.PoolSize = 1 }))
	}
	// They connect now: the queue of a server that hangs is soon full.
	c.each(t, everyServer, func(ctx context.Context, view *redis.Client) error { return view.Ping(ctx).Err() })
	return c
}

// open makes what one process has: connections of its own, and a lock client over them.
func (c *cluster) open(t testing.TB, options ...redlock.Option) (*redlock.Client, goredis.Nodes) {
	t.Helper()
	var addrs []string
	for _, s := range c.servers {
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

// each calls f for some of the servers, by index.
func (c *cluster) each(t testing.TB, servers []int, f func(ctx context.Context, view *redis.Client) error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	for _, i := range servers {
		if err := f(ctx, c.views[i]); err != nil {
			t.Fatalf("server %d: %v", i, err)
		}
	}
}

// keys lists what is on some of the servers, as "server:key".
func (c *cluster) keys(t testing.TB, servers ...int) (keys []string) {
	t.Helper()
	for _, i := range servers {
		c.each(t, []int{i}, func(ctx context.Context, view *redis.Client) error {
			scan := view.Scan(ctx, 0, "*", 1000).Iterator()
			for scan.Next(ctx) {
				keys = append(keys, fmt.Sprintf("%d:%s", i, scan.Val()))
			}
			return scan.Err()
		})
	}
	return keys
}

// strangers counts the connections to the servers that are not the test's own.
func (c *cluster) strangers(t testing.TB, servers ...int) (n int) {
	t.Helper()
	c.each(t, servers, func(ctx context.Context, view *redis.Client) error {
		list, err := view.ClientList(ctx).Result()
		n += strings.Count(list, "\n") - 1
		return err
	})
	return n
}

// used counts the connections to a server that are not the test's own and have carried a command of a lock: one that is being
// made is of no use yet, and may be given up.
func (c *cluster) used(t testing.TB, server int) (n int) {
	t.Helper()
	c.each(t, []int{server}, func(ctx context.Context, view *redis.Client) error {
		list, err := view.ClientList(ctx).Result()
		for line := range strings.Lines(list) {
			if _, last, _ := strings.Cut(line, " cmd="); slices.ContainsFunc([]string{"set", "eval", "del"}, func(of string) bool { return strings.HasPrefix(last, of) }) {
				n++
			}
		}
		return err
	})
	return n
}

// resource is what a lock protects here.
type resource struct {
	name    string
	holder  atomic.Pointer[redlock.Lease]
	counter atomic.Int64 // read and written in two steps
	written atomic.Int64 // increments known to have been written before the lease ended
	overdue atomic.Int64 // those by a goroutine that was held up until after: nothing can be said of the counter then
}

// enter is what the holder does first. Another that is found there has not begun to release; that both are within their
// leases is judged by a clock read after that, so that no delay of a goroutine can be taken for a second holder.
func (r *resource) enter(t *retry.T, lease *redlock.Lease) {
	if other := r.holder.Swap(lease); other != nil {
		now := time.Now()
		if now.Before(other.Until()) && now.Before(lease.Until()) {
			t.Found("two holders of %s: %s for %v more, %s for %v more", r.name,
				other.Value(), other.Until().Sub(now), lease.Value(), lease.Until().Sub(now))
		}
	}
}

func (r *resource) increment(lease *redlock.Lease, work time.Duration) {
	n := r.counter.Load()
	time.Sleep(work)
	if lease.Context().Err() != nil {
		return
	}
	r.counter.Store(n + 1)
	if time.Now().Before(lease.Until()) {
		r.written.Add(1)
	} else {
		r.overdue.Add(1)
	}
}

// leave is what the holder does last, before it releases.
func (r *resource) leave(lease *redlock.Lease) { r.holder.CompareAndSwap(lease, nil) }

func (r *resource) check(t *retry.T) {
	if n, written := r.counter.Load(), r.written.Load(); n != written && r.overdue.Load() == 0 {
		t.Found("%s: the counter is %d after %d increments under the lock", r.name, n, written)
	}
}

// census counts steps, and answers by node and outcome.
type census struct {
	mu      sync.Mutex
	steps   map[observe.Step]int
	answers map[string]map[driver.Outcome]int
}

func (c *census) Observe(_ context.Context, e observe.Event) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.steps[e.Step]++
	if e.Step != observe.NodeAnswered {
		return
	}
	if c.answers[e.Node.Node] == nil {
		c.answers[e.Node.Node] = map[driver.Outcome]int{}
	}
	c.answers[e.Node.Node][e.Node.Outcome]++
}

func (c *census) answered(node string, o driver.Outcome) int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.answers[node][o]
}

// vanished reports a lease that the nodes did not know any more although it is not about to end: somebody else deleted
// its keys. Its context ends lead before it does.
func vanished(lease *redlock.Lease, err error) bool {
	const lead = clusterTTL / 20
	return errors.Is(err, redlock.ErrLost) && time.Now().Before(lease.Until().Add(-lead))
}

// worker takes and releases locks until it is told to stop, as often as not with little patience.
type worker struct {
	client    *redlock.Client
	resources []resource
	stop      *atomic.Bool
	grants    atomic.Int64
	longest   time.Duration // that a patient call waited
	unsure    int           // extends and unlocks of which too few nodes were heard in time
}

const (
	clusterTTL   = time.Second
	clusterBound = time.Minute // for one lock, and for all workers to get theirs
)

func (w *worker) run(t *retry.T) {
	for !w.stop.Load() {
		r := &w.resources[rand.N(len(w.resources))]
		patient, limit := rand.N(2) == 0, clusterBound
		if !patient {
			limit = rand.N(100 * time.Millisecond)
		}
		ctx, cancel := context.WithTimeout(context.Background(), limit)
		start := time.Now()
		lease, err := w.client.Lock(ctx, r.name, clusterTTL)
		cancel()
		if patient {
			w.longest = max(w.longest, time.Since(start))
		}
		if err != nil {
			if patient || !errors.Is(err, redlock.ErrNotAcquired) || !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("Lock within %v: %v", limit, err)
			}
			continue
		}
		w.hold(t, r, lease)
		w.grants.Add(1)
	}
}

func (w *worker) hold(t *retry.T, r *resource, lease *redlock.Lease) {
	judge := func(what string, err error) {
		switch {
		case vanished(lease, err):
			t.Errorf("%s: the keys of a lease with %v left are gone: %v", what, time.Until(lease.Until()), err)
		case errors.Is(err, redlock.ErrNoQuorum), errors.Is(err, redlock.ErrLost), errors.Is(err, redlock.ErrTooLate):
			w.unsure++
		case err != nil:
			t.Errorf("%s: %v", what, err)
		}
	}
	r.enter(t, lease)
	r.increment(lease, rand.N(3*time.Millisecond))
	if rand.N(4) == 0 {
		judge("Extend", lease.Extend(context.Background(), clusterTTL))
		r.increment(lease, 0)
	}
	r.leave(lease)
	judge("Unlock", lease.Unlock(context.Background()))
}

const killed, hanging = 1, 3 // the servers to which that happens

var (
	healthy = []int{0, 2, 4} // those to which nothing happens
	alive   = []int{0, 2, 3, 4}
)

// crew is four processes of four goroutines over four resources on five servers.
type crew struct {
	*cluster
	t         *retry.T
	seen      *census
	resources []resource
	clients   []*redlock.Client
	nodes     []goredis.Nodes
	workers   []*worker
	stop      atomic.Bool
	running   sync.WaitGroup
	begin     time.Time
	mark      string // of the crew's goroutines
}

var crews atomic.Int64

// goroutines gives the stacks of the crew's goroutines, and of all that those started: goroutines inherit labels. Tests run
// beside this one, so a goroutine that was not there before need not be the crew's.
func (w *crew) goroutines() (stacks []string) {
	var all bytes.Buffer
	if err := pprof.Lookup("goroutine").WriteTo(&all, 1); err != nil {
		w.t.Fatal(err)
	}
	for stack := range strings.SplitSeq(all.String(), "\n\n") {
		if strings.Contains(stack, fmt.Sprintf("# labels: {%q:%q}", "crew", w.mark)) {
			stacks = append(stacks, stack)
		}
	}
	return stacks
}

// startCrew has the workers begin; end stops them.
func startCrew(t *retry.T, c *cluster) *crew {
	w := &crew{cluster: c, t: t, resources: make([]resource, 4), mark: fmt.Sprint(crews.Add(1)),
		seen: &census{steps: map[observe.Step]int{}, answers: map[string]map[driver.Outcome]int{}}}
	pprof.Do(t.Context(), pprof.Labels("crew", w.mark), func(context.Context) { w.start(c) })
	if n := len(w.goroutines()); n == 0 {
		t.Fatal("the workers are not found among the goroutines, nor would what they leave be")
	}
	return w
}

func (w *crew) start(c *cluster) {
	for i := range w.resources {
		w.resources[i].name = fmt.Sprint("resource-", i)
	}
	for range 4 {
		client, own := c.open(w.t, redlock.WithObserver(w.seen), redlock.WithNodeTimeout(clusterTTL/10))
		w.clients, w.nodes = append(w.clients, client), append(w.nodes, own)
		for range 4 {
			w.workers = append(w.workers, &worker{client: client, resources: w.resources, stop: &w.stop})
		}
	}
	w.begin = time.Now()
	for _, worker := range w.workers {
		w.running.Go(func() { worker.run(w.t) })
	}
}

func (w *crew) end() {
	w.stop.Store(true)
	w.running.Wait()
}

// work waits until a phase has passed and every worker was granted so many more locks, which one that hangs is not.
func (w *crew) work(when string) {
	w.t.Helper()
	phase, grants := clusterTTL+clusterTTL/2, int64(5)
	if testing.Short() {
		phase, grants = clusterTTL/4, 3
	}
	min := time.Now().Add(phase)
	want := make([]int64, len(w.workers))
	for i, worker := range w.workers {
		want[i] = worker.grants.Load() + grants
	}
	eventually(w.t, clusterBound, fmt.Sprintf("%d more locks for each worker %s", grants, when), func() bool {
		for i, worker := range w.workers {
			if worker.grants.Load() < want[i] {
				return false
			}
		}
		return time.Now().After(min)
	})
}

// checkKeys: where every command was answered, no key has to wait for its TTL, and after it none is anywhere. It gives how
// many commands healthy servers left unanswered.
func (w *crew) checkKeys() (unanswered int) {
	w.t.Helper()
	for _, i := range healthy {
		addr := w.servers[i].Addr
		n := w.seen.answered(addr, driver.TimedOut) + w.seen.answered(addr, driver.Refused) + w.seen.answered(addr, driver.Failed)
		if unanswered += n; n > 0 {
			continue
		}
		if keys := w.keys(w.t, i); len(keys) != 0 {
			w.t.Errorf("left on a server that answered every command: %v", keys)
		}
	}
	time.Sleep(clusterTTL + 10*time.Millisecond) // Redis rounds to 1 ms
	if keys := w.keys(w.t, alive...); len(keys) != 0 {
		w.t.Errorf("left after one TTL: %v", keys)
	}
	return unanswered
}

// checkClosed closes the nodes: neither a connection nor a goroutine of the crew may be left.
func (w *crew) checkClosed() {
	w.t.Helper()
	for _, own := range w.nodes {
		if err := own.Close(); err != nil {
			w.t.Error(err)
		}
	}
	eventually(w.t, patience, "only the test's own connections are left", func() bool { return w.strangers(w.t, alive...) == 0 })
	// go-redis' own probe of a server that refused its dials notices only after a sleep of 1 s that its pool is closed.
	for start := time.Now(); len(w.goroutines()) > 0 && time.Since(start) < patience; {
		time.Sleep(10 * time.Millisecond)
	}
	for _, stack := range w.goroutines() {
		w.t.Errorf("a goroutine is left:\n%s", stack)
	}
}

// checkWork: no increment was lost, and enough happened for that to say something. It gives what happened, in words.
func (w *crew) checkWork() string {
	w.t.Helper()
	var total, overdue int64
	var longest time.Duration
	unsure := 0
	for _, worker := range w.workers {
		total, unsure, longest = total+worker.grants.Load(), unsure+worker.unsure, max(longest, worker.longest)
	}
	for i := range w.resources {
		w.resources[i].check(w.t)
		overdue += w.resources[i].overdue.Load()
	}
	if w.seen.steps[observe.Denied] == 0 || w.seen.answered(w.servers[killed].Addr, driver.Refused) == 0 ||
		w.seen.answered(w.servers[hanging].Addr, driver.TimedOut) == 0 {
		w.t.Errorf("too little happened: %v %v", w.seen.steps, w.seen.answers)
	}
	return fmt.Sprintf("%d grants and %d failed attempts, longest wait %v; %d extends and unlocks unsure, %d increments overdue; "+
		"%d votes joined, %d taken back", total, w.seen.steps[observe.Denied], longest.Round(time.Millisecond), unsure, overdue,
		w.seen.steps[observe.Joined], w.seen.steps[observe.TakenBack])
}

// One server is killed and one hangs for a while: never two holders, the work goes on, and afterwards nothing is left.
func TestCluster(t *testing.T) {
	t.Parallel()
	retry.Test(t, disturbing, func(t *retry.T) {
		c := startCluster(t)
		w := startCrew(t, c)
		defer w.end() // if the test ends early
		w.work("at first")
		c.servers[killed].Kill()
		c.servers[hanging].Pause()
		w.work("with one server killed and one hanging")
		c.servers[hanging].Resume()
		stale := len(c.keys(t, hanging))
		w.work("with one server killed")
		w.end()
		took := time.Since(w.begin)
		for _, client := range w.clients {
			closeWithin(t, clusterBound, client)
		}
		unanswered := w.checkKeys()
		w.checkClosed()
		t.Logf("in %v: %s; %d keys on the hanging server as it went on; %d commands unanswered by healthy servers",
			took.Round(time.Millisecond), w.checkWork(), stale, unanswered)
	})
}

// warmUp leaves every server with the scripts and with two idle connections of the client: on a new one go-redis says
// HELLO first, and to a server that hangs it says nothing more.
func (c *cluster) warmUp(t testing.TB, client *redlock.Client) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), clusterBound)
	defer cancel()
	for ready := false; !ready; {
		var wg sync.WaitGroup
		for i := range 4 {
			wg.Go(func() {
				lease, err := client.Lock(ctx, fmt.Sprint("warm-up-", i), ttl)
				if err == nil {
					err = lease.Unlock(ctx)
				}
				if err != nil {
					t.Error(err)
				}
			})
		}
		wg.Wait()
		eventually(t, patience, "every server has answered", func() bool { return len(c.keys(t, everyServer...)) == 0 })
		ready = true
		for i := range c.servers {
			ready = ready && c.used(t, i) >= 2
		}
		if t.Failed() {
			t.FailNow()
		}
	}
}

// An attempt that fails leaves no key to its TTL on a server that can be reached, and touches none of another holder.
func TestClusterCleanUp(t *testing.T) {
	const inTime, afterwards = true, false
	for _, test := range []struct {
		name        string
		taken       []int // where the key is another's
		hang        []int // the servers that hang as the attempt is made
		resumed     bool  // in time to answer, or not before the client has given up waiting for the release as well
		nodeTimeout time.Duration
		want        error
	}{
		{"all answer", []int{0, 1, 2}, nil, inTime, patience, redlock.ErrTaken},
		{"a vote comes late", []int{0, 1, 2}, []int{4}, inTime, patience, redlock.ErrTaken},
		// The attempt fails by the node timeout, long after the SETs were sent: the releases wait behind them.
		{"votes are never heard of", []int{0, 1}, []int{3, 4}, afterwards, time.Second, redlock.ErrNoQuorum},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			retry.Test(t, disturbing, func(t *retry.T) {
				c := startCluster(t)
				client, _ := c.open(t, redlock.WithNodeTimeout(test.nodeTimeout*t.Slower))
				c.warmUp(t, client)
				c.each(t, test.taken, func(ctx context.Context, view *redis.Client) error {
					return view.Set(ctx, "r", "another's value", time.Hour).Err()
				})
				var others []string // and not what the warm-up is still about to release
				for _, i := range test.taken {
					others = append(others, fmt.Sprintf("%d:r", i))
				}
				resume := func() {
					for _, i := range test.hang {
						c.servers[i].Resume()
					}
				}
				for _, i := range test.hang {
					c.servers[i].Pause()
				}

				lease, err := client.TryLock(context.Background(), "r", time.Hour)
				if lease != nil || !errors.Is(err, test.want) {
					t.Fatalf("lease %v, error %v", lease, err)
				}
				if test.resumed == inTime {
					resume()
				}
				closeWithin(t, 3*patience, client)
				if test.resumed == inTime { // then Close has waited until all is clean
					if keys := c.keys(t, everyServer...); !slices.Equal(keys, others) {
						t.Errorf("on the servers: %v, want %v", keys, others)
					}
					return
				}
				resume()
				eventually(t, patience, "only the other's keys are left", func() bool {
					return slices.Equal(c.keys(t, everyServer...), others)
				})
			})
		})
	}
}

// outlives checks that an extended lease is held beyond its first TTL, by its own context and on a majority of the servers.
func (c *cluster) outlives(t testing.TB, lease *redlock.Lease, first time.Time) {
	t.Helper()
	if more := lease.Until().Sub(first); more < ttl/2 {
		t.Errorf("extended by %v", more)
	}
	time.Sleep(time.Until(first) + clusterTTL/10) // the drift allowance of the first TTL has passed as well
	if err := lease.Context().Err(); err != nil {
		t.Errorf("the context ended with the first TTL: %v", context.Cause(lease.Context()))
	}
	holds := 0
	c.each(t, everyServer, func(ctx context.Context, view *redis.Client) error {
		value, err := view.Get(ctx, "r").Result()
		if value == lease.Value() {
			holds++
		}
		if errors.Is(err, redis.Nil) {
			return nil
		}
		return err
	})
	if holds < 3 {
		t.Errorf("%d servers hold the key after the first TTL", holds)
	}
}

// forgotten has a majority of the servers forget a lease, and checks that extending it fails and leaves it ended, not longer,
// and without keys on those servers.
func (c *cluster) forgotten(ctx context.Context, t testing.TB, lease *redlock.Lease) {
	t.Helper()
	until := lease.Until()
	c.each(t, []int{1, 2, 3}, func(ctx context.Context, view *redis.Client) error { return view.FlushAll(ctx).Err() })
	if err := lease.Extend(ctx, ttl); !errors.Is(err, redlock.ErrLost) {
		t.Errorf("Extend after the servers forgot the key: %v", err)
	}
	select {
	case <-lease.Context().Done():
		if cause := context.Cause(lease.Context()); cause != redlock.ErrLost {
			t.Errorf("the context ended with %v", cause)
		}
	default:
		t.Error("the context of the lost lease lives on")
	}
	if !lease.Until().Equal(until) {
		t.Errorf("the failed Extend moved the end of the lease by %v", lease.Until().Sub(until))
	}
	for _, k := range c.keys(t, 1, 2, 3) {
		t.Errorf("made again by the failed Extend: %s", k)
	}
}

// A lease outlives its first TTL on real servers once it is extended, and is lost with the memory of three of them.
func TestClusterExtend(t *testing.T) {
	t.Parallel()
	retry.Test(t, disturbing, func(t *retry.T) {
		c := startCluster(t)
		client, _ := c.open(t, redlock.WithNodeTimeout(patience))
		other, _ := c.open(t, redlock.WithNodeTimeout(patience))
		ctx, cancel := context.WithTimeout(context.Background(), clusterBound)
		defer cancel()
		c.warmUp(t, client) // so that no SET is under way any more when the servers forget

		lease, err := client.Lock(ctx, "r", clusterTTL)
		if err != nil {
			t.Fatal(err)
		}
		first := lease.Until()
		if err := lease.Extend(ctx, ttl); err != nil {
			t.Fatal(err)
		}
		c.outlives(t, lease, first)
		if _, err := other.TryLock(ctx, "r", ttl); !errors.Is(err, redlock.ErrTaken) {
			t.Errorf("another client: %v", err)
		}
		closeWithin(t, clusterBound, other)

		c.forgotten(ctx, t, lease)
		if err := lease.Unlock(ctx); !errors.Is(err, redlock.ErrLost) {
			t.Errorf("Unlock: %v", err)
		}
		closeWithin(t, clusterBound, client)
		if keys := c.keys(t, everyServer...); len(keys) != 0 {
			t.Errorf("left: %v", keys)
		}
	})
}
