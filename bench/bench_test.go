//go:build linux

package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"redlocksim/redlock"
	"redlocksim/redlock/goredis"
)

func testCluster(t *testing.T) *cluster {
	t.Helper()
	if _, err := exec.LookPath("redis-server"); err != nil {
		t.Skip("there is no redis-server on the PATH")
	}
	c, err := startCluster()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.close)
	return c
}

// watchful counts who is in while another is.
type watchful struct {
	locker
	inside  atomic.Int32
	clashes atomic.Int32
	entered atomic.Int32
}

func (w *watchful) lock(ctx context.Context, key string) (held, error) {
	h, err := w.locker.lock(ctx, key)
	if err != nil {
		return nil, err
	}
	if w.inside.Add(1) != 1 {
		w.clashes.Add(1)
	}
	w.entered.Add(1)
	time.Sleep(time.Millisecond) // long enough for another to come in
	return leaving{h, w}, nil
}

type leaving struct {
	held
	w *watchful
}

func (l leaving) Unlock(ctx context.Context) error {
	l.w.inside.Add(-1)
	return l.held.Unlock(ctx)
}

// exclude has a few callers go in and out under one lock.
func exclude(ctx context.Context, l locker) *watchful {
	w := &watchful{locker: l}
	_, _ = load{parallel: 1 + sharedKeys, contended: true, duration: 200 * time.Millisecond, patience: patience}.run(ctx, oneKey{w})
	return w
}

// oneKey makes all shared keys the same one.
type oneKey struct{ locker }

func (o oneKey) lock(ctx context.Context, _ string) (held, error) {
	return o.locker.lock(ctx, "bench-only")
}

func TestContestantsLock(t *testing.T) {
	c := testCluster(t)
	names := map[string]bool{}
	for i := range contestants {
		who := &contestants[i]
		t.Run(who.name, func(t *testing.T) {
			if names[who.name] {
				t.Error("two contestants have this name")
			}
			names[who.name] = true
			lock, err := who.open(t.Context(), c.addrs()[:who.servers])
			if err != nil {
				t.Fatal(err)
			}
			defer lock.close()
			w := exclude(t.Context(), lock)
			if w.clashes.Load() != 0 || w.entered.Load() < 5 {
				t.Errorf("%d of %d came in while another was", w.clashes.Load(), w.entered.Load())
			}
			if _, ok := lock.(holder); who.renews && !ok {
				t.Error("it is to renew its locks, and cannot")
			}
			// Two lockers of a kind are two programs: they exclude each other, too.
			other, err := who.open(t.Context(), c.addrs()[:who.servers])
			if err != nil {
				t.Fatal(err)
			}
			defer other.close()
			first, err := lock.lock(t.Context(), "bench-two")
			if err != nil {
				t.Fatal(err)
			}
			ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
			defer cancel()
			if _, err := other.lock(ctx, "bench-two"); err == nil {
				t.Error("taken twice")
			}
			if err := first.Unlock(t.Context()); err != nil {
				t.Error(err)
			}
			second, err := other.lock(t.Context(), "bench-two")
			if err != nil {
				t.Fatal("not free after the release:", err)
			}
			if err := second.Unlock(t.Context()); err != nil {
				t.Error(err)
			}
		})
	}
}

// Callers of this library that contend ask the servers, each for itself, as those of the other contestants do.
func TestContendersAskTheServers(t *testing.T) {
	c := testCluster(t)
	lock, err := openRedlock()(t.Context(), c.addrs())
	if err != nil {
		t.Fatal(err)
	}
	defer lock.close()
	first, err := lock.lock(t.Context(), "bench-asked")
	if err != nil {
		t.Fatal(err)
	}
	for _, one := range []struct {
		locker locker
		asks   bool
	}{{lock, false}, {separated(t, lock), true}} {
		ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
		_, err := one.locker.lock(ctx, "bench-asked")
		cancel()
		var refused *redlock.Error
		if !errors.As(err, &refused) || refused.Attempts > 0 != one.asks {
			t.Errorf("%v, want one that asked: %v", err, one.asks)
		}
	}
	if err := first.Unlock(t.Context()); err != nil {
		t.Error(err)
	}
}

func separated(t *testing.T, l locker) locker {
	t.Helper()
	one, err := l.(separable).separate()
	if err != nil {
		t.Fatal(err)
	}
	return one
}

// free is a locker that locks nothing.
type free struct{}

func (free) lock(context.Context, string) (held, error) { return free{}, nil }
func (free) Unlock(context.Context) error               { return nil }
func (free) close()                                     {}

