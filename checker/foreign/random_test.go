package foreign

import (
	"fmt"
	"math/bits"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	_ "redlocksim/internal/nofailfile"
)

// More histories: go test ./checker/foreign -run Agree -rapid.checks=100000

const testLease = 6

// draw gives a number below n, every one as often; rapid's own ranges prefer small numbers.
func draw(t *rapid.T, n int, what string) int {
	width := bits.Len(uint(n-1)) + 3
	number := 0
	for range width {
		number *= 2
		if rapid.Bool().Draw(t, what) {
			number++
		}
	}
	return number * n >> width
}

// line is an event of a random history.
type line struct {
	process, typ, fn, lock string
	token                  int
	time                   int64
}

func (l line) String() string {
	return fmt.Sprintf(`{:process %s, :type :%s, :f :%s, :value [:%s %d], :time %d}`, l.process, l.typ, l.fn, l.lock, l.token, l.time)
}

// server is a lock that works, unless it is made not to.
type server struct {
	owner  string
	depth  int
	until  int64
	tokens int
}

// ask does what a process asks for, and says whether it succeeded.
func (s *server) ask(m Model, process, fn string, now int64) bool {
	if m == Lease && s.owner != "" && s.until <= now {
		s.owner = ""
	}
	mine := s.owner == process || m == Mutex && s.owner != ""
	switch {
	case fn == "acquire" && s.owner == "":
		s.owner, s.depth, s.until = process, 1, now+testLease
		s.tokens++
		return true
	case fn == "acquire" && mine && m == Reentrant:
		s.depth++
		return true
	case fn == "release" && mine:
		if s.depth--; s.depth == 0 {
			s.owner = ""
		}
		return true
	case fn == "extend" && mine:
		s.until = now + testLease
		return true
	}
	return false
}

// histories draws what three processes on up to two locks record: of a lock that works, with operations that overlap,
// fail, never return, return without a known outcome, and happen then or later or not at all; or, every other time, of
// one that is wrong now and then.
func histories(m Model) *rapid.Generator[[]line] {
	return rapid.Custom(func(t *rapid.T) []line {
		type process struct {
			name     string
			call     *line
			happened bool
			result   string
			lock     string
		}
		type late struct{ process, fn, lock string }
		locks := map[string]*server{"r": {}, "s": {}}
		processes := []*process{{name: "0"}, {name: "1"}, {name: "2"}}
		reckless := draw(t, 2, "reckless") == 0
		events := 4 + draw(t, 40, "events")
		var lines []line
		var later []late
		now := int64(0)
		add := func(l line) {
			now += int64(draw(t, 3, "pause"))
			l.time = now
			lines = append(lines, l)
		}
		answer := func(p *process, wrong bool) {
			s := locks[p.lock]
			p.happened = true
			p.result = "fail"
			if s.ask(m, p.name, p.call.fn, now) || wrong {
				p.result = "ok"
			}
			if p.call.fn == "acquire" {
				p.call.token = s.tokens
				if wrong && draw(t, 2, "token") == 0 {
					p.call.token -= draw(t, 3, "less")
				}
			}
		}
		for len(lines) < events {
			p := processes[draw(t, 3, "process")]
			if len(later) > 0 && draw(t, 6, "late") == 0 {
				l := later[0]
				later = later[1:]
				locks[l.lock].ask(m, l.process, l.fn, now)
				continue
			}
			if p.call == nil {
				lock := "r"
				if draw(t, 12, "lock") == 0 {
					lock = "s"
				}
				fns := []string{"acquire", "acquire", "acquire", "release", "release", "extend"}
				if locks[lock].owner == p.name {
					fns = []string{"acquire", "release", "release", "release", "release", "extend", "extend"}
				}
				p.lock = lock
				p.happened = false
				p.call = &line{process: p.name, typ: "invoke", fn: fns[draw(t, len(fns), "f")], lock: lock}
				add(*p.call)
				continue
			}
			wrong := reckless && draw(t, 8, "wrong") == 0
			switch draw(t, 12, "action") {
			case 0, 1, 2, 3:
				if !p.happened {
					answer(p, wrong)
				}
			case 4:
				if !p.happened && draw(t, 2, "ever") == 0 {
					later = append(later, late{p.name, p.call.fn, p.lock})
				}
				p.call.typ = "info"
				add(*p.call)
				p.call = nil
			default:
				if !p.happened {
					answer(p, wrong)
				}
				p.call.typ = p.result
				add(*p.call)
				p.call = nil
			}
		}
		return lines
	})
}

func written(lines []line) string {
	var b strings.Builder
	for _, l := range lines {
		fmt.Fprintln(&b, l)
	}
	return b.String()
}

