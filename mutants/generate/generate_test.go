package generate

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// loaded is the set of a module with one package of one file, and a script.
func loaded(t *testing.T, source, script string) *Set {
	t.Helper()
	root := t.TempDir()
	if err := os.Mkdir(filepath.Join(root, "p"), 0o777); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{"go.mod": "module m\n\ngo 1.26\n", "p/p.go": source, "p/p.lua": script} {
		if err := os.WriteFile(filepath.Join(root, name), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("GOWORK", "off")
	s, err := Load(root, []string{"p"})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

const example = `package p

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"
)

type kind int

const (
	first kind = iota
	second
)

type pair struct{ a, b int }

var ErrInvalid, ErrLost, ErrTaken = errors.New("x"), errors.New("y"), errors.New("z")

func condition(a, b bool) bool {
	if a && !b {
		return true
	}
	return false
}

func boundary(n int, at, end time.Time) bool { return n < 3 || at.After(end) }

func comparisons(a, b int) bool { return a <= b || b > a && a >= b }

func number(n, quorum int) bool { return n >= quorum }

func constant(k kind) bool { return k == first }

func sentinel() error { return ErrLost }

func least(a, b int) int { return min(a, b) - a }

func variable(p pair) int { return p.a }

func field(a, b int) pair {
	return pair{
		a: a,
		b: b,
	}
}

func detached(ctx context.Context) error { return work(ctx) }

func work(context.Context) error { return nil }

func locked(mu *sync.Mutex, f func()) {
	mu.Lock()
	defer mu.Unlock()
	defer f()
	f()
}

func cases(n int) (bool, string, *pair, error) {
	switch {
	case n > 2:
		n++
	}
	for n > 1 {
		n--
	}
	return true, "x", &pair{a: n}, nil
}

func selected(c chan int, f func()) {
	select {
	case <-c:
		f()
	}
}

type gate struct{}

func (gate) Lock() {}

func gated(g gate) { g.Lock() }

func loop(list []int) (sum int) {
	for _, n := range list {
		if n == 0 {
			continue
		}
		sum += n
	}
	return sum
}

func cloned(list []int) []int { return slices.Clone(list) }

func checked(n int) error {
	if n < 0 {
		return fmt.Errorf("%w: %d", ErrInvalid, n)
	}
	return nil
}

type Option func(*pair) error

func checkOptions(n int) error { return checked(n) }

func made(n int, options ...Option) (*pair, error) {
	if err := checkOptions(n); err != nil {
		return nil, err
	}
	p := new(pair)
	for _, o := range options {
		if err := o(p); err != nil {
			return nil, err
		}
	}
	err := checkOptions(p.a)
	if err != nil {
		return nil, err
	}
	err = work(nil)
	if err != nil {
		return p, err
	}
	return p, nil
}

type Step struct {
	Name   string
	Number int
}

func tell(Step) {}

func told(n int) (err error) {
	s := Step{Name: "one", Number: 17}
	if n > 5 {
		s.Name, s.Number = "two", 17+n
		s.Number, err = 17, ErrLost
	}
	tell(s)
	if n > 6 {
		tell(Step{Number: 17})
	}
	return err
}

func (k kind) String() string { return [...]string{"a", "b"}[k] }
`

// Each operator makes its slips, and no other code has any.
func TestOperators(t *testing.T) {
	s := loaded(t, example, "")
	for where, want := range map[string][]string{
		"condition:condition":    {"if !(a && !b) {", "if !(a) && !b {", "if a && b {"},
		"condition:logic":        {"if a || !b {", "if a {", "if !b {"},
		"condition:early-return": {""},
		"boundary:boundary":      {"return n <= 3 || at.After(end) }", "return n < 3 || !at.Before(end) }"},
		"boundary:constant":      {"return n < 4 ||", "return n < 2 ||", "return n < 6 ||"},
		"boundary:swapped":       {"return 3 < n ||", "end.After(at)"},
		"boundary:variable":      {"end.After(end)", "at.After(at)"},
		"comparisons:boundary":   {"a < b ||", "b >= a", "a > b }"},
		"comparisons:logic":      {"a <= b && b > a", "return a <= b }", "return b > a && a >= b }", "b > a || a >= b", "|| b > a }", "|| a >= b }"},
		"number:off-by-one":      {"quorum + 1 }", "quorum - 1 }"},
		"constant:constant":      {"k == second"},
		"sentinel:constant":      {"return ErrTaken"},
		"sentinel:result":        {"return nil"},
		"least:operator":         {"min(a, b) + a", "max(a, b) - a", "return a - a", "return b - a"},
		"variable:variable":      {"return p.b"},
		"field:field":            {""},
		"detached:context":       {"work(context.Background())"},
		"locked:locking":         {"", "", "mu.Unlock()"},
		"locked:defer":           {"", "f()"},
		"gated:statement":        {"gated(g gate) {  }"}, // it is no mutex
		"cases:early-return":     {`return false, "", nil, nil; n++`, `return false, "", nil, nil; n--`},
		"selected:statement":     {"", ""}, // all of it, and the call
		"loop:loop":              {"break }", "list[1:]", "break"},
		"loop:operator":          {"sum -= n"},
		"cloned:copy":            {"return list }"},
		"made:result":            {"return p, nil"}, // and not those of checks
		"told:constant":          {"n > 7", "s.Number, err = 17, ErrTaken"},
		"told:early-return":      {"return nil; tell(Step{"},
	} {
		var got []string
		for _, m := range s.Mutants {
			if strings.HasPrefix(m.Name, "p/p.go:"+where+":") {
				got = append(got, added(m))
			}
		}
		if len(got) < len(want) {
			t.Errorf("%s: %q, want %q", where, got, want)
			continue
		}
		for _, part := range want {
			if !slices.ContainsFunc(got, func(line string) bool { return part == "" && line == "" || part != "" && strings.Contains(line, part) }) {
				t.Errorf("%s: %q, want %q", where, got, part)
			}
		}
	}
	for _, m := range s.Mutants {
		if isOfStep(m) || strings.Contains(m.Name, ":kind.String:") || strings.Contains(m.Edits[0].Diff(), "ErrInvalid") || strings.Contains(m.Edits[0].Diff(), "n < 0") ||
			strings.Contains(m.Edits[0].Diff(), "return nil, err") && !strings.Contains(m.Edits[0].Diff(), "range options") {
			t.Errorf("%s: %s", m.Name, m.Edits[0].Diff())
		}
	}
}

// isOfStep reports whether a bug changes only what the example tells of a step, or whether it does.
func isOfStep(m Mutant) bool {
	only := []string{`s := Step{Name: "one", Number: 17}`, `s.Name, s.Number = "two", 17+n`, "tell(s)", "tell(Step{Number: 17})"}
	for line := range strings.Lines(m.Edits[0].Diff()) {
		rest, isTaken := strings.CutPrefix(line, "-")
		if isTaken && !slices.Contains(only, strings.TrimSpace(rest)) {
			return strings.Contains(m.Name, ":told:") && strings.Contains(added(m), "err =") && !strings.Contains(added(m), "s.Number, err = 17,")
		}
	}
	return !strings.HasPrefix(added(m), "return") && !strings.Contains(m.Name, ":told:condition")
}

// added is what a bug adds.
func added(m Mutant) string {
	var b strings.Builder
	for line := range strings.Lines(m.Edits[0].Diff()) {
		if rest, ok := strings.CutPrefix(line, "+"); ok {
			b.WriteString(strings.TrimSpace(rest))
		}
	}
	return b.String()
}

func TestScripts(t *testing.T) {
	s := loaded(t, "package p\n", `-- a comment with 1 and 2
local held = redis.call('GET', KEYS[1])
local other
if held == ARGV[1] and not other then
  redis.call('SET', KEYS[1], held, 'PX', 5)
  return 1
end
return math.max(0, 1)
`)
	var all strings.Builder
	for _, m := range s.Mutants {
		if m.Line == 1 {
			t.Errorf("a bug in a comment: %s", m.Edits[0].Diff())
		}
		all.WriteString(m.Edits[0].Diff())
	}
	for _, want := range []string{
		"+local held = redis.pcall('GET', KEYS[1])", "+local held = redis.call('GET', ARGV[1])", "+if held ~= ARGV[1] and not other then",
		"+if held == ARGV[1] or not other then", "+if held == ARGV[1] and  other then", "+if other == ARGV[1] and not other then",
		"+  redis.call('SET', KEYS[1], held, 'PX', 6)",
		"+  redis.call('SET', KEYS[1], held, 5)", "+  return 0", "+return math.min(0, 1)",
	} {
		if !strings.Contains(all.String(), want+"\n") {
			t.Errorf("no bug makes %s of it", want)
		}
	}
}

// What does not compile and what compiles to the same code is not drawn; every statement is drawn once, and the seed alone
// decides.
func TestSample(t *testing.T) {
	s := loaded(t, `package p

func same(a, b int) int {
	if a == b {
		return b
	}
	return a
}

func unused(n int) {
	n = 0
}
`, "return 1\n")
	sample, err := s.Sample(t.Context(), "seed", 100)
	if err != nil {
		t.Fatal(err)
	}
	seen := map[Position]bool{}
	for _, m := range sample {
		if strings.Contains(m.Name, ":unused:") {
			t.Errorf("%s changes no code: %s", m.Name, m.Edits[0].Diff())
		}
		if at := m.Statement; seen[at] {
			t.Errorf("two bugs in one statement: %s", m.Name)
		} else if strings.HasSuffix(m.File(), ".go") {
			seen[at] = true
		}
	}
	if len(sample) != 4 { // if, return b, return a, and that of the script
		t.Errorf("%d bugs: %v", len(sample), sample)
	}
	again, err := s.Sample(t.Context(), "seed", 2)
	if err != nil || len(again) != 2 || again[0].Name != sample[0].Name || again[1].Name != sample[1].Name {
		t.Errorf("a smaller sample of the same seed is not its beginning: %v, %v", again, err)
	}
	names := func(seed string) (all []string) {
		for _, statement := range s.Draw(seed) {
			for _, m := range statement {
				all = append(all, m.Name)
			}
		}
		return all
	}
	if slices.Equal(names("seed"), names("another seed")) || !slices.Equal(names("seed"), names("seed")) {
		t.Error("the order does not depend on the seed alone")
	}
}

// Every check is a function that there is.
func TestChecks(t *testing.T) {
	sources := ""
	err := filepath.WalkDir("../../redlock", func(path string, d fs.DirEntry, err error) error {
		if err == nil && filepath.Ext(path) == ".go" {
			var text []byte
			text, err = os.ReadFile(path)
			sources += string(text)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range checks {
		receiver, method, _ := strings.Cut(name, ".")
		if declared := regexp.MustCompile(`\nfunc ` + name + `\(|\nfunc \(\w+ \*?` + receiver + `\) ` + method + `\(`); !declared.MatchString(sources) {
			t.Errorf("no function %s", name)
		}
	}
}
