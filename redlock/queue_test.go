package redlock

import (
	"context"
	"encoding/binary"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"redlocksim/redlock/driver"
	"redlocksim/redlock/observe"
)

// wait has calls of Lock wait for the resource, one after the other: the names, each for so long at the most ("a:20" is 20
// ms), or for as long as it takes. What becomes of them is said in the transcript: each that is granted the lock holds it
// for 5 ms.
func (w *world) wait(names string) (done *sync.WaitGroup) {
	done = &sync.WaitGroup{}
	for _, name := range strings.Fields(names) {
		name, patience, bounded := strings.Cut(name, ":")
		done.Go(func() {
			ctx := w.Context()
			if bounded {
				var cancel context.CancelFunc
				ctx, cancel = context.WithTimeout(ctx, millis(patience))
				defer cancel()
			}
			lease, err := w.Lock(ctx, "r", time.Minute)
			if err != nil {
				w.say("%s: %v", name, short(err))
				return
			}
			w.say("%s has it", name)
			time.Sleep(millis("5"))
			w.say("%s unlocks", name)
			if err := lease.Unlock(w.Context()); err != nil {
				w.say("%s: %v", name, err)
			}
		})
		synctest.Wait()
	}
	return done
}

// short is an error without the answers of the nodes.
func short(err error) string {
	text, _, _ := strings.Cut(err.Error(), " (")
	return strings.TrimPrefix(text, `redlock: acquire "r": `)
}

// silent keeps the library's steps out of the transcript.
var silent = WithObserver(nil)

// Calls that wait in one client are granted the lock in their order, each asks the nodes once, when the lease before it has
// been released on a quorum of nodes, and each has a value of its own.
func TestQueue(t *testing.T) {
	in(t, 3, func(w *world) {
		w.wait("a b c d").Wait()
		// A acquire and a release take 2 ms each, until two of three nodes have answered.
		w.transcript(`
			2ms a has it
			7ms a unlocks
			11ms b has it
			16ms b unlocks
			20ms c has it
			25ms c unlocks
			29ms d has it
			34ms d unlocks
		`)
		values := map[string]bool{}
		for _, r := range w.node(0).received(driver.OpAcquire) {
			values[r.Value] = true
		}
		if w.sent(driver.OpAcquire) != "444" || w.sent(driver.OpRelease) != "444" || len(values) != 4 {
			w.Errorf("sent %s acquires with %d values and %s releases", w.sent(driver.OpAcquire), len(values), w.sent(driver.OpRelease))
		}
		w.noQueues()
	}, silent)
}

func (w *world) noQueues() {
	w.Helper()
	if n := len(w.queues.bySet); n != 0 {
		w.Errorf("%d queues are left", n)
	}
}

// What a lock that another process has costs the nodes does not depend on how many wait for it either where the first of them
// give up, one after the other: also where each gives up before the nodes have answered its attempt.
func TestQueueCostOfGivingUp(t *testing.T) {
	for _, c := range []struct {
		name    string
		options []Option
	}{{"polling", nil}, {"told", []Option{WithWakeUp(millis("5"))}}} {
		polls := func(waiters int) (n int) {
			in(t, 3, func(w *world) {
				for _, n := range w.nodes {
					n.hold("r", time.Minute)
				}
				var all sync.WaitGroup
				for i := range waiters {
					all.Go(func() {
						ctx, cancel := context.WithTimeout(w.Context(), time.Second*time.Duration(i+1)/time.Duration(waiters))
						defer cancel()
						if _, err := w.Lock(ctx, "r", time.Minute); err == nil {
							w.Error("granted")
						}
					})
					synctest.Wait()
				}
				all.Wait()
				n = len(w.node(0).received(driver.OpAcquire))
				w.noQueues()
			}, append(c.options, silent)...)
			return n
		}
		// An attempt takes 2 ms, the delay after it 10 ms: one caller asks 84 times in a second. Of those that are cut short
		// every other is followed by a delay.
		for _, waiters := range []int{1, 100, 500, 1000, 4000} {
			if n := polls(waiters); n < 80 || n > 200 {
				t.Errorf("%s: %d acquires a node in a second with %d that wait", c.name, n, waiters)
			}
		}
	}
}

