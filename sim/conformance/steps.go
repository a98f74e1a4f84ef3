//go:build linux

package conformance

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"pgregory.net/rapid"

	"redlocksim/redlock/driver"
)

// maxTTL is the restart guard's, and short enough for a quarantine to end within a sequence.
const maxTTL = 20 * time.Millisecond

// Few keys, so that commands meet each other's, of whatever type.
var keys = []string{"a", "b", "c", "d"}

// channels are those of waiters, and another.
var channels = []string{driver.WakeChannel("a"), driver.WakeChannel("b"), "channel"}

func pick(t *rapid.T, from ...string) string { return rapid.SampledFrom(from).Draw(t, "word") }

// one in n is true.
func oneIn(t *rapid.T, n int) bool { return rapid.IntRange(1, n).Draw(t, "one in") == n }

// key is one that locks have, or now and then one that the library keeps its own books in.
func key(t *rapid.T) string {
	if oneIn(t, 8) {
		return pick(t, driver.GuardKey, driver.TokenKey("a"), driver.TokenKey("b"), driver.LineKey("a"), driver.TurnKey("b"))
	}
	return pick(t, keys...)
}

// text is what an element or the value of a field can be.
func text(t *rapid.T) string {
	return pick(t, "v", "w", "x", "", "0", "3", "-2", "9223372036854775808", "1.5", "two words")
}

// value is what a string can be.
func value(t *rapid.T, key string) string {
	switch {
	case key == driver.GuardKey && oneIn(t, 2):
		return pick(t, thisRun+" 0 20", thisRun+" 0 30", thisRun+" 1700000000000 20", "fedcba9876543210 0 20")
	case key != driver.GuardKey && !slices.Contains(keys, key): // a counter
		return pick(t, "0", "2", "4", "-2", "v", "")
	case oneIn(t, 8):
		return pick(t, "9223372036854775806", "9223372036854775807", "-9223372036854775808")
	}
	return text(t)
}

// number is an index or an increment, and now and then none. What miniredis takes for a number and Redis does not, and
// numbers near the largest, are among the deviations.
func number(t *rapid.T) string {
	if oneIn(t, 8) {
		return pick(t, "", "x", "1.5", "9223372036854775808")
	}
	return strconv.Itoa(rapid.IntRange(-3, 4).Draw(t, "number"))
}

// score is one whose text is the same in every version of Redis, or none.
func score(t *rapid.T) string {
	if oneIn(t, 8) {
		return pick(t, "", "x", " 1", "1 ")
	}
	return pick(t, "0", "1", "2", "-1", "0.5", "-2.25", "1700000012345", "1e3", "+3")
}

// span is a TTL in a unit, and now and then none. Without a clock that is ours none is short.
func span(t *rapid.T, timed bool, unit time.Duration) string {
	switch {
	case oneIn(t, 8):
		return pick(t, "0", "0", "0", "-1", "-1000000", "x", "", "1.5", "9223372036854775808")
	case !timed:
		return strconv.Itoa(int(rapid.IntRange(10, 20).Draw(t, "hours")) * int(time.Hour/unit))
	case unit == time.Second:
		return strconv.Itoa(rapid.IntRange(1, 2).Draw(t, "seconds"))
	}
	return strconv.Itoa(rapid.IntRange(1, 25).Draw(t, "milliseconds"))
}

// commands are those of the sequences: all that the model knows, but PUBLISH, which is a step of its own. Each stands behind
// how often it is drawn, compared with others, and before its arguments, by the names in arguments.
const commands = `
	4 SET key value options
	1 SETNX key value
	1 DELIFEQ key value
	1 DELEX key ifeq value
	1 GET key
	1 DEL keys
	1 EXISTS keys
	1 EXPIRE key seconds
	2 PEXPIRE key milliseconds
	3 PTTL key
	1 INCR key
	1 PING
	2 HSET key field text
	1 HGET key field
	1 HEXISTS key field
	1 HINCRBY key field number
	1 HDEL key field
	2 RPUSH key texts
	1 LPOP key
	1 LINDEX key index
	1 LRANGE key number number
	1 LREM key zero text
	2 ZADD key score field
	1 ZINCRBY key score field
	1 ZSCORE key field
	1 ZREM key field
	1 ZRANGE key number number`

// arguments draws what stands for one argument of a command or for several.
func arguments(t *rapid.T, name, k string, timed bool) []string {
	switch name {
	case "key":
		return []string{k}
	case "keys":
		return some(t, key)
	case "value":
		return []string{value(t, k)}
	case "text":
		return []string{text(t)}
	case "texts":
		return some(t, text)
	case "field": // of a hash, or a member of a sorted set
		return []string{pick(t, "f", "g", "h", "")}
	case "number":
		return []string{number(t)}
	case "index":
		return []string{strconv.Itoa(rapid.IntRange(-3, 4).Draw(t, "index"))}
	case "zero":
		return []string{"0"}
	case "score":
		return []string{score(t)}
	case "seconds":
		return []string{span(t, timed, time.Second)}
	case "milliseconds":
		return []string{span(t, timed, time.Millisecond)}
	case "ifeq":
		return []string{pick(t, "IFEQ", "ifeq")}
	case "options":
		return setOptions(t, timed)
	}
	panic("no such argument: " + name)
}

