//go:build linux

package live

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/redis/go-redis/v9"

	"redlocksim/history"
	"redlocksim/internal/faketime"
	"redlocksim/redlock"
	"redlocksim/redlock/driver"
	"redlocksim/redlock/goredis"
	"redlocksim/redlock/observe"
	"redlocksim/scenarios"
	"redlocksim/scenarios/protocols"
)

// leaveTimeout is how long a crew that leaves waits for what it has closed to end. A go-redis pool that could not reach its
// server leaves a probe behind for about a second.
const leaveTimeout = 5 * time.Second

// crew is a client process of a soak: many clients that share its connections. Each has a redlock.Client of its own, so that
// all of them contend at the nodes; those of one redlock.Client would queue inside it.
type crew struct {
	crewRole
	pen     *pen
	ttl     time.Duration
	clock   lockClock
	redis   []*redis.Client
	clients []*redlock.Client
	ops     atomic.Int64

	rest    context.CancelFunc // ends the work under way
	working sync.WaitGroup
	shifts  uint64 // how often they have begun to work

	goroutines, sockets int // before there was any client
}

// newCrew makes a crew and has it begin to work. Plant, if not nil, puts something between the library and each node.
func newCrew(r *crewRole, p *pen, plant func(driver.Node) driver.Node) (*crew, error) {
	c := &crew{crewRole: *r, pen: p, clock: newMonotonic(), goroutines: runtime.NumGoroutine(), sockets: sockets()}
	all, err := scenarios.Parse("soak.yaml", []byte(r.Settings))
	if err != nil {
		return nil, err
	}
	s := all[0]
	c.ttl = s.Lock.TTL
	var nodes []driver.Node
	for i, addr := range r.Nodes {
		rc := goredis.NewClient(&redis.Options{Addr: addr})
		c.redis = append(c.redis, rc)
		n, err := goredis.NewNode(rc, goredis.Name(s.Nodes.Names[i]))
		if err != nil {
			return nil, err
		}
		if nodes = append(nodes, n); plant != nil {
			nodes[i] = plant(n)
		}
	}
	for range c.Clients {
		client, err := redlock.New(nodes, append(s.Lock.Options(), redlock.WithObserver(c))...)
		if err != nil {
			return nil, err
		}
		c.clients = append(c.clients, client)
	}
	c.work()
	return c, nil
}

// obey does what an order says.
func (c *crew) obey(o order) {
	switch {
	case o.Work:
		c.work()
	case o.Rest:
		c.rest()
		go func() {
			c.working.Wait()
			c.pen.tell(notice{Rested: true})
		}()
	case o.Take != "":
		go c.take(o.Take, o.Within)
	case o.Leave:
		c.pen.tell(notice{Left: c.leave()})
	}
}

// work has every client take locks until the crew is to rest.
func (c *crew) work() {
	ctx, rest := context.WithCancel(context.Background())
	c.rest = rest
	c.shifts++
	for i, name := range c.workers(c.Name) {
		random := rand.New(rand.NewPCG(c.Seed, uint64(c.Index)<<40|c.shifts<<20|uint64(i)))
		c.working.Go(func() {
			for ctx.Err() == nil {
				sleep(ctx, time.Duration(random.Int64N(int64(longestPause))))
				if ctx.Err() == nil {
					c.tenure(ctx, c.clients[i/c.Goroutines], name, random)
				}
			}
		})
	}
}

// longestPause is how long a client of a soak does without a lock at the most.
const longestPause = 400 * time.Millisecond

// take takes a lock and gives it back.
func (c *crew) take(lock string, within time.Duration) {
	ctx, cancel := context.WithTimeout(context.Background(), within)
	defer cancel()
	if t := c.acquire(ctx, c.Name+"-"+lock, lock, c.clients[0].Lock); t != nil {
		t.release()
	}
	c.pen.tell(notice{Taken: lock})
}

// tenure is one of the things that clients do with a lock: most hold it for a moment; some for as long as it is good for, or
// longer; some extend or renew it; and some hang, so that it runs out.
func (c *crew) tenure(ctx context.Context, client *redlock.Client, name string, random *rand.Rand) {
	lock := c.Locks[random.IntN(len(c.Locks))]
	upTo := func(d time.Duration) time.Duration { return time.Duration(random.Int64N(int64(d) + 1)) }
	var t *claim
	if random.IntN(10) == 0 {
		t = c.acquire(ctx, name, lock, client.TryLock)
	} else {
		patient, cancel := context.WithTimeout(ctx, upTo(2*c.ttl))
		defer cancel()
		t = c.acquire(patient, name, lock, client.Lock)
	}
	if t == nil {
		return
	}
	// Work ends with the lease, or when the crew is to rest.
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(t.lease.Context(), cancel)()
	switch n := random.IntN(100); {
	case n < 2:
		sleep(ctx, upTo(c.ttl/2))
		_ = t.lease.Extend(context.WithoutCancel(ctx), c.ttl) // what came of it is told by Observe
		sleep(ctx, upTo(c.ttl/2))
	case n < 4:
		_ = t.lease.Renew(ctx, redlock.Renewal{}, func(ctx context.Context) error {
			sleep(ctx, upTo(2*c.ttl))
			return nil
		})
	case n < 5:
		<-ctx.Done()
	case n < 6: // it hangs, and never releases
		<-t.lease.Context().Done()
		sleep(context.Background(), t.lease.Until().Sub(c.clock.Now()))
		return
	case n < 80:
		sleep(ctx, upTo(20*time.Millisecond))
	}
	t.release()
}