// Who is called when it has just given up leaves its place to the next.
func TestQueueKeepsThePlace(t *testing.T) {
	in(t, 3, func(w *world) {
		other, err := w.another(WithWakeUp(millis("10"))).TryLock(w.Context(), "r", time.Minute)
		if err != nil {
			w.Fatal(err)
		}
		w.hush()
		done := w.wait("a:98.8 b")
		w.atTime(millis("100"))
		if err := other.Unlock(w.Context()); err != nil { // the gate, A, does it at 100.5 ms, and its call comes at 101 ms
			w.Error(err)
		}
		done.Wait()
		w.transcript(`
			100.8ms a: held by another: context deadline exceeded after 2 attempts
			104ms b has it
			109ms b unlocks
		`)
	}, silent, WithWakeUp(millis("10")), WithRetryDelay(time.Hour, time.Hour))
}

// An observer that panics while a lease is released leaves nobody waiting behind that: the next asks at once, and has the lock
// when the keys have expired.
func TestQueueBehindAPanic(t *testing.T) {
	in(t, 3, func(w *world) {
		lease := w.mustLock(time.Second)
		done := w.wait("a")
		w.observer = atStep(func(e observe.Event) {
			if e.Step == observe.ReleaseStarted && e.Value == lease.Value() {
				panic("no room for a log")
			}
		})
		func() {
			defer func() { _ = recover() }()
			_ = lease.Unlock(w.Context())
		}()
		if w.sent(driver.OpRelease) != "000" {
			w.Error("released all the same: the test shows nothing")
		}
		done.Wait()
		if w.at() > millis("1050") || w.at() < millis("1000") {
			w.Errorf("waited until %v", w.at())
		}
		w.noQueues()
	}, silent)
}

// Those that give up leave the queue at once, wherever they stand, and say why they were not granted the lock.
func TestQueueGivingUp(t *testing.T) {
	for _, c := range []struct {
		name    string
		prepare func(w *world)
		waiters string
		want    string
	}{
		{"behind a lease of the same client", func(w *world) {
			lease := w.mustLock(time.Minute)
			time.AfterFunc(millis("98"), func() { _ = lease.Unlock(w.Context()) })
		}, "a:30 b:10 c d:20 e", `
			12ms b: held by another: context deadline exceeded
			22ms d: held by another: context deadline exceeded
			32ms a: held by another: context deadline exceeded
			104ms c has it
			109ms c unlocks
			113ms e has it
			118ms e unlocks
		`},
		// The first asks at 0, 12 and 24 ms; its context ends while that attempt is under way.
		{"at the head, with an attempt under way", func(w *world) {
			for _, n := range w.nodes {
				n.hold("r", millis("40"))
			}
		}, "a:25 b:5 c", `
			5ms b: held by another: context deadline exceeded
			25ms a: held by another: context deadline exceeded after 3 attempts
			48ms c has it
			53ms c unlocks
		`},
		// The second keeps the delay of the first, which would have asked again at 24 ms, and gives up while its attempt is
		// under way.
		{"at the head, between two attempts", func(w *world) {
			for _, n := range w.nodes {
				n.hold("r", millis("40"))
			}
		}, "a:20 b:25 c", `
			20ms a: held by another: context deadline exceeded after 2 attempts
			25ms b: held by another: context deadline exceeded
			48ms c has it
			53ms c unlocks
		`},
		{"behind one that gets no quorum", func(w *world) { w.silence(w.nodes...) }, "a:140 b:120", `
			120ms b: no quorum of nodes: context deadline exceeded
			140ms a: no quorum of nodes: context deadline exceeded after 3 attempts
		`},
		// The first asks at 0 and 60 ms, the second at 70 ms. The third never does, and an attempt that was cut short is no
		// news.
		{"behind an attempt that was cut short", func(w *world) { w.silence(w.nodes...) }, "a:70 b:100 d:75", `
			70ms a: no quorum of nodes: context deadline exceeded after 2 attempts
			75ms d: no quorum of nodes: context deadline exceeded
			100ms b: context deadline exceeded
		`},
	} {
		t.Run(c.name, func(t *testing.T) {
			in(t, 3, func(w *world) {
				c.prepare(w)
				w.hush()
				w.wait(c.waiters).Wait()
				w.transcript(c.want)
				w.atTime(w.at() + time.Second)
				if held := w.holders("r"); held != "" {
					w.Errorf("left on %s", held)
				}
				w.noQueues()
			}, silent)
		})
	}
}

