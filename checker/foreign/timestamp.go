package foreign

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/shopspring/decimal"
)

// timestamp reads a time: a number, or a date as RFC 3339 and logs write it. All of a history are of one kind.
func (r *reader) timestamp(n *node, line int) (int64, error) {
	written := string(r.s.textOf(n))
	q, err := numberOf(written)
	dated := n.kind == text && err != nil
	if n.kind != text && n.kind != number {
		return 0, notOperation("time: neither a number nor a date")
	}
	if first := &r.firstTime; first.line == 0 {
		*first, r.dated = position{max(0, int32(len(r.r.files))-1), int32(line)}, dated
	} else if dated != r.dated {
		kinds := map[bool]string{true: "a date", false: "a number"}
		return 0, notOperation("the time is %s, but that of %s is %s",
			kinds[dated], r.r.onLine(first.file, first.line, noIndex), kinds[!dated])
	}
	var t int64
	if dated {
		t, err = r.date(written, line)
	} else if err == nil {
		t, err = r.count(q, line)
	}
	if err != nil {
		return 0, notOperation("time: %v", err)
	}
	return t, nil
}

// dates are the ways in which logs write a date, besides RFC 3339. A fraction of the second is read with any of them.
var dates = []string{
	time.RFC3339, "2006-01-02T15:04:05Z0700", "2006-01-02T15:04:05Z07", "2006-01-02T15:04:05 Z0700",
	"2006-01-02T15:04:05 Z07:00",
	"2006-01-02T15:04:05 Z0700 UTC", "2006-01-02T15:04:05 UTC", zoneless,
}

const zoneless = "2006-01-02T15:04:05"

// date is the nanoseconds since 1970 of a date.
func (r *reader) date(written string, line int) (int64, error) {
	// RFC 3339 allows t and z, and a space for the T. Some write a comma before the fraction; Java writes
	// [Europe/Berlin] behind the zone, and Go the monotonic clock.
	form := strings.ToUpper(written)
	form, _, _ = strings.Cut(form, "[")
	form, _, _ = strings.Cut(form, " M=")
	if len(form) > len("2006-01-02") && form[len("2006-01-02")] == ' ' {
		form = form[:len("2006-01-02")] + "T" + form[len("2006-01-02")+1:]
	}
	t, err := time.Parse(dates[r.clock.layout], form)
	for i := 0; err != nil && i < len(dates); i++ {
		if t, err = time.Parse(dates[i], form); err == nil {
			r.clock.layout = i
		}
	}
	zoned := dates[r.clock.layout] != zoneless
	digits := 0
	if at := strings.IndexAny(form, ".,"); at >= 0 {
		digits = len(form[at+1:]) - len(strings.TrimLeft(form[at+1:], "0123456789"))
	}
	switch {
	case err != nil:
		return 0, fmt.Errorf("%.40q is neither a number nor a date, as 2026-11-25T12:00:00.123456789Z", written)
	case digits > 9:
		return 0, fmt.Errorf("%.40q is more exact than nanoseconds", written)
	case t.Before(time.Unix(0, math.MinInt64)) || t.After(time.Unix(0, math.MaxInt64)):
		return 0, fmt.Errorf("%.40q is not between the years 1678 and 2262", written)
	case !zoned && r.several:
		return 0, fmt.Errorf("%.40q has no zone, which files of several machines need to be merged: "+
			"write Z or +01:00 behind it", written)
	}
	if c := &r.clock; c.firstLine == 0 {
		c.firstLine, c.zoned = int32(line), zoned
	} else if c.zoned != zoned {
		return 0, fmt.Errorf("%.40q and the date on line %d have not both a zone, and cannot be compared",
			written, c.firstLine)
	}
	return t.UnixNano(), nil
}

// clock is how the times of one file count.
type clock struct {
	firstLine int32 // 0 before the first time

	// Of numbers: unit is what they count, and recognized says that the first number tells, as that many have passed
	// since 1970.
	unit       time.Duration
	recognized bool
	first      quantity
	fractions  bool // some have one

	// Of dates: layout is the way in which the last one was written, and zoned whether they have a zone.
	layout int
	zoned  bool
}

// since1970 reports whether numbers count from 1970.
func (c *clock) since1970() bool { return c.unit != 0 && c.first.since1970(c.unit) }

// epochs are the units in which times since 1970 are counted, besides nanoseconds.
var epochs = []time.Duration{time.Second, time.Millisecond, time.Microsecond}

// The years in which histories are recorded, and for how long at most. Nanoseconds that count from elsewhere are taken
// for seconds, or milliseconds, only if they begin at 1.2 to 2.5 s and go on for less than 95 ms, or at 21 to 42 min
// and for 95 s.
var (
	earliest = time.Date(2010, 1, 1, 0, 0, 0, 0, time.UTC).Unix()
	latest   = time.Date(2050, 1, 1, 0, 0, 0, 0, time.UTC).Unix()
)

const longestRecording = 3 * 365 * 24 * time.Hour

// epoch is the unit in which a number is a time of these years; 0 if in none.
func (q quantity) epoch() time.Duration {
	for _, unit := range epochs {
		if q.since1970(unit) {
			return unit
		}
	}
	return 0
}

func (q quantity) since1970(unit time.Duration) bool {
	per := int64(time.Second / unit)
	return q.Cmp(decimal.New(earliest*per, 0)) >= 0 && q.Cmp(decimal.New(latest*per, 0)) < 0
}