// The test of exclusion can fail.
func TestClashesAreSeen(t *testing.T) {
	if w := exclude(t.Context(), free{}); w.clashes.Load() == 0 {
		t.Errorf("%d came in without a lock, and nobody met another", w.entered.Load())
	}
}

func TestConditions(t *testing.T) {
	c := testCluster(t)
	const quick, never = slowBy * 4 / 5, 300 * time.Millisecond
	for i := range conditions {
		condition := &conditions[i]
		t.Run(condition.name, func(t *testing.T) {
			on, err := c.stage(condition)
			if err != nil {
				t.Fatal(err)
			}
			defer on.close()
			var clients []*redis.Client
			for _, addr := range on.addrs {
				client := goredis.NewClient(&redis.Options{Addr: addr})
				defer client.Close()
				clients = append(clients, client)
				if took, err := ping(t, client, 5*time.Second); err != nil {
					t.Fatalf("before the fault, after %v: %v", took, err)
				}
			}
			if err := on.inject(); err != nil {
				t.Fatal(err)
			}
			for i, client := range clients {
				took, err := ping(t, client, never)
				switch {
				case i == victim && condition.name == "one server silent":
					if !errors.Is(err, context.DeadlineExceeded) && !os.IsTimeout(err) || took < never {
						t.Errorf("the silent server: %v after %v", err, took)
					}
					dialled, err := net.DialTimeout("tcp", on.addrs[i], time.Second)
					if err != nil {
						t.Fatal("the silent server accepts no connection:", err)
					}
					defer dialled.Close()
				case i == victim && condition.name == "one server slow":
					if err != nil || took < slowBy {
						t.Errorf("the slow server: %v after %v", err, took)
					}
				default: // the fastest of some, since the machine may be busy
					for n := 0; n < 50 && took >= quick; n++ {
						took, err = ping(t, client, time.Second)
					}
					if err != nil || took >= quick {
						t.Errorf("server %d: %v after %v", i, err, took)
					}
				}
			}
		})
	}
}

func ping(t *testing.T, client *redis.Client, within time.Duration) (time.Duration, error) {
	ctx, cancel := context.WithTimeout(t.Context(), within)
	defer cancel()
	begin := time.Now()
	err := client.Ping(ctx).Err()
	return time.Since(begin), err
}

// patientBare is bare go-redis that waits for every answer, so that an operation has no effect on the next one's.
type patientBare struct{ bare }

func (p patientBare) lock(ctx context.Context, key string) (held, error) {
	l := p.attempt(ctx, key)
	for len(l.acquired) < cap(l.acquired) {
		time.Sleep(time.Millisecond)
	}
	if !agreed(l.acquired, cap(l.acquired)) {
		return nil, errNoQuorum
	}
	return patientLock{l}, nil
}

type patientLock struct{ *bareLock }

func (p patientLock) Unlock(ctx context.Context) error {
	close(p.release)
	for len(p.released) < cap(p.released) {
		time.Sleep(time.Millisecond)
	}
	if !agreed(p.released, cap(p.released)) {
		return errNoQuorum
	}
	return nil
}

// Bare go-redis sends SET and EVALSHA to each server, and the script calls GET and DEL there: 2 and 4 on each of five.
func TestCounts(t *testing.T) {
	c := testCluster(t)
	ctx := t.Context()
	lock := patientBare{bare{openPeers(c.addrs(), 1)}}
	defer lock.close()
	run := load{parallel: 3, operations: 7}
	const operations = 3 * 7
	tallied(t, run, lock) // connections, and the script
	before, err := c.settled(ctx)
	if err != nil {
		t.Fatal(err)
	}
	if tally := tallied(t, run, lock); tally.cpu <= 0 || tally.operations != operations || tally.err != nil || tally.mallocs == 0 || tally.rate <= 0 {
		t.Fatalf("%+v", tally)
	}
	after, err := c.settled(ctx)
	if err != nil {
		t.Fatal(err)
	}
	want := counters{executed: 4 * clusterSize * operations, scripts: clusterSize * operations, reads: 2 * clusterSize * operations}
	got := after.minus(before)
	if got.cpu <= 0 {
		t.Error("the servers used no time")
	}
	if got.cpu = 0; got != want {
		t.Errorf("counted %+v, want %+v", got, want)
	}

	seen, err := c.watch(ctx, func() error { return tallied(t, run, lock).err })
	if err != nil {
		t.Fatal(err)
	}
	told := commandsOf(trafficRow{operations: operations, traffic: seen})
	if want := "5 EVALSHA, 5 SET (5 DEL, 5 GET)"; told != want {
		t.Errorf("seen %s, want %s", told, want)
	}
}