// The votes of one that gives up while its attempt is under way are not in the way of the next. Where it has voted, the next
// vote is asked for when the release is answered. A node that has not answered yet is asked for both in one batch when it has,
// or has not in time; the next has let go of C by then.
func TestQueueReleasesComeFirst(t *testing.T) {
	in(t, 3, func(w *world) {
		w.script(driver.OpAcquire, "ok:10 ok:20 lost")
		w.wait("a:15 b").Wait()
		w.atTime(millis("80"))
		for i, want := range []string{"0s acquire, 15ms release, 16ms acquire", "0s acquire, 20ms release, 20ms acquire", "0s acquire, 50ms release"} {
			n := w.node(i)
			n.mu.Lock()
			all := slices.Clone(n.got[:min(3, len(n.got))])
			n.mu.Unlock()
			var got []string
			for _, r := range all {
				got = append(got, fmt.Sprintf("%v %s", r.sent.Sub(w.began), r.Op))
			}
			if s := strings.Join(got, ", "); s != want {
				w.Errorf("%s was sent %s", n.name, s)
			}
			if len(all) == 3 && all[0].Value == all[2].Value {
				w.Errorf("%s was sent one value twice", n.name)
			}
		}
	}, silent)
}

// The lease that holds a queue up ends in one way or another, and the next caller asks then.
func TestQueueBehindALease(t *testing.T) {
	for _, c := range []struct {
		name string
		ends func(w *world, lease *Lease) // at 10 ms
		at   time.Duration                // when the next asks
	}{
		{"released", func(w *world, l *Lease) { _ = l.Unlock(w.Context()) }, millis("12")},
		{"released, though nobody waits for that", func(w *world, l *Lease) {
			ended, cancel := context.WithCancel(w.Context())
			cancel()
			_ = l.Unlock(ended)
		}, millis("11")}, // A is asked for the next vote when it has answered the release
		{"released on too few nodes", func(w *world, l *Lease) {
			w.script(driver.OpRelease, "ok lost lost")
			_ = l.Unlock(w.Context())
		}, millis("60")},
		{"found lost by an extend", func(w *world, l *Lease) {
			w.script(driver.OpExtend, "no no no")
			_ = l.Extend(w.Context(), time.Second)
		}, millis("12")},
		// 1 s less a drift allowance of 12 ms and the lead of 50 ms.
		{"never released", func(*world, *Lease) {}, millis("938")},
	} {
		t.Run(c.name, func(t *testing.T) {
			in(t, 3, func(w *world) {
				lease := w.mustLock(time.Second)
				done := w.wait("a")
				w.atTime(millis("10"))
				c.ends(w, lease)
				done.Wait()
				if asked := w.node(0).received(driver.OpAcquire)[1].sent.Sub(w.began); asked != c.at {
					w.Errorf("the next asked at %v, want %v", asked, c.at)
				}
				if err := lease.Unlock(w.Context()); err == nil {
					w.Error("unlocked twice")
				}
				w.noQueues()
			}, silent)
		})
	}
}

