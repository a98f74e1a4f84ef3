package foreign

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/shopspring/decimal"
)

// quantity is a number as it is written.
type quantity struct{ decimal.Decimal }

// longestNumber is more digits than any time or length has.
const longestNumber = 100

// numberOf reads a whole number or one with a fraction, and the N or M that Clojure writes behind some.
func numberOf(written string) (quantity, error) {
	written = strings.TrimRight(written, "NM")
	if len(written) > longestNumber {
		return quantity{}, errors.New("too large a number")
	}
	if at := strings.IndexAny(written, "eE"); at >= 0 && (at+4 < len(written) || strings.HasPrefix(written[at+1:], "-")) {
		return quantity{}, errors.New("not a number that can be read")
	}
	d, err := decimal.NewFromString(written)
	if err != nil || strings.HasPrefix(written, "+") {
		return quantity{}, errors.New("not a number that can be read")
	}
	return quantity{d}, nil
}

// in is the number in nanoseconds, if it counts units; false if that is more than 64 bits hold. What is finer than
// nanoseconds is cut off.
func (q quantity) in(unit time.Duration) (int64, bool) {
	n := q.Mul(decimal.New(int64(unit), 0)).BigInt()
	return n.Int64(), n.IsInt64()
}

// errNoLength is the error of what is no length of time at all.
var errNoLength = errors.New("no length of time")

// maxLength bounds a length of time: what is longer is meant otherwise, as the number of a lease is.
const maxLength = 50 * 365 * 24 * time.Hour

// length reads a length of time: a text with a unit, as 30s, "500 ms" and PT1M30S, or a number. Of a number the unit is
// that of its field, or else the one that the options give.
func (r *reader) length(d *datum, unit time.Duration) (time.Duration, error) {
	if unit == 0 {
		unit = r.o.Unit
	}
	if d.kind != number && d.kind != text && d.kind != keyword {
		return 0, errNoLength
	}
	value, err := numberOf(d.text)
	if err != nil {
		return textLength(d.text)
	}
	length, fits := value.in(max(unit, 1))
	switch {
	case !fits || time.Duration(length) > maxLength:
		return 0, fmt.Errorf("%.40s is %w", d.text, errNoLength)
	case value.IsNegative() || length == 0:
		return 0, fmt.Errorf("%.40s is not above 0; leave it out where the lease has the length that --lease gives", d.text)
	case unit == 0:
		return 0, fmt.Errorf("%.40s has no unit; say which (--unit ms), or write 30s, or call the field ttl_ms", d.text)
	}
	return time.Duration(length), nil
}

// textLength reads a length of time with a unit.
func textLength(written string) (time.Duration, error) {
	short := strings.TrimPrefix(plain(written), "pt")
	length, err := time.ParseDuration(short)
	if err != nil {
		digits := strings.TrimLeft(short, "0123456789.")
		value, wrong := numberOf(strings.TrimSuffix(short, digits))
		number, fits := value.in(units[digits])
		if length = time.Duration(number); wrong != nil || !fits {
			length = 0
		}
	}
	if length <= 0 || length > maxLength {
		return 0, fmt.Errorf("%.40q is %w", written, errNoLength)
	}
	return length, nil
}

// clock is how the times of one file count.
type clock struct {
	first position // none before the first time
	// Of numbers: fraction is the first that has one, and cannot be nanoseconds.
	fraction position
	zoned    bool // of dates: they have a zone
}

// timestamp reads a time: a number, or a date as RFC 3339 and logs write it. All of a history are of one kind.
func (r *reader) timestamp(d *datum, l *line) (t int64, err error) {
	q, err := numberOf(d.text)
	dated := d.kind == text && err != nil
	if d.kind != text && d.kind != number {
		return 0, notOperation("time: neither a number nor a date")
	}
	if r.firstTime.line == 0 {
		r.firstTime, r.dated = l.position, dated
	} else if dated != r.dated {
		kinds := map[bool]string{true: "a date", false: "a number"}
		return 0, notOperation("the time is %s, but that of %s is %s", kinds[dated], r.where(r.firstTime, noIndex), kinds[!dated])
	}
	if dated {
		t, err = r.date(d.text, l)
	} else if err == nil {
		t, err = r.count(q, l)
	}
	if err != nil {
		return 0, notOperation("time: %v", err)
	}
	if r.clock.first.line == 0 {
		r.clock.first = l.position
	}
	return t, nil
}

