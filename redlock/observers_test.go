package redlock

import (
	"strings"
	"testing"
	"time"
)

// Each of several observers is told of every step, one after the other.
func TestObservers(t *testing.T) {
	var told []string
	note := func(name string) Observer {
		return atStep(func(e Event) {
			if e.Step == Granted || e.Step == Released {
				told = append(told, name+" "+e.Step.String())
			}
		})
	}
	in(t, 1, func(w *world) {
		if err := w.mustLock(time.Second).Unlock(w.Context()); err != nil {
			w.Error(err)
		}
	}, WithObserver(Observers(note("first"), nil, Observers(), note("second"))))
	const want = "first granted, second granted, first released, second released"
	if got := strings.Join(told, ", "); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}
