package foreign

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/shopspring/decimal"
)

// errNoLength is the error of what is no length of time at all.
var errNoLength = errors.New("no length of time")

// maxLength bounds a length of time: what is longer is meant otherwise, as the number of a lease is.
const maxLength = 50 * 365 * 24 * time.Hour

// length reads a length of time: a text with a unit, as 30s, "500 ms" and PT1M30S, or a number. Of a number the unit is
// that of its field, or else the one that the options give.
func (r *reader) length(n *node, unit time.Duration) (time.Duration, error) {
	if unit == 0 {
		unit = r.o.Unit
	}
	written := string(r.s.textOf(n))
	if n.kind != number && n.kind != text && n.kind != keyword {
		return 0, errNoLength
	}
	value, err := numberOf(written)
	if err != nil {
		return textLength(written)
	}
	length, fits := value.in(max(unit, 1))
	switch {
	case !fits || time.Duration(length) > maxLength:
		return 0, fmt.Errorf("%.40s is %w", written, errNoLength)
	case value.IsNegative() || length == 0:
		return 0, fmt.Errorf("%.40s is not above 0; leave it out where the lease has the length that --lease gives",
			written)
	case unit == 0:
		return 0, fmt.Errorf("%.40s has no unit; say which (--unit ms), or write 30s, or call the field ttl_ms",
			written)
	}
	return time.Duration(length), nil
}

// textLength reads a length of time with a unit.
func textLength(written string) (time.Duration, error) {
	short := plain(written)
	if iso, is := strings.CutPrefix(short, "pt"); is {
		short = iso
	}
	length, err := time.ParseDuration(short)
	if err != nil {
		digits := strings.TrimLeft(short, "0123456789.")
		unit, known := units[digits]
		value, wrong := numberOf(strings.TrimSuffix(short, digits))
		number, fits := value.in(max(unit, 1))
		if wrong != nil || !known || !fits {
			return 0, fmt.Errorf("%.40q is %w", written, errNoLength)
		}
		length = time.Duration(number)
	}
	if length <= 0 || length > maxLength {
		return 0, fmt.Errorf("%.40q is %w", written, errNoLength)
	}
	return length, nil
}

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
