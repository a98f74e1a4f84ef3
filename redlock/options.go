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

// WithQuorum sets how many nodes must agree: at least a majority, which is the default, and at most all. A larger quorum q
// tolerates 2q−N−1 nodes that forget a lock while it is held, and fewer nodes that are down.
func WithQuorum(n int) Option {
	return func(c *Client) error {
		if n < quorum.Majority(len(c.nodes)) || n > len(c.nodes) {
			return fmt.Errorf("%w: quorum %d of %d nodes, must be from %d to %d", ErrInvalid, n, len(c.nodes), quorum.Majority(len(c.nodes)), len(c.nodes))
		}
		c.quorum = n
		return nil
	}
}

// WithDrift sets the allowance for clocks that run at different rates. The default is [DefaultDrift].
//
//	redlock.WithDrift(redlock.Drift{Factor: "1%", Constant: 2 * time.Millisecond})
func WithDrift(d Drift) Option {
	return func(c *Client) (err error) {
		c.drift, err = d.checked()
		return err
	}
}

// DefaultNodeTimeout is how long a client waits for a node's answer unless [WithNodeTimeout] sets another time.
const DefaultNodeTimeout = 50 * time.Millisecond

// WithNodeTimeout sets how long a client waits for the answer of one node. It should be longer than nearly all round trips, and
// short compared with the TTL, so that dead nodes cost little.
func WithNodeTimeout(d time.Duration) Option {
	return func(c *Client) error {
		if d <= 0 {
			return fmt.Errorf("%w: node timeout %v is not positive", ErrInvalid, d)
		}
		c.nodeTimeout = d
		return nil
	}
}

// WithRetryDelay sets the range from which [Client.Lock] draws the delay before its next attempt. The delay should be longer
// than one attempt takes, and min must be positive. The default is 50 ms to 150 ms.
func WithRetryDelay(min, max time.Duration) Option {
	return func(c *Client) error {
		if min <= 0 || max < min {
			return fmt.Errorf("%w: retry delay from %v to %v, must be positive and not fall", ErrInvalid, min, max)
		}
		c.retryMin, c.retryMax = min, max
		return nil
	}
}

// WithLossLead sets how long before the lease ends its context is cancelled, so that work can stop in time. It is never more
// than half of the validity. The default is a twentieth of the TTL, at least 1 ms and at most 1 s.
func WithLossLead(d time.Duration) Option {
	return func(c *Client) error {
		if d <= 0 {
			return fmt.Errorf("%w: loss lead %v is not positive", ErrInvalid, d)
		}
		c.lossLead = d
		return nil
	}
}

// WithObserver reports every step of the algorithm to o.
func WithObserver(o observe.Observer) Option {
	return func(c *Client) error { c.observer = o; return nil }
}

// WithRuntime replaces the operating system's clock, goroutines and random bytes. It is for simulators and tests.
func WithRuntime(r driver.Runtime) Option {
	return func(c *Client) error {
		c.run(r)
		return nil
	}
}

func wholeMilliseconds(what string, d time.Duration) error {
	if d <= 0 || d%time.Millisecond != 0 {
		return fmt.Errorf("%w: %s %v is not a positive whole number of milliseconds", ErrInvalid, what, d)
	}
	return nil
}
