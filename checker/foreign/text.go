package foreign

import (
	"fmt"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"
)

// quoted reads a string; raw leaves escapes as they are. EDN has those of JSON, and allows control characters.
func (s *scanner) quoted(raw bool) error {
	from := len(s.text)
	s.at++
	escapes, escaped := false, false
	for s.more() {
		c := s.buf[s.at]
		s.at++
		if c == '\n' && !s.json {
			s.line++
		}
		switch {
		case c == '"' && !escaped:
			return s.unquote(from, escapes && !raw)
		case c < ' ' && s.json:
			return s.wrong(ErrSyntax, "a control character in a text")
		case c < ' ' && !escaped && !raw:
			s.text, escapes = fmt.Appendf(s.text, `\u%04x`, c), true
		default:
			s.text = append(s.text, c)
		}
		escaped = c == '\\' && !escaped
		escapes = escapes || escaped
		if len(s.text) > maxSize {
			if err := s.checkSize(); err != nil {
				return err
			}
		}
	}
	return s.end("the last operation is not complete")
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
