package workers

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"time"

	"redlocksim/internal/jobs"
)

const (
	// MaxFile bounds a file that jobs share, in bytes: some five times the program of a lock with a library.
	MaxFile = 64 << 20
	// transfer is how long a file may take to or from the Redis.
	transfer = time.Minute
)

// keep stores files at the Redis, or renews those that are there.
func (p *Pool) keep(ctx context.Context, files []jobs.File) error {
	for _, f := range files {
		key := p.address.file(f.Hash)
		isThere, err := p.client.Expire(ctx, key, stays).Result()
		if err != nil {
			return err
		}
		if isThere {
			continue
		}
		packed, err := pack(f.Bytes)
		if err != nil {
			return err
		}
		if err := p.client.WithTimeout(transfer).Set(ctx, key, packed, stays).Err(); err != nil {
			return err
		}
	}
	return nil
}

// fetchError is that of a file that may be there when the task is delivered again: whoever waits for it stores it again.
type fetchError struct{ error }

func (e *fetchError) Error() string { return "cannot be fetched now: " + e.error.Error() }
func (e *fetchError) Unwrap() error { return e.error }

var errNotThere = errors.New("it is not at the Redis")

// fetchFile gets a file from the Redis. An error other than a fetchError is for good.
func (s *serving) fetchFile(ctx context.Context, hash string) ([]byte, error) {
	packed, err := s.client.WithTimeout(transfer).GetRange(ctx, s.Address.file(hash), 0, MaxFile).Bytes()
	switch {
	case err != nil:
		return nil, &fetchError{err}
	case len(packed) == 0:
		return nil, &fetchError{errNotThere}
	case len(packed) > MaxFile:
		return nil, fmt.Errorf("too large: more than %d bytes at the Redis", MaxFile)
	}
	data, err := unpack(packed, MaxFile)
	if err != nil {
		return nil, fmt.Errorf("what is at the Redis cannot be unpacked: %w", err)
	}
	if sum := sha256.Sum256(data); hex.EncodeToString(sum[:]) != hash {
		return nil, fmt.Errorf("what is at the Redis has another hash: %x, not %s", sum, hash)
	}
	return data, nil
}
