package strictyaml

import (
	"regexp"
	"strconv"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"
)

const durationUnits = "ns, us, ms, s, m, h"

var (
	bareNumber     = regexp.MustCompile(`^[-+]?([0-9]+(\.[0-9]*)?|\.[0-9]+)$`)
	durationPart   = regexp.MustCompile(`([0-9]*)(?:\.([0-9]*))?[ _-]*(\pL+)[ ,]*`)
	durationParts  = regexp.MustCompile(`^([-+]?) *((?:(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)[ _-]*\pL+[ ,]*)+)$`)
	fractionDigits = map[string]int{
		"ns": 0, "us": 3, "µs": 3, "μs": 3, "ms": 6, "s": 9, "m": 10, "h": 11,
	}
	otherUnits = map[string]string{
		"nsec": "ns", "nsecs": "ns", "nano": "ns", "nanos": "ns", "nanosecond": "ns", "nanoseconds": "ns",
		"usec": "us", "usecs": "us", "micro": "us", "micros": "us", "microsecond": "us", "microseconds": "us",
		"msec": "ms", "msecs": "ms", "milli": "ms", "millis": "ms", "millisecond": "ms", "milliseconds": "ms",
		"sec": "s", "secs": "s", "second": "s", "seconds": "s",
		"min": "m", "mins": "m", "minute": "m", "minutes": "m",
		"hr": "h", "hrs": "h", "hour": "h", "hours": "h",
	}
)

// longestDuration is more than any duration needs, and bounds the work that a hostile one causes.
const longestDuration = 64

func (d *Decoder) duration(n *yaml.Node, into *time.Duration) {
	if n.Kind != yaml.ScalarNode || isNull(n) {
		d.want(n, "a duration")
		return
	}
	text := n.Value
	if len(text) > longestDuration {
		d.Errorf(n, text, nil, "not a duration, too long")
		return
	}
	if bareNumber.MatchString(text) {
		meant, ok := duration(text + "s")
		if !ok {
			meant = ""
		}
		d.suggest(n, meant, "a duration needs a unit (%s):", durationUnits)
		return
	}
	parsed, err := time.ParseDuration(text)
	if err == nil && tooFine(text) {
		d.Errorf(n, text, nil, "a duration finer than a nanosecond")
		return
	}
	if err == nil {
		*into = parsed
		return
	}
	meant, known := duration(text)
	switch {
	case meant == text:
		d.Errorf(n, text, nil, "a duration longer than 292 years")
	case known:
		d.suggest(n, meant, "not a duration (units are %s, without spaces):", durationUnits)
	default:
		d.Errorf(n, text, nil, "not a duration, as 10s or 1m30s (units are %s):", durationUnits)
	}
}

// written formats a duration in the largest unit in which it is a whole number: 90s and not 1m30s, so that durations are easy
// to compare.
func written(d time.Duration) string {
	for _, unit := range []struct {
		length time.Duration
		name   string
	}{{time.Hour, "h"}, {time.Minute, "m"}, {time.Second, "s"}, {time.Millisecond, "ms"}, {time.Microsecond, "us"}} {
		if d != 0 && d%unit.length == 0 {
			return strconv.FormatInt(int64(d/unit.length), 10) + unit.name
		}
	}
	if d == 0 {
		return "0s"
	}
	return strconv.FormatInt(int64(d), 10) + "ns"
}

// duration rewrites a text in Go's notation, as 1m30s for "1 min, 30 sec", and reports whether that made it a duration.
func duration(text string) (string, bool) {
	m := durationParts.FindStringSubmatch(text)
	if m == nil {
		return "", false
	}
	rewritten := m[1]
	for _, part := range durationPart.FindAllStringSubmatch(m[2], -1) {
		unit := strings.ToLower(part[3])
		if short, ok := otherUnits[unit]; ok {
			unit = short
		}
		if _, ok := fractionDigits[unit]; !ok {
			return "", false
		}
		rewritten += part[1]
		if part[2] != "" {
			rewritten += "." + part[2]
		}
		rewritten += unit
	}
	_, err := time.ParseDuration(rewritten)
	return rewritten, err == nil
}

// tooFine reports a fraction that the clock cannot represent, and that time.ParseDuration would cut off: 0.5ns would be no time
// at all.
func tooFine(text string) bool {
	for _, part := range durationPart.FindAllStringSubmatch(text, -1) {
		if len(strings.TrimRight(part[2], "0")) > fractionDigits[part[3]] {
			return true
		}
	}
	return false
}
