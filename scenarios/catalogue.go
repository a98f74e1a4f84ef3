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

// embedded are the scenarios of each embedded file, by its name without the ending.
var embedded = sync.OnceValue(func() map[string]func() []*Scenario {
	all := map[string]func() []*Scenario{}
	for _, name := range embeddedFiles() {
		all[strings.TrimSuffix(name, ".yaml")] = sync.OnceValue(func() []*Scenario {
			data, err := files.ReadFile("files/" + name)
			if err != nil {
				panic(err)
			}
			found, err := Parse(name, data)
			if err != nil {
				// The files are part of the program; a test reads them all.
				panic(fmt.Sprintf("scenarios: an embedded file is wrong: %v", err))
			}
			return found
		})
	}
	return all
})

// embeddedFiles are the names of the files, in their order.
func embeddedFiles() (names []string) {
	entries, err := files.ReadDir("files")
	if err != nil {
		panic(err)
	}
	for _, e := range entries {
		names = append(names, e.Name())
	}
	slices.SortStableFunc(names, func(a, b string) int { return cmp.Compare(number(a), number(b)) })
	return names
}

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
	for _, name := range embeddedFiles() {
		all = append(all, embedded()[strings.TrimSuffix(name, ".yaml")]()...)
	}
	return all
})

// Find is the embedded scenario of a name. It reads that one's file only.
func Find(name string) (*Scenario, bool) {
	file, _, _ := strings.Cut(name, "/")
	read, known := embedded()[file]
	if !known {
		return nil, false
	}
	all := read()
	i := slices.IndexFunc(all, func(s *Scenario) bool { return s.Name == name })
	if i < 0 {
		return nil, false
	}
	return all[i], true
}
