package foreign

import (
	"fmt"
	"io"
)

// next reads an operation into nodes, and returns the line it begins on; false after the last.
func (s *scanner) next() (line int, ok bool, err error) {
	s.nodes, s.text = s.nodes[:0], s.text[:0]
	if err := s.space(); err != nil {
		return 0, false, err
	}
	s.begun = s.before + int64(s.at)
	if !s.more() {
		switch {
		case s.closer != 0 && !s.over:
			return 0, false, s.end(fmt.Sprintf("there is no %q", s.closer))
		case s.err != io.EOF:
			return 0, false, s.err
		}
		return 0, false, nil
	}
	c := s.buf[s.at]
	switch {
	case s.over:
		return 0, false, s.wrong(ErrSyntax, "%q after the end of the vector", c)
	case s.count == 0 && s.closer == 0 && (c == '[' || c == '(' && !s.json):
		s.closer = map[byte]byte{'[': ']', '(': ')'}[c]
		s.at++
		return s.next()
	case s.closer != 0 && c == s.closer:
		s.at++
		s.over = true
		return s.next()
	case s.closer != 0 && s.json && s.count > 0:
		if c != ',' {
			return 0, false, s.wrong(ErrSyntax, "%q instead of a comma", c)
		}
		s.at++
		if err := s.space(); err != nil {
			return 0, false, err
		}
		if !s.more() {
			return 0, false, s.end("there is no ']'")
		}
	}
	line = s.line
	s.count++
	if err := s.datum(0); err != nil {
		return 0, false, err
	}
	if s.nodes[0].kind != record {
		return 0, false, &InputError{Line: line, Err: fmt.Errorf("%w: a map is needed", ErrOperation)}
	}
	return line, true, nil
}

// datum reads one piece of data. It and what reads a collection call each other: data stands inside of data.
func (s *scanner) datum(depth int) error {
	if depth > maxDepth {
		return s.wrong(ErrTooLarge, "more than %d levels inside each other", maxDepth)
	}
	if err := s.space(); err != nil {
		return err
	}
	if !s.more() {
		return s.end("the last operation is not complete")
	}
	if err := s.checkSize(); err != nil {
		return err
	}
	switch c := s.buf[s.at]; {
	case c == '"':
		return s.quoted(false)
	case c == '{' && s.json:
		return s.object(depth)
	case c == '[' && s.json:
		return s.array(depth)
	case c == '{':
		return s.collection(record, '}', depth)
	case c == '[':
		return s.collection(list, ']', depth)
	case c == '(' && !s.json:
		return s.collection(list, ')', depth)
	case c == '#' && !s.json:
		return s.dispatch(depth)
	case c == '\\' && !s.json:
		return s.character()
	default:
		return s.atom()
	}
}
