// Package redlockprom counts and times the steps of package redlock for Prometheus:
//
//	metrics := redlockprom.New(redlockprom.Options{})
//	prometheus.MustRegister(metrics)
//	client, err := redlock.New(nodes, redlock.WithObserver(metrics))
//
// The metrics, all times in seconds:
//
//	redlock_wait_seconds          histogram  from the start of a call to its grant: the client's queue, attempts and delays
//	redlock_given_up_seconds      histogram  from the start of a call to its end without a grant
//	redlock_hold_seconds          histogram  from a grant to the release or loss
//	redlock_margin_seconds        histogram  what was left of the lease when its holder released it; not of lost leases
//	redlock_failures_total        counter    failed attempts, extends and releases, by op and reason
//	redlock_given_up_total        counter    calls that ended without a grant, by reason
//	redlock_renewals_total        counter    extends that succeeded
//	redlock_losses_total          counter    leases that ended without having been released
//	redlock_node_answers_total    counter    what came of the commands, by node, op and outcome
//	redlock_no_wake_up_total      counter    those that say that redlock.WithWakeUp does not work there, by node and op
//
// The reasons are taken, no_quorum, too_late, no_token, lost, released, tokens_used_up, closed, cancelled, deadline_exceeded
// and other. Each attempt that failed counts, also one that was refused by the one node that it asked, and so does the call, if
// it gave up; of one that was refused until its context ended, the reason is that of the refusal. A margin that is often small
// says that the TTL is too short for the work, before leases are lost.
//
// A call of package semaphore is one call, with the name of the semaphore as its resource if it gave up, and that of the permit
// if it was granted one. Of its looks for permits, those that find none count as failed attempts alone.
// Semaphore.HoldAll gives up once, and waits for each lock that it is granted.
//
// The number of series is bounded by the number of nodes, unless Options.Resource makes it otherwise.
package redlockprom

import (
	"context"
	"errors"
	"strings"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"redlocksim/internal/looks"
	"redlocksim/redlock/driver"
	"redlocksim/redlock/observe"
	"redlocksim/redlock/observe/internal/calls"
	"redlocksim/redlock/observe/internal/reason"
)

// Options say how the metrics are cut. The zero Options suit most.
type Options struct {
	// Resource gives the label resource of all metrics but those of nodes. It should map the resources to a few
	// kinds of them, "invoices/2026-11" to "invoices": each result is a series of its own, kept for ever. Nil: there is no
	// such label. It is called on the goroutine of the call.
	Resource func(resource string) string

	// WaitBuckets, HoldBuckets and MarginBuckets are the upper bounds of the histograms' buckets, in seconds. Nil stands for
	// [DefaultWaitBuckets] and, for the other two, [DefaultLeaseBuckets].
	WaitBuckets, HoldBuckets, MarginBuckets []float64
}

// DefaultWaitBuckets are from half a millisecond, one round trip in a data centre, to 16 s, each twice the one before.
func DefaultWaitBuckets() []float64 { return prometheus.ExponentialBuckets(0.0005, 2, 16) }

// DefaultLeaseBuckets are from 1 ms to about 4 minutes, each four times the one before.
func DefaultLeaseBuckets() []float64 { return prometheus.ExponentialBuckets(0.001, 4, 10) }

// Observer counts the steps it is told of. It is a collector, to be registered once, and may serve several clients. Make
// one with [New].
type Observer struct {
	resource func(string) string
	tracker  calls.Tracker[lease]

	wait, hold, margin                       *prometheus.HistogramVec
	gaveUp                                   *prometheus.HistogramVec
	failures, givenUp, renewals, losses, all *prometheus.CounterVec
	unwoken                                  *prometheus.CounterVec
}

var (
	_ observe.Observer     = (*Observer)(nil)
	_ prometheus.Collector = (*Observer)(nil)
)

// lease is what is known of one between its grant and its end.
type lease struct {
	mu      sync.Mutex
	granted time.Time
	until   time.Time
	over    bool // its hold time was taken
}

