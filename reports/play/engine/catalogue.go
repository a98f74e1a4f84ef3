package engine

import (
	"fmt"

	"redlocksim/checker"
	"redlocksim/scenarios"
)

// Theme is a part of the catalogue, and Entry is a scenario in it.
type Theme struct {
	Title   string  `json:"title"`
	Entries []Entry `json:"entries"`
}

// Entry is what the gallery shows of a scenario.
type Entry struct {
	Name        string `json:"name"`
	Title       string `json:"title"`
	Explanation string `json:"explanation"`
	Expected    string `json:"expected"`
	// Breaks says that what is expected is a lock that does not hold.
	Breaks bool `json:"breaks"`
}

func catalogue() (all []Theme) {
	for _, theme := range scenarios.Themes() {
		t := Theme{Title: theme.Title()}
		for _, s := range scenarios.Catalogue() {
			if s.Theme == theme {
				t.Entries = append(t.Entries, Entry{s.Name, s.Title, s.Explanation, s.Says(), s.InOne() != string(checker.Holds)})
			}
		}
		if len(t.Entries) > 0 {
			all = append(all, t)
		}
	}
	return all
}

// file is the text of a scenario of the catalogue, for the editor: one case, with everything in it that it needs.
func file(name string) (string, error) {
	s, ok := scenarios.Find(name)
	if !ok {
		return "", fmt.Errorf("there is no scenario %q", name)
	}
	text, err := s.Encode()
	return string(text), err
}