// TryLock asks the nodes once, whoever waits, and what it gets holds the queue up like any other lease.
func TestQueueAndTryLock(t *testing.T) {
	in(t, 3, func(w *world) {
		for _, n := range w.nodes {
			n.hold("r", millis("5"))
		}
		done := w.wait("a b") // a is refused, and will ask again at 12 ms
		w.atTime(millis("6"))
		lease := w.mustLock(time.Minute)
		if w.at() != millis("8") {
			w.Errorf("TryLock took until %v", w.at())
		}
		if _, err := w.TryLock(w.Context(), "r", time.Minute); matches(err) != "NotAcquired Taken" || w.sent(driver.OpAcquire) != "333" {
			w.Errorf("%v after %s acquires", err, w.sent(driver.OpAcquire))
		}
		w.atTime(millis("100"))
		if w.sent(driver.OpAcquire) != "333" {
			w.Errorf("%s acquires while this client has the lock", w.sent(driver.OpAcquire))
		}
		if err := lease.Unlock(w.Context()); err != nil {
			w.Error(err)
		}
		done.Wait()
		w.transcript(`
			105ms a has it
			110ms a unlocks
			115ms b has it
			120ms b unlocks
		`)
		w.noQueues()
	}, silent)
}

// always is a source of random bytes from which the same time is drawn again and again.
type always time.Duration

func (d always) Read(p []byte) (int, error) {
	clear(p)
	binary.LittleEndian.PutUint64(p, uint64(d))
	return len(p), nil
}

// After 16 grants in a row the callers of a client wait for a retry delay, so that other processes get their turn. Where those
// stand in line each release calls them, and who just had the lock stands behind them. As long as no other process was seen,
// such pauses take an eighth of the time at the most.
func TestQueueGivesWay(t *testing.T) {
	for _, c := range []struct {
		name    string
		options []Option // of both processes
		least   int      // grants before another has its turn
		most    int
	}{
		// Each tenure takes 9 ms, so that the other process, which asks every 36 ms, always finds the lock held.
		{"polling", []Option{WithRetryDelay(millis("34"), millis("34"))}, localGrants, 8 * 34 / 9},
		{"called", []Option{WithRetryDelay(time.Hour, time.Hour), WithWakeUp(millis("7"))}, 1, 2},
	} {
		t.Run(c.name, func(t *testing.T) {
			in(t, 3, func(w *world) {
				done := w.wait(strings.Repeat("x ", 40))
				w.atTime(millis("4"))
				other, err := w.another(append(c.options, WithRuntime(driver.Runtime{Rand: always(millis("3"))}))...).Lock(w.Context(), "r", time.Minute)
				if err != nil {
					w.Fatal(err)
				}
				granted := func() (n int) {
					w.mu.Lock()
					defer w.mu.Unlock()
					for _, line := range w.lines {
						if strings.HasSuffix(line, "has it") {
							n++
						}
					}
					return n
				}
				if n := granted(); n < c.least || n > c.most {
					w.Errorf("%d grants before another process had its turn", n)
				}
				if err := other.Unlock(w.Context()); err != nil {
					w.Error(err)
				}
				done.Wait()
				if n := granted(); n != 40 {
					w.Errorf("%d of 40 were granted the lock", n)
				}
			}, append(c.options, silent)...)
		})
	}

	// Where nobody else was seen, there is no pause before the grants have lasted for eight pauses, here for 8 × 34 = 272 ms.
	// The 32nd caller, whose turn comes at 31 × 9 = 279 ms, is the first one after that, and waits until 279 + 34 ms.
	in(t, 3, func(w *world) {
		w.wait(strings.Repeat("x ", 32)).Wait()
		want := ""
		for k := range 31 {
			want += fmt.Sprintf("%vms x has it\n%vms x unlocks\n", 9*k+2, 9*k+7)
		}
		w.transcript(want + "315ms x has it\n320ms x unlocks")
	}, silent, WithRetryDelay(millis("34"), millis("34")))

	// Without another process, to see how long it lasts. Each tenure takes 9 ms, the first acquire 2 ms.
	for _, c := range []struct {
		name    string
		waiters string
		want    string
	}{
		{"the whole delay", strings.Repeat("x ", 17) + "y", `
			172ms y has it
			177ms y unlocks
		`},
		// The next after the 16th waits from 144 ms on, and gives up at 150 ms: the one after it waits for the rest.
		{"what is left of it", strings.Repeat("x ", 16) + "a:150 y", `
			150ms a: context deadline exceeded
			163ms y has it
			168ms y unlocks
		`},
	} {
		t.Run(c.name, func(t *testing.T) {
			in(t, 3, func(w *world) {
				w.wait(c.waiters).Wait()
				w.mu.Lock()
				w.lines = slices.DeleteFunc(w.lines, func(l string) bool { return strings.Contains(l, " x ") })
				w.mu.Unlock()
				w.transcript(c.want)
			}, WithRetryDelay(millis("17"), millis("17")), silent)
		})
	}
}

