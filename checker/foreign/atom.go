package foreign

import (
	"fmt"
	"io"
	"regexp"
	"strings"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"
)

// The numbers of JSON, and those that Clojure prints: with a plus, N, M, ratios, and the hexadecimal ones in which objects
// print their identity.
var (
	jsonNumber = regexp.MustCompile(`^-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][-+]?[0-9]+)?$`)
	ednNumber  = regexp.MustCompile(`^[-+]?(0x[0-9a-fA-F]{1,16}|(0|[1-9][0-9]*)(N|/[0-9]+|(\.[0-9]+)?([eE][-+]?[0-9]+)?M?))$`)
	numeric    = regexp.MustCompile(`^[-+]?[0-9]`)
	noSymbol   = regexp.MustCompile("[\x00-\x1f\x7f`~@^]")
)

// atom reads a number, a keyword, or a word.
func (s *scanner) atom() datum {
	t := s.token()
	isJSON := s.format == JSON
	switch {
	case t == "":
		s.needMore(incomplete)
		if s.err == nil {
			s.fail(ErrSyntax, "%q where data should be", s.c)
		}
	case isJSON && (t == "true" || t == "false"):
	case isJSON && t == "null", !isJSON && t == "nil":
		return datum{}
	case isJSON && jsonNumber.MatchString(t), !isJSON && ednNumber.MatchString(t):
		return datum{kind: number, text: t}
	case numeric.MatchString(t):
		s.fail(ErrSyntax, "%.40q is no number", t)
	case isJSON:
		s.fail(ErrSyntax, "%.40q is not JSON", t)
	case t == ":":
		s.fail(ErrSyntax, "a colon where data should be")
	case t[0] == ':':
		return datum{kind: keyword, text: t[1:]}
	case noSymbol.MatchString(t):
		s.fail(ErrSyntax, "%.40q is not EDN", t)
	}
	return datum{kind: word, text: t}
}

// token reads on to the next delimiter, what begins with these bytes.
func (s *scanner) token(begins ...byte) string {
	b := append(s.raw[:0], begins...)
	delimiters := " \t\r\n,()[]{}\";"
	if s.format == JSON {
		delimiters = " \t\r\n,()[]{}\":"
	}
	for s.err == nil && strings.IndexByte(delimiters, s.c) < 0 {
		b = append(b, s.c)
		s.skip()
	}
	s.raw = b
	if !utf8.Valid(b) {
		s.fail(ErrSyntax, "not UTF-8")
	}
	return string(b)
}

// quoted reads a string; raw leaves escapes as they are. EDN has those of JSON, and allows control characters.
func (s *scanner) quoted(raw bool) datum {
	s.skip()
	b := append(s.raw[:0], '"')
	escaped := false
	for s.err == nil && (s.c != '"' || escaped) {
		switch {
		case s.c < ' ' && s.format == JSON:
			s.fail(ErrSyntax, "a control character in a text")
		case s.c < ' ' && !escaped && !raw:
			b = fmt.Appendf(b, `\u%04x`, s.c)
		default:
			b = append(b, s.c)
		}
		escaped = s.c == '\\' && !escaped
		s.skip()
	}
	s.raw = b
	s.needMore(incomplete)
	s.skip()
	if raw {
		if !utf8.Valid(b) {
			s.fail(ErrSyntax, "not UTF-8")
		}
		return datum{kind: text, text: string(b[1:])}
	}
	b = append(b, '"')
	unquoted, err := jsontext.AppendUnquote(s.plain[:0], b)
	s.plain = unquoted
	if err != nil && (s.err == nil || s.err == io.EOF) {
		s.fail(ErrSyntax, "a text with an escape or a character that there is not: %.40q", b)
	}
	return datum{kind: text, text: string(unquoted)}
}
