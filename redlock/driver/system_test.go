package driver

import (
	"context"
	"testing"
	"testing/synctest"
	"time"
)

// A Wake that comes first is kept, and several count as one.
func TestWaiter(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := SystemTasks().NewWaiter()
		wait := func() time.Duration {
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			defer cancel()
			began := time.Now()
			w.Wait(ctx)
			return time.Since(began)
		}
		w.Wake()
		w.Wake()
		if d := wait(); d != 0 {
			t.Errorf("waited %v though woken before", d)
		}
		if d := wait(); d != time.Second {
			t.Errorf("waited %v, want until the context ended", d)
		}
		SystemTasks().Start(func() {
			time.Sleep(100 * time.Millisecond)
			w.Wake()
		})
		if d := wait(); d != 100*time.Millisecond {
			t.Errorf("waited %v, want until woken", d)
		}
	})
}
