//go:build linux

package live

import (
	"errors"
	"fmt"
	"strconv"
	"testing"
	"time"

	"redlocksim/internal/faketime"
	"redlocksim/internal/stall/retry"
	"redlocksim/live/internal/livetest"
	"redlocksim/live/internal/server"
)

// A server whose wall clock is fast lets keys go sooner, and one whose clock is slow later.
func TestServerClock(t *testing.T) {
	t.Parallel()
	retry.Test(t, livetest.Disturbing, func(t *retry.T) {
		r := emptyBed(t)
		names := []string{"fast", "slow", "true"}
		err := r.addServers(t.Context(), server.Redis, server.Config{Names: names, Changes: true})
		if errors.Is(err, faketime.ErrNoCompiler) {
			t.Skip(err)
		}
		if err != nil {
			t.Fatal(err)
		}
		const ttl = 400 * time.Millisecond
		wall := func(name string) int64 {
			return int64(1000 * mustFloat(t, r.mustAsk(t, name, "EVAL", "local t = redis.call('TIME') return tostring(t[1] + t[2] / 1000000)", "0")))
		}
		ahead := r.serverNamed("fast").Clocks
		ahead.Step(time.Hour)
		ahead.SetRate(faketime.Billion)
		r.serverNamed("slow").Clocks.SetRate(-faketime.Billion / 2)
		for _, test := range []struct {
			name  string
			lasts time.Duration
		}{{"fast", ttl / 2}, {"slow", 2 * ttl}, {"true", ttl}} {
			before := r.serverNamed(test.name).Wall()
			read := wall(test.name)
			if after := r.serverNamed(test.name).Wall(); read < before-1 || read > after+1 {
				t.Errorf("the clock of %s reads %d, and its supervisor reads between %d and %d", test.name, read, before, after)
			}
			// Bounds that hold however long this process is held up. Redis counts in milliseconds.
			const grain = 3 * time.Millisecond
			clocks := r.serverNamed(test.name).Clocks
			due := func() int64 { return clocks.WhenWall(clocks.WallNow().Add(ttl)) }
			set, dueFirst := faketime.MachineTime(), due()
			r.mustAsk(t, test.name, "SET", "k", "v", "PX", fmt.Sprint(ttl.Milliseconds()))
			isSet, dueLast := faketime.MachineTime(), due()
			last := int64(0) // when it was there for certain
			for asked := isSet; r.mustAsk(t, test.name, "GET", "k") != ""; asked = faketime.MachineTime() {
				last = asked
				time.Sleep(time.Millisecond)
			}
			gone := faketime.MachineTime()
			if last > isSet+int64(test.lasts+grain) || gone < set+int64(test.lasts-grain) {
				t.Errorf("a key of %v on %s was there after %v, and gone after %v, want %v", ttl, test.name, time.Duration(last-set), time.Duration(gone-set), test.lasts)
			}
			if last > dueLast+int64(grain) || gone < dueFirst-int64(grain) {
				t.Errorf("the supervisor of %s thinks that it lasts from %v to %v after it was set", test.name, time.Duration(dueFirst-set), time.Duration(dueLast-set))
			}
		}
		if off := wall("fast") - wall("true"); off < time.Hour.Milliseconds() {
			t.Errorf("the step is forgotten: %d ms", off)
		}
	})
}

func mustFloat(t testing.TB, text string) float64 {
	t.Helper()
	x, err := strconv.ParseFloat(text, 64)
	if err != nil {
		t.Fatal(err)
	}
	return x
}
