package foreign

import (
	"encoding/json"
	"fmt"
	"math/bits"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	_ "redlocksim/internal/nofailfile"
)

// More histories: go test ./checker/foreign -run Agree -rapid.checks=100000

// histories draws histories of a model.
func histories(m Model) *rapid.Generator[[]drawnLine] {
	return rapid.Custom(func(t *rapid.T) []drawnLine {
		return draw(m, func(n int, what string) int {
			// Every number as often; rapid's own ranges prefer small ones.
			width := bits.Len(uint(n-1)) + 3
			number := 0
			for range width {
				number *= 2
				if rapid.Bool().Draw(t, what) {
					number++
				}
			}
			return number * n >> width
		})
	})
}

func written(lines []drawnLine) string {
	var b strings.Builder
	for _, l := range lines {
		line, err := json.Marshal(l)
		if err != nil {
			panic(err)
		}
		b.Write(line)
		b.WriteByte('\n')
	}
	return b.String()
}

// kinds are all that histories are drawn for.
func kinds() []Model { return append(Models(), fencedLease) }

func optionsOf(m Model) Options {
	o := Options{Model: m, Unit: time.Nanosecond}
	if m == fencedLease {
		o.Model = Fenced
	}
	if m == Lease || m == fencedLease {
		o.Lease = drawnLease
	}
	return o
}

// undecided is how many of a number of random histories porcupine may give up on. Operations that may have happened or not, at
// any time since, can be so many that the states exceed what it is given; it was 1 in 16,000 histories of model lease.
func undecided(histories int) int { return max(3, histories/500) }

// Check itself compares its two opinions, and returns an error if they differ.
func TestBothOpinionsAgreeWithTheDefinition(t *testing.T) {
	for _, m := range kinds() {
		t.Run(string(m), func(t *testing.T) {
			verdicts, rules, drawn, gaveUp := map[bool]int{}, map[string]int{}, 0, 0
			judge := func(t rapid.TB, lines []drawnLine) *Report {
				r, err := Check(strings.NewReader(written(lines)), optionsOf(m))
				if err != nil {
					t.Fatalf("%v\n%s", err, written(lines))
				}
				if want := definition(m, lines, "r") && definition(m, lines, "s"); r.Good() != want {
					t.Fatalf("good %t, by definition %t\n%s", r.Good(), want, written(lines))
				}
				verdicts[r.Good()]++
				for _, f := range r.Findings {
					rules[string(f.Kind)]++
				}
				return r
			}
			rapid.Check(t, func(t *rapid.T) {
				r := judge(t, histories(m).Draw(t, "history"))
				drawn++
				switch {
				case r.Confirmed == r.Locks:
				case strings.HasPrefix(r.Unconfirmed, "porcupine found no answer within "):
					gaveUp++
				default:
					t.Fatalf("%d of %d locks: %s", r.Confirmed, r.Locks, r.Unconfirmed)
				}
			})
			if gaveUp > undecided(drawn) {
				t.Errorf("porcupine gave up on %d of %d histories, at most %d may be undecided", gaveUp, drawn, undecided(drawn))
			}
			// The few that -short draws may all have the same verdict. These are the same every time.
			for seed := 0; seed < 1000 && len(verdicts) < 2; seed++ {
				judge(t, histories(m).Example(seed))
			}
			t.Logf("%d good, %d bad: %v; porcupine gave up on %d of %d", verdicts[true], verdicts[false], rules, gaveUp, drawn)
			if len(verdicts) < 2 {
				t.Errorf("only one verdict ever: %v", verdicts)
			}
		})
	}
}

// hopeless is a history of leases with 12 operations of unknown outcome among those of four processes, on which porcupine gives
// up: each may have happened or not, until its process is next seen to succeed.
const hopeless = "2 0 invoke release; 3 1 invoke acquire; 3 2 invoke release; 3 2 fail release; 3 2 invoke acquire; 3 3 invoke acquire; " +
	"4 2 info acquire; 4 3 ok acquire; 5 2 invoke release; 7 2 fail release; 8 3 invoke acquire; 8 2 invoke release; " +
	"8 3 info acquire; 9 1 info acquire; 11 0 info release; 11 3 invoke acquire; 13 2 ok release; 15 1 invoke extend; " +
	"17 0 invoke release; 19 3 info acquire; 21 3 invoke acquire; 22 0 info release; 24 0 invoke release; 24 1 info extend; " +
	"25 3 info acquire; 26 2 invoke acquire; 26 1 invoke release; 28 2 info acquire; 28 3 invoke extend; 28 0 info release; " +
	"29 3 fail extend; 31 0 invoke release; 31 3 invoke acquire; 31 0 fail release; 32 3 info acquire; 33 0 invoke acquire; " +
	"33 0 info acquire; 33 1 ok release; 35 2 invoke release; 35 0 invoke release; 35 2 ok release; 35 3 invoke extend"

// What porcupine gives up on is not confirmed, and says so; the verdict is the first opinion's, which is right. The bound is in
// steps, so that it is the same on every machine.
func TestHopeless(t *testing.T) {
	var lines []drawnLine
	for i, text := range strings.Split(hopeless, "; ") {
		l := drawnLine{Lock: "r", Index: i}
		if _, err := fmt.Sscan(text, &l.Time, &l.Process, &l.Type, &l.Func); err != nil {
			t.Fatal(err)
		}
		lines = append(lines, l)
	}
	r, err := Check(strings.NewReader(written(lines)), optionsOf(Lease))
	if err != nil || r.Confirmed != 0 || r.Locks != 1 || r.Unconfirmed != "porcupine found no answer within 500000 steps" || r.Good() != definition(Lease, lines, "r") {
		t.Errorf("%+v, %v", r, err)
	}
}

// Every history that a lock which works can record is good.
func TestALockThatWorksIsGood(t *testing.T) {
	const cycles = 300
	for _, m := range kinds() {
		var lines []drawnLine
		for i := range cycles {
			token := int64(i)
			for _, fn := range []string{"acquire", "extend", "release"} {
				l := drawnLine{Process: fmt.Sprint(i % 3), Type: "invoke", Func: fn, Lock: "r", Time: int64(len(lines))}
				lines = append(lines, l)
				l.Type = "ok"
				if fn == "acquire" {
					l.Token = &token
				}
				lines = append(lines, l)
			}
		}
		for i := range lines {
			lines[i].Index = i
		}
		r, err := Check(strings.NewReader(written(lines)), optionsOf(m))
		if err != nil || !r.Good() || r.Grants != cycles || r.Confirmed != 1 {
			t.Errorf("%s: %+v, %v", m, r, err)
		}
	}
}