// near reports whether two times, each in its unit, can be of one recording.
func (q quantity) near(unit time.Duration, other quantity, otherUnit time.Duration) bool {
	a, _ := q.in(unit)
	b, _ := other.in(otherUnit)
	return max(a-b, b-a) <= int64(longestRecording)
}

// count is the nanoseconds of a time that is a number. Unless the options say what it counts, that is nanoseconds, or
// since 1970 the unit that the first one of the file shows. If later ones show that it was none of these years, what
// was read is counted again, as nanoseconds.
func (r *reader) count(q quantity, line int) (int64, error) {
	c := &r.clock
	if r.o.Unit == 0 {
		c.fractions = c.fractions || !q.IsInteger()
		if err := r.recognize(q, line); err != nil {
			return 0, err
		}
	} else if c.unit = r.o.Unit; c.firstLine == 0 {
		c.first, c.firstLine = q, int32(line)
	}
	t, fits := q.in(c.unit)
	if !fits {
		return 0, fmt.Errorf("too large a number of %s", unitName(c.unit))
	}
	return t, nil
}

// recognize finds the unit of times that are numbers.
func (r *reader) recognize(q quantity, line int) error {
	const ask = "say what the times count (--unit s, ms, us or ns)"
	c, unit := &r.clock, q.epoch()
	switch {
	case c.unit == 0:
		c.unit, c.recognized, c.first, c.firstLine = max(unit, time.Nanosecond), unit != 0, q, int32(line)
	case !c.recognized:
	case unit == c.unit && q.near(unit, c.first, unit):
	case unit != 0 && q.near(unit, c.first, c.unit):
		return fmt.Errorf("it looks like %s since 1970, but that on line %d like %s; all must be of one unit",
			unitName(unit), c.firstLine, unitName(c.unit))
	case c.fractions:
		return fmt.Errorf("it cannot be %s since 1970, as that on line %d; %s", unitName(c.unit), c.firstLine, ask)
	default:
		r.recount(c.unit)
		c.unit, c.recognized = time.Nanosecond, false
	}
	if c.unit == time.Nanosecond && !q.IsInteger() {
		return fmt.Errorf("a number with a fraction; %s", ask)
	}
	return nil
}

// recount takes back that the times of the file that is being read counted this unit: they are nanoseconds.
func (r *reader) recount(unit time.Duration) {
	for i := r.begun; i < len(r.entries); i++ {
		r.entries[i].time /= int64(unit)
	}
	for i := range r.r.times {
		r.r.times[i] /= int64(unit)
	}
	r.last /= int64(unit)
	r.lastInFile /= int64(unit)
}

func unitName(unit time.Duration) string {
	return map[time.Duration]string{
		time.Nanosecond: "nanoseconds", time.Microsecond: "microseconds", time.Millisecond: "milliseconds",
		time.Second: "seconds",
	}[unit]
}

// closeClock ends the reading of a file's times. Files that count from different beginnings cannot be merged.
func (r *reader) closeClock() error {
	c := r.clock
	r.clock = clock{}
	since1970 := r.dated || c.since1970()
	note := ""
	switch {
	case c.firstLine == 0:
		return nil
	case r.dated && !c.zoned:
		note = "the dates have no zone, and are taken to be of the same"
	case c.recognized:
		note = fmt.Sprintf("times are taken for %s since 1970; --unit says otherwise", unitName(c.unit))
	case !since1970 && r.o.Unit == 0:
		r.assumed = true
	}
	if r.several && note != "" {
		note = r.r.files[len(r.r.files)-1] + ": " + note
	}
	if note != "" {
		r.r.notes = append(r.r.notes, note)
	}
	if first := r.firstTime.file; r.several && int(first) != len(r.r.files)-1 && since1970 != r.r.dated {
		return &InputError{Line: int(c.firstLine), Err: mixedUp("the times of this file and of %s "+
			"do not count from the same moment, of which one is 1970", r.r.nameOf(first))}
	}
	r.r.dated = since1970
	return nil
}

// plausible refuses times that cannot be in nanoseconds, which they are taken for. A lease that is many times as long
// as the history would never end in it, and one that is longer at all not in a history whose calls mostly take less
// than a microsecond.
func (r *reader) plausible() error {
	if !r.assumed || len(r.r.times) == 0 {
		return nil
	}
	span := uint64(r.r.times[len(r.r.times)-1]) - uint64(r.r.times[0])
	var lease int64
	var calls []int64
	for i := range r.r.ops {
		o := &r.r.ops[i]
		if lease = max(lease, o.lease); o.outcome == ok {
			calls = append(calls, r.r.times[o.ret]-r.r.times[o.call])
		}
	}
	slices.Sort(calls)
	fast := len(calls) > 0 && calls[len(calls)/2] < int64(10*time.Microsecond) && lease >= int64(time.Millisecond)
	what := ""
	switch {
	case span < uint64(lease) && (fast || span < uint64(lease)/100):
		what = fmt.Sprintf("a lease lasts %v", time.Duration(lease))
	case r.o.ClockError > 0 && span <= uint64(r.o.ClockError):
		what = fmt.Sprintf("clocks may differ by %v", r.o.ClockError)
	default:
		return nil
	}
	return fmt.Errorf("%w: if its times are nanoseconds, the whole history lasts %v, and %s; say what the times count "+
		"(--unit s, ms or us; ns if it is so)", ErrOptions, time.Duration(min(span, math.MaxInt64)), what)
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
