package main

import (
	"io"
	"os"
	"strings"
	"testing"
)

// Repetitions are equal if every cell has the verdict, the grades and the history of the first.
func TestCompare(t *testing.T) {
	const cell = `{"lock": "one", "settings": "defaults", "case": "a case", "tier": "program", "verdict": "safe", "grade": ["as-sound"], "history_hash": "12"}`
	for name, c := range map[string]struct{ again, want string }{
		"equal":           {cell, ""},
		"another history": {strings.Replace(cell, `"12"`, `"13"`, 1), "history 13"},
		"another verdict": {strings.Replace(cell, "safe", "leftover", 1), "leftover"},
		"another grade":   {strings.Replace(cell, "as-sound", "leaks", 1), "[leaks]"},
		"a cell more":     {cell + "," + cell, "2 cells"},
	} {
		t.Run(name, func(t *testing.T) {
			r := repetitions{times: 2, dir: t.TempDir()}
			for n, text := range map[int]string{1: cell, 2: c.again} {
				if err := os.WriteFile(r.file(n, "one"), []byte(`{"cells": [`+text+`]}`), 0o666); err != nil {
					t.Fatal(err)
				}
			}
			differences, err := r.compare(io.Discard, []string{"one"})
			if got := strings.Join(differences, "; "); err != nil || (got == "") != (c.want == "") || !strings.Contains(got, c.want) {
				t.Errorf("%q, %v; want %q", got, err, c.want)
			}
		})
	}
}

// What is kept of another program is not compared with what this one does.
func TestKeep(t *testing.T) {
	r := repetitions{dir: t.TempDir()}
	for i, c := range []struct {
		inputs string
		fits   bool
	}{{"a", true}, {"a", true}, {"b", false}} {
		if err := r.keep(c.inputs); (err == nil) != c.fits {
			t.Errorf("%d: %v", i, err)
		}
	}
}
