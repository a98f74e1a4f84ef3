package main

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"

	"redlocksim/redlock"
	"redlocksim/redlock/observe"
)

// called is what the command exits with, and what it says.
func called(t *testing.T, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	var out, errs bytes.Buffer
	code = command(t.Context(), args, &out, &errs)
	return code, out.String(), errs.String()
}

// figures is the form of a cell of the tables, and tables that of all between the marks.
var (
	figures = `[\d.]+( \([\d.]+\))?( · \d+)? · [\d.]+m?s( · \d+ served)?`
	tables  = regexp.MustCompile(`^(\n### [A-Z][^\n]+\n\n\| contestant \| work \|( \d+ \|)+\n\|---\|--:\|(--:\|)+\n` +
		`(\| [a-z-]+ \| \d+m?s \|( ` + figures + ` \|)+\n)+(\n64 goroutines of one client, 2ms of work: ` + figures + `\n)?)*\n?$`)
)

// A cell is measured, kept, not measured again, and written into a page.
func TestCommand(t *testing.T) {
	kept, page := filepath.Join(t.TempDir(), "kept.jsonl"), filepath.Join(t.TempDir(), "page.md")
	check(t, os.WriteFile(page, []byte("before\n"+beginTables+"old\n"+endTables+"\nafter\n"), 0o666))
	args := []string{"--json", kept, "--only", "on=healthy/work=2ms/contenders=2/with=redlock$", "--rounds", "1"}
	code, stdout, stderr := called(t, args...)
	if code != 0 || !tables.MatchString("\n"+stdout) || !strings.HasPrefix(stderr, "round 1: on=healthy/work=2ms/contenders=2/with=redlock: ") {
		t.Fatalf("%d:\n%s%s", code, stdout, stderr)
	}
	r := must[results](t)(readResults(kept))[0]
	if r.Grants != 200 || r.Served != 2 || r.Failed > 0 || r.Overhead < 1 || r.Commands < 2*clusterSize || r.LongestWait <= 0 {
		t.Errorf("%+v", r)
	}
	if code, _, stderr := called(t, append(args, "--rounds", "2", "--markdown", page)...); code != 2 || !strings.Contains(stderr, "no result yet of round 2: on=healthy") {
		t.Errorf("with a round missing: %d, %s", code, stderr)
	}
	if code, again, stderr := called(t, args...); code != 0 || again != stdout || stderr != "" {
		t.Errorf("with all measured: %d, %s%s", code, again, stderr)
	}
	if code, _, stderr := called(t, append(args, "--markdown", page)...); code != 0 {
		t.Errorf("%d, %s", code, stderr)
	}
	if text := must[[]byte](t)(os.ReadFile(page)); string(text) != "before\n"+beginTables+"\n"+stdout+endTables+"\nafter\n" {
		t.Errorf("the page is\n%s", text)
	}
}

// Overheads of 2, 4 and 6 beside redsync's of 10, 10 and 5 are 0.2, 0.4 and 1.2 of them.
func TestTables(t *testing.T) {
	of := cell{On: "healthy", Work: "2ms", Contenders: 2, With: "redlock"}
	peer, oneClient := of, of
	peer.With, oneClient.Contenders, oneClient.OneClient = redsyncAtBest, 64, true
	plan := []cell{of, oneClient, peer}
	var all results
	for i, r := range [][2]float64{{2, 10}, {6, 5}, {4, 10}} {
		all = append(all,
			result{Round: i + 1, cell: plan[0], Overhead: r[0], Commands: 10 * r[0], LongestWait: 100 * r[0], Served: i},
			result{Round: i + 1, cell: plan[1], Overhead: 1.5, Commands: 9, LongestWait: 1234, Served: 64},
			result{Round: i + 1, cell: plan[2], Overhead: r[1], Commands: 30, LongestWait: 700, Served: 2})
	}
	const want = `### Every server answers

| contestant | work | 2 |
|---|--:|--:|
| redlock | 2ms | 4.0 (0.40) · 40 · 400ms · 0 served |
| redsync-failfast | 2ms | 10.0 · 30 · 700ms |

64 goroutines of one client, 2ms of work: 1.5 · 9 · 1.23s

`
	got, err := all.tables(plan, 3)
	if got != want || err != nil || !tables.MatchString("\n"+got) {
		t.Errorf("%v\n%s", err, got)
	}
}

