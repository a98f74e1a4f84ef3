package foreign

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"redlocksim/checker"
	"redlocksim/internal/lockhistories"
)

// shared are the states of a lock that several can hold after an operation that takes effect now.
func (j *judged) shared(s lockState, o anOp, now int64) (next []lockState) {
	type seat struct {
		mode mode
		end  int64
	}
	seats := map[string]seat{}
	for _, text := range strings.Fields(s.holders) {
		var process string
		var of seat
		if _, err := fmt.Sscanf(text, "%1s/%d/%d", &process, &of.mode, &of.end); err != nil {
			panic(err)
		}
		seats[process] = of
	}
	written := func() lockState {
		then := s
		then.holders = ""
		for _, process := range slices.Sorted(maps.Keys(seats)) {
			then.holders += fmt.Sprintf("%s/%d/%d ", process, seats[process].mode, seats[process].end)
		}
		return then
	}
	mine, has := seats[o.process]
	end := int64(1) << 62
	if j.leased {
		end = j.lines[o.call].Time + o.lease
	}
	switch {
	case j.Model == Mutex && o.fn == "acquire" && s.depth < j.share.permits:
		s.depth++
		return []lockState{s}
	case j.Model == Mutex && o.fn == "release" && s.depth > 0:
		s.depth--
		return []lockState{s}
	case j.Model == Mutex && o.fn == "extend" && s.depth > 0:
		return []lockState{s}
	case j.Model == Mutex || o.fn != "acquire" && (!has || o.mode != unsaid && o.mode != mine.mode):
		return nil
	case o.fn == "extend":
		seats[o.process] = seat{mine.mode, end}
		return []lockState{written()}
	case o.fn == "release":
		delete(seats, o.process)
		return []lockState{written()}
	}
	// An acquire may turn out any of those whose leases are over, and must fit with those who stay.
	over := []string{}
	for _, process := range slices.Sorted(maps.Keys(seats)) {
		if seats[process].end <= now {
			over = append(over, process)
		}
	}
	all := maps.Clone(seats)
	for out := range 1 << len(over) {
		seats = maps.Clone(all)
		for i, process := range over {
			if out&(1<<i) != 0 {
				delete(seats, process)
			}
		}
		fits := j.share.permits == 0 || len(seats) < j.share.permits
		for _, other := range seats {
			fits = fits && (!j.share.modes || o.mode == shared && other.mode == shared)
		}
		if _, still := seats[o.process]; fits && !still {
			seats[o.process] = seat{o.mode, end}
			next = append(next, written())
		}
	}
	return next
}

// drawShared draws the history of a lock that several can hold, which now and then is wrong.
func drawShared(t *rapid.T, leased bool, share sharing) (lines []lockhistories.Line) {
	type seat struct {
		mode string
		end  int64
	}
	type client struct {
		call     *lockhistories.Line
		believes bool
		mode     string
	}
	one := func(in int, what string) bool { return rapid.IntRange(1, in).Draw(t, what) == in }
	seats, clients, now := map[string]seat{}, map[string]*client{}, int64(0)
	wrong := rapid.SampledFrom([]int{5, 12, 1000}).Draw(t, "wrong")
	giveUp := rapid.SampledFrom([]int{4, 10, 1000}).Draw(t, "given up")
	add := func(l lockhistories.Line) {
		now += rapid.Int64Range(0, 3).Draw(t, "pause")
		l.Time, l.Index = now, len(lines)
		lines = append(lines, l)
	}
	serve := func(l *lockhistories.Line) bool {
		for process, of := range seats {
			if leased && of.end <= now {
				delete(seats, process)
			}
		}
		_, has := seats[l.Process]
		switch {
		case l.Func == "release":
			delete(seats, l.Process)
			return has
		case l.Func == "extend":
			if has {
				seats[l.Process] = seat{seats[l.Process].mode, now + lockhistories.Lease}
			}
			return has
		case has || share.permits > 0 && len(seats) >= share.permits:
			return false
		}
		for _, of := range seats {
			if share.modes && (of.mode != "read" || l.Mode != "read") {
				return false
			}
		}
		seats[l.Process] = seat{l.Mode, now + lockhistories.Lease}
		return true
	}
	for len(lines) < 24 {
		process := fmt.Sprint(rapid.IntRange(0, 3).Draw(t, "process"))
		c := clients[process]
		if c == nil {
			c = &client{}
			clients[process] = c
		}
		if c.call == nil {
			l := lockhistories.Line{Process: process, Type: "invoke", Func: "acquire", Lock: "r"}
			if c.believes || one(12, "anyway") {
				l.Func = rapid.SampledFrom([]string{"release", "release", "extend"}).Draw(t, "f")
				if share.modes && one(3, "says mode") {
					l.Mode = c.mode
				}
			} else if share.modes {
				l.Mode = rapid.SampledFrom([]string{"read", "read", "write"}).Draw(t, "mode")
			}
			add(l)
			c.call = &l
			continue
		}
		l := *c.call
		c.call = nil
		l.Type = "fail"
		if serve(&l) != one(wrong, "wrongly") {
			l.Type = "ok"
		}
		if one(giveUp, "gives up") {
			l.Type = "info"
		}
		add(l)
		switch {
		case l.Type == "fail":
		case l.Func == "acquire":
			c.believes, c.mode = true, l.Mode
		case l.Func == "release":
			c.believes = false
		}
	}
	return lines
}

// Check itself compares its two opinions, and returns an error if they differ.
func TestLocksThatSeveralCanHoldAgreeWithTheDefinition(t *testing.T) {
	for _, m := range []Model{Mutex, Owner, Lease} {
		for _, share := range []sharing{{permits: 1}, {permits: 2}, {permits: 3}, {modes: true}} {
			if m == Mutex && share.modes {
				continue
			}
			t.Run(fmt.Sprintf("%s/%+v", m, share), func(t *testing.T) {
				verdicts, notJudged, drawn := map[bool]int{}, 0, 0
				rapid.Check(t, func(t *rapid.T) {
					lines := drawShared(t, m == Lease, share)
					o := optionsOf(m)
					if share.permits > 0 {
						o.Semaphores = []checker.Semaphore{{Name: "r", Permits: share.permits}}
					}
					clockError := rapid.SampledFrom([]int64{0, 0, 1, 4}).Draw(t, "error of clocks")
					o.ClockError = time.Duration(clockError)
					drawn++
					r, err := Check(strings.NewReader(written(lines)), o)
					if errors.Is(err, ErrNotJudged) {
						notJudged++
						return
					}
					if err != nil {
						t.Fatalf("%v\n%s", err, written(lines))
					}
					j := newJudged(m, operationsOn("r", lines), lines)
					j.share = share
					want := false
					if clockError == 0 {
						want = j.good()
					} else {
						j.lines = nil
						want = unsureOf(j, lines, clockError)
					}
					if share.modes && !slices.ContainsFunc(lines, func(l lockhistories.Line) bool { return l.Mode != "" && l.Type != "fail" }) {
						return
					}
					if r.Good() != want {
						t.Fatalf("good %t, by definition %t; error of clocks %d\n%s", r.Good(), want, clockError, written(lines))
					}
					verdicts[r.Good()]++
				})
				t.Logf("%d good, %d bad, %d of %d not judged", verdicts[true], verdicts[false], notJudged, drawn)
				if drawn >= 100 && (len(verdicts) < 2 || notJudged > drawn/2) {
					t.Errorf("%v, %d of %d not judged", verdicts, notJudged, drawn)
				}
			})
		}
	}
}