// claim is a lock that a client has, or asks for.
type claim struct {
	crew         *crew
	client, lock string
	lease        *redlock.Lease
	grant        int
	op           int // the extension under way
}

type claimKey struct{}

// acquire asks for a lock, and returns nil if it was not granted.
func (c *crew) acquire(ctx context.Context, client, lock string, by func(context.Context, string, time.Duration) (*redlock.Lease, error)) *claim {
	t := &claim{crew: c, client: client, lock: lock, grant: c.newOp()}
	t.record(history.Event{Kind: history.Call, Func: history.Acquire, Op: t.grant})
	lease, err := by(context.WithValue(ctx, claimKey{}, t), lock, c.ttl)
	e := history.Event{Kind: history.Return, Func: history.Acquire, Op: t.grant}
	if err != nil {
		if errors.Is(err, redlock.ErrInvalid) || errors.Is(err, redlock.ErrClosed) {
			c.pen.tell(notice{Fatal: fmt.Sprintf("live: %s: %v", client, err)})
		}
		e.Outcome, e.Detail = history.Failed, protocols.Reason(err)
		t.record(e)
		return nil
	}
	t.lease = lease
	e.Outcome, e.Grant = history.OK, t.grant
	e.Token, _ = lease.Token()
	t.record(e)
	return t
}

// release gives the lock back. The client's belief ends before it asks.
func (t *claim) release() {
	t.crew.pen.tell(notice{Belief: &belief{Grant: t.grant, Process: t.client, Resource: t.lock}})
	op := t.call(history.Release)
	t.returned(op, history.Release, t.lease.Unlock(context.Background()))
}

func (t *claim) call(f history.Func) int {
	op := t.crew.newOp()
	t.record(history.Event{Kind: history.Call, Func: f, Op: op, Grant: t.grant})
	return op
}

func (t *claim) returned(op int, f history.Func, err error) {
	outcome, detail := protocols.Outcome(err)
	t.record(history.Event{Kind: history.Return, Func: f, Op: op, Grant: t.grant, Outcome: outcome, Detail: detail})
}

func (t *claim) record(e history.Event) {
	e.Process, e.Resource = t.client, t.lock
	t.crew.pen.tell(notice{Event: &e})
}

// Observe tells of what the library does: attempts and waits for a turn, and until when its grants and extensions are good.
func (c *crew) Observe(ctx context.Context, e observe.Event) {
	t := ctx.Value(claimKey{}).(*claim)
	switch e.Step {
	case observe.AttemptStarted, observe.Queued:
		t.record(history.Event{Kind: history.Step, Name: e.Step.String(), Op: t.grant, Grant: t.grant, Number: int64(e.Attempt)})
	case observe.Granted:
		t.believe(e.Until)
	case observe.ExtendStarted:
		t.op = t.call(history.Extend)
	case observe.Extended:
		t.believe(e.Until)
		t.returned(t.op, history.Extend, nil)
	case observe.NotExtended:
		t.returned(t.op, history.Extend, e.Err)
	}
}

func (t *claim) believe(until time.Time) {
	t.crew.pen.tell(notice{Belief: &belief{Grant: t.grant, Until: t.crew.clock.reading(until), Process: t.client, Resource: t.lock}})
}

// newOp numbers an operation: no two processes have the same.
func (c *crew) newOp() int { return c.Index<<32 | int(c.ops.Add(1)) }

// leave closes everything and says what is left.
func (c *crew) leave() *left {
	c.rest()
	c.working.Wait()
	ctx, cancel := context.WithTimeout(context.Background(), leaveTimeout)
	defer cancel()
	var err error
	for _, client := range c.clients {
		err = errors.Join(err, client.Close(ctx))
	}
	for _, rc := range c.redis {
		err = errors.Join(err, rc.Close())
	}
	l := &left{}
	for deadline := time.Now().Add(leaveTimeout); ; time.Sleep(10 * time.Millisecond) {
		*l = left{Goroutines: max(runtime.NumGoroutine()-c.goroutines, 0), Connections: max(sockets()-c.sockets, 0)}
		if l.Goroutines+l.Connections == 0 && err == nil {
			return l
		}
		if err != nil || time.Now().After(deadline) {
			stacks := make([]byte, 1<<16)
			l.Stacks = strings.TrimSpace(fmt.Sprintln(err, string(stacks[:runtime.Stack(stacks, true)])))
			return l
		}
	}
}

// sockets is how many sockets the process has open.
func sockets() int {
	links, err := filepath.Glob("/proc/self/fd/*")
	if err != nil {
		return 0
	}
	n := 0
	for _, link := range links {
		if to, err := os.Readlink(link); err == nil && strings.HasPrefix(to, "socket:") {
			n++
		}
	}
	return n
}

// sleep lets time pass, until ctx ends.
func sleep(ctx context.Context, d time.Duration) {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
	case <-ctx.Done():
	}
}

// pen writes notices.
type pen struct {
	mu  sync.Mutex
	out *json.Encoder
}

// tell sends a notice, with the time.
func (p *pen) tell(n notice) {
	p.mu.Lock()
	defer p.mu.Unlock()
	n.At = faketime.MachineTime()
	_ = p.out.Encode(n) // a parent that is gone reads nothing
}
