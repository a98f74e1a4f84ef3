package sweep

import (
	"encoding/csv"
	"io"
	"slices"
	"strconv"
	"strings"
)

// WriteCSV writes a line for each point or, after a bisection, for each row of the frontier, under a line of names.
func (c *Chart) WriteCSV(w io.Writer) error {
	out := csv.NewWriter(w)
	paths := c.paths()
	if c.Bisected {
		at := slices.DeleteFunc(paths, func(p string) bool { return p == c.Along })
		_ = out.Write(append(at, "along", "safe", "broken", "formula", "difference", "agrees", "explained", "note"))
		for _, r := range c.Frontier {
			_ = out.Write(append(slices.Clone(r.At), c.Along, r.Safe, r.Broken, r.Formula, r.Difference, string(r.Agrees), r.Explained, r.Note))
		}
		out.Flush()
		return out.Error()
	}
	_ = out.Write(append(paths, "verdict", "broken_by", "schedules", "runs", "violations", "ci95_low", "ci95_high",
		"unavailable_ns", "acquires", "refused", "acquire_p50_ns", "acquire_p99_ns"))
	for i := range c.Cells {
		cell := &c.Cells[i]
		var by []string
		for _, b := range cell.Breaches {
			by = append(by, b.Schedule+": "+string(b.What))
		}
		runs, violations, low, high := "0", "0", "", ""
		if r := cell.Random; r != nil {
			runs, violations = strconv.Itoa(r.Runs), strconv.Itoa(r.Violations)
			low, high = strconv.FormatFloat(r.Share.Low, 'g', 6, 64), strconv.FormatFloat(r.Share.High, 'g', 6, 64)
		}
		integer := func(n int64) string { return strconv.FormatInt(n, 10) }
		_ = out.Write(append(slices.Clone(cell.At), cell.Verdict(), strings.Join(by, "; "), strconv.Itoa(len(c.Schedules)), runs, violations, low, high,
			integer(int64(cell.Unavailable)), strconv.Itoa(cell.Acquires), strconv.Itoa(cell.Refused), integer(int64(cell.P50)), integer(int64(cell.P99))))
	}
	out.Flush()
	return out.Error()
}
