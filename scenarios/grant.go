package scenarios

import (
	"context"
	"slices"
	"strings"

	"redlocksim/history"
)

// Grant is the lock on a resource, by the Op of its acquire.
type Grant struct {
	Op       int
	Resource string
}

// under is the grant that calls of a protocol are made for, or several grants that one call asked for; it travels in their
// context.
type under struct {
	grants  []Grant
	op      int // the operation under way, the first of several
	acquire int // the number of the acquire in this client
	thread  int // the number of the program in this client
	// believes: its window has not ended. stop ends the watch for the end.
	believes bool
	stop     func()
}

type underKey struct{}

func grantOf(ctx context.Context) *under { return ctx.Value(underKey{}).(*under) }

// grant is the first grant.
func (u *under) grant() int { return u.grants[0].Op }

// on is the grant on a resource.
func (u *under) on(resource string) Grant {
	return u.grants[slices.IndexFunc(u.grants, func(g Grant) bool { return g.Resource == resource })]
}

// resources are the names of what the grants are on.
func (u *under) resources() []string {
	names := make([]string, len(u.grants))
	for i, g := range u.grants {
		names[i] = g.Resource
	}
	return names
}

// name is the name of what the grants are on, as an event has it.
func (u *under) name() string {
	if len(u.grants) == 1 {
		return u.grants[0].Resource
	}
	return strings.Join(u.resources(), ", ")
}

// each is an event for every grant. ops are the operations, if the event belongs to a call.
func (u *under) each(e history.Event, ops []int) []history.Event {
	events := make([]history.Event, len(u.grants))
	for i, g := range u.grants {
		e.Resource = g.Resource
		if e.Func != history.Acquire || e.Outcome == history.OK {
			e.Grant = g.Op
		}
		if ops != nil {
			e.Op = ops[i]
		}
		if len(ops) > 1 {
			e.With = ops[0]
		}
		events[i] = e
	}
	return events
}

// in is the context for calls that are about the grants.
func (u *under) in(ctx context.Context) context.Context {
	return context.WithValue(ctx, underKey{}, u)
}

// disbelieve ends the watch for the end of the believed window.
func (u *under) disbelieve() {
	u.believes = false
	if u.stop != nil {
		u.stop()
		u.stop = nil
	}
}
