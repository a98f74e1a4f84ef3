package scenarios

import (
	"context"
	"slices"
	"strings"

	"redlocksim/sim/history"
)

// Grant is the lock on a resource, by the Op of its acquire.
type Grant struct {
	Op       int
	Resource string
}

// acquisition is the grant that calls of a protocol are made for, or several grants that one call asked for. It travels in
// their context.
type acquisition struct {
	grants []Grant
	// semaphore is what the grant is a permit of; empty if it is none.
	semaphore string
	op        int // the operation under way, the first of several
	acquire   int // the number of the acquire in this client
	thread    int // the number of the program in this client
	// believes: its window has not ended. stop ends the watch for the end.
	believes bool
	stop     func()
}

type acquisitionKey struct{}

func acquisitionOf(ctx context.Context) *acquisition {
	return ctx.Value(acquisitionKey{}).(*acquisition)
}

// grant is the first grant.
func (a *acquisition) grant() int { return a.grants[0].Op }

// asked are the names that the lock was asked for by.
func (a *acquisition) asked() []string {
	if a.semaphore != "" {
		return []string{a.semaphore}
	}
	return a.resources()
}

// on is the grant on a resource, or the permit of a semaphore.
func (a *acquisition) on(resource string) Grant {
	if resource == a.semaphore {
		return a.grants[0]
	}
	return a.grants[slices.IndexFunc(a.grants, func(g Grant) bool { return g.Resource == resource })]
}

// resources are the names of what the grants are on.
func (a *acquisition) resources() []string {
	names := make([]string, len(a.grants))
	for i, g := range a.grants {
		names[i] = g.Resource
	}
	return names
}

// name is the name of what the grants are on, as an event has it.
func (a *acquisition) name() string {
	if len(a.grants) == 1 {
		return a.grants[0].Resource
	}
	return strings.Join(a.resources(), ", ")
}

// event is an event as it concerns one of the grants. ops are the operations, if it belongs to a call.
func (a *acquisition) event(i int, e history.Event, ops []int) history.Event {
	g := a.grants[i]
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
	return e
}

// in is the context for calls that are about the grants.
func (a *acquisition) in(ctx context.Context) context.Context {
	return context.WithValue(ctx, acquisitionKey{}, a)
}

// disbelieve ends the watch for the end of the believed window.
func (a *acquisition) disbelieve() {
	a.believes = false
	if a.stop != nil {
		a.stop()
		a.stop = nil
	}
}

// ofClient is what a call is made for that is about the client. It is no grant, but every event is on a resource.
func (p *program) ofClient() *acquisition {
	p.acquires++
	return &acquisition{acquire: p.acquires, grants: []Grant{{Resource: p.scenario.Resources[0]}}}
}
