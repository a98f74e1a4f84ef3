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
)

// seat is what a process has of a lock that several can hold.
type seat struct {
	mode mode
	end  int64
}

func seatsOf(written string) map[string]seat {
	seats := map[string]seat{}
	for _, text := range strings.Fields(written) {
		var process string
		var of seat
		if _, err := fmt.Sscanf(text, "%1s/%d/%d", &process, &of.mode, &of.end); err != nil {
			panic(err)
		}
		seats[process] = of
	}
	return seats
}

// taken is the state with these seats.
func (s lockState) taken(seats map[string]seat) lockState {
	s.holders = ""
	for _, process := range slices.Sorted(maps.Keys(seats)) {
		s.holders += fmt.Sprintf("%s/%d/%d ", process, seats[process].mode, seats[process].end)
	}
	return s
}

// counted are the states of a semaphore without owners.
func (j *judged) counted(s lockState, o anOp) []lockState {
	switch {
	case o.fn == "acquire" && s.depth < j.share.permits:
		s.depth++
	case o.fn == "release" && s.depth > 0:
		s.depth--
	case o.fn != "extend" || s.depth == 0:
		return nil
	}
	return []lockState{s}
}

// shared are the states of a lock that several can hold after an operation that takes effect now.
func (j *judged) shared(s lockState, o anOp, now int64) (next []lockState) {
	if j.Model == Mutex {
		return j.counted(s, o)
	}
	seats := seatsOf(s.holders)
	mine, has := seats[o.process]
	end := int64(1) << 62
	if j.leased {
		end = j.lines[o.call].Time + o.lease
	}
	switch {
	case o.fn != "acquire" && (!has || o.mode != unsaid && o.mode != mine.mode):
		return nil
	case o.fn == "extend":
		seats[o.process] = seat{mine.mode, end}
		return []lockState{s.taken(seats)}
	case o.fn == "release":
		delete(seats, o.process)
		return []lockState{s.taken(seats)}
	}
	// An acquire may turn out any of those whose leases are over, and must fit with those who stay.
	over := []string{}
	for _, process := range slices.Sorted(maps.Keys(seats)) {
		if seats[process].end <= now {
			over = append(over, process)
		}
	}
	for out := range 1 << len(over) {
		left := maps.Clone(seats)
		for i, process := range over {
			if out&(1<<i) != 0 {
				delete(left, process)
			}
		}
		fits := j.share.permits == 0 || len(left) < j.share.permits
		for _, other := range left {
			fits = fits && (!j.share.modes || o.mode == shared && other.mode == shared)
		}
		if _, still := left[o.process]; fits && !still {
			left[o.process] = seat{o.mode, end}
			next = append(next, s.taken(left))
		}
	}
	return next
}

// sharedServer is such a lock that works.
type sharedServer struct {
	sharing
	leased bool
	seats  map[string]seat
}

func (s *sharedServer) serve(l *drawnLine, now int64) bool {
	maps.DeleteFunc(s.seats, func(_ string, of seat) bool { return s.leased && of.end <= now })
	mine, has := s.seats[l.Process]
	switch {
	case l.Func == "release":
		delete(s.seats, l.Process)
		return has
	case l.Func == "extend":
		if has {
			s.seats[l.Process] = seat{mine.mode, now + drawnLease}
		}
		return has
	case has || s.permits > 0 && len(s.seats) >= s.permits:
		return false
	}
	for _, of := range s.seats {
		if s.modes && (of.mode != shared || modes[l.Mode] != shared) {
			return false
		}
	}
	s.seats[l.Process] = seat{modes[l.Mode], now + drawnLease}
	return true
}

// drawShared draws the history of a lock that several can hold, which now and then is wrong.
func drawShared(t *rapid.T, leased bool, share sharing) (lines []drawnLine) {
	type client struct {
		call     *drawnLine
		believes bool
		mode     string
	}
	one := func(in int, what string) bool { return rapid.IntRange(1, in).Draw(t, what) == in }
	server, clients, now := sharedServer{share, leased, map[string]seat{}}, map[string]*client{}, int64(0)
	wrong := rapid.SampledFrom([]int{2, 5, 12}).Draw(t, "wrong")
	giveUp := rapid.SampledFrom([]int{4, 10, 1000}).Draw(t, "given up")
	add := func(l drawnLine) {
		now += rapid.Int64Range(0, 3).Draw(t, "pause")
		l.Time, l.Index = now, len(lines)
		lines = append(lines, l)
	}
	for len(lines) < 24 {
		process := fmt.Sprint(rapid.IntRange(0, 3).Draw(t, "process"))
		c := clients[process]
		if c == nil {
			c = &client{}
			clients[process] = c
		}
		if c.call == nil {
			l := drawnLine{Process: process, Type: "invoke", Func: "acquire", Lock: "r"}
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
		if server.serve(&l, now) != one(wrong, "wrongly") {
			l.Type = "ok"
		}
		if one(giveUp, "gives up") {
			l.Type = "info"
		}
		add(l)
		if l.Type != "fail" && l.Func != "extend" {
			c.believes, c.mode = l.Func == "acquire", l.Mode
		}
	}
	return lines
}

func TestLocksThatSeveralCanHoldAgreeWithTheDefinition(t *testing.T) {
	for _, m := range []Model{Mutex, Owner, Lease} {
		for _, share := range []sharing{{permits: 1}, {permits: 2}, {permits: 3}, {modes: true}} {
			if m == Mutex && share.modes {
				continue
			}
			t.Run(fmt.Sprintf("%s/%+v", m, share), func(t *testing.T) {
				verdicts, notJudged, drawn := map[bool]int{}, 0, 0
				compare := func(t *rapid.T) {
					lines := drawShared(t, m == Lease, share)
					o := optionsOf(m)
					if share.permits > 0 {
						o.Semaphores = []checker.Semaphore{{Name: "r", Permits: share.permits}}
					}
					clockError := rapid.SampledFrom([]int64{0, 0, 1, 4}).Draw(t, "error of clocks")
					o.ClockError = time.Duration(clockError)
					drawn++
					r, err := check(strings.NewReader(written(lines)), o)
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
					if share.modes && !slices.ContainsFunc(lines, func(l drawnLine) bool { return l.Mode != "" && l.Type != "fail" }) {
						return
					}
					if r.Good() != want {
						t.Fatalf("good %t, by definition %t; error of clocks %d\n%s", r.Good(), want, clockError, written(lines))
					}
					verdicts[r.Good()]++
				}
				// Of a hundred histories of a lock that three can hold, often none is bad.
				for round := 0; round < 20 && len(verdicts) < 2; round++ {
					rapid.Check(t, compare)
				}
				t.Logf("%d good, %d bad, %d of %d not judged", verdicts[true], verdicts[false], notJudged, drawn)
				if drawn >= 100 && (len(verdicts) < 2 || notJudged > drawn/2) {
					t.Errorf("%v, %d of %d not judged", verdicts, notJudged, drawn)
				}
			})
		}
	}
}
