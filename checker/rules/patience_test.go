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
		{"redlock", lockOf("redlock"), 1, 801 * ms},
		{"fencing", redlockWith(func(own *protocols.RedlockSettings) { own.Fencing = true }), 1, 901 * ms},
		{"two clients", lockOf("redlock"), 2, 34251 * ms},
		{"two clients whose delays do not grow", redlockWith(func(own *protocols.RedlockSettings) {
			own.RetryDelay = protocols.Range{Min: 50 * ms, Max: 150 * ms}
		}), 2, 33951 * ms},
		{"three clients with long delays", redlockWith(func(own *protocols.RedlockSettings) {
			own.RetryDelay = protocols.Range{Min: 200 * ms, Max: 400 * ms}
		}), 3, 21881 * ms},
		{"three clients", lockOf("redlock"), 3, 0},
		{"two clients without randomness", redlockWith(func(own *protocols.RedlockSettings) {
			own.RetryDelay = protocols.Range{Min: 150 * ms, Max: 150 * ms}
		}), 2, 0},
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
			bound, judged := p.bound(c.clients, 5, travel{trip: 10 * ms, least: ms, most: 5 * ms})
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
	if bound, _ := p.bound(1, 3, travel{trip: 10 * ms}); bound != 17*400*ms+ms {
		t.Errorf("with a gate in the way: %v", bound)
	}
	plain, _ := patienceOf(lockOf("redlock-plain"), 5, 0)
	if bound, _ := plain.bound(1, 3, travel{trip: 10 * ms}); bound != 701*ms {
		t.Errorf("without a gate: %v", bound)
	}
	if _, judged := p.bound(1, 5, travel{trip: 19 * ms}); judged {
		t.Error("a script that is sent twice can come too late")
	}
	for step, want := range map[time.Duration]time.Duration{100 * time.Microsecond: 801*ms + 2*5600*time.Microsecond, ms: 0} {
		p, _ := patienceOf(lockOf("redlock"), 5, step)
		if bound, _ := p.bound(1, 5, travel{trip: 10 * ms}); bound != want {
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
			bound, judged := p.withoutCrowds(c.clients, travel{trip: 10 * ms, least: ms, most: 5 * ms})
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
	if _, judged := p.withoutCrowds(2, travel{trip: 19 * ms}); judged {
		t.Error("a script that is sent twice can come too late")
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
