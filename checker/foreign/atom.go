package foreign

import (
	"bytes"
	"errors"
	"regexp"
	"strconv"
	"unicode/utf8"
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
	case len(t) == 0 && !s.more():
		return s.end("the last operation is not complete")
	case len(t) == 0:
		return s.wrong(ErrSyntax, "%q where data should be", s.buf[s.at])
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
	case s.json:
		switch string(t) {
		case "null":
			n.kind = nothing
		case "true", "false":
		default:
			return s.wrong(ErrSyntax, "%.40q is not JSON", t)
		}
	case t[0] == ':':
		if len(t) == 1 {
			return s.wrong(ErrSyntax, "a colon where data should be")
		}
		n.kind = keyword
		n.from++
	case string(t) == "nil":
		n.kind = nothing
	default:
		for _, c := range t {
			if c < ' ' || c == 0x7f || c == '`' || c == '~' || c == '@' || c == '^' {
				return s.wrong(ErrSyntax, "%.40q is not EDN", t)
			}
		}
	}
	return nil
}

// token reads on to the next delimiter.
func (s *scanner) token(kind nodeKind, from int) error {
	var any byte
	for s.more() && !s.delimits(s.buf[s.at]) {
		any |= s.buf[s.at]
		s.text = append(s.text, s.buf[s.at])
		s.at++
		if len(s.text) > maxSize {
			if err := s.checkSize(); err != nil {
				return err
			}
		}
	}
	if any >= utf8.RuneSelf || kind == word {
		if !utf8.Valid(s.text[from:]) {
			return s.wrong(ErrSyntax, "not UTF-8")
		}
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

// The numbers of JSON, without a sign, and those that Clojure prints: with N, M, ratios, and the hexadecimal ones in which
// objects print their identity.
var (
	jsonNumber = regexp.MustCompile(`^(0|[1-9][0-9]*)(\.[0-9]+)?([eE][-+]?[0-9]+)?$`)
	ednNumber  = regexp.MustCompile(`^(0x[0-9a-fA-F]{1,16}|(0|[1-9][0-9]*)(N|/[0-9]+|(\.[0-9]+)?([eE][-+]?[0-9]+)?M?))$`)
)

// int is the node as an integer.
func (s *scanner) int(n *node) (int64, error) {
	t := s.textOf(n)
	if n.kind != number {
		return 0, errors.New("not a number")
	}
	if l := len(t); l > 0 && t[l-1] == 'N' {
		t = t[:l-1]
	}
	i, err := strconv.ParseInt(string(t), 10, 64)
	if errors.Is(err, strconv.ErrRange) {
		return 0, errors.New("too large a number")
	}
	if err != nil {
		return 0, errors.New("not a whole number")
	}
	return i, nil
}
