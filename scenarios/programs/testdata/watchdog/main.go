// Command watchdog is a lock on the first node that renews its leases by itself every third of their TTL. With an argument it has
// a bug: in what it keeps from one lock to the next, or in the unit in which it counts.
package main

import (
	"bufio"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"
	"time"

	"redlocksim/lockprogram"
)

func main() {
	lockprogram.Serve(func(env lockprogram.Env) (lockprogram.Locker, error) {
		l := &locker{Env: env, held: map[*lease]bool{}}
		if len(os.Args) > 1 {
			l.bug = os.Args[1]
		}
		return l, nil
	})
}

type locker struct {
	lockprogram.Env
	bug string

	mu                   sync.Mutex // guards what follows
	first                string     // the value of the first lock
	held                 map[*lease]bool
	hasLost, hasReleased bool // one of them
}

func (*locker) About() lockprogram.About {
	return lockprogram.About{Library: "watchdog", Version: "1", OneNode: true, TellsUntil: true, TellsLost: true, Renews: true}
}

func (l *locker) Lock(ctx context.Context, resource string, ttl time.Duration) (lockprogram.Lease, error) {
	return lockprogram.LockByTrying(ctx, func(ctx context.Context) (lockprogram.Lease, error) { return l.TryLock(ctx, resource, ttl) })
}

func (l *locker) TryLock(ctx context.Context, resource string, ttl time.Duration) (lockprogram.Lease, error) {
	x := &lease{Term: lockprogram.NewTerm(time.Now().Add(ttl)), locker: l, resource: resource, value: rand.Text(), ttl: ttl}
	if err := l.do(ctx, "+OK", "SET", resource, x.value, "NX", "PX", fmt.Sprint(ttl.Milliseconds())); err != nil {
		return nil, err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	isFirst := l.first == ""
	if isFirst {
		l.first = x.value
	}
	if l.held[x] = true; isFirst || l.bug != "starts-once" {
		go x.watch()
	}
	return x, nil
}

type lease struct {
	*lockprogram.Term
	*locker
	resource, value string
	ttl             time.Duration
}

// watch keeps the lease alive until it is released or lost.
func (x *lease) watch() {
	x.Keep(x.ttl/3, nil, x.renew)
	x.mu.Lock()
	defer x.mu.Unlock()
	x.hasLost = x.hasLost || x.held[x]
}

func (x *lease) renew(ctx context.Context) (time.Time, error) {
	asked, value, ttl := time.Now(), x.value, x.ttl
	switch x.bug {
	case "first-value":
		value = x.first
	case "whole-seconds":
		ttl = ttl.Truncate(time.Second)
	}
	x.mu.Lock()
	isStopped := x.bug == "stops-all" && x.hasReleased
	x.mu.Unlock()
	if isStopped { // and does not notice
		return asked.Add(x.ttl), nil
	}
	err := x.do(ctx, ":1", "EVAL", extend, "1", x.resource, value, fmt.Sprint(ttl.Milliseconds()))
	if errors.Is(err, errOther) && x.bug == "first-value" { // it only looks whether there is an answer
		err = nil
	}
	return asked.Add(x.ttl), err
}

func (x *lease) Unlock(ctx context.Context) error {
	x.mu.Lock()
	x.hasReleased = true
	delete(x.held, x)
	isOver := x.bug == "stays-lost" && x.hasLost
	x.mu.Unlock()
	x.Release()
	if isOver {
		return lockprogram.Refused(errors.New("lost"))
	}
	return x.do(ctx, ":1", "EVAL", remove, "1", x.resource, x.value)
}

const (
	remove = "if redis.call('get', KEYS[1]) == ARGV[1] then return redis.call('del', KEYS[1]) end return 0"
	extend = "if redis.call('get', KEYS[1]) == ARGV[1] then return redis.call('pexpire', KEYS[1], ARGV[2]) end return 0"
)

// errOther is refused: the answer is not the one that is wanted.
var errOther = errors.New("another has it")

// do sends the first node a command over a connection of its own, and compares the first line of the answer with what is wanted.
func (l *locker) do(ctx context.Context, want string, words ...string) error {
	ctx, cancel := context.WithTimeout(ctx, l.NodeTimeout)
	defer cancel()
	c, err := l.Dial(ctx, "tcp", l.Nodes[0])
	if err != nil {
		return err
	}
	defer c.Close()
	var b strings.Builder
	fmt.Fprintf(&b, "*%d\r\n", len(words))
	for _, w := range words {
		fmt.Fprintf(&b, "$%d\r\n%s\r\n", len(w), w)
	}
	deadline, _ := ctx.Deadline()
	if err := c.SetDeadline(deadline); err != nil {
		return err
	}
	if _, err := c.Write([]byte(b.String())); err != nil {
		return err
	}
	line, err := bufio.NewReader(c).ReadString('\n')
	if err == nil && line != want+"\r\n" {
		err = lockprogram.Refused(errOther)
	}
	return err
}
