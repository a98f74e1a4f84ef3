package strictyaml

import (
	"math"
	"reflect"
	"regexp"
	"strconv"
	"strings"
	"unicode"

	"go.yaml.in/yaml/v3"
)

func (d *Decoder) text(n *yaml.Node, v reflect.Value) {
	switch {
	case n.Kind != yaml.ScalarNode || isNull(n):
		d.want(n, "text")
	case n.Tag == boolTag || n.Tag == intTag || n.Tag == floatTag:
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

// otherBools are words for true and false of YAML 1.1, and of other languages.
var otherBools = map[string]string{
	"yes": "true", "on": "true", "y": "true",
	"no": "false", "off": "false", "n": "false",
}

func (d *Decoder) bool(n *yaml.Node, v reflect.Value) {
	switch {
	case n.Kind != yaml.ScalarNode || isNull(n):
		d.want(n, "true or false")
	case n.Tag == boolTag && (n.Value == "true" || n.Value == "false"):
		v.SetBool(n.Value == "true")
	default:
		valid := []string{"true", "false"}
		if meant, ok := otherBools[strings.ToLower(n.Value)]; ok {
			d.suggest(n, meant, "want true or false")
			return
		}
		if n.Tag == boolTag {
			d.Errorf(n, n.Value, valid, "want true or false")
			return
		}
		d.Errorf(n, n.Value, valid, "want true or false, got %s", describe(n))
	}
}

// checkInteger panics if a type that is none of the others is no integer, or one whose values should be words.
func checkInteger(t reflect.Type) {
	switch zero := reflect.Zero(t); {
	case !zero.CanInt() && !zero.CanUint():
		panicf("cannot decode into %v", t)
	case t.PkgPath() != "":
		panicf("%v is no number, and its words are not declared", t)
	}
}

// Octal and hexadecimal numbers are not accepted: 010 is 8 to a YAML parser and 10 to most readers.
var wholeNumber = regexp.MustCompile(`^[-+]?(0|[1-9][0-9]*(_[0-9]+)*)$`)

func (d *Decoder) integer(n *yaml.Node, v reflect.Value) {
	checkInteger(v.Type())
	switch {
	case n.Kind != yaml.ScalarNode || isNull(n):
		d.want(n, "a whole number")
		return
	case n.Tag == intTag && !wholeNumber.MatchString(n.Value):
		d.Errorf(n, n.Value, nil, "want a whole number in plain decimal notation")
		return
	case n.Tag == floatTag && !wholeNumber.MatchString(n.Value):
		d.Errorf(n, n.Value, nil, "want a whole number, got a fraction")
		return
	case n.Tag != intTag && n.Tag != floatTag:
		// A whole number too large for 64 bits is a float to the parser.
		d.want(n, "a whole number")
		return
	}
	digits := strings.ReplaceAll(n.Value, "_", "")
	bits := v.Type().Bits()
	if v.CanInt() {
		i, err := strconv.ParseInt(digits, 10, bits)
		if err != nil {
			d.Errorf(n, n.Value, nil, "number out of range %d to %d:", math.MinInt64>>(64-bits), math.MaxInt64>>(64-bits))
			return
		}
		v.SetInt(i)
		return
	}
	u, err := strconv.ParseUint(strings.TrimPrefix(digits, "+"), 10, bits)
	if err != nil {
		d.Errorf(n, n.Value, nil, "number out of range 0 to %d:", uint64(math.MaxUint64)>>(64-bits))
		return
	}
	v.SetUint(u)
}
