// Package surface_test compares what the library exports with what the scenarios of the catalogue use of it.
package surface_test

import (
	"flag"
	"go/ast"
	"go/doc"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"redlocksim/scenarios"
)

var (
	update  = flag.Bool("update", false, "run the catalogue and write the page")
	measure = flag.Bool("measure", false, "run the catalogue and compare the page with it")
)

const root = "../.."

// library is the packages of the library, by their directories.
var library = []string{"redlock", "redlock/goredis", "redlock/semaphore"}

// without is what no scenario uses, and why not.
var without = map[string]string{
	"Error.Error":                   "histories have the reasons in words that do not depend on the tier; TestErrorsAreShort",
	"Client.During":                 "package semaphore calls it, in 119; TestDuring",
	"Client.RetryDelay":             "package semaphore calls it, in 119; TestRetryDelay",
	"Renewal.Check":                 "Client.Hold calls it, in 103; TestRenewalCheck",
	"DefaultDrift":                  "it is what scenarios have that set no drift allowance; TestDefaultDrift",
	"WithReplicas":                  "package single sets it, in 07; TestReplicas",
	"WithTokens":                    "package single sets it, in 113; TestTokensFromElsewhere",
	"semaphore.Permit.Hold":         "Semaphore.Hold calls it, in 119; TestHoldOfAPermit",
	"goredis.NewClusterClient":      "the simulator has no slots, real servers have; TestFailover",
	"goredis.NewSentinelClient":     "the simulator leads clients to the new primary by itself; TestFailover",
	"goredis.NewSingle":             "as goredis.NewSentinelClient",
	"goredis.Node.ConfirmsReplicas": "it does nothing: it says that the node looks at Command.Replicas; TestAdapter/Replicas",
	"goredis.Single.Node":           "as goredis.NewSentinelClient",
	"goredis.Node.Listen":           "a subscriber of go-redis waits outside of the simulator's kernel: used on tier live only (66, 73); TestAdapter/Listen",
	"goredis.Open":                  "it is goredis.Opener.Open without settings; TestOpen",
	"goredis.OptionsError.Error":    "scenarios have clients with the right options; TestOptionsRefused",
	"goredis.OptionsError.Unwrap":   "as goredis.OptionsError.Error",
}

// surface is what the library exports for a caller to use: functions, methods, and the fields of structs that are arguments.
// Names in goredis have its name before them.
func surface(t *testing.T) (names []string) {
	t.Helper()
	for _, dir := range library {
		sources, err := filepath.Glob(filepath.Join(root, dir, "*.go"))
		if err != nil {
			t.Fatal(err)
		}
		fset := token.NewFileSet()
		var files []*ast.File
		for _, name := range sources {
			if strings.HasSuffix(name, "_test.go") {
				continue
			}
			file, err := parser.ParseFile(fset, name, nil, parser.ParseComments)
			if err != nil {
				t.Fatal(err)
			}
			files = append(files, file)
		}
		p, err := doc.NewFromFiles(fset, files, "redlocksim/"+dir)
		if err != nil {
			t.Fatal(err)
		}
		add := func(words ...string) {
			if p.Name != "redlock" {
				words = append([]string{p.Name}, words...)
			}
			names = append(names, strings.Join(words, "."))
		}
		for _, f := range p.Funcs {
			add(f.Name)
		}
		for _, typ := range p.Types {
			for _, f := range typ.Funcs {
				add(f.Name)
			}
			for _, f := range typ.Methods {
				add(typ.Name, f.Name)
			}
			if slices.ContainsFunc(typ.Methods, func(f *doc.Func) bool { return f.Name == "Error" }) {
				continue
			}
			for _, field := range fields(typ) {
				add(typ.Name, field)
			}
		}
	}
	slices.Sort(names)
	return names
}

// fields are the exported fields of a type that is a struct.
func fields(typ *doc.Type) (names []string) {
	structure, is := typ.Decl.Specs[0].(*ast.TypeSpec).Type.(*ast.StructType)
	if !is {
		return nil
	}
	for _, field := range structure.Fields.List {
		for _, name := range field.Names {
			if name.IsExported() {
				names = append(names, name.Name)
			}
		}
	}
	return names
}

// catalogue is the files of the catalogue, by the names that the page has for them, in order.
func catalogue() (files []string) {
	for _, s := range scenarios.Catalogue() {
		if name := fileOf(s); !slices.Contains(files, name) {
			files = append(files, name)
		}
	}
	return files
}

// fileOf is the number of a scenario's file, or its name if it has none.
func fileOf(s *scenarios.Scenario) string {
	file, _, _ := strings.Cut(s.Name, "/")
	number, _, _ := strings.Cut(file, "-")
	return number
}

// A reason why no scenario uses something names the test that does, or something else with the same reason.
func TestReasonsNameTests(t *testing.T) {
	var tests strings.Builder
	for _, dir := range library {
		sources, err := filepath.Glob(filepath.Join(root, dir, "*_test.go"))
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range sources {
			text, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			tests.Write(text)
		}
	}
	parts, err := os.ReadFile(filepath.Join(root, "internal", "adaptertest", "run.go"))
	if err != nil {
		t.Fatal(err)
	}
	for name, why := range without {
		_, test, tested := strings.Cut(why, "; ")
		test, part, ofAdapters := strings.Cut(test, "/")
		tested = tested && (!ofAdapters || strings.Contains(string(parts), `{"`+part+`", `))
		other, as := strings.CutPrefix(why, "as ")
		switch {
		case tested && strings.Contains(tests.String(), "func "+test+"(t *testing.T)"):
		case as && without[other] != "":
		default:
			t.Errorf("%s: %q names no test", name, why)
		}
	}
}

// Every exported call and option is used by a scenario, or it says why by none. What a call needs no run for is compared with
// the page each time, and the rest with -measure.
func TestScenariosUseTheSurface(t *testing.T) {
	names, all := surface(t), catalogue()
	set := settingsUsed()
	for name := range set {
		if !slices.Contains(names, name) {
			t.Errorf("there is no %s", name)
		}
	}
	if *update || *measure {
		used := measured(t, names)
		for name, files := range set {
			used[name] = files
		}
		p := page{all, used}
		if *update {
			if err := os.WriteFile(pageFile, []byte(p.String()), 0o644); err != nil {
				t.Fatal(err)
			}
		} else if text, err := os.ReadFile(pageFile); err != nil || string(text) != p.String() {
			t.Errorf("%s is not what scenarios do (%v); go test ./internal/surface -update writes\n%s", pageFile, err, p)
		}
	}
	text, err := os.ReadFile(pageFile)
	if err != nil {
		t.Fatal(err)
	}
	p, err := parse(string(text), all)
	if err != nil {
		t.Fatal(err, "(go test ./internal/surface -update runs the catalogue and writes the page)")
	}
	for _, problem := range p.problems(names, all, set) {
		t.Error(problem, "(go test ./internal/surface -update runs the catalogue and writes the page)")
	}
}
