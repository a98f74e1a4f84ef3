package foreign

import (
	"fmt"
	"math"
	"strings"
	"time"
)

// timestamp reads a time: a number of nanoseconds, or a date as RFC 3339 writes it. All of a history are of one kind.
func (r *reader) timestamp(n *node, line int) (int64, error) {
	dated := n.kind == text
	if first := &r.firstTime; first.line == 0 {
		*first = position{max(0, int32(len(r.r.files))-1), int32(line)}
		r.r.dated = dated
	} else if dated != r.r.dated {
		kinds := map[bool]string{true: "a date", false: "a number"}
		return 0, notOperation("the time is %s, but that of %s is %s", kinds[dated], r.r.onLine(first.file, first.line, noIndex), kinds[r.r.dated])
	}
	if !dated {
		t, err := r.s.int(n)
		if err != nil {
			return 0, notOperation("time: %v", err)
		}
		return t, nil
	}
	t, err := date(string(r.s.textOf(n)))
	if err != nil {
		return 0, notOperation("time: %v", err)
	}
	return t, nil
}

// date is the nanoseconds since 1970 of a time in the form of RFC 3339.
func date(written string) (int64, error) {
	// The standard allows t and z, too, and a point only before the fraction.
	t, err := time.Parse(time.RFC3339, strings.ToUpper(written))
	_, fraction, _ := strings.Cut(written, ".")
	digits := strings.IndexFunc(fraction, func(c rune) bool { return c < '0' || c > '9' })
	switch {
	case err != nil || strings.Contains(written, ","):
		return 0, fmt.Errorf("%.40q is neither a number of nanoseconds nor a date with a zone, as 2026-11-25T12:00:00.123456789Z", written)
	case digits > 9:
		return 0, fmt.Errorf("%.40q is more exact than nanoseconds", written)
	case t.Before(time.Unix(0, math.MinInt64)) || t.After(time.Unix(0, math.MaxInt64)):
		return 0, fmt.Errorf("%.40q is not between the years 1678 and 2262", written)
	}
	return t.UnixNano(), nil
}

// when is the time of an event as the history tells it.
func (h *recording) when(event int32) string {
	t := h.times[event]
	if h.told != nil {
		t = h.told[event]
	}
	if h.dated {
		return time.Unix(0, t).UTC().Format(time.RFC3339Nano)
	}
	return time.Duration(t).String()
}
