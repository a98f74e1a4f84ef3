package audit

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"redlocksim/internal/built"
	"redlocksim/internal/strictyaml"
	"redlocksim/scenarios"
	"redlocksim/scenarios/programs"
	"redlocksim/scenarios/protocols"
)

// Each preset of settings files is a library, whose settings are known.
func TestEachPresetIsALibrary(t *testing.T) {
	for _, preset := range protocols.Presets() {
		lib, is := libraryOf(ofPreset(preset))
		if a := parse(t, "lock: {preset: "+preset+"}"); !is || lib.sets == nil || a.Library != lib.name {
			t.Errorf("preset %s is library %q, and settings are known: %t", preset, a.Library, lib.sets != nil)
		}
	}
}

// A fix changes nothing that the library has no setting for: of what stands under lock only what the table says that it has.
func TestFixesAreTheLibrarys(t *testing.T) {
	t.Parallel()
	changed, seen := map[string]bool{}, map[string]bool{}
	for _, lib := range libraries() {
		has := fmt.Sprint(slices.Sorted(maps.Keys(lib.sets)), lib.extends == "", lib.renews)
		if lib.sets == nil || seen[has] { // it is one's own, and has all that there is
			continue
		}
		seen[has] = true
		out := of(t, "library: "+lib.name+"\nttl: 8s\nwork: 20s\nfailover: true\nclock-error: 3%\nclock-step: 1s\npause: 3s\nrtt: {min: 1ms, max: 800ms}\nbudget: {memory-loss: 1, suspend: 1s}\n")
		for _, x := range out.Assumptions {
			for _, f := range x.Fixes {
				if slices.Contains(f.Set, "library: "+ourLibrary) {
					continue
				}
				for _, line := range f.Set {
					n, err := strictyaml.ValueOf(line)
					if err != nil {
						t.Fatal(err)
					}
					for _, path := range []string{"quorum", constantKey, factorKey, timeoutKey, "clock", "guard", "fencing", watchdogKey, "connect-timeout", "renewals"} {
						at := strictyaml.At(n, "lock."+path)
						if path == timeoutKey && at == nil {
							at = strictyaml.At(n, path)
						}
						if at == nil {
							continue
						}
						changed[path] = true
						if _, has := lib.has(path); !has {
							t.Errorf("%s has no %s: %q", lib.name, path, f.Text)
						}
					}
					if strictyaml.At(n, "renews") != nil && lib.extends == "" {
						t.Errorf("%s cannot renew: %q", lib.name, f.Text)
					}
				}
			}
		}
	}
	for _, path := range []string{"quorum", constantKey, factorKey, timeoutKey, "guard", watchdogKey} {
		if !changed[path] {
			t.Errorf("no fix changes %s", path)
		}
	}
}

// A lock of which a call is several commands is unsafe, with a pause or without, whether somebody else wrote it or it is here;
// one that does the same in one command is safe.
func TestBetweenCommands(t *testing.T) {
	t.Parallel()
	several, _ := protocols.Find("get-set")
	one, _ := protocols.Find("single")
	foreign := func(p protocols.Protocol) *scenarios.Foreign { return &scenarios.Foreign{New: p.New, OneNode: true} }
	for _, c := range []struct {
		library, lock string
		foreign       *scenarios.Foreign
		pause         string
		want          Verdict
		fix           string
	}{
		{"mine.wasm", "", foreign(several), "0s", Unsafe, "in one command"},
		{"mine.wasm", "", foreign(one), "5s", Safe, ""},
		{"get-set", "", nil, "0s", Unsafe, "library: redlock"},
		{"redlock-plain", "extending: get-set", nil, "5s", Unsafe, "lock.extending: quorum"},
		{"redlock-plain", "extending: quorum", nil, "5s", Safe, ""},
		{"single", "release: get-del", nil, "5s", Unsafe, "lock.release: cad"},
		{"single", "release: cad", nil, "5s", Safe, ""},
		{"redlock", "fencing: true", nil, "5s", Safe, ""},
	} {
		text := "library: " + c.library + "\nnodes: 1\npersistence: always\nttl: 10s\nclock-error: 0%\nrtt: 0s\npause: " + c.pause + "\nlock: {" + c.lock + "}\n"
		a := parse(t, text)
		x := &auditing{ctx: t.Context(), answers: a, world: calm(a.Settings), foreign: c.foreign}
		found := Assumption{Name: betweenCommands.name}
		if err := x.judge(betweenCommands, &found); err != nil || found.Verdict != c.want || !strings.Contains(found.Fix, c.fix) || (found.Fix == "") != (c.fix == "") {
			t.Errorf("%s%s, %s, fix %s: %v", text, found.Verdict, found.Text, found.Fix, err)
		}
	}
}

// A lock that counts in seconds is unsafe, also with settings in whole seconds: not every lock of its user need have such.
func TestRounding(t *testing.T) {
	t.Parallel()
	for bug, want := range map[string]Verdict{"": Safe, "whole-seconds": Unsafe} {
		p, err := programs.Load(built.Wasm(t, "../../scenarios/programs/testdata/watchdog"), []string{bug}, built.Cache(t))
		if err != nil {
			t.Fatal(err)
		}
		defer p.Close()
		a := parse(t, "library: mine.wasm\nnodes: 1\npersistence: always\nttl: 10s\nclock-error: 0%\nrtt: 0s\n")
		x := &auditing{ctx: t.Context(), answers: a, world: calm(a.Settings), foreign: p.Foreign()}
		found := Assumption{Name: rounding.name}
		if err := x.judge(rounding, &found); err != nil || found.Verdict != want {
			t.Errorf("%q: %s, %s, want %s: %v", bug, found.Verdict, found.Text, want, err)
		}
	}
}
