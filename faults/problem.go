package faults

import (
	"fmt"
	"slices"
	"time"
)

// Problem is a field of a fault that makes no sense.
type Problem struct {
	Field string   // its name in a scenario file
	Word  string   // the offending word; may be empty
	Valid []string // what would be right, if that is a list
	Text  string
}

func among(field, word string, valid []string, what string) []Problem {
	for _, v := range valid {
		if v == word {
			return nil
		}
	}
	return []Problem{{Field: field, Word: word, Valid: valid, Text: "there is no such " + what}}
}

func notNegative(field string, d time.Duration) []Problem {
	if d < 0 {
		return []Problem{{Field: field, Word: d.String(), Text: "must not be negative"}}
	}
	return nil
}

func positive(field string, d time.Duration) []Problem {
	if d <= 0 {
		return []Problem{{Field: field, Word: d.String(), Text: "must be positive"}}
	}
	return nil
}

// twice finds names that a list has more than once.
func twice(list string, names []string) []Problem {
	var problems []Problem
	for i, name := range names {
		if slices.Contains(names[:i], name) {
			problems = append(problems, Problem{Field: listed(list, i), Word: name, Text: "is listed twice"})
		}
	}
	return problems
}

// listed is the name of an entry of a list in a scenario file.
func listed(list string, i int) string { return fmt.Sprintf("%s[%d]", list, i) }
