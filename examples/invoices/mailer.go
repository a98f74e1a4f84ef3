// Package invoices is a service that used redsync, and now uses redlock. Its tests need no server. README.md says what changed,
// and the folder redsync has it as it was.
package invoices

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"redlocksim/redlock"
)

// Store has the invoices.
type Store interface {
	Unsent(ctx context.Context) (ids []string, err error)
	MarkSent(ctx context.Context, id string) error
	CloseMonth(ctx context.Context) error
}

// Mailer sends invoices. Several instances run at the same time, and only one of them sends.
type Mailer struct {
	locks *redlock.Client
	store Store
	send  func(ctx context.Context, id string) error
}

// New makes a mailer.
func New(locks *redlock.Client, store Store, send func(ctx context.Context, id string) error) *Mailer {
	return &Mailer{locks: locks, store: store, send: send}
}

const (
	expiry = 8 * time.Second
	margin = 4 * time.Second // how much of the lock must be left to begin with an invoice
)

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
	lease, err := m.locks.TryLock(ctx, "invoices", expiry)
	if errors.Is(err, redlock.ErrTaken) {
		return 0, nil
	}
	if err != nil {
		return 0, err
	}
	defer func() {
		if failed := lease.Unlock(context.WithoutCancel(ctx)); err == nil {
			err = failed
		}
	}()
	ids, err := m.store.Unsent(ctx)
	if err != nil {
		return 0, err
	}
	for _, id := range ids {
		if time.Until(lease.Until()) < margin {
			if err := lease.Extend(ctx, expiry); err != nil {
				return sent, err
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
	limits := redlock.Renewal{Wait: time.Minute}
	return m.locks.Hold(ctx, "invoices", expiry, limits, func(ctx context.Context, _ *redlock.Lease) error {
		return m.store.CloseMonth(ctx)
	})
}
