package main

import (
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"redlocksim/reports/timeline"
	"redlocksim/reports/why"
	"redlocksim/scenarios"
	"redlocksim/scenarios/verdict"
	"redlocksim/sim/history"
)

// judged is a run with the command that repeats it.
type judged struct {
	*verdict.Result
	repeat   string
	timeline *timeline.Timeline // once it was drawn
	why      *why.Explanation   // nil if nobody asked
	variant  int                // of its remedies, from 1
}

// drawn is the timeline of the run, which is made once more for that.
func (j *judged) drawn() (*timeline.Timeline, error) {
	if j.timeline != nil {
		return j.timeline, nil
	}
	var err error
	j.timeline, err = timeline.Of(j.Result, j.repeat)
	return j.timeline, err
}

// drawnBy is a report that draws the timeline of a run.
func drawnBy(draw func(io.Writer, *timeline.Timeline) error) func(io.Writer, *judged) error {
	return func(w io.Writer, j *judged) error {
		t, err := j.drawn()
		if err != nil {
			return err
		}
		return draw(w, t)
	}
}

// runReports are the files that run writes besides its report.
var runReports = []fileReport[*judged]{
	{"history", "write the history to this file, as JSON Lines", func(w io.Writer, j *judged) error {
		return history.Encode(w, j.History)
	}},
	{"write", "write the scenario with a remedy that --why found to this file", writeVariant},
	{"html", "write an interactive timeline to this file", drawnBy(timeline.WriteHTML)},
	{"svg", "write the timeline to this file, as an SVG image", drawnBy(timeline.WriteSVG)},
}

// outputs are what the run command writes besides its report.
type outputs struct {
	sink
	fileReports[*judged]
}

// check looks, before anything is run, whether the files can be written: by one run each, and where they are to be.
func (o *outputs) check(arg string, found []*scenarios.Scenario) error {
	targets := o.targets()
	if len(found) > 1 && len(targets) > 0 {
		return fmt.Errorf("%s: %w", targets[0].flag, severalCases(arg, found))
	}
	return o.sink.check(targets...)
}

// report is where the report goes: to standard error if standard output is taken.
func (o *outputs) report(cmd *cobra.Command) io.Writer {
	if o.takeStdout() {
		return cmd.ErrOrStderr()
	}
	return cmd.OutOrStdout()
}

// write writes the files of a run.
func (o *outputs) write(j *judged) error {
	if j.Lost() { // there is nothing to draw
		return nil
	}
	return o.fileReports.write(&o.sink, j)
}
