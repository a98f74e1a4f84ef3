package rules

import (
	"testing"
	"time"

	"redlocksim/internal/strictyaml"
	"redlocksim/scenarios/protocols"
)

func lockOf(name protocols.Name) protocols.Settings { return protocols.Default().With(name) }

func redlockWith(change func(*protocols.RedlockSettings)) protocols.Settings {
	lock := protocols.Default()
	protocols.Change(&lock, change)
	return lock
}

func plainWith(change func(*protocols.RedlockPlainSettings)) protocols.Settings {
	lock := lockOf("redlock-plain")
	protocols.Change(&lock, change)
	return lock
}

func preset(t *testing.T, name string) protocols.Settings {
	t.Helper()
	lock := protocols.Default()
	if err := strictyaml.Decode("lock", []byte("preset: "+name), &lock); err != nil {
		t.Fatal(err)
	}
	return lock
}

// The bounds are computed by hand from the derivation in docs/checker.md, for round trips of 10 ms.
func TestPatience(t *testing.T) {
	for _, c := range []struct {
		name string
		lock protocols.Settings
		want time.Duration // 0: not judged
	}{
		{"redlock", lockOf("redlock"), 801 * ms},
		{"fencing", redlockWith(func(own *protocols.RedlockSettings) { own.Fencing = true }), 901 * ms},
		{"redlock-plain", lockOf("redlock-plain"), 701 * ms},
		{"redlock-plain, sequential", plainWith(func(own *protocols.RedlockPlainSettings) { own.Asking = protocols.Sequential }), 1501 * ms},
		{"redlock-plain that is patient with a node it knows", plainWith(func(own *protocols.RedlockPlainSettings) { own.ConnectedTimeout = 200 * ms }), 1901 * ms},
		{"redlock-plain that is less patient with one", plainWith(func(own *protocols.RedlockPlainSettings) { own.ConnectedTimeout = 20 * ms }), 701 * ms},
		{"redlock-plain that sends again", plainWith(func(own *protocols.RedlockPlainSettings) { own.Resends = 3 }), 701 * ms},
		{"redsync, whose patience with a node is as long as its lock", preset(t, "redsync"), 0},
		{"redlock-plain that leaves its votes", plainWith(func(own *protocols.RedlockPlainSettings) { own.Cleanup = protocols.NoCleanup }), 0},
		{"single", lockOf("single"), 601 * ms},
		{"redisson", lockOf("redisson"), 0},
		{"a lock as short as an attempt", func() protocols.Settings { s := lockOf("redlock"); s.TTL = 150 * ms; return s }(), 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			p, known := patienceOf(c.lock, 5, 0)
			bound, judged := p.bound(5, 10*ms)
			if !known || !judged || !p.lasts(c.lock.TTL) {
				bound = 0
			}
			if bound != c.want {
				t.Errorf("%v, want %v", bound, c.want)
			}
		})
	}
	// Of three free nodes of five none may be the gate, until the attempt after sixteen refusals asks all.
	p, _ := patienceOf(lockOf("redlock"), 5, 0)
	if bound, _ := p.bound(3, 10*ms); bound != 17*400*ms+ms {
		t.Errorf("with a gate in the way: %v", bound)
	}
	plain, _ := patienceOf(lockOf("redlock-plain"), 5, 0)
	if bound, _ := plain.bound(3, 10*ms); bound != 701*ms {
		t.Errorf("without a gate: %v", bound)
	}
	if _, judged := p.bound(5, 19*ms); judged {
		t.Error("a script that is sent twice can come too late")
	}
	for step, want := range map[time.Duration]time.Duration{100 * time.Microsecond: 801*ms + 2*5600*time.Microsecond, ms: 0} {
		p, _ := patienceOf(lockOf("redlock"), 5, step)
		if bound, fits := p.bound(5, 10*ms); fits != (want > 0) || fits && bound != want {
			t.Errorf("with code that takes %v for a step: %v, want %v", step, bound, want)
		}
	}
}

// Attempts that each get fewer votes than they need leave no node without a vote only if there are enough of them.
func TestCrowds(t *testing.T) {
	ofQuorum := func(q int) protocols.Settings {
		return redlockWith(func(own *protocols.RedlockSettings) { own.Quorum = q })
	}
	for _, c := range []struct {
		name           string
		lock           protocols.Settings
		nodes, clients int
		crowd          int // 0: not known
		want           time.Duration
	}{
		{"two clients", lockOf("redlock"), 5, 2, 3, 5*400*ms + ms},
		{"three clients", lockOf("redlock"), 5, 3, 3, 6*400*ms + ms},
		{"three nodes", lockOf("redlock"), 3, 2, 3, 5*350*ms + ms},
		{"seven nodes", lockOf("redlock"), 7, 2, 3, 5*450*ms + ms},
		{"four nodes", lockOf("redlock"), 4, 2, 2, 5*350*ms + ms},
		{"a higher quorum", ofQuorum(4), 5, 2, 2, 5*350*ms + ms},
		{"delays that do not grow", redlockWith(func(own *protocols.RedlockSettings) {
			own.RetryDelay = protocols.Range{Min: ms, Max: 10 * ms}
		}), 5, 2, 3, 5*260*ms + ms},
		{"tokens", redlockWith(func(own *protocols.RedlockSettings) { own.Fencing = true }), 5, 2, 0, 0},
		{"batches", redlockWith(func(own *protocols.RedlockSettings) { own.Batching = 1 }), 5, 2, 0, 0},
		{"a spread that is longer than delays", redlockWith(func(own *protocols.RedlockSettings) { own.WakeUp = time.Second }), 5, 2, 0, 0},
		{"another protocol", lockOf("redlock-plain"), 5, 2, 0, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			p, _ := patienceOf(c.lock, c.nodes, 0)
			bound, judged := p.withoutCrowds(c.clients, 10*ms)
			if !judged {
				bound = 0
			}
			if p.crowd != c.crowd || bound != c.want {
				t.Errorf("%d attempts are a crowd, and the bound is %v; want %d and %v", p.crowd, bound, c.crowd, c.want)
			}
			for split := range c.crowd { // no number of them below a crowd can have all votes, and each too few
				if split*(p.alone-1) >= c.nodes {
					t.Errorf("%d attempts may share %d nodes, %d at the most each", split, c.nodes, p.alone-1)
				}
			}
		})
	}
	p, _ := patienceOf(lockOf("redlock"), 5, 0)
	if _, judged := p.withoutCrowds(2, 19*ms); judged {
		t.Error("a script that is sent twice can come too late")
	}
}
