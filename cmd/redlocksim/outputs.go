package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"redlocksim/checker"
	"redlocksim/history"
	"redlocksim/reports/timeline"
	"redlocksim/scenarios"
)

// outputs are what the run command writes besides its report: files by their paths, "-" for standard output, empty for
// none.
type outputs struct {
	history, html, svg, porcupine string
	timeline                      bool // as text, behind the report
}

// output is one of them.
type output struct {
	flag, path string
	render     func(w io.Writer, r *scenarios.Result, t *timeline.Timeline) error
}

// files are those that were asked for.
func (o *outputs) files() []output {
	all := []output{
		{"--history", o.history, func(w io.Writer, r *scenarios.Result, _ *timeline.Timeline) error {
			return history.Encode(w, r.History)
		}},
		{"--html", o.html, func(w io.Writer, _ *scenarios.Result, t *timeline.Timeline) error { return timeline.WriteHTML(w, t) }},
		{"--svg", o.svg, func(w io.Writer, _ *scenarios.Result, t *timeline.Timeline) error { return timeline.WriteSVG(w, t) }},
		{"--porcupine", o.porcupine, func(w io.Writer, r *scenarios.Result, _ *timeline.Timeline) error {
			return checker.Visualize(w, r.History, r.Scenario.CheckOptions())
		}},
	}
	var asked []output
	for _, f := range all {
		if f.path != "" {
			asked = append(asked, f)
		}
	}
	return asked
}

// check looks, before anything is run, whether the files can be written at all: by one run each, and where they are to be.
func (o *outputs) check(scenario string, cases int) error {
	var targets []target
	for _, f := range o.files() {
		if cases > 1 {
			return &failure{exitUsage, fmt.Errorf("%s: %s has %d cases, choose one with --case", f.flag, scenario, cases)}
		}
		targets = append(targets, target{f.flag, f.path})
	}
	return checkFiles(targets...)
}

// report is where the report goes: to standard error if standard output is taken.
func (o *outputs) report(cmd *cobra.Command) io.Writer {
	for _, f := range o.files() {
		if f.path == "-" {
			return cmd.ErrOrStderr()
		}
	}
	return cmd.OutOrStdout()
}

// write writes the files of a run; repeat is the command that makes it again.
func (o *outputs) write(cmd *cobra.Command, r *scenarios.Result, repeat string) error {
	var t *timeline.Timeline
	if o.html != "" || o.svg != "" || o.timeline {
		if err := r.Record(); err != nil {
			return wrap(err)
		}
		var err error
		if t, err = timeline.Of(r, repeat); err != nil {
			return &failure{exitInternal, err}
		}
	}
	if o.timeline {
		out := o.report(cmd)
		fmt.Fprintln(out)
		if err := timeline.WriteText(out, t, widthOf(out)); err != nil {
			return &failure{exitInternal, err}
		}
	}
	for _, f := range o.files() {
		var b bytes.Buffer
		switch err := f.render(&b, r, t); {
		case errors.Is(err, checker.ErrNotVisual):
			return &failure{exitUsage, fmt.Errorf("%s: %w", f.flag, err)}
		case err != nil:
			return &failure{exitInternal, fmt.Errorf("internal error: %s: %w", f.flag, err)}
		}
		if err := put(cmd.OutOrStdout(), f.path, b.Bytes()); err != nil {
			return cannotWrite(f.flag, err)
		}
	}
	return nil
}

// widthOf is how wide a terminal is, or what is no terminal.
func widthOf(w io.Writer) int {
	if width, ok := terminalWidth(w); ok && width > 0 {
		return width
	}
	return timeline.TerminalWidth
}

// put writes a file, all of it or nothing: what was there stays until all is written. What is no regular file, such as a
// pipe, is written to as it is.
func put(stdout io.Writer, path string, data []byte) error {
	if input := inputAt(path); path != "-" && input != "" {
		return &failure{exitUsage, fmt.Errorf("%s is the input %s, which is not replaced", path, input)}
	}
	if err := replace(stdout, path, data); err != nil {
		return &notWritten{naming(path, err)}
	}
	return nil
}

func replace(stdout io.Writer, path string, data []byte) (err error) {
	if path == "-" {
		_, err = stdout.Write(data)
		return err
	}
	mode := os.FileMode(0o666)
	switch info, err := os.Stat(path); {
	case err != nil:
	case !info.Mode().IsRegular():
		return os.WriteFile(path, data, 0o666)
	default:
		mode = info.Mode().Perm()
		if path, err = filepath.EvalSymlinks(path); err != nil {
			return err
		}
		// Who may not write to a file may be allowed to replace it, and does not expect to.
		f, err := os.OpenFile(path, os.O_WRONLY, 0)
		if err != nil {
			return err
		}
		if err := f.Close(); err != nil {
			return err
		}
	}
	f, err := create(path, mode)
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			_ = os.Remove(f.Name()) // the first error is the one to tell
		}
	}()
	if _, err = f.Write(data); err != nil {
		_ = f.Close()
		return err
	}
	if err = f.Close(); err != nil {
		return err
	}
	return os.Rename(f.Name(), path)
}

// create makes a new file beside path, with the permissions that path itself would get.
func create(path string, mode os.FileMode) (*os.File, error) {
	for n := 0; ; n++ {
		name := fmt.Sprintf("%s.%d-%d.tmp", path, os.Getpid(), n)
		f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
		if !errors.Is(err, os.ErrExist) || n == 100 {
			return f, err
		}
	}
}
