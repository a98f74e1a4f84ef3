package audit

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"pgregory.net/rapid"

	_ "redlocksim/internal/manyruns"
	_ "redlocksim/internal/nofailfile"
	"redlocksim/scenarios"
	"redlocksim/scenarios/verdict"
	"redlocksim/search"
)

// someAnswers draws a file of answers, of any library.
func someAnswers(t *rapid.T) string {
	one := func(name string, of ...string) string { return rapid.SampledFrom(of).Draw(t, name) }
	ms := func(name string, from, to int) string {
		return (time.Duration(rapid.IntRange(from, to).Draw(t, name)) * time.Millisecond).String()
	}
	lib := rapid.SampledFrom(append(libraries(), libraries()[0], libraries()[0])).Draw(t, "library")
	file := "library: " + lib.name + "\n"
	say := func(key, value string) {
		if rapid.Bool().Draw(t, "says "+key) {
			file += key + ": " + value + "\n"
		}
	}
	if a, err := Parse("answers", []byte(file)); err == nil && len(a.Settings.Nodes.Names) > 1 {
		say("nodes", one("nodes", "1", "2", "3", "4", "5", "7"))
	}
	ttl := ms("ttl", 300, 30000)
	if lib.name == "setnx-expire" { // which has whole seconds
		ttl = fmt.Sprintf("%ds", rapid.IntRange(1, 30).Draw(t, "seconds"))
	}
	say("ttl", ttl)
	say("work", ms("work", 1, 60000))
	if lib.extends != "" && !lib.always {
		say("renews", one("renews", "true", "false"))
	}
	say("persistence", one("persistence", "none", "everysec", "always"))
	say("restart-delay", ms("restart-delay", 0, 40000))
	say("power-loss", one("power-loss", "true", "false"))
	say("failover", "true")
	say("clock-error", one("clock-error", "0%", "500ppm", "0.4%", "1%", "3%", "9%"))
	say("clock-step", ms("clock-step", 0, 2000))
	say("pause", ms("pause", 0, 12000))
	say("rtt", fmt.Sprintf("{min: %s, max: %s}", ms("min", 0, 3), ms("max", 3, 120)))
	say("node-timeout", ms("node-timeout", 10, 300))
	if lib.name == ourLibrary {
		say("fencing", "true")
	}
	say("budget", fmt.Sprintf("{memory-loss: %d, counter-loss: %d, suspend: %s}", rapid.IntRange(0, 2).Draw(t, "memory-loss"), rapid.IntRange(0, 2).Draw(t, "counter-loss"), ms("suspend", 0, 900)))
	return file
}

// lastValue is the value at the end of a line, behind which braces can be closed.
var lastValue = regexp.MustCompile(`^(.*: )([0-9][0-9a-zµ.]*%?)(}*)$`)

// worse is a fix with a value that is a twentieth worse, or one step for whole numbers and for what a twentieth of is less
// than a step; false if it has no value that it says to be the least or the most.
func worse(t *rapid.T, file string, f Fix) (Fix, bool) {
	isLeast, isMost := false, false
	for _, words := range []string{" at least", "stop writing ", "require "} {
		isLeast = isLeast || strings.Contains(f.Text, words)
	}
	for _, words := range []string{"keep clocks within", "by more than", "for more than", " at most", "keep round trips within", "keep the work under"} {
		isMost = isMost || strings.Contains(f.Text, words)
	}
	parts := lastValue.FindStringSubmatch(f.Set[len(f.Set)-1])
	if parts == nil || !isLeast && !isMost {
		return f, false
	}
	if isLeast && isMost {
		t.Fatalf("both the least and the most: %q", f.Text)
	}
	sign := int64(1)
	if isLeast {
		sign = -1
	}
	text := parts[2]
	switch number, isPercent := strings.CutSuffix(text, "%"); {
	case isPercent:
		x, err := strconv.ParseFloat(number, 64)
		if err != nil {
			t.Fatal(err)
		}
		text = strconv.FormatFloat(x+float64(sign)*max(x/20, 0.0001), 'f', 4, 64) + "%"
	case strings.ContainsAny(text, "smh"):
		d, err := time.ParseDuration(text)
		if err != nil {
			t.Fatal(err)
		}
		step := time.Millisecond
		if strings.Contains(file, "setnx-expire") && strings.Contains(f.Text, "lock.ttl") {
			step = time.Second
		}
		text = (d + time.Duration(sign)*max(d/20, step).Round(step)).String()
	default:
		n, err := strconv.ParseInt(text, 10, 64)
		if err != nil {
			t.Fatal(err)
		}
		text = strconv.FormatInt(n+sign, 10)
	}
	f.Set = append(slices.Clone(f.Set[:len(f.Set)-1]), parts[1]+text+parts[3])
	return f, true
}

// tester is a test, or a draw of rapid's.
type tester interface {
	Context() context.Context
	Fatalf(format string, args ...any)
}

