// Package redlockslog writes the steps of package redlock to a log of log/slog:
//
//	client, err := redlock.New(nodes, redlock.WithObserver(redlockslog.New(redlockslog.Options{})))
//
// Each step is a record with the step's name as its message, "redlock granted", and the fields of [observe.Event] that
// belong to it as attributes: resource, value, op, attempt, node, outcome, took, late, accepted, quorum, validity,
// token, delay and err. value is the [observe.Fingerprint] of the lock's value, by which its whole life can be
// followed; the value itself would let whoever reads the log release the lock.
//
// A node that cannot be reached, or answers with errors, fails commands by the hundred. That it fails is logged once,
// and once more if it begins to fail in another way; what fails besides is Debug. When the node has answered well for
// [Options.Settled] the record "redlock node-recovered" says how often it failed, and for how long. That the wake-up
// does not work on a node is logged once as well.
package redlockslog

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"

	"redlocksim/internal/printable"
	"redlocksim/redlock/driver"
	"redlocksim/redlock/observe"
)

// Options say what is logged, and where. The zero Options suit most.
type Options struct {
	// Logger is where to; nil stands for slog.Default() at the time of the step. Its handler runs on the goroutine of
	// the call and holds that up: one that may block belongs behind a queue.
	Logger *slog.Logger

	// Level gives each step its level; nil stands for [Level].
	Level func(observe.Event) slog.Level

	// Settled is for how long a node must not have failed before its next good answer ends the outage. Zero means
	// DefaultSettled.
	Settled time.Duration

	// Clock is the clock that outages are timed by: the one of the client. Nil stands for driver.SystemClock.
	Clock driver.Clock
}

// DefaultSettled is Options.Settled unless set otherwise.
const DefaultSettled = time.Second

// Level is the level of a step unless set otherwise. Warn is for what harms a holder: a lease that was lost, and an
// extend or release that failed. Info is for what a healthy cluster does not show: a node that could not be reached,
// answered with an error, is in quarantine or wakes nobody. All else is Debug, also that a lock is held by another.
func Level(e observe.Event) slog.Level {
	switch {
	case e.Step == observe.Lost, e.Step == observe.NotExtended, e.Step == observe.Released && e.Err != nil:
		return slog.LevelWarn
	case e.Step == observe.NodeAnswered && (isFailure(e.Node.Outcome) || errors.Is(e.Node.Err, driver.ErrWakeUp)):
		return slog.LevelInfo
	}
	return slog.LevelDebug
}

// isFailure: a healthy node does not answer so.
func isFailure(o driver.Outcome) bool {
	switch o {
	case driver.TimedOut, driver.Refused, driver.Failed, driver.Quarantined:
		return true
	}
	return false
}

// Observer logs the steps it is told of, and may serve several clients of the same nodes. Make one with [New].
type Observer struct {
	options Options

	mu      sync.Mutex
	outages map[string]*outage   // under way, by node
	unwoken map[nodeOutcome]bool // the outcomes of nodes that were logged with a driver.ErrWakeUp
}

// outage is the time in which a node fails.
type outage struct {
	began, last time.Time // its first and its last failure
	failures    int
	ways        uint16     // the outcomes in which it failed, a bit each
	level       slog.Level // of its first record
}

type nodeOutcome struct {
	node    string
	outcome driver.Outcome
}

// New makes an observer.
func New(o Options) *Observer {
	if o.Level == nil {
		o.Level = Level
	}
	if o.Settled == 0 {
		o.Settled = DefaultSettled
	}
	if o.Clock == nil {
		o.Clock = driver.SystemClock()
	}
	return &Observer{options: o, outages: map[string]*outage{}, unwoken: map[nodeOutcome]bool{}}
}

// Observe logs one step, if its level is enabled.
func (o *Observer) Observe(ctx context.Context, e observe.Event) {
	logger := o.options.Logger
	if logger == nil {
		logger = slog.Default()
	}
	level := o.options.Level(e)
	if e.Step == observe.NodeAnswered {
		isNews, over := o.answered(e.Node, level)
		if over != nil {
			logger.LogAttrs(ctx, over.level, "redlock node-recovered", slog.String("node", e.Node.Node),
				slog.Int("failures", over.failures), slog.Duration("lasted", over.last.Sub(over.began)))
		}
		if !isNews {
			level = min(level, slog.LevelDebug)
		}
	}
	if logger.Enabled(ctx, level) {
		logger.LogAttrs(ctx, level, "redlock "+e.Step.String(), attributes(e)...)
	}
}

// answered takes note of what came of a command on a node, which is news unless the node is known to fail like this, and
// gives the outage that is over with it.
func (o *Observer) answered(n observe.NodeOutcome, level slog.Level) (isNews bool, over *outage) {
	now := o.options.Clock.Now()
	o.mu.Lock()
	defer o.mu.Unlock()
	if errors.Is(n.Err, driver.ErrWakeUp) {
		is := nodeOutcome{n.Node, n.Outcome}
		isNews, o.unwoken[is] = !o.unwoken[is], true
	} else {
		isNews = true
	}
	of := o.outages[n.Node]
	if !isFailure(n.Outcome) {
		if of == nil || now.Sub(of.last) < o.options.Settled {
			return isNews, nil
		}
		delete(o.outages, n.Node)
		return isNews, of
	}
	if of == nil {
		of = &outage{began: now, level: level}
		o.outages[n.Node] = of
	}
	way := uint16(1) << n.Outcome
	isNews = of.ways&way == 0
	of.last, of.failures, of.ways = now, of.failures+1, of.ways|way
	return isNews, nil
}

func attributes(e observe.Event) []slog.Attr {
	attrs := []slog.Attr{slog.String("resource", e.Resource), slog.String("value", observe.Fingerprint(e.Value)), slog.Int("attempt", e.Attempt)}
	if e.Op != 0 {
		attrs = append(attrs, slog.String("op", e.Op.String()))
	}
	if e.Node.Node != "" {
		attrs = append(attrs, slog.String("node", e.Node.Node))
	}
	if e.Node.Outcome != driver.Unanswered {
		attrs = append(attrs, slog.String("outcome", e.Node.Outcome.Of(e.Op)), slog.Duration("took", e.Node.Took))
		if e.Node.Err != nil {
			attrs = append(attrs, slog.String("err", printable.Text(e.Node.Err.Error(), 300)))
		}
	}
	if e.Late {
		attrs = append(attrs, slog.Bool("late", true))
	}
	if e.Quorum != 0 {
		attrs = append(attrs, slog.Int("accepted", e.Accepted), slog.Int("quorum", e.Quorum))
	}
	switch e.Step {
	case observe.ValidityComputed, observe.Granted, observe.Extended:
		attrs = append(attrs, slog.Duration("validity", e.Validity))
	case observe.Retrying, observe.Yielding:
		attrs = append(attrs, slog.Duration("delay", e.Delay))
	}
	if e.Token != 0 {
		attrs = append(attrs, slog.Int64("token", e.Token))
	}
	if e.Err != nil {
		attrs = append(attrs, slog.Any("err", e.Err))
	}
	return attrs
}
