package rules

import (
	"math/rand/v2"
	"testing"
	"time"

	"redlocksim/internal/strictyaml"
	"redlocksim/scenarios/protocols"
	"redlocksim/sim/kernel"
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

// The bounds are computed by hand from the derivation in docs/checker.md, for requests and answers that take 1 to 5 ms each.
func TestPatience(t *testing.T) {
	for _, c := range []struct {
		name    string
		lock    protocols.Settings
		clients int
		want    time.Duration // 0: not judged
	}{
		{"redlock", lockOf("redlock"), 1, 501 * ms},
		{"fencing", redlockWith(func(own *protocols.RedlockSettings) { own.Fencing = true }), 1, 601 * ms},
		{"two clients", lockOf("redlock"), 2, 6101 * ms},
		{"three clients", lockOf("redlock"), 3, 20661 * ms},
		{"four clients", lockOf("redlock"), 4, 0},
		{"two clients without randomness", redlockWith(func(own *protocols.RedlockSettings) { own.RetryDelay.Min = 150 * ms }), 2, 0},
		{"two clients with short delays", redlockWith(func(own *protocols.RedlockSettings) { own.RetryDelay = protocols.Range{Min: 5 * ms, Max: 9 * ms} }), 2, 0},
		{"two clients with batches", redlockWith(func(own *protocols.RedlockSettings) { own.Batching = 1 }), 2, 0},
		{"redlock-plain", lockOf("redlock-plain"), 1, 701 * ms},
		{"redlock-plain, two clients", lockOf("redlock-plain"), 2, 6301 * ms},
		{"redlock-plain, sequential", plainWith(func(own *protocols.RedlockPlainSettings) { own.Asking = protocols.Sequential }), 1, 1501 * ms},
		{"redlock-plain that is patient with a node it knows", plainWith(func(own *protocols.RedlockPlainSettings) { own.ConnectedTimeout = 200 * ms }), 1, 1901 * ms},
		{"redlock-plain that is less patient with one", plainWith(func(own *protocols.RedlockPlainSettings) { own.ConnectedTimeout = 20 * ms }), 1, 701 * ms},
		{"redlock-plain that sends again", plainWith(func(own *protocols.RedlockPlainSettings) { own.Resends = 3 }), 1, 701 * ms},
		{"redsync, whose patience with a node is as long as its lock", preset(t, "redsync"), 1, 0},
		{"redlock-plain that leaves its votes", plainWith(func(own *protocols.RedlockPlainSettings) { own.Cleanup = protocols.NoCleanup }), 1, 0},
		{"single", lockOf("single"), 1, 601 * ms},
		{"single, many clients", lockOf("single"), 9, 601 * ms},
		{"redisson", lockOf("redisson"), 1, 0},
		{"a lock as short as an attempt", func() protocols.Settings { s := lockOf("redlock"); s.TTL = 150 * ms; return s }(), 1, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			p, known := patienceOf(c.lock, 5, 0)
			bound, judged := p.bound(c.clients, travel{trip: 10 * ms, least: ms, most: 5 * ms})
			if !known || !judged || !p.lasts(c.lock.TTL) {
				bound = 0
			}
			if bound != c.want {
				t.Errorf("%v, want %v", bound, c.want)
			}
		})
	}
	p, _ := patienceOf(lockOf("redlock"), 5, 0)
	if _, judged := p.bound(1, travel{trip: 19 * ms}); judged {
		t.Error("a script that is sent twice can come too late")
	}
	for step, want := range map[time.Duration]time.Duration{100 * time.Microsecond: 501*ms + 2*5600*time.Microsecond, ms: 0} {
		p, _ := patienceOf(lockOf("redlock"), 5, step)
		if bound, _ := p.bound(1, travel{trip: 10 * ms}); bound != want {
			t.Errorf("with code that takes %v for a step: %v, want %v", step, bound, want)
		}
	}
}

// Clients whose attempts all fail collide no more often than the bound counts on: an attempt of the first with one of another.
func TestCollisions(t *testing.T) {
	for _, c := range []struct {
		clients  int
		delay    protocols.Range
		conflict time.Duration
	}{
		{2, protocols.Range{Min: 50 * ms, Max: 150 * ms}, 22 * ms},
		{3, protocols.Range{Min: 50 * ms, Max: 150 * ms}, 22 * ms},
		{2, protocols.Range{Min: 200 * ms, Max: 400 * ms}, 40 * ms},
		{2, protocols.Range{Min: 100 * ms, Max: 110 * ms}, 2 * ms},
	} {
		rng := rand.New(rand.NewPCG(1, uint64(c.clients)))
		next := func(t kernel.True) kernel.True {
			return t.Add(c.delay.Min + time.Duration(rng.Int64N(int64(c.delay.Max-c.delay.Min))))
		}
		const attempts = 20_000
		collided := 0
		starts0, others := make([]kernel.True, attempts), make([][]kernel.True, c.clients-1)
		for i := 1; i < attempts; i++ {
			starts0[i] = next(starts0[i-1])
		}
		for j := range others {
			for t := next(0); t < starts0[attempts-1].Add(c.conflict); t = next(t) {
				others[j] = append(others[j], t)
			}
		}
		at := make([]int, len(others))
		for _, x := range starts0 {
			hit := false
			for j, all := range others {
				for at[j] < len(all) && all[at[j]] <= x.Add(-c.conflict) {
					at[j]++
				}
				hit = hit || at[j] < len(all) && all[at[j]] <= x
			}
			if hit {
				collided++
			}
		}
		width := c.delay.Max - c.delay.Min
		bound := float64(c.clients-1) * starts(c.delay, width+c.conflict) * float64(c.conflict) / float64(width)
		if share := float64(collided) / attempts; share > bound || share < bound/10 {
			t.Errorf("%+v: %v of the attempts collide, the bound is %v", c, share, bound)
		}
	}
}
