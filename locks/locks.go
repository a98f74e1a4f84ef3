// Package locks is the locks of others that are put to the test: a directory for each, with a program and a lock.yaml that says
// what it is and what is known of it. See docs/locks.md for what came out.
package locks

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"redlocksim/internal/strictyaml"
	"redlocksim/scenarios"
	"redlocksim/scenarios/protocols"
	"redlocksim/scenarios/verdict"
)

// File is the name of the file that describes a lock.
const File = "lock.yaml"

// Lock is a lock, in a directory of its own.
type Lock struct {
	// Name is that of the directory, and Dir its path.
	Name, Dir string
	Description
}

// Description is what a lock.yaml says.
type Description struct {
	// Library is the name of what is tested, Source where it is from, and Licence its licence, by the name of SPDX.
	Library string `yaml:"library,required"`
	Source  string `yaml:"source,required"`
	Licence string `yaml:"licence,required"`
	// About says in a sentence what kind of lock it is.
	About string `yaml:"about,required"`
	// Adapter says what of the lock is not the library's, as the end of a sentence. Default: nothing, it runs unmodified.
	Adapter string `yaml:"adapter"`
	// Command starts its program, for tier live, with {dir} for its directory. Default: it is a program in Go.
	Command string `yaml:"command"`
	// Build makes what Command needs, run in the lock's directory. Default: it needs nothing.
	Build string `yaml:"build"`
	// Tier is the one on which it runs, program or live. Default: both for a program in Go, live for another.
	Tier string `yaml:"tier"`
	// Settings are those with which it is tested, its defaults first.
	Settings []Setting `yaml:"settings,required"`
	// Known is why it does worse than Redlock where it does.
	Known []Known `yaml:"known"`
}

// Setting is options with which a lock is tested.
type Setting struct {
	Title string `yaml:"title,required"`
	// Args are the arguments of its program. Default: none.
	Args string `yaml:"args"`
	// Protocol is a protocol of scenarios whose service is a part of the simulator, and which this is on real servers. Default:
	// none.
	Protocol protocols.Name `yaml:"protocol"`
}

// Known is why a lock does worse than Redlock in some cases.
type Known struct {
	// Cases is a regular expression for their names.
	Cases string `yaml:"cases,required"`
	// Grade is which of the grades it explains.
	Grade verdict.Grade `yaml:"grade,required"`
	// Settings are the titles of those that it is about. Default: all.
	Settings []string `yaml:"settings"`
	// Tier is the one that it is about, program or live. Default: all on which the lock runs.
	Tier string `yaml:"tier"`
	// Cause is a sentence.
	Cause string `yaml:"cause,required"`
	// See is where the library's own people talk of it. Default: nowhere that we know.
	See string `yaml:"see"`
	// Documented says that the library documents it as a limit. Default: false.
	Documented bool `yaml:"documented"`

	cases *regexp.Regexp
}

// Load reads the descriptions of all locks in a directory, by name. The error says where in which file something is wrong.
func Load(dir string) ([]Lock, error) {
	files, err := filepath.Glob(filepath.Join(dir, "*", File))
	if err != nil {
		return nil, err
	}
	if files == nil {
		return nil, fmt.Errorf("%s: no locks here: want directories with a %s", dir, File)
	}
	var all []Lock
	for _, file := range files {
		text, err := strictyaml.ReadFile(file)
		if err != nil {
			return nil, err
		}
		l := Lock{Dir: filepath.Dir(file)}
		l.Name = filepath.Base(l.Dir)
		if err := strictyaml.Decode(file, text, &l.Description); err != nil {
			return nil, err
		}
		if err := l.check(); err != nil {
			return nil, fmt.Errorf("%s: %w", file, err)
		}
		all = append(all, l)
	}
	return all, nil
}

