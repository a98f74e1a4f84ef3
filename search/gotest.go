package search

import (
	"fmt"
	"go/format"
	"strconv"
	"strings"
	"unicode"

	"redlocksim/scenarios"
)

// goTest is the source of a Go test, a whole file, that runs the scenario with the seed on all tiers and fails if it is not
// as expected. It belongs into a package of this module.
func goTest(s *scenarios.Scenario, seed uint64) (string, error) {
	file, err := s.Encode()
	if err != nil {
		return "", err
	}
	literal := "`" + string(file) + "`"
	if !strconv.CanBackquote(strings.ReplaceAll(string(file), "\n", "")) {
		literal = strconv.Quote(string(file))
	}
	source := fmt.Sprintf(`package found_test

import (
	"testing"

	"redlocksim/scenarios"
)

// %[1]s repeats a run that a search found.
func %[1]s(t *testing.T) {
	found, err := scenarios.Parse(%[2]q, []byte(%[3]s))
	if err != nil {
		t.Fatal(err)
	}
	for _, tier := range scenarios.Tiers() {
		r, err := scenarios.Verify(found[0], scenarios.Options{Tier: tier, Seed: %[4]d})
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range r.Problems {
			t.Errorf("tier %%s: %%s", tier, p.Text)
		}
	}
}
`, testName(s, seed), s.Name+".yaml", literal, seed)
	formatted, err := format.Source([]byte(source))
	return string(formatted), err
}

// testName is Test, the findings and the seed.
func testName(s *scenarios.Scenario, seed uint64) string {
	var name strings.Builder
	name.WriteString("Test")
	for _, word := range strings.FieldsFunc(s.Expect.Findings.String(), func(r rune) bool { return !unicode.IsLetter(r) }) {
		name.WriteString(strings.ToUpper(word[:1]) + word[1:])
	}
	return fmt.Sprintf("%sSeed%d", name.String(), seed)
}