// dates are written as in RFC 3339, which allows t and z and a space for the T, or as logs do it: with a comma before the
// fraction, a zone with less colons, and Java's [Europe/Berlin] or Go's monotonic clock behind it.
var dates = regexp.MustCompile(`^(\d{4}-\d\d-\d\d)[Tt ](\d\d:\d\d:\d\d)(?:[.,](\d+))? ?(?:([Zz]|UTC)|([-+]\d\d):?(\d\d)?)?(?: UTC)?(?: m=.*|\[.*)?$`)

// date is the nanoseconds since 1970 of a date.
func (r *reader) date(written string, l *line) (int64, error) {
	m := dates.FindStringSubmatch(written)
	if m == nil {
		m = make([]string, 7)
	}
	day, second, fraction, utc, hours, minutes := m[1], m[2], m[3], m[4], m[5], m[6]
	zone := "Z"
	if hours != "" {
		zone = hours + ":" + cmp.Or(minutes, "00")
	}
	t, err := time.Parse(time.RFC3339, day+"T"+second+"."+cmp.Or(fraction, "0")+zone)
	c, zoned := &r.clock, utc != "" || hours != ""
	switch {
	case err != nil:
		return 0, fmt.Errorf("%.40q is neither a number nor a date, as 2026-11-25T12:00:00.123456789Z", written)
	case len(fraction) > 9:
		return 0, fmt.Errorf("%.40q is more exact than nanoseconds", written)
	case t.Before(time.Unix(0, math.MinInt64)) || t.After(time.Unix(0, math.MaxInt64)):
		return 0, fmt.Errorf("%.40q is not between the years 1678 and 2262", written)
	case !zoned && r.several():
		return 0, fmt.Errorf("%.40q has no zone, which files of several machines need to be merged: "+
			"write Z or +01:00 behind it", written)
	case c.first.line == 0:
		c.zoned = zoned
	case c.zoned != zoned:
		return 0, fmt.Errorf("%.40q and the date on line %d have not both a zone, and cannot be compared", written, c.first.line)
	}
	return t.UnixNano(), nil
}

// The years in which histories are recorded, and for how long at most. Nanoseconds that count from elsewhere are taken
// for seconds, or milliseconds, only if they begin at 1.2 to 2.5 s and go on for less than 95 ms, or at 21 to 42 min
// and for 95 s.
var (
	earliest = time.Date(2010, 1, 1, 0, 0, 0, 0, time.UTC).Unix()
	latest   = time.Date(2050, 1, 1, 0, 0, 0, 0, time.UTC).Unix()
)

const longestRecording = 3 * 365 * 24 * time.Hour

// count is the nanoseconds of a time that is a number. Unless the options say what it counts, that is a guess: of a number
// that, counted from 1970, is in these years.
func (r *reader) count(q quantity, l *line) (int64, error) {
	unit := r.o.Unit
	for i, n := range numbered[1:] {
		per := int64(time.Second / n.unit)
		if r.o.Unit == 0 && q.Cmp(decimal.New(earliest*per, 0)) >= 0 && q.Cmp(decimal.New(latest*per, 0)) < 0 {
			l.guess, unit = uint8(i+1), n.unit
		}
	}
	if unit <= time.Nanosecond && !q.IsInteger() {
		return 0, errFraction
	}
	if r.clock.fraction.line == 0 && !q.IsInteger() {
		r.clock.fraction = l.position
	}
	t, fits := q.in(max(unit, time.Nanosecond))
	if !fits {
		return 0, fmt.Errorf("too large a number of %s", unitName(unit))
	}
	return t, nil
}

