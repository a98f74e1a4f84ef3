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

func (c *Client) newValue() (string, error) {
	var raw [valueBytes]byte
	if _, err := io.ReadFull(c.rand, raw[:]); err != nil {
		return "", fmt.Errorf("redlock: drawing a lock value: %w", err)
	}
	return base64.RawURLEncoding.EncodeToString(raw[:]), nil
}

// newDelay draws a retry delay, evenly from its range, so that clients which split the votes do not meet again.
func (c *Client) newDelay() (time.Duration, error) {
	var raw [8]byte
	if _, err := io.ReadFull(c.rand, raw[:]); err != nil {
		return 0, fmt.Errorf("redlock: drawing a retry delay: %w", err)
	}
	span := uint64(c.retryMax-c.retryMin) + 1
	return c.retryMin + time.Duration(binary.LittleEndian.Uint64(raw[:])%span), nil
}
