//go:build linux

package live_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"redlocksim/internal/stall/retry"
	"redlocksim/live"
	"redlocksim/live/internal/livetest"
)

// What a lock program has started in a session of its own, and whose parent has ended, stands still with its client, goes on
// with it, and ends with it.
func TestSessionsOfPrograms(t *testing.T) {
	t.Parallel()
	livetest.NeedsServer(t)
	program := built(t, "naive")
	retry.Test(t, livetest.Disturbing, func(t *retry.T) {
		beats := filepath.Join(t.TempDir(), "beats")
		daemon := fmt.Sprintf("while :; do date +%%s%%N >> %s.$$; sleep 0.01; done", beats)
		o := options()
		o.Lock, o.Speed = []string{"sh", "-c", fmt.Sprintf("(setsid sh -c '%s' </dev/null >/dev/null 2>&1 &); exec %s", daemon, program)}, 1
		pause := time.Second * min(t.Slower, 3) // a small scenario ends after 8 s
		s := small(t, short, fmt.Sprintf(`
  - {at: 0s, client: client-1, do: [lock, sleep: %[2]v]}
  - {at: %[1]v, fault: {pause: {process: client-1, for: %[3]v}}}
  - {at: %[4]v, fault: {crash: {client: client-1}}}
  - {at: 0s, client: client-2, do: [sleep: %[2]v]}`, pause/2, 3*pause, pause, 2*pause))
		s.Duration = 8 * pause
		_, err := live.Run(t.Context(), s, o)
		if err != nil {
			t.Fatal(err)
		}
		files, err := filepath.Glob(beats + ".*")
		if err != nil || len(files) != 2 {
			t.Fatalf("%v, %v: want two daemons, of which each writes a file", files, err)
		}
		before := sizes(files)
		time.Sleep(50 * time.Millisecond)
		if after := sizes(files); after != before {
			t.Found("daemons have written after the run: %s, %s", before, after)
		}
		stoodStill, other := lived(t, files[0]), lived(t, files[1])
		if stoodStill.gap < other.gap {
			stoodStill, other = other, stoodStill
		}
		if stoodStill.gap < pause*9/10 || other.gap > pause/2 {
			t.Fatalf("the daemons stood still for %v and %v, want %v of the client that was paused for as long", stoodStill.gap, other.gap, pause)
		}
		// No finding: which of them was paused is a guess, which a machine that holds the other one up makes wrong.
		if other.last-stoodStill.last < pause/2 {
			t.Errorf("the daemon of a client that crashed has ended only %v before the other", other.last-stoodStill.last)
		}
	})
}

// life is what the times tell that a daemon has written: its longest gap, and the last.
type life struct{ gap, last time.Duration }

func lived(t *retry.T, file string) (l life) {
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	for word := range strings.FieldsSeq(string(text)) {
		at, err := strconv.ParseInt(word, 10, 64)
		if err != nil {
			return l // it was killed while it wrote
		}
		if l.last != 0 {
			l.gap = max(l.gap, time.Duration(at)-l.last)
		}
		l.last = time.Duration(at)
	}
	return l
}

// sizes are those of files.
func sizes(files []string) string {
	var all []int64
	for _, file := range files {
		if info, err := os.Stat(file); err == nil {
			all = append(all, info.Size())
		}
	}
	return fmt.Sprint(all)
}
