package main

import (
	"fmt"
	"io"
	"os"
	"time"

	"github.com/schollz/progressbar/v3"
	"golang.org/x/term"

	"redlocksim/internal/wordwrap"
	"redlocksim/reports"
)

// lookOf is how a report looks that is written to w: as wide as the terminal and in colour if it is one, unless the
// environment has NO_COLOR (https://no-color.org) or a terminal that cannot.
func lookOf(w io.Writer) reports.Look {
	width, ok := terminalWidth(w)
	if !ok {
		return reports.Look{}
	}
	return reports.Look{Width: width, Color: os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb"}
}

// terminalWidth is how wide the terminal is that w writes to; ok is false if it is none.
func terminalWidth(w io.Writer) (width int, ok bool) {
	if d, is := w.(*delivery); is {
		w = d.w
	}
	f, is := w.(*os.File)
	if !is {
		return 0, false
	}
	width, _, err := term.GetSize(int(f.Fd()))
	return width, err == nil
}

// fitted is w; if that is a terminal, lines of reports that it is too narrow for are broken between words.
func fitted(w io.Writer) io.Writer {
	if width, ok := terminalWidth(w); ok && width > 0 {
		return fitting{w, width}
	}
	return w
}

// fitting is written to in whole lines.
type fitting struct {
	w     io.Writer
	width int
}

func (f fitting) Write(p []byte) (int, error) {
	_, err := io.WriteString(f.w, wordwrap.Report(string(p), f.width))
	return len(p), err
}

// progress is a bar with a line of figures on a terminal, and nil elsewhere. Without a number of runs it has no end.
func progress(w io.Writer, runs int) *progressbar.ProgressBar {
	f, ok := w.(*os.File)
	if !ok || !term.IsTerminal(int(f.Fd())) {
		return nil
	}
	if runs == 0 {
		runs = -1
	}
	return progressbar.NewOptions(runs, progressbar.OptionSetWriter(w), progressbar.OptionSetWidth(16),
		progressbar.OptionSetPredictTime(true), progressbar.OptionSetElapsedTime(true), progressbar.OptionUseANSICodes(true))
}

// patience is how long something takes before its progress is shown.
const patience = time.Second

// ticker shows on a terminal how much of something is done, and how long the rest will take. Its methods are called by one
// goroutine at a time.
type ticker struct {
	w        io.Writer
	n, total int
	start    time.Time
	bar      *progressbar.ProgressBar
}

func newTicker(w io.Writer, total int) *ticker { return &ticker{w: w, total: total, start: time.Now()} }

// tick says that one more is done. Where there is no terminal it shows nothing.
func (t *ticker) tick() { t.at(t.n+1, t.total) }

// at says that n of so many are done. Where the total is another one than before, something else has begun.
func (t *ticker) at(n, total int) {
	if t.total != total {
		t.done()
		t.bar, t.total = nil, total
	}
	t.n = n
	// A bar that is full when it is first drawn stays where it is: it has nothing to tell any more, and is not drawn.
	if t.bar == nil && t.n != t.total && time.Since(t.start) >= patience {
		t.bar = progress(t.w, t.total)
	}
	if t.bar != nil {
		_ = t.bar.Set(t.n) // it is only a picture
	}
}

// done takes the picture away.
func (t *ticker) done() {
	if t.bar != nil {
		_ = t.bar.Clear()
	}
}

// speed says how fast it went. It is no part of the report, which is the same every time.
func speed(w io.Writer, runs int, took time.Duration) {
	fmt.Fprintf(w, "redlocksim: %d runs in %v, %.0f a second\n", runs, took.Round(time.Millisecond), float64(runs)/took.Seconds())
}
