package protocols

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/shopspring/decimal"

	"redlocksim/faults"
)

// DelaySettings are those of protocols that wait between two attempts.
type DelaySettings struct {
	// RetryDelay is the range from which the random delay between two attempts is drawn. Default: 50 ms to 150 ms; with redlock
	// and one-redis a third of the time waited in vain, from 1 ms to 100 ms, and up to half of that more or less. Example:
	// {min: 10ms, max: 40ms}
	RetryDelay Range `yaml:"retry-delay"`
}

// Range is a range of durations.
type Range struct {
	// Min is the shortest. Example: 50ms
	Min time.Duration `yaml:"min,required"`
	// Max is the longest. Example: 150ms
	Max time.Duration `yaml:"max,required"`
}

// Span is the range of the delays, also of protocol redlock where that has none: its delays grow with the time waited.
func (s DelaySettings) Span() Range {
	if s.RetryDelay == (Range{}) {
		return Range{time.Millisecond / 2, 150 * time.Millisecond}
	}
	return s.RetryDelay
}

func defaultDelay() DelaySettings {
	return DelaySettings{Range{50 * time.Millisecond, 150 * time.Millisecond}}
}

func (s DelaySettings) check() error {
	if d := s.RetryDelay; d.Min < 0 || d.Max <= 0 || d.Max < d.Min {
		return fmt.Errorf("retry-delay from %v to %v, must be positive and not fall", d.Min, d.Max)
	}
	return nil
}

// RetrySettings are those of protocols whose clients make attempts on their own.
type RetrySettings struct {
	DelaySettings `yaml:",inline"`
	// Backoff makes the delay between attempts grow. The first delay is from retry-delay.min to twice that; both ends grow
	// by this percentage with every attempt, up to retry-delay.max. With 0% delays do not grow. Default: 0%. Example: 100%
	Backoff faults.Rate `yaml:"backoff"`
	// Attempts is the maximum number of attempts of one lock call; 0 is as many as the step's own time allows. Default: 0.
	// Example: 3
	Attempts int `yaml:"attempts" range:"0.."`
	// GiveUp is how long one lock call keeps making attempts; 0s is for the step's own time. Default: 0s. Example: 5s
	GiveUp time.Duration `yaml:"give-up" range:"0s.."`
}

func defaultRetry() RetrySettings { return RetrySettings{DelaySettings: defaultDelay()} }

// Check implements Own, for protocols that have little else to set.
func (s RetrySettings) Check(of Settings, _ int) error { return cmp.Or(s.check(), of.checkTTL()) }

func (s RetrySettings) check() error {
	if s.Backoff.Ratio().IsNegative() || !s.Backoff.Ratio().IsZero() && s.RetryDelay.Min == 0 {
		return fmt.Errorf("backoff %v from a delay of %v on, neither may be negative and a delay of 0 does not grow", s.Backoff, s.RetryDelay.Min)
	}
	return s.DelaySettings.check()
}

// retry makes attempts until one is granted, ctx ends or the settings say that it is enough, with random delays between
// them.
func (s *session) retry(ctx context.Context, attempt func() (Lease, error)) (Lease, error) {
	start, given := s.clock.Now(), Of[RetrySettings](s.env.Settings)
	for n := 1; ; n++ {
		l, err := attempt()
		if err == nil {
			return l, nil
		}
		if _, ok := errors.AsType[*callEnded](err); ok || n == given.Attempts {
			return nil, err
		}
		s.env.Attempt(ctx, n+1)
		if ctx.Err() == nil {
			delay := s.within(given.delay(n))
			if given.GiveUp > 0 {
				delay = min(delay, start.Add(given.GiveUp).Sub(s.clock.Now()))
			}
			if delay > 0 {
				s.env.Sleep(ctx, delay)
			}
		}
		if given.GiveUp > 0 && s.clock.Now().Sub(start) >= given.GiveUp {
			return nil, err
		}
		if ctx.Err() != nil {
			return nil, fmt.Errorf("%w, %w", err, ctx.Err())
		}
	}
}

// delay is what the delay after attempt n is drawn from.
func (s RetrySettings) delay(n int) Range {
	d := s.RetryDelay
	if growth := s.Backoff.Ratio(); !growth.IsZero() {
		from := decimal.NewFromInt(int64(d.Min))
		for most := decimal.NewFromInt(int64(d.Max)); n > 1 && from.LessThan(most); n-- {
			from = from.Mul(growth.Add(decimal.New(1, 0)))
		}
		d.Min = min(time.Duration(from.IntPart()), d.Max)
		d.Max = min(2*d.Min, d.Max)
	}
	return d
}

// within draws evenly from a range.
func (s *session) within(d Range) time.Duration {
	return d.Min + time.Duration(s.random(uint64(d.Max-d.Min)+1))
}

// callEnded is an error after which a call makes no further attempt.
type callEnded struct{ cause error }

func (e *callEnded) Error() string { return e.cause.Error() }
func (e *callEnded) Unwrap() error { return e.cause }