var errFraction = errors.New("a number with a fraction; say what the times count (--unit s, ms, us or ns)")

// settleUnit finds the unit of a file's times, the first of which stands on a line: what they all look like, 0 for that
// which the options say, or nanoseconds.
func (r *reader) settleUnit(lines []line, first *line) (guess uint8, err error) {
	guess = first.guess
	for i := range lines {
		l := &lines[i]
		if guess == 0 || !l.timed {
			continue
		}
		isNear := l.guess != 0 && max(l.time-first.time, first.time-l.time) <= int64(longestRecording)
		switch {
		case !isNear:
			guess = 0
		case l.guess != guess:
			return 0, r.located(l, notOperation("time: it looks like %s since 1970, but that on line %d like %s; all must be of one unit",
				numbered[l.guess].name, first.line, numbered[guess].name))
		}
	}
	if guess == 0 && r.o.Unit == 0 && r.clock.fraction.line != 0 {
		return 0, r.located(&line{position: r.clock.fraction, index: noIndex}, notOperation("time: %v", errFraction))
	}
	for i := range lines {
		if guess == 0 {
			lines[i].time /= int64(numbered[lines[i].guess].unit)
		}
	}
	return guess, nil
}

// closeClock ends the reading of a file's times. Files that count from different beginnings cannot be merged.
func (r *reader) closeClock(lines []line) error {
	c := &r.clock
	defer func() { r.clock = clock{} }()
	at := slices.IndexFunc(lines, func(l line) bool { return l.timed })
	if at < 0 {
		return nil
	}
	first := &lines[at]
	guess, err := r.settleUnit(lines, first)
	if err != nil {
		return err
	}
	since1970 := r.dated || first.time/1e9 >= earliest && first.time/1e9 < latest
	note := ""
	switch {
	case r.dated && !c.zoned:
		note = "the dates have no zone, and are taken to be of the same"
	case guess != 0:
		note = fmt.Sprintf("times are taken for %s since 1970; --unit says otherwise", numbered[guess].name)
	case !since1970 && r.o.Unit == 0:
		r.assumed = true
	}
	if r.several() && note != "" {
		note = r.files[r.at].Name + ": " + note
	}
	if note != "" {
		r.notes = append(r.notes, note)
	}
	if file := r.firstTime.file; file != r.at && since1970 != r.isSince1970 {
		return r.located(&line{position: c.first, index: noIndex}, mixedUp("the times of this file and of %s "+
			"do not count from the same moment, of which one is 1970", r.files[file].Name))
	}
	r.isSince1970 = since1970
	return nil
}

// plausible refuses times that cannot be in nanoseconds, which they are taken for. A lease that is many times as long
// as the history would never end in it, and one that is longer at all not in a history whose calls mostly take less
// than a microsecond.
func (r *reader) plausible() error {
	if !r.assumed {
		return nil
	}
	span := uint64(r.lines[len(r.lines)-1].time) - uint64(r.lines[0].time)
	var lease int64
	var calls []int64
	for i := range r.ops {
		o := &r.ops[i]
		if lease = max(lease, o.lease); o.outcome == ok {
			calls = append(calls, r.lines[o.ret].time-r.lines[o.call].time)
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

// written is a time as the history tells it, and when that of a line.
func (h *recording) written(t int64) string {
	if h.isSince1970 {
		return time.Unix(0, t).UTC().Format(time.RFC3339Nano)
	}
	return fmt.Sprint(t / max(1, int64(h.o.Unit)))
}

func (h *recording) when(event int32) string {
	l := &h.lines[event]
	t := l.time
	if l.typ == called {
		t += h.allowance
	} else {
		t -= h.allowance
	}
	if h.isSince1970 {
		return h.written(t)
	}
	return time.Duration(t).String()
}