func optionsOf(m Model) Options {
	o := Options{Model: m}
	if m == Lease {
		o.Lease = testLease
	}
	return o
}

// Check itself compares hold intervals with porcupine, which is given the operations as they stand, and returns an error
// if they differ.
func TestHoldIntervalsAndPorcupineAgree(t *testing.T) {
	for _, m := range Models() {
		t.Run(string(m), func(t *testing.T) {
			verdicts := map[bool]int{}
			rapid.Check(t, func(t *rapid.T) {
				lines := histories(m).Draw(t, "history")
				r, err := Check(strings.NewReader(written(lines)), optionsOf(m))
				if err != nil {
					t.Fatalf("%v\n%s", err, written(lines))
				}
				if r.Confirmed != r.Locks {
					t.Fatalf("%d of %d locks: %s", r.Confirmed, r.Locks, r.Unconfirmed)
				}
				verdicts[r.Good()]++
				if m == Lease {
					if want := leaseOracle(lines); r.Good() != want {
						t.Fatalf("good %t, by definition %t\n%s", r.Good(), want, written(lines))
					}
				}
			})
			t.Logf("%d good, %d bad", verdicts[true], verdicts[false])
			if len(verdicts) < 2 {
				t.Errorf("only one verdict ever: %v", verdicts)
			}
		})
	}
}

// leaseOracle looks, just before and just after every event, at who believes to hold which lock, by the definition in
// design.md, and at what only an operation of unknown outcome can explain.
func leaseOracle(lines []line) bool {
	type moment struct {
		event int   // so many events have happened
		time  int64 // and it is this late
	}
	var moments []moment
	for i, l := range lines {
		if i > 0 {
			moments = append(moments, moment{i, l.time})
		}
		moments = append(moments, moment{i + 1, l.time})
	}
	moments = append(moments, moment{len(lines), lines[len(lines)-1].time + 1})
	good := true
	for _, lock := range []string{"r", "s"} {
		// holders at a moment, as grants: the line of the acquire or extend that the belief rests on.
		holders := func(m moment) []int {
			var on []int
			for _, process := range []string{"0", "1", "2"} {
				var grants []struct {
					line int
					end  int64
				}
				call := 0
				for i, l := range lines[:m.event] {
					if l.process != process || l.lock != lock {
						continue
					}
					switch {
					case l.typ == "invoke":
						call = i
						if l.fn == "release" {
							grants = nil
						}
					case l.typ == "ok" && l.fn != "release":
						end := lines[call].time + testLease
						last := len(grants) - 1
						if l.fn == "extend" && last >= 0 && l.time < grants[last].end {
							grants[last].end = end
							continue
						}
						grants = append(grants, struct {
							line int
							end  int64
						}{i, end})
					}
				}
				for _, g := range grants {
					if m.time < g.end {
						on = append(on, g.line)
					}
				}
			}
			slices.Sort(on)
			return on
		}
		for _, m := range moments {
			if len(holders(m)) > 1 {
				good = false
			}
		}
		for _, process := range []string{"0", "1", "2"} {
			granted, perhaps := false, false
			call := 0
			for i, l := range lines {
				if l.process != process || l.lock != lock {
					continue
				}
				switch {
				case l.typ == "invoke":
					call = i
					continue
				case l.typ == "info" && l.fn == "acquire":
					perhaps = true
					continue
				case l.typ != "ok":
					continue
				case l.fn != "acquire" && !granted && !perhaps:
					good = false
					continue
				case l.fn != "acquire" && !granted:
					// Some moment inside must be nobody's.
					free := false
					for _, m := range moments {
						free = free || m.event > call && m.event <= i && len(holders(m)) == 0
					}
					good = good && free
				}
				granted, perhaps = l.fn != "release", false
			}
		}
	}
	return good
}

// Every history that a lock which works can record is good.
func TestALockThatWorksIsGood(t *testing.T) {
	const cycles = 300
	for _, m := range Models() {
		s := &server{}
		var lines []line
		for i := range cycles {
			p := fmt.Sprint(i % 3)
			for _, fn := range []string{"acquire", "extend", "release"} {
				now := int64(len(lines))
				if !s.ask(m, p, fn, now) {
					t.Fatalf("%s: %s at %d", m, fn, now)
				}
				lines = append(lines, line{p, "invoke", fn, "r", 0, now}, line{p, "ok", fn, "r", s.tokens, now})
			}
		}
		r, err := Check(strings.NewReader(written(lines)), optionsOf(m))
		if err != nil || !r.Good() || r.Grants != cycles || r.Confirmed != 1 {
			t.Errorf("%s: %+v, %v", m, r, err)
		}
	}
}
