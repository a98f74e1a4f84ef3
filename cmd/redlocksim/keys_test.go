//go:build unix

package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"redlocksim/internal/redisserver"
	"redlocksim/redlock"
	"redlocksim/redlock/driver"
	"redlocksim/redlock/goredis"
	"redlocksim/redlock/observe"
)

// The time for which a quorum still has the value is the quorum-th longest.
func TestQuorate(t *testing.T) {
	const s = time.Second
	for _, c := range []struct {
		left []time.Duration
		want time.Duration
		ok   bool
	}{
		{[]time.Duration{9 * s, 8 * s}, 0, false},
		{[]time.Duration{9 * s, 7 * s, 8 * s}, 7 * s, true},
		{[]time.Duration{9 * s, 7 * s, 8 * s, 6 * s}, 7 * s, true},
		{[]time.Duration{noTTL, 7 * s, 8 * s, noTTL}, 8 * s, true},
		{[]time.Duration{noTTL, 7 * s, noTTL, noTTL}, noTTL, true},
	} {
		h := &holding{left: c.left}
		if got, ok := h.quorate(3); got != c.want || ok != c.ok {
			t.Errorf("%v: %v %v, want %v %v", c.left, got, ok, c.want, c.ok)
		}
	}
}

// What could be taken for something else by a terminal is quoted.
func TestPrintable(t *testing.T) {
	for text, want := range map[string]string{
		"orders/1":    "orders/1",
		"Straße":      "Straße",
		"a\x1b[2J":    `"a\x1b[2J"`,
		"a\nb":        `"a\nb"`,
		"\xff":        `"\xff"`,
		`say "hello"`: `"say \"hello\""`,
	} {
		if got := quotedIfOdd(text); got != want {
			t.Errorf("%q is shown as %s, want %s", text, got, want)
		}
	}
	if got := prefix("12345678rest"); got != "12345678…" {
		t.Errorf("the prefix is %s", got)
	}
}

// A value that is longer than what is read of it has no fingerprint, and not that of its beginning.
func TestKeysFingerprints(t *testing.T) {
	for n, want := range map[int]bool{valueBytes - 1: true, valueBytes: false} {
		f := &found{locks: []lockKey{{key: "r", value: strings.Repeat("v", n), left: time.Hour}}}
		if got := newKeysReport([]*found{f}).Locks[0].Fingerprint; (got != "") != want {
			t.Errorf("the fingerprint of %d bytes is %q", n, got)
		}
	}
}

// cluster is some servers, and a way to run commands on them.
type cluster struct {
	*testing.T
	servers []*redisserver.Server
	clients []*redis.Client
	addrs   []string
}

func startCluster(t *testing.T, n int) *cluster {
	c := &cluster{T: t}
	for range n {
		s := redisserver.Start(t)
		client := redis.NewClient(&redis.Options{Addr: s.Addr})
		t.Cleanup(func() { client.Close() })
		c.servers, c.clients, c.addrs = append(c.servers, s), append(c.clients, client), append(c.addrs, s.Addr)
	}
	return c
}

func (c *cluster) do(server int, args ...any) {
	c.Helper()
	if err := c.clients[server].Do(c.Context(), args...).Err(); err != nil {
		c.Fatal(err)
	}
}

// keys runs the command and wants its exit code.
func (c *cluster) keys(code int, args ...string) (stdout, stderr string) {
	c.Helper()
	var out, errs bytes.Buffer
	if got := run(append([]string{"keys"}, args...), &out, &errs); got != code {
		c.Fatalf("exit %d, want %d\n%s%s", got, code, &out, &errs)
	}
	return out.String(), errs.String()
}

func (c *cluster) report(code int, args ...string) keysReport {
	c.Helper()
	out, _ := c.keys(code, append([]string{"--json"}, args...)...)
	var r keysReport
	if err := json.Unmarshal([]byte(out), &r); err != nil {
		c.Fatalf("%v\n%s", err, out)
	}
	return r
}

