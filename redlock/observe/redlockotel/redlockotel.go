// Package redlockotel makes spans of OpenTelemetry from the steps of package redlock:
//
//	client, err := redlock.New(nodes, redlock.WithObserver(redlockotel.New(redlockotel.Options{})))
//
// The spans, with those of the caller's context as parents of the first two:
//
//	redlock.acquire   from when the call waits for its turn, or its first attempt, to the grant, or until it gives up
//	redlock.held      from the grant until the release is over or the lease is lost; linked to redlock.acquire
//	redlock.extend    one extend, a child of redlock.held
//	redlock.release   the release, a child of redlock.held
//
// The spans carry redlock.resource and redlock.value, and what is in the constants. redlock.acquire has an event for each
// step of its attempts: queued, yielding, attempt-started, gate-asked, token-raised, denied, retrying. What failed has the
// status Error with the reason, which is also the attribute error.type: taken, no_quorum, too_late, no_token, lost, released,
// tokens_used_up, closed, cancelled, deadline_exceeded or other. Where redlock.WithWakeUp does not work, the node's answer in
// redlock.nodes says so, and redlock.release has an event no-wake-up.
//
// A call of package semaphore has a redlock.acquire for each look for a permit. One that finds that somebody has it is no
// error; its event denied says so.
//
// A release of a lease that was lost before has the caller's context as its parent.
package redlockotel

import (
	"context"
	"errors"

	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/trace"

	"redlocksim/internal/looks"
	"redlocksim/redlock"
	"redlocksim/redlock/driver"
	"redlocksim/redlock/observe"
	"redlocksim/redlock/observe/internal/calls"
)

// Scope is the name of the tracer.
const Scope = "redlocksim/redlock/observe/redlockotel"

// Options say where the spans go. The zero Options suit most.
type Options struct {
	// TracerProvider makes the tracer. Nil stands for otel.GetTracerProvider(). Its span processors run on the goroutine of
	// the call and hold that up: use those that work in batches.
	TracerProvider trace.TracerProvider
}

// Observer makes spans of the steps it is told of, and may serve several clients. Make one with [New].
type Observer struct {
	tracer  trace.Tracer
	tracker calls.Tracker[spans]
}

var _ observe.Observer = (*Observer)(nil)

// New makes an observer.
func New(o Options) *Observer {
	provider := o.TracerProvider
	if provider == nil {
		provider = otel.GetTracerProvider()
	}
	return &Observer{tracer: provider.Tracer(Scope)}
}

// Observe makes spans of one step.
func (o *Observer) Observe(ctx context.Context, e observe.Event) {
	switch e.Step {
	case observe.NodeAnswered:
		if e.Op != driver.OpRelease || e.Late || !errors.Is(e.Node.Err, driver.ErrWakeUp) {
			return
		}
	case observe.QuorumReached, observe.QuorumLost, observe.ValidityComputed, observe.Joined, observe.TakenBack:
		return
	}
	call := o.tracker.Of(e)
	if call == nil {
		return
	}
	s := &call.State
	switch e.Step {
	case observe.Queued:
		s.beginAcquire(ctx, o.tracer, e)
		s.acquire.AddEvent(e.Step.String())
	case observe.AttemptStarted:
		s.beginAcquire(ctx, o.tracer, e)
		s.acquire.AddEvent(e.Step.String(), trace.WithAttributes(Attempt.Int(e.Attempt), Value.String(observe.Fingerprint(e.Value))))
	case observe.GateAsked:
		s.acquire.AddEvent(e.Step.String(), trace.WithAttributes(Node.String(e.Node.Node)))
	case observe.TokenRaised:
		s.acquire.AddEvent(e.Step.String(), trace.WithAttributes(Token.Int64(e.Token)))
	case observe.Denied:
		s.acquire.AddEvent(e.Step.String(), trace.WithAttributes(why(e.Err)...))
	case observe.Retrying, observe.Yielding:
		s.acquire.AddEvent(e.Step.String(), trace.WithAttributes(Delay.Float64(e.Delay.Seconds())))
	case observe.GaveUp:
		if _, isLook := looks.Of(ctx, e.Resource); isLook && errors.Is(e.Err, redlock.ErrTaken) {
			s.acquire.End()
			return
		}
		end(s.acquire, e.Err)
	case observe.Granted:
		s.grant(ctx, o.tracer, e)
	case observe.ExtendStarted:
		s.beginExtend(ctx, o.tracer, e)
	case observe.Extended:
		span := s.endExtend()
		span.SetAttributes(Validity.Float64(e.Validity.Seconds()))
		span.End()
	case observe.NotExtended:
		end(s.endExtend(), e.Err)
	case observe.Lost:
		s.lose()
	case observe.ReleaseStarted:
		s.beginRelease(ctx, o.tracer, e)
	case observe.NodeAnswered:
		s.wokeNobody(e)
	case observe.Released:
		s.endRelease(e)
	}
}
