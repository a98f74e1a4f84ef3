package main

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"redlocksim/mutants"
)

// buildKind is how a runner is built.
type buildKind int

const (
	// quick is for few runs: without optimization and debug information a build takes a third of the time.
	quick buildKind = iota
	// optimized is for measuring processor time, and for searches that are to make many runs in theirs.
	optimized
	// racing has a race detector. Goroutines run at the same time on tier live.
	racing
)

// buildFlags are the flags of each kind.
var buildFlags = map[buildKind][]string{
	quick:     {"-ldflags=-s -w", "-gcflags=redlocksim/...=-N -l"},
	optimized: {"-ldflags=-s -w"},
	racing:    {"-race"},
}

// build makes and runs the binaries for one bug, or for none, in a directory of its own.
type build struct {
	root, dir, overlay string
	made               map[buildKind]string // runners
}

// newBuild plants a bug; one without edits is none. The directory is removed by remove.
func newBuild(root string, m mutants.Mutant) (b *build, remove func(), err error) {
	b = &build{made: map[buildKind]string{}}
	if b.root, err = filepath.Abs(root); err != nil {
		return nil, nil, err
	}
	if b.dir, err = os.MkdirTemp("", "mutant"); err != nil {
		return nil, nil, err
	}
	remove = func() { os.RemoveAll(b.dir) }
	if len(m.Edits) > 0 {
		if b.overlay, err = m.Overlay(b.root, b.dir); err != nil {
			remove()
		}
	}
	return b, remove, err
}

// goCommand runs the go command with the bug in place. Building is not counted as processor time.
func (b *build) goCommand(ctx context.Context, command string, args ...string) error {
	args = append([]string{command}, args...)
	if b.overlay != "" {
		args = slices.Insert(args, 1, "-overlay", b.overlay)
	}
	cmd := exec.CommandContext(ctx, "go", args...)
	cmd.Dir = b.root
	out, err := cmd.CombinedOutput()
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if err != nil {
		return fmt.Errorf("go %s: %w\n%s", strings.Join(args, " "), err, out)
	}
	return nil
}

// runner makes a runner.
func (b *build) runner(ctx context.Context, kind buildKind) (string, error) {
	if b.made[kind] == "" {
		to := filepath.Join(b.dir, fmt.Sprint("runner-", len(b.made)))
		args := append([]string{"-o", to, "-buildvcs=false"}, buildFlags[kind]...)
		if err := b.goCommand(ctx, "build", append(args, "./mutants/runner")...); err != nil {
			return "", err
		}
		b.made[kind] = to
	}
	return b.made[kind], nil
}

// try has a trial try to notice the bug.
func (b *build) try(ctx context.Context, t trial) (outcome, error) {
	if len(t.tests) > 0 {
		return b.tests(ctx, t.tests)
	}
	p, err := b.process(ctx, t)
	if err != nil {
		return outcome{}, err
	}
	e, err := p.run(ctx)
	if err != nil {
		return outcome{}, err
	}
	return e.outcome()
}

// process is the runner of a trial.
func (b *build) process(ctx context.Context, t trial) (p process, err error) {
	if p.binary, err = b.runner(ctx, t.kind); err != nil {
		return p, err
	}
	if p.args, p.environment = slices.Clone(t.args), []string{"GOMAXPROCS=1"}; t.kind == racing {
		p.spacious, p.environment = true, []string{"GORACE=halt_on_error=1"}
	}
	if t.cpu > 0 {
		p.args = append(p.args, "-cpu", t.cpu.String())
	}
	if len(t.settings) > 0 {
		p.stdin, err = json.Marshal(t.settings)
	}
	return p, err
}

// tests runs unit tests until one fails twice.
func (b *build) tests(ctx context.Context, tests []mutants.Test) (total outcome, err error) {
	for _, t := range tests {
		binary := filepath.Join(b.dir, "tests")
		if err := b.goCommand(ctx, "test", "-c", "-o", binary, "./"+t.Package); err != nil {
			return total, err
		}
		out, err := b.test(ctx, binary, t)
		if out.CPU += total.CPU; err != nil || out.How != "" {
			return out, err
		}
		total = out
	}
	return total, nil
}

var failedTest = regexp.MustCompile(`(?m)^--- FAIL: (\w+)`)

// test runs a unit test, or those of a package. One that fails is run once more by itself, and all if they end in another way:
// the machine may be busy, and some run in real time. It is an error if a test that is named does not run, or is skipped, as
// without redis-server: it says nothing then.
func (b *build) test(ctx context.Context, binary string, t mutants.Test) (out outcome, err error) {
	var flaky []string
	for range 5 {
		p := process{binary: binary, directory: filepath.Join(b.root, t.Package), args: []string{"-test.failfast", "-test.timeout=3m"}}
		if t.Name != "" {
			p.args = append(p.args, "-test.v", "-test.run=^"+t.Name+"$")
		}
		if flaky != nil {
			p.args = append(p.args, "-test.skip=^("+strings.Join(flaky, "|")+")$")
		}
		e, err := p.run(ctx)
		if err != nil {
			return out, err
		}
		if t.Name != "" && (!bytes.Contains(e.stdout, []byte("=== RUN   "+t.Name+"\n")) || bytes.Contains(e.stdout, []byte("--- SKIP"))) {
			return out, fmt.Errorf("%v did not run:\n%s%s", t, e.stdout, e.stderr)
		}
		if out.CPU += e.cpu; e.code == 0 {
			return out, nil
		}
		by, how, failed := t.Package, "", failedTest.FindSubmatch(e.stdout)
		if failed != nil && e.code == 1 {
			by, how = t.Package+"."+string(failed[1]), "fails"
			p.args = []string{"-test.timeout=3m", "-test.run=^" + cmp.Or(t.Name, string(failed[1])) + "$"}
		}
		again, err := p.run(ctx)
		switch {
		case err != nil:
			return out, err
		case again.code != 0:
			out.By, out.How = by, cmp.Or(how, again.crash())
			return out, nil
		case how == "":
			return out, nil
		}
		flaky = append(flaky, string(failed[1]))
	}
	return out, fmt.Errorf("%s: these tests fail now and then: %v", t.Package, flaky)
}
