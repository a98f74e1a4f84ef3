package checker

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
)

func TestPermits(t *testing.T) {
	for _, c := range []struct{ name, script, want string }{
		{"two of two", "c1 acquire 1 s/1; ok 1; c2 acquire 2 s/2; ok 2", ""},
		{"a third after a release", "c1 acquire 1 s/1; ok 1; c2 acquire 2 s/2; ok 2; c1 release 3 of 1; ok 3; c3 acquire 4 s/1; ok 4", ""},
		{"a third after an expiry", "c1 acquire 1 s/1; ok 1; c2 acquire 2 s/2; ok 2; expire 1; c3 acquire 4 s/1; ok 4", ""},
		{"a third permit", "c1 acquire 1 s/1; ok 1; c2 acquire 2 s/2; ok 2; c3 acquire 3 s/3; ok 3; c1 release 4 of 1; ok 4",
			`c1 (grant 1), c2 (grant 2) and c3 (grant 3) all held one of the 2 permits of "s" for 1ms, from 5ms.`},
		{"nobody says which", "c1 acquire 1 s; ok 1; c2 acquire 2 s; ok 2; c3 acquire 3 s; ok 3",
			`c1 (grant 1), c2 (grant 2) and c3 (grant 3) all held one of the 2 permits of "s" for 0s, from 5ms.`},
		{"nobody says which, two", "c1 acquire 1 s; ok 1; c2 acquire 2 s; ok 2", ""},
		{"names that only begin alike", "c1 acquire 1 s/1; ok 1; c2 acquire 2 s/2; ok 2; c3 acquire 3 st; ok 3; c3 acquire 4 s/log; ok 4", ""},
		{"a window that opens again", "c1 acquire 1 s/1; ok 1; c1 extend 2 of 1; expire 1; c2 acquire 3 s/1; ok 3; c3 acquire 4 s/2; ok 4; ok 2",
			`all held one of the 2 permits of "s"`},
		{"an extend of an acquire that nobody answered", "c1 acquire 1 s/3; unknown 1; c2 acquire 2 s/1; ok 2; c3 acquire 3 s/2; ok 3; c1 extend 4 of 1; ok 4",
			`c2 (grant 2), c3 (grant 3) and c1 (grant 1) all held`},
		{"such an extend, during which one is given back", "c1 acquire 1 s/3; unknown 1; c2 acquire 2 s/1; ok 2; c3 acquire 3 s/2; ok 3; c1 extend 4 of 1; c3 release 5 of 3; ok 5; ok 4", ""},
		{"one permit has two holders", "c1 acquire 1 s/1; ok 1; c2 acquire 2 s/1; ok 2", `both held "s/1"`},
	} {
		t.Run(c.name, func(t *testing.T) {
			r, err := Check(script(t, c.script), Options{Semaphores: []Semaphore{{"s", 2}}})
			if err != nil {
				t.Fatal(err)
			}
			var texts []string
			for _, f := range r.Findings {
				if f.Kind == LeaseOverlap {
					texts = append(texts, f.Text)
				}
			}
			if got := strings.Join(texts, "\n"); !strings.Contains(got, c.want) || got != "" && c.want == "" {
				t.Errorf("found %q, want %q", got, c.want)
			}
		})
	}
}

// Two clients that ask for different permits of a semaphore want the same.
func TestSeekersContend(t *testing.T) {
	h := script(t, "c1 acquire 1 s/1; ok 1; c2 acquire 2 s/2; ok 2")
	for _, semaphores := range [][]Semaphore{nil, {{"t", 2}}, {{"s", 2}}} {
		r, err := Check(h, Options{Semaphores: semaphores})
		if err != nil {
			t.Fatal(err)
		}
		if tested := r.NotTested() == ""; tested != (semaphores != nil && semaphores[0].Name == "s") {
			t.Errorf("semaphores %v: not tested: %q", semaphores, r.NotTested())
		}
	}
}

// The direct check and porcupine agree on random histories of semaphores, which have both answers.
func TestPermitsTwice(t *testing.T) {
	const histories = 3000
	broken, whole := 0, 0
	for seed := range uint64(histories) {
		text := randomPermits(rand.New(rand.NewPCG(seed, 1)))
		r, err := Check(script(t, text), Options{Semaphores: []Semaphore{{"s", 2}}, MinGrants: -1, MinClients: -1})
		if err != nil {
			t.Fatalf("seed %d: %v\n%s", seed, err, text)
		}
		if len(r.Unchecked) > 0 {
			t.Fatalf("seed %d: unchecked: %v", seed, r.Unchecked)
		}
		isBroken := false
		for _, f := range r.Findings {
			isBroken = isBroken || f.Kind == LeaseOverlap && f.Resource == "s"
		}
		if isBroken {
			broken++
		} else {
			whole++
		}
	}
	if broken < histories/10 || whole < histories/10 {
		t.Errorf("%d histories are broken, %d are not", broken, whole)
	}
}

// randomPermits is a history of four clients that take, extend and give back permits as they like.
func randomPermits(r *rand.Rand) string {
	var lines []string
	op := 0
	state := map[int]struct{ grant, open int }{}
	say := func(format string, args ...any) { lines = append(lines, fmt.Sprintf(format, args...)) }
	for range 30 {
		client := r.IntN(4) + 1
		s := state[client]
		switch {
		case s.open > 0:
			say("%s %d", []string{"ok", "ok", "ok", "unknown"}[r.IntN(4)], s.open)
			s.open = 0
		case s.grant == 0:
			op++
			say("c%d acquire %d s", client, op)
			s.grant, s.open = op, op
		default:
			switch r.IntN(3) {
			case 0:
				op++
				say("c%d extend %d of %d", client, op, s.grant)
				s.open = op
			case 1:
				say("expire %d", s.grant)
			default:
				op++
				say("c%d release %d of %d", client, op, s.grant)
				s.grant, s.open = 0, op
			}
		}
		state[client] = s
	}
	return strings.Join(lines, "; ")
}
