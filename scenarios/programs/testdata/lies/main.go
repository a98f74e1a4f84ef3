// Command lies is a lock on a majority of nodes, with a value for each lease, that does what its argument says and answers as if
// it had not. With waits, busy-waits and gives-up it is one on the first node that tells the truth.
package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"slices"
	"time"

	"redlocksim/lockprogram"
)

func main() {
	lockprogram.Serve(func(env lockprogram.Env) (lockprogram.Locker, error) {
		l := &lies{Env: env}
		if slices.Contains([]string{"waits", "busy-waits", "gives-up"}, os.Args[1]) {
			return &waits{lies: l, isBusy: os.Args[1] == "busy-waits"}, nil
		}
		return l, nil
	})
}

// waits is a lock on the first node that one can wait for, with pauses between its attempts or without.
type waits struct {
	*lies
	isBusy bool
	conn   net.Conn // that it asks over; nil if there is none
}

func (w *waits) About() lockprogram.About {
	return lockprogram.About{Library: "waits", Version: "1", OneNode: true, TellsUntil: true}
}

func (w *waits) TryLock(ctx context.Context, resource string, ttl time.Duration) (lockprogram.Lease, error) {
	w.leases++
	x := &moving{lease{w.lies, resource, fmt.Sprint(w.Name, "-", w.leases)}, time.Now().Add(ttl)}
	reply, err := w.asks(ctx, fmt.Sprintf("SET %s %s NX PX %d", resource, x.value, ttl.Milliseconds()))
	if err == nil && reply != "+OK" {
		err = lockprogram.Refused(errors.New("taken"))
	}
	return x, err
}

func (w *waits) Lock(ctx context.Context, resource string, ttl time.Duration) (lockprogram.Lease, error) {
	if os.Args[1] == "gives-up" {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, time.Second)
		defer cancel()
	}
	attempt := func(ctx context.Context) (lockprogram.Lease, error) { return w.TryLock(ctx, resource, ttl) }
	if !w.isBusy {
		return lockprogram.LockByTrying(ctx, attempt)
	}
	for {
		if l, err := attempt(ctx); err == nil || ctx.Err() != nil {
			return l, err
		}
	}
}

// asks sends the first node a command over the connection that it keeps.
func (w *waits) asks(ctx context.Context, command string) (reply string, err error) {
	if w.conn == nil {
		if w.conn, err = w.Dial(ctx, "tcp", w.Nodes[0]); err != nil {
			return "", err
		}
	}
	if reply, err = roundTrip(w.conn, command); err != nil {
		w.conn.Close()
		w.conn = nil
	}
	return reply, err
}

type lies struct {
	lockprogram.Env
	leases int
}

func (*lies) About() lockprogram.About {
	return lockprogram.About{Library: "lies", Version: "1", Extends: true, Renews: os.Args[1] == "never-lost", TellsLost: os.Args[1] == "never-lost", TellsUntil: os.Args[1] == "moves"}
}

func (l *lies) TryLock(ctx context.Context, resource string, ttl time.Duration) (lockprogram.Lease, error) {
	l.leases++
	asked := time.Now()
	x := lease{l, resource, fmt.Sprint(l.Name, "-", l.leases)}
	votes := 0
	for i := range l.Nodes {
		if reply, err := l.do(ctx, i, fmt.Sprintf("SET %s %s NX PX %d", resource, x.value, lasts("seconds", ttl))); err == nil && reply == "+OK" {
			votes++
		}
	}
	if votes <= len(l.Nodes)/2 && os.Args[1] == "exits" {
		os.Exit(3)
	}
	if votes <= len(l.Nodes)/2 {
		return nil, errors.Join(lockprogram.Refused(errors.New("taken")), x.deletes(ctx, len(l.Nodes)))
	}
	if os.Args[1] == "refuses" {
		return nil, lockprogram.Refused(errors.New("taken"))
	}
	if os.Args[1] == "over" {
		return &moving{x, asked.Add(-time.Second)}, nil
	}
	if os.Args[1] == "moves" {
		return &moving{x, asked.Add(ttl)}, nil
	}
	return x, nil
}

// lasts is a TTL in milliseconds, of whole seconds where the argument of the program says so.
func lasts(unlessFor string, ttl time.Duration) int64 {
	if os.Args[1] == unlessFor {
		ttl = ttl.Truncate(time.Second)
	}
	return ttl.Milliseconds()
}

// moving is a lease that says until when it is valid, and is moved to later by an extend that fails.
type moving struct {
	lease
	until time.Time
}

func (m *moving) Until() time.Time { return m.until }

func (m *moving) Extend(context.Context, time.Duration) error {
	m.until = m.until.Add(time.Second)
	return errors.New("no quorum")
}

type lease struct {
	*lies
	resource, value string
}

func (l lease) Extend(ctx context.Context, ttl time.Duration) error {
	if os.Args[1] == "extends" {
		return nil
	}
	for i := range l.Nodes {
		if _, err := l.do(ctx, i, fmt.Sprintf("PEXPIRE %s %d", l.resource, lasts("extends-seconds", ttl))); err != nil {
			return err
		}
	}
	return nil
}

func (l lease) Lost() <-chan struct{} { return nil }

func (l lease) Unlock(ctx context.Context) error {
	switch os.Args[1] {
	case "releases":
		return nil
	case "forgets-one":
		return l.deletes(ctx, len(l.Nodes)-1)
	case "denies":
		return lockprogram.Refused(errors.Join(errors.New("it was not there"), l.deletes(ctx, len(l.Nodes))))
	}
	return l.deletes(ctx, len(l.Nodes))
}

func (l lease) deletes(ctx context.Context, nodes int) (err error) {
	for i := range nodes {
		_, failed := l.do(ctx, i, "DEL "+l.resource)
		err = errors.Join(err, failed)
	}
	return err
}

// do sends a command to a node over a connection of its own, and reads a line of the reply.
func (l *lies) do(ctx context.Context, node int, command string) (string, error) {
	c, err := l.Dial(ctx, "tcp", l.Nodes[node])
	if err != nil {
		return "", err
	}
	defer c.Close()
	return roundTrip(c, command)
}

func roundTrip(c net.Conn, command string) (string, error) {
	fmt.Fprintf(c, "%s\r\n", command)
	line, err := bufio.NewReader(c).ReadString('\n')
	return line[:max(0, len(line)-2)], err
}