// Grants to one who does not wait behind others of the same client are no reason to give way, and neither are those from
// before another process had its turn.
func TestQueueNeedNotGiveWay(t *testing.T) {
	in(t, 3, func(w *world) {
		for range 3 * localGrants {
			w.wait("x").Wait()
		}
		if want := 3 * localGrants * millis("9"); w.at() != want {
			w.Errorf("took %v, want %v", w.at(), want)
		}
	}, WithRetryDelay(time.Hour, time.Hour), silent)
	in(t, 3, func(w *world) {
		done := w.wait(strings.Repeat("x ", 10))
		w.atTime(10*millis("9") - millis("4")) // before the last of them unlocks
		more := w.wait(strings.Repeat("x ", 15))
		for _, n := range w.nodes {
			n.next(driver.OpAcquire, "no")
		}
		done.Wait()
		more.Wait()
		// One is refused, and asks again 10 ms later. From then on the gate is asked first, which takes 1 ms.
		if want := 25*millis("9") + millis("2") + millis("10") + 15*millis("1"); w.at() != want {
			w.Errorf("took %v, want %v", w.at(), want)
		}
	}, silent)
}

// Callers of the same set of keys queue, in whatever order they name them. Those of other sets contend as processes do, also
// where the sets have a key in common: nobody waits for a caller that waits for somebody else.
func TestQueueOfSets(t *testing.T) {
	in(t, 3, func(w *world) {
		lease, err := w.LockAll(w.Context(), []string{"a", "b"}, time.Minute)
		if err != nil {
			w.Fatal(err)
		}
		var all sync.WaitGroup
		wait := func(resources ...string) {
			before := w.sent(driver.OpAcquire)
			all.Go(func() {
				l, err := w.LockAll(w.Context(), resources, time.Minute)
				if err == nil {
					err = l.Unlock(w.Context())
				}
				if err != nil {
					w.Errorf("%v: %v", resources, err)
				}
			})
			synctest.Wait()
			w.say("%s %v", strings.Join(resources, " "), w.sent(driver.OpAcquire) != before)
		}
		w.hush()
		wait("b", "a")
		wait("b")
		wait("b")
		wait("d")
		wait("c", "b", "a")
		wait("a", "b", "c")
		wait("a", "c")
		w.transcript(`
			2ms b a false
			2ms b true
			2ms b false
			2ms d true
			2ms c b a true
			2ms a b c false
			2ms a c true
		`)
		if err := lease.Unlock(w.Context()); err != nil {
			w.Error(err)
		}
		all.Wait()
		w.noQueues()
	}, silent)

	for _, sets := range [][2][]string{{{"a", "b"}, {"a, b"}}, {{"1:a1:b"}, {"a", "b"}}, {{"a", "1:b"}, {"a1:1:b"}}, {{"a1", ":b"}, {"a", "1:b"}}} {
		if setOf(sets[0]) == setOf(sets[1]) {
			t.Errorf("%q and %q are one set", sets[0], sets[1])
		}
	}
}

