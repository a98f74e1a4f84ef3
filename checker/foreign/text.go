package foreign

import (
	"strconv"
	"unicode/utf16"
	"unicode/utf8"
)

// quoted reads a string; raw leaves escapes as they are.
func (s *scanner) quoted(raw bool) error {
	from := len(s.text)
	s.at++
	var any byte
	for s.more() {
		c := s.buf[s.at]
		s.at++
		switch {
		case c == '"':
			if any >= utf8.RuneSelf && !utf8.Valid(s.text[from:]) {
				return s.wrong(ErrSyntax, "not UTF-8")
			}
			s.leaf(text, from)
			return nil
		case c == '\\' && raw:
			s.text = append(s.text, c)
			if s.more() {
				s.text = append(s.text, s.buf[s.at])
				any |= s.buf[s.at]
				s.at++
			}
		case c == '\\':
			if err := s.escape(); err != nil {
				return err
			}
		case c == '\n' && !s.json:
			s.line++
			s.text = append(s.text, c)
		case c < ' ' && s.json:
			return s.wrong(ErrSyntax, "a control character in a text")
		default:
			any |= c
			s.text = append(s.text, c)
		}
		if len(s.text) > maxSize {
			return s.checkSize()
		}
	}
	return s.end("the last operation is not complete")
}

func (s *scanner) escape() error {
	if !s.more() {
		return s.end("the last operation is not complete")
	}
	c := s.buf[s.at]
	s.at++
	switch c {
	case '"', '\\':
	case '/':
		if !s.json {
			return s.wrong(ErrSyntax, "no such escape: \\/")
		}
	case 'n':
		c = '\n'
	case 't':
		c = '\t'
	case 'r':
		c = '\r'
	case 'b':
		c = '\b'
	case 'f':
		c = '\f'
	case 'u':
		return s.unicode()
	default:
		return s.wrong(ErrSyntax, "no such escape: \\%c", c)
	}
	s.text = append(s.text, c)
	return nil
}

func (s *scanner) unicode() error {
	r, err := s.hex()
	if err != nil {
		return err
	}
	if utf16.IsSurrogate(r) {
		for _, c := range [...]byte{'\\', 'u'} {
			if !s.more() || s.buf[s.at] != c {
				return s.wrong(ErrSyntax, "half a character: \\u%04x", r)
			}
			s.at++
		}
		low, err := s.hex()
		if err != nil {
			return err
		}
		if r = utf16.DecodeRune(r, low); r == utf8.RuneError {
			return s.wrong(ErrSyntax, "half a character: \\u%04x", low)
		}
	}
	s.text = utf8.AppendRune(s.text, r)
	return nil
}

func (s *scanner) hex() (rune, error) {
	var digits [4]byte
	for i := range digits {
		if !s.more() {
			return 0, s.end("the last operation is not complete")
		}
		digits[i] = s.buf[s.at]
		s.at++
	}
	n, err := strconv.ParseUint(string(digits[:]), 16, 16)
	if err != nil {
		return 0, s.wrong(ErrSyntax, "\\u%q is no character", digits[:])
	}
	return rune(n), nil
}
