package main

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"redlocksim/scenarios"
)

// documents are the README and the pages of the docs folder, by path.
func documents(t *testing.T) map[string]string {
	t.Helper()
	paths, err := filepath.Glob("../../docs/*.md")
	if err != nil {
		t.Fatal(err)
	}
	texts := map[string]string{}
	for _, path := range append(paths, readme) {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		texts[path] = string(text)
	}
	return texts
}

var (
	link  = regexp.MustCompile(`\]\(([^)#]+)(#[^)]*)?\)`)
	claim = regexp.MustCompile(`\[([^\]]+)\]\((?:\.\./)?scenarios/files/([^)]+)\)\s+(\w+)`)
)

// Links lead somewhere.
func TestLinks(t *testing.T) {
	for path, text := range documents(t) {
		for _, m := range link.FindAllStringSubmatch(text, -1) {
			if strings.Contains(m[1], "://") {
				continue
			}
			if _, err := os.Stat(filepath.Join(filepath.Dir(path), m[1])); err != nil {
				t.Errorf("%s links to %s, which is not there", path, m[1])
			}
		}
	}
}

// Where the documentation says that a scenario holds or breaks it expects that.
func TestClaims(t *testing.T) {
	catalogue := scenarios.Catalogue()
	checked := 0
	for path, text := range documents(t) {
		for _, m := range claim.FindAllStringSubmatch(text, -1) {
			name, file, word := m[1], m[2], m[3]
			i := slices.IndexFunc(catalogue, func(s *scenarios.Scenario) bool { return s.Name == name })
			base, _, _ := strings.Cut(name, "/")
			switch {
			case i < 0:
				t.Errorf("%s: there is no scenario %s", path, name)
			case file != base+".yaml":
				t.Errorf("%s: %s is not in %s", path, name, file)
			case word == "holds" && len(catalogue[i].Expect.Findings) != 0,
				word == "breaks" && len(catalogue[i].Expect.Findings) == 0:
				t.Errorf("%s: %s %s, and it expects %v", path, name, word, catalogue[i].Expect.Findings)
			case word != "holds" && word != "breaks":
				t.Errorf("%s: %s %s: holds or breaks?", path, name, word)
			}
			checked++
		}
	}
	if checked < 60 {
		t.Errorf("%d scenarios are named, there were more", checked)
	}
}