// Renewals of a lease do not wait behind those that want the lock.
func TestQueueAndRenewals(t *testing.T) {
	in(t, 3, func(w *world) {
		var extends, acquires string
		err := w.Hold(w.Context(), "r", time.Second, Renewal{}, func(ctx context.Context, _ *Lease) error {
			w.wait("a b")
			time.Sleep(10 * time.Second)
			extends, acquires = w.sent(driver.OpExtend), w.sent(driver.OpAcquire)
			return ctx.Err()
		})
		if err != nil || len(w.node(0).received(driver.OpExtend)) < 20 || acquires != "111" {
			w.Errorf("%v, after %s extends and %s acquires", err, extends, acquires)
		}
	}, silent)
}

// The observer is told of the waiting, under the name that the call has afterwards.
func TestQueueIsObserved(t *testing.T) {
	in(t, 1, func(w *world) {
		lease := w.mustLock(time.Minute)
		w.hush()
		done := w.wait("a b:10")
		w.atTime(millis("20"))
		if err := lease.Unlock(w.Context()); err != nil {
			w.Error(err)
		}
		done.Wait()
		w.transcriptOfSeveral(`
			1ms queued [acquire]
			1ms queued [acquire]
			11ms gave-up [acquire]: redlock: acquire "r": held by another: context deadline exceeded
			11ms b: held by another: context deadline exceeded
			20ms release-started
			21ms node-answered A released [release]
			21ms released 1 of 1 [release]
			21ms attempt-started 1
			22ms node-answered A granted [acquire]
			22ms quorum-reached 1 of 1 [acquire]
			22ms validity-computed 59.397s until 59.419s [acquire]
			22ms granted 59.397s until 59.419s [acquire]
			22ms a has it
			27ms a unlocks
			27ms release-started
			28ms node-answered A released [release]
			28ms released 1 of 1 [release]
		`)
	})
}

// A call that has waited ends for the observer, too, where no attempt comes of it.
func TestQueueIsObservedToTheEnd(t *testing.T) {
	in(t, 1, func(w *world) {
		lease := w.mustLock(time.Minute)
		w.hush()
		done := w.wait("a")
		p := &w.queues.bySet[setOf([]string{"r"})].pace
		p.inARow, p.chance = localGrants, time.Time{} // the next one waits for a random delay
		if err := lease.Unlock(w.Context()); err != nil {
			w.Error(err)
		}
		done.Wait()
		w.transcriptOfSeveral(`
			1ms queued [acquire]
			1ms release-started
			2ms node-answered A released [release]
			2ms released 1 of 1 [release]
			2ms gave-up [acquire]: redlock: acquire "r": redlock: drawing a retry delay: EOF
			2ms a: redlock: drawing a retry delay: EOF
		`)
	}, WithRuntime(driver.Runtime{Rand: strings.NewReader(strings.Repeat("a", valueBytes) + strings.Repeat("b", valueBytes))}))
}

// A client that is closed while thousands wait ends them all at once, in order, and sends nothing for them.
func TestCloseEndsQueues(t *testing.T) {
	const waiters = 5000
	in(t, 3, func(w *world) {
		lease := w.mustLock(time.Hour)
		var mu sync.Mutex
		ended := 0
		var all sync.WaitGroup
		for i := range waiters {
			all.Go(func() {
				_, err := w.Lock(w.Context(), "r", time.Minute)
				mu.Lock()
				defer mu.Unlock()
				if ended++; matches(err) != "NotAcquired Taken Closed" {
					w.Errorf("waiter %d: %v", i, err)
				}
			})
		}
		w.atTime(time.Second)
		if err := w.Close(w.Context()); err != nil || w.at() != time.Second {
			w.Errorf("Close returned %v at %v", err, w.at())
		}
		all.Wait()
		if ended != waiters || w.sent(driver.OpAcquire) != "111" {
			w.Errorf("%d of %d have ended, %s acquires", ended, waiters, w.sent(driver.OpAcquire))
		}
		if err := lease.Unlock(w.Context()); err != nil {
			w.Error(err)
		}
		w.noQueues()
		if w.closing.Len() != 0 {
			w.Errorf("%d are still to be told of the end", w.closing.Len())
		}
	}, silent)
}
