package strictyaml

import (
	"math"
	"reflect"
	"regexp"
	"strconv"
	"strings"
	"time"
	"unicode"

	"go.yaml.in/yaml/v3"
)

func (d *Decoder) text(n *yaml.Node, v reflect.Value) {
	switch {
	case n.Kind != yaml.ScalarNode || isNull(n):
		d.want(n, "text")
	case n.Tag == boolTag || isNumber(n):
		d.Errorf(n, n.Value, nil, "want text, got %s; put it in quotes:", describe(n))
	case strings.ContainsFunc(n.Value, unprintable):
		d.Errorf(n, n.Value, nil, "holds a character that is not printable; text is printable characters, line ends and tabs:")
	default:
		v.SetString(n.Value)
	}
}

// unprintable reports control characters, and those that change the direction of writing: a terminal, a page or a log could
// obey them, or show a text other than the one in the file.
func unprintable(r rune) bool {
	switch {
	case r == '\n' || r == '\t':
		return false
	case r == '\u2028' || r == '\u2029':
		return true
	}
	return unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r)
}

// otherBools are what other notations have for true and false.
var otherBools = map[string]string{"true": "true", "yes": "true", "on": "true", "false": "false", "no": "false", "off": "false"}

func (d *Decoder) bool(n *yaml.Node, v reflect.Value) {
	switch meant := otherBools[strings.ToLower(n.Value)]; {
	case n.Kind != yaml.ScalarNode || isNull(n):
		d.want(n, "true or false")
	case n.Tag == boolTag && (n.Value == "true" || n.Value == "false"):
		v.SetBool(n.Value == "true")
	case meant != "" && meant != n.Value:
		d.suggest(n, meant, "want true or false")
	default:
		d.Errorf(n, n.Value, []string{"true", "false"}, "want true or false, got %s", describe(n))
	}
}

// Octal and hexadecimal numbers are not accepted: 010 is 8 to a YAML parser and 10 to most readers.
var wholeNumber = regexp.MustCompile(`^[-+]?(0|[1-9][0-9]*(_[0-9]+)*)$`)

func (d *Decoder) integer(n *yaml.Node, v reflect.Value) {
	checkInteger(v.Type())
	switch {
	case n.Kind != yaml.ScalarNode || !isNumber(n):
		d.want(n, "a whole number")
		return
	case !wholeNumber.MatchString(n.Value):
		d.Errorf(n, n.Value, nil, "want a whole number in plain decimal notation")
		return
	}
	digits := strings.TrimPrefix(strings.ReplaceAll(n.Value, "_", ""), "+")
	bits := v.Type().Bits()
	if v.CanInt() {
		i, err := strconv.ParseInt(digits, 10, bits)
		if v.SetInt(i); err != nil {
			d.Errorf(n, n.Value, nil, "number out of range %d to %d:", math.MinInt64>>(64-bits), math.MaxInt64>>(64-bits))
		}
		return
	}
	u, err := strconv.ParseUint(digits, 10, bits)
	if v.SetUint(u); err != nil {
		d.Errorf(n, n.Value, nil, "number out of range 0 to %d:", uint64(math.MaxUint64)>>(64-bits))
	}
}

const units = "ns, us, ms, s, m, h"

// unit is a number and what follows it, which may be a unit in full.
var (
	unit       = regexp.MustCompile(`([0-9.]+)[ _-]*(\pL+)[ ,]*`)
	inFull     = map[string]string{"sec": "s", "second": "s", "min": "m", "minute": "m", "hr": "h", "hour": "h", "msec": "ms", "millisecond": "ms"}
	bareNumber = regexp.MustCompile(`^[-+]?[0-9.]+$`)
)

func (d *Decoder) duration(n *yaml.Node, into *time.Duration) {
	if n.Kind != yaml.ScalarNode || isNull(n) {
		d.want(n, "a duration")
		return
	}
	parsed, err := time.ParseDuration(n.Value)
	isTooFine := err == nil && parsed == 0 && strings.ContainsAny(n.Value, "123456789")
	if err == nil && !isTooFine && !bareNumber.MatchString(n.Value) { // 0 has no unit
		*into = parsed
		return
	}
	meant := unit.ReplaceAllStringFunc(clip(n.Value), func(part string) string {
		m := unit.FindStringSubmatch(part)
		word := strings.ToLower(m[2])
		if short := inFull[strings.TrimSuffix(word, "s")]; short != "" {
			word = short
		}
		return m[1] + word
	})
	wrong := "not a duration of up to 292 years, as 10s or 1m30s (units are %s):"
	if bareNumber.MatchString(meant) {
		meant, wrong = meant+"s", "a duration needs a unit (%s):"
	}
	if _, err := time.ParseDuration(meant); err != nil || isTooFine {
		meant = ""
	}
	d.suggest(n, meant, wrong, units)
}
