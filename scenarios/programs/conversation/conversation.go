// Package conversation is a client's end of the conversation with its lock program, wherever the program runs: it asks in lines
// of JSON, and believes what it is answered. Package lockprogram is the other end.
package conversation

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"time"

	"redlocksim/lockprogram/lines"
	"redlocksim/redlock"
	"redlocksim/redlock/driver"
	"redlocksim/scenarios/protocols"
)

// Conversation is a client's with its program. It implements protocols.Locker.
type Conversation struct {
	Partner
	env    protocols.Env
	clock  driver.Clock
	last   int // ID of a request
	calls  map[int]*call
	leases map[int]*lease // by the ID of the request that was granted it
	// toldEarly is what the program has told of leases that it has granted, before the client has taken notice of that.
	toldEarly map[int][]told
	ready     *call
	can       []lines.Capability
	// closes says that the program was told to close, which ends what waits.
	closes bool
}

// Partner is the program.
type Partner struct {
	// Tell writes a line to its standard input.
	Tell func(line []byte)
	// Fail ends the run: the program has done what none may, in words that go on from "it ".
	Fail func(format string, args ...any)
	// Since is when the first of the requests left that gave the client what it has of a resource, by its clock, false if it
	// has nothing. Nil if nobody sees requests.
	Since func(resource string) (time.Time, bool)
}

// call is a request that the program has not answered yet, or just has.
type call struct {
	request lines.Request
	waiter  driver.Waiter
	answer  told
}

// told is what a program has told, if it has, and when, by the client's clock.
type told struct {
	*lines.Answer
	at time.Time
}

// Begin tells a program what its client is. Nobody else may use the conversation before it returns.
func Begin(env protocols.Env, with Partner, nodes []string) *Conversation {
	x := &Conversation{Partner: with, env: env, clock: env.LockClock(), calls: map[int]*call{}, leases: map[int]*lease{}, toldEarly: map[int][]told{}}
	s := env.Settings
	x.ready = x.ask(lines.Request{Type: lines.RequestInit, Init: &lines.Init{Name: x.env.Name(), Nodes: nodes,
		TTL: milliseconds(s.TTL), NodeTimeout: milliseconds(s.NodeTimeout), Settings: s.JSON(int(time.Hour / env.Scale(time.Hour)))}})
	return x
}

// Ready is what the program has answered when it had made its lock; nil if it has not.
func (x *Conversation) Ready() *lines.Answer { return x.ready.answer.Answer }

func milliseconds(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }

// ask sends a request.
func (x *Conversation) ask(r lines.Request) *call {
	c := &call{waiter: x.env.Tasks().NewWaiter()}
	c.request = x.send(r)
	x.calls[c.request.ID] = c
	return c
}

// send gives a request its ID and writes it.
func (x *Conversation) send(r lines.Request) lines.Request {
	x.last++
	r.ID = x.last
	line, err := json.Marshal(r)
	if err != nil {
		panic(err)
	}
	x.Tell(line)
	return r
}

// await waits for the answer, or until ctx ends.
func (c *call) await(ctx context.Context) told {
	for c.answer.Answer == nil && ctx.Err() == nil {
		c.waiter.Wait(ctx)
	}
	return c.answer
}

// answers are those that each type of request can have.
var answers = map[lines.RequestType][]lines.AnswerType{
	lines.RequestInit:    {lines.Ready, lines.Failed},
	lines.RequestTryLock: {lines.Granted, lines.Refused, lines.Unknown},
	lines.RequestLock:    {lines.Granted, lines.Refused, lines.Unknown},
	lines.RequestExtend:  {lines.Extended, lines.Refused, lines.Unknown},
	lines.RequestUnlock:  {lines.Released, lines.Refused, lines.Unknown},
	lines.RequestPrepare: {lines.Prepared, lines.Refused, lines.Unknown},
	lines.RequestClose:   {lines.Closed, lines.Refused, lines.Unknown},
	lines.RequestRead:    {lines.Done, lines.Refused, lines.Unknown},
	lines.RequestWrite:   {lines.Done, lines.Refused, lines.Unknown},
}

