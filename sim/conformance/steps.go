//go:build linux

package conformance

import (
	"fmt"
	"maps"
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

// channels are those that a release wakes waiters over, and another.
var channels = []string{driver.WakeChannel("a"), driver.WakeChannel("b"), "channel"}

func pick(t *rapid.T, from ...string) string { return rapid.SampledFrom(from).Draw(t, "word") }

// one in n is true.
func oneIn(t *rapid.T, n int) bool { return rapid.IntRange(1, n).Draw(t, "one in") == n }

// key is one that locks have, or now and then one that the library keeps its own books in.
func key(t *rapid.T) string {
	if oneIn(t, 8) {
		return pick(t, driver.GuardKey, driver.TokenKey("a"), driver.TokenKey("b"))
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

// drawn is a plain command: how often it is drawn, compared with others, and with which arguments.
type drawn struct {
	weight int
	args   func(t *rapid.T, key string, timed bool) []string
}

// The arguments that many commands have.
func ofKey(_ *rapid.T, k string, _ bool) []string    { return []string{k} }
func ofField(t *rapid.T, k string, _ bool) []string  { return []string{k, field(t)} }
func ofRange(t *rapid.T, k string, _ bool) []string  { return []string{k, number(t), number(t)} }
func ofScore(t *rapid.T, k string, _ bool) []string  { return []string{k, score(t), field(t)} }
func someKeys(t *rapid.T, _ string, _ bool) []string { return some(t, key) }

// commands are those of the sequences: all that the model knows, but PUBLISH, which is a step of its own.
var commands = map[string]drawn{
	"SET": {4, func(t *rapid.T, k string, timed bool) []string {
		return append([]string{k, value(t, k)}, setOptions(t, timed)...)
	}},
	"SETNX":   {1, func(t *rapid.T, k string, _ bool) []string { return []string{k, value(t, k)} }},
	"DELIFEQ": {1, func(t *rapid.T, k string, _ bool) []string { return []string{k, value(t, k)} }},
	"DELEX":   {1, func(t *rapid.T, k string, _ bool) []string { return []string{k, pick(t, "IFEQ", "ifeq"), value(t, k)} }},
	"GET":     {1, ofKey},
	"DEL":     {1, someKeys},
	"EXISTS":  {1, someKeys},
	"EXPIRE":  {1, func(t *rapid.T, k string, timed bool) []string { return []string{k, span(t, timed, time.Second)} }},
	"PEXPIRE": {2, func(t *rapid.T, k string, timed bool) []string {
		return []string{k, span(t, timed, time.Millisecond)}
	}},
	"PTTL": {3, ofKey},
	"INCR": {1, ofKey},
	"PING": {1, func(*rapid.T, string, bool) []string { return nil }},

	"HSET":    {2, func(t *rapid.T, k string, _ bool) []string { return []string{k, field(t), text(t)} }},
	"HGET":    {1, ofField},
	"HEXISTS": {1, ofField},
	"HINCRBY": {1, func(t *rapid.T, k string, _ bool) []string { return []string{k, field(t), number(t)} }},
	"HDEL":    {1, ofField},

	"RPUSH": {2, func(t *rapid.T, k string, _ bool) []string { return append([]string{k}, some(t, text)...) }},
	"LPOP":  {1, ofKey},
	"LINDEX": {1, func(t *rapid.T, k string, _ bool) []string {
		return []string{k, strconv.Itoa(rapid.IntRange(-3, 4).Draw(t, "index"))}
	}},
	"LRANGE": {1, ofRange},
	"LREM":   {1, func(t *rapid.T, k string, _ bool) []string { return []string{k, "0", text(t)} }},

	"ZADD":    {2, ofScore},
	"ZINCRBY": {1, ofScore},
	"ZSCORE":  {1, ofField},
	"ZREM":    {1, ofField},
	"ZRANGE":  {1, ofRange},
}

// names are the commands as often as they are drawn. Without a clock that is ours no TTL is compared.
func names(timed bool) (all []string) {
	for _, name := range slices.Sorted(maps.Keys(commands)) {
		if timed || name != "PTTL" {
			all = append(all, slices.Repeat([]string{name}, commands[name].weight)...)
		}
	}
	return all
}

// command is a plain one.
func command(t *rapid.T, timed bool) []string {
	k := key(t)
	name := pick(t, names(timed)...)
	args := commands[name].args(t, k, timed)
	if len(args) > 0 && oneIn(t, 20) { // one too few
		args = args[:len(args)-1]
	}
	if oneIn(t, 4) {
		name = strings.ToLower(name)
	}
	return append([]string{name}, args...)
}

// some is one of a kind, or several.
func some(t *rapid.T, of func(*rapid.T) string) []string {
	all := make([]string, rapid.SampledFrom([]int{1, 1, 2, 3}).Draw(t, "how many"))
	for i := range all {
		all[i] = of(t)
	}
	return all
}

// field is a field of a hash or a member of a sorted set.
func field(t *rapid.T) string { return pick(t, "f", "g", "h", "") }

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
		c.Wake = rapid.Bool().Draw(t, "wake")
	case driver.OpPrepare:
		c.Keys, c.Value, c.TTL = []string{driver.GuardKey}, "", 0
		c.Conditions = &driver.Conditions{MaxTTL: maxTTL, Watched: pick(t, thisRun, thisRun, "fedcba9876543210", "")}
	}
	return c
}

func describe(c driver.Command) string {
	text := fmt.Sprintf("%v %s=%s for %v", c.Op, strings.Join(c.Keys, ","), c.Value, c.TTL)
	if c.Wake {
		text += ", waking"
	}
	if c.Conditions != nil {
		text += fmt.Sprintf(" under %+v", *c.Conditions)
	}
	return text
}
