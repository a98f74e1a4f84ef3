package redlock

import (
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

// newDelay draws a retry delay, evenly from its range, so that clients which split the votes do not meet again.
func (s *settings) newDelay() (time.Duration, error) {
	more, err := s.below(int64(s.retryMax-s.retryMin) + 1)
	if err != nil {
		return 0, fmt.Errorf("redlock: drawing a retry delay: %w", err)
	}
	return s.retryMin + time.Duration(more), nil
}

// someDelay draws a retry delay. A source of random bytes that fails is no reason to lose a lock, or to hold up others.
func (s *settings) someDelay() time.Duration {
	delay, err := s.newDelay()
	if err != nil {
		return s.retryMin
	}
	return delay
}

// newSpread draws the part of the spread to wait for. If the random source fails it is the whole spread: the retry delay was
// drawn just before.
func (s *settings) newSpread() time.Duration {
	part, err := s.below(int64(s.wakeSpread))
	if err != nil {
		return s.wakeSpread
	}
	return time.Duration(part)
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
