package power

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// build makes the binaries for one bug, in a directory that is removed afterwards.
type build struct {
	root, dir, overlay, cache string
	tested                    []string          // the packages whose unit tests are run
	made                      map[string]string // runners, by the flags of their builds
}

// goCommand runs the go command. Building is not counted as processor time.
func (b *build) goCommand(ctx context.Context, args ...string) error {
	cmd := exec.CommandContext(ctx, "go", args...)
	cmd.Dir, cmd.Env = b.root, os.Environ()
	if b.cache != "" {
		cmd.Env = append(cmd.Env, "GOCACHE="+b.cache)
	}
	out, err := cmd.CombinedOutput()
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if err != nil {
		return fmt.Errorf("go %s: %w\n%s", strings.Join(args, " "), err, out)
	}
	return nil
}

// with is the arguments of a build with the bug, if there is one.
func (b *build) with(args ...string) []string {
	if b.overlay != "" {
		args = append(args, "-overlay", b.overlay)
	}
	return args
}

// runner makes the runner of a column. That of tier live has a race detector: goroutines run at the same time there.
func (b *build) runner(ctx context.Context, c Column) (string, error) {
	flags := "-ldflags=-s -w"
	if c == Live {
		flags = "-race"
	}
	if b.made[flags] == "" {
		to := filepath.Join(b.dir, "runner"+strings.Fields(flags)[0])
		if err := b.goCommand(ctx, append(b.with("build", "-o", to, "-buildvcs=false", flags), "./mutants/runner")...); err != nil {
			return "", err
		}
		if b.made == nil {
			b.made = map[string]string{}
		}
		b.made[flags] = to
	}
	return b.made[flags], nil
}

// tests runs the unit tests, those of the directory first, until one fails twice.
func (b *build) tests(ctx context.Context, directory string) (Outcome, error) {
	order := slices.Clone(b.tested)
	slices.SortStableFunc(order, func(a, b string) int {
		return map[bool]int{true: -1}[a == directory] - map[bool]int{true: -1}[b == directory]
	})
	total := Outcome{}
	for _, p := range order {
		binary := filepath.Join(b.dir, "tests")
		if err := b.goCommand(ctx, append(b.with("test", "-c", "-o", binary), "./"+p)...); err != nil {
			return total, err
		}
		out, err := b.test(ctx, binary, p)
		if err != nil {
			return total, err
		}
		if out.CPU += total.CPU; out.How != "" {
			return out, nil
		}
		total = out
	}
	return total, nil
}

var failedTest = regexp.MustCompile(`(?m)^--- FAIL: (\w+)`)

// test runs the unit tests of a package. One that fails is run once more by itself, and all if they end in another way: the
// machine may be busy, and some run in real time.
func (b *build) test(ctx context.Context, binary, directory string) (Outcome, error) {
	p := process{binary: binary, directory: filepath.Join(b.root, directory)}
	var out Outcome
	var flaky []string
	crashed := false
	for range 5 {
		p.args = []string{"-test.failfast", "-test.timeout=3m"}
		if flaky != nil {
			p.args = append(p.args, "-test.skip=^("+strings.Join(flaky, "|")+")$")
		}
		e, err := p.run(ctx)
		if err != nil {
			return out, err
		}
		if out.CPU += e.cpu.Seconds(); e.code == 0 {
			return out, nil
		}
		m := failedTest.FindSubmatch(e.stdout)
		if m == nil || e.code != 1 {
			if crashed {
				out.By, out.How = directory, e.crash()
				return out, nil
			}
			crashed = true
			continue
		}
		p.args = []string{"-test.run=^" + string(m[1]) + "$", "-test.timeout=3m"}
		again, err := p.run(ctx)
		if err != nil {
			return out, err
		}
		if again.code != 0 {
			out.By, out.How = directory+"."+string(m[1]), "fails"
			return out, nil
		}
		flaky = append(flaky, string(m[1]))
	}
	return out, fmt.Errorf("%s: these tests fail now and then: %v", directory, flaky)
}

// clone makes a build cache for one bug, of links to the files of another. What is added to it goes with it.
func clone(cache, dir string) (string, error) {
	if cache == "" {
		return "", nil
	}
	to := filepath.Join(dir, "cache")
	err := filepath.WalkDir(cache, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name, err := filepath.Rel(cache, path)
		if err != nil {
			return err
		}
		if d.IsDir() {
			return os.MkdirAll(filepath.Join(to, name), 0o777)
		}
		return os.Link(path, filepath.Join(to, name))
	})
	return to, err
}

// fill builds into the cache all that some columns need and bugs do not change.
func (b *build) fill(ctx context.Context, columns []Column) error {
	var err error
	for _, c := range columns {
		if c == Tests {
			continue
		}
		if _, made := b.runner(ctx, c); made != nil {
			return made
		}
	}
	if !slices.Contains(columns, Tests) {
		return nil
	}
	for _, p := range b.tested {
		err = errors.Join(err, b.goCommand(ctx, "test", "-c", "-o", filepath.Join(b.dir, "tests"), "./"+p))
	}
	return err
}
