package timeline

import (
	"slices"
	"testing"
)

// Of the clock jump stay the two leases, the faults, and the requests to acquire; the releases are set aside. Of the pause
// stay the two writes, and not the failed attempts.
func TestWhatHasNoPartIsSetAside(t *testing.T) {
	_, line := drawn(t, "17-clock-jump")
	for _, a := range line.Arrows {
		isRelease := a.Sent >= line.Violation.To
		if a.Aside != isRelease {
			t.Errorf("%+v", a)
		}
	}
	for _, l := range line.Lanes {
		for _, s := range l.Spans {
			if s.Kind == believedSpan && s.Aside {
				t.Errorf("%s: %+v", l.Name, s)
			}
		}
		for _, m := range l.Marks {
			if m.Kind == faultMark && m.Aside {
				t.Errorf("%s: %+v", l.Name, m)
			}
		}
	}

	_, line = drawn(t, "32-pause-before-write")
	storage := slices.IndexFunc(line.Lanes, func(l Lane) bool { return l.Kind == storageLane })
	var got []string
	for _, a := range line.Arrows {
		if a.Folded && !a.Aside {
			t.Errorf("a failed attempt has a part: %+v", a)
		}
		if !a.Aside {
			got = append(got, line.Lanes[a.From].Name+" → "+line.Lanes[a.To].Name)
		}
	}
	// Each client has asked five nodes, and been answered, in the attempt that got it the lock; and has written once.
	var want []string
	for _, client := range []string{"client-1", "client-2"} {
		for _, node := range []string{"A", "B", "C", "D", "E"} {
			want = append(want, client+" → "+node, node+" → "+client)
		}
		want = append(want, client+" → "+line.Lanes[storage].Name)
	}
	slices.Sort(got)
	slices.Sort(want)
	if !slices.Equal(got, want) {
		t.Errorf("these have a part: %q, want %q", got, want)
	}
	decisive := 0
	for _, m := range line.Lanes[storage].Marks {
		if line.isDecisive(&m) {
			decisive++
		}
	}
	if decisive != 1 {
		t.Errorf("%d decisive effects", decisive)
	}
	if _, line = drawn(t, "24-restart-at-once/one-of-five"); line.CanSetAside {
		t.Error("a run in which nothing breaks has causes")
	}
}
