// Package architecture_test compares the imports of all packages with docs/architecture.md, which says who may import whom, and
// looks for files of a package that call each other in a circle, for functions that are too long, and for comments that are
// too wide.
package architecture_test

import (
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

const (
	root   = "../.."
	module = "redlocksim/"
)

// room is a line of the table: a package, or with "/..." a package and all below it, and what it may import.
type room struct {
	name    string
	imports []string
}

// covers says whether a name of the table stands for a package.
func covers(name, pkg string) bool {
	above, all := strings.CutSuffix(name, "/...")
	return pkg == above || all && strings.HasPrefix(pkg, above+"/")
}

// table is the lines of the document that say who may import whom.
func table(t *testing.T) []room {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(root, "docs/architecture.md"))
	if err != nil {
		t.Fatal(err)
	}
	block := regexp.MustCompile("(?s)```imports\n(.*?)```").FindSubmatch(text)
	if block == nil {
		t.Fatal("docs/architecture.md has no block of imports")
	}
	var rooms []room
	for line := range strings.Lines(string(block[1])) {
		if name, imports, ok := strings.Cut(line, ":"); ok {
			rooms = append(rooms, room{name, strings.Fields(imports)})
		}
	}
	return rooms
}

// find is the place of a package's room in the table, −1 if it has none: of the rooms that cover it, its own or else the one
// with the longest name.
func find(rooms []room, pkg string) int {
	place, longest := -1, 0
	for i, r := range rooms {
		if r.name == pkg {
			return i
		}
		if covers(r.name, pkg) && len(r.name) > longest {
			place, longest = i, len(r.name)
		}
	}
	return place
}

// may says whether a package may import another: one of its own room, or one of a room above that its own room lists.
func may(rooms []room, pkg, imported string) bool {
	own, other := find(rooms, pkg), find(rooms, imported)
	if own < 0 || other < 0 || own == other {
		return own >= 0 && own == other
	}
	return other < own && slices.ContainsFunc(rooms[own].imports, func(name string) bool { return covers(name, imported) })
}

// imports are what the packages of the module import of it, without their tests.
func imports(t *testing.T) map[string][]string {
	t.Helper()
	all := map[string]map[string]bool{}
	err := filepath.WalkDir(root, func(file string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && file != root && (strings.HasPrefix(d.Name(), ".") || d.Name() == "testdata" || isModule(file)):
			return fs.SkipDir
		case d.IsDir() || path.Ext(file) != ".go" || strings.HasSuffix(file, "_test.go"):
			return nil
		}
		dir, err := filepath.Rel(root, filepath.Dir(file))
		if err != nil {
			return err
		}
		if all[dir] == nil {
			all[dir] = map[string]bool{}
		}
		source, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.ImportsOnly)
		if err != nil {
			return err
		}
		for _, spec := range source.Imports {
			if name, _ := strconv.Unquote(spec.Path.Value); strings.HasPrefix(name, module) {
				all[dir][strings.TrimPrefix(name, module)] = true
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	sorted := map[string][]string{}
	for pkg, of := range all {
		sorted[pkg] = slices.Sorted(maps.Keys(of))
	}
	return sorted
}

func isModule(dir string) bool {
	_, err := os.Stat(filepath.Join(dir, "go.mod"))
	return err == nil
}

// Every import is one that the table allows.
func TestImportsPointOneWay(t *testing.T) {
	rooms, of := table(t), imports(t)
	for _, pkg := range slices.Sorted(maps.Keys(of)) {
		if find(rooms, pkg) < 0 {
			t.Errorf("%s is not in the table", pkg)
		}
		for _, imported := range of[pkg] {
			if !may(rooms, pkg, imported) {
				t.Errorf("%s may not import %s", pkg, imported)
			}
		}
	}
}

// Each line of the table is there for something: its packages exist, and import all that it allows.
func TestTable(t *testing.T) {
	rooms, of := table(t), imports(t)
	imported := make([][]string, len(rooms))
	there := make([]bool, len(rooms))
	for pkg := range of {
		if i := find(rooms, pkg); i >= 0 {
			there[i] = true
			imported[i] = append(imported[i], of[pkg]...)
		}
	}
	for i, r := range rooms {
		if !there[i] {
			t.Errorf("%s: there is no such package", r.name)
		}
		for _, name := range r.imports {
			if !slices.ContainsFunc(imported[i], func(pkg string) bool { return covers(name, pkg) && find(rooms, pkg) < i }) {
				t.Errorf("%s imports no %s that stands above it: take it out of the table", r.name, name)
			}
		}
	}
}

// The parts of the simulator know nothing of those above them, whatever else the table allows.
func TestForbidden(t *testing.T) {
	rooms := table(t)
	for _, arrow := range [][2]string{
		{"sim/kernel", "sim/network"}, {"sim/kernel", "sim/history"}, {"sim/network", "sim/redis"}, {"sim/network", "internal/rediscmd"},
		{"sim/redis", "sim"}, {"sim/model", "sim"}, {"sim/wire", "sim/model"}, {"sim/storage", "sim/redis"},
		{"redlock", "sim"}, {"redlock/driver", "redlock"}, {"checker", "redlock"}, {"checker", "sim"}, {"history", "sim/kernel"},
		{"faults", "live"}, {"faults", "scenarios"}, {"search/random", "search/dpor"}, {"search/dpor", "search/random"}, {"reports", "cmd/redlocksim"},
		{"nobody", "redlock"},
	} {
		if may(rooms, arrow[0], arrow[1]) {
			t.Errorf("%s may import %s", arrow[0], arrow[1])
		}
	}
}
