package reason

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"redlocksim/redlock"
	"redlocksim/redlock/driver"
)

func TestOf(t *testing.T) {
	for _, c := range []struct {
		err  error
		want string
	}{
		{&redlock.Error{Op: driver.OpAcquire, Reason: redlock.ErrTaken}, "taken"},
		{&redlock.Error{Op: driver.OpAcquire, Reason: redlock.ErrNoQuorum}, "no_quorum"},
		{&redlock.Error{Op: driver.OpAcquire, Reason: redlock.ErrTooLate}, "too_late"},
		{&redlock.Error{Op: driver.OpAcquire, Reason: fmt.Errorf("%w: the source gave 0", redlock.ErrNoToken)}, "no_token"},
		{&redlock.Error{Op: driver.OpExtend, Reason: redlock.ErrLost}, "lost"},
		{&redlock.Error{Op: driver.OpRelease, Reason: redlock.ErrReleased}, "released"},
		{&redlock.Error{Op: driver.OpAcquire, Cause: redlock.ErrTokensUsedUp}, "tokens_used_up"},
		{redlock.ErrClosed, "closed"},
		{&redlock.Error{Op: driver.OpAcquire, Cause: context.Canceled}, "cancelled"},
		{&redlock.Error{Op: driver.OpAcquire, Cause: fmt.Errorf("x: %w", context.DeadlineExceeded)}, "deadline_exceeded"},
		{&redlock.Error{Op: driver.OpAcquire, Reason: redlock.ErrTaken, Cause: context.Canceled}, "taken"},
		{errors.New("no random bytes"), Other},
	} {
		if got := Of(c.err); got != c.want {
			t.Errorf("%v is %q, want %q", c.err, got, c.want)
		}
	}
}
