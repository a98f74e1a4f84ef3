//go:build unix

package main

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"
)

// cell is what is measured together: contenders that want one lock, and do some work under it.
type cell struct {
	On         string `json:"on"`
	Work       string `json:"work"`
	Contenders int    `json:"contenders"`
	With       string `json:"with"`
	// OneClient is set where the contenders are goroutines of one client. Otherwise each is a client of its own with
	// connections of its own, as a process is.
	OneClient bool `json:"one_client,omitempty"`
}

func (c cell) String() string {
	text := fmt.Sprintf("on=%s/work=%s/contenders=%d/with=%s", c.On, c.Work, c.Contenders, c.With)
	if c.OneClient {
		text += "/of=one-client"
	}
	return text
}

// redsyncAtBest is the contestant that the others are compared with.
const redsyncAtBest = "redsync-failfast"

// cells are all of a round, in the order of the tables: this library everywhere, and its peers where they can be compared.
func cells() (all []cell) {
	const short = "2ms"
	for _, on := range conditions {
		for _, with := range []string{"redlock", "redlock-wakeup", redsyncAtBest, "redislock", "rueidislock"} {
			for _, work := range []string{"0s", short, "20ms"} {
				for _, n := range []int{2, 8, 32, 128} {
					of := cell{On: on.name, Work: work, Contenders: n, With: with}
					isCompared := work == short && (on.isHealthy() || on.isSilent && of.contestant().servers > 1)
					if strings.HasPrefix(with, "redlock") || isCompared {
						all = append(all, of)
					}
				}
			}
		}
		if on.isHealthy() {
			all = append(all, cell{On: on.name, Work: short, Contenders: 64, With: "redlock", OneClient: true})
		}
	}
	return all
}

func (c cell) contestant() *contestant {
	return &contestants[slices.IndexFunc(contestants, func(who contestant) bool { return who.name == c.With })]
}

func (c cell) condition() *condition {
	return &conditions[slices.IndexFunc(conditions, func(on condition) bool { return on.name == c.On })]
}

// result is what a round measured in a cell.
type result struct {
	Round int `json:"round"`
	cell
	RoundTrip   float64 `json:"round_trip_ms"` // of a lock that nobody else wants
	Wanted      int     `json:"wanted"`
	Grants      int     `json:"grants"`
	Overhead    float64 `json:"overhead"`
	Commands    float64 `json:"commands"` // sent for each grant; 0 of clients that do not tell
	LongestWait float64 `json:"longest_wait_ms"`
	Served      int     `json:"served"`  // contenders that had a grant
	Doubled     int     `json:"doubled"` // grants while another had the lock
	Failed      int     `json:"failed"`  // calls that returned an error, and not for want of time
	Failure     string  `json:"failure,omitempty"`
	repeated    int     // grants that were no handover
}

const (
	// limit is how long a cell is measured at most. It is shorter than the TTL, so that no lock expires.
	limit = 6 * time.Second

	// contendedKey is the key that contenders want. The victim is its gate, the node that contenders of this library ask
	// first: that is the worst case.
	contendedKey = "contended-1"
)

// time is the work as a length of time.
func (c cell) time() time.Duration {
	d, _ := time.ParseDuration(c.Work) // it is one of works
	return d
}

// share is how often each contender is to get the lock: about 200 grants in all, and 80 where the work is long.
func (c cell) share() int {
	all := 200
	if c.time() >= 20*time.Millisecond {
		all = 80
	}
	return max(1, all/c.Contenders)
}

// race is contenders at work.
type race struct {
	*result
	share int

	mu      sync.Mutex
	holders int
	last    int // who had the lock last
	running int // contenders that have not had their share
	longest time.Duration
	served  map[int]bool
	changed *sync.Cond    // with every grant, when a contender has finished, and at the limit
	half    chan struct{} // closed when half of the grants were made
}

// contend measures a cell. Each contender wants a number of grants, and gives way after each: it asks again only when another
// has had the lock, so that every grant is a handover.
func (c *cluster) contend(ctx context.Context, of cell, who *contestant, share int) (r *result, err error) {
	if err := c.flush(ctx); err != nil {
		return nil, err
	}
	roundTrip, err := c.roundTrip(ctx)
	if err != nil {
		return nil, err
	}
	stage, err := c.stage(of.condition())
	if err != nil {
		return nil, err
	}
	defer stage.close()
	clients, err := of.open(ctx, who, stage.addrs)
	defer closeAll(clients)
	if err != nil {
		return nil, err
	}
	if err := stage.inject(ctx); err != nil {
		return nil, err
	}
	before := sent.Load()
	r = &result{cell: of, RoundTrip: inMs(roundTrip), Wanted: share * of.Contenders}
	contention := &race{result: r, share: share, last: -1, running: of.Contenders, served: map[int]bool{}, half: make(chan struct{})}
	contention.changed = sync.NewCond(&contention.mu)
	took, err := contention.run(ctx, clients, stage)
	if err != nil {
		return nil, err
	}
	// What is still on its way when the last has let go belongs to the cell: releases on the other servers.
	if _, err := c.settled(ctx); err != nil {
		return nil, err
	}
	grants := float64(max(1, r.Grants))
	r.Overhead = took.Seconds() / (grants * (of.time() + roundTrip).Seconds())
	r.Commands = float64(sent.Load()-before) / grants
	r.LongestWait, r.Served = inMs(contention.longest), len(contention.served)
	return r, err
}

