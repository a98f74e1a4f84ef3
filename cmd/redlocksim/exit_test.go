package main

import (
	"bytes"
	"errors"
	"fmt"
	"testing"

	"redlocksim/scenarios"
)

// What no scenario can be made to do: the codes for a run that does not repeat itself and for internal errors, and which
// code wins when there are several.
func TestExitCodes(t *testing.T) {
	with := func(classes ...scenarios.Class) *scenarios.Result {
		r := &scenarios.Result{}
		for _, c := range classes {
			r.Problems = append(r.Problems, scenarios.Problem{Class: c})
		}
		return r
	}
	code := func(err error) int {
		f := (*failure)(nil)
		if !errors.As(err, &f) {
			return -1
		}
		return f.code
	}
	for name, c := range map[string]struct{ got, want int }{
		"not repeated":        {code(wrap(fmt.Errorf("x: %w", scenarios.ErrNotRepeated))), exitRepeat},
		"internal":            {code(wrap(errors.New("x"))), exitInternal},
		"nothing wrong":       {verdictCode(with(), with()), exitOK},
		"liveness":            {verdictCode(with(), with(scenarios.Liveness)), exitLiveness},
		"safety":              {verdictCode(with(scenarios.Safety)), exitSafety},
		"safety and liveness": {verdictCode(with(scenarios.Liveness), with(scenarios.Liveness, scenarios.Safety)), exitSafety},
	} {
		if c.got != c.want {
			t.Errorf("%s: exit code %d, want %d", name, c.got, c.want)
		}
	}
}

// A panic is an internal error, and says so.
func TestPanicIsInternal(t *testing.T) {
	var stdout, stderr bytes.Buffer
	if code := run([]string{"list"}, panics{}, &stderr); code != exitInternal {
		t.Errorf("exit code %d, want %d\n%s%s", code, exitInternal, &stdout, &stderr)
	}
	if want := "redlocksim: internal error: boom\n"; stderr.String() != want {
		t.Errorf("%q, want %q", &stderr, want)
	}
}

type panics struct{}

func (panics) Write([]byte) (int, error) { panic("boom") }
