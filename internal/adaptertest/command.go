//go:build unix

package adaptertest

import (
	"strings"
	"sync"
	"testing"
	"time"

	"redlocksim/redlock/driver"
)

const (
	mine, theirs = "this acquisition's value", "another's value"

	// TTL is that of commands which ask for one.
	TTL = 30 * time.Second
	// Patience is for replies that are expected to come.
	Patience = 10 * time.Second
)

// Command reads "acquire a b".
func Command(t testing.TB, text string, ttl time.Duration) *driver.Command {
	t.Helper()
	words := strings.Fields(text)
	c := &driver.Command{Keys: words[1:], Value: mine, TTL: ttl, Deadline: time.Now().Add(Patience)}
	switch words[0] {
	case "acquire":
		c.Op = driver.OpAcquire
	case "extend":
		c.Op = driver.OpExtend
	case "release":
		c.Op, c.TTL = driver.OpRelease, 0
	default:
		t.Fatalf("no such operation: %q", text)
	}
	return c
}

// Do runs the batch, waits until every command is answered, and checks that each is answered once.
func Do(t testing.TB, node driver.Node, batch ...*driver.Command) []driver.Reply {
	t.Helper()
	replies := make([]driver.Reply, len(batch))
	var (
		mu      sync.Mutex
		done    = make(chan struct{})
		answers = make([]int, len(batch))
		missing = len(batch)
	)
	for i, c := range batch {
		c.Done = func(answered *driver.Command, r driver.Reply) {
			mu.Lock()
			defer mu.Unlock()
			if answered != c {
				t.Errorf("command %d: Done was called with another command", i)
			}
			if answers[i]++; answers[i] > 1 {
				t.Errorf("command %d: Done was called %d times", i, answers[i])
				return
			}
			replies[i] = r
			if missing--; missing == 0 {
				close(done)
			}
		}
	}
	node.Do(batch)
	select {
	case <-done:
	case <-time.After(2 * Patience):
		t.Fatal("not all commands were answered")
	}
	return replies
}

func expect(t *testing.T, when string, got driver.Reply, want driver.Outcome) {
	t.Helper()
	if got.Outcome != want {
		t.Errorf("%s: got %v, %v; want %v", when, got.Outcome, got.Err, want)
	}
}
