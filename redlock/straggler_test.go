package redlock

import (
	"context"
	"testing"
	"time"

	"redlocksim/redlock/driver"
	"redlocksim/redlock/observe"
)

// What becomes of the vote of E that comes after the decision, in every order of its SET, its answer and the release.
func TestStragglerTakenBack(t *testing.T) {
	for _, c := range []struct {
		name     string
		acquire  string // of E, sent at 0
		release  string // of E, sent at 5 ms
		again    string // of E, if it is released again
		releases int    // sent to E
		left     bool   // the key stays, until its TTL
		takenAt  string // when it is taken back; empty: never
	}{
		{name: "answered before the release", acquire: "ok:4.5", release: "ok:1", releases: 1},
		{name: "release found the key, then its answer, then the vote", acquire: "ok:3+17", release: "ok:1+1", releases: 1},
		{name: "release found the key, then the vote, then its answer", acquire: "ok:3+7", release: "ok:1+9", releases: 1},
		{name: "release overtook, its answer, then the vote", acquire: "ok:20+2", release: "ok:1", releases: 2, takenAt: "22"},
		{name: "release overtook, the vote, then its answer", acquire: "ok:7+1", release: "ok:1+9", releases: 2, takenAt: "15"},
		{name: "release lost, then the vote", acquire: "ok:20", release: "lost", releases: 2, takenAt: "55"},
		{name: "answer of the release lost", acquire: "ok:3+17", release: "mute:1", releases: 2, takenAt: "55"},
		{name: "release refused, then the vote", acquire: "ok:20", release: "refused:1", releases: 2, takenAt: "20"},
		{name: "the vote, then release refused", acquire: "ok:10", release: "refused:7", releases: 2, takenAt: "12"},
		{name: "the vote, then release failed", acquire: "ok:10", release: "failed:7", releases: 2, takenAt: "12"},
		{name: "voted twice", acquire: "twice:20", release: "ok:1", releases: 2, takenAt: "20"},
		{name: "no vote", acquire: "no:20", release: "ok:1", releases: 1},
		{name: "an error", acquire: "failed:20", release: "ok:1", releases: 1},
		{name: "vote just in time", acquire: "ok:49", release: "ok:1", releases: 2, takenAt: "49"},
		{name: "vote after the node timeout is unknown", acquire: "ok:51", release: "ok:1", releases: 1, left: true},
		{name: "taking back is not repeated", acquire: "ok:20", release: "ok:1", again: "lost", releases: 2, left: true, takenAt: "20"},
	} {
		for _, grant := range []bool{true, false} {
			name := c.name + ", after Unlock"
			if !grant {
				name = c.name + ", after a denied attempt"
			}
			t.Run(name, func(t *testing.T) {
				in(t, 5, func(w *world) {
					e := w.node(4)
					ctx := w.Context()
					first := "ok:1 ok:2 ok:3 ok:4 "
					if !grant {
						first = "no:1 no:2 no:5 ok:30 "
					}
					w.script(driver.OpAcquire, first+c.acquire)
					w.script(driver.OpRelease, "ok:1 ok:1 ok:1 ok:1 "+c.release)
					if c.again != "" {
						e.next(driver.OpRelease, c.again)
					}
					lease, err := w.TryLock(ctx, "r", time.Second)
					if (err == nil) != grant {
						w.Fatal(err)
					}
					if grant {
						w.atTime(millis("5"))
						if err := lease.Unlock(ctx); err != nil {
							w.Error(err)
						}
					}
					if err := w.Close(ctx); err != nil {
						w.Error(err)
					}
					if held := e.holder("r") != ""; held != c.left && c.acquire != "ok:51" {
						w.Errorf("E holds the key: %v, want %v", held, c.left)
					}
					w.atTime(millis("500"))
					if held := e.holder("r") != ""; held != c.left {
						w.Errorf("E holds the key: %v, want %v", held, c.left)
					}
					if got := len(e.received(driver.OpRelease)); got != c.releases {
						w.Errorf("%d releases sent to E, want %d", got, c.releases)
					}
					for _, r := range e.received(driver.OpRelease) {
						if r.Value != e.received(driver.OpAcquire)[0].Value {
							w.Errorf("released %q", r.Value)
						}
					}
					if c.releases > 1 {
						taken := e.received(driver.OpRelease)[1].sent.Sub(w.began)
						if taken != millis(c.takenAt) {
							w.Errorf("taken back at %v, want %sms", taken, c.takenAt)
						}
					}
					w.atTime(2 * time.Second)
					if w.holders("r") != "" {
						w.Errorf("%s hold the key after its TTL", w.holders("r"))
					}
				})
			})
		}
	}
}

// A vote that comes while the grant is held is one of the lease's: extended and released with it, and not taken back.
func TestStragglerJoins(t *testing.T) {
	in(t, 5, func(w *world) {
		w.script(driver.OpAcquire, "ok:1 ok:2 ok:3 ok:20 no:21")
		lease := w.mustLock(time.Second)
		w.hush()
		w.atTime(millis("30"))
		w.transcript(`
			20ms node-answered D granted, late [acquire]
			20ms joined D granted [acquire]
			21ms node-answered E held by another, late [acquire]`)
		if w.sent(driver.OpRelease) != "00000" || w.holders("r") != "ABCD" {
			w.Errorf("sent releases %s, held by %s", w.sent(driver.OpRelease), w.holders("r"))
		}
		// It counts: the lease survives the loss of two of the first three.
		w.node(0).forget()
		if err := lease.Extend(w.Context(), time.Minute); err != nil {
			w.Error(err)
		}
		w.atTime(2 * time.Second)
		if w.holders("r") != "BCD" {
			w.Errorf("held by %s after the extend", w.holders("r"))
		}
		if err := lease.Unlock(w.Context()); err != nil {
			w.Error(err)
		}
		w.atTime(3 * time.Second)
		if w.sent(driver.OpRelease) != "11111" || w.holders("r") != "" {
			w.Errorf("sent releases %s, held by %s", w.sent(driver.OpRelease), w.holders("r"))
		}
	})
}

// A vote that comes between the decision against the attempt and its release is left to that release.
func TestStragglerBeforeRelease(t *testing.T) {
	in(t, 3, func(w *world) {
		w.script(driver.OpAcquire, "no:1 no:2 ok:10")
		w.TryLock(w.Context(), "r", time.Second) // the release is sent at 22 ms
		w.atTime(millis("500"))
		if w.sent(driver.OpRelease) != "111" || w.holders("r") != "" {
			w.Errorf("sent releases %s, held by %s", w.sent(driver.OpRelease), w.holders("r"))
		}
	}, WithObserver(atStep(func(e observe.Event) {
		switch e.Step {
		case observe.Denied:
			time.Sleep(millis("20"))
		case observe.Joined, observe.TakenBack:
			t.Errorf("%v", e.Step)
		}
	})))
}

// A vote that completes a quorum after the caller's context ended joins no grant.
func TestNothingJoinsADeniedAttempt(t *testing.T) {
	in(t, 3, func(w *world) {
		w.script(driver.OpAcquire, "ok:1 ok:12 ok:13")
		ctx, cancel := context.WithTimeout(w.Context(), millis("10"))
		defer cancel()
		if _, err := w.TryLock(ctx, "r", time.Second); err == nil {
			w.Fatal("granted")
		}
	}, WithObserver(atStep(func(e observe.Event) {
		switch e.Step {
		case observe.Denied:
			time.Sleep(millis("10"))
		case observe.Joined:
			t.Errorf("%s joined", e.Node.Node)
		}
	})))
}
