package checker

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/anishathalye/porcupine"
)

func TestWhatPorcupineIsNotGivenIsReported(t *testing.T) {
	const overlap = "c1 acquire 1; ok 1; c2 acquire 2; ok 2"
	for _, c := range []struct {
		script string
		max    int
		want   []Unchecked
	}{
		{overlap, 2, nil},
		{overlap, 1, []Unchecked{{"r", "2 operations, porcupine is given at most 1"}}},
		{overlap, -1, []Unchecked{{"r", "porcupine is turned off"}}},
	} {
		r, err := Check(script(t, c.script), Options{MaxOperations: c.max, MinGrants: -1, MinClients: -1})
		if err != nil {
			t.Fatal(err)
		}
		if fmt.Sprint(r.Unchecked) != fmt.Sprint(c.want) {
			t.Errorf("%s, at most %d: unchecked %+v, want %+v", c.script, c.max, r.Unchecked, c.want)
		}
		if c.script == overlap && shown(r) != "lease-overlap r x1" {
			t.Errorf("at most %d: found %q", c.max, shown(r))
		}
	}
}

// With 200 operations open at once each state that is reached costs 200 steps, of which the model refuses most.
func TestASearchIsBoundedInStepsThatAreRefused(t *testing.T) {
	// Takes of a lock that is held: none is legal, and each is tried again in every order of what is.
	steps, legal := 0, 0
	model := porcupine.Model{
		Init: func() any { return 0 },
		Step: func(state, input, _ any) (bool, any) {
			steps++
			if input.(int) >= 20 {
				return false, state
			}
			legal++
			return true, state.(int)*31 + input.(int)
		},
	}
	var ops []porcupine.Operation
	for i := range 220 {
		ops = append(ops, porcupine.Operation{Input: i, Call: int64(i), Return: 1000 + int64(i)})
	}
	is, why := linearizable(model, len(ops), Options{}, ops)
	if is != unknown || !strings.Contains(why, "500000 steps") || steps != maxSteps || legal > maxStates {
		t.Errorf("%v, %q, after %d steps, %d of them legal", is, why, steps, legal)
	}
}

// Whose calls are open together, and who are then granted one after the other, in the order of the calls or in the opposite.
func TestManyAtOnce(t *testing.T) {
	for _, c := range []struct {
		clients   int
		backwards bool
		why       string
	}{{clients: 200}, {clients: 50, backwards: true}, {200, true, "porcupine found no answer within 500000 steps"}} {
		var calls, grants []string
		for i := range c.clients {
			calls = append(calls, fmt.Sprintf("c%d acquire %d", i, i+1))
			grants = append(grants, fmt.Sprintf("ok %d; c%d release %d of %d", i+1, i, i+1+c.clients, i+1))
		}
		if c.backwards {
			slices.Reverse(grants)
		}
		for _, overlap := range []bool{false, true} {
			want := ""
			if overlap {
				// Two grants before the release of the first.
				first, second := strings.Split(grants[10], "; "), strings.Split(grants[11], "; ")
				grants[10], grants[11] = first[0]+"; "+second[0], first[1]+"; "+second[1]
				want = "lease-overlap r x1"
			}
			r, err := Check(script(t, strings.Join(append(slices.Clone(calls), grants...), "; ")), Options{})
			why := ""
			for _, u := range r.Unchecked {
				why = u.Why
			}
			// An overlap may show before the bound is reached.
			if err != nil || shown(r) != want || why != c.why && !(overlap && why == "") {
				t.Errorf("%+v, overlap %t: %s, %q, %v", c, overlap, shown(r), why, err)
			}
		}
	}
}

func TestDisagreementCanBeMatched(t *testing.T) {
	var err error = &DisagreeError{Kind: LeaseOverlap, Resource: "r", Direct: true}
	if !errors.Is(err, ErrDisagree) || !strings.Contains(err.Error(), "lease-overlap") {
		t.Error(err)
	}
}