func TestPage(t *testing.T) {
	page := must[[]byte](t)(os.ReadFile("../../docs/speed.md"))
	_, rest, begins := strings.Cut(string(page), beginTables)
	between, _, ends := strings.Cut(rest, endTables)
	if !begins || !ends || !tables.MatchString(between) {
		t.Errorf("between the marks of docs/speed.md there is\n%s", between)
	}
}

func TestWhatMakesNoSense(t *testing.T) {
	odd, doubled := filepath.Join(t.TempDir(), "odd"), filepath.Join(t.TempDir(), "doubled")
	check(t, os.WriteFile(odd, []byte("{\"round\": 1}\nnotes\n"), 0o666))
	check(t, results{{Round: 3, cell: cell{On: "busy", With: "redlock"}, Doubled: 1}}.write(doubled))
	for _, c := range []struct {
		args, says string
		code       int
	}{
		{"--only (", "--only: error parsing regexp", 2},
		{"--only on=dry", `no cell is like "on=dry"; one is on=healthy/`, 2},
		{"--rounds 0", "--rounds: 0 is less", 2},
		{"--fast", "unknown flag: --fast", 2},
		{"fast", `"fast" is no flag`, 2},
		{"--markdown page", "--markdown needs --json", 2},
		{"--only on=busy.*with=redislock", "no cell is like", 2},
		{"--json " + odd, "odd:2 is no result", 2},
		{"--json " + doubled, "two had the lock at once: round 3, on=busy", 1},
	} {
		if code, _, stderr := called(t, strings.Fields(c.args)...); code != c.code || !strings.Contains(stderr, c.says) {
			t.Errorf("%s: exits with %d: %s", c.args, code, stderr)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	var stderr bytes.Buffer
	if code := command(ctx, nil, &stderr, &stderr); code != 2 || !strings.HasPrefix(stderr.String(), "interrupted") {
		t.Errorf("interrupted: exits with %d: %s", code, &stderr)
	}
}

// As long as another contender wants it, nobody has the lock twice in a row.
func TestEveryGrantIsAHandover(t *testing.T) {
	const share = 4
	r := must[*result](t)(started(t).contend(t.Context(), cell{On: "healthy", Work: "0s", Contenders: 3}, &contestants[0], share))
	if r.Grants != 3*share || r.Doubled != 0 || r.Served != 3 || r.repeated > 0 {
		t.Errorf("%+v", r)
	}
}

func TestTwoHoldersAreReported(t *testing.T) {
	who := &contestant{name: "free", open: func([]string) (locker, error) { return free{}, nil }}
	r := must[*result](t)(started(t).contend(t.Context(), cell{On: "healthy", Work: "2ms", Contenders: 2}, who, 3))
	if !errors.Is(r.check(), errDoubled) {
		t.Errorf("they came in without a lock, and nobody met another: %+v", r)
	}
}

// gates are the nodes that a client has asked first.
type gates chan string

func (g gates) Observe(_ context.Context, e observe.Event) {
	if e.Step == observe.GateAsked {
		g <- e.Node.Node
	}
}

// What is wrong with one server is wrong with the one that contenders of this library ask first.
func TestVictimIsTheGate(t *testing.T) {
	c, asked := started(t), make(gates, 100)
	holder, other := must[locker](t)(openRedlock()(c.addrs())), must[locker](t)(openRedlock(redlock.WithObserver(asked))(c.addrs()))
	defer holder.close()
	defer other.close()
	h := must[held](t)(holder.lock(t.Context(), contendedKey))
	var waiter sync.WaitGroup
	waiter.Go(func() {
		defer close(asked)
		if err := lockAndUnlock(t.Context(), other, contendedKey); err != nil {
			t.Error(err)
		}
	})
	if got, want := <-asked, c.servers[victim].addr; got != want {
		t.Errorf("%s is asked first, want %s", got, want)
	}
	check(t, h.Unlock(t.Context()))
	waiter.Wait()
}
