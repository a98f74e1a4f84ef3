package lockprogram

import (
	"context"
	"math/rand/v2"
	"time"
)

// Retry makes attempts, with a pause in between, until one succeeds or ctx ends. It returns the last error.
func Retry(ctx context.Context, pause time.Duration, attempt func(context.Context) error) error {
	for {
		err := attempt(ctx)
		if err == nil || ctx.Err() != nil {
			return err
		}
		select {
		case <-time.After(pause):
		case <-ctx.Done():
			return err
		}
	}
}

// Ask makes a request of a server again and again, each of which has that long to be answered, until one is or ctx ends. A
// [Refused] is an answer, too. asked says how many there were: what the last was answered, an earlier one may have brought
// about.
func Ask(ctx context.Context, each, pause time.Duration, request func(context.Context) error) (asked int, err error) {
	_ = Retry(ctx, pause, func(ctx context.Context) error {
		once, cancel := context.WithTimeout(ctx, each)
		defer cancel()
		asked++
		if err = request(once); isRefused(err) {
			return nil
		}
		return err
	})
	return asked, err
}

// trying is how long [LockByTrying] waits between attempts, and as long again at the most.
const trying = 50 * time.Millisecond

// LockByTrying is the Lock of a [Waiter] whose library has none that waits: it makes attempts until one is granted or ctx
// ends, with a pause of 50 to 100 ms in between. If none is, the error is that of an attempt that has left open what happened,
// if there was such a one.
func LockByTrying(ctx context.Context, attempt func(context.Context) (Lease, error)) (Lease, error) {
	var open error
	for {
		l, err := attempt(ctx)
		if err == nil {
			return l, nil
		}
		if !isRefused(err) {
			open = err
		}
		select {
		case <-time.After(trying + rand.N(trying)):
			continue
		case <-ctx.Done():
		}
		if open != nil {
			err = open
		}
		return nil, err
	}
}