// A lock that the library holds is listed with its holder and what is left; its counters and the guard's record are not
// taken for locks.
func TestKeysOfTheLibrary(t *testing.T) {
	c := startCluster(t, 3)
	nodes, err := goredis.Open(c.addrs...)
	if err != nil {
		t.Fatal(err)
	}
	defer nodes.Close()
	client, err := redlock.New(nodes, redlock.WithNodeTimeout(5*time.Second), redlock.WithFencing(redlock.Fencing{}),
		redlock.WithRestartGuard(redlock.Guard{MaxTTL: time.Hour}))
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close(context.Background())
	if err := client.PrepareGuard(t.Context()); err != nil {
		t.Fatal(err)
	}
	lease, err := client.TryLock(t.Context(), "orders/1", time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	time.Sleep(100 * time.Millisecond) // for a vote after the decision
	token, _ := lease.Token()

	r := c.report(exitOK, c.addrs...)
	if r.Quorum != 2 || len(r.Nodes) != 3 || len(r.Locks) != 1 {
		t.Fatalf("%+v", r)
	}
	l := r.Locks[0]
	if l.Key != "orders/1" || !l.Held || l.Holder != lease.Value()[:8]+"…" || l.Fingerprint != observe.Fingerprint(lease.Value()) || len(l.OnNodes) != 3 {
		t.Errorf("the lock is %+v", l)
	}
	if l.ForMS == nil || *l.ForMS <= 3_000_000 || *l.ForMS > 3_600_000 {
		t.Errorf("held for %s, of an hour", forHowLong(l.ForMS))
	}
	for i, n := range r.Nodes {
		counters := []counterReport{{"orders/1", fmt.Sprint(token)}}
		if n.Address != c.addrs[i] || n.LockKeys != 1 || n.WithoutTTL != 0 || fmt.Sprint(n.Counters) != fmt.Sprint(counters) {
			t.Errorf("node %d is %+v, counters wanted %v", i+1, n, counters)
		}
		if g := n.Guard; g == nil || g.Quarantine || g.EarlierRun || g.MaxTTL != 3_600_000 {
			t.Errorf("the guard of node %d is %+v", i+1, g)
		}
	}

	// A record of another run is not one of a server that is fit to vote.
	c.do(0, "SET", driver.GuardKey, "0123456789abcdef 0 3600000")
	c.do(1, "SET", driver.GuardKey, "nonsense")
	out, _ := c.keys(exitOK, c.addrs...)
	for _, want := range []string{`1  \S+ .* from an earlier run, largest TTL 1h0m0s`, `2  \S+ .* not a record`, `3  \S+ .* fit to vote, largest TTL 1h0m0s`} {
		if !regexp.MustCompile(want).MatchString(out) {
			t.Errorf("%s is not in\n%s", want, out)
		}
	}
}

// Keys without a TTL are found among many others, and nothing on the servers is changed.
func TestKeysFindsLeaks(t *testing.T) {
	c := startCluster(t, 3)
	for i := range c.clients {
		for k := range 3 * scanPage {
			c.clients[i].Set(t.Context(), fmt.Sprintf("filler/%d", k), "somebody", time.Hour)
		}
		c.do(i, "RPUSH", "queue", "a")
		c.do(i, "SET", "empty", "")
		c.do(i, "SET", "orders/held", "AAAAAAAA-1", "PX", 10_000_000*(i+1))
	}
	c.do(0, "SET", "orders/split", "BBBBBBBB-1", "PX", 10_000_000)
	c.do(1, "SET", "orders/split", "BBBBBBBB-2", "PX", 10_000_000)
	c.keys(exitOK, c.addrs...)
	c.do(2, "SET", "orders/split", "BBBBBBBB-3")
	c.do(1, "SET", "orders/stuck", "CCCCCCCC-1")
	c.do(2, "SET", "orders/stuck", "CCCCCCCC-1")
	c.do(1, "SET", driver.LineKey("orders/held"), " a ", "PX", 10_000_000)
	c.do(1, "SET", driver.LineKey("orders/stuck"), " a ")
	before := c.state()

	out, _ := c.keys(exitSafety, append(c.addrs, "--match", "orders/*")...)
	out = regexp.MustCompile(`(\d+h\d+m)\S+s`).ReplaceAllString(out, "$1") // what is left, without the seconds
	for _, want := range []string{
		`1  \S+ +2 +0 +0 +0  no record`,
		`3  \S+ +3 +2 +0 +0  no record`,
		`orders/held +1=2h46m, 2=5h33m, 3=8h1\dm +AAAAAAAA…  595dc0d36b6b  3 of 3  5h33m`,
		`orders/split +1=2h46m +BBBBBBBB…  [0-9a-f]{12}  1 of 3  not held`,
		`orders/split +3=no TTL +BBBBBBBB…  eacfa6ba57f9  1 of 3  not held`,
		`orders/stuck +2=no TTL, 3=no TTL +CCCCCCCC…  722767feddfe  2 of 3  no TTL`,
		`lock keys without a TTL, which never expire: 3\n`,
	} {
		if !regexp.MustCompile(want).MatchString(out) {
			t.Errorf("%s is not in\n%s", want, out)
		}
	}

	r := c.report(exitSafety, c.addrs...)
	if n := r.Nodes[1]; n.LockKeys != 3*scanPage+4 || n.WithoutTTL != 2 || n.OtherKeys != 2 || len(n.Counters) != 0 {
		t.Errorf("node 2 is %+v", n)
	}
	if after := c.state(); after != before {
		t.Errorf("the servers had\n%s\nand have\n%s", before, after)
	}
	for i := range c.clients {
		calls := c.clients[i].Info(t.Context(), "commandstats").Val()
		if strings.Contains(calls, "cmdstat_keys:") || strings.Contains(calls, "cmdstat_del:") {
			t.Errorf("server %d was sent KEYS or DEL:\n%s", i+1, calls)
		}
	}
}

// state is how many changes the servers have seen, and how many keys are there.
func (c *cluster) state() string {
	var b strings.Builder
	for _, client := range c.clients {
		info := client.InfoMap(c.Context(), "persistence")
		fmt.Fprintln(&b, info.Item("Persistence", "rdb_changes_since_last_save"), client.DBSize(c.Context()).Val())
	}
	return b.String()
}

// What the others say is worth having when one is down; the quorum stays that of all.
func TestKeysWithAServerDown(t *testing.T) {
	c := startCluster(t, 3)
	c.do(0, "SET", "r", "v", "PX", 10_000_000)
	c.servers[2].Kill()
	out, errs := c.keys(exitUsage, c.addrs...)
	if !strings.HasPrefix(errs, "redlocksim: "+c.addrs[2]+": ") || !regexp.MustCompile(`r +1=2h46m\S+ +v +4c94485e0c21 +1 of 3  not held`).MatchString(out) {
		t.Errorf("got\n%s%s", out, errs)
	}
}

// An answer that does not come is waited for as long as was asked.
func TestKeysWithASilentServer(t *testing.T) {
	c := startCluster(t, 1)
	c.servers[0].Pause()
	began := time.Now()
	_, errs := c.keys(exitUsage, "--timeout", "200ms", c.addrs[0])
	if took := time.Since(began); took > 5*time.Second || !strings.Contains(errs, c.addrs[0]) {
		t.Errorf("after %v: %s", took, errs)
	}
}

// An interrupt ends the command although a server is silent.
func TestKeysInterrupted(t *testing.T) {
	c := startCluster(t, 1)
	c.servers[0].Pause()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(self, "keys", "--timeout", "1h", c.addrs[0])
	cmd.Env = append(os.Environ(), asCommand+"=1")
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	time.Sleep(time.Second) // until it waits
	cmd.Process.Signal(syscall.SIGINT)
	kill := time.AfterFunc(20*time.Second, func() { cmd.Process.Kill() })
	defer kill.Stop()
	cmd.Wait()
	if cmd.ProcessState.ExitCode() != exitUsage || stderr.String() != "redlocksim: interrupted\n" {
		t.Errorf("%v: %s", cmd.ProcessState, &stderr)
	}
}

// A table is never wider than the terminal, and what is left of a lock is wrapped, not cut.
func TestKeysFitTheTerminal(t *testing.T) {
	f := make([]*found, 5)
	for i := range f {
		f[i] = &found{addr: fmt.Sprintf("10.0.0.%d:6379", i+1), locks: []lockKey{{key: "a/long/name/of/a/resource/2026-11-21", value: "value",
			left: time.Hour + time.Duration(i)*time.Millisecond}}}
	}
	f[0].err = errors.New("connection reset")
	for _, width := range []int{80, 120} {
		var b strings.Builder
		if err := newKeysReport(f).write(&b, width); err != nil {
			t.Fatal(err)
		}
		if strings.Contains(b.String(), "≈") {
			t.Errorf("width %d: something is cut off in\n%s", width, b.String())
		}
		for line := range strings.Lines(b.String()) {
			if n := len([]rune(strings.TrimRight(line, "\n"))); n > width {
				t.Errorf("%d wide, of %d: %s", n, width, line)
			}
		}
		_, locks, _ := strings.Cut(b.String(), "\n\n")
		for i := range f {
			if want := fmt.Sprintf("%d=1h0m0", i+1); !strings.Contains(locks, want) {
				t.Errorf("width %d: %q is not in\n%s", width, want, locks)
			}
		}
	}
}
