//go:build unix

package main

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/creack/pty"
)

// onTerminal runs the command on a terminal that is so wide, and gives what it shows. env is added to the environment.
func onTerminal(t *testing.T, width int, env []string, args ...string) string {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(exe, args...)
	cmd.Env = append(os.Environ(), asCommand+"=1", "TERM=xterm", "NO_COLOR=", "GITHUB_ACTIONS=")
	cmd.Env = append(cmd.Env, env...)
	terminal, err := pty.StartWithSize(cmd, &pty.Winsize{Rows: 50, Cols: uint16(width)})
	hasTerminal(t, err)
	defer terminal.Close()
	var b bytes.Buffer
	_, _ = io.Copy(&b, terminal) // ends with an error when the command has
	_ = cmd.Wait()
	return strings.ReplaceAll(b.String(), "\r\n", "\n")
}

// hasTerminal skips a test on a system that has no pseudo-terminals, and fails it where one could not be had.
func hasTerminal(t *testing.T, err error) {
	t.Helper()
	if errors.Is(err, pty.ErrUnsupported) {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
}

var escapes = regexp.MustCompile(`\x1b\[[0-9;]*m`)

const (
	red    = "\x1b[31m"
	green  = "\x1b[32m"
	yellow = "\x1b[33m"
)

// Words that matter are coloured on a terminal, and only there, and not for those who do not want it or whose terminal
// cannot.
func TestColour(t *testing.T) {
	coloured(t, exitOK, green, "as expected", "suite", "--filter", "^09", "--tier", "model")
	coloured(t, exitOK, yellow, "breaks, as published", "suite", "--filter", "^17", "--tier", "model")
}

// An audit has its bad news in red.
func TestColourOfAnAudit(t *testing.T) {
	ours := filepath.Join(t.TempDir(), "ours.yaml")
	if err := os.WriteFile(ours, []byte("library: single\npersistence: always\npause: 20s\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	coloured(t, exitSafety, red, "UNSAFE", "audit", ours)
}

// coloured has words in a colour on a terminal, and only there.
func coloured(t *testing.T, code int, colour, words string, args ...string) {
	t.Helper()
	for name, c := range map[string]struct {
		env  []string
		want bool
	}{
		"terminal": {nil, true},
		"NO_COLOR": {[]string{"NO_COLOR=1"}, false},
		"dumb":     {[]string{"TERM=dumb"}, false},
	} {
		shown := onTerminal(t, 120, c.env, args...)
		if !strings.Contains(escapes.ReplaceAllString(shown, ""), words) {
			t.Errorf("%s: %q", name, shown)
		}
		if got := strings.Contains(shown, colour+words); got != c.want {
			t.Errorf("%s: coloured: %v, want %v\n%q", name, got, c.want, shown)
		}
	}
	var stdout, stderr bytes.Buffer
	if run(args, &stdout, &stderr) != code || strings.Contains(stdout.String(), "\x1b") {
		t.Errorf("%q%q", &stdout, &stderr)
	}
}

// No progress is left on the line on which the result begins, be it drawn early, for the last time only, or not at all.
func TestProgressIsTakenAway(t *testing.T) {
	// It is drawn from the tick on at which the wait is over.
	for _, c := range []struct{ ticks, waits int }{{1, 0}, {1, 1}, {3, 1}, {3, 3}, {3, 4}} {
		terminal, here, err := pty.Open()
		hasTerminal(t, err)
		bar := newTicker(here, c.ticks)
		for i := range c.ticks {
			if i+1 == c.waits {
				bar.start = time.Now().Add(-2 * patience)
			}
			bar.tick()
		}
		bar.done()
		fmt.Fprintln(here, "the result")
		line, err := bufio.NewReader(terminal).ReadString('\n')
		if err != nil {
			t.Fatal(err)
		}
		if got := remains(strings.TrimSpace(line)); got != "the result" {
			t.Errorf("after %d ticks, drawn from the %d. on, there is %q", c.ticks, c.waits, got)
		}
		here.Close()
		terminal.Close()
	}
}

// remains is what a line still shows of which parts were drawn over.
func remains(line string) string { return line[strings.LastIndex(line, "\r")+1:] }

// Tables are no wider than the terminal, and what is left out is not what they are for.
func TestTablesFit(t *testing.T) {
	for _, width := range []int{60, 80, 132} {
		for _, c := range []struct {
			args []string
			want []string
		}{
			{[]string{"list", "--filter", "^(17|24)"}, []string{"17-clock-jump", "one-of-three", "lease-overlap", "expiry"}},
			{[]string{"list", "--filter", "^17", "--sources"}, []string{"17-clock-jump", "Kleppmann"}},
			{[]string{"suite", "--filter", "^17", "--tier", "model"}, []string{"17-clock-jump", "lease-overlap", "breaks, as published\n", "\n1 run, "}},
			{[]string{"suite", "--filter", "^52.*clock-in-order", "--tier", "model"}, []string{"/node-redlock-clock", "accepted-after", "  as expected\n", "\n2 runs, "}},
			{[]string{"list"}, []string{"17-clock-jump", "breaks", "is held"}},
			{[]string{"run", "17-clock-jump"}, []string{"breaks, as published", "c2512f1af585"}},
			{[]string{"run", "48-database-row-lock", "--html", "x.html"}, []string{"same-transaction"}},
			{[]string{"run", "17-clock-jump", "--why"}, []string{"two holders (lease-overlap): FOUND", "redlocksim run 17-clock-jump --tier model --seed 0 --variant 1 --write FILE"}},
		} {
			shown := escapes.ReplaceAllString(onTerminal(t, width, nil, c.args...), "")
			for _, want := range c.want {
				if !strings.Contains(shown, want) {
					t.Errorf("%v on %d columns: no %q in\n%s", c.args, width, want, shown)
				}
			}
			for line := range strings.Lines(shown) {
				line = remains(strings.TrimRight(line, "\n"))
				isOne := len(strings.Fields(line)) < 3 // a hash, a path or an address behind its name
				if n := utf8.RuneCountInString(line); n > width && !isOne && !strings.Contains(line, "  redlocksim ") {
					t.Errorf("%v on %d columns: %d in %q", c.args, width, n, line)
				}
			}
		}
	}
}

// What takes longer than patience lasts shows on a terminal how far it is, and for how long it will be; elsewhere, and
// before, nothing is shown.
func TestProgress(t *testing.T) {
	for name, c := range map[string]struct {
		since  time.Duration
		onFile bool
		want   bool
	}{
		"long":           {since: 2 * patience, want: true},
		"short":          {since: 0},
		"no terminal":    {since: 2 * patience, onFile: true},
		"nothing is run": {since: 2 * patience},
	} {
		control, terminal, err := pty.Open()
		hasTerminal(t, err)
		if err := pty.Setsize(terminal, &pty.Winsize{Rows: 50, Cols: 120}); err != nil {
			t.Fatal(err)
		}
		shown := make(chan string)
		go func() {
			all, _ := io.ReadAll(control) // ends with an error when the terminal is closed
			shown <- string(all)
		}()
		var w io.Writer = terminal
		var file bytes.Buffer
		if c.onFile {
			w = &file
		}
		bar := newTicker(w, 4)
		bar.start = bar.start.Add(-c.since)
		if name != "nothing is run" {
			bar.tick()
			bar.tick()
		}
		bar.done()
		if err := terminal.Close(); err != nil {
			t.Fatal(err)
		}
		got := <-shown + file.String()
		if regexp.MustCompile(`50% .*\[`).MatchString(got) != c.want || c.want == (got == "") {
			t.Errorf("%s: %q", name, got)
		}
		control.Close()
	}
}