// Hear takes a line that the program has written.
func (x *Conversation) Hear(line []byte) {
	if len(bytes.TrimSpace(line)) == 0 {
		return
	}
	a, err := lines.ParseAnswer(line)
	if err != nil {
		x.Fail("%v", err)
		return
	}
	if a.Valid != nil && math.Abs(*a.Valid) > maxValid {
		x.Fail("it has written a validity that no lock can have: %.200q", line)
		return
	}
	if a.Type == lines.Lost || a.Type == lines.Expiring || a.Type == lines.Renewed {
		x.hearOfLease(a, line)
		return
	}
	c := x.calls[a.Re]
	if c == nil {
		x.Fail("it has answered a request that it was not asked, or had answered: %.200q", line)
		return
	}
	switch {
	case !slices.Contains(answers[c.request.Type], a.Type):
		x.Fail("it has answered a request to %s with what is no answer to that: %.200q", c.request.Type, line)
		return
	case a.Type == lines.Failed:
		x.Fail("it cannot make its lock: %s", a.Reason)
		return
	}
	delete(x.calls, a.Re)
	if a.Type == lines.Granted {
		x.toldEarly[a.Re] = []told{}
	}
	c.answer = told{a, x.clock.Now()}
	c.waiter.Wake()
}

// hearOfLease takes what the program tells of a lease without being asked.
func (x *Conversation) hearOfLease(a *lines.Answer, line []byte) {
	l, early := x.leases[a.Lease], x.toldEarly[a.Lease]
	switch t := (told{a, x.clock.Now()}); {
	case a.Type == lines.Renewed && a.Valid == nil:
		x.Fail("it tells of a renewal without its validity: %.200q", line)
	case l != nil:
		l.hear(t)
	case early != nil:
		x.toldEarly[a.Lease] = append(early, t)
	default:
		x.Fail("it tells of a lease that it was not granted: %.200q", line)
	}
}

// hear takes what the program tells of the lease.
func (l *lease) hear(t told) {
	switch t.Type {
	case lines.Renewed:
		l.renewed(t)
	case lines.Lost:
		l.lost(t.Reason)
	default:
		l.end(redlock.ErrLost)
	}
}

// do has the program do something, once it is ready, and tells it when ctx ends before it has answered. It returns the
// answer and the ID of the request.
func (x *Conversation) do(ctx context.Context, r lines.Request) (told, int) {
	x.awaitReady()
	c := x.ask(r)
	id := x.last
	if c.await(ctx).Answer == nil {
		knows := r.Wait > 0 && errors.Is(ctx.Err(), context.DeadlineExceeded) // how long to wait
		if slices.Contains(x.can, lines.Cancel) && !knows {
			x.send(lines.Request{Type: lines.RequestCancel, Call: id})
		}
		c.await(context.Background())
	}
	return c.answer, id
}

// awaitReady waits until the program has made its lock.
func (x *Conversation) awaitReady() { x.can = x.ready.await(context.Background()).Can }

// errUnknown is the error of a call of which nobody knows what became.
var errUnknown = errors.New("it may have happened or not")

// unknown is an error for an answer that leaves open what happened, or makes no sense.
func unknown(a told) error {
	if a.Reason != "" {
		return fmt.Errorf("%w: %s", errUnknown, a.Reason)
	}
	return errUnknown
}

// Lock implements protocols.Locker.
func (x *Conversation) Lock(ctx context.Context, resource string, ttl time.Duration) (protocols.Lease, error) {
	x.awaitReady()
	// Of a lock that was waited for nobody knows since when it is held, unless somebody says it or sees it.
	if !slices.Contains(x.can, lines.Wait) || x.Since == nil && !slices.Contains(x.can, lines.TellUntil) {
		return x.retry(ctx, resource, ttl)
	}
	r := lines.Request{Type: lines.RequestLock, Resource: resource, TTL: milliseconds(ttl)}
	if until, limited := ctx.Deadline(); limited {
		r.Wait = milliseconds(until.Sub(x.clock.Now()))
	}
	return x.acquire(ctx, r, ttl)
}