// open opens the clients of a cell, and their connections, and loads scripts. The caller closes them, also after an error.
func (c cell) open(ctx context.Context, who *contestant, addrs []string) (clients []locker, err error) {
	for len(clients) == 0 || len(clients) < c.Contenders && !c.OneClient {
		client, err := who.opened(addrs)
		if err != nil {
			return clients, err
		}
		clients = append(clients, client)
		for range 2 {
			if err := lockAndUnlock(ctx, client, fmt.Sprintf("opened-%d", len(clients))); err != nil {
				return clients, err
			}
		}
	}
	return clients, nil
}

func closeAll(clients []locker) {
	var all sync.WaitGroup
	for _, client := range clients {
		all.Go(client.close)
	}
	all.Wait()
}

// run has the contenders begin together, and says how long they took. An error is the harness's own.
func (r *race) run(ctx context.Context, clients []locker, stage *stage) (took time.Duration, err error) {
	var contenders, midway sync.WaitGroup
	over := make(chan struct{})
	midway.Go(func() {
		select {
		case <-r.half:
			err = stage.midway(ctx)
		case <-over:
		}
	})
	limited, cancel := context.WithCancel(ctx) // a deadline would reach the connections, and end them before it
	defer cancel()
	begin := time.Now()
	defer time.AfterFunc(limit, cancel).Stop()
	for i := range r.Contenders {
		contenders.Go(func() {
			own, cancel := context.WithCancel(limited)
			defer cancel()
			defer context.AfterFunc(own, func() {
				r.mu.Lock()
				defer r.mu.Unlock()
				r.changed.Broadcast()
			})()
			r.contend(own, i, clients[i%len(clients)])
		})
	}
	contenders.Wait()
	took = time.Since(begin)
	close(over)
	midway.Wait()
	if ctx.Err() != nil {
		err = ctx.Err()
	}
	return took, err
}

func (r *race) contend(ctx context.Context, i int, lock locker) {
	defer r.finish()
	for range r.share {
		asked := time.Now()
		h, err := lock.lock(ctx, contendedKey)
		if !r.got(ctx, i, time.Since(asked), err) {
			return
		}
		time.Sleep(r.time())
		r.leave()
		r.note(h.Unlock(context.WithoutCancel(ctx)))
		r.giveWay(ctx, i)
	}
}

// got takes the answer that a contender got, and reports whether that was a grant.
func (r *race) got(ctx context.Context, i int, waited time.Duration, err error) bool {
	if ctx.Err() == nil {
		r.note(err)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.longest = max(r.longest, waited)
	if err != nil {
		return false
	}
	if r.holders++; r.holders > 1 {
		r.Doubled++
	}
	if r.last == i && r.running > 1 {
		r.repeated++
	}
	r.last, r.served[i] = i, true
	if r.Grants++; r.Grants == (r.Wanted+1)/2 {
		close(r.half)
	}
	r.changed.Broadcast()
	return true
}

func (r *race) leave() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.holders--
}

func (r *race) note(err error) {
	if err == nil {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.Failed++
	r.Failure = err.Error()
}

// giveWay waits until another contender has had the lock, or none is left.
func (r *race) giveWay(ctx context.Context, i int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for r.last == i && r.running > 1 && ctx.Err() == nil {
		r.changed.Wait()
	}
}

func (r *race) finish() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.running--
	r.changed.Broadcast()
}

// roundTrip is the median of what locks take that nobody else wants.
func (c *cluster) roundTrip(ctx context.Context) (time.Duration, error) {
	lock, err := contestants[0].opened(c.addrs())
	if err != nil {
		return 0, err
	}
	defer lock.close()
	const warmUp, measured = 50, 250
	var all []time.Duration
	for range warmUp + measured {
		begin := time.Now()
		h, err := lock.lock(ctx, "round-trip")
		if err != nil {
			return 0, err
		}
		all = append(all, time.Since(begin))
		if err := h.Unlock(ctx); err != nil {
			return 0, err
		}
	}
	return median(all[warmUp:]), nil
}

func lockAndUnlock(ctx context.Context, l locker, key string) error {
	h, err := l.lock(ctx, key)
	if err != nil {
		return err
	}
	return h.Unlock(ctx)
}

func inMs(d time.Duration) float64 { return d.Seconds() * 1e3 }
