package redlock

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"encoding/hex"
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

// Fingerprint stands for a lock value in logs and traces: the beginning of its SHA-256, 12 hexadecimal digits. Whoever has
// the value itself can release the lock.
func Fingerprint(value string) string {
	sum := sha256.Sum256([]byte(value))
	return hex.EncodeToString(sum[:6])
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
