// Command repeat makes the deterministic half of the table of locks again and again, each time in processes of their own, and
// compares all runs: verdicts, grades and the hashes of histories.
//
// It takes minutes for each repetition, and can be interrupted: -dir keeps what is done, one file for each lock, and the next
// call with the same redlocksim and locks makes the rest. It exits with 1 if runs differ, and with 2 if it cannot compare
// them.
package main

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"

	"redlocksim/locks"
	"redlocksim/reports/locktable"
	"redlocksim/scenarios"
)

func main() {
	r := repetitions{}
	flag.IntVar(&r.times, "times", 10, "how often to make the table")
	flag.IntVar(&r.processes, "processes", 2, "how many processes to have at a time")
	flag.StringVar(&r.dir, "dir", "redlocksim-repeat", "the directory that keeps what is done")
	flag.StringVar(&r.filter, "filter", "", "only scenarios whose name matches this regular expression")
	only := flag.String("only", "", "only these locks, by the names of their directories, with commas between them (default: all that run in the simulator)")
	flag.Parse()
	if *only != "" {
		r.only = strings.Split(*only, ",")
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	differences, err := r.run(ctx)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(2)
	}
	for _, d := range differences {
		fmt.Println(d)
	}
	if differences != nil {
		os.Exit(1)
	}
}

// repetitions is what is asked for.
type repetitions struct {
	times, processes int
	dir, filter      string
	only             []string
}

// run makes what is missing, and returns in what the repetitions differ.
func (r *repetitions) run(ctx context.Context) (differences []string, err error) {
	if r.times < 2 || r.processes < 1 {
		return nil, errors.New("-times must be 2 or more, and -processes 1 or more")
	}
	names, err := r.names()
	if err != nil {
		return nil, err
	}
	if err := os.MkdirAll(r.dir, 0o777); err != nil {
		return nil, err
	}
	program, err := r.build(ctx)
	if err != nil {
		return nil, err
	}
	inputs, err := r.inputs(program, names)
	if err != nil {
		return nil, err
	}
	if err := r.keep(inputs); err != nil {
		return nil, err
	}
	if err := r.makeMissing(ctx, program, names); err != nil {
		return nil, err
	}
	return r.compare(os.Stdout, names)
}

// names are the locks that run in the simulator, of those that are asked for.
func (r *repetitions) names() (names []string, err error) {
	all, err := locks.Load("locks")
	if err != nil {
		return nil, err
	}
	for i := range all {
		if all[i].Tiers()[0] == scenarios.Program && (r.only == nil || slices.Contains(r.only, all[i].Name)) {
			names = append(names, all[i].Name)
		}
	}
	if len(names) == 0 || r.only != nil && len(names) != len(r.only) {
		return nil, fmt.Errorf("-only: of %q these run in the simulator: %q", r.only, names)
	}
	return names, nil
}

// build builds redlocksim.
func (r *repetitions) build(ctx context.Context) (program string, err error) {
	program = filepath.Join(r.dir, "redlocksim")
	if said, err := exec.CommandContext(ctx, "go", "build", "-trimpath", "-o", program, "./cmd/redlocksim").CombinedOutput(); err != nil {
		return "", fmt.Errorf("building redlocksim: %w\n%s", err, said)
	}
	return filepath.Abs(program)
}

// inputs is the hash of all that the runs depend on.
func (r *repetitions) inputs(program string, names []string) (string, error) {
	paths := []string{program}
	for _, pattern := range []string{"lockprogram/*.go", "lockprogram/*/*.go"} {
		found, err := filepath.Glob(pattern)
		if err != nil {
			return "", err
		}
		paths = append(paths, found...)
	}
	for _, name := range names {
		for _, pattern := range []string{"*.go", "go.*", locks.File} {
			found, err := filepath.Glob(filepath.Join("locks", name, pattern))
			if err != nil {
				return "", err
			}
			paths = append(paths, found...)
		}
	}
	hash := sha256.New()
	fmt.Fprintf(hash, "%q\n", r.filter)
	for _, path := range paths {
		data, err := os.ReadFile(path)
		if err != nil {
			return "", err
		}
		fmt.Fprintf(hash, "%q %d\n", filepath.Base(path), len(data))
		hash.Write(data)
	}
	return fmt.Sprintf("%x", hash.Sum(nil)), nil
}