func (l *Lock) check() error {
	if len(l.Settings) == 0 {
		return errors.New("settings: there must be one at least")
	}
	if l.Tier != "" && !slices.Contains(l.built(), scenarios.Tier(l.Tier)) {
		return fmt.Errorf("tier: the lock cannot run on %q; want one of %q", l.Tier, l.built())
	}
	for i := range l.Known {
		k := &l.Known[i]
		var err error
		if k.cases, err = regexp.Compile(k.Cases); err != nil {
			return fmt.Errorf("known: cases: %w", err)
		}
		if !slices.Contains(verdict.WorseGrades(), k.Grade) {
			return fmt.Errorf("known: grade: %q needs no cause; want one of %q", k.Grade, verdict.WorseGrades())
		}
		if k.Tier != "" && !slices.Contains(l.Tiers(), scenarios.Tier(k.Tier)) {
			return fmt.Errorf("known: tier: the lock does not run on %q; want one of %q", k.Tier, l.Tiers())
		}
		for _, title := range k.Settings {
			if !slices.ContainsFunc(l.Settings, func(s Setting) bool { return s.Title == title }) {
				return fmt.Errorf("known: there are no settings %q", title)
			}
		}
	}
	return nil
}

// Why is what is known of a grade that the lock has in a case; nil if nothing is.
func (l *Lock) Why(tier scenarios.Tier, setting, name string, g verdict.Grade) *Known {
	i := slices.IndexFunc(l.Known, func(k Known) bool {
		return k.Grade == g && k.cases.MatchString(name) && (k.Settings == nil || slices.Contains(k.Settings, setting)) && (k.Tier == "" || k.Tier == string(tier))
	})
	if i < 0 {
		return nil
	}
	return &l.Known[i]
}

// Unused are the entries of Known that have explained nothing in a run of all scenarios on these tiers. What is known of all
// tiers need only show on the one that says most: on tier live runs differ.
func (l *Lock) Unused(on []scenarios.Tier, explained map[*Known]bool) (unused []*Known) {
	for i := range l.Known {
		k := &l.Known[i]
		if !explained[k] && slices.Contains(on, cmp.Or(scenarios.Tier(k.Tier), l.Tiers()[0])) {
			unused = append(unused, k)
		}
	}
	return unused
}

// Tiers are those on which its program runs, the one that says most first.
func (l *Lock) Tiers() []scenarios.Tier {
	if l.Tier != "" {
		return []scenarios.Tier{scenarios.Tier(l.Tier)}
	}
	return l.built()
}

// built are the tiers for which its program can be built: the simulator takes one in Go.
func (l *Lock) built() []scenarios.Tier {
	if l.Command != "" {
		return []scenarios.Tier{scenarios.Live}
	}
	return []scenarios.Tier{scenarios.Program, scenarios.Live}
}

// ErrNotBuilt is what the errors of Compile and Native match.
var ErrNotBuilt = errors.New("cannot be built or started")

// Compile compiles the lock's program to WebAssembly, which takes a Go toolchain and the modules that it needs.
func (l *Lock) Compile(ctx context.Context, file string) error {
	return l.make(ctx, []string{"GOOS=wasip1", "GOARCH=wasm"}, "go", "build", "-o", file, ".")
}

// Native makes the lock's program for tier live and returns the command that starts it. A program in Go becomes this file.
func (l *Lock) Native(ctx context.Context, file string) (command []string, err error) {
	if l.Command == "" {
		// Without revision and path: the program is another one only if the code is.
		return []string{file}, l.make(ctx, nil, "go", "build", "-trimpath", "-buildvcs=false", "-o", file, ".")
	}
	if build := strings.Fields(l.Build); len(build) > 0 {
		err = l.make(ctx, nil, build...)
	}
	for _, word := range strings.Fields(l.Command) {
		command = append(command, strings.ReplaceAll(word, "{dir}", filepath.ToSlash(l.Dir)))
	}
	return command, err
}

func (l *Lock) make(ctx context.Context, env []string, command ...string) error {
	build := exec.CommandContext(ctx, command[0], command[1:]...)
	build.Dir, build.Env = l.Dir, append(os.Environ(), env...)
	var said bytes.Buffer
	build.Stderr = &said
	if err := build.Run(); err != nil {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		return fmt.Errorf("%s %w: %w\n%s", l.Dir, ErrNotBuilt, err, strings.TrimSpace(said.String()))
	}
	return nil
}
