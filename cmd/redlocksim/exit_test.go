package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"redlocksim/internal/exitcode"
	"redlocksim/internal/outfile"
	"redlocksim/scenarios/verdict"
)

// What no scenario can be made to do: the codes for a run that does not repeat itself and for internal errors, and which
// code wins when there are several.
func TestExitCodes(t *testing.T) {
	with := func(classes ...verdict.Class) *verdict.Result {
		r := &verdict.Result{}
		for _, c := range classes {
			r.Problems = append(r.Problems, verdict.Problem{Class: c})
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
		"not repeated":        {code(wrap(fmt.Errorf("x: %w", verdict.ErrNotRepeated))), exitRepeat},
		"internal":            {code(wrap(errors.New("x"))), exitInternal},
		"has a code":          {code(wrap(&failure{exitUsage, errors.New("x")})), exitUsage},
		"lost on the way":     {code(wrap(&outfile.WriteError{Err: errors.New("x")})), exitNotWritten},
		"nothing wrong":       {verdictCode(with(), with()), exitOK},
		"liveness":            {verdictCode(with(), with(verdict.Liveness)), exitLiveness},
		"safety":              {verdictCode(with(verdict.Safety)), exitSafety},
		"safety and liveness": {verdictCode(with(verdict.Liveness), with(verdict.Liveness, verdict.Safety)), exitSafety},
	} {
		if c.got != c.want {
			t.Errorf("%s: exit code %d, want %d", name, c.got, c.want)
		}
	}
}

// What is said around a failure is printed, and the code stays.
func TestFailureOf(t *testing.T) {
	f := failureOf(fmt.Errorf("--html: %w", &failure{exitNotWritten, errors.New("no space")}))
	if f.code != exitNotWritten || f.Error() != "--html: no space" {
		t.Errorf("%v with code %d", f, f.code)
	}
	if f := failureOf(ending(exitSafety)); f.code != exitSafety || f.err != nil {
		t.Errorf("a verdict says %v with code %d", f.err, f.code)
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

// The page about CI and every help text say what the table says.
func TestExitCodesAreThoseOfTheTable(t *testing.T) {
	text, err := os.ReadFile("../../docs/ci.md")
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(text), "\n"+exitcode.Markdown()+"\n") {
		t.Errorf("docs/ci.md does not have the table:\n%s", exitcode.Markdown())
	}
	meanings := map[string]string{}
	for _, e := range exitcode.Table() {
		meanings[fmt.Sprint(e.Code)] = e.Meaning
	}
	root := newRoot()
	if !strings.Contains(root.Long, exitcode.HelpOnAll()) {
		t.Errorf("the help does not have the table:\n%s", root.Long)
	}
	for _, cmd := range root.Commands() {
		lines := strings.Split(cmd.Long, "\n")
		at := slices.Index(lines, strings.TrimSpace(exitcode.Heading))
		if at < 0 {
			t.Errorf("%s --help lists no exit codes", cmd.Name())
			continue
		}
		for _, line := range lines[at+1:] {
			if strings.HasPrefix(line, "     ") { // it goes on with the line before
				continue
			}
			code, meaning, _ := strings.Cut(strings.TrimSpace(line), "  ")
			if want := meanings[code]; want == "" || !strings.HasPrefix(meaning, want) {
				t.Errorf("%s --help: %q, the table has %q", cmd.Name(), line, want)
			}
		}
	}
}

// What is cut off on its way to standard output is not a success, and hides verdicts.
func TestLostOutput(t *testing.T) {
	lost := errors.New("no space")
	d := &delivery{w: full{lost}}
	if _, err := d.Write([]byte("x")); !errors.Is(err, lost) {
		t.Errorf("got %v", err)
	}
	for name, c := range map[string]struct {
		f    *failure
		want int
	}{
		"a success":      {nil, exitNotWritten},
		"a verdict":      {&failure{code: exitSafety}, exitNotWritten},
		"no repetition":  {&failure{exitRepeat, errors.New("x")}, exitNotWritten},
		"internal error": {&failure{exitInternal, errors.New("x")}, exitInternal},
		"the write":      {&failure{exitInternal, fmt.Errorf("x: %w", d.err)}, exitNotWritten},
	} {
		if f := d.failureOf(c.f); f.code != c.want || !errors.Is(f.err, lost) {
			t.Errorf("%s: %v with code %d, want %d", name, f.err, f.code, c.want)
		}
	}
	if f := (&delivery{}).failureOf(nil); f != nil {
		t.Errorf("nothing was lost, and it ends with %v", f)
	}
}

type full struct{ err error }

func (f full) Write([]byte) (int, error) { return 0, f.err }
