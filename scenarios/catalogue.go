package scenarios

import (
	"embed"
	"fmt"
	"slices"
	"sync"
)

//go:embed files/*.yaml
var files embed.FS

// Catalogue is the embedded scenarios, in the order of their names.
var Catalogue = sync.OnceValue(func() []*Scenario {
	entries, err := files.ReadDir("files")
	if err != nil {
		panic(err)
	}
	var all []*Scenario
	for _, e := range entries {
		data, err := files.ReadFile("files/" + e.Name())
		if err != nil {
			panic(err)
		}
		found, err := Parse(e.Name(), data)
		if err != nil {
			// The files are part of the program; a test reads them all.
			panic(fmt.Sprintf("scenarios: an embedded file is wrong: %v", err))
		}
		all = append(all, found...)
	}
	return all
})

// Find is the embedded scenario of a name.
func Find(name string) (*Scenario, bool) {
	all := Catalogue()
	i := slices.IndexFunc(all, func(s *Scenario) bool { return s.Name == name })
	if i < 0 {
		return nil, false
	}
	return all[i], true
}
