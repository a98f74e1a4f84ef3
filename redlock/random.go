package redlock

import (
	"cmp"
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"io"
	"time"
)

// valueBytes is the size of the random value that tells one acquisition from all others, before encoding.
const valueBytes = 20

func (s *settings) newValue() (string, error) {
	var raw [valueBytes]byte
	if _, err := io.ReadFull(s.rand, raw[:]); err != nil {
		return "", fmt.Errorf("redlock: drawing a lock value: %w", err)
	}
	return base64.RawURLEncoding.EncodeToString(raw[:]), nil
}

// below draws a number below a positive one.
func (s *settings) below(n int64) (int64, error) {
	var raw [8]byte
	if _, err := io.ReadFull(s.rand, raw[:]); err != nil {
		return 0, err
	}
	return int64(binary.LittleEndian.Uint64(raw[:]) % uint64(n)), nil
}

// The growing retry delay, unless WithRetryDelay sets a range: from shortestDelay to longestDelay, less or more a random half.
const (
	shortestDelay = time.Millisecond
	longestDelay  = 100 * time.Millisecond
)

// newDelay draws a retry delay, so that clients which split the votes do not meet again. waited is for how long the client has
// asked in vain.
func (s *settings) newDelay(waited time.Duration) (time.Duration, error) {
	if s.retryMax == 0 {
		return s.growingDelay(waited)
	}
	return s.delayWithin(s.retryMin, s.retryMax)
}

func (s *settings) growingDelay(waited time.Duration) (time.Duration, error) {
	least := min(max(waited/3, shortestDelay), longestDelay) / 2
	return s.delayWithin(least, 3*least)
}

func (s *settings) delayWithin(least, most time.Duration) (time.Duration, error) {
	more, err := s.below(int64(most-least) + 1)
	if err != nil {
		return 0, fmt.Errorf("redlock: drawing a retry delay: %w", err)
	}
	return least + time.Duration(more), nil
}

// fullDelay draws a delay as of a client that has long asked in vain. In it every other that waits asks at least once.
func (s *settings) fullDelay() (time.Duration, error) { return s.newDelay(3 * longestDelay) }

// longestRetry is the longest delay that can be drawn.
func (s *settings) longestRetry() time.Duration { return cmp.Or(s.retryMax, 3*longestDelay/2) }

// someDelay draws a full delay. A source of random bytes that fails is no reason to lose a lock, or to hold up others.
func (s *settings) someDelay() time.Duration {
	delay, err := s.fullDelay()
	if err != nil {
		return max(s.retryMin, longestDelay/2)
	}
	return delay
}

// periodOf draws the time until the next renewal. A source of random bytes that fails is no reason to lose a lock.
func (s *settings) periodOf(r Renewal) time.Duration {
	if r.Jitter == 0 {
		return r.Period
	}
	sooner, err := s.below(int64(r.Jitter) + 1)
	if err != nil {
		return r.Period
	}
	return r.Period - time.Duration(sooner)
}
