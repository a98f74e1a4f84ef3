// Package invoices is the service as it was with redsync.
package invoices

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/go-redsync/redsync/v4"
)

// Store has the invoices.
type Store interface {
	Unsent(ctx context.Context) (ids []string, err error)
	MarkSent(ctx context.Context, id string) error
	CloseMonth(ctx context.Context) error
}

// Mailer sends invoices. Several instances run at the same time, and only one of them sends.
type Mailer struct {
	locks *redsync.Redsync
	store Store
	send  func(ctx context.Context, id string) error
}

// New makes a mailer.
func New(locks *redsync.Redsync, store Store, send func(ctx context.Context, id string) error) *Mailer {
	return &Mailer{locks: locks, store: store, send: send}
}

const (
	expiry = 8 * time.Second
	margin = 4 * time.Second // how much of the lock must be left to begin with an invoice
)

// ErrLost: the lock could not be extended.
var ErrLost = errors.New("invoices: the lock is lost")

// Run sends what there is to send, every period, until ctx ends.
func (m *Mailer) Run(ctx context.Context, period time.Duration) {
	ticker := time.NewTicker(period)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
		sent, err := m.SendAll(ctx)
		switch {
		case err != nil:
			slog.ErrorContext(ctx, "invoices", "sent", sent, "error", err)
		case sent > 0:
			slog.InfoContext(ctx, "invoices", "sent", sent)
		}
	}
}

// SendAll sends the invoices that are unsent, unless another instance does.
func (m *Mailer) SendAll(ctx context.Context) (sent int, err error) {
	mutex := m.locks.NewMutex("invoices", redsync.WithExpiry(expiry))
	err = mutex.TryLockContext(ctx)
	if taken := (*redsync.ErrTaken)(nil); errors.As(err, &taken) {
		return 0, nil
	}
	if err != nil {
		return 0, err
	}
	defer func() {
		if _, failed := mutex.UnlockContext(context.WithoutCancel(ctx)); err == nil {
			err = failed
		}
	}()
	ids, err := m.store.Unsent(ctx)
	if err != nil {
		return 0, err
	}
	for _, id := range ids {
		if time.Until(mutex.Until()) < margin {
			if ok, err := mutex.ExtendContext(ctx); !ok || err != nil {
				return sent, errors.Join(ErrLost, err)
			}
		}
		if err := m.send(ctx, id); err != nil {
			return sent, fmt.Errorf("invoice %s: %w", id, err)
		}
		if err := m.store.MarkSent(ctx, id); err != nil {
			return sent, fmt.Errorf("invoice %s: %w", id, err)
		}
		sent++
	}
	return sent, nil
}

// CloseMonth closes the month. It waits for an instance that sends invoices, a minute at most.
func (m *Mailer) CloseMonth(ctx context.Context) error {
	waiting, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	mutex := m.locks.NewMutex("invoices", redsync.WithExpiry(expiry), redsync.WithTries(1000))
	if err := mutex.LockContext(waiting); err != nil {
		return err
	}
	defer mutex.UnlockContext(context.WithoutCancel(ctx))

	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	go func() {
		ticker := time.NewTicker(expiry / 3)
		defer ticker.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-ticker.C:
			}
			if ok, err := mutex.ExtendContext(ctx); !ok || err != nil {
				stop(errors.Join(ErrLost, err))
				return
			}
		}
	}()
	return m.store.CloseMonth(ctx)
}
