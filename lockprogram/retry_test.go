package lockprogram

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"
)

// Who retries is told of the last error when the time is over, and pauses between attempts.
func TestRetry(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		failed := errors.New("failed")
		began, times := time.Now(), 0
		attempt := func(n int) func(context.Context) error {
			times = 0
			return func(context.Context) error { times++; return only(times == n, failed) }
		}
		if err := Retry(t.Context(), time.Second, attempt(3)); err != nil || times != 3 || time.Since(began) != 2*time.Second {
			t.Errorf("%v, %d attempts after %v", err, times, time.Since(began))
		}
		ctx, cancel := context.WithTimeout(t.Context(), 2500*time.Millisecond)
		defer cancel()
		began = time.Now()
		if err := Retry(ctx, time.Second, attempt(0)); err != failed || times != 3 || time.Since(began) != 2500*time.Millisecond {
			t.Errorf("%v, %d attempts after %v", err, times, time.Since(began))
		}
	})
}

// A request is repeated that has no answer in its time, and none that was refused.
func TestAsk(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began, no := time.Now(), errors.New("no")
		silent := 2
		asked, err := Ask(t.Context(), time.Second, time.Second, func(ctx context.Context) error {
			if silent--; silent >= 0 {
				<-ctx.Done()
				return ctx.Err()
			}
			return Refused(no)
		})
		if asked != 3 || !errors.Is(err, no) || time.Since(began) != 4*time.Second {
			t.Errorf("asked %d times, %v, %v", asked, err, time.Since(began))
		}
	})
}

// A lock is tried for until there is one, or the time is over; then what an attempt has left open stays so.
func TestLockByTrying(t *testing.T) {
	taken, noAnswer := Refused(errors.New("taken")), errors.New("no answer")
	for name, c := range map[string]struct {
		attempts []error // the last again and again
		want     error
		least    time.Duration
	}{
		"granted after a timeout": {[]error{taken, noAnswer, taken, nil}, nil, 150 * time.Millisecond},
		"taken":                   {[]error{taken}, taken, time.Second},
		"open":                    {[]error{noAnswer, taken}, noAnswer, time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithTimeout(t.Context(), time.Second)
				defer cancel()
				began, n := time.Now(), 0
				l, err := LockByTrying(ctx, func(context.Context) (Lease, error) {
					err := c.attempts[min(n, len(c.attempts)-1)]
					n++
					return fakeLease{}, err
				})
				if took := time.Since(began); err != c.want || (l == nil) != (err != nil) || took < c.least || took > max(2*c.least, time.Second) {
					t.Errorf("%v, %v after %v, want %v", l, err, took, c.want)
				}
			})
		})
	}
}
