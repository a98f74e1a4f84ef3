package foreign

import (
	"bytes"
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"
)

// atom reads a number, a keyword, or a word.
func (s *scanner) atom() error {
	from := len(s.text)
	if err := s.token(word, from); err != nil {
		return err
	}
	t, n := s.text[from:], &s.nodes[len(s.nodes)-1]
	digits := t
	if len(t) > 1 && (t[0] == '-' || t[0] == '+' && !s.json) {
		digits = t[1:]
	}
	switch {
	case len(t) == 0 && s.err != nil:
		return s.incomplete()
	case len(t) == 0:
		return s.wrong(ErrSyntax, "%q where data should be", s.c)
	case '0' <= digits[0] && digits[0] <= '9':
		n.kind = number
		form := ednNumber
		if s.json {
			form = jsonNumber
		}
		isWhole := (digits[0] != '0' || len(digits) == 1) && len(bytes.TrimLeft(digits, "0123456789")) == 0
		if !isWhole && !form.Match(digits) {
			return s.wrong(ErrSyntax, "%.40q is no number", t)
		}
	case string(t) == "null" && s.json, string(t) == "nil" && !s.json:
		n.kind = nothing
	case s.json:
		if string(t) != "true" && string(t) != "false" {
			return s.wrong(ErrSyntax, "%.40q is not JSON", t)
		}
	case string(t) == ":":
		return s.wrong(ErrSyntax, "a colon where data should be")
	case t[0] == ':':
		n.kind = keyword
		n.from++
	case bytes.ContainsFunc(t, func(c rune) bool { return c < ' ' || c == 0x7f || c == '`' || c == '~' || c == '@' || c == '^' }):
		return s.wrong(ErrSyntax, "%.40q is not EDN", t)
	}
	return nil
}

// token reads on to the next delimiter.
func (s *scanner) token(kind nodeKind, from int) error {
	for s.err == nil && !s.delimits(s.c) {
		s.text = append(s.text, s.c)
		s.skip()
		if err := s.checkSize(); err != nil {
			return err
		}
	}
	if !utf8.Valid(s.text[from:]) {
		return s.wrong(ErrSyntax, "not UTF-8")
	}
	s.leaf(kind, from)
	return nil
}

func (s *scanner) delimits(c byte) bool {
	switch c {
	case ' ', '\t', '\r', '\n', ',', '(', ')', '[', ']', '{', '}', '"':
		return true
	case ';':
		return !s.json
	case ':':
		return s.json
	}
	return false
}

// quoted reads a string; raw leaves escapes as they are. EDN has those of JSON, and allows control characters.
func (s *scanner) quoted(raw bool) error {
	from := len(s.text)
	s.skip()
	escapes, escaped := false, false
	for s.err == nil {
		c := s.c
		if c < ' ' && s.json {
			return s.wrong(ErrSyntax, "a control character in a text")
		}
		s.skip()
		switch {
		case c == '"' && !escaped:
			return s.unquote(from, escapes && !raw)
		case c < ' ' && !escaped && !raw:
			s.text, escapes = fmt.Appendf(s.text, `\u%04x`, c), true
		default:
			s.text = append(s.text, c)
		}
		escaped = c == '\\' && !escaped
		escapes = escapes || escaped
		if err := s.checkSize(); err != nil {
			return err
		}
	}
	return s.incomplete()
}

// unquote ends a text that begins there.
func (s *scanner) unquote(from int, escapes bool) error {
	switch {
	case escapes:
		literal := append(append([]byte{'"'}, s.text[from:]...), '"')
		text, err := jsontext.AppendUnquote(s.text[:from], literal)
		if err != nil {
			return s.wrong(ErrSyntax, "a text with an escape or a character that there is not: %.40q", literal)
		}
		s.text = text
	case !utf8.Valid(s.text[from:]):
		return s.wrong(ErrSyntax, "not UTF-8")
	}
	s.leaf(text, from)
	return nil
}

// The numbers of JSON, without a sign, and those that Clojure prints: with N, M, ratios, and the hexadecimal ones in which
// objects print their identity.
var (
	jsonNumber = regexp.MustCompile(`^(0|[1-9][0-9]*)(\.[0-9]+)?([eE][-+]?[0-9]+)?$`)
	ednNumber  = regexp.MustCompile(`^(0x[0-9a-fA-F]{1,16}|(0|[1-9][0-9]*)(N|/[0-9]+|(\.[0-9]+)?([eE][-+]?[0-9]+)?M?))$`)
)

// int is the node as an integer.
func (s *scanner) int(n *node) (int64, error) {
	if n.kind != number {
		return 0, errors.New("not a number")
	}
	i, err := strconv.ParseInt(string(bytes.TrimSuffix(s.textOf(n), []byte("N"))), 10, 64)
	if errors.Is(err, strconv.ErrRange) {
		return 0, errors.New("too large a number")
	}
	if err != nil {
		return 0, errors.New("not a whole number")
	}
	return i, nil
}
