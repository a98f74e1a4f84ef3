package foreign

import (
	"errors"
	"math"
	"math/bits"
	"strconv"
	"strings"
	"time"
)

// quantity is a number as it is written, to nine digits behind the point.
type quantity struct {
	negative    bool
	whole       uint64
	billionths  uint64
	hasFraction bool
}

// decimal reads a whole number or one with a fraction, and the N or M that Clojure writes behind some.
func decimal(written string) (q quantity, err error) {
	written = strings.TrimRight(written, "NM")
	written, q.negative = strings.CutPrefix(written, "-")
	written, power, scientific := strings.Cut(strings.ToLower(written), "e")
	whole, fraction, _ := strings.Cut(written, ".")
	if scientific {
		shift, err := strconv.ParseInt(power, 10, 8)
		if err != nil || shift < 0 {
			return q, errors.New("not a number that can be read")
		}
		digits := fraction + strings.Repeat("0", max(0, int(shift)-len(fraction)))
		whole, fraction = whole+digits[:shift], digits[shift:]
	}
	if q.whole, err = strconv.ParseUint(whole, 10, 64); err != nil {
		if errors.Is(err, strconv.ErrRange) {
			return q, errors.New("too large a number")
		}
		return q, errors.New("not a number that can be read")
	}
	if fraction = strings.TrimRight(fraction, "0"); fraction == "" {
		return q, nil
	}
	q.hasFraction = true
	padded := (fraction + "000000000")[:9]
	if q.billionths, err = strconv.ParseUint(padded, 10, 64); err != nil || strings.Trim(fraction, "0123456789") != "" {
		return q, errors.New("not a number that can be read")
	}
	return q, nil
}

// in is the number in nanoseconds, if it counts units; false if that is more than 64 bits hold. What is finer than
// nanoseconds is cut off.
func (q quantity) in(unit time.Duration) (int64, bool) {
	high, low := bits.Mul64(q.whole, uint64(unit))
	// The fraction is below one, and so no more than a unit.
	over, under := bits.Mul64(q.billionths, uint64(unit))
	part, _ := bits.Div64(over, under, 1e9)
	low, carry := bits.Add64(low, part, 0)
	switch {
	case high+carry > 0 || low > math.MaxInt64 && !(q.negative && low == 1<<63):
		return 0, false
	case q.negative:
		return -int64(low), true
	}
	return int64(low), true
}