// TryLock implements protocols.Locker.
func (x *Conversation) TryLock(ctx context.Context, resource string, ttl time.Duration) (protocols.Lease, error) {
	return x.acquire(ctx, lines.Request{Type: lines.RequestTryLock, Resource: resource, TTL: milliseconds(ttl)}, ttl)
}

// retryDelay is how long a client waits before it tries a lock again that does not wait, and as long again at the most.
const retryDelay = 50 * time.Millisecond

// retry tries again and again, as a program with a lock that does not wait does.
func (x *Conversation) retry(ctx context.Context, resource string, ttl time.Duration) (protocols.Lease, error) {
	for {
		l, err := x.TryLock(ctx, resource, ttl)
		if err == nil || errors.Is(err, errUnknown) {
			return l, err
		}
		var raw [1]byte
		_, _ = x.env.Rand().Read(raw[:]) // it never fails
		x.env.Sleep(ctx, retryDelay+retryDelay*time.Duration(raw[0])/256)
		if ctx.Err() != nil {
			return nil, err
		}
	}
}

func (x *Conversation) acquire(ctx context.Context, r lines.Request, ttl time.Duration) (protocols.Lease, error) {
	asked := x.clock.Now()
	a, id := x.do(ctx, r)
	switch a.Type {
	case lines.Granted:
	case lines.Refused:
		return nil, x.early(ctx, r, fmt.Errorf("%w: %s", redlock.ErrTaken, a.Reason))
	default:
		return nil, unknown(a)
	}
	l := &lease{Conversation: x, id: id, resource: r.Resource, ctx: ctx, token: a.Token}
	l.life, l.end = x.clock.WithCancel(context.WithoutCancel(ctx))
	l.until = x.until(a, r.Resource, ttl, asked)
	x.leases[id] = l
	l.believe(ctx, a)
	for _, t := range x.toldEarly[id] {
		l.hear(t)
	}
	delete(x.toldEarly, id)
	if protocols.Of[protocols.DBRowSettings](x.env.Settings).Effects == protocols.InTransaction {
		return &transaction{lease: l}, nil
	}
	return l, nil
}

// leastEarly is by how much earlier than asked for a lock must give up for that to count: less may be a pause between attempts
// that would have been too long.
const leastEarly = 2 * retryDelay

// early is the error of a request for the lock that was refused, with how early that was if the lock was to wait for longer.
// One that leaves open whether it has the lock may give up at any time, as the harness does that tries again.
func (x *Conversation) early(ctx context.Context, r lines.Request, err error) error {
	until, limited := ctx.Deadline()
	if r.Type != lines.RequestLock || !limited || ctx.Err() != nil || x.closes {
		return err
	}
	if left := until.Sub(x.clock.Now()); left > leastEarly {
		return &protocols.Early{Err: err, Left: left}
	}
	return err
}

// maxValid is the longest validity that makes sense, in milliseconds: a century.
const maxValid = 100 * 365 * 24 * 3600 * 1000

// valid is for how long a lease is valid of which the program says that, as of when it says it.
func valid(a told) time.Duration { return time.Duration(*a.Valid * float64(time.Millisecond)) }

// until is when a lease ends, by the client's clock: as the program says, or the TTL after the request left that won.
func (x *Conversation) until(a told, resource string, ttl time.Duration, asked time.Time) time.Time {
	if a.Valid != nil {
		return a.at.Add(valid(a))
	}
	if x.Since != nil {
		if since, has := x.Since(resource); has {
			return since.Add(ttl)
		}
	}
	return asked.Add(ttl)
}

