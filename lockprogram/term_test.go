package lockprogram

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"
)

// A lease is lost when it is over, when a renewal is refused, and when nobody has renewed it for a term, also while one is
// asked for.
func TestKeep(t *testing.T) {
	const every = time.Second
	noAnswer := errors.New("no answer")
	for name, c := range map[string]struct {
		over    time.Duration // 0 for never
		release time.Duration
		renew   func(ctx context.Context, n int) (time.Duration, error) // from now on; 0 for as long as before
		lost    time.Duration
		renewed int
	}{
		"over":                 {over: 2500 * time.Millisecond, renew: func(context.Context, int) (time.Duration, error) { return 0, nil }, lost: 2500 * time.Millisecond},
		"refused":              {renew: func(context.Context, int) (time.Duration, error) { return 0, Refused(noAnswer) }, lost: time.Second},
		"not renewed":          {renew: func(context.Context, int) (time.Duration, error) { return 0, noAnswer }, lost: 3 * time.Second},
		"as before":            {renew: func(context.Context, int) (time.Duration, error) { return 0, nil }, lost: 3 * time.Second},
		"renewed twice":        {renew: func(_ context.Context, n int) (time.Duration, error) { return 3 * time.Second, only(n <= 2, noAnswer) }, lost: 5 * time.Second, renewed: 2},
		"released":             {release: 1500 * time.Millisecond, renew: func(context.Context, int) (time.Duration, error) { return 3 * time.Second, nil }, lost: 1500 * time.Millisecond, renewed: 1},
		"renewed for less":     {renew: func(_ context.Context, n int) (time.Duration, error) { return time.Second / 2, nil }, lost: 1500 * time.Millisecond, renewed: 1},
		"renewed too late":     {renew: func(context.Context, int) (time.Duration, error) { return -time.Second, nil }, lost: time.Second},
		"asks when it ends":    {renew: renewedOnce(3500 * time.Millisecond), lost: 4500 * time.Millisecond, renewed: 1},
		"asks when it is over": {over: 2500 * time.Millisecond, renew: renewedOnce(3 * time.Second), lost: 2500 * time.Millisecond, renewed: 1},
		"asks when released":   {release: 2500 * time.Millisecond, renew: renewedOnce(3 * time.Second), lost: 2500 * time.Millisecond, renewed: 1},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				began := time.Now()
				term := NewTerm(began.Add(3*time.Second - time.Nanosecond))
				over := make(chan struct{})
				if c.over > 0 {
					time.AfterFunc(c.over, func() { close(over) })
				}
				if c.release > 0 {
					time.AfterFunc(c.release, term.Release)
				}
				asked := 0
				go term.Keep(every, over, func(ctx context.Context) (time.Time, error) {
					asked++
					more, err := c.renew(ctx, asked)
					if more == 0 {
						return time.Time{}, err
					}
					return time.Now().Add(more), err
				})
				renewed := 0
				for until := range term.Renewed() {
					renewed++
					if !until.Equal(term.Until()) {
						t.Errorf("it tells of a renewal until %v, and lasts until %v", until, term.Until())
					}
				}
				<-term.Lost()
				if lost := time.Since(began).Round(time.Millisecond); lost != c.lost || renewed != c.renewed {
					t.Errorf("lost after %v, %d renewals; want %v, %d", lost, renewed, c.lost, c.renewed)
				}
			})
		})
	}
}

func only(ok bool, otherwise error) error {
	if ok {
		return nil
	}
	return otherwise
}

// renewedOnce renews a lease once, and then waits for an answer that does not come.
func renewedOnce(more time.Duration) func(context.Context, int) (time.Duration, error) {
	return func(ctx context.Context, n int) (time.Duration, error) {
		if n > 1 {
			<-ctx.Done()
			return 0, ctx.Err()
		}
		return more, nil
	}
}
