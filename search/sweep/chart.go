package sweep

import (
	"fmt"
	"io"
	"strings"

	"redlocksim/internal/mark"
	"redlocksim/scenarios/reach"
	"redlocksim/search"
)

// Chart is what a sweep found.
type Chart struct {
	Name string `json:"name"`
	// Lock is somebody's lock, of which it is a chart; empty if it is one of the protocol.
	Lock string `json:"lock,omitempty"`
	// Axes are as in the Spec, with the values as words.
	Axes []ChartAxis `json:"axes"`
	// Yours is where somebody's own settings are, as a value for each axis, empty where they have none; nil if the chart is of
	// nobody's.
	Yours []string `json:"yours,omitempty"`
	// Schedules are the names of those that were run.
	Schedules []string `json:"schedules"`
	// Cells are the points, the last axis varying the fastest; after a bisection, the two on either side of each frontier.
	Cells []Cell `json:"cells"`
	// Along is the path of the axis of the frontier, the last.
	Along string `json:"frontier_along"`
	// Bisected says that Frontier is finer than the values of the axis.
	Bisected bool  `json:"bisected"`
	Frontier []Row `json:"frontier"`
	// Partial says that the sweep was interrupted: cells and rows are missing.
	Partial bool `json:"partial"`
	// Tally is what the runs of all points reached, of a bisection's too.
	reach.Tally
	// Failures are the runs that could not be made or judged.
	search.Failures
}

// Untested is how many points were not tested, and why the first one was not.
func (c *Chart) Untested() (n int, why string) {
	for i := range c.Cells {
		if cell := &c.Cells[i]; cell.Untested() {
			if n++; n == 1 {
				why = fmt.Sprintf("%s, schedule %s: %s", strings.Join(cell.At, " "), cell.NotTested[0].Schedule, cell.NotTested[0].Why)
			}
		}
	}
	return n, why
}

// Count is how many rows of the frontier agree like that with the formula.
func (c *Chart) Count(a Agreement) (n int) {
	for _, r := range c.Frontier {
		if r.Agrees == a {
			n++
		}
	}
	return n
}

// WriteJSON writes a chart as one JSON object.
func (c *Chart) WriteJSON(w io.Writer) error {
	data, err := mark.JSON(c)
	if err == nil {
		_, err = w.Write(data)
	}
	return err
}
