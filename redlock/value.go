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

// newDelay draws a retry delay, evenly from its range, so that clients which split the votes do not meet again.
func (s *settings) newDelay() (time.Duration, error) {
	var raw [8]byte
	if _, err := io.ReadFull(s.rand, raw[:]); err != nil {
		return 0, fmt.Errorf("redlock: drawing a retry delay: %w", err)
	}
	span := uint64(s.retryMax-s.retryMin) + 1
	return s.retryMin + time.Duration(binary.LittleEndian.Uint64(raw[:])%span), nil
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
	var raw [8]byte
	if _, err := io.ReadFull(s.rand, raw[:]); err != nil {
		return s.wakeSpread
	}
	return time.Duration(binary.LittleEndian.Uint64(raw[:]) % uint64(s.wakeSpread))
}