// New makes an observer.
func New(o Options) *Observer {
	var resource []string
	if o.Resource != nil {
		resource = []string{"resource"}
	}
	histogram := func(name, help string, buckets, standard []float64) *prometheus.HistogramVec {
		if buckets == nil {
			buckets = standard
		}
		return prometheus.NewHistogramVec(prometheus.HistogramOpts{Name: name, Help: help, Buckets: buckets}, resource)
	}
	counter := func(name, help string, labels ...string) *prometheus.CounterVec {
		return prometheus.NewCounterVec(prometheus.CounterOpts{Name: name, Help: help}, labels)
	}
	return &Observer{
		resource: o.Resource,
		wait:     histogram("redlock_wait_seconds", "Time from the beginning of a call to its grant.", o.WaitBuckets, DefaultWaitBuckets()),
		gaveUp:   histogram("redlock_given_up_seconds", "Time from the beginning of a call to its end without a grant.", o.WaitBuckets, DefaultWaitBuckets()),
		hold:     histogram("redlock_hold_seconds", "Time from a grant to the release or loss.", o.HoldBuckets, DefaultLeaseBuckets()),
		margin:   histogram("redlock_margin_seconds", "What was left of the lease when its holder released it.", o.MarginBuckets, DefaultLeaseBuckets()),
		failures: counter("redlock_failures_total", "Attempts, extends and releases that failed.", append([]string{"op", "reason"}, resource...)...),
		givenUp:  counter("redlock_given_up_total", "Calls that ended without a grant.", append([]string{"reason"}, resource...)...),
		renewals: counter("redlock_renewals_total", "Extends that succeeded.", resource...),
		losses:   counter("redlock_losses_total", "Leases that ended without having been released.", resource...),
		all:      counter("redlock_node_answers_total", "What came of the commands on the nodes.", "node", "op", "outcome"),
		unwoken:  counter("redlock_no_wake_up_total", "Answers of nodes on which the wake-up does not work.", "node", "op"),
	}
}

func (o *Observer) collectors() []prometheus.Collector {
	return []prometheus.Collector{o.wait, o.gaveUp, o.hold, o.margin, o.failures, o.givenUp, o.renewals, o.losses, o.all, o.unwoken}
}

// Describe sends the descriptions of all metrics.
func (o *Observer) Describe(to chan<- *prometheus.Desc) {
	for _, c := range o.collectors() {
		c.Describe(to)
	}
}

// Collect sends all metrics.
func (o *Observer) Collect(to chan<- prometheus.Metric) {
	for _, c := range o.collectors() {
		c.Collect(to)
	}
}

// Observe counts one step.
func (o *Observer) Observe(ctx context.Context, e observe.Event) {
	if e.Step == observe.NodeAnswered {
		o.all.WithLabelValues(e.Node.Node, e.Op.String(), strings.ReplaceAll(e.Node.Outcome.String(), " ", "_")).Inc()
		if errors.Is(e.Node.Err, driver.ErrWakeUp) {
			o.unwoken.WithLabelValues(e.Node.Node, e.Op.String()).Inc()
		}
		return
	}
	now := time.Now()
	call := o.tracker.Of(e)
	switch e.Step {
	case observe.Granted:
		if call != nil {
			waited, _ := looks.Of(ctx, e.Resource)
			o.wait.WithLabelValues(o.labels(e)...).Observe((waited + now.Sub(call.Began)).Seconds())
			call.State.begin(now, e.Validity)
		}
	case observe.Denied, observe.NotExtended:
		o.failed(e)
	case observe.GaveUp:
		waited, ofSemaphore := looks.Of(ctx, e.Resource)
		if ofSemaphore && e.Call != "" {
			return // a look, and not the call that looks
		}
		o.givenUp.WithLabelValues(o.labels(e, reason.Of(e.Err))...).Inc()
		if call != nil {
			waited = now.Sub(call.Began)
		}
		if call != nil || ofSemaphore {
			o.gaveUp.WithLabelValues(o.labels(e)...).Observe(waited.Seconds())
		}
	case observe.Extended:
		o.renewals.WithLabelValues(o.labels(e)...).Inc()
		if call != nil {
			call.State.extend(now, e.Validity)
		}
	case observe.Lost:
		o.losses.WithLabelValues(o.labels(e)...).Inc()
		if call != nil {
			o.ended(e, &call.State, now)
		}
	case observe.ReleaseStarted:
		if left, ok := o.ended(e, &call.State, now); ok && left > 0 {
			o.margin.WithLabelValues(o.labels(e)...).Observe(left.Seconds())
		}
	case observe.Released:
		if e.Err != nil {
			o.failed(e)
		}
	}
}

func (o *Observer) labels(e observe.Event, first ...string) []string {
	if o.resource == nil {
		return first
	}
	return append(first, o.resource(e.Resource))
}

func (o *Observer) failed(e observe.Event) {
	o.failures.WithLabelValues(o.labels(e, e.Op.String(), reason.Of(e.Err))...).Inc()
}

// ended takes the hold time of a lease once, and gives what was left of it.
func (o *Observer) ended(e observe.Event, l *lease, now time.Time) (left time.Duration, ok bool) {
	l.mu.Lock()
	held, left, ok := now.Sub(l.granted), l.until.Sub(now), !l.over && !l.granted.IsZero()
	l.over = true
	l.mu.Unlock()
	if ok {
		o.hold.WithLabelValues(o.labels(e)...).Observe(held.Seconds())
	}
	return left, ok
}

func (l *lease) begin(now time.Time, validity time.Duration) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.granted, l.until = now, now.Add(validity)
}

func (l *lease) extend(now time.Time, validity time.Duration) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.until = now.Add(validity)
}
