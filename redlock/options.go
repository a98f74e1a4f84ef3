package redlock

import (
	"fmt"
	"io"
	"slices"
	"time"

	"redlocksim/internal/quorum"
	"redlocksim/redlock/driver"
	"redlocksim/redlock/observe"
)

// Option changes a setting of a Client from its default. Of two with the same name the last counts, so that a function which
// wraps [New] with defaults puts its callers' options after its own.
type Option func(*settings) error

// settings are what a client was told: its nodes, and what the options set.
type settings struct {
	nodes       []driver.Node
	quorum      int
	drift       allowance
	nodeTimeout time.Duration
	retryMin    time.Duration
	retryMax    time.Duration // 0: the delay grows with the time waited
	lossLead    time.Duration // 0: by the TTL
	observer    observe.Observer
	clock       driver.Clock
	tasks       driver.Tasks
	rand        io.Reader
	batching    int           // how many commands may be in flight to a node before others wait
	counterTTL  time.Duration // 0: no fencing
	maxTTL      time.Duration // 0: no restart guard
	trustsNodes bool          // the guard believes a node's clock alone
	turn        time.Duration // of who is called to the lock; 0: no wake-up
	replicas    int           // that must confirm a vote
	source      driver.TokenSource
}

// defaultsFor are the settings of a client over the nodes without any option.
func defaultsFor(nodes []driver.Node) settings {
	s := settings{
		nodes:       slices.Clone(nodes),
		quorum:      quorum.Majority(len(nodes)),
		drift:       defaultAllowance,
		nodeTimeout: DefaultNodeTimeout,
		batching:    defaultBatching,
	}
	s.runOn(driver.Runtime{})
	return s
}

func (s *settings) runOn(r driver.Runtime) {
	r = r.Filled()
	s.clock, s.tasks, s.rand = r.Clock, r.Tasks, r.Rand
}

// isFenced reports whether every grant has a fencing token.
func (s *settings) isFenced() bool { return s.counterTTL != 0 }

// isGuarded reports whether restarted nodes are kept from voting.
func (s *settings) isGuarded() bool { return s.maxTTL != 0 }

// isConditional reports whether acquires ask for more than free keys.
func (s *settings) isConditional() bool { return s.isFenced() || s.isGuarded() }

// WithQuorum sets how many nodes must agree: at least a majority, which is the default, and at most all. A larger quorum q
// tolerates 2q−N−1 nodes that forget a lock while it is held, and fewer nodes that are down. The holder gives a lease up, with
// ErrLost, once no quorum has it: when N−q+1 nodes have lost it, which may be too few for another client to be granted the
// lock.
func WithQuorum(n int) Option {
	return func(s *settings) error {
		if n < quorum.Majority(len(s.nodes)) || n > len(s.nodes) {
			return fmt.Errorf("%w: quorum %d of %d nodes, must be from %d to %d", ErrInvalid, n, len(s.nodes), quorum.Majority(len(s.nodes)), len(s.nodes))
		}
		s.quorum = n
		return nil
	}
}

// WithDrift sets the allowance for clocks that run at different rates. The default is [DefaultDrift].
//
//	redlock.WithDrift(redlock.Drift{Factor: "1%", Constant: 2 * time.Millisecond})
func WithDrift(d Drift) Option {
	return func(s *settings) (err error) {
		s.drift, err = d.allowance()
		return err
	}
}

// defaultBatching is how many unanswered commands a node has before others wait, unless [WithBatching] sets another number.
const defaultBatching = 4

// DefaultNodeTimeout is how long a client waits for a node's answer unless [WithNodeTimeout] sets another time.
const DefaultNodeTimeout = 50 * time.Millisecond

// WithNodeTimeout sets how long a client waits for the answer of one node. It should be longer than nearly all round trips, and
// short compared with the TTL, so that dead nodes cost little. Where another client has votes and a quorum has answered, an
// attempt waits for the others for no longer than 20 ms and eight times what a quorum takes.
func WithNodeTimeout(d time.Duration) Option {
	return func(s *settings) error {
		if d <= 0 {
			return fmt.Errorf("%w: node timeout %v is not positive", ErrInvalid, d)
		}
		s.nodeTimeout = d
		return nil
	}
}

// WithRetryDelay sets the range from which [Client.Lock] draws the delay before its next attempt; min must be positive. Without
// it the delay grows: it is about a third of the time for which the client has asked in vain, from 1 ms to 100 ms, and a
// random half more or less. That suits short and long locks alike, but favours those who came last: they ask most often. Set a
// range, or [WithWakeUp], if the longest wait matters more than how many are served.
func WithRetryDelay(min, max time.Duration) Option {
	return func(s *settings) error {
		if min <= 0 || max < min {
			return fmt.Errorf("%w: retry delay from %v to %v, must be positive and not fall", ErrInvalid, min, max)
		}
		s.retryMin, s.retryMax = min, max
		return nil
	}
}

// WithLossLead sets how long before the lease ends its context is cancelled, so that work can stop in time. It is never more
// than half of the validity. The default is a twentieth of the TTL, at least 1 ms and at most 1 s.
func WithLossLead(d time.Duration) Option {
	return func(s *settings) error {
		if d <= 0 {
			return fmt.Errorf("%w: loss lead %v is not positive", ErrInvalid, d)
		}
		s.lossLead = d
		return nil
	}
}

// WithObserver reports every step of the algorithm to o; [observe.All] makes one observer of several. nil is no observer. Of a
// semaphore (package semaphore) that is every look for a permit, as a call of its own, and that a call gave up; nothing of its
// queue.
func WithObserver(o observe.Observer) Option {
	return func(s *settings) error { s.observer = o; return nil }
}

// WithRuntime replaces the operating system's clock, goroutines and random bytes. It is for simulators and tests.
func WithRuntime(r driver.Runtime) Option {
	return func(s *settings) error {
		s.runOn(r)
		return nil
	}
}

func wholeMilliseconds(what string, d time.Duration) error {
	if d <= 0 || d%time.Millisecond != 0 {
		return fmt.Errorf("%w: %s %v is not a positive whole number of milliseconds", ErrInvalid, what, d)
	}
	return nil
}

// WithReplicas has a node's vote count only once n of its replicas have confirmed that they have it: Redis' WAIT, behind every
// acquire and extend, in the same round trip. It is for nodes that fail over to a replica. A failover to a replica that has not
// confirmed still loses the lock, and an old master may serve its clients beside the new one, so this makes the danger smaller
// and does not end it.
//
// The replicas' answers are waited for within the node timeout. The nodes must be [driver.Replicated].
func WithReplicas(n int) Option {
	return func(s *settings) error {
		if n <= 0 {
			return fmt.Errorf("%w: %d replicas, must be at least 1", ErrInvalid, n)
		}
		for _, node := range s.nodes {
			if _, ok := node.(driver.Replicated); !ok {
				return fmt.Errorf("%w: node %q cannot say what its replicas have", ErrInvalid, node.Name())
			}
		}
		s.replicas = n
		return nil
	}
}
