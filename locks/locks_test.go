package locks

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"redlocksim/scenarios"
)

// described loads a lock with this at the end of its description.
func described(t *testing.T, more string) (*Lock, error) {
	t.Helper()
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, "one"), 0o777); err != nil {
		t.Fatal(err)
	}
	text := "library: one\nsource: s\nlicence: MIT\nabout: One.\nsettings: [{title: defaults}]\n" + more
	if err := os.WriteFile(filepath.Join(dir, "one", File), []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
	all, err := Load(dir)
	if err != nil {
		return nil, err
	}
	return &all[0], nil
}

func TestTiers(t *testing.T) {
	for more, want := range map[string]string{
		"":                              "program live",
		"tier: live":                    "live",
		"tier: program":                 "program",
		"command: one":                  "live",
		"{command: one, tier: live}":    "live",
		"tier: model":                   `tier: the lock cannot run on "model"; want one of ["program" "live"]`,
		"{command: one, tier: program}": `tier: the lock cannot run on "program"; want one of ["live"]`,
	} {
		l, err := described(t, strings.NewReplacer("{", "", ", ", "\n", "}", "").Replace(more))
		if err != nil {
			if !strings.HasSuffix(err.Error(), want) {
				t.Errorf("%s: %v, want %s", more, err, want)
			}
			continue
		}
		var on []string
		for _, tier := range l.Tiers() {
			on = append(on, string(tier))
		}
		if got := strings.Join(on, " "); got != want {
			t.Errorf("%s: it runs on %s, want %s", more, got, want)
		}
	}
}

// A cause that explained nothing is told of, on whatever tier the lock says most.
func TestUnused(t *testing.T) {
	const known = "known:\n  - {cases: used, grade: weaker, cause: c}\n  - {cases: everywhere, grade: weaker, cause: c}\n  - {cases: live, grade: weaker, tier: live, cause: c}\n"
	for _, c := range []struct {
		more string
		on   []scenarios.Tier
		want string
	}{
		{"", []scenarios.Tier{scenarios.Program}, "everywhere"},
		{"", []scenarios.Tier{scenarios.Live}, "live"},
		{"", []scenarios.Tier{scenarios.Program, scenarios.Live}, "everywhere live"},
		{"tier: live\n", []scenarios.Tier{scenarios.Live}, "everywhere live"},
		{"command: one\n", []scenarios.Tier{scenarios.Live}, "everywhere live"},
	} {
		l, err := described(t, c.more+known)
		if err != nil {
			t.Fatal(err)
		}
		var unused []string
		for _, k := range l.Unused(c.on, map[*Known]bool{&l.Known[0]: true}) {
			unused = append(unused, k.Cases)
		}
		if got := strings.Join(unused, " "); got != c.want {
			t.Errorf("%q on %v: %s explain nothing, want %s", c.more, c.on, got, c.want)
		}
	}
}