// drawn are the commands as often as they are drawn. Without a clock that is ours no TTL is compared.
func drawn(timed bool) (all [][]string) {
	for line := range strings.Lines(strings.TrimSpace(commands)) {
		words := strings.Fields(line)
		weight, _ := strconv.Atoi(words[0])
		if timed || words[1] != "PTTL" {
			all = append(all, slices.Repeat([][]string{words[1:]}, weight)...)
		}
	}
	return all
}

// command is a plain one.
func command(t *rapid.T, timed bool) (words []string) {
	k := key(t)
	drawn := rapid.SampledFrom(drawn(timed)).Draw(t, "command")
	for _, name := range drawn[1:] {
		words = append(words, arguments(t, name, k, timed)...)
	}
	if len(words) > 0 && oneIn(t, 20) { // one too few
		words = words[:len(words)-1]
	}
	name := drawn[0]
	if oneIn(t, 4) {
		name = strings.ToLower(name)
	}
	return append([]string{name}, words...)
}

// some is one of a kind, or several.
func some(t *rapid.T, of func(*rapid.T) string) []string {
	all := make([]string, rapid.SampledFrom([]int{1, 1, 2, 3}).Draw(t, "how many"))
	for i := range all {
		all[i] = of(t)
	}
	return all
}

// setOptions are those of SET, in any order, and now and then too many or incomplete.
func setOptions(t *rapid.T, timed bool) (options []string) {
	for _, option := range rapid.Permutation([]string{"NX", "PX", "EX", "IFEQ"}).Draw(t, "options") {
		switch {
		case option == "NX" && oneIn(t, 2):
			options = append(options, pick(t, "NX", "nx"))
		case option == "PX" && oneIn(t, 2):
			options = append(options, pick(t, "PX", "px"), span(t, timed, time.Millisecond))
		case option == "EX" && oneIn(t, 4):
			options = append(options, pick(t, "EX", "ex"), span(t, timed, time.Second))
		case option == "IFEQ" && oneIn(t, 3):
			options = append(options, pick(t, "IFEQ", "ifeq"), text(t))
		}
	}
	if oneIn(t, 20) {
		options = append(options, pick(t, "nonsense", ""))
	}
	return options
}

// client is what the library's commands of a sequence have in common.
type client struct {
	fenced, guarded bool
	watched         string // what the node last said that it has on record, and the client claims to have watched
	last            driver.Command
	token           int64
}

// operation is a command of the library: about what the one before was about, half of the time.
func (x *client) operation(t *rapid.T, timed bool) driver.Command {
	c := driver.Command{
		Op:    rapid.SampledFrom([]driver.Op{driver.OpAcquire, driver.OpAcquire, driver.OpAcquire, driver.OpExtend, driver.OpRelease, driver.OpPrepare}).Draw(t, "op"),
		Value: pick(t, "v", "w"),
		TTL:   time.Duration(rapid.IntRange(1, int(maxTTL/time.Millisecond)).Draw(t, "ttl")) * time.Millisecond,
	}
	if !timed {
		c.TTL += time.Hour
	}
	// A lock's keys differ from each other.
	for _, k := range keys {
		if oneIn(t, 3) {
			c.Keys = append(c.Keys, k)
		}
	}
	if len(c.Keys) == 0 {
		c.Keys = []string{pick(t, keys...)}
	}
	if x.last.Op != 0 && rapid.Bool().Draw(t, "the same again") {
		c.Keys, c.Value = x.last.Keys, x.last.Value
	}
	switch c.Op {
	case driver.OpAcquire:
		x.last = c
		if oneIn(t, 2) {
			c.Line = &driver.Line{Waiter: pick(t, "a", "b", "nobody")}
		}
		q := &driver.Conditions{Watched: x.watched}
		if x.fenced && !oneIn(t, 6) {
			x.token = max(1, x.token+int64(rapid.IntRange(-1, 2).Draw(t, "token")))
			q.Token = x.token
			q.CounterTTL = 2 * c.TTL
		}
		if timed && x.guarded && !oneIn(t, 6) {
			q.MaxTTL = rapid.SampledFrom([]time.Duration{maxTTL, maxTTL, maxTTL, 2 * maxTTL}).Draw(t, "max TTL")
		}
		if q.Token != 0 || q.MaxTTL != 0 {
			c.Conditions = q
		}
	case driver.OpRelease:
		c.TTL = 0
		if oneIn(t, 2) {
			c.Line = &driver.Line{Waiter: pick(t, "", "a", "b"), Turn: rapid.SampledFrom([]time.Duration{0, maxTTL, time.Hour}).Draw(t, "turn")}
		}
	case driver.OpPrepare:
		c.Keys, c.Value, c.TTL = []string{driver.GuardKey}, "", 0
		c.Conditions = &driver.Conditions{MaxTTL: maxTTL, Watched: pick(t, thisRun, thisRun, "fedcba9876543210", "")}
	}
	return c
}

func describe(c driver.Command) string {
	text := fmt.Sprintf("%v %s=%s for %v", c.Op, strings.Join(c.Keys, ","), c.Value, c.TTL)
	if c.Line != nil {
		text += fmt.Sprintf(" in line as %q, turn %v", c.Line.Waiter, c.Line.Turn)
	}
	if c.Conditions != nil {
		text += fmt.Sprintf(" under %+v", *c.Conditions)
	}
	return text
}
