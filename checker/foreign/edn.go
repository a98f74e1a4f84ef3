package foreign

func (s *scanner) collection(kind nodeKind, closer byte, depth int) error {
	at := s.open(kind)
	s.at++
	for n := 0; ; n++ {
		if err := s.space(); err != nil {
			return err
		}
		if s.more() && s.buf[s.at] == closer {
			s.at++
			if kind == record && n%2 == 1 {
				return s.wrong(ErrSyntax, "a key without a value")
			}
			s.close(at)
			return nil
		}
		if err := s.datum(depth + 1); err != nil {
			return err
		}
	}
}

// dispatch reads what begins with #: a set, a regular expression, a symbolic number, a reference, or tagged data.
func (s *scanner) dispatch(depth int) error {
	s.at++
	if !s.more() {
		return s.end("the last operation is not complete")
	}
	switch c := s.buf[s.at]; {
	case c == '{':
		return s.collection(list, '}', depth)
	case c == '"':
		return s.quoted(true)
	case c == '#' || c == '\'':
		s.at++
		return s.atom()
	case 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z':
		nodes, text := len(s.nodes), len(s.text)
		if err := s.atom(); err != nil {
			return err
		}
		s.nodes, s.text = s.nodes[:nodes], s.text[:text]
		return s.datum(depth + 1)
	default:
		return s.wrong(ErrSyntax, "\"#%c\" is not supported", c)
	}
}

func (s *scanner) character() error {
	from := len(s.text)
	s.at++
	if !s.more() {
		return s.end("the last operation is not complete")
	}
	// The character itself may be a delimiter.
	s.text = append(s.text, s.buf[s.at])
	if s.buf[s.at] == '\n' {
		s.line++
	}
	s.at++
	return s.token(word, from)
}