// Prepare implements protocols.Preparer, and Close protocols.Closer.
func (x *Conversation) Prepare(ctx context.Context) error { return x.about(ctx, lines.RequestPrepare) }
func (x *Conversation) Close(ctx context.Context) error   { return x.about(ctx, lines.RequestClose) }

// about makes a request that is about the client.
func (x *Conversation) about(ctx context.Context, what lines.RequestType) error {
	x.closes = x.closes || what == lines.RequestClose
	a, _ := x.do(ctx, lines.Request{Type: what})
	switch a.Type {
	case lines.Refused:
		return errors.New(a.Reason)
	case lines.Unknown:
		return unknown(a)
	}
	return nil
}

// lease implements protocols.Lease.
type lease struct {
	*Conversation
	id       int
	resource string
	ctx      context.Context
	life     context.Context
	end      context.CancelCauseFunc
	until    time.Time
	token    *int64
	released bool // its release was asked for
}

func (l *lease) Until() time.Time         { return l.until }
func (l *lease) Context() context.Context { return l.life }

// RenewsItself implements protocols.SelfRenewing.
func (l *lease) RenewsItself() bool { return slices.Contains(l.can, lines.Renew) }

// Token implements protocols.Lease.
func (l *lease) Token() (int64, bool) {
	if l.token == nil {
		return 0, false
	}
	return *l.token, true
}

// lost ends the lease: the program says that it is lost.
func (l *lease) lost(reason string) {
	if l.released {
		return
	}
	why := "its library says that it is lost"
	if reason != "" {
		why += ": " + strconv.Quote(reason)
	}
	l.env.Disbelieve(l.ctx, why)
	l.end(redlock.ErrLost)
}

// renewed makes the lease last longer: the program says that it has renewed it. One that has ended stays so.
func (l *lease) renewed(t told) {
	if l.life.Err() != nil {
		return
	}
	l.until = l.Conversation.until(t, l.resource, 0, time.Time{})
	l.believe(l.ctx, t)
}

// believe has the client believe in the lease up to its end, unless the program says itself that it is over already.
func (l *lease) believe(ctx context.Context, a told) {
	if a.Valid == nil || *a.Valid > 0 {
		l.env.Believe(ctx, l.until)
		return
	}
	speed := time.Hour / l.env.Scale(time.Hour)
	l.env.Believe(ctx, time.Time{})
	l.env.Disbelieve(ctx, protocols.Over(string(a.Type), valid(a)*speed))
}

// Extend implements protocols.Lease.
func (l *lease) Extend(ctx context.Context, ttl time.Duration) error {
	asked := l.clock.Now()
	a, _ := l.do(ctx, lines.Request{Type: lines.RequestExtend, Lease: l.id, TTL: milliseconds(ttl)})
	switch a.Type {
	case lines.Extended:
		l.until = l.Conversation.until(a, l.resource, ttl, asked)
		l.believe(l.ctx, a)
		return nil
	}
	l.notExtended(a)
	if a.Type == lines.Refused {
		return fmt.Errorf("%w: %s", redlock.ErrLost, a.Reason)
	}
	return unknown(a)
}

// notExtended takes until when a lease lasts that was not extended, if the program says that it has changed. A validity of less
// than a millisecond more or less is the same one, reckoned anew.
func (l *lease) notExtended(a told) {
	if a.Answer == nil || a.Valid == nil || l.life.Err() != nil {
		return
	}
	if until := l.Conversation.until(a, l.resource, 0, time.Time{}); until.Sub(l.until).Abs() > time.Millisecond {
		l.until = until
		l.env.Believe(l.ctx, l.until)
	}
}

// Unlock implements protocols.Lease.
func (l *lease) Unlock(ctx context.Context) error {
	l.released = true
	l.end(redlock.ErrReleased)
	a, _ := l.do(ctx, lines.Request{Type: lines.RequestUnlock, Lease: l.id})
	switch a.Type {
	case lines.Released:
		return nil
	case lines.Refused:
		return fmt.Errorf("%w: %s", redlock.ErrLost, a.Reason)
	}
	return unknown(a)
}
