package foreign

import (
	"errors"
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