// tallied runs a load.
func tallied(t *testing.T, l load, lock locker) *tally {
	t.Helper()
	tally, err := l.run(t.Context(), lock)
	if err != nil {
		t.Fatal(err)
	}
	return tally
}

// slowpoke is a locker whose lock takes a while.
type slowpoke struct {
	free
	takes time.Duration
}

func (s slowpoke) lock(ctx context.Context, _ string) (held, error) {
	sleep(ctx, s.takes)
	return free{}, ctx.Err()
}

var errFails = errors.New("it fails")

type failing struct{ free }

func (failing) lock(context.Context, string) (held, error) {
	time.Sleep(time.Millisecond)
	return nil, errFails
}

func TestTally(t *testing.T) {
	t.Run("rate", func(t *testing.T) {
		tally := tallied(t, load{parallel: 4, duration: 300 * time.Millisecond, patience: time.Second}, slowpoke{takes: 20 * time.Millisecond})
		// Four callers with 50 a second at the most; on a busy machine fewer.
		if tally.rate > 200 || tally.rate < 20 || tally.failures+tally.waiting > 0 {
			t.Errorf("%+v", tally)
		}
		if p50 := time.Duration(tally.latencies.ValueAtQuantile(50)); p50 < 20*time.Millisecond || p50 > time.Second {
			t.Errorf("p50 %v", p50)
		}
	})
	t.Run("longer than the run", func(t *testing.T) {
		tally := tallied(t, load{parallel: 2, duration: 10 * time.Millisecond, patience: 10 * time.Second}, slowpoke{takes: 100 * time.Millisecond})
		if tally.operations != 2 || tally.rate > 20 || tally.rate == 0 {
			t.Errorf("%+v", tally)
		}
	})
	t.Run("given up", func(t *testing.T) {
		tally := tallied(t, load{parallel: 2, duration: 10 * time.Millisecond, patience: 30 * time.Millisecond}, slowpoke{takes: time.Hour})
		if tally.operations != 0 || tally.waiting != 2 || tally.failures != 0 || tally.rate != 0 {
			t.Errorf("%+v", tally)
		}
		if p50 := time.Duration(tally.latencies.ValueAtQuantile(50)); p50 < 40*time.Millisecond-time.Millisecond {
			t.Errorf("p50 %v, and it waited for 40 ms", p50)
		}
	})
	t.Run("failing", func(t *testing.T) {
		tally := tallied(t, load{parallel: 2, duration: 20 * time.Millisecond}, failing{})
		if tally.operations != 0 || tally.failures == 0 || !errors.Is(tally.err, errFails) {
			t.Errorf("%+v", tally)
		}
	})
}

func TestRenewal(t *testing.T) {
	c := testCluster(t)
	const held = 6
	for i := range contestants {
		who := &contestants[i]
		if !who.renews {
			continue
		}
		t.Run(who.name, func(t *testing.T) {
			r, err := c.renew(t.Context(), who, held, renewEvery)
			if err != nil || r.lost != 0 {
				t.Fatalf("%+v, error %v", r, err)
			}
			// Each lock is renewed once in the time, or twice where one is late.
			if r.renewals*renewEvery.Seconds() < held-1 || r.renewals*renewEvery.Seconds() > held+1 || r.client <= 0 {
				t.Errorf("%+v", r)
			}
			for i, addr := range c.addrs() {
				if keys, err := c.control[i].Keys(t.Context(), "bench-held-*").Result(); err != nil || len(keys) > 0 {
					t.Errorf("left over on %s: %v, error %v", addr, keys, err)
				}
			}
		})
		break // one is enough for the harness, and each takes seconds
	}
}

func TestServersEnd(t *testing.T) {
	c := testCluster(t)
	addrs, dir := c.addrs(), c.servers[0].Dir
	c.close()
	for _, addr := range addrs {
		if conn, err := net.Dial("tcp", addr); err == nil {
			conn.Close()
			t.Errorf("a server still listens at %s", addr)
		}
	}
	if _, err := os.Stat(dir); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("%s is still there: %v", dir, err)
	}
}

