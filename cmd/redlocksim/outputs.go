package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"redlocksim/checker"
	"redlocksim/history"
	"redlocksim/reports/timeline"
	"redlocksim/scenarios"
)

// outputs are what the run command writes besides its report: files by their paths, "-" for standard output, empty for
// none.
type outputs struct {
	sink
	history, html, svg, porcupine string
	timeline                      bool // as text, behind the report
}

// output is one of them.
type output struct {
	target
	render func(w io.Writer, r *scenarios.Result, t *timeline.Timeline) error
}

// files are those that were asked for.
func (o *outputs) files() []output {
	all := []output{
		{file("--history", o.history), func(w io.Writer, r *scenarios.Result, _ *timeline.Timeline) error {
			return history.Encode(w, r.History)
		}},
		{file("--html", o.html), func(w io.Writer, _ *scenarios.Result, t *timeline.Timeline) error { return timeline.WriteHTML(w, t) }},
		{file("--svg", o.svg), func(w io.Writer, _ *scenarios.Result, t *timeline.Timeline) error { return timeline.WriteSVG(w, t) }},
		{file("--porcupine", o.porcupine), func(w io.Writer, r *scenarios.Result, _ *timeline.Timeline) error {
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

// check looks, before anything is run, whether the files can be written: by one run each, and where they are to be.
func (o *outputs) check(scenario string, cases int) error {
	var targets []target
	for _, f := range o.files() {
		if cases > 1 {
			return &failure{exitUsage, fmt.Errorf("%s: %s has %d cases, choose one with --case", f.flag, scenario, cases)}
		}
		targets = append(targets, f.target)
	}
	return o.sink.check(targets...)
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
		if err := o.put(f.target, b.Bytes()); err != nil {
			return err
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
