package redlockotel

import (
	"context"
	"errors"
	"sync"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/trace"

	"redlocksim/redlock"
	"redlocksim/redlock/driver"
	"redlocksim/redlock/observe"
	"redlocksim/redlock/observe/internal/reason"
)

// spans are those of one acquire and its lease. The spans themselves are safe for concurrent use and are not begun or
// ended with the lock held.
type spans struct {
	acquire trace.Span // only the goroutine of the call has to do with it

	mu            sync.Mutex
	held, release trace.Span
	extends       []trace.Span // under way, in the order in which they began
	lost          bool
}

func begin(ctx context.Context, tracer trace.Tracer, name string, attrs ...attribute.KeyValue) trace.Span {
	_, span := tracer.Start(ctx, name, trace.WithSpanKind(trace.SpanKindClient), trace.WithAttributes(attrs...))
	return span
}

// beginAcquire begins the span of the acquire, once.
func (s *spans) beginAcquire(ctx context.Context, tracer trace.Tracer, e observe.Event) {
	if s.acquire == nil {
		s.acquire = begin(ctx, tracer, "redlock.acquire", Resource.String(e.Resource))
	}
}

// grant ends the span of the acquire and begins that of the time held.
func (s *spans) grant(ctx context.Context, tracer trace.Tracer, e observe.Event) {
	attrs := []attribute.KeyValue{Value.String(observe.Fingerprint(e.Value)), Attempt.Int(e.Attempt), Validity.Float64(e.Validity.Seconds())}
	if e.Token != 0 {
		attrs = append(attrs, Token.Int64(e.Token))
	}
	s.acquire.SetAttributes(attrs...)
	s.acquire.End()
	_, held := tracer.Start(ctx, "redlock.held", trace.WithSpanKind(trace.SpanKindClient),
		trace.WithLinks(trace.Link{SpanContext: s.acquire.SpanContext()}),
		trace.WithAttributes(append(attrs, Resource.String(e.Resource))...))
	s.mu.Lock()
	s.held = held
	lost := s.lost
	s.mu.Unlock()
	if lost {
		end(held, redlock.ErrLost)
	}
}

// beginChild begins a span of something that is done with the lease, under that of the time held. A lease that was lost before
// has none.
func (s *spans) beginChild(ctx context.Context, tracer trace.Tracer, name string, e observe.Event) trace.Span {
	s.mu.Lock()
	held := s.held
	s.mu.Unlock()
	if held != nil {
		ctx = trace.ContextWithSpan(ctx, held)
	}
	return begin(ctx, tracer, name, Resource.String(e.Resource), Value.String(observe.Fingerprint(e.Value)))
}

// lose ends the span of the time held, unless the lease's release is under way and will.
func (s *spans) lose() {
	s.mu.Lock()
	s.lost = true
	held := s.held
	if s.release != nil {
		held = nil
	}
	s.mu.Unlock()
	if held != nil {
		end(held, redlock.ErrLost)
	}
}

func (s *spans) beginExtend(ctx context.Context, tracer trace.Tracer, e observe.Event) {
	span := s.beginChild(ctx, tracer, "redlock.extend", e)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.extends = append(s.extends, span)
}

// endExtend gives the extend that began first: those of one lease that are under way together are not told apart.
func (s *spans) endExtend() trace.Span {
	s.mu.Lock()
	defer s.mu.Unlock()
	span := s.extends[0]
	s.extends = s.extends[1:]
	return span
}

func (s *spans) beginRelease(ctx context.Context, tracer trace.Tracer, e observe.Event) {
	span := s.beginChild(ctx, tracer, "redlock.release", e)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.release = span
}

// wokeNobody tells of a node whose release woke nobody. One that cleans up after an attempt has no span.
func (s *spans) wokeNobody(e observe.Event) {
	s.mu.Lock()
	release := s.release
	s.mu.Unlock()
	if release != nil {
		release.AddEvent("no-wake-up", trace.WithAttributes(Nodes.StringSlice([]string{answer(e.Node, e.Op)})))
	}
}

// endRelease ends the spans of the release and of the time held.
func (s *spans) endRelease(e observe.Event) {
	s.mu.Lock()
	release, held := s.release, s.held
	s.mu.Unlock()
	release.SetAttributes(Accepted.Int(e.Accepted))
	end(release, e.Err)
	if held == nil {
		return
	}
	if errors.Is(e.Err, redlock.ErrLost) {
		end(held, redlock.ErrLost)
	} else {
		held.End()
	}
}

// end ends a span, with an error unless err is nil.
func end(span trace.Span, err error) {
	if err != nil {
		span.SetAttributes(why(err)...)
		span.SetStatus(codes.Error, reason.Of(err))
	}
	span.End()
}

// The attributes of spans and their events.
const (
	Resource = attribute.Key("redlock.resource") // what is locked
	Value    = attribute.Key("redlock.value")    // observe.Fingerprint of the value on the nodes, one for each attempt
	Attempt  = attribute.Key("redlock.attempt")  // which attempt of the call, from 1
	Validity = attribute.Key("redlock.validity") // what is left of the lease, in seconds
	Token    = attribute.Key("redlock.token")    // the fencing token
	Delay    = attribute.Key("redlock.delay")    // of retrying and yielding, in seconds
	Accepted = attribute.Key("redlock.accepted") // how many nodes had released the key
	Node     = attribute.Key("redlock.node")     // of gate-asked
	Nodes    = attribute.Key("redlock.nodes")    // what each node that was asked answered, where something failed
	Reason   = attribute.Key("error.type")       // why it failed
)

// why says why something failed and what each node that was asked answered.
func why(err error) []attribute.KeyValue {
	attrs := []attribute.KeyValue{Reason.String(reason.Of(err))}
	failed := (*redlock.Error)(nil)
	if !errors.As(err, &failed) || failed.Nodes == nil {
		return attrs
	}
	nodes := make([]string, len(failed.Nodes))
	for i, n := range failed.Nodes {
		nodes[i] = answer(n, failed.Op)
	}
	return append(attrs, Nodes.StringSlice(nodes))
}

// answer is what a node answered.
func answer(n observe.NodeOutcome, op driver.Op) string {
	text := n.Node + " " + n.Outcome.Of(op)
	if errors.Is(n.Err, driver.ErrWakeUp) {
		text += ", no wake-up"
	}
	return text
}
