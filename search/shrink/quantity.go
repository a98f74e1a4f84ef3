package shrink

import (
	"strconv"
	"strings"
	"time"

	"github.com/shopspring/decimal"
	"go.yaml.in/yaml/v3"
)

// quantity is a number of the file: a count, a length of time in nanoseconds, or a rate in parts per billion.
type quantity struct {
	at    place
	value int64 // without its sign
	unit  int64 // how exactly the smallest is looked for: of times, by the milliseconds of Redis' clock
	text  func(int64) string
}

// isCount says that it counts something. The smallest count is 1.
func (q *quantity) isCount() bool { return q.unit == 1 }

// grows says that it makes a fault the milder the larger it is: the delay after which a node comes back.
func (q *quantity) grows() bool { return q.at.isOfFault() && strings.HasSuffix(q.at.key(), "after") }

// set writes another value of it into a file.
func (q *quantity) set(v int64) func(*yaml.Node) {
	return func(root *yaml.Node) { q.at.in(root).Value = q.text(v) }
}

// quantityOf reads a node as a quantity; nil if it is none.
func quantityOf(at place, n *yaml.Node) *quantity {
	if n == nil || n.Kind != yaml.ScalarNode {
		return nil
	}
	text, isNegative := strings.CutPrefix(n.Value, "-")
	q := &quantity{at: at, unit: int64(time.Millisecond)}
	percent, isRate := strings.CutSuffix(text, "%")
	if v, err := strconv.ParseInt(text, 10, 64); err == nil {
		q.value, q.unit = v, 1
		q.text = func(v int64) string { return strconv.FormatInt(v, 10) }
	} else if d, err := time.ParseDuration(text); err == nil {
		q.value = int64(d)
		q.text = func(v int64) string { return time.Duration(v).String() }
	} else if rate, err := decimal.NewFromString(percent); err == nil && isRate {
		q.value = rate.Shift(7).IntPart()
		q.text = func(v int64) string { return decimal.New(v, -7).String() + "%" }
	} else {
		return nil
	}
	if positive := q.text; isNegative {
		q.text = func(v int64) string { return "-" + positive(v) }
	}
	return q
}

// quantitiesOf are those of the timeline that are not zero, in the order of the file.
func quantitiesOf(root *yaml.Node) (all []*quantity) {
	walk(place{"timeline"}.in(root), place{"timeline"}, func(at place, n *yaml.Node) {
		if q := quantityOf(at, n); q != nil && q.value != 0 {
			all = append(all, q)
		}
	})
	return all
}

// digits is how many digits a number has up to its last one that is not zero, 1 for zero.
func digits(v int64) int {
	return max(1, len(strings.TrimRight(strconv.FormatInt(v, 10), "0")))
}

// unit is the value of the last of the first n digits of v, which is positive.
func unit(v int64, n int) int64 {
	u := int64(1)
	for range len(strconv.FormatInt(v, 10)) - n {
		u *= 10
	}
	return u
}

// down and up are the next numbers of at most n digits. An up that overflows is negative, which no file takes.
func down(v int64, n int) int64 { return v / unit(v, n) * unit(v, n) }

func up(v int64, n int) int64 {
	if d := down(v, n); d < v {
		return d + unit(v, n)
	}
	return v
}

// exactly is a number as it is.
func exactly(v int64, _ int) int64 { return v }
