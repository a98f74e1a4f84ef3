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

// Find is the embedded scenario of a name. It reads that one's file only.
func Find(name string) (*Scenario, bool) {
	of, _, _ := strings.Cut(name, "/")
	for _, f := range embedded() {
		if f.name != of {
			continue
		}
		if i := slices.IndexFunc(f.scenarios(), func(s *Scenario) bool { return s.Name == name }); i >= 0 {
			return f.scenarios()[i], true
		}
	}
	return nil, false
}