// judged is the lines of answers up to one, or all. Only for that one are fixes looked for, and only if they are wanted.
func judged(t tester, a *Answers, last string, mended bool) []Assumption {
	var failures search.Failures
	x := auditing{ctx: t.Context(), answers: a, world: calm(a.Settings), failures: &failures}
	var all []Assumption
	for _, l := range lines() {
		if !x.asks(l) {
			continue
		}
		x.unmended = !mended || l.name != last
		found := Assumption{Name: l.name}
		if err := errors.Join(x.judge(l, &found), failures.Err("", "")); err != nil {
			t.Fatalf("%s: %v", l.name, err)
		}
		x.broken = x.broken || l == lostMessages && found.Verdict == Unsafe
		if all = append(all, found); l.name == last {
			break
		}
	}
	return all
}

// verdictOf is the verdict of a line once a file is changed by a fix, and why; empty if the file refuses it, or nobody asks
// any more.
func verdictOf(t *rapid.T, a *Answers, f Fix, line string) (Verdict, string) {
	changed, err := a.With(f)
	if err != nil {
		return "", "refused: " + err.Error()
	}
	all := judged(t, changed, line, false)
	if found := all[len(all)-1]; found.Name == line {
		return found.Verdict, found.Text
	}
	return "", notAsked
}

const notAsked = "not asked any more"

// Whatever the answers: what is unsafe comes with a run that repeats and shows it, and with changes. With each of them the line
// is safe, and with a twentieth less of what is said to be the least, or more of the most, it is unsafe. All that is safe by
// itself is so together, of a sound lock.
func TestRightOnBothSides(t *testing.T) {
	bounded(t, 8)
	fixes := map[string]int{}
	rapid.Check(t, func(t *rapid.T) {
		file := someAnswers(t)
		answers, err := Parse("ours.yaml", []byte(file))
		switch {
		case err != nil && strings.Contains(err.Error(), "is not larger than its drift allowance"):
			t.Skip(err)
		case err != nil:
			t.Fatalf("%s%v", file, err)
		}
		out, err := Of(t.Context(), answers, Options{Unmended: true})
		if errors.Is(err, ErrInput) {
			t.Skip(err)
		}
		if err != nil || out.Failed > 0 {
			t.Fatalf("%s%v, %+v", file, err, out)
		}
		if all := out.line("all together"); all.Verdict == Unsafe && (answers.Library == ourLibrary || answers.Library == "single") {
			t.Errorf("%s%s", file, all.Text)
		}
		unsafe := slices.DeleteFunc(out.Assumptions, func(x Assumption) bool { return x.Verdict != Unsafe || x.Name == "all together" })
		if len(unsafe) == 0 {
			t.Skip("all is safe")
		}
		line := rapid.SampledFrom(unsafe).Draw(t, "line").Name
		all := judged(t, answers, line, true)
		found := &all[len(all)-1]
		isSeen := !slices.Contains([]string{"node timeout", "work", "crash"}, line) // in which nothing breaks
		switch r, err := verdict.Verify(found.Run(), scenarios.Options{}); {
		case err != nil:
			t.Fatalf("%s%s: %v", file, line, err)
		case !r.OK() && line != "node timeout", isSeen && r.Witness() == nil:
			t.Errorf("%s%s is unsafe, and its run is %s: %v", file, line, r.Verdict(), r.Problems)
		}
		if len(found.Fixes) == 0 && !strings.HasPrefix(found.Fix, "none known: no setting that ") {
			t.Errorf("%s%s: no fix: %s", file, line, found.Fix)
		}
		for _, f := range found.Fixes {
			if v, why := verdictOf(t, answers, f, line); v != Safe && why != notAsked {
				t.Errorf("%s%s: %s\n%s: set %q\nand it is %s: %s", file, line, found.Text, f.Text, f.Set, v, why)
			}
			less, is := worse(t, file, f)
			if !is {
				continue
			}
			fixes[line]++
			if v, why := verdictOf(t, answers, less, line); v != Unsafe {
				t.Errorf("%s%s: %s\n%s: set %q\nand with %q it is %s: %s", file, line, found.Text, f.Text, f.Set, less.Set, v, why)
			}
		}
	})
	t.Log(fixes)
	if len(fixes) < 4 {
		t.Error("the fixes of too few lines to show anything")
	}
}

// givenFlags are those of the command line, and not those that a test has set.
var givenFlags = sync.OnceValue(func() map[string]bool {
	given := map[string]bool{}
	flag.Visit(func(f *flag.Flag) { given[f.Name] = true })
	return given
})

// bounded has a property tried as often as the gate has time for, on the same draws each time, unless flags of rapid say more.
func bounded(t *testing.T, checks int) {
	given := givenFlags()
	for name, value := range map[string]string{"rapid.checks": strconv.Itoa(checks), "rapid.seed": "7"} {
		if given[name] || given["rapid.checks"] || given["rapid.seed"] {
			continue
		}
		was := flag.Lookup(name).Value.String()
		if err := flag.Set(name, value); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = flag.Set(name, was) })
	}
}
