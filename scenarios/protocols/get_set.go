package protocols

import (
	"context"
	"fmt"
	"time"
)

// FoundFree is the step of get-set at which the client has seen that nobody has the lock, and has not taken it yet.
const FoundFree = "found-free"

var getSetProtocol = Protocol{Name: "get-set", New: newGetSet, own: defaultSingle(), Steps: append(singleSteps(), FoundFree),
	Sentences: []string{Compared, FoundFree}, Capabilities: Capabilities{KeysOnly: true}}

// newGetSet makes the lock of a client that looks whether the key is there, and sets it if it is not. Two clients that
// look at the same time both find it free.
func newGetSet(env Env) (Locker, error) {
	x := newInstance(env)
	x.take = x.getSet
	return x, nil
}

func (x *single) getSet(ctx context.Context, resource, value string, ttl time.Duration) (time.Time, error) {
	reply := x.command(ctx, 0, "GET", resource)
	if reply.Err != nil || reply.Value != nil {
		return time.Time{}, x.answered(ctx, 0, reply, false)
	}
	x.env.Step(ctx, Step{Name: FoundFree, Detail: "finds no key"})
	start := x.clock.Now()
	reply = x.command(ctx, 0, "SET", resource, value, "PX", fmt.Sprint(ttl.Milliseconds()))
	return start.Add(ttl), x.answered(ctx, 0, reply, true)
}
