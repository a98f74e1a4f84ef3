package foreign

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"
)

func TestClockErrorsAgreeWithTheDefinition(t *testing.T) {
	for _, m := range []Model{Mutex, Owner, Lease} {
		t.Run(string(m), func(t *testing.T) {
			verdicts := map[[2]bool]int{}
			judge := func(t rapid.TB, lines []drawnLine, clockError int64) {
				o := optionsOf(m)
				o.ClockError = time.Duration(clockError)
				r, err := check(strings.NewReader(written(lines)), o)
				if err != nil {
					t.Fatalf("%v\n%s", err, written(lines))
				}
				if want := unsure(m, lines, "r", clockError) && unsure(m, lines, "s", clockError); r.Good() != want {
					t.Fatalf("error of clocks %d: good %t, by definition %t\n%s", clockError, r.Good(), want, written(lines))
				}
				exact := definition(m, lines, "r") && definition(m, lines, "s")
				if exact && !r.Good() {
					t.Fatalf("error of clocks %d makes it bad\n%s", clockError, written(lines))
				}
				verdicts[[2]bool{exact, r.Good()}]++
			}
			rapid.Check(t, func(t *rapid.T) {
				judge(t, histories(m).Draw(t, "history"), rapid.Int64Range(1, 6).Draw(t, "error of clocks"))
			})
			for seed := range 300 {
				judge(t, histories(m).Example(seed), int64(1+seed%6))
			}
			t.Logf("[exactly, with the error]: %v", verdicts)
			if len(verdicts) < 3 {
				t.Errorf("not every pair of verdicts that there can be: %v", verdicts)
			}
		})
	}
}

// A process that takes its lock twice within a lease is found, though clocks cannot tell when its second hold began and ended.
func TestTwiceWithinALease(t *testing.T) {
	const events = "0 acquire; 0 ok; 0 acquire; 0 ok; 0 release; 0 info"
	r, err := check(strings.NewReader(script(t, events)), Options{Model: Lease, Lease: 6, ClockError: 1, Unit: 1})
	if err != nil || shown(r) != "lease-overlap x1 1-2,3-4" {
		t.Errorf("%s, %v", shown(r), err)
	}
}

// A lock that works, recorded by processes whose clocks differ, is good if it is said by how much, merged from a file for each.
// Without that, some are called bad.
func TestClocksThatDiffer(t *testing.T) {
	const clockError = 7
	for _, m := range []Model{Mutex, Owner, Lease} {
		wronged := 0
		for seed := range 300 {
			r := rand.New(rand.NewPCG(uint64(seed), 1))
			logs, offsets := map[string]*bytes.Buffer{}, map[string]int64{}
			for _, l := range working(m, r) {
				if logs[l.Process] == nil {
					logs[l.Process], offsets[l.Process] = &bytes.Buffer{}, r.Int64N(clockError+1)
				}
				l.Time += offsets[l.Process]
				if err := json.NewEncoder(logs[l.Process]).Encode(l); err != nil {
					t.Fatal(err)
				}
			}
			judge := func(clockError time.Duration) *Report {
				o := optionsOf(m)
				o.ClockError = clockError
				var files []Source
				for name, log := range logs {
					files = append(files, Source{name, bytes.NewReader(log.Bytes())})
				}
				r, err := Check(o, files...)
				if err != nil {
					t.Fatal(err)
				}
				return r
			}
			if r := judge(clockError); !r.Good() {
				t.Fatalf("%s, seed %d: a lock that works is called bad: %+v\n%v", m, seed, r.Findings, logs)
			}
			if !judge(0).Good() {
				wronged++
			}
		}
		t.Logf("%s: %d of 300 are bad if clocks are taken to be exact", m, wronged)
		if wronged == 0 {
			t.Errorf("%s: the clocks made no difference", m)
		}
	}
}

// working is the history of three processes and a lock that works, with times as they are.
func working(m Model, r *rand.Rand) []drawnLine {
	var lines []drawnLine
	now := int64(1000)
	event := func(process, typ, fn string) {
		lines = append(lines, drawnLine{Process: process, Type: typ, Func: fn, Lock: "r", Time: now, Index: len(lines)})
		now += r.Int64N(3)
	}
	waiting := map[string]bool{}
	for range 12 {
		holder := fmt.Sprint(r.IntN(3))
		if !waiting[holder] {
			event(holder, "invoke", "acquire")
		}
		delete(waiting, holder)
		if next := fmt.Sprint(r.IntN(3)); next != holder && !waiting[next] {
			event(next, "invoke", "acquire")
			waiting[next] = true
		}
		event(holder, "ok", "acquire")
		if m != Lease || r.IntN(3) > 0 {
			event(holder, "invoke", "release")
			event(holder, "ok", "release")
		} else {
			now += drawnLease // it crashes, and comes back
		}
	}
	return lines
}