// keep refuses a directory whose runs are of something else, and notes what they are of in one that has none.
func (r *repetitions) keep(inputs string) error {
	file := filepath.Join(r.dir, "inputs")
	text, err := os.ReadFile(file)
	switch {
	case errors.Is(err, os.ErrNotExist):
		return os.WriteFile(file, []byte(inputs+"\n"), 0o666)
	case err != nil:
		return err
	case strings.TrimSpace(string(text)) != inputs:
		return fmt.Errorf("%s has runs of another redlocksim, other locks or another -filter: remove it, or name another -dir", r.dir)
	}
	return nil
}

// file is where the cells of a lock are in one of the repetitions, from 1.
func (r *repetitions) file(time int, name string) string {
	return filepath.Join(r.dir, fmt.Sprintf("%02d-%s.json", time, name))
}

// makeMissing makes what is not kept yet, with as many processes at a time as are asked for.
func (r *repetitions) makeMissing(ctx context.Context, program string, names []string) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	free := make(chan struct{}, r.processes)
	var all sync.WaitGroup
	for n := 1; n <= r.times; n++ {
		for _, name := range names {
			if _, err := os.Stat(r.file(n, name)); err == nil {
				continue
			}
			free <- struct{}{}
			all.Go(func() {
				defer func() { <-free }()
				if err := r.make(ctx, program, n, name); err != nil {
					cancel(err)
				}
			})
		}
	}
	all.Wait()
	return context.Cause(ctx)
}

// make makes the cells of a lock once, in a process of its own, which compiles the lock anew.
func (r *repetitions) make(ctx context.Context, program string, n int, name string) error {
	if ctx.Err() != nil {
		return nil
	}
	cmd := exec.CommandContext(ctx, program, "locks", "--tier", "program", "--only", name, "--filter", r.filter, "--markdown", "", "--html", "", "--json", r.file(n, name))
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	var said bytes.Buffer
	cmd.Stderr = &said
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("repetition %d of %s: %w\n%s", n, name, err, said.String())
	}
	fmt.Printf("repetition %d of %s is done\n", n, name)
	return nil
}

// compare says in what repetitions differ from the first, and how much was compared.
func (r *repetitions) compare(w io.Writer, names []string) (differences []string, err error) {
	compared := 0
	for _, name := range names {
		first, err := cells(r.file(1, name))
		if err != nil {
			return nil, err
		}
		for i := range first {
			if first[i].HistoryHash != "" {
				compared++
			}
		}
		for n := 2; n <= r.times; n++ {
			again, err := cells(r.file(n, name))
			if err != nil {
				return nil, err
			}
			differences = append(differences, differ(first, again, n)...)
		}
	}
	if compared == 0 {
		return nil, errors.New("no case applies: nothing was compared")
	}
	if differences == nil {
		fmt.Fprintf(w, "%d repetitions of %d runs on %d locks, each lock in a process of its own: all histories are equal\n", r.times, compared, len(names))
	}
	return differences, nil
}

// cells reads the cells of a lock.
func cells(file string) ([]locktable.Cell, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	var d locktable.Document
	if err := json.Unmarshal(text, &d); err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	return d.Cells, nil
}

// differ says in what the cells of repetition n differ from those of the first.
func differ(first, again []locktable.Cell, n int) (differences []string) {
	if len(first) != len(again) {
		return []string{fmt.Sprintf("repetition %d has %d cells, and the first %d", n, len(again), len(first))}
	}
	for i, a := range first {
		b := again[i]
		if a.Case != b.Case || a.Settings != b.Settings || a.Verdict != b.Verdict || a.HistoryHash != b.HistoryHash || !slices.Equal(a.Grade, b.Grade) {
			differences = append(differences, fmt.Sprintf("%s, %s, %s: repetition %d is %s %v, history %s; the first %s %v, history %s",
				a.Lock, a.Settings, a.Case, n, b.Verdict, b.Grade, b.HistoryHash, a.Verdict, a.Grade, a.HistoryHash))
		}
	}
	return differences
}
