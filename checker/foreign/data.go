package foreign

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
