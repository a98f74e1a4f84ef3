package scenarios

import (
	"cmp"
	"embed"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"sync"
)

//go:embed files/*.yaml
var files embed.FS

// file is an embedded file, whose scenarios are read when somebody asks for them.
type file struct {
	name      string // without the ending
	scenarios func() []*Scenario
}

// embedded are the files, in their order.
var embedded = sync.OnceValue(func() (all []file) {
	entries, err := files.ReadDir("files")
	if err != nil {
		panic(err)
	}
	for _, e := range entries {
		all = append(all, file{strings.TrimSuffix(e.Name(), ".yaml"), sync.OnceValue(func() []*Scenario {
			data, err := files.ReadFile("files/" + e.Name())
			if err != nil {
				panic(err)
			}
			found, err := Parse(e.Name(), data)
			if err != nil {
				// The files are part of the program; a test reads them all.
				panic(fmt.Sprintf("scenarios: an embedded file is wrong: %v", err))
			}
			return found
		})})
	}
	slices.SortStableFunc(all, func(a, b file) int { return cmp.Compare(number(a.name), number(b.name)) })
	return all
})

// number is what the name of a file begins with: 100 comes after 99, which it does not in a folder. A file without a number
// comes last.
func number(file string) int {
	first, _, _ := strings.Cut(file, "-")
	n, err := strconv.Atoi(first)
	if err != nil {
		return math.MaxInt
	}
	return n
}

// Catalogue is the embedded scenarios, in the order of their numbers.
var Catalogue = sync.OnceValue(func() (all []*Scenario) {
	for _, f := range embedded() {
		all = append(all, f.scenarios()...)
	}
	return all
})

// Find is the embedded scenario of a name.
func Find(name string) (*Scenario, bool) {
	for _, s := range Named(name) {
		if s.Name == name {
			return s, true
		}
	}
	return nil, false
}

// Named is the embedded scenarios that a name stands for: one, all cases of a file, or all those of a file's number, which 5 is
// for 05-single-instance. It reads no other files.
func Named(name string) (found []*Scenario) {
	of, _, _ := strings.Cut(name, "/")
	for _, f := range embedded() {
		if n, err := strconv.Atoi(name); f.name != of && (err != nil || n != number(f.name)) {
			continue
		}
		for _, s := range f.scenarios() {
			if of == name || s.Name == name {
				found = append(found, s)
			}
		}
	}
	return found
}
