package redlock

import (
	"fmt"
	"time"

	"redlocksim/internal/quorum"
	"redlocksim/redlock/driver"
	"redlocksim/redlock/observe"
)

// Option changes a setting of a Client from its default.
type Option func(*Client) error

// WithQuorum sets how many nodes must agree, from the majority of the nodes, the default, to all of them. More than the
// majority tolerates nodes that lose their memory while a lock is held, 2q−N−1 of them, and fewer nodes that are down.
func WithQuorum(n int) Option {
	return func(c *Client) error {
		if n < quorum.Majority(len(c.nodes)) || n > len(c.nodes) {
			return fmt.Errorf("%w: quorum %d of %d nodes, must be from %d to %d", ErrInvalid, n, len(c.nodes), quorum.Majority(len(c.nodes)), len(c.nodes))
		}
		c.quorum = n
		return nil
	}
}

// WithDrift sets the allowance for clocks that run at different rates; [DefaultDrift] without it.
//
//	redlock.WithDrift(redlock.Drift{Factor: "1%", Constant: 2 * time.Millisecond})
func WithDrift(d Drift) Option {
	return func(c *Client) (err error) {
		c.drift, err = d.checked()
		return err
	}
}

// DefaultNodeTimeout is how long a node's answer is waited for unless set otherwise.
const DefaultNodeTimeout = 50 * time.Millisecond

// WithNodeTimeout sets how long the answer of one node is waited for; it should be small against the TTL, so that dead
// nodes cost little, and larger than nearly all round trips. [DefaultNodeTimeout] without it.
func WithNodeTimeout(d time.Duration) Option {
	return func(c *Client) error {
		if d <= 0 {
			return fmt.Errorf("%w: node timeout %v is not positive", ErrInvalid, d)
		}
		c.nodeTimeout = d
		return nil
	}
}

// WithRetryDelay sets the range from which the delay before the next attempt of [Client.Lock] is drawn; it should be
// larger than the time that one acquire takes, and min must be positive. 50 ms to 150 ms without it.
func WithRetryDelay(min, max time.Duration) Option {
	return func(c *Client) error {
		if min <= 0 || max < min {
			return fmt.Errorf("%w: retry delay from %v to %v, must be positive and not fall", ErrInvalid, min, max)
		}
		c.retryMin, c.retryMax = min, max
		return nil
	}
}

// WithLossLead sets how long before the lease ends its context is cancelled, so that work can stop in time; never more
// than half the validity. Without it a twentieth of the TTL, at least 1 ms and at most 1 s.
func WithLossLead(d time.Duration) Option {
	return func(c *Client) error {
		if d <= 0 {
			return fmt.Errorf("%w: loss lead %v is not positive", ErrInvalid, d)
		}
		c.lossLead = d
		return nil
	}
}

// WithObserver has o told of the algorithm's steps. Nobody is told without it.
func WithObserver(o observe.Observer) Option {
	return func(c *Client) error { c.observer = o; return nil }
}

// WithRuntime has the client run on the clock, the goroutines and the source of random bytes of a simulator or a test, in place
// of the operating system's.
func WithRuntime(r driver.Runtime) Option {
	return func(c *Client) error {
		c.run(r)
		return nil
	}
}