// The command as a whole, with little to measure.
func TestCommand(t *testing.T) {
	if _, err := exec.LookPath("redis-server"); err != nil {
		t.Skip("there is no redis-server on the PATH")
	}
	out := filepath.Join(t.TempDir(), "speed.md")
	cmd := command()
	var progress bytes.Buffer
	cmd.SetErr(&progress)
	cmd.SetArgs([]string{"--quick", "--duration=20ms", "--out", out, "--only", "^(healthy|one-server-slow)/uncontended/1/(redlock|redsync)"})
	if err := cmd.ExecuteContext(t.Context()); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(out)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"`cd bench && go run . --duration=20ms --only='^(healthy|one-server-slow)/uncontended/1/(redlock|redsync)' --quick=true`",
		"**Provisional:**",
		"## Healthy, uncontended\n",
		"## One server slow, uncontended\n",
		"![healthy, uncontended](speed/healthy-uncontended.svg)",
	} {
		if !bytes.Contains(text, []byte(want)) {
			t.Errorf("not on the page: %s\n%s", want, text)
		}
	}
	// Ten commands for a lock and its release on five servers; fewer where one was withdrawn because a busy server had not been
	// sent it yet, though a quorum always is, and a little more where a vote that came late was taken back.
	sent := regexp.MustCompile(`(?m)^\| redlock \| 1 \| ([\d.]+) \|`).FindSubmatch(text)
	if sent == nil {
		t.Fatalf("the page does not say what redlock sends:\n%s", text)
	}
	if n, err := strconv.ParseFloat(string(sent[1]), 64); err != nil || n < 6 || n > 12 {
		t.Errorf("redlock sent %s commands for a lock and its release, want about 10:\n%s", sent[1], text)
	}
	if host, err := os.Hostname(); err == nil && len(host) > 3 && bytes.Contains(text, []byte(host)) || bytes.Contains(text, []byte(filepath.Dir(out))) {
		t.Errorf("the page names the machine:\n%s", text)
	}
	for link := range strings.SplitSeq(string(text), "](") {
		if file, _, found := strings.Cut(link, ".svg)"); found {
			if chart, err := os.ReadFile(filepath.Join(filepath.Dir(out), file+".svg")); err != nil || !bytes.HasPrefix(chart, []byte("<?xml")) {
				t.Errorf("chart %s: %v", file, err)
			}
		}
	}
}

func TestCommandRefuses(t *testing.T) {
	for _, test := range []struct {
		args []string
		want string
	}{
		{[]string{"--rounds=0"}, "--rounds 0: must be positive"},
		{[]string{"--duration=0s"}, "--duration 0s: must be positive"},
		{[]string{"--held=0"}, "--held 0: must be positive"},
		{[]string{"--renewing=1s"}, "--renewing 1s: shorter than the time between two renewals, 3.333333333s"},
		{[]string{"--only=nothing"}, `--only "nothing": nothing matches`},
		{[]string{"--only=("}, "--only \"(\": error parsing regexp: missing closing ): `(`"},
		{[]string{"page"}, `unknown command "page" for "bench"`},
	} {
		cmd := command()
		cmd.SetArgs(test.args)
		cmd.SetErr(new(bytes.Buffer))
		cmd.SetOut(new(bytes.Buffer))
		if err := cmd.ExecuteContext(t.Context()); err == nil || err.Error() != test.want {
			t.Errorf("%v: %v, want %s", test.args, err, test.want)
		}
	}
}

func TestInterrupted(t *testing.T) {
	if _, err := exec.LookPath("redis-server"); err != nil {
		t.Skip("there is no redis-server on the PATH")
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer time.AfterFunc(time.Second, cancel).Stop()
	out := filepath.Join(t.TempDir(), "speed.md")
	cmd := command()
	cmd.SetErr(new(bytes.Buffer))
	cmd.SetArgs([]string{"--out", out, "--only", "healthy/contended/64/redlock$"})
	if err := cmd.ExecuteContext(ctx); err == nil || err.Error() != "interrupted; no page was written" {
		t.Error(err)
	}
	if _, err := os.Stat(out); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("there is a page: %v", err)
	}
}

func TestCells(t *testing.T) {
	seen := map[string]bool{}
	for _, x := range cells() {
		name := x.String()
		if seen[name] {
			t.Errorf("%s is there twice", name)
		}
		seen[name] = true
		if !regexp.MustCompile(`^[a-z-]+/(un)?contended/(1|64|512)/[a-z0-9 ,-]+$`).MatchString(name) {
			t.Errorf("name %q", name)
		}
	}
	for name, want := range map[string]bool{
		"healthy/uncontended/1/redlock":                                 true,
		"healthy/contended/1/redlock":                                   false, // nobody to contend with
		"one-server-silent/contended/512/redsync":                       true,
		fmt.Sprintf("healthy/contended/64/%s", "redislock, one server"): true,
		"one-server-slow/uncontended/64/redislock, one server":          false, // it is its only one
	} {
		if seen[name] != want {
			t.Errorf("%s: %v", name, seen[name])
		}
	}
}
