// Command naive is a lock as many write it first: SET NX with a time to live, and DEL.
package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"time"

	"redlocksim/lockprogram"
)

func main() {
	lockprogram.Serve(func(env lockprogram.Env) (lockprogram.Locker, error) { return naive{env}, nil })
}

type naive struct{ lockprogram.Env }

func (naive) About() lockprogram.About {
	return lockprogram.About{Library: "naive", Version: "1", OneNode: true}
}

func (n naive) TryLock(ctx context.Context, resource string, ttl time.Duration) (lockprogram.Lease, error) {
	reply, err := n.do(ctx, fmt.Sprintf("SET %s taken NX PX %d", resource, ttl.Milliseconds()))
	if err == nil && reply != "+OK" {
		err = lockprogram.Refused(errors.New("taken"))
	}
	return lease{n, resource}, err
}

type lease struct {
	naive
	resource string
}

func (l lease) Unlock(ctx context.Context) error { _, err := l.do(ctx, "DEL "+l.resource); return err }

// do sends a command to the first node, and reads a line of the reply.
func (n naive) do(ctx context.Context, command string) (string, error) {
	c, err := n.Dial(ctx, "tcp", n.Nodes[0])
	if err != nil {
		return "", err
	}
	defer c.Close()
	fmt.Fprintf(c, "%s\r\n", command)
	line, err := bufio.NewReader(c).ReadString('\n')
	return line[:max(0, len(line)-2)], err
}
